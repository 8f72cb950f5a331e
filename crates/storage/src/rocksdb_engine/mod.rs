//! The engine on disk: RocksDB with one column family, its own log switched off.
//!
//! - **A prefix survives.** Each batch of writes also writes the key `position`. Memtables are flushed in
//!   order, so after a crash the files contain exactly the batches up to their `position`, and replay begins
//!   there. Files built aside are ingested together with the position that they belong to, as one atomic step,
//!   after a flush.
//! - **The log first.** A flush is begun by [`RocksDbEngine::flush`] or, when the active memtable is nearly
//!   full, before an `apply`; never by RocksDB itself, as long as one batch is smaller than the room that is
//!   kept free. The caller can therefore always make the log durable first ([`LogBarrier`](crate::LogBarrier)).
//!   That matters only with `sync_binlog=0`: otherwise everything that arrives here is durable.
//! - **Checksums.** Each block is checked when it is read from its file: a flipped bit is an error that names
//!   the file, never a wrong row.

mod block_statistics;
mod cursor;
mod database;
mod ingest;
mod manifest;
mod options;
mod scan_cost;
mod snapshot;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use paceline_types::LogPosition;
use parking_lot::Mutex;
use rocksdb::checkpoint::Checkpoint;
use rocksdb::{
    Cache, DB, DBPinnableSlice, DEFAULT_COLUMN_FAMILY_NAME, ErrorKind, FlushOptions, ReadOptions, ReadTier,
    WriteBatch, WriteOptions,
};

use block_statistics::BlockCounters;
pub use block_statistics::BlockStatistics;
pub(crate) use cursor::RocksDbCursor;
use database::Database;
pub use options::RocksDbConfig;
pub(crate) use options::table_file_options;
use scan_cost::ScanCost;
pub(crate) use snapshot::RocksDbSnapshot;

use crate::error::{Error, Result};
use crate::key::{Direction, EngineKind, IndexId, KeyRange, VERSION_LENGTH, value_payload};
use crate::write_set::{Change, FrozenWriteSet};

/// Key of the position: `IndexId::ENGINE ‖ "position"`. Its value is the position, 8 bytes big endian.
const POSITION_KEY: &[u8] = b"\0\0\0\x02position";
const _: () = assert!(IndexId::ENGINE.as_u32() == 2);

/// For a checkpoint, the size of the engine's log from which on a flush is made instead of copying it: there is
/// no such log.
const NO_FLUSH: u64 = u64::MAX;
/// Approximate memory of a memtable entry beside key and value.
const MEMTABLE_ENTRY_OVERHEAD_BYTES: usize = 40;
/// Number of write sets from which on a group's entries are merged and sorted.
const MERGED_GROUP_MIN: usize = 64;
/// Pause before a write is tried again when flushes or compactions lag.
const RETRY_THROTTLED_EVERY: Duration = Duration::from_millis(1);
/// Pause before a write is tried again when the disk under the table files is full.
const RETRY_FULL_DISK_EVERY: Duration = Duration::from_millis(200);
/// RocksDB checks every five seconds whether there is room again. A failure for lack of room that lasts this
/// long after there is room will not end by itself.
const RESUMED_WITHIN: Duration = Duration::from_secs(30);
/// Number of memtables that must fit onto the disk for it to count as having room.
const ROOM_MEMTABLES: u64 = 4;

/// Tables on disk. See the module's head.
pub struct RocksDbEngine {
    db: Arc<Database>,
    cache: Cache,
    path: PathBuf,
    memtable_bytes: usize,
    memtables_max: u64,
    position: AtomicU64,
    /// Approximate size of the active memtable. Counted here, because querying RocksDB for each batch would
    /// cost more.
    active_memtable_bytes: AtomicUsize,
    counters: Mutex<CounterCache>,
    write_options: WriteOptions,
    read_options: ReadOptions,
    /// Number of flushes and compactions that may have failed before waiting is given up: unlimited, until the
    /// server stops.
    errors_allowed: AtomicU64,
    /// Number of failures when the newest flush was begun: a later failure may be that flush's.
    errors_before_flush: AtomicU64,
    stall: Mutex<StallDetector>,
}

