//! Shared test support: actors whose waits can be distinguished from work.

use crate::Acknowledger;
use crate::IsolationLevel;
use crate::commit::core::ManagerParts;
use crate::config::Config;
use crate::error::Result;
use crate::event_cache::RowChange;
use crate::interrupt::Interrupt;
use crate::lock::owner::LockOwner;
use crate::lock::{LockMode, LockWait};
use crate::manager::TransactionManager;
use crate::options::TransactionOptions;
use crate::session::Session;
use crate::transaction::Transaction;
use paceline_binlog::event::{Event, RowsKind, TableId, TableMapEvent};
use paceline_binlog::log::OpenRequest;
use paceline_binlog::{Disk, Log, LogConfig, LoggedTable, Recovery};
use paceline_simulated_disk::SimulatedDisk;
use paceline_storage::{Direction, IndexId, Storage, StorageConfig, WriteSet};
use paceline_types::ServerId;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tempfile::TempDir;

type Job<S> = Box<dyn FnOnce(&mut S) -> String + Send>;

struct Actor<S> {
    owner: Arc<LockOwner>,
    jobs: Sender<Job<S>>,
    results: Receiver<String>,
    is_busy: bool,
    /// Result of the last job, until it is taken.
    result: Option<String>,
    thread: JoinHandle<()>,
}

/// Named threads, each with its own state. A script knows at every moment whether each of them waits for a
/// lock.
pub(crate) struct Actors<S> {
    actors: BTreeMap<String, Actor<S>>,
}

/// Longest time for a step that waits for no lock.
const PATIENCE: Duration = Duration::from_secs(20);

impl<S: Send + 'static> Actors<S> {
    pub(crate) fn new() -> Self {
        Actors {
            actors: BTreeMap::new(),
        }
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.actors.contains_key(name)
    }

    pub(crate) fn add(&mut self, name: &str, owner: Arc<LockOwner>, mut state: S) {
        let (jobs, queue) = channel::<Job<S>>();
        let (done, results) = channel();
        let thread = std::thread::spawn(move || {
            while let Ok(job) = queue.recv() {
                let result = job(&mut state);
                if done.send(result).is_err() {
                    break;
                }
            }
        });
        self.actors.insert(
            name.to_owned(),
            Actor {
                owner,
                jobs,
                results,
                is_busy: false,
                result: None,
                thread,
            },
        );
    }

    /// Runs a job in an actor. Returns its result, or `None` if it waits for a lock now.
    pub(crate) fn run(
        &mut self,
        name: &str,
        job: impl FnOnce(&mut S) -> String + Send + 'static,
    ) -> Option<String> {
        let actor = self.actors.get_mut(name).expect("an actor of that name");
        assert!(!actor.is_busy, "{name} still waits");
        actor.jobs.send(Box::new(job)).expect("the actor's thread runs");
        actor.is_busy = true;
        self.settle();
        self.actors.get_mut(name)?.take_result()
    }

    /// Returns the results of actors that had waited and have finished.
    pub(crate) fn news(&mut self) -> Vec<(String, String)> {
        self.settle();
        let results = self
            .actors
            .iter_mut()
            .filter_map(|(name, actor)| Some((name.clone(), actor.take_result()?)));
        results.collect()
    }

    /// Waits until every actor is idle or waits for a lock. An actor that finishes may have woken others, so
    /// they are checked again.
    fn settle(&mut self) {
        loop {
            let mut ended = 0;
            for actor in self.actors.values_mut() {
                ended += usize::from(actor.settle());
            }
            if ended == 0 {
                return;
            }
        }
    }

    /// Returns the names of the actors that still wait.
    pub(crate) fn waiting(&self) -> Vec<&str> {
        self.actors
            .iter()
            .filter(|(_, actor)| actor.is_busy)
            .map(|(name, _)| name.as_str())
            .collect()
    }
}

impl<S> Drop for Actors<S> {
    /// Joins every thread that does not wait for a lock. A thread that lived on could still close its tables
    /// while the process ends, when parts of it are already destroyed.
    fn drop(&mut self) {
        for actor in std::mem::take(&mut self.actors).into_values() {
            let Actor {
                jobs,
                results,
                is_busy,
                thread,
                ..
            } = actor;
            drop((jobs, results));
            if !is_busy && !std::thread::panicking() {
                let _ = thread.join();
            }
        }
    }
}

