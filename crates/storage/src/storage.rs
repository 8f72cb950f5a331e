//! All engines as one: a group of transactions is applied to them together, and a snapshot sees all of it or
//! nothing.
//!
//! ```text
//!   apply(group, position)   one thread at a time, in log order            snapshot()
//!     1. engines behind the trait: entries with their versions               waits for a group that is being applied,
//!        (no snapshot is as new as they are, so they are invisible)          then takes the state of all engines
//!     2. RocksDB: one batch with the position                                at the same position
//!     3. the position moves
//! ```
//!
//! `apply` holds the lock `applying` during all three steps, and `snapshot` takes it, so a snapshot falls
//! between two groups. Readers never take it: the transaction layer takes one snapshot after each group and
//! shares it. `get_newest` and `scan_newest` may see the engines one group apart. They are for reads under
//! row locks, whose rows no unfinished group changes: such a row is read in the pending overlay first.
//!
//! **The log first.** Before a flush, the [`LogBarrier`] makes the log durable up to the position that is
//! flushed. With `sync_binlog=1` it has nothing to do.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use paceline_spill_file::SpillFile;
use paceline_types::LogPosition;
use parking_lot::Mutex;

use crate::build_id::BuildId;
use crate::bulk::{Builds, BulkBuild, RowFiles};
use crate::cursor::Cursor;
use crate::directory::create_directory;
use crate::engine::SnapshotRegister;
use crate::engine_list::EngineList;
use crate::error::{Error, Result};
use crate::held_files::{self, HeldFiles};
use crate::key::{Direction, EngineKind, IndexId, KeyRange};
use crate::memory_engine::MemoryConfig;
use crate::rocksdb_engine::{BlockStatistics, RocksDbConfig, RocksDbEngine};
use crate::snapshot::StorageSnapshot;
use crate::stored_value::StoredValue;
use crate::temporary::TemporarySpace;
use crate::write_set::{Entries, FrozenWriteSet, MarkedWriteSet};

/// Makes the log durable. Implemented by the owner of the log.
pub trait LogBarrier: Send + Sync {
    /// Makes the log durable at least up to `position`, and returns its durable position. Called before tables
    /// are flushed, also from within [`Storage::apply`].
    fn make_durable(&self, position: LogPosition) -> LogPosition;
}

/// Settings of the tables.
#[derive(Clone, Debug)]
pub struct StorageConfig {
    /// Directory of the table files and builds; created if it does not exist.
    pub directory: PathBuf,
    /// Settings of the engine on disk.
    pub rocksdb: RocksDbConfig,
    /// Settings of MEMORY and added engines.
    pub memory: MemoryConfig,
    /// Settings of temporary tables.
    pub temporary: MemoryConfig,
}

impl StorageConfig {
    /// Returns the default settings for that directory.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        StorageConfig {
            directory: directory.into(),
            rocksdb: RocksDbConfig::default(),
            memory: MemoryConfig::default(),
            temporary: MemoryConfig::default(),
        }
    }
}

/// Figures for `SHOW STATUS`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StorageStatistics {
    /// Bytes in memtables.
    pub memtable_bytes: u64,
    /// Bytes of all memtables, also of those that are written and still read.
    pub memtable_memory_bytes: u64,
    /// Number of memtables that wait for their flush.
    pub immutable_memtables: u64,
    /// Bytes of live table files.
    pub table_file_bytes: u64,
    /// Approximate bytes that compaction still has to rewrite.
    pub pending_compaction_bytes: u64,
    /// Bytes in the block cache.
    pub block_cache_bytes: u64,
    /// Blocks of table files that readers have looked up since the start.
    pub blocks: BlockStatistics,
    /// Approximate bytes of the descriptions of open table files, beside the block cache.
    pub table_reader_bytes: u64,
    /// Approximate number of keys on disk.
    pub estimated_keys: u64,
    /// Number of flushes and compactions that have failed since the start.
    pub background_errors: u64,
    /// Bytes used by MEMORY tables and those of added engines.
    pub memory_engine_bytes: u64,
    /// Bytes used by temporary tables.
    pub temporary_bytes: u64,
}