/// Time since which the disk has had room while writes failed for lack of it, and time of the last such
/// failure.
#[derive(Default)]
struct StallDetector {
    since: Option<Instant>,
    seen: Option<Instant>,
}

impl StallDetector {
    /// Records a failure at `now`. Returns whether failures have lasted too long.
    fn note(&mut self, has_room: bool, now: Instant) -> bool {
        let is_new = self
            .seen
            .is_none_or(|seen| now.duration_since(seen) > RETRY_FULL_DISK_EVERY * 10);
        self.seen = Some(now);
        if !has_room || is_new {
            self.since = None;
        }
        has_room && now.duration_since(*self.since.get_or_insert(now)) >= RESUMED_WITHIN
    }
}

/// Opens the tables in a directory with `open`, after a torn end of the manifest is cut off.
fn open_whole(path: &Path, open: impl Fn() -> Result<DB, rocksdb::Error>) -> Result<DB> {
    let opened = match open() {
        Err(error) if manifest::is_damaged(&error) && manifest::cut_damage(path)? => open(),
        opened => opened,
    };
    opened.map_err(|error| Error::Open {
        path: path.to_owned(),
        message: error.as_ref().to_owned(),
    })
}

impl RocksDbEngine {
    /// Opens the tables in a directory, which is created if it does not exist.
    ///
    /// # Errors
    /// If the directory is in use, files are missing or corrupt, or cannot be read.
    pub fn open(path: &Path, config: &RocksDbConfig) -> Result<Self> {
        let cache = Cache::new_hyper_clock_cache(config.block_cache_bytes, 0);
        let options = options::open_options(config, &cache);
        // The handle of the column family is needed for reads of several keys.
        let db = open_whole(path, || {
            DB::open_cf_with_opts(&options, path, [(DEFAULT_COLUMN_FAMILY_NAME, options.clone())])
        })?;
        let mut write_options = WriteOptions::default();
        write_options.disable_wal(true);
        // We wait ourselves, where the wait can be stopped.
        write_options.set_no_slowdown(true);
        let engine = RocksDbEngine {
            db: Arc::new(Database {
                db,
                scan_cost: ScanCost::default(),
                blocks: BlockCounters::default(),
            }),
            cache,
            path: path.to_owned(),
            memtable_bytes: config.memtable_bytes,
            memtables_max: u64::from(config.memtables_max.max(2)),
            position: AtomicU64::new(0),
            active_memtable_bytes: AtomicUsize::new(0),
            counters: Mutex::default(),
            write_options,
            read_options: ReadOptions::default(),
            errors_allowed: AtomicU64::new(u64::MAX),
            errors_before_flush: AtomicU64::new(0),
            stall: Mutex::default(),
        };
        let position = engine.read_position(ReadTier::All)?;
        engine.position.store(position.as_u64(), Ordering::Release);
        Ok(engine)
    }

    /// Returns the position of the table files in a directory that nothing has open. Writes nothing, except that a torn
    /// end of the manifest is cut off.
    ///
    /// # Errors
    /// Those of [`RocksDbEngine::open`]; also if the directory does not exist.
    pub(crate) fn position_of(path: &Path) -> Result<LogPosition> {
        let db = open_whole(path, || {
            DB::open_for_read_only(&options::read_only_options(), path, false)
        })?;
        decode_position(db.get(POSITION_KEY)?.as_deref())
    }

    fn read_position(&self, tier: ReadTier) -> Result<LogPosition> {
        let mut options = ReadOptions::default();
        options.set_read_tier(tier);
        decode_position(self.db.get_pinned_opt(POSITION_KEY, &options)?.as_deref())
    }

    /// Returns the end of the last applied group.
    pub fn position(&self) -> LogPosition {
        LogPosition::from_u64(self.position.load(Ordering::Acquire))
    }

