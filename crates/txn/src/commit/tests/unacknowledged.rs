//! An acknowledger that holds everything back, as a cluster's does, and what a cluster asks of the pipeline.

use super::all_modes;
use super::pipeline::{is_ready, wait_until};
use crate::commit::ticket::block_on;
use crate::testing::{TestOptions, TestServer, TestTable};
use crate::{
    Acknowledger, BatchObserver, CommitFuture, CommitStream, Config, DurableExtent, Error, GtidChoice,
    Interrupt, IsolationLevel, LockMode, LockWait, SyncBinlog, TransactionOptions,
};
use paceline_binlog::{EpochHistory, EpochMark, EpochStart};
use paceline_simulated_disk::SimulatedDisk;
use paceline_types::{DomainId, LogIndex, LogPosition, ServerId, Version};
use parking_lot::Mutex;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// Acknowledges nothing by itself, and records what is durable.
#[derive(Clone, Default)]
struct HoldBack(Arc<Mutex<Vec<DurableExtent>>>);

impl Acknowledger for HoldBack {
    fn on_durable(&self, made: DurableExtent) -> LogPosition {
        self.0.lock().push(made);
        LogPosition::ZERO
    }

    fn waits_for_sync(&self) -> bool {
        true
    }
}

impl HoldBack {
    fn last(&self) -> Option<DurableExtent> {
        self.0.lock().last().copied()
    }
}

struct Held {
    disk: SimulatedDisk,
    tables: Arc<tempfile::TempDir>,
    acknowledger: HoldBack,
    server: TestServer,
}

fn open(config: Config) -> Held {
    let (disk, acknowledger) = (SimulatedDisk::new(), HoldBack::default());
    let tables = Arc::new(tempfile::tempdir().unwrap());
    let options = TestOptions {
        config,
        acknowledger: Box::new(acknowledger.clone()),
        ..TestOptions::default()
    };
    let server = TestServer::open(Arc::new(disk.clone()), tables.clone(), options);
    Held {
        disk,
        tables,
        acknowledger,
        server,
    }
}

impl Held {
    fn commit(&self, name: &str, value: &str) -> Pin<Box<CommitFuture>> {
        let mut writer = self
            .server
            .begin(&self.server.session(), IsolationLevel::ReadCommitted);
        self.server.table.set(&mut writer, name, value).unwrap();
        Box::pin(writer.commit())
    }

    /// Waits until the acknowledger knows that the log is durable up to this index.
    fn until_durable(&self, index: u64) -> DurableExtent {
        wait_until("the groups to be durable", || {
            self.acknowledger
                .last()
                .is_some_and(|made| made.end_index >= LogIndex(index))
        });
        let made = self.acknowledger.last().unwrap();
        assert_eq!(made.end_index, LogIndex(index));
        made
    }

    fn assert_unpublished(&self, commits: &mut [Pin<Box<CommitFuture>>]) {
        let positions = self.server.manager.positions();
        assert!(positions.published < positions.durable, "{positions:?}");
        assert_eq!(self.server.content().len(), 0);
        assert!(self.server.manager.storage().position() <= positions.published);
        assert!(commits.iter_mut().all(|commit| !is_ready(commit.as_mut())));
    }
}

fn mark(epoch: u64) -> EpochMark {
    EpochMark { epoch, primary: 3 }
}

