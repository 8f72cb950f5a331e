//! Both engines as one: a group of transactions goes to them together, and a snapshot sees all of it or nothing.
//!
//! ```text
//!   apply(group, position)   one thread at a time, in the log's order      snapshot()
//!     1. memory engine: entries with their versions                          waits for a group that is being applied,
//!        (no snapshot is as new as they are: nobody sees them)               then takes both engines' state
//!     2. RocksDB: one batch with the position                                at the same position
//!     3. the position moves
//! ```
//!
//! `apply` holds the lock `applying` over all three steps and `snapshot` takes it, so that a snapshot falls between two groups. Readers never take
//! it: the transaction layer takes one snapshot after each group and shares it. `get_newest` and `scan_newest` may see the two engines a group
//! apart; they are for reads under row locks, whose rows no unfinished group changes: such a row is read in the pending
//! overlay first.
//!
//! **The log first.** Before anything is flushed, the [`LogBarrier`] makes the log durable up to what is flushed. With `sync_binlog=1` it
//! has nothing to do.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use paceline_binlog::SpillFile;
use paceline_types::LogPosition;
use parking_lot::Mutex;

use crate::bulk::{BuildId, Builds, BulkBuild, RowFiles};
use crate::cursor::Cursor;
use crate::directory::create_directory;
use crate::error::{Error, Result};
use crate::held_files::{self, HeldFiles};
use crate::key::{Direction, EngineKind, IndexId, KeyRange};
use crate::memory_engine::{MemoryConfig, MemoryEngine};
use crate::rocksdb_engine::{RocksDbConfig, RocksDbEngine};
use crate::snapshot::{StorageSnapshot, StoredValue};
use crate::temporary::TemporarySpace;
use crate::write_set::{Entries, FrozenWriteSet, MarkedWriteSet};

/// Makes the log durable. Implemented by who owns the log.
pub trait LogBarrier: Send + Sync {
    /// Returns the log's durable position, which must be at least `position` afterwards. Called before tables are flushed, from
    /// within [`Storage::apply`] too.
    fn make_durable(&self, position: LogPosition) -> LogPosition;
}

/// What can be set of the tables.
#[derive(Clone, Debug)]
pub struct StorageConfig {
    /// The directory of the table files and builds; made if it is not there.
    pub directory: PathBuf,
    /// The engine on disk.
    pub rocksdb: RocksDbConfig,
    /// The engine in memory.
    pub memory: MemoryConfig,
    /// Temporary tables.
    pub temporary: MemoryConfig,
}

impl StorageConfig {
    /// The defaults, in that directory.
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
    /// Memtables that wait for their flush.
    pub immutable_memtables: u64,
    /// Bytes of live table files.
    pub table_file_bytes: u64,
    /// Bytes that compaction still has to rewrite, about.
    pub pending_compaction_bytes: u64,
    /// Bytes in the block cache.
    pub block_cache_bytes: u64,
    /// Keys on disk, about.
    pub estimated_keys: u64,
    /// Flushes and compactions that failed since the start.
    pub background_errors: u64,
    /// Bytes in use by MEMORY tables.
    pub memory_engine_bytes: u64,
    /// Bytes in use by temporary tables.
    pub temporary_bytes: u64,
}

/// Both engines. See the module's head.
pub struct Storage {
    rocksdb: RocksDbEngine,
    memory: Arc<MemoryEngine>,
    temporary: Arc<TemporarySpace>,
    builds: Builds,
    /// Held while a group is applied and while a snapshot is taken.
    applying: Mutex<()>,
    log_barrier: OnceLock<Arc<dyn LogBarrier>>,
    /// Ranges whose deletion is applied, and whose disk space is not given back yet.
    dropped: Mutex<Vec<Dropped>>,
    /// Where files are held for who copies them, and how many times they were.
    held: PathBuf,
    held_count: AtomicU64,
}

struct Dropped {
    range: KeyRange,
    version: LogPosition,
}

