//! Orderings of the pipeline, one by one.

use crate::commit::ticket::block_on;
use crate::lock::{LockMode, LockWait};
use crate::sync_point::CommitStep;
use crate::testing::{TestOptions, TestServer, TestTable};
use crate::{
    Acknowledger, BatchObserver, CommitStream, Config, DdlCommit, DurableExtent, Error, GtidChoice,
    Interrupt, IsolationLevel, LeaderMode, Replication, SyncBinlog, Transaction, TransactionManager,
    TransactionOptions,
};
use paceline_binlog::event::{EventFlags, QueryEvent};
use paceline_simulated_disk::SimulatedDisk;
use paceline_storage::WriteSet;
use paceline_types::{DomainId, LogPosition, SequenceNumber, ServerId, Version};
use parking_lot::{Condvar, Mutex};
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// Gate that holds every thread that reaches a step, until it is opened or the test has failed.
struct Gate(Arc<GateState>);

#[derive(Default)]
struct GateState {
    open: Mutex<bool>,
    changed: Condvar,
    reached: AtomicBool,
}

pub(super) fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(
            start.elapsed() < Duration::from_secs(20),
            "waited in vain: {what}"
        );
        // The pause of a loop that waits.
        std::thread::sleep(Duration::from_millis(1));
    }
}

impl Gate {
    fn at(manager: &TransactionManager, step: CommitStep) -> Gate {
        let gate = Gate(Arc::default());
        let hook = gate.0.clone();
        manager.sync_points().set(move |now| {
            if now == step {
                hook.reached.store(true, Ordering::SeqCst);
                let mut open = hook.open.lock();
                while !*open {
                    hook.changed.wait(&mut open);
                }
            }
        });
        gate
    }

    fn wait_until_reached(&self) {
        wait_until("a thread to reach the step", || {
            self.0.reached.load(Ordering::SeqCst)
        });
    }

    fn open(&self) {
        *self.0.open.lock() = true;
        self.0.changed.notify_all();
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.open();
    }
}

fn threaded() -> TestServer {
    TestServer::with_config(Config {
        leader_mode: LeaderMode::Thread,
        ..Config::default()
    })
}