/// Memory of the engines that is cheap to read, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StorageMemory {
    /// Blocks in the cache.
    pub block_cache: u64,
    /// All memtables.
    pub memtables: u64,
    /// MEMORY tables, and those of added engines.
    pub memory_tables: u64,
    /// Temporary tables.
    pub temporary_tables: u64,
}

/// All engines. See the module's head.
pub struct Storage {
    rocksdb: RocksDbEngine,
    /// The engines behind the trait, and the limit of their memory together.
    engines: Arc<EngineList>,
    engine_bytes_max: AtomicU64,
    snapshots: Arc<SnapshotRegister>,
    temporary: Arc<TemporarySpace>,
    builds: Builds,
    /// Held while a group is applied and while a snapshot is taken.
    applying: Mutex<()>,
    log_barrier: OnceLock<Arc<dyn LogBarrier>>,
    /// Ranges whose deletion is applied, and whose disk space is not released yet.
    dropped: Mutex<Vec<DroppedRange>>,
    /// Directory of held files, and the number of times that files were held.
    held: PathBuf,
    held_count: AtomicU64,
}

struct DroppedRange {
    range: KeyRange,
    version: LogPosition,
}

/// Smallest dropped range, in bytes, that is compacted explicitly; smaller ones are left to ordinary
/// compaction.
const RELEASE_BYTES_MIN: u64 = 32 << 20;

impl Storage {
    /// Opens the tables of a data directory.
    ///
    /// # Errors
    /// If the directory is in use, table files are missing or corrupt, or cannot be read.
    pub fn open(config: &StorageConfig) -> Result<Self> {
        create_directory(&config.directory).map_err(Error::file(&config.directory))?;
        let rocksdb = config.directory.join("rocksdb");
        create_directory(&rocksdb).map_err(Error::file(&rocksdb))?;
        let rocksdb = RocksDbEngine::open(&rocksdb, &config.rocksdb)?;
        let builds = Builds::open(config.directory.join("builds"))?;
        let held = config.directory.join("held");
        held_files::remove_all(&held)?;
        Ok(Storage {
            rocksdb,
            engines: EngineList::create(),
            engine_bytes_max: AtomicU64::new(config.memory.bytes_max),
            snapshots: Arc::default(),
            temporary: TemporarySpace::new(&config.temporary),
            builds,
            applying: Mutex::new(()),
            log_barrier: OnceLock::new(),
            dropped: Mutex::default(),
            held,
            held_count: AtomicU64::new(0),
        })
    }

    /// Returns the end of the last group in the files of tables that are not open. Opening them would change files.
    ///
    /// # Errors
    /// As for [`Storage::open`].
    pub fn position_of(directory: &Path) -> Result<LogPosition> {
        RocksDbEngine::position_of(&directory.join("rocksdb"))
    }

    /// Sets the barrier that makes the log durable before a flush. Without one, everything applied must already
    /// be durable in the log, as in recovery.
    ///
    /// # Panics
    /// If it is set twice.
    pub fn set_log_barrier(&self, barrier: Arc<dyn LogBarrier>) {
        assert!(
            self.log_barrier.set(barrier).is_ok(),
            "the log barrier is set once"
        );
    }

    fn make_log_durable(&self) -> Result<()> {
        self.make_log_durable_to(self.position())
    }

    fn make_log_durable_to(&self, engine: LogPosition) -> Result<()> {
        if let Some(barrier) = self.log_barrier.get() {
            let log = barrier.make_durable(engine);
            if log < engine {
                return Err(Error::AheadOfLog { engine, log });
            }
        }
        Ok(())
    }

    /// Applies a group's write sets in order to all engines, and moves to `position`, the end of the group in
    /// the log. The caller must apply groups in log order. Waits while memtables are full or the disk has no
    /// room.
    ///
    /// # Errors
    /// If the engine fails permanently: the server must stop, and will replay the log.
    pub fn apply(&self, group: &[Arc<FrozenWriteSet>], position: LogPosition) -> Result<()> {
        let _applying = self.applying.lock();
        self.apply_locked(group, position, |engine| {
            if engine.memtable_is_nearly_full() {
                self.begin_flush_locked()?;
            }
            engine.apply(group, position)
        })
    }