#[test]
fn groups_stay_unpublished_until_they_are_acknowledged_in_every_mode() {
    let mut modes = all_modes();
    modes.push(Config {
        sync_binlog: SyncBinlog::Background,
        sync_interval: Duration::from_millis(1),
        ..Config::default()
    });
    for config in modes {
        let held = open(config);
        let mut commits = vec![
            held.commit("a", "1"),
            held.commit("b", "2"),
            held.commit("c", "3"),
        ];
        let made = held.until_durable(3);
        held.assert_unpublished(&mut commits);
        // A rotation or a checkpoint acknowledges nothing either.
        held.server.manager.rotate().unwrap();
        held.server.manager.checkpoint().unwrap();
        held.assert_unpublished(&mut commits);
        // The next holder of a lock sees the row; its reply waits.
        let mut reader = held
            .server
            .begin(&held.server.session(), IsolationLevel::ReadCommitted);
        reader.begin_statement(None, 1).unwrap();
        if held.server.manager.config().lock_release == crate::LockRelease::Early {
            reader
                .lock(&TestTable::key("a"), LockMode::Shared, LockWait::NoWait)
                .unwrap();
            assert!(reader.get_newest(&TestTable::key("a")).unwrap().is_some());
            assert!(!reader.reads_published().is_ready());
        }
        drop(reader);
        held.server.manager.acknowledge(made.durable);
        for commit in commits {
            block_on(commit).unwrap();
        }
        assert_eq!(held.server.content().len(), 3);
    }
}

#[test]
fn the_index_is_that_of_the_durable_position() {
    let held = open(Config::default());
    let first = held.commit("a", "1");
    held.until_durable(1);
    held.server.manager.rotate().unwrap();
    let made = held.acknowledger.last().unwrap();
    assert_eq!(made.end_index, LogIndex(1));
    assert_eq!(made.durable, held.server.manager.positions().durable);
    // A change of sync_binlog writes a record, and reports nothing twice.
    let reports = held.acknowledger.0.lock().len();
    held.server
        .manager
        .set_config(Config {
            sync_binlog: SyncBinlog::Background,
            sync_interval: Duration::from_secs(3600),
            ..Config::default()
        })
        .unwrap();
    let second = held.commit("b", "2");
    wait_until("the write", || held.server.manager.status().binlog_commits == 2);
    assert_eq!(held.acknowledger.0.lock().len(), reports);
    held.server.manager.set_config(Config::default()).unwrap();
    let made = held.until_durable(2);
    assert_eq!((made.transactions, made.own), (1, made.replicated));
    // Committing the last part of the log also covers transactions that came from a primary.
    let options = TransactionOptions {
        gtid: GtidChoice::Replicated("7-9-5".parse().unwrap()),
        ..TransactionOptions::default()
    };
    let mut received = held.server.manager.begin(&held.server.session(), options);
    held.server.table.set(&mut received, "z", "1").unwrap();
    let mut received = Box::pin(received.commit());
    let made = held.until_durable(7);
    assert_eq!((made.transactions, made.own), (0, None));
    held.assert_unpublished(std::slice::from_mut(&mut received));
    held.server.manager.acknowledge(made.durable);
    for commit in [first, second, received] {
        block_on(commit).unwrap();
    }
}

#[test]
fn the_start_of_an_epoch_is_durable_at_once_and_published_later() {
    for sync_binlog in [SyncBinlog::EveryGroup, SyncBinlog::Background] {
        let held = open(Config {
            sync_binlog,
            sync_interval: Duration::from_millis(1),
            ..Config::default()
        });
        let manager = &held.server.manager;
        let write = |epoch| manager.write_epoch_start(mark(epoch), DomainId(0), ServerId(1));
        assert_eq!(write(4).unwrap().to_string(), "0-1-1");
        let mut commit = held.commit("a", "1");
        held.until_durable(2);
        manager.stop_writing().unwrap();
        assert_eq!(write(6).unwrap().to_string(), "0-1-3");
        let tail = manager.durable_tail();
        assert_eq!(tail.index, LogIndex(3));
        let start = |epoch, index| EpochStart {
            epoch,
            primary: 3,
            index: LogIndex(index),
        };
        let history: EpochHistory = [start(4, 0), start(6, 2)].into_iter().collect();
        assert_eq!(tail.epochs, history);
        held.assert_unpublished(std::slice::from_mut(&mut commit));
        let made = held.until_durable(3);
        assert_eq!(made.durable, manager.positions().durable);
        manager.acknowledge(made.durable);
        block_on(commit).unwrap();
        assert_eq!(manager.positions().published, made.durable);
        manager
            .wait_logged(&"0-1-3".parse().unwrap(), None, &Interrupt::new())
            .unwrap();
        // A restart knows them, and replays them as nothing.
        let restarted = TestServer::open(
            Arc::new(held.disk.after_process_death()),
            Arc::new(tempfile::tempdir().unwrap()),
            TestOptions::default(),
        );
        assert_eq!(restarted.manager.durable_tail().epochs, history);
        assert_eq!(restarted.get("a").as_deref(), Some("1"));
    }
}