pub(super) fn is_ready(future: std::pin::Pin<&mut impl Future>) -> bool {
    future.poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

#[test]
fn locks_are_released_before_the_sync_and_rows_are_seen_in_the_overlay() {
    let server = threaded();
    server.set("x", "old").unwrap();
    let gate = Gate::at(&server.manager, CommitStep::LocksReleased);
    let mut writer = server.begin(&server.session(), IsolationLevel::ReadCommitted);
    server.table.set(&mut writer, "x", "new").unwrap();
    let mut commit = pin!(writer.commit());
    gate.wait_until_reached();
    // Written, but neither durable nor published: plain readers do not see it, a lock holder does.
    let positions = server.manager.positions();
    assert!(positions.durable < positions.written);
    assert_eq!(server.get("x").as_deref(), Some("old"));
    let mut reader = server.begin(&server.session(), IsolationLevel::ReadCommitted);
    reader.begin_statement(None, 1).unwrap();
    reader
        .lock(&TestTable::key("x"), LockMode::Shared, LockWait::NoWait)
        .unwrap();
    let seen = TestTable::value(
        reader
            .get_newest(&TestTable::key("x"))
            .unwrap()
            .unwrap()
            .payload(),
    );
    assert_eq!(seen, "new");
    reader.end_statement().unwrap();
    // The reader's reply waits for what it has read, although it wrote nothing (invariant 6).
    assert!(!reader.reads_published().is_ready());
    let mut reader_commit = pin!(reader.commit());
    assert!(!is_ready(reader_commit.as_mut()));
    assert!(!is_ready(commit.as_mut()));
    gate.open();
    let outcome = block_on(reader_commit).unwrap();
    assert_eq!(outcome.gtid, None);
    assert_eq!(server.get("x").as_deref(), Some("new"));
    assert!(outcome.version >= block_on(commit).unwrap().version);
}

/// A single worker that runs all sessions lets the next one begin only after the last has committed. Two are
/// never open at the same time; the log thread must lead nevertheless, so that they share a sync.
#[test]
fn the_log_thread_leads_alternating_sessions_and_a_single_one_leads_in_place() {
    let server = TestServer::with_config(Config {
        leader_mode: LeaderMode::Adaptive,
        ..Config::default()
    });
    let by_log_thread = Arc::new(AtomicBool::new(false));
    let seen = by_log_thread.clone();
    server.manager.sync_points().set(move |step| {
        if step == CommitStep::Written {
            let is_log_thread = std::thread::current().name() == Some("log");
            seen.store(is_log_thread, Ordering::SeqCst);
        }
    });
    let is_led_by_log_thread = |session: &crate::Session| {
        let mut writer = server.begin(session, IsolationLevel::ReadCommitted);
        server.table.set(&mut writer, "x", "new").unwrap();
        writer.commit_blocking().unwrap();
        by_log_thread.load(Ordering::SeqCst)
    };
    let (one, other) = (server.session(), server.session());
    for _ in 0..20 {
        assert!(is_led_by_log_thread(&one) && is_led_by_log_thread(&other));
    }
    // The log thread continues to lead until it has found the queue empty.
    wait_until("the session to lead", || !is_led_by_log_thread(&other));
}

#[test]
fn without_early_release_the_lock_is_held_until_publication() {
    let config = Config {
        leader_mode: LeaderMode::Thread,
        lock_release: crate::LockRelease::AfterPublish,
        ..Config::default()
    };
    let server = TestServer::with_config(config);
    let gate = Gate::at(&server.manager, CommitStep::Durable);
    let mut writer = server.begin(&server.session(), IsolationLevel::ReadCommitted);
    server.table.set(&mut writer, "x", "new").unwrap();
    let commit = writer.commit();
    gate.wait_until_reached();
    let mut other = server.begin(&server.session(), IsolationLevel::ReadCommitted);
    let locked = other.lock(&TestTable::key("x"), LockMode::Shared, LockWait::NoWait);
    assert!(matches!(locked, Err(Error::LockWaitTimeout)));
    gate.open();
    commit.wait_blocking().unwrap();
    other
        .lock(&TestTable::key("x"), LockMode::Shared, LockWait::NoWait)
        .unwrap();
}

#[test]
fn nothing_is_visible_before_it_is_published_or_reported_before_it_is_visible() {
    for step in [CommitStep::Written, CommitStep::Durable, CommitStep::Applied] {
        let server = threaded();
        let gate = Gate::at(&server.manager, step);
        let mut writer = server.begin(&server.session(), IsolationLevel::ReadCommitted);
        server.table.set(&mut writer, "x", "new").unwrap();
        let mut commit = pin!(writer.commit());
        gate.wait_until_reached();
        assert_eq!(server.get("x"), None, "at {step:?}");
        assert!(!is_ready(commit.as_mut()), "at {step:?}");
        gate.open();
        block_on(commit).unwrap();
        assert_eq!(server.get("x").as_deref(), Some("new"));
    }
}

#[test]
fn an_error_waits_for_the_row_that_it_reports() {
    let server = threaded();
    let gate = Gate::at(&server.manager, CommitStep::Durable);
    let mut writer = server.begin(&server.session(), IsolationLevel::ReadCommitted);
    server.table.set(&mut writer, "x", "new").unwrap();
    let commit = writer.commit();
    gate.wait_until_reached();
    let mut other = server.begin(&server.session(), IsolationLevel::ReadCommitted);
    other.begin_statement(None, 1).unwrap();
    let key = TestTable::key("x");
    other.lock(&key, LockMode::Exclusive, LockWait::Default).unwrap();
    assert!(
        other.probe_newest(&key).unwrap().is_some(),
        "a duplicate key, which the client is told of"
    );
    let opener = std::thread::spawn(move || {
        // Most often the session waits by then.
        std::thread::sleep(Duration::from_millis(30));
        gate.open();
    });
    other.rollback_statement();
    assert!(
        server.get("x").is_some(),
        "the error leaves before the row is published"
    );
    opener.join().unwrap();
    commit.wait_blocking().unwrap();
}

#[test]
fn a_snapshot_waits_for_rows_that_its_session_read_under_lock() {
    let server = threaded();
    let gate = Gate::at(&server.manager, CommitStep::Durable);
    let mut writer = server.begin(&server.session(), IsolationLevel::ReadCommitted);
    server.table.set(&mut writer, "x", "new").unwrap();
    let commit = writer.commit();
    gate.wait_until_reached();
    let mut reader = server.begin(&server.session(), IsolationLevel::RepeatableRead);
    let key = TestTable::key("x");
    reader.lock(&key, LockMode::Shared, LockWait::Default).unwrap();
    assert!(reader.get_newest(&key).unwrap().is_some());
    let opener = std::thread::spawn(move || {
        // Most often the session waits by then.
        std::thread::sleep(Duration::from_millis(30));
        gate.open();
    });
    // Its own plain read must not return an older state.
    assert!(reader.get(&key).unwrap().is_some());
    opener.join().unwrap();
    commit.wait_blocking().unwrap();
}

#[test]
fn a_commit_completes_without_its_session_in_every_mode() {
    for config in super::all_modes() {
        let server = TestServer::with_config(config.clone());
        for round in 0..20 {
            let mut futures = Vec::new();
            for n in 0..4 {
                let mut writer = server.begin(&server.session(), IsolationLevel::ReadCommitted);
                server
                    .table
                    .set(&mut writer, &format!("{round}-{n}"), "v")
                    .unwrap();
                futures.push(writer.commit());
            }
            drop(futures);
        }
        // One more, which all earlier ones must precede.
        server.set("last", "v").unwrap();
        assert_eq!(server.content().len(), 81, "{config:?}");
    }
}

#[test]
fn a_group_waits_for_more_as_configured() {
    let config = |count, wait| Config {
        binlog_commit_wait_count: count,
        binlog_commit_wait: wait,
        ..Config::default()
    };
    let server = Arc::new(TestServer::with_config(config(3, Duration::from_secs(30))));
    let threads: Vec<_> = (0..3)
        .map(|n| {
            let server = server.clone();
            std::thread::spawn(move || server.set(&format!("k{n}"), "v").unwrap())
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let status = server.manager.status();
    assert_eq!((status.binlog_commits, status.binlog_group_commits), (3, 1));
    assert_eq!(status.binlog_group_commit_trigger_count, 1);

    server
        .manager
        .set_config(config(5, Duration::from_millis(20)))
        .unwrap();
    server.set("alone", "v").unwrap();
    assert_eq!(server.manager.status().binlog_group_commit_trigger_timeout, 1);

    // Another transaction waits for a lock of the one in the queue: the group is written at once.
    server
        .manager
        .set_config(config(5, Duration::from_secs(30)))
        .unwrap();
    let mut first = server.begin(&server.session(), IsolationLevel::ReadCommitted);
    server.table.set(&mut first, "row", "1").unwrap();
    let commit = first.commit();
    let mut second = server.begin(&server.session(), IsolationLevel::ReadCommitted);
    server.table.set(&mut second, "row", "2").unwrap();
    commit.wait_blocking().unwrap();
    assert_eq!(server.manager.status().binlog_group_commit_trigger_lock_wait, 1);
    server.manager.set_config(Config::default()).unwrap();
    second.commit_blocking().unwrap();
}

/// Minimal semi-sync: acknowledges up to a position that the test sets.
struct LimitedAcknowledger(Arc<AtomicU64>);

impl Acknowledger for LimitedAcknowledger {
    fn on_durable(&self, made: DurableExtent) -> LogPosition {
        made.durable
            .min(LogPosition::from_u64(self.0.load(Ordering::SeqCst)))
    }
}

#[test]
fn waiting_for_replicas_delays_no_sync() {
    let acknowledged = Arc::new(AtomicU64::new(u64::MAX));
    let options = TestOptions {
        acknowledger: Box::new(LimitedAcknowledger(acknowledged.clone())),
        ..TestOptions::default()
    };
    let disk = Arc::new(SimulatedDisk::new());
    let server = TestServer::open(disk, Arc::new(tempfile::tempdir().unwrap()), options);
    server.set("before", "v").unwrap();
    acknowledged.store(server.manager.positions().durable.as_u64(), Ordering::SeqCst);
    let mut commits = Vec::new();
    for n in 0..3 {
        let mut writer = server.begin(&server.session(), IsolationLevel::ReadCommitted);
        server.table.set(&mut writer, "x", &n.to_string()).unwrap();
        commits.push(Box::pin(writer.commit()));
        wait_until("the sync, which does not wait for the replica", || {
            server.manager.status().binlog_commits >= n + 2
        });
    }
    // Nothing is published meanwhile.
    std::thread::sleep(Duration::from_millis(20));
    let positions = server.manager.positions();
    assert!(positions.acknowledged < positions.durable && positions.durable == positions.written);
    assert_eq!(positions.published, positions.acknowledged);
    assert!(commits.iter_mut().all(|commit| !is_ready(commit.as_mut())));
    assert_eq!(server.get("x"), None);
    acknowledged.store(u64::MAX, Ordering::SeqCst);
    server.manager.acknowledge(positions.durable);
    for commit in commits {
        block_on(commit).unwrap();
    }
    assert_eq!(server.get("x").as_deref(), Some("2"));
}

#[test]
fn with_background_sync_a_commit_returns_when_written() {
    let config = Config {
        sync_binlog: SyncBinlog::Background,
        sync_interval: Duration::from_millis(100),
        ..Config::default()
    };
    let server = TestServer::with_config(config);
    let before = server.manager.status().sync_usec.count();
    for n in 0..50 {
        server.set("x", &n.to_string()).unwrap();
    }
    assert!(
        server.manager.status().sync_usec.count() - before < 40,
        "not every group is synced"
    );
    assert_eq!(server.get("x").as_deref(), Some("49"));
    wait_until("the log to be synced in the background", || {
        server.manager.positions().durable >= server.manager.positions().written
    });
    // An engine never gets ahead of the log on disk.
    server.set("x", "last").unwrap();
    let flushed = server.manager.storage().flush().unwrap();
    assert!(server.manager.positions().durable >= flushed);
    // Back to syncing each group.
    server.manager.set_config(Config::default()).unwrap();
    server.set("x", "synced").unwrap();
    let positions = server.manager.positions();
    assert_eq!(positions.durable, positions.written);
}

#[test]
fn ddl_is_published_in_log_order() {
    let server = threaded();
    let session = server.session();
    let gate = Gate::at(&server.manager, CommitStep::LocksReleased);
    let mut writer = server.begin(&server.session(), IsolationLevel::ReadCommitted);
    server.table.set(&mut writer, "x", "1").unwrap();
    let first = writer.commit();
    gate.wait_until_reached();
    let seen = Arc::new(Mutex::new(None));
    let (note, manager) = (seen.clone(), server.manager.clone());
    let query = QueryEvent::new(b"test", b"CREATE TABLE u (a INT)");
    let ddl = server.manager.commit_ddl(
        &session,
        DdlCommit {
            query: &query,
            event_flags: EventFlags::NONE,
            timestamp_seconds: 1,
            writes: WriteSet::new(),
            builds: Vec::new(),
            on_publish: Some(Box::new(move |version| {
                *note.lock() = Some((version, manager.positions()))
            })),
            gtid: GtidChoice::Next {
                domain_id: DomainId(0),
                server_id: ServerId(1),
            },
            replication: Replication::Replicated,
            metadata_lock_timeout: Duration::from_secs(5),
        },
    );
    let mut later = server.begin(&server.session(), IsolationLevel::ReadCommitted);
    server.table.set(&mut later, "y", "2").unwrap();
    let third = later.commit();
    gate.open();
    let versions = [first, ddl, third].map(|commit| commit.wait_blocking().unwrap());
    assert!(versions[0].version < versions[1].version && versions[1].version < versions[2].version);
    assert_eq!(
        versions.map(|outcome| outcome.gtid.unwrap().sequence),
        [1, 2, 3].map(SequenceNumber)
    );
    let (version, positions) = seen.lock().take().unwrap();
    assert_eq!(version, versions[1].version);
    assert!(
        positions.published < version,
        "the catalog is switched before the change is visible"
    );
}

#[test]
fn a_global_read_lock_stops_writers_and_commits() {
    let server = TestServer::new();
    let mut open = server.begin(&server.session(), IsolationLevel::ReadCommitted);
    server.table.set(&mut open, "x", "1").unwrap();
    let dumper = server.session();
    let lock = dumper.global_read_lock(Duration::from_secs(5)).unwrap();
    let before = server.manager.positions();
    // Readers continue. A new statement that writes waits, and so does the commit of the previous one.
    assert_eq!(server.get("x"), None);
    let mut other = server.begin(&server.session(), IsolationLevel::ReadCommitted);
    other.begin_statement(None, 1).unwrap();
    let committer = std::thread::spawn(move || open.commit_blocking().unwrap());
    // The commit goes no further meanwhile.
    std::thread::sleep(Duration::from_millis(30));
    assert!(!committer.is_finished());
    assert_eq!(server.manager.positions(), before);
    drop(lock);
    committer.join().unwrap();
    other.begin_writing().unwrap();
    assert_eq!(server.get("x").as_deref(), Some("1"));
}

#[test]
fn a_snapshot_knows_its_exact_log_position() {
    let server = TestServer::new();
    server.set("x", "1").unwrap();
    let second = server.set("x", "2").unwrap();
    let mut reader = server
        .manager
        .begin_with_snapshot(&server.session(), Default::default());
    server.set("x", "3").unwrap();
    let version = reader.snapshot_version().unwrap();
    assert_eq!(version, second.version);
    let (file, offset) = server.manager.coordinates(version).unwrap();
    assert_eq!((file.as_str(), offset), ("bin.000001", version.offset()));
    assert_eq!(
        server.manager.gtid_state_at(version).unwrap().to_string(),
        "0-1-2"
    );
    let row = reader.get(&TestTable::key("x")).unwrap().unwrap();
    assert_eq!(TestTable::value(row.payload()), "2");
}

#[test]
fn a_statement_beyond_the_cache_limit_is_rolled_back() {
    let server = TestServer::with_config(Config {
        max_binlog_cache_size: 2000,
        ..Config::default()
    });
    let mut writer = server.begin(&server.session(), IsolationLevel::ReadCommitted);
    server.table.set(&mut writer, "first", "v").unwrap();
    writer.begin_statement(None, 1).unwrap();
    let value = "v".repeat(150);
    let mut result = Ok(());
    for n in 0..40 {
        result = server
            .table
            .change(&mut writer, &format!("k{n}"), |_| Some(value.clone()));
        if result.is_err() {
            break;
        }
    }
    assert!(matches!(result, Err(Error::CacheFull { limit_bytes: 2000 })));
    writer.rollback_statement();
    writer.commit_blocking().unwrap();
    assert_eq!(server.content().into_keys().collect::<Vec<_>>(), ["first"]);
}

#[test]
fn a_poll_before_publication_is_pending() {
    let server = threaded();
    let mut settled = pin!(server.manager.published_up_to(LogPosition::MAX));
    assert!(matches!(
        settled.as_mut().poll(&mut Context::from_waker(Waker::noop())),
        Poll::Pending
    ));
}

#[test]
fn the_acknowledger_is_notified_before_the_log_is_sendable() {
    /// Records, at each notification, whether the new part could already have been sent.
    struct Witness(
        Arc<Mutex<Vec<(DurableExtent, LogPosition)>>>,
        Arc<OnceLock<Weak<TransactionManager>>>,
    );

    impl Acknowledger for Witness {
        fn on_durable(&self, made: DurableExtent) -> LogPosition {
            if let Some(manager) = self.1.get().and_then(Weak::upgrade) {
                self.0.lock().push((made, manager.sendable()));
            }
            made.durable
        }
    }

    let (seen, manager) = (Arc::default(), Arc::default());
    let options = TestOptions {
        acknowledger: Box::new(Witness(Arc::clone(&seen), Arc::clone(&manager))),
        ..TestOptions::default()
    };
    let disk = Arc::new(SimulatedDisk::new());
    let server = TestServer::open(disk, Arc::new(tempfile::tempdir().unwrap()), options);
    manager.set(Arc::downgrade(&server.manager)).unwrap();
    let waits: Vec<_> = (0..20)
        .map(|_| server.manager.sendable_past(server.manager.sendable()))
        .collect();
    let first = server.set("x", "1").unwrap();
    waits.into_iter().for_each(block_on);
    assert_eq!(server.manager.sendable(), first.version);
    // No replica is waited for on behalf of a local transaction, nor for the rotation after it.
    let options = TransactionOptions {
        replication: Replication::LocalOnly,
        ..TransactionOptions::default()
    };
    let mut local = server.manager.begin(&server.session(), options);
    server.table.set(&mut local, "y", "1").unwrap();
    local.commit_blocking().unwrap();
    server.manager.rotate().unwrap();
    // A primary's transaction has no client here.
    let gtid = "7-9-1".parse().unwrap();
    let options = TransactionOptions {
        gtid: GtidChoice::Replicated(gtid),
        ..TransactionOptions::default()
    };
    let mut received = server.manager.begin(&server.session(), options);
    server.table.set(&mut received, "z", "1").unwrap();
    let replicated = received.commit_blocking().unwrap();
    let seen = seen.lock();
    let told: Vec<_> = seen
        .iter()
        .map(|(made, _)| (made.replicated, made.own, made.transactions))
        .collect();
    let first = Some(first.version);
    let (none, replicated) = ((None, None, 0), (Some(replicated.version), None, 0));
    assert_eq!(told, [(first, first, 1), none, none, replicated]);
    assert!(seen.iter().all(|(made, sendable)| *sendable < made.durable));
}

/// The publishing thread notifies the sessions before it looks for more groups: it also publishes what a
/// notified session writes next.
#[test]
fn a_rotation_and_a_checkpoint_return_when_they_are_published() {
    type Write = fn(&TransactionManager) -> crate::Result<LogPosition>;
    let writes: [Write; 2] = [TransactionManager::rotate, TransactionManager::checkpoint];
    for write in writes {
        let server = threaded();
        // A checkpoint is recorded once per file.
        server.manager.rotate().unwrap();
        let gate = Gate::at(&server.manager, CommitStep::SessionsNotified);
        server.set("x", "1").unwrap();
        gate.wait_until_reached();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // Most often the write waits by then.
                std::thread::sleep(Duration::from_millis(100));
                gate.open();
            });
            let before = server.manager.positions().written;
            write(&server.manager).unwrap();
            let positions = server.manager.positions();
            assert!(positions.written > before);
            assert_eq!(positions.published, positions.written);
        });
    }
}