    fn apply_locked(
        &self,
        group: &[Arc<FrozenWriteSet>],
        position: LogPosition,
        apply_to_disk: impl FnOnce(&RocksDbEngine) -> Result<()>,
    ) -> Result<()> {
        debug_assert!(
            position >= self.position(),
            "groups are applied in the log's order"
        );
        let mut changed = 0;
        for set in group {
            debug_assert!(set.version() <= position);
            changed += self.engines.apply(set);
            self.note_dropped_ranges(set);
        }
        apply_to_disk(&self.rocksdb)?;
        if changed > 0 {
            self.engines.collect_after_apply(changed, self.oldest_readable());
        }
        Ok(())
    }

    /// Starts to write everything applied so far to table files. Called under `applying`, so that the position
    /// does not move beyond the one that the barrier was requested for.
    fn begin_flush_locked(&self) -> Result<()> {
        self.make_log_durable()?;
        self.rocksdb.begin_flush()
    }

    fn note_dropped_ranges(&self, set: &FrozenWriteSet) {
        for range in set.deleted_ranges() {
            if EngineKind::of_key(&range.start) == EngineKind::RocksDb {
                self.dropped.lock().push(DroppedRange {
                    range: range.clone(),
                    version: set.version(),
                });
            }
        }
    }

    /// Returns the state of all engines now.
    pub fn snapshot(&self) -> StorageSnapshot {
        let _applying = self.applying.lock();
        StorageSnapshot::new(
            self.rocksdb.snapshot(),
            Arc::clone(&self.engines),
            Arc::clone(&self.temporary),
            self.snapshots.register(self.rocksdb.position()),
        )
    }

    /// Returns the oldest version of which the engines behind the trait must still have the state.
    fn oldest_readable(&self) -> LogPosition {
        // The next snapshot is not older than the position, so the position is read first.
        let position = self.rocksdb.position();
        self.snapshots
            .oldest()
            .map_or(position, |oldest| oldest.min(position))
    }

