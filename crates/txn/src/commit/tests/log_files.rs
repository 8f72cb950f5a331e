//! Rotation, purging, RESET MASTER and checkpoints, concurrent with commits.

use crate::testing::TestServer;
use crate::{Config, Error, IsolationLevel};
use paceline_binlog::log::{Disk, PurgeTarget};
use paceline_simulated_disk::SimulatedDisk;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Three sessions that commit until they are stopped.
struct Writers {
    stop: Arc<AtomicBool>,
    threads: Vec<std::thread::JoinHandle<u64>>,
}

impl Writers {
    fn start(server: &Arc<TestServer>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let threads = (0..3)
            .map(|n| {
                let (server, stop) = (server.clone(), stop.clone());
                std::thread::spawn(move || {
                    let mut commits = 0u64;
                    while !stop.load(Ordering::Relaxed) {
                        commits += 1;
                        server.set(&format!("k{n}"), &commits.to_string()).unwrap();
                    }
                    commits
                })
            })
            .collect();
        Writers { stop, threads }
    }

    /// Stops them. Returns the number of transactions that they have committed.
    fn stop(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        let commits = |thread: std::thread::JoinHandle<u64>| thread.join().expect("no commit fails");
        self.threads.into_iter().map(commits).sum()
    }
}

#[test]
fn the_log_rotates_between_groups() {
    let disk = SimulatedDisk::new();
    let tables = Arc::new(tempfile::tempdir().unwrap());
    let options = || crate::testing::TestOptions {
        config: Config {
            max_binlog_size: 4096,
            ..Config::default()
        },
        ..Default::default()
    };
    let content = {
        let server = Arc::new(TestServer::open(
            Arc::new(disk.clone()),
            tables.clone(),
            options(),
        ));
        let writers: Vec<_> = (0..4)
            .map(|n| {
                let server = server.clone();
                std::thread::spawn(move || {
                    for round in 0..50 {
                        server.set(&format!("k{n}"), &round.to_string()).unwrap();
                    }
                })
            })
            .collect();
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        let files = server.manager.log().files();
        assert!(files.len() > 5, "{files:?}");
        server.content()
    };
    // Every file is replayed.
    let fresh = Arc::new(tempfile::tempdir().unwrap());
    let server = TestServer::open(Arc::new(disk), fresh, options());
    assert_eq!(server.content(), content);
}

#[test]
fn purging_stops_at_a_leased_file() {
    let server = TestServer::new();
    let mut starts = vec![server.manager.positions().published];
    for n in 0..4 {
        server.set("x", &n.to_string()).unwrap();
        starts.push(server.manager.rotate().unwrap());
    }
    assert_eq!(server.manager.positions().published, *starts.last().unwrap());
    let names: Vec<String> = server
        .manager
        .log()
        .files()
        .into_iter()
        .map(|file| file.name)
        .collect();
    assert_eq!(names.len(), 5);
    let lease = server.manager.lease(starts[1], "the replica with server id 7");
    let outcome = server
        .manager
        .purge(&PurgeTarget::File(names[3].clone()))
        .unwrap();
    assert_eq!(
        outcome.removed.iter().map(|file| &file.name).collect::<Vec<_>>(),
        [&names[0]]
    );
    let blocked = format!("{:?}", outcome.blocked.unwrap());
    assert!(
        blocked.contains(&names[1]) && blocked.contains("server id 7"),
        "{blocked}"
    );
    lease.advance(starts[2]);
    let outcome = server
        .manager
        .purge(&PurgeTarget::File(names[4].clone()))
        .unwrap();
    assert_eq!(outcome.removed.len(), 1);
    drop(lease);
    let outcome = server
        .manager
        .purge(&PurgeTarget::File(names[4].clone()))
        .unwrap();
    assert_eq!(outcome.removed.len(), 2);
    assert!(matches!(
        server.manager.purge(&PurgeTarget::File("bin.999999".into())),
        Err(Error::Log(error)) if error.code() == 1373
    ));
    server.set("x", "still").unwrap();
}