/// Number of keys from which on a transaction ends in a thread of its own.
const THOUSANDS: usize = 4096;

fn write_rows(server: &TestServer, transaction: &mut Transaction, count: usize) {
    transaction.begin_statement(None, 1).unwrap();
    for row in 0..count {
        server
            .table
            .change(transaction, &format!("row{row:05}"), |_| Some("new".to_owned()))
            .unwrap();
    }
    transaction.end_statement().unwrap();
}

#[test]
fn a_transaction_of_thousands_of_keys_keeps_its_locks_until_it_is_published() {
    for (count, held) in [(THOUSANDS - 1, 0), (THOUSANDS, THOUSANDS)] {
        let server = threaded();
        let gate = Gate::at(&server.manager, CommitStep::LocksReleased);
        let mut writer = server.begin(&server.session(), IsolationLevel::ReadCommitted);
        write_rows(&server, &mut writer, count);
        let commit = writer.commit();
        gate.wait_until_reached();
        let status = server.manager.status();
        assert_eq!(
            (status.locked_keys, status.pending_rows),
            (held as u64, count as u64)
        );
        let mut other = server.begin(&server.session(), IsolationLevel::ReadCommitted);
        let locked = other.lock(&TestTable::key("row00007"), LockMode::Shared, LockWait::NoWait);
        assert_eq!(locked.is_ok(), held == 0);
        drop(other);
        gate.open();
        commit.wait_blocking().unwrap();
        let status = server.manager.status();
        assert_eq!((status.locked_keys, status.pending_rows), (0, 0));
        server.set("row00007", "newer").unwrap();
        assert_eq!(server.get("row00007").as_deref(), Some("newer"));
        assert_eq!(server.content().len(), count);
    }
}

