//! Crashes between every two steps of a commit, and at any operation of the disk.
//!
//! The trap of early lock release: transactions on one row *begin* in the opposite order of
//! their commits, all of them are in the pipeline, and then a crash or a backup happens. A server that rolls
//! back uncommitted changes by transaction id restores wrong before images. Here nothing uncommitted reaches
//! the tables, so it cannot happen; these tests show it.

use crate::commit::ticket::block_on;
use crate::sync_point::CommitStep;
use crate::testing::{TestOptions, TestServer};
use crate::{Config, Error, IsolationLevel, LeaderMode, LockRelease, SyncBinlog};
use paceline_simulated_disk::SimulatedDisk;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tempfile::TempDir;

/// Number of random survivals of unsynced sectors that are tried at each step.
const SEEDS: u64 = 2;

fn options(config: Config) -> TestOptions {
    TestOptions {
        config,
        prepare_step: 64 << 10,
        ..Default::default()
    }
}

/// The disk as a power failure would leave it at a step, and the number of commits acknowledged to clients by
/// then.
struct Crash {
    step: CommitStep,
    disk: SimulatedDisk,
    acknowledged: usize,
    /// Backup of the tables taken at that moment, for some steps.
    backup: Option<Arc<TempDir>>,
}

/// Checks a recovered state. Row `x` is a word to which each transaction appends its letter; each also writes a
/// row of its own. Whatever was cut off, the word is a prefix of all letters, exactly the transactions of its
/// letters exist, and the acknowledged ones are among them.
fn check(content: &BTreeMap<String, String>, letters: &str, acknowledged: usize, what: &str) {
    let word = content.get("x").map_or("", String::as_str);
    assert!(letters.starts_with(word), "{what}: x is {word:?}");
    assert!(
        word.len() >= acknowledged,
        "{what}: {acknowledged} were acknowledged, x is {word:?}"
    );
    for letter in letters.chars() {
        let is_there = content.contains_key(&format!("own-{letter}"));
        assert_eq!(
            is_there,
            word.contains(letter),
            "{what}: transaction {letter} is half there, x is {word:?}"
        );
    }
}

fn trap(config: Config, letters: &'static str) {
    let disk = SimulatedDisk::new();
    let tables = Arc::new(tempfile::tempdir().unwrap());
    let server = TestServer::open(Arc::new(disk.clone()), tables, options(config.clone()));
    let crashes: Arc<Mutex<Vec<Crash>>> = Arc::default();
    let acknowledged = Arc::new(AtomicUsize::new(0));
    {
        let (crashes, disk, acknowledged) = (crashes.clone(), disk.clone(), acknowledged.clone());
        let manager = Arc::downgrade(&server.manager);
        server.manager.sync_points().set(move |step| {
            // Read before the disk is copied: a later acknowledgement may or may not be in the copy.
            let acknowledged = acknowledged.load(Ordering::SeqCst);
            for seed in 0..SEEDS {
                let backup = (seed == 0 && matches!(step, CommitStep::LocksReleased | CommitStep::Applied))
                    .then(|| {
                        let directory = Arc::new(tempfile::tempdir().unwrap());
                        let manager = manager.upgrade().expect("the server runs");
                        manager.storage().checkpoint(directory.path()).unwrap();
                        directory
                    });
                crashes.lock().push(Crash {
                    step,
                    disk: disk.after_power_failure(seed),
                    acknowledged,
                    backup,
                });
            }
            if step == CommitStep::LocksReleased {
                // Lets the transactions after it take the lock and queue before the sync.
                std::thread::sleep(Duration::from_millis(5));
            }
        });
    }
    // They begin, and write for the first time, in the opposite order of their commits.
    let mut open: Vec<_> = letters
        .chars()
        .rev()
        .map(|letter| {
            let mut transaction = server.begin(&server.session(), IsolationLevel::ReadCommitted);
            server
                .table
                .set(&mut transaction, &format!("own-{letter}"), "v")
                .unwrap();
            (letter, transaction)
        })
        .collect();
    let mut commits = Vec::new();
    while let Some((letter, mut transaction)) = open.pop() {
        transaction.begin_statement(None, 1).unwrap();
        server
            .table
            .change(&mut transaction, "x", |word| {
                Some(format!("{}{letter}", word.unwrap_or_default()))
            })
            .unwrap();
        transaction.end_statement().unwrap();
        commits.push(transaction.commit());
    }
    for commit in commits {
        block_on(commit).unwrap();
        acknowledged.fetch_add(1, Ordering::SeqCst);
    }
    server.manager.sync_points().clear();
    check(&server.content(), letters, letters.len(), "without a crash");
    drop(server);
    let crashes = std::mem::take(&mut *crashes.lock());
    assert!(crashes.len() >= CommitStep::ALL.len() * SEEDS as usize);
    for Crash {
        step,
        disk,
        acknowledged,
        backup,
    } in crashes
    {
        let what = format!("{config:?}, crash at {step:?}");
        // The tables are lost altogether, or are a backup's from that moment.
        let fresh = Arc::new(tempfile::tempdir().unwrap());
        for tables in [Some(fresh), backup].into_iter().flatten() {
            let server = TestServer::open(
                Arc::new(disk.after_process_death()),
                tables,
                options(Config::default()),
            );
            check(&server.content(), letters, acknowledged, &what);
            // The server continues from there.
            server.set("y", "after").unwrap();
        }
    }
}