    /// Returns the newest applied value of a key, preceded by its version. For reads under a lock; see the
    /// module's head.
    ///
    /// # Errors
    /// If a table file cannot be read or is corrupt.
    pub fn get_newest(&self, key: &[u8]) -> Result<Option<StoredValue<'_>>> {
        match EngineKind::of_key(key) {
            EngineKind::RocksDb => Ok(self.rocksdb.get_newest(key)?.map(StoredValue::pinned)),
            EngineKind::Temporary => Ok(self.temporary.get(key)),
            kind => {
                let found = self.engines.of(kind).get(key, LogPosition::MAX);
                Ok(found.map(StoredValue::shared))
            }
        }
    }

    /// Scans the newest applied entries of a range within one engine: those at the cursor's creation, or newer
    /// ones.
    pub fn scan_newest(&self, range: KeyRange, direction: Direction) -> Cursor {
        match EngineKind::of_key(&range.start) {
            EngineKind::RocksDb => Cursor::rocksdb(self.rocksdb.scan_newest(range, direction)),
            EngineKind::Temporary => Cursor::temporary(self.temporary.scan(range, direction)),
            kind => {
                let engine = Arc::clone(self.engines.of(kind));
                Cursor::engine(engine.scan(range, direction, LogPosition::MAX), None)
            }
        }
    }

    /// Returns the end of the last applied group.
    pub fn position(&self) -> LogPosition {
        self.rocksdb.position()
    }

    /// Returns the position that the tables would have after a crash, from which the log would be replayed.
    ///
    /// # Errors
    /// If a table file cannot be read or is corrupt.
    pub fn durable_position(&self) -> Result<LogPosition> {
        self.rocksdb.durable_position()
    }

    /// Writes everything applied so far to table files, and syncs them; other operations do not wait for it.
    /// Returns a durable position.
    ///
    /// # Errors
    /// If the log cannot be made durable first, or the disk fails.
    pub fn flush(&self) -> Result<LogPosition> {
        let position = {
            let _applying = self.applying.lock();
            self.begin_flush_locked()?;
            self.position()
        };
        self.rocksdb.wait_until_durable(position, || {
            // Outside the lock, where no group waits for it: a full disk may take long.
            self.rocksdb.wait_for_earlier_flushes()?;
            let _applying = self.applying.lock();
            self.begin_flush_locked()
        })
    }

    /// Copies the tables on disk to a new directory, by hard links where possible, at the returned position,
    /// which is that of the call or later. Other operations do not wait for it. MEMORY tables are not included.
    ///
    /// # Errors
    /// If the directory exists already, or the disk fails.
    pub fn checkpoint(&self, directory: &Path) -> Result<LogPosition> {
        create_directory(directory).map_err(Error::file(directory))?;
        self.flush()?;
        self.rocksdb.checkpoint(&directory.join("rocksdb"))
    }

    /// Holds the table files as they are now, for copying: a [checkpoint](Self::checkpoint) that is kept as
    /// long as the result lives.
    ///
    /// # Errors
    /// If the log cannot be made durable first, or the disk fails.
    pub fn hold_files(&self) -> Result<HeldFiles> {
        let number = self.held_count.fetch_add(1, Ordering::Relaxed);
        let directory = self.held.join(number.to_string());
        let held = self.checkpoint(&directory).and_then(|position| {
            let files = held_files::list(&directory, "rocksdb")?;
            Ok((position, files))
        });
        match held {
            Ok((position, files)) => Ok(HeldFiles::new(directory, position, files)),
            Err(error) => {
                let _ = held_files::remove_all(&directory);
                Err(error)
            }
        }
    }

    /// Begins a build. Its id must be the one under which the log will name it.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn begin_build(&self, id: BuildId) -> Result<BulkBuild> {
        self.builds.begin(id)
    }

    /// Returns the finished builds that were neither activated nor abandoned, ascending.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub fn builds(&self) -> Result<Vec<BuildId>> {
        self.builds.finished()
    }

    /// Flushes, so that [`activate`](Self::activate) does not have to while other transactions wait. Must be
    /// called before the transaction joins the commit queue.
    ///
    /// # Errors
    /// If the log cannot be made durable first, or the disk fails.
    pub fn prepare_activate(&self) -> Result<()> {
        self.flush().map(drop)
    }

    /// Applies a group as [`apply`](Self::apply) does, with the entries of finished builds, all as one step:
    /// after a crash it is complete or absent. Durable at once.
    ///
    /// # Errors
    /// [`Error::NoSuchBuild`]; if the engine fails permanently.
    pub fn activate(
        &self,
        builds: &[BuildId],
        group: &[Arc<FrozenWriteSet>],
        position: LogPosition,
    ) -> Result<()> {
        let mut files = Vec::new();
        for id in builds {
            files.extend(self.builds.files(*id)?);
        }
        let Some(first) = builds.first() else {
            return self.apply(group, position);
        };
        let scratch = self.builds.directory(*first);
        {
            let _applying = self.applying.lock();
            // Ingested files are durable at once, and the position with them: the group itself must be durable
            // before.
            self.make_log_durable_to(position)?;
            self.apply_locked(group, position, |engine| {
                engine.ingest(files, &scratch, group, group, position)
            })?;
        }
        builds.iter().try_for_each(|id| self.builds.remove(*id))
    }

    /// Writes the rows of a large transaction to synced table files. Also flushes, so that
    /// [`apply_built`](Self::apply_built) does not have to while other transactions wait. Must be called before
    /// the transaction joins the commit queue.
    ///
    /// # Errors
    /// If the disk is full or fails; nothing remains of the files then.
    ///
    /// # Panics
    /// If the set deletes ranges.
    pub fn build_rows(&self, set: &MarkedWriteSet) -> Result<RowFiles> {
        self.build_entries(set.entries(), set.deleted_ranges())
    }

    fn build_entries(&self, entries: Entries<'_>, deleted: &[KeyRange]) -> Result<RowFiles> {
        assert!(deleted.is_empty(), "a transaction of rows deletes no ranges");
        let files = self.builds.row_files(entries)?;
        self.prepare_activate()?;
        Ok(files)
    }

    /// Applies one large set as [`apply`](Self::apply) does, by means of table files: for callers that delay no
    /// other transaction.
    ///
    /// # Errors
    /// Those of [`build_rows`](Self::build_rows) and [`apply_built`](Self::apply_built).
    pub fn apply_large(&self, set: &Arc<FrozenWriteSet>, position: LogPosition) -> Result<()> {
        let files = self.build_entries(set.entries(), set.deleted_ranges())?;
        self.apply_built(&files, set, position)
    }

    /// Creates a file for the values of a write set that has become large.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn spill_file(&self) -> Result<SpillFile> {
        let directory = self.builds.path();
        SpillFile::create_in(directory).map_err(Error::file(directory))
    }

    /// Applies one set as [`apply`](Self::apply) does; its rows on disk are in these files already. They become
    /// part of the tables, and the position moves, as one step that takes no longer for many rows than for few.
    /// Durable at once.
    ///
    /// # Errors
    /// If the engine fails permanently.
    pub fn apply_built(
        &self,
        files: &RowFiles,
        set: &Arc<FrozenWriteSet>,
        position: LogPosition,
    ) -> Result<()> {
        let _applying = self.applying.lock();
        self.make_log_durable_to(position)?;
        self.apply_locked(std::slice::from_ref(set), position, |engine| {
            let paths = files.paths().to_vec();
            engine.ingest(paths, files.directory(), &[], std::slice::from_ref(set), position)
        })
    }

    /// Deletes a finished build that will not be activated. Does nothing if there is none.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn abandon(&self, id: BuildId) -> Result<()> {
        self.builds.remove(id)
    }

    /// Checks whether MEMORY tables and those of added engines may grow by `bytes`:
    /// [`WriteSet::memory_engine_bytes`](crate::WriteSet::memory_engine_bytes).
    ///
    /// # Errors
    /// [`Error::MemoryFull`] if they may not.
    pub fn check_memory_room(&self, bytes: u64) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let (used_bytes, limit_bytes) = (self.engines.used_bytes(), self.memory_bytes_max());
        match used_bytes.saturating_add(bytes) > limit_bytes {
            true => Err(Error::MemoryFull {
                used_bytes,
                limit_bytes,
            }),
            false => Ok(()),
        }
    }

    /// Returns the limit of MEMORY tables and those of added engines together, in bytes.
    pub fn memory_bytes_max(&self) -> u64 {
        self.engine_bytes_max.load(Ordering::Relaxed)
    }

    /// Changes that limit. Memory in use beyond a lower limit stays in use.
    pub fn set_memory_bytes_max(&self, bytes: u64) {
        self.engine_bytes_max.store(bytes, Ordering::Relaxed);
    }

    /// Returns the space of temporary tables.
    pub fn temporary(&self) -> &Arc<TemporarySpace> {
        &self.temporary
    }

    /// Returns the approximate size of an index in bytes, for the optimizer and `SHOW TABLE STATUS`. For an
    /// index in memory, that of the whole engine.
    pub fn approximate_bytes(&self, index: IndexId) -> u64 {
        match index.engine() {
            EngineKind::RocksDb => self.rocksdb.approximate_bytes(&index.range()),
            EngineKind::Temporary => self.temporary.used_bytes(),
            kind => self.engines.of(kind).used_bytes(),
        }
    }

    /// Returns which part of a range of keys lies before a key, from 0 to 1, by the approximate size in bytes; `None`
    /// for keys in memory, whose places are not known.
    pub fn approximate_part(&self, range: &KeyRange, key: &[u8]) -> Option<f64> {
        match IndexId::of_key(&range.start)?.engine() {
            EngineKind::RocksDb => {
                let before = self
                    .rocksdb
                    .approximate_bytes(&KeyRange::new(range.start.clone(), key));
                let all = self.rocksdb.approximate_bytes(range);
                (all > 0).then(|| (before as f64 / all as f64).min(1.0))
            }
            _ => None,
        }
    }

    /// Releases what is no longer needed: memory of superseded versions, disk space of dropped tables. Should
    /// be called about every second by a thread that may be slow.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn maintain(&self) -> Result<()> {
        self.engines.collect_all(self.oldest_readable());
        while self.temporary.collect(1024) {
            std::thread::yield_now();
        }
        if self.rocksdb.scans_pay_for_flush() {
            let _applying = self.applying.lock();
            self.begin_flush_locked()?;
        }
        self.release_dropped_ranges()
    }

    fn release_dropped_ranges(&self) -> Result<()> {
        let oldest = self.snapshots.oldest().unwrap_or(LogPosition::MAX);
        let mut ready = Vec::new();
        self.dropped.lock().retain(|dropped| {
            let keep = dropped.version > oldest;
            if !keep {
                ready.push(dropped.range.clone());
            }
            keep
        });
        ready.retain(|range| self.rocksdb.approximate_bytes(range) >= RELEASE_BYTES_MIN);
        if !ready.is_empty() {
            // The deletion itself must be in a file to be merged with what it deletes.
            self.flush()?;
            ready.iter().for_each(|range| self.rocksdb.compact_range(range));
        }
        Ok(())
    }

    /// Changes the capacity of the block cache. A smaller one is reached as blocks come in: each takes the place of
    /// more than one.
    pub fn set_block_cache_capacity(&self, bytes: u64) {
        self.rocksdb
            .set_cache_capacity(usize::try_from(bytes).unwrap_or(usize::MAX));
    }

    /// Returns the memory of the engines. Unlike [`statistics`](Self::statistics), this can be read often.
    pub fn memory_sizes(&self) -> StorageMemory {
        StorageMemory {
            block_cache: self.rocksdb.cached_bytes() as u64,
            memtables: self.rocksdb.property(c"rocksdb.size-all-mem-tables"),
            memory_tables: self.engines.used_bytes(),
            temporary_tables: self.temporary.used_bytes(),
        }
    }

    /// Returns figures for `SHOW STATUS`.
    pub fn statistics(&self) -> StorageStatistics {
        StorageStatistics {
            memtable_bytes: self.rocksdb.property(c"rocksdb.cur-size-all-mem-tables"),
            memtable_memory_bytes: self.rocksdb.property(c"rocksdb.size-all-mem-tables"),
            immutable_memtables: self.rocksdb.property(c"rocksdb.num-immutable-mem-table"),
            table_file_bytes: self.rocksdb.property(c"rocksdb.live-sst-files-size"),
            pending_compaction_bytes: self
                .rocksdb
                .property(c"rocksdb.estimate-pending-compaction-bytes"),
            block_cache_bytes: self.rocksdb.cached_bytes() as u64,
            blocks: self.rocksdb.block_statistics(),
            table_reader_bytes: self.rocksdb.property(c"rocksdb.estimate-table-readers-mem"),
            estimated_keys: self.rocksdb.property(c"rocksdb.estimate-num-keys"),
            background_errors: self.rocksdb.background_errors(),
            memory_engine_bytes: self.engines.used_bytes(),
            temporary_bytes: self.temporary.used_bytes(),
        }
    }

    /// Stops waiting for room on the disk, so that a shutdown can proceed.
    pub fn begin_close(&self) {
        self.rocksdb.begin_close();
    }

    /// Closes cleanly: flushes, so that the next start has nothing to replay. Snapshots and cursors keep the
    /// files open as long as they live.
    ///
    /// # Errors
    /// If the log cannot be made durable first, or the disk fails; the next start then replays the log.
    pub fn close(self) -> Result<()> {
        self.flush().map(drop)
    }
}
