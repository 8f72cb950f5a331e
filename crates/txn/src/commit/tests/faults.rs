//! A full disk, and a failing sync.

use crate::sync_point::CommitStep;
use crate::testing::TestServer;
use crate::{Config, Error, IsolationLevel, LeaderMode, RollbackScope, SyncBinlog};
use paceline_simulated_disk::SimulatedDisk;
use std::sync::Arc;

fn open(disk: &SimulatedDisk, config: Config) -> TestServer {
    let options = crate::testing::TestOptions {
        config,
        prepare_step: 64 << 10,
        ..Default::default()
    };
    TestServer::open(
        Arc::new(disk.clone()),
        Arc::new(tempfile::tempdir().unwrap()),
        options,
    )
}

#[test]
fn a_full_disk_fails_the_commit_and_nothing_else() {
    let disk = SimulatedDisk::new();
    let server = open(&disk, Config::default());
    server.set("x", "before").unwrap();
    disk.set_capacity(Some(disk.used()));
    let value = "v".repeat(150);
    let big = |server: &TestServer| {
        let mut writer = server.begin(&server.session(), IsolationLevel::ReadCommitted);
        for n in 0..2000 {
            server.table.set(&mut writer, &format!("k{n}"), &value).unwrap();
        }
        writer.commit_blocking()
    };
    let error = big(&server).unwrap_err();
    assert!(matches!(error, Error::LogFull { .. }), "{error}");
    assert_eq!(error.error_code().number(), 1026);
    assert_eq!(error.rollback_scope(), RollbackScope::Transaction);
    assert_eq!(server.content().len(), 1, "nothing of it is left");
    assert_eq!(server.manager.status().locked_keys, 0);
    // Small transactions still fit into the prepared room; with room again everything does.
    server.set("x", "small").unwrap();
    disk.set_capacity(None);
    big(&server).unwrap();
    assert_eq!(server.content().len(), 2001);
    assert!(server.failure.lock().is_none());
}

/// The log records how it is synced: without room for that record, the sync mode stays as it is.
#[test]
fn a_full_disk_refuses_settings_and_nothing_else() {
    let disk = SimulatedDisk::new();
    let server = open(&disk, Config::default());
    server.set("x", "before").unwrap();
    disk.set_capacity(Some(disk.used()));
    let toggled = || {
        let before = server.manager.config();
        Config {
            sync_binlog: match before.sync_binlog {
                SyncBinlog::EveryGroup => SyncBinlog::Background,
                SyncBinlog::Background => SyncBinlog::EveryGroup,
            },
            row_locks_max: before.row_locks_max - 1,
            ..(*before).clone()
        }
    };
    // Each change takes some of the prepared room.
    let refused = (0..100_000).find_map(|_| server.manager.set_config(toggled()).err());
    let error = refused.expect("the room is used up");
    assert!(matches!(error, Error::LogFull { .. }), "{error}");
    let before = server.manager.config();
    for _ in 0..3 {
        assert!(server.manager.set_config(toggled()).is_err());
    }
    assert_eq!(server.manager.config(), before);
    // Settings that the log does not record can still be changed.
    let other = Config {
        sync_binlog: before.sync_binlog,
        ..toggled()
    };
    server.manager.set_config(other).unwrap();
    disk.set_capacity(None);
    server.manager.set_config(toggled()).unwrap();
    assert_ne!(server.manager.config().sync_binlog, before.sync_binlog);
    server.set("x", "after").unwrap();
    assert_eq!(server.get("x").as_deref(), Some("after"));
    assert!(server.failure.lock().is_none());
}

#[test]
fn a_failed_sync_is_fatal_and_never_acknowledged() {
    for leader_mode in [LeaderMode::Inline, LeaderMode::Thread, LeaderMode::Adaptive] {
        let disk = SimulatedDisk::new();
        let server = open(
            &disk,
            Config {
                leader_mode,
                ..Config::default()
            },
        );
        server.set("x", "before").unwrap();
        let published = server.manager.positions().published;
        disk.fail_sync(1);
        assert!(matches!(server.set("x", "lost"), Err(Error::Fatal(_))));
        assert!(
            server
                .failure
                .lock()
                .as_ref()
                .is_some_and(|reason| reason.contains("sync"))
        );
        // Never retried, and nothing after it is acknowledged.
        assert!(matches!(server.set("y", "later"), Err(Error::Fatal(_))));
        let positions = server.manager.positions();
        assert_eq!((positions.published, positions.durable), (published, published));
        assert_eq!(server.get("x").as_deref(), Some("before"));
    }
}

/// A session that leads, or that publishes, is a thread of the pipeline like the others.
#[test]
fn a_panic_of_a_session_that_leads_is_fatal_at_each_step() {
    // In front of the queue a panic is the session's own.
    let steps = CommitStep::ALL
        .into_iter()
        .filter(|step| *step != CommitStep::Queued);
    for step in steps {
        let config = Config {
            leader_mode: LeaderMode::Inline,
            ..Config::default()
        };
        let server = Arc::new(open(&SimulatedDisk::new(), config));
        server.set("x", "before").unwrap();
        server.manager.sync_points().set(move |reached| {
            assert!(reached != step, "a defect of this step");
        });
        let leader = Arc::clone(&server);
        let led = std::thread::spawn(move || leader.set("x", "after")).join();
        assert!(led.is_err(), "{step:?}: the session panics");
        let failure = server.failure.lock().clone();
        assert!(failure.is_some(), "{step:?}: the server is told to stop");
        server.manager.sync_points().clear();
        let error = server.set("y", "later").unwrap_err();
        assert!(matches!(error, Error::Fatal(_)), "{step:?}: {error}");
        // A process ends here: what the panic left half done cannot be closed.
        std::mem::forget(server);
    }
}
