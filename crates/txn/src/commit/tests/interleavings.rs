//! Interleavings that are known to be hard, each at every step of the pipeline: a backup, a snapshot in the
//! middle of a group, a replica that dies between writing and publishing. (A crash between every two steps:
//! `crashes.rs`.)

use super::all_modes;
use crate::commit::ticket::block_on;
use crate::sync_point::CommitStep;
use crate::testing::{TEST_INDEX, TestOptions, TestServer, TestTable};
use crate::{
    Config, GtidChoice, IsolationLevel, LeaderMode, LockRelease, TransactionManager, TransactionOptions,
};
use paceline_simulated_disk::SimulatedDisk;
use paceline_storage::{Direction, StorageSnapshot, VERSION_LENGTH};
use paceline_types::{DomainId, Gtid, SequenceNumber, ServerId};
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

fn options(config: Config) -> TestOptions {
    TestOptions {
        config,
        prepare_step: 64 << 10,
        ..TestOptions::default()
    }
}

fn content(snapshot: &StorageSnapshot) -> BTreeMap<String, String> {
    let mut cursor = snapshot.scan(TEST_INDEX.range(), Direction::Forward);
    let mut content = BTreeMap::new();
    while let Some((key, value)) = cursor.next().unwrap() {
        let name = std::str::from_utf8(&key[TEST_INDEX.to_be_bytes().len()..]).unwrap();
        content.insert(name.to_owned(), TestTable::value(&value[VERSION_LENGTH..]));
    }
    content
}

/// Checks that the word in row `x` is a prefix of all letters, and that exactly the rows of its letters exist.
/// Returns its length.
fn whole_prefix(content: &BTreeMap<String, String>, letters: &str, what: &str) -> usize {
    let word = content.get("x").map_or("", String::as_str);
    assert!(letters.starts_with(word), "{what}: x is {word:?}");
    let own: String = content
        .keys()
        .filter_map(|name| name.strip_prefix("own-"))
        .collect();
    assert_eq!(own, word, "{what}: other transactions are there than x tells of");
    word.len()
}

/// State captured at a step, in the middle of the group.
struct CapturedState {
    step: CommitStep,
    backup: TempDir,
    snapshot: Arc<StorageSnapshot>,
    crashed: SimulatedDisk,
}

/// Removes the hook that fills `filled`, and waits until no thread runs it any more: its captured values are
/// about to be dropped.
fn end_hook<T>(server: &TestServer, filled: &Arc<T>) {
    server.manager.sync_points().clear();
    while Arc::strong_count(filled) > 1 {
        std::thread::yield_now();
    }
}

/// Runs transactions that begin in the opposite order of their commits; each appends its letter to one row and
/// writes a row of its own. All of them are in the queue together if locks are released early. Returns the
/// state captured at each step.
fn take_at_every_step(config: Config, letters: &str) -> (SimulatedDisk, Vec<CapturedState>) {
    let disk = SimulatedDisk::new();
    let tables = Arc::new(tempfile::tempdir().unwrap());
    let lock_release = config.lock_release;
    let server = TestServer::open(Arc::new(disk.clone()), tables, options(config));
    let taken: Arc<Mutex<Vec<CapturedState>>> = Arc::default();
    {
        let (taken, disk) = (taken.clone(), disk.clone());
        let manager = Arc::downgrade(&server.manager);
        server.manager.sync_points().set(move |step| {
            let manager: Arc<TransactionManager> = manager.upgrade().expect("the server runs");
            let backup = tempfile::tempdir().unwrap();
            manager
                .storage()
                .checkpoint(&backup.path().join("tables"))
                .unwrap();
            let snapshot = manager.snapshot();
            let seed = taken.lock().len() as u64;
            let crashed = disk.after_power_failure(seed);
            taken.lock().push(CapturedState {
                step,
                backup,
                snapshot,
                crashed,
            });
            if step == CommitStep::LocksReleased {
                // Lets the transactions after it take the lock and queue before the sync.
                std::thread::sleep(Duration::from_millis(5));
            }
        });
    }
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
        let commit = transaction.commit();
        match lock_release {
            LockRelease::Early => commits.push(commit),
            // The next transaction that changes the row waits until this one is published, and some thread must
            // lead.
            LockRelease::AfterPublish => {
                block_on(commit).unwrap();
            }
        }
    }
    for commit in commits {
        block_on(commit).unwrap();
    }
    end_hook(&server, &taken);
    assert_eq!(
        whole_prefix(&server.content(), letters, "at the end"),
        letters.len()
    );
    drop(server);
    let taken = std::mem::take(&mut *taken.lock());
    let steps: BTreeSet<CommitStep> = taken.iter().map(|taken| taken.step).collect();
    assert_eq!(steps.len(), CommitStep::ALL.len(), "every step was taken");
    (disk, taken)
}

