//! A replica whose acknowledger holds everything back, as a member of a cluster: it receives and logs, and publishes
//! later.

mod support;

use paceline_binlog::EpochMark;
use paceline_replication::apply::{Applier, ApplierOptions, ApplierState, ParallelMode};
use paceline_replication::received::ReceivedItem;
use paceline_txn::{Acknowledger, Config, DurableExtent, SyncBinlog};
use paceline_types::{DomainId, LogIndex, LogPosition, ServerId, Value};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use support::{TestServer, change, image};

/// Acknowledges at once, or nothing.
#[derive(Clone, Default)]
struct Switch {
    holds: Arc<AtomicBool>,
    durable: Arc<AtomicU64>,
}

impl Acknowledger for Switch {
    fn on_durable(&self, made: DurableExtent) -> LogPosition {
        self.durable.store(made.end_index.0, Ordering::SeqCst);
        match self.holds.load(Ordering::SeqCst) {
            true => LogPosition::ZERO,
            false => made.durable,
        }
    }

    fn waits_for_sync(&self) -> bool {
        true
    }
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(
            start.elapsed() < Duration::from_secs(30),
            "waited in vain: {what}"
        );
        // The pause of a loop that waits.
        std::thread::sleep(Duration::from_millis(1));
    }
}

async fn push_all(applier: &Applier, received: Vec<ReceivedItem>) {
    for one in received {
        applier.push(one).await.unwrap();
    }
}

fn insert(server: &TestServer, id: i64) {
    let table = server.table("t");
    server.transaction(0, |transaction| {
        change(&table, transaction, None, Some(&image(&table, &[Value::Int(id)])));
    });
}

#[test]
fn what_is_received_is_logged_and_published_when_it_is_acknowledged() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for (workers, mode, sync_binlog) in [
        (0, ParallelMode::Optimistic, SyncBinlog::EveryGroup),
        (4, ParallelMode::Optimistic, SyncBinlog::EveryGroup),
        (4, ParallelMode::Conservative, SyncBinlog::Background),
    ] {
        let directories = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let primary = TestServer::open(directories[0].path(), 1, Config::default());
        let switch = Switch::default();
        let config = Config {
            sync_binlog,
            sync_interval: Duration::from_millis(1),
            ..Config::default()
        };
        let acknowledger = Box::new(switch.clone());
        let replica = TestServer::open_with(directories[1].path(), 2, config, acknowledger);
        let options = || ApplierOptions {
            workers,
            mode,
            ..ApplierOptions::default()
        };
        primary.ddl("CREATE DATABASE test");
        primary.ddl("CREATE TABLE t (id INT PRIMARY KEY)");
        insert(&primary, 1);
        runtime.block_on(async {
            let applier = replica.applier(options());
            push_all(&applier, primary.received(primary.start)).await;
            let idle = || applier.status().state != ApplierState::Applying;
            wait_until("the replica", idle);
            applier.stop().await;
        });
        assert_eq!(replica.rows("t"), primary.rows("t"));

        switch.holds.store(true, Ordering::SeqCst);
        let from = primary.manager.positions().published;
        insert(&primary, 2);
        // The start of an epoch, which is not published either, lets what follows it pass.
        let mark = EpochMark { epoch: 5, primary: 1 };
        primary
            .manager
            .write_epoch_start(mark, DomainId(0), ServerId(1))
            .unwrap();
        insert(&primary, 3);
        runtime.block_on(async {
            let applier = replica.applier(options());
            push_all(&applier, primary.received(from)).await;
            wait_until("the log to be durable", || {
                switch.durable.load(Ordering::SeqCst) == 6
            });
            assert_eq!(replica.rows("t").len(), 1);
            // It ends without waiting for what may never be published.
            applier.stop().await;
        });
        let tail = replica.manager.durable_tail();
        assert_eq!(tail.index, LogIndex(6));
        assert_eq!(tail.epochs, primary.manager.durable_tail().epochs);
        assert_eq!(replica.rows("t").len(), 1);
        // Another applier goes on before it is.
        let from = primary.manager.positions().published;
        insert(&primary, 4);
        runtime.block_on(async {
            let applier = replica.applier(options());
            push_all(&applier, primary.received(from)).await;
            wait_until("the log to be durable", || {
                switch.durable.load(Ordering::SeqCst) == 7
            });
            replica.manager.acknowledge(replica.manager.positions().durable);
            wait_until("the replica", || replica.rows("t").len() == 4);
            applier.stop().await;
        });
        let groups = |server: &TestServer| {
            let (groups, _) = server.groups(server.start);
            let kinds = groups.iter().map(|group| (group.gtid(), group.epoch_mark()));
            kinds.collect::<Vec<_>>()
        };
        assert_eq!(groups(&replica), groups(&primary));
        assert_eq!(replica.rows("t"), primary.rows("t"));
    }
}

#[test]
fn an_applier_whose_transactions_are_refused_can_be_stopped() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let directories = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let primary = TestServer::open(directories[0].path(), 1, Config::default());
    let switch = Switch::default();
    let acknowledger = Box::new(switch.clone());
    let replica = TestServer::open_with(directories[1].path(), 2, Config::default(), acknowledger);
    primary.ddl("CREATE DATABASE test");
    primary.ddl("CREATE TABLE t (id INT PRIMARY KEY)");
    runtime.block_on(async {
        let applier = replica.applier(ApplierOptions::default());
        push_all(&applier, primary.received(primary.start)).await;
        wait_until("the replica", || applier.status().state != ApplierState::Applying);
        switch.holds.store(true, Ordering::SeqCst);
        let from = primary.manager.positions().published;
        insert(&primary, 1);
        push_all(&applier, primary.received(from)).await;
        wait_until("the log to be durable", || {
            switch.durable.load(Ordering::SeqCst) == 3
        });
        let end = replica.manager.stop_writing().unwrap();
        let from = primary.manager.positions().published;
        insert(&primary, 2);
        push_all(&applier, primary.received(from)).await;
        applier.stop().await;
        assert_eq!(replica.manager.durable_tail(), end);
        // It follows another primary, which has the same.
        replica.manager.resume_writing();
        let applier = replica.applier(ApplierOptions::default());
        push_all(&applier, primary.received(from)).await;
        wait_until("the log to be durable", || {
            switch.durable.load(Ordering::SeqCst) == 4
        });
        replica.manager.acknowledge(replica.manager.positions().durable);
        wait_until("the replica", || replica.rows("t").len() == 2);
        applier.stop().await;
    });
}