#[test]
fn reset_master_restarts_names_and_numbers_but_not_versions() {
    let disk = SimulatedDisk::new();
    let tables = Arc::new(tempfile::tempdir().unwrap());
    {
        let server = TestServer::open(Arc::new(disk.clone()), tables.clone(), Default::default());
        server.set("x", "1").unwrap();
        server.manager.rotate().unwrap();
        let before = server.set("x", "2").unwrap();
        let lease = server.manager.lease(before.version, "a backup");
        assert!(matches!(server.manager.reset(None), Err(Error::LogInUse { .. })));
        drop(lease);
        server.manager.reset(None).unwrap();
        assert_eq!(server.manager.log().files().len(), 1);
        assert_eq!(server.get("x").as_deref(), Some("2"));
        let after = server.set("x", "3").unwrap();
        assert_eq!(after.gtid, Some("0-1-1".parse().unwrap()));
        assert!(after.version > before.version);
        assert_eq!(server.manager.coordinates(after.version).unwrap().0, "bin.000001");
    }
    let server = TestServer::open(Arc::new(disk), tables, Default::default());
    assert_eq!(server.get("x").as_deref(), Some("3"));
}

#[test]
fn checkpoints_and_rotations_fail_no_commit() {
    let server = Arc::new(TestServer::new());
    let writers = Writers::start(&server);
    for _ in 0..5 {
        let position = server.manager.checkpoint().unwrap();
        assert!(position <= server.manager.positions().published);
        server.manager.rotate().unwrap();
    }
    let commits = writers.stop();
    assert_eq!(server.manager.status().binlog_commits, commits);
    assert_eq!(server.manager.status().checkpoints, 5);
}

#[test]
fn an_unsynced_log_rotates_and_takes_checkpoints() {
    let config = Config {
        sync_binlog: crate::SyncBinlog::Background,
        max_binlog_size: 4096,
        ..Config::default()
    };
    let server = TestServer::with_config(config);
    for n in 0..100 {
        server.set("x", &n.to_string()).unwrap();
        if n % 20 == 0 {
            server.manager.checkpoint().unwrap();
            let positions = server.manager.positions();
            assert_eq!(positions.published, positions.written);
        }
    }
    assert!(server.manager.log().files().len() > 2);
    server.manager.reset(None).unwrap();
    server.set("x", "after").unwrap();
    assert_eq!(server.get("x").as_deref(), Some("after"));
}

/// A group follows the sync mode that the log has when the group is written: an unsynced one must not be
/// followed by a synced one.
#[test]
fn the_sync_mode_changes_during_commits() {
    let server = Arc::new(TestServer::new());
    let writers = Writers::start(&server);
    for round in 0..2000 {
        let sync_binlog = match round % 2 {
            0 => crate::SyncBinlog::Background,
            _ => crate::SyncBinlog::EveryGroup,
        };
        let config = Config {
            sync_binlog,
            ..(*server.manager.config()).clone()
        };
        server.manager.set_config(config).unwrap();
    }
    writers.stop();
}

/// The last file has the highest possible number: the log continues in it.
#[test]
fn a_log_without_a_file_number_left_continues_in_its_file() {
    let disk = SimulatedDisk::new();
    let tables = Arc::new(tempfile::tempdir().unwrap());
    let options = || crate::testing::TestOptions {
        config: Config {
            max_binlog_size: 4096,
            large_transaction_bytes: 4096,
            ..Config::default()
        },
        ..Default::default()
    };
    drop(TestServer::open(
        Arc::new(disk.clone()),
        tables.clone(),
        options(),
    ));
    let directory = Path::new("/log");
    let last = "bin.2147483646";
    disk.rename(&directory.join("bin.000001"), &directory.join(last))
        .unwrap();
    disk.damage(&directory.join("bin.index"), |index| {
        *index = format!("./{last}\n").into_bytes();
    });
    let server = TestServer::open(Arc::new(disk), tables, options());
    let files = || server.manager.log().files().len();
    let before = files();
    for n in 0..100 {
        server.set("x", &n.to_string()).unwrap();
    }
    assert!(server.manager.log().rotation_due());
    let refused = |error: Error| assert!(matches!(&error, Error::Log(log) if log.code() == 1098), "{error}");
    refused(server.manager.rotate().unwrap_err());
    let mut large = server.begin(&server.session(), IsolationLevel::ReadCommitted);
    for n in 0..50 {
        server
            .table
            .set(&mut large, &format!("k{n}"), &"v".repeat(150))
            .unwrap();
    }
    refused(large.commit_blocking().unwrap_err());
    server.set("x", "after").unwrap();
    assert_eq!(server.content().len(), 1);
    assert_eq!(server.get("x").as_deref(), Some("after"));
    assert_eq!(files(), before);
    assert!(server.failure.lock().is_none());
}