/// A backup is taken at any step, also between write and sync. With the complete log nothing is missing and
/// nothing is duplicated. With the log that a power failure at that moment leaves, the result is a prefix, and
/// the tables are not ahead of it.
#[test]
fn a_backup_at_any_step_is_complete_or_a_prefix() {
    for (letters, leader_mode) in [
        ("ab", LeaderMode::Thread),
        ("abc", LeaderMode::Thread),
        ("abc", LeaderMode::Inline),
    ] {
        let config = Config {
            leader_mode,
            ..Config::default()
        };
        let (disk, taken) = take_at_every_step(config, letters);
        for taken in taken {
            let what = format!("{leader_mode:?}, a backup at {:?}", taken.step);
            let tables = taken.backup.path().join("tables");
            let copies = [(disk.after_process_death(), true), (taken.crashed, false)];
            for (log, is_complete) in copies {
                // Both begin with the backup as it was taken.
                let fresh = Arc::new(tempfile::tempdir().unwrap());
                for file in std::fs::read_dir(&tables).unwrap() {
                    let file = file.unwrap();
                    copy(&file.path(), &fresh.path().join(file.file_name()));
                }
                let server = TestServer::open(Arc::new(log), fresh, options(Config::default()));
                let length = whole_prefix(&server.content(), letters, &what);
                assert!(
                    !is_complete || length == letters.len(),
                    "{what}: {length} letters"
                );
                server.set("y", "after").unwrap();
            }
        }
    }
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    if from.is_dir() {
        std::fs::create_dir(to).unwrap();
        for file in std::fs::read_dir(from).unwrap() {
            let file = file.unwrap();
            copy(&file.path(), &to.join(file.file_name()));
        }
    } else {
        std::fs::copy(from, to).unwrap();
    }
}

/// A snapshot taken while a group is between any two steps holds whole transactions, in order, and never an
/// older state than before.
#[test]
fn a_snapshot_at_any_step_holds_whole_transactions() {
    for config in all_modes() {
        let what = format!("{config:?}");
        let (_, taken) = take_at_every_step(config, "abc");
        let mut before = 0;
        for CapturedState { step, snapshot, .. } in taken {
            let length = whole_prefix(&content(&snapshot), "abc", &format!("{what} at {step:?}"));
            // Steps of two groups run concurrently, so only the published position says how far a snapshot must
            // be.
            if matches!(step, CommitStep::Published | CommitStep::SessionsNotified) {
                assert!(length >= before && length > 0, "{what}: {length} after {before}");
                before = length;
            }
        }
        assert!(before > 0);
    }
}

/// A replica, or its machine, dies between any two steps. Its position matches its rows, and it continues with
/// the next transaction as if nothing had happened.
#[test]
fn a_replica_continues_after_dying_at_any_step() {
    const LETTERS: &str = "abcd";
    let disk = SimulatedDisk::new();
    let tables = Arc::new(tempfile::tempdir().unwrap());
    let replica = TestServer::open(Arc::new(disk.clone()), tables, options(Config::default()));
    let left: Arc<Mutex<Vec<(CommitStep, SimulatedDisk)>>> = Arc::default();
    {
        let (left, disk) = (left.clone(), disk.clone());
        replica.manager.sync_points().set(move |step| {
            let mut left = left.lock();
            let seed = left.len() as u64;
            left.push((step, disk.after_process_death()));
            left.push((step, disk.after_power_failure(seed)));
        });
    }
    replicate_from(&replica, LETTERS, 0);
    end_hook(&replica, &left);
    drop(replica);
    let left = std::mem::take(&mut *left.lock());
    assert!(left.len() >= CommitStep::ALL.len() * LETTERS.len());
    for (step, disk) in left {
        let fresh = Arc::new(tempfile::tempdir().unwrap());
        let replica = TestServer::open(Arc::new(disk), fresh, options(Config::default()));
        let what = format!("it died at {step:?}");
        let there = whole_prefix(&replica.content(), LETTERS, &what);
        let position = replica.manager.replicated_position().to_string();
        let expected = if there == 0 {
            String::new()
        } else {
            format!("0-2-{there}")
        };
        assert_eq!(position, expected, "{what}");
        replicate_from(&replica, LETTERS, there);
        assert_eq!(whole_prefix(&replica.content(), LETTERS, &what), LETTERS.len());
        assert_eq!(
            replica.manager.replicated_position().to_string(),
            format!("0-2-{}", LETTERS.len())
        );
    }
}

/// Commits the transactions of a primary from index `done` on, under its GTIDs.
fn replicate_from(replica: &TestServer, letters: &str, done: usize) {
    for (number, letter) in letters.chars().enumerate().skip(done) {
        let gtid = Gtid::new(DomainId(0), ServerId(2), SequenceNumber(number as u64 + 1));
        let options = TransactionOptions {
            gtid: GtidChoice::Replicated(gtid),
            ..TransactionOptions::default()
        };
        let mut transaction = replica.manager.begin(&replica.session(), options);
        replica
            .table
            .set(&mut transaction, &format!("own-{letter}"), "v")
            .unwrap();
        transaction.begin_statement(None, 1).unwrap();
        let add = |word: Option<&str>| Some(format!("{}{letter}", word.unwrap_or_default()));
        replica.table.change(&mut transaction, "x", add).unwrap();
        transaction.end_statement().unwrap();
        assert_eq!(transaction.commit_blocking().unwrap().gtid, Some(gtid));
    }
}