/// Records the calls to a batch's observer, and how many keys are locked when the batch is placed.
struct RecordingObserver {
    manager: Arc<TransactionManager>,
    placed: Mutex<Vec<u64>>,
    ended: Mutex<Vec<Result<Version, Error>>>,
}

impl BatchObserver for RecordingObserver {
    fn placed(&self) {
        self.placed.lock().push(self.manager.status().locked_keys);
    }

    fn ended(&self, result: Result<Version, Error>) {
        self.ended.lock().push(result);
    }
}

#[test]
fn a_batch_is_placed_when_its_last_transaction_has_released_its_locks() {
    let server = threaded();
    let session = server.manager.applier_session(Interrupt::new());
    let begin = || Box::new(server.manager.begin(&session, TransactionOptions::default()));
    let (mut large, mut small) = (begin(), begin());
    write_rows(&server, &mut large, THOUSANDS);
    server.table.set(&mut small, "x", "new").unwrap();
    let observer = Arc::new(RecordingObserver {
        manager: server.manager.clone(),
        placed: Mutex::default(),
        ended: Mutex::default(),
    });
    let transactions = vec![large, small];
    server.manager.commit_batch(
        &CommitStream::new(),
        transactions,
        Arc::default(),
        observer.clone(),
    );
    wait_until("the batch to end", || !observer.ended.lock().is_empty());
    assert_eq!(*observer.placed.lock(), [0]);
    assert!(matches!(observer.ended.lock().as_slice(), [Ok(_)]));
    assert_eq!(server.content().len(), THOUSANDS + 1);
}