/// Result of a batch.
#[derive(Default)]
struct BatchResult(Mutex<Option<Result<Version, Error>>>);

impl BatchObserver for BatchResult {
    fn placed(&self) {}

    fn ended(&self, result: Result<Version, Error>) {
        *self.0.lock() = Some(result);
    }
}

#[test]
fn nothing_is_written_after_writing_was_stopped() {
    for config in all_modes() {
        let held = open(config);
        let manager = &held.server.manager;
        let first = held.commit("a", "1");
        held.until_durable(1);
        let end = manager.stop_writing().unwrap();
        assert_eq!(end.index, LogIndex(1));
        // A client.
        assert!(matches!(
            block_on(held.commit("b", "2")),
            Err(Error::WritingStopped)
        ));
        // An applier.
        let session = manager.applier_session(Interrupt::new());
        let options = TransactionOptions {
            gtid: GtidChoice::Replicated("0-2-9".parse().unwrap()),
            ..TransactionOptions::default()
        };
        let mut received = Box::new(manager.begin(&session, options));
        held.server.table.set(&mut received, "c", "1").unwrap();
        let (stream, result) = (CommitStream::new(), Arc::new(BatchResult::default()));
        manager.commit_batch(&stream, vec![received], Arc::default(), result.clone());
        wait_until("the batch to end", || result.0.lock().is_some());
        assert!(matches!(*result.0.lock(), Some(Err(Error::WritingStopped))));
        assert!(stream.has_failed());
        assert_eq!(manager.durable_tail(), end);
        // The locks of what was refused are free, and its rows are nowhere.
        manager.resume_writing();
        let second = held.commit("b", "3");
        let made = held.until_durable(2);
        manager.acknowledge(made.durable);
        block_on(first).unwrap();
        block_on(second).unwrap();
        assert_eq!(held.server.get("b").as_deref(), Some("3"));
        assert_eq!(held.server.get("c"), None);
    }
}

#[test]
fn a_shutdown_leaves_what_is_not_acknowledged_in_the_log_only() {
    for config in all_modes() {
        let held = open(config);
        let manager = &held.server.manager;
        let acknowledged = held.commit("a", "1");
        let made = held.until_durable(1);
        manager.acknowledge(made.durable);
        block_on(acknowledged).unwrap();
        let published = manager.positions().published;
        let commits = [held.commit("b", "2"), held.commit("c", "3")];
        held.until_durable(3);
        assert_eq!(manager.give_up_unacknowledged().unwrap(), 2);
        for commit in commits {
            assert!(matches!(block_on(commit), Err(Error::Undecided)));
        }
        // Too late.
        manager.acknowledge(manager.positions().durable);
        assert_eq!(manager.positions().published, published);
        assert!(matches!(
            block_on(held.commit("d", "4")),
            Err(Error::WritingStopped)
        ));
        manager.close().unwrap();
        assert_eq!(manager.storage().durable_position().unwrap(), published);
        let Held {
            disk, tables, server, ..
        } = held;
        let content = server.content();
        assert_eq!(content.len(), 1, "{content:?}");
        drop(server);
        // The log has them: the next start replays what the cluster has left of it.
        let restarted = TestServer::open(Arc::new(disk), tables, TestOptions::default());
        assert_eq!(restarted.content().len(), 3);
    }
}

#[test]
fn closing_does_not_wait_for_what_is_not_acknowledged() {
    let held = open(Config::default());
    let commit = held.commit("a", "1");
    held.until_durable(1);
    held.server.manager.close().unwrap();
    assert!(matches!(block_on(commit), Err(Error::Undecided)));
    assert_eq!(held.server.content().len(), 0);
}