/// Dropped ranges smaller than this are left to ordinary compaction, in bytes.
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
            memory: MemoryEngine::new(&config.memory),
            temporary: TemporarySpace::new(&config.temporary),
            builds,
            applying: Mutex::new(()),
            log_barrier: OnceLock::new(),
            dropped: Mutex::default(),
            held,
            held_count: AtomicU64::new(0),
        })
    }

    /// Sets who makes the log durable before a flush. Without one, all that is applied must be durable in the log already, as
    /// in recovery.
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

    /// Applies a group's write sets in order, to both engines, and moves to `position`, the end of the group in the log. The caller
    /// keeps the log's order. Waits while memtables are full, and while there is no room on the disk.
    ///
    /// # Errors
    /// If the engine fails for good: the server must stop, and will replay the log.
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
        for set in group {
            debug_assert!(set.version() <= position);
            self.memory.apply(set);
            self.note_dropped_ranges(set);
        }
        apply_to_disk(&self.rocksdb)?;
        self.memory.collect_after_apply(group);
        Ok(())
    }

    /// Begins to write everything applied so far to table files. Called under `applying`, so that the position does not run ahead of what the barrier was asked
    /// for.
    fn begin_flush_locked(&self) -> Result<()> {
        self.make_log_durable()?;
        self.rocksdb.begin_flush()
    }

    fn note_dropped_ranges(&self, set: &FrozenWriteSet) {
        for range in set.deleted_ranges() {
            if EngineKind::of_key(&range.start) == EngineKind::RocksDb {
                self.dropped.lock().push(Dropped {
                    range: range.clone(),
                    version: set.version(),
                });
            }
        }
    }

    /// What both engines hold now.
    pub fn snapshot(&self) -> StorageSnapshot {
        let _applying = self.applying.lock();
        let position = self.rocksdb.position();
        StorageSnapshot::new(
            self.rocksdb.snapshot(),
            self.memory.snapshot(position),
            self.temporary.engine().clone(),
            position,
        )
    }

    /// The newest applied value of a key, version in front. For reads under a lock; see the module's head.
    ///
    /// # Errors
    /// If a table file cannot be read or is corrupt.
    pub fn get_newest(&self, key: &[u8]) -> Result<Option<StoredValue<'_>>> {
        match EngineKind::of_key(key) {
            EngineKind::RocksDb => Ok(self.rocksdb.get_newest(key)?.map(StoredValue::pinned)),
            EngineKind::Memory => Ok(self.memory.get_newest(key).map(StoredValue::shared)),
            EngineKind::Temporary => {
                let found = self.temporary.engine().get_newest(key);
                Ok(found.map(StoredValue::shared))
            }
        }
    }

    /// The newest applied entries of a range within one engine: those of the cursor's creation, or newer.
    pub fn scan_newest(&self, range: KeyRange, direction: Direction) -> Cursor {
        match EngineKind::of_key(&range.start) {
            EngineKind::RocksDb => Cursor::rocksdb(self.rocksdb.scan_newest(range, direction)),
            EngineKind::Memory => Cursor::memory(self.memory.scan_newest(range, direction)),
            EngineKind::Temporary => Cursor::memory(self.temporary.engine().scan_newest(range, direction)),
        }
    }

    /// The end of the last group that was applied.
    pub fn position(&self) -> LogPosition {
        self.rocksdb.position()
    }

    /// The position that a crash would leave the tables at, from which the log would be replayed.
    ///
    /// # Errors
    /// If a table file cannot be read or is corrupt.
    pub fn durable_position(&self) -> Result<LogPosition> {
        self.rocksdb.durable_position()
    }

    /// Writes everything applied so far to table files, and syncs them. Nobody waits for it. Returns a position that is
    /// durable.
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
            // Where no group waits for it: a full disk may take long.
            self.rocksdb.wait_for_earlier_flushes()?;
            let _applying = self.applying.lock();
            self.begin_flush_locked()
        })
    }

    /// Makes a copy of the tables on disk in a new directory, by hard links where it can, at the position returned, which is that of the
    /// call or later. Nobody waits for it. MEMORY tables are not in it.
    ///
    /// # Errors
    /// If the directory is there already, or the disk fails.
    pub fn checkpoint(&self, directory: &Path) -> Result<LogPosition> {
        create_directory(directory).map_err(Error::file(directory))?;
        self.flush()?;
        self.rocksdb.checkpoint(&directory.join("rocksdb"))
    }

    /// Holds the table files as they are now, for who copies them: a [checkpoint](Self::checkpoint) for as long as it lives.
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

    /// Begins a build. Its id must be that under which the log will name it.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn begin_build(&self, id: BuildId) -> Result<BulkBuild> {
        self.builds.begin(id)
    }

    /// The finished builds that were neither activated nor abandoned, ascending.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub fn builds(&self) -> Result<Vec<BuildId>> {
        self.builds.finished()
    }

    /// What [`activate`](Self::activate) would otherwise do while others wait: flushes. To be called before the transaction queues
    /// for its place in the log.
    ///
    /// # Errors
    /// If the log cannot be made durable first, or the disk fails.
    pub fn prepare_activate(&self) -> Result<()> {
        self.flush().map(drop)
    }

    /// As [`apply`](Self::apply), and with the entries of finished builds, all as one step: after a crash it is there as a whole or not at all. Durable
    /// at once.
    ///
    /// # Errors
    /// [`Error::NoSuchBuild`]; if the engine fails for good.
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
            // Files are durable as they are ingested, and the position with them: the group itself must be before.
            self.make_log_durable_to(position)?;
            self.apply_locked(group, position, |engine| {
                engine.ingest(files, &scratch, group, group, position)
            })?;
        }
        builds.iter().try_for_each(|id| self.builds.remove(*id))
    }

    /// Writes the rows of a large transaction to table files, synced, and does what [`apply_built`](Self::apply_built) would otherwise do while
    /// others wait: flushes. To be called before the transaction queues for its place in the log.
    ///
    /// # Errors
    /// If the disk is full or fails; nothing is left of the files then.
    ///
    /// # Panics
    /// If the set deletes ranges.
    pub fn build_rows(&self, set: &MarkedWriteSet) -> Result<RowFiles> {
        self.build_entries(set.entries(), set.deleted_ranges())
    }

    fn build_entries(&self, entries: Entries<'_>, deleted: &[KeyRange]) -> Result<RowFiles> {
        assert!(
            deleted.is_empty(),
            "what deletes ranges is no transaction of rows"
        );
        let files = self.builds.row_files(entries)?;
        self.prepare_activate()?;
        Ok(files)
    }

    /// As [`apply`](Self::apply) of one set that is large, by way of table files: for who has nobody waiting.
    ///
    /// # Errors
    /// As [`build_rows`](Self::build_rows) and [`apply_built`](Self::apply_built).
    pub fn apply_large(&self, set: &Arc<FrozenWriteSet>, position: LogPosition) -> Result<()> {
        let files = self.build_entries(set.entries(), set.deleted_ranges())?;
        self.apply_built(&files, set, position)
    }

    /// A file for the values of a write set that has become large.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn spill_file(&self) -> Result<SpillFile> {
        let directory = self.builds.path();
        SpillFile::create_in(directory).map_err(Error::file(directory))
    }

    /// As [`apply`](Self::apply) of one set, whose rows on disk are in these files already: they become part of the tables, and the position moves, as
    /// one step that takes no longer for many rows than for few. Durable at once.
    ///
    /// # Errors
    /// If the engine fails for good.
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

    /// Deletes a finished build that will not be activated. One that is not there is fine.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn abandon(&self, id: BuildId) -> Result<()> {
        self.builds.remove(id)
    }

    /// Whether MEMORY tables may grow by so many bytes: [`WriteSet::memory_engine_bytes`](crate::WriteSet::memory_engine_bytes).
    ///
    /// # Errors
    /// [`Error::MemoryFull`]
    pub fn check_memory_room(&self, bytes: u64) -> Result<()> {
        self.memory.check_room(bytes)
    }

    /// Where rows of temporary tables are.
    pub fn temporary(&self) -> &Arc<TemporarySpace> {
        &self.temporary
    }

    /// The engine of MEMORY tables.
    pub fn memory(&self) -> &MemoryEngine {
        &self.memory
    }

    /// The bytes that an index takes, about; for the optimizer and `SHOW TABLE STATUS`.
    pub fn approximate_bytes(&self, index: IndexId) -> u64 {
        match index.engine() {
            EngineKind::RocksDb => self.rocksdb.approximate_bytes(&index.range()),
            EngineKind::Memory => self.memory.used_bytes(),
            EngineKind::Temporary => self.temporary.used_bytes(),
        }
    }

    /// Gives back what nobody needs any more: memory of superseded versions, disk space of dropped tables. To be called every second or so by
    /// a thread that may be slow.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn maintain(&self) -> Result<()> {
        for engine in [&self.memory, self.temporary.engine()] {
            while engine.collect_garbage(1024) {
                std::thread::yield_now();
            }
        }
        if self.rocksdb.scans_pay_for_flush() {
            let _applying = self.applying.lock();
            self.begin_flush_locked()?;
        }
        self.release_dropped_ranges()
    }

    fn release_dropped_ranges(&self) -> Result<()> {
        let oldest = self.memory.oldest_snapshot().unwrap_or(LogPosition::MAX);
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
            // The deletion itself must be in a file to meet what it deletes.
            self.flush()?;
            ready.iter().for_each(|range| self.rocksdb.compact_range(range));
        }
        Ok(())
    }

    /// Figures for `SHOW STATUS`.
    pub fn statistics(&self) -> StorageStatistics {
        StorageStatistics {
            memtable_bytes: self.rocksdb.property(c"rocksdb.cur-size-all-mem-tables"),
            immutable_memtables: self.rocksdb.property(c"rocksdb.num-immutable-mem-table"),
            table_file_bytes: self.rocksdb.property(c"rocksdb.live-sst-files-size"),
            pending_compaction_bytes: self
                .rocksdb
                .property(c"rocksdb.estimate-pending-compaction-bytes"),
            block_cache_bytes: self.rocksdb.cached_bytes() as u64,
            estimated_keys: self.rocksdb.property(c"rocksdb.estimate-num-keys"),
            background_errors: self.rocksdb.background_errors(),
            memory_engine_bytes: self.memory.used_bytes(),
            temporary_bytes: self.temporary.used_bytes(),
        }
    }

    /// Stops waiting for room on the disk, so that a shutdown gets on.
    pub fn begin_close(&self) {
        self.rocksdb.begin_close();
    }

    /// A clean end: flushes, so that the next start has nothing to replay. Snapshots and cursors keep the files open as long as they
    /// live.
    ///
    /// # Errors
    /// If the log cannot be made durable first, or the disk fails; the log is then replayed at the next start.
    pub fn close(self) -> Result<()> {
        self.flush().map(drop)
    }
}