#[test]
fn the_trap_of_early_lock_release_with_two_transactions() {
    for leader_mode in [LeaderMode::Thread, LeaderMode::Inline] {
        trap(
            Config {
                leader_mode,
                ..Config::default()
            },
            "ab",
        );
    }
}

#[test]
fn the_trap_of_early_lock_release_with_three_transactions() {
    trap(
        Config {
            leader_mode: LeaderMode::Thread,
            ..Config::default()
        },
        "abc",
    );
    let late = LockRelease::AfterPublish;
    trap(
        Config {
            leader_mode: LeaderMode::Thread,
            lock_release: late,
            ..Config::default()
        },
        "abc",
    );
}

/// The power fails at every operation of the disk in turn, while several sessions commit. Every acknowledged
/// commit survives.
#[test]
fn acknowledged_commits_survive_a_power_failure_at_any_operation() {
    const WRITERS: usize = 3;
    for sync_binlog in [SyncBinlog::EveryGroup, SyncBinlog::Background] {
        for operation in (12..130).step_by(5) {
            let disk = SimulatedDisk::new();
            let leader_mode =
                [LeaderMode::Inline, LeaderMode::Thread, LeaderMode::Adaptive][operation as usize % 3];
            let config = Config {
                leader_mode,
                sync_binlog,
                max_binlog_size: 4096,
                ..Config::default()
            };
            let tables = Arc::new(tempfile::tempdir().unwrap());
            let server = Arc::new(TestServer::open(Arc::new(disk.clone()), tables, options(config)));
            disk.fail_power_at(operation);
            let writers: Vec<_> = (0..WRITERS)
                .map(|n| {
                    let server = server.clone();
                    std::thread::spawn(move || {
                        for round in 1..=12u64 {
                            // Two rows that must always agree.
                            let mut writer = server.begin(&server.session(), IsolationLevel::ReadCommitted);
                            let text = round.to_string();
                            let written = server
                                .table
                                .set(&mut writer, &format!("a{n}"), &text)
                                .and_then(|()| server.table.set(&mut writer, &format!("b{n}"), &text));
                            match written.and_then(|()| writer.commit_blocking()) {
                                Ok(_) => {}
                                Err(Error::Fatal(_) | Error::Log(_)) => return round - 1,
                                Err(error) => panic!("{error}"),
                            }
                        }
                        12
                    })
                })
                .collect();
            let acknowledged: Vec<u64> = writers.into_iter().map(|writer| writer.join().unwrap()).collect();
            let after = disk.after_power_failure(operation);
            drop(server);
            let fresh = Arc::new(tempfile::tempdir().unwrap());
            let server = TestServer::open(Arc::new(after), fresh, options(Config::default()));
            let content = server.content();
            for (n, acknowledged) in acknowledged.into_iter().enumerate() {
                let round = |name: char| {
                    content
                        .get(&format!("{name}{n}"))
                        .map_or(0, |text| text.parse().unwrap())
                };
                let (a, b): (u64, u64) = (round('a'), round('b'));
                assert_eq!(a, b, "half a transaction, power failed at operation {operation}");
                if sync_binlog == SyncBinlog::EveryGroup {
                    assert!(
                        a >= acknowledged,
                        "writer {n} was told {acknowledged}, {a} is there; operation {operation}"
                    );
                }
            }
            server.set("after", "v").unwrap();
        }
    }
}

/// The process dies; tables and log are as it left them. The tables are never ahead of the log.
#[test]
fn tables_catch_up_with_the_log_after_the_process_dies() {
    let disk = SimulatedDisk::new();
    let tables = Arc::new(tempfile::tempdir().unwrap());
    let mut expected = BTreeMap::new();
    for round in 0..3 {
        let server = TestServer::open(Arc::new(disk.clone()), tables.clone(), options(Config::default()));
        assert_eq!(server.content(), expected);
        for n in 0..20 {
            server.set(&format!("k{n}"), &round.to_string()).unwrap();
            if n == 10 {
                server.manager.checkpoint().unwrap();
            }
        }
        expected = server.content();
        // A copy of the tables as they are on disk without a clean shutdown.
        let copy = Arc::new(tempfile::tempdir().unwrap());
        server.manager.storage().checkpoint(copy.path()).unwrap();
        server.set("k0", "after the copy").unwrap();
        let died = disk.after_process_death();
        let recovered = TestServer::open(Arc::new(died), copy, options(Config::default()));
        let mut with_last = expected.clone();
        with_last.insert("k0".into(), "after the copy".into());
        assert_eq!(recovered.content(), with_last);
        expected = with_last;
    }
}