impl<S> Actor<S> {
    /// Waits until the actor is idle or waits for a lock. Returns whether it has finished since the last call.
    fn settle(&mut self) -> bool {
        let start = Instant::now();
        while self.is_busy && self.result.is_none() {
            // Read before the result: an actor that is not parked now may have finished by the next look.
            let is_parked = self.owner.is_parked();
            if let Ok(result) = self.results.recv_timeout(Duration::from_micros(200)) {
                self.result = Some(result);
                return true;
            }
            if is_parked && self.owner.is_parked() {
                return false;
            }
            assert!(
                start.elapsed() < PATIENCE,
                "an actor neither finishes nor waits for a lock"
            );
        }
        false
    }

    fn take_result(&mut self) -> Option<String> {
        let result = self.result.take()?;
        self.is_busy = false;
        Some(result)
    }
}

/// Table of the tests: a VARBINARY key and a VARBINARY value, stored only under its key.
pub(crate) struct TestTable {
    logged: LoggedTable,
}

/// Index id at the front of the test table's keys.
pub(crate) const TEST_INDEX: IndexId = IndexId::new(1024);

impl TestTable {
    pub(crate) fn new() -> Self {
        const VARCHAR: u8 = 15;
        let logged = LoggedTable::new(&TableMapEvent {
            table_id: TableId(18),
            flags: TableMapEvent::FLAG_BIT_LENGTH_EXACT,
            database: b"test",
            table: b"t",
            column_types: &[VARCHAR, VARCHAR],
            metadata: &[200, 0, 200, 0],
            nullable: &[0],
            optional_metadata: &[],
        });
        TestTable { logged }
    }

    pub(crate) fn key(name: &str) -> Vec<u8> {
        [&TEST_INDEX.to_be_bytes(), name.as_bytes()].concat()
    }

    fn image(name: &str, value: &str) -> Vec<u8> {
        let mut image = vec![0xFC, name.len() as u8];
        image.extend_from_slice(name.as_bytes());
        image.push(value.len() as u8);
        image.extend_from_slice(value.as_bytes());
        image
    }

    /// Returns the key and the value at the front of these bytes, and the length of the image.
    fn read_image(bytes: &[u8]) -> (&str, &str, usize) {
        let text = |from: usize| {
            let length = usize::from(bytes[from]);
            std::str::from_utf8(&bytes[from + 1..from + 1 + length]).expect("tests write text")
        };
        let name = text(1);
        let value = text(2 + name.len());
        (name, value, 3 + name.len() + value.len())
    }

    pub(crate) fn value(payload: &[u8]) -> String {
        Self::read_image(payload).1.to_owned()
    }

    /// Locks a key, reads its newest row and writes the value that `change` returns for it.
    pub(crate) fn change(
        &self,
        transaction: &mut Transaction,
        name: &str,
        change: impl FnOnce(Option<&str>) -> Option<String>,
    ) -> Result<()> {
        let key = Self::key(name);
        transaction.begin_writing()?;
        transaction.lock(&key, LockMode::Exclusive, LockWait::Default)?;
        let before = transaction
            .get_newest(&key)?
            .map(|row| Self::value(row.payload()));
        let after = change(before.as_deref()).map(|value| Self::image(name, &value));
        let before = before.map(|value| Self::image(name, &value));
        let logged = match (&before, &after) {
            (None, None) => return Ok(()),
            (None, Some(after)) => RowChange::Insert { after },
            (Some(before), Some(after)) => RowChange::Update { before, after },
            (Some(before), None) => RowChange::Delete { before },
        };
        match &after {
            Some(after) => transaction.write_set_mut()?.put(&key, after),
            None => transaction.write_set_mut()?.delete(&key),
        }
        transaction.log_row(&self.logged, logged)
    }

    /// Sets a value in a statement of its own.
    pub(crate) fn set(&self, transaction: &mut Transaction, name: &str, value: &str) -> Result<()> {
        transaction.begin_statement(None, 1)?;
        let result = self.change(transaction, name, |_| Some(value.to_owned()));
        let result = result.and_then(|()| transaction.end_statement());
        if result.is_err() {
            transaction.rollback_statement();
        }
        result
    }

    /// Replays a rows event of the table into a write set.
    fn replay(kind: RowsKind, mut rows: &[u8], writes: &mut WriteSet) {
        while !rows.is_empty() {
            let (name, _, length) = Self::read_image(rows);
            let (first, rest) = rows.split_at(length);
            rows = rest;
            match kind {
                RowsKind::Write => writes.put(&Self::key(name), first),
                RowsKind::Delete => writes.delete(&Self::key(name)),
                RowsKind::Update => {
                    let (name, _, length) = Self::read_image(rows);
                    let (after, rest) = rows.split_at(length);
                    writes.put(&Self::key(name), after);
                    rows = rest;
                }
            }
        }
    }
}