    /// Returns the position after a crash: that of the last batch in the files.
    ///
    /// # Errors
    /// If a table file cannot be read or is corrupt.
    pub fn durable_position(&self) -> Result<LogPosition> {
        self.read_position(ReadTier::Persisted)
    }

    /// Returns whether a flush should be begun before the next batch: [`begin_flush`](Self::begin_flush).
    pub(crate) fn memtable_is_nearly_full(&self) -> bool {
        // From ten twelfths on. The rest is for what one batch adds, and RocksDB's own threshold is slightly
        // below its limit, too.
        self.active_memtable_bytes.load(Ordering::Relaxed) > self.memtable_bytes / 12 * 10
    }

    /// Returns whether scans skip so many old versions that a flush is worth its cost:
    /// [`begin_flush`](Self::begin_flush).
    pub(crate) fn scans_pay_for_flush(&self) -> bool {
        self.db
            .scan_cost
            .pays_for(self.active_memtable_bytes.load(Ordering::Relaxed))
            && self.property(c"rocksdb.num-immutable-mem-table") == 0
    }

    /// Applies the write sets in order and moves to `position`, as one batch. Waits while flushes or
    /// compactions lag too far, also for lack of room on the disk: RocksDB retries by itself when there is
    /// room.
    pub(crate) fn apply(&self, group: &[Arc<FrozenWriteSet>], position: LogPosition) -> Result<()> {
        let raised = self.raise_counters(group)?;
        loop {
            let (batch, memory_bytes) = self.batch(group, &raised, position);
            match self.db.write_opt(batch, &self.write_options) {
                Ok(()) => {
                    self.active_memtable_bytes
                        .fetch_add(memory_bytes, Ordering::Relaxed);
                    break;
                }
                Err(error) => self.wait_for_room(error)?,
            }
        }
        self.position.store(position.as_u64(), Ordering::Release);
        Ok(())
    }

    /// Returns the numbers that a group raises, with their new values. The group must be the next one that is
    /// applied. Numbers in a range that a set deletes start again.
    fn raise_counters(&self, group: &[Arc<FrozenWriteSet>]) -> Result<Vec<RaisedCounter>> {
        let mut raised: Vec<RaisedCounter> = Vec::new();
        let is_concerned =
            |set: &Arc<FrozenWriteSet>| !set.counters().is_empty() || !set.deleted_ranges().is_empty();
        if !group.iter().any(is_concerned) {
            return Ok(raised);
        }
        let mut counters = self.counters.lock();
        counters.forget_deleted();
        for set in group {
            let deleted = set.deleted_ranges().iter();
            for id in deleted.filter_map(|range| IndexId::of_key(&range.start)) {
                raised.retain(|number| number.id != id);
                counters.delete(id);
            }
            for &(id, number) in set.counters() {
                let known = match counters.known.entry(id) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(unknown) => unknown.insert(self.number(id)?),
                };
                if number > *known {
                    *known = number;
                    match raised.iter_mut().find(|raised| raised.id == id) {
                        Some(raised) => raised.number = number,
                        None => raised.push(RaisedCounter { id, number }),
                    }
                }
            }
        }
        Ok(raised)
    }

    /// Returns the number that is kept under an id; 0 if there is none.
    fn number(&self, id: IndexId) -> Result<u64> {
        let value = self.db.get_pinned_opt(id.number_key(), &self.read_options)?;
        Ok(value
            .and_then(|value| IndexId::number_of(value_payload(&value)))
            .unwrap_or(0))
    }

    /// Returns the batch of a group, and its approximate size in a memtable.
    fn batch(
        &self,
        group: &[Arc<FrozenWriteSet>],
        raised: &[RaisedCounter],
        position: LogPosition,
    ) -> (WriteBatch, usize) {
        let bytes: usize = group.iter().map(|set| set.memory_bytes()).sum();
        let mut batch = WriteBatch::with_capacity_bytes(bytes + 64);
        if group.len() >= MERGED_GROUP_MIN && group.iter().all(|set| set.deleted_ranges().is_empty()) {
            merge_group(group, &mut batch);
        } else {
            for set in group {
                for range in set.deleted_ranges() {
                    if EngineKind::of_key(&range.start) == EngineKind::RocksDb {
                        batch.delete_range(&range.start, &range.end);
                    }
                }
                entries_on_disk(set).for_each(|(key, change)| add(&mut batch, key, change));
            }
        }
        for number in raised {
            batch.put(number.id.number_key(), number.value());
        }
        batch.put(POSITION_KEY, position.to_be_bytes());
        let memory_bytes = batch.size_in_bytes() + batch.len() * MEMTABLE_ENTRY_OVERHEAD_BYTES;
        (batch, memory_bytes)
    }

    /// Returns whether RocksDB does not continue although the disk has had room for a long time. In rare cases
    /// a second failure during its recovery from the first leaves it so, and it offers no way to resume. The
    /// log has everything: the server stops, and its next start replays what is missing.
    fn is_stuck(&self) -> bool {
        let room =
            rustix::fs::statvfs(&self.path).map_or(0, |disk| disk.f_bavail.saturating_mul(disk.f_frsize));
        let has_room = room > self.memtable_bytes as u64 * ROOM_MEMTABLES;
        self.stall.lock().note(has_room, Instant::now())
    }

    /// Sleeps if the error is temporary, so that the caller tries again; returns the error otherwise.
    fn wait_for_room(&self, error: rocksdb::Error) -> Result<()> {
        let pause = match error.kind() {
            // The result under `no_slowdown` where RocksDB would wait.
            ErrorKind::Incomplete => RETRY_THROTTLED_EVERY,
            _ if error.as_ref().contains("No space left on device") && !self.is_stuck() => {
                RETRY_FULL_DISK_EVERY
            }
            _ => return Err(error.into()),
        };
        self.pause(pause)
    }

    fn pause(&self, pause: Duration) -> Result<()> {
        if self.background_errors() > self.errors_allowed.load(Ordering::Relaxed) {
            return Err(Error::Closing);
        }
        std::thread::sleep(pause);
        Ok(())
    }

    /// Waits while too many flushes are in progress for one more.
    pub(crate) fn wait_for_earlier_flushes(&self) -> Result<()> {
        // RocksDB would wait too, but would not stop waiting when the server stops.
        while self.property(c"rocksdb.num-immutable-mem-table") + 1 >= self.memtables_max {
            self.check_is_running()?;
            self.pause(RETRY_THROTTLED_EVERY)?;
        }
        Ok(())
    }

    /// Returns the error with which RocksDB has stopped permanently. It then accepts a flush but never executes it, and
    /// counts no further error; only a write fails.
    fn check_is_running(&self) -> Result<()> {
        match self.db.write_opt(WriteBatch::default(), &self.write_options) {
            Ok(()) => Ok(()),
            Err(error) => self.wait_for_room(error),
        }
    }

    /// Makes the active memtable immutable and begins to write it to a file. Returns before that is done, but
    /// waits for earlier flushes when there are too many. The log must be durable up to
    /// [`position`](Self::position).
    pub(crate) fn begin_flush(&self) -> Result<()> {
        let mut options = FlushOptions::default();
        options.set_wait(false);
        self.wait_for_earlier_flushes()?;
        self.active_memtable_bytes.store(0, Ordering::Relaxed);
        self.db.scan_cost.flush_begun();
        self.errors_before_flush
            .store(self.background_errors(), Ordering::Relaxed);
        while let Err(error) = self.db.flush_opt(&options) {
            self.wait_for_room(error)?;
        }
        Ok(())
    }

    /// Waits for the flushes that were begun, without flushing later batches, which may not be durable in the
    /// log yet. If a flush has failed, `flush_again` begins another, after the log has been made durable.
    pub(crate) fn wait_until_durable(
        &self,
        position: LogPosition,
        flush_again: impl Fn() -> Result<()>,
    ) -> Result<LogPosition> {
        let mut pause = Duration::from_micros(200);
        let mut is_first = true;
        loop {
            let durable = self.durable_position()?;
            if durable >= position {
                return Ok(durable);
            }
            let has_failed = self.background_errors() > self.errors_before_flush.load(Ordering::Relaxed);
            if has_failed {
                flush_again()?; // returns the error, or waits until there is room on the disk
            }
            // It may have stopped before this flush was begun.
            if has_failed || std::mem::take(&mut is_first) {
                self.check_is_running()?;
            }
            self.pause(pause)?;
            pause = (pause * 2).min(Duration::from_millis(10));
        }
    }

    pub(crate) fn snapshot(&self) -> RocksDbSnapshot {
        RocksDbSnapshot::new(&self.db)
    }

    pub(crate) fn scan_snapshot(
        snapshot: &Arc<RocksDbSnapshot>,
        range: KeyRange,
        direction: Direction,
    ) -> RocksDbCursor {
        RocksDbCursor::new(cursor::Source::Snapshot(Arc::clone(snapshot)), range, direction)
    }

    pub(crate) fn get_newest(&self, key: &[u8]) -> Result<Option<DBPinnableSlice<'_>>> {
        let value = self.db.get_pinned_opt(key, &self.read_options)?;
        self.db.blocks.note_read();
        Ok(value)
    }

    pub(crate) fn scan_newest(&self, range: KeyRange, direction: Direction) -> RocksDbCursor {
        RocksDbCursor::new(cursor::Source::Newest(Arc::clone(&self.db)), range, direction)
    }

    /// Copies the contents of the table files to a new directory, by hard links where possible. Returns the
    /// position of the copy: that of the last flush, or of one that has ended meanwhile. It does not flush,
    /// because later batches may not be durable in the log.
    ///
    /// # Errors
    /// If the directory exists already or cannot be written.
    pub(crate) fn checkpoint(&self, directory: &Path) -> Result<LogPosition> {
        Checkpoint::new(&self.db.db)?.create_checkpoint_with_log_size(directory, NO_FLUSH)?;
        RocksDbEngine::position_of(directory)
    }

    /// Returns the approximate size of a range in files and memtables, in bytes.
    pub(crate) fn approximate_bytes(&self, range: &KeyRange) -> u64 {
        let files = self
            .db
            .get_approximate_sizes(&[rocksdb::Range::new(&range.start, &range.end)]);
        files.into_iter().sum()
    }

    /// Releases the disk space of a range whose deletion is older than every snapshot. (Deleting its files
    /// would be faster, but the range may contain new keys: those of a truncated table.)
    pub(crate) fn compact_range(&self, range: &KeyRange) {
        self.db.compact_range(Some(&range.start), Some(&range.end));
    }

    /// From now on, waits for room on the disk are given up when one more flush has failed.
    pub(crate) fn begin_close(&self) {
        self.errors_allowed
            .store(self.background_errors(), Ordering::Relaxed);
    }

    /// Returns the number of flushes and compactions that have failed.
    pub(crate) fn background_errors(&self) -> u64 {
        self.property(c"rocksdb.background-errors")
    }

    /// Returns RocksDB's property of that name, `rocksdb.…`; zero if it has none.
    pub(crate) fn property(&self, name: &std::ffi::CStr) -> u64 {
        self.db.property_int_value(name).ok().flatten().unwrap_or(0)
    }

    /// Returns the size of the uncompressed blocks in the cache, in bytes.
    pub(crate) fn cached_bytes(&self) -> usize {
        self.cache.get_usage()
    }

    /// Returns the blocks that readers have looked up since the start.
    pub(crate) fn block_statistics(&self) -> BlockStatistics {
        self.db.blocks.statistics()
    }

    /// Changes the capacity of the block cache, in bytes.
    pub(crate) fn set_cache_capacity(&self, bytes: usize) {
        // The handle is one of several of the same cache.
        self.cache.clone().set_capacity(bytes);
    }

    /// Returns the directory of the table files.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Cache of the numbers that write sets have raised: [`RocksDbEngine::raise_counters`].