/// Server without SQL: a log on some disk, engines in a directory of their own, a manager.
pub(crate) struct TestServer {
    pub(crate) manager: Arc<TransactionManager>,
    pub(crate) table: Arc<TestTable>,
    /// Keeps the directory as long as the server runs.
    _tables_directory: Arc<TempDir>,
    pub(crate) recovery: Recovery,
    /// Reason why the log failed, if it did.
    pub(crate) failure: Arc<Mutex<Option<String>>>,
}

/// Options of a test server.
pub(crate) struct TestOptions {
    pub(crate) config: Config,
    pub(crate) prepare_step: u64,
    pub(crate) acknowledger: Box<dyn Acknowledger>,
}

impl Default for TestOptions {
    fn default() -> Self {
        TestOptions {
            config: Config::default(),
            prepare_step: 1 << 20,
            acknowledger: Box::new(crate::ImmediateAcknowledger),
        }
    }
}

impl TestServer {
    /// Opens a new server on a disk in memory.
    pub(crate) fn new() -> Self {
        Self::with_config(Config::default())
    }

    pub(crate) fn with_config(config: Config) -> Self {
        let options = TestOptions {
            config,
            ..TestOptions::default()
        };
        Self::open(
            Arc::new(SimulatedDisk::new()),
            Arc::new(tempfile::tempdir().unwrap()),
            options,
        )
    }

    /// Recovers what exists: the log, then the engines by replay, as a real server does.
    pub(crate) fn open(disk: Arc<dyn Disk>, tables_directory: Arc<TempDir>, options: TestOptions) -> Self {
        let storage = Arc::new(Storage::open(&StorageConfig::new(tables_directory.path())).unwrap());
        let mut log_config = LogConfig::new("/log", "bin", ServerId(1));
        log_config.prepare_step = options.prepare_step;
        let request = OpenRequest {
            engine_position: storage.position(),
            ..OpenRequest::new(1)
        };
        let (log, recovery) = Log::open(disk, log_config, request).unwrap();
        let from = storage.position().max(recovery.start);
        let mut reader = log.reader(from, recovery.end).unwrap();
        while let Some(group) = reader.next_group().unwrap() {
            let mut writes = WriteSet::new();
            for event in group.decoded(reader.format()) {
                if let Event::Rows(rows) = event.unwrap() {
                    TestTable::replay(rows.kind, &rows.rows, &mut writes);
                }
            }
            storage
                .apply(&[Arc::new(writes.assign_version(group.end()))], group.end())
                .unwrap();
        }
        let failure = Arc::new(Mutex::new(None));
        let reason_cell = failure.clone();
        let manager = TransactionManager::open(ManagerParts {
            config: options.config,
            acknowledger: options.acknowledger,
            fatal_hook: Box::new(move |reason| *reason_cell.lock() = Some(reason.to_owned())),
            ..ManagerParts::new(log, recovery.state.clone(), storage)
        });
        TestServer {
            manager: Arc::new(manager),
            table: Arc::new(TestTable::new()),
            _tables_directory: tables_directory,
            recovery,
            failure,
        }
    }

    pub(crate) fn session(&self) -> Session {
        self.manager.session(Interrupt::new())
    }

    pub(crate) fn begin(&self, session: &Session, isolation: IsolationLevel) -> Transaction {
        let options = TransactionOptions {
            isolation,
            row_lock_timeout: Duration::from_secs(30),
            ..TransactionOptions::default()
        };
        self.manager.begin(session, options)
    }

    /// Commits one row in a transaction of its own.
    pub(crate) fn set(&self, name: &str, value: &str) -> Result<crate::CommitOutcome> {
        let mut transaction = self.begin(&self.session(), IsolationLevel::ReadCommitted);
        self.table.set(&mut transaction, name, value)?;
        transaction.commit_blocking()
    }

    /// Returns the published value of a key.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        let snapshot = self.manager.snapshot();
        snapshot
            .get(&TestTable::key(name))
            .unwrap()
            .map(|row| TestTable::value(row.payload()))
    }

    /// Returns all published values.
    pub(crate) fn content(&self) -> BTreeMap<String, String> {
        let mut cursor = self
            .manager
            .snapshot()
            .scan(TEST_INDEX.range(), Direction::Forward);
        let mut content = BTreeMap::new();
        while let Some((key, value)) = cursor.next().unwrap() {
            let name = std::str::from_utf8(&key[IndexId::LENGTH..]).unwrap().to_owned();
            content.insert(name, TestTable::value(&value[paceline_storage::VERSION_LENGTH..]));
        }
        content
    }
}