#[derive(Default)]
struct CounterCache {
    known: HashMap<IndexId, u64>,
    /// Numbers deleted by the last group. Each counts as 0 until the deletion is in the tables.
    deleted: Vec<IndexId>,
}

impl CounterCache {
    fn delete(&mut self, id: IndexId) {
        self.known.insert(id, 0);
        self.deleted.push(id);
    }

    /// Forgets the deleted numbers. Called when the last group is in the tables, which then lack what it has
    /// deleted.
    fn forget_deleted(&mut self) {
        for id in self.deleted.drain(..) {
            self.known.remove(&id);
        }
    }
}

/// Number that a group raises: [`WriteSet::raise_counter`](crate::WriteSet::raise_counter).
struct RaisedCounter {
    id: IndexId,
    number: u64,
}

impl RaisedCounter {
    /// Returns the complete value of its key.
    fn value(&self) -> [u8; VERSION_LENGTH + 8] {
        let mut value = [0; VERSION_LENGTH + 8];
        value[VERSION_LENGTH..].copy_from_slice(&self.number.to_be_bytes());
        value
    }
}

/// Returns the entries of this engine: the keys of the other engines sort after them.
fn entries_on_disk(set: &FrozenWriteSet) -> impl Iterator<Item = (&[u8], Change<'_>)> {
    set.entries()
        .take_while(|(key, _)| EngineKind::of_key(key) == EngineKind::RocksDb)
}

fn add(batch: &mut WriteBatch, key: &[u8], change: Change<'_>) {
    match change {
        Change::Put(value) => batch.put(key, value),
        Change::Delete => batch.delete(key),
    }
}

/// Adds the final entries of a large group's keys, in key order: a memtable finds the place of a key fastest
/// directly after its predecessor, and rows that were changed repeatedly are written once. No reader can see a
/// state between the transactions of a group.
fn merge_group(group: &[Arc<FrozenWriteSet>], batch: &mut WriteBatch) {
    let mut entries: Vec<(u128, &[u8], Change<'_>)> = group
        .iter()
        .flat_map(|set| entries_on_disk(set))
        .map(|(key, change)| (head(key), key, change))
        .collect();
    // Stable: entries of one key stay in log order.
    entries.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.cmp(b.1)));
    for (number, (_, key, change)) in entries.iter().enumerate() {
        if entries.get(number + 1).is_none_or(|next| next.1 != *key) {
            add(batch, key, *change);
        }
    }
}

/// Returns a key's first bytes as a number, which sorts as they do: most comparisons need no more.
fn head(key: &[u8]) -> u128 {
    let mut bytes = [0; 16];
    let length = key.len().min(16);
    bytes[..length].copy_from_slice(&key[..length]);
    u128::from_be_bytes(bytes)
}

fn decode_position(bytes: Option<&[u8]>) -> Result<LogPosition> {
    match bytes.map(<[u8; 8]>::try_from) {
        None => Ok(LogPosition::ZERO),
        Some(Ok(bytes)) => Ok(LogPosition::from_be_bytes(bytes)),
        Some(Err(_)) => Err(Error::Malformed {
            index: IndexId::ENGINE.as_u32(),
            what: "position",
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_failures_despite_room_count_as_stuck() {
        let start = Instant::now();
        let mut stall = StallDetector::default();
        let mut seconds = |from: u64, to: u64, has_room: bool| {
            let at = |second| start + Duration::from_secs(second);
            (from..to).any(|second| stall.note(has_room, at(second)))
        };
        assert!(!seconds(0, 100, false), "a full disk is waited for");
        assert!(!seconds(100, 129, true));
        assert!(!seconds(129, 140, false), "it is full again");
        assert!(!seconds(140, 169, true));
        assert!(!seconds(200, 229, true), "it had resumed in between");
        assert!(seconds(229, 240, true));
    }
}
