//! Transactions whose events are in a file of their own, and whose rows are in table files before they commit.

use crate::commit::ticket::block_on;
use crate::sync_point::CommitStep;
use crate::testing::{TestOptions, TestServer};
use crate::{Config, Error, IsolationLevel, LeaderMode, SyncBinlog, Transaction};
use paceline_simulated_disk::SimulatedDisk;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use tempfile::TempDir;

/// Settings under which a transaction with more than 4 KiB of events is large.
fn config() -> Config {
    Config {
        large_transaction_bytes: 4096,
        ..Config::default()
    }
}

fn options(config: Config) -> TestOptions {
    TestOptions {
        config,
        prepare_step: 64 << 10,
        ..TestOptions::default()
    }
}

/// Sets a range of rows to a value, in one statement.
fn set_all(
    server: &TestServer,
    transaction: &mut Transaction,
    rows: std::ops::Range<u32>,
    value: &str,
) -> crate::Result<()> {
    transaction.begin_statement(None, 1)?;
    for row in rows {
        server
            .table
            .change(transaction, &format!("row{row:05}"), |_| Some(value.to_owned()))?;
    }
    transaction.end_statement()
}

fn rows(content: &BTreeMap<String, String>, value: &str) -> usize {
    content.values().filter(|found| *found == value).count()
}

const ALL: u32 = 600;

/// Commits a large transaction that sets all rows.
fn commit_all(server: &TestServer, value: &str) -> crate::Result<crate::CommitOutcome> {
    let mut transaction = server.begin(&server.session(), IsolationLevel::ReadCommitted);
    set_all(server, &mut transaction, 0..ALL, value)?;
    transaction.commit_blocking()
}

/// A transaction with few events is large if it writes much: with many indexes, rows and entries take much more
/// than events.
#[test]
fn written_rows_make_a_transaction_large_like_events_do() {
    const FEW: u32 = 150;
    let commit = |server: &TestServer| {
        let mut transaction = server.begin(&server.session(), IsolationLevel::ReadCommitted);
        set_all(server, &mut transaction, 0..FEW, "v").unwrap();
        let written = transaction.write_set().memory_bytes() as u64;
        transaction.commit_blocking().unwrap();
        assert_eq!(rows(&server.content(), "v"), FEW as usize);
        (written, server.manager.status().binlog_cache_disk_use)
    };
    let small = TestServer::new();
    let before = small.manager.positions().written;
    let (written, files) = commit(&small);
    let events = small.manager.positions().written.offset() - before.offset();
    let threshold = config().large_transaction_bytes;
    assert!(
        events < threshold && threshold < written,
        "{events} {threshold} {written}"
    );
    assert_eq!(files, 0);
    assert_eq!(commit(&TestServer::with_config(config())).1, 1);
}

#[test]
fn a_large_transaction_becomes_a_file_of_the_log() {
    for sync_binlog in [SyncBinlog::EveryGroup, SyncBinlog::Background] {
        for leader_mode in [LeaderMode::Inline, LeaderMode::Thread] {
            let server = TestServer::with_config(Config {
                leader_mode,
                sync_binlog,
                ..config()
            });
            server.set("other", "1").unwrap();
            let before = server.manager.positions().written;
            let outcome = commit_all(&server, "large").unwrap();
            assert_eq!(outcome.version.ordinal(), before.ordinal() + 1);
            assert_eq!(outcome.gtid.unwrap().to_string(), "0-1-2");
            assert_eq!(rows(&server.content(), "large"), ALL as usize);
            let status = server.manager.status();
            assert_eq!((status.binlog_cache_disk_use, status.pending_rows), (1, 0));
            assert_eq!(status.locked_keys, 0);
            // Other transactions change its rows, and continue in its file.
            let after = server.set("row00007", "small").unwrap();
            assert_eq!(after.version.ordinal(), outcome.version.ordinal());
            assert_eq!(server.get("row00007").as_deref(), Some("small"));
            // A second large transaction finds the rows of the first, and deletes some.
            let mut second = server.begin(&server.session(), IsolationLevel::RepeatableRead);
            set_all(&server, &mut second, 0..ALL / 2, "second").unwrap();
            second.begin_statement(None, 1).unwrap();
            for row in 0..10 {
                server
                    .table
                    .change(&mut second, &format!("row{row:05}"), |before| {
                        assert_eq!(before, Some("second"));
                        None
                    })
                    .unwrap();
            }
            second.end_statement().unwrap();
            second.commit_blocking().unwrap();
            let content = server.content();
            assert_eq!(
                (rows(&content, "second"), rows(&content, "large")),
                (ALL as usize / 2 - 10, ALL as usize / 2)
            );
            server.manager.close().unwrap();
        }
    }
}

#[test]
fn savepoints_and_statements_roll_back() {
    let server = TestServer::with_config(config());
    let mut transaction = server.begin(&server.session(), IsolationLevel::ReadCommitted);
    set_all(&server, &mut transaction, 0..50, "kept").unwrap();
    transaction.savepoint("in memory");
    set_all(&server, &mut transaction, 0..ALL, "gone").unwrap();
    transaction.savepoint("in the file");
    set_all(&server, &mut transaction, 0..ALL, "gone too").unwrap();
    transaction.rollback_to_savepoint("in the file").unwrap();
    transaction.rollback_to_savepoint("in memory").unwrap();
    set_all(&server, &mut transaction, 100..ALL, "kept").unwrap();
    // A statement that fails.
    transaction.begin_statement(None, 1).unwrap();
    for row in 0..ALL {
        server
            .table
            .change(&mut transaction, &format!("row{row:05}"), |_| {
                Some("failed".into())
            })
            .unwrap();
    }
    transaction.rollback_statement();
    transaction.commit_blocking().unwrap();
    let content = server.content();
    assert_eq!(rows(&content, "kept"), ALL as usize - 50);
    assert_eq!(content.len(), ALL as usize - 50);
    // A complete rollback: nothing is logged.
    let before = server.manager.positions().written;
    let mut transaction = server.begin(&server.session(), IsolationLevel::ReadCommitted);
    transaction.savepoint("start");
    set_all(&server, &mut transaction, 0..ALL, "gone").unwrap();
    transaction.rollback_to_savepoint("start").unwrap();
    transaction.commit_blocking().unwrap();
    assert_eq!(server.manager.positions().written, before);
}

#[test]
fn beyond_the_cache_limit_it_gets_1197() {
    let server = TestServer::with_config(Config {
        max_binlog_cache_size: 20_000,
        ..config()
    });
    let mut transaction = server.begin(&server.session(), IsolationLevel::ReadCommitted);
    set_all(&server, &mut transaction, 0..300, "fits").unwrap();
    let error = set_all(&server, &mut transaction, 0..ALL, "does not").unwrap_err();
    assert!(matches!(error, Error::CacheFull { .. }), "{error}");
    transaction.rollback_statement();
    transaction.commit_blocking().unwrap();
    assert_eq!(rows(&server.content(), "fits"), 300);
}

/// The rows carry a mark in place of a version. A transaction that has seen them may change them; one that has
/// not gets 1020.
#[test]
fn conflicts_with_a_large_transaction_are_found_by_its_mark() {
    let server = TestServer::with_config(config());
    commit_all(&server, "first").unwrap();
    let write = |transaction: &mut Transaction, row: &str| {
        transaction.begin_statement(None, 1).unwrap();
        let changed = server.table.change(transaction, row, |_| Some("changed".into()));
        match &changed {
            Ok(()) => transaction.end_statement().unwrap(),
            Err(_) => transaction.rollback_statement(),
        }
        changed
    };
    let mut old = server.begin(&server.session(), IsolationLevel::RepeatableRead);
    old.snapshot();
    // The mark in its snapshot is the one in the tables.
    write(&mut old, "row00001").unwrap();
    drop(old);
    let mut old = server.begin(&server.session(), IsolationLevel::RepeatableRead);
    old.snapshot();
    commit_all(&server, "second").unwrap();
    let error = write(&mut old, "row00001").unwrap_err();
    assert!(matches!(error, Error::SnapshotConflict { .. }), "{error}");
    assert!(old.is_rolled_back());
    drop(old);
    // A row that the snapshot does not contain at all.
    let mut old = server.begin(&server.session(), IsolationLevel::RepeatableRead);
    old.snapshot();
    let mut other = server.begin(&server.session(), IsolationLevel::ReadCommitted);
    set_all(&server, &mut other, ALL..2 * ALL, "new").unwrap();
    other.commit_blocking().unwrap();
    assert!(write(&mut old, "row00700").is_err());
    let mut young = server.begin(&server.session(), IsolationLevel::RepeatableRead);
    write(&mut young, "row00001").unwrap();
    young.commit_blocking().unwrap();
    assert_eq!(server.get("row00001").as_deref(), Some("changed"));
}

/// While the transaction is in the log but not in the tables, its rows are found in the overlay, as those of
/// any other.
#[test]
fn rows_of_a_large_transaction_are_pending_until_it_is_published() {
    let server = Arc::new(TestServer::with_config(Config {
        leader_mode: LeaderMode::Thread,
        ..config()
    }));
    server.set("row00003", "before").unwrap();
    /// Number of pending rows, and the row that readers see.
    type Seen = Vec<(usize, Option<String>)>;
    let seen: Arc<Mutex<Seen>> = Arc::default();
    {
        let seen = seen.clone();
        let manager = Arc::downgrade(&server.manager);
        server.manager.sync_points().set(move |step| {
            // At no other step: the pipeline's thread must not be the one that drops the server.
            if step == CommitStep::Durable
                && let Some(manager) = manager.upgrade()
            {
                let snapshot = manager.snapshot();
                let row = snapshot
                    .get(&crate::testing::TestTable::key("row00003"))
                    .unwrap()
                    .map(|row| crate::testing::TestTable::value(row.payload()));
                seen.lock().push((manager.status().pending_rows as usize, row));
            }
        });
    }
    commit_all(&server, "large").unwrap();
    server.manager.sync_points().clear();
    assert_eq!(*seen.lock(), [(ALL as usize, Some("before".into()))]);
    assert_eq!(server.get("row00003").as_deref(), Some("large"));
}

/// Small transactions queue before, after and during large ones; no reader sees half of one.
#[test]
fn small_transactions_commit_during_a_large_one() {
    let server = Arc::new(TestServer::with_config(config()));
    commit_all(&server, "0").unwrap();
    let done = Arc::new(std::sync::atomic::AtomicBool::new(false));
    std::thread::scope(|scope| {
        for writer in 0..3 {
            let (server, done) = (server.clone(), done.clone());
            scope.spawn(move || {
                let mut count = 0;
                while !done.load(std::sync::atomic::Ordering::Relaxed) {
                    count += 1;
                    server.set(&format!("w{writer}"), &count.to_string()).unwrap();
                    assert_eq!(server.get(&format!("w{writer}")), Some(count.to_string()));
                }
            });
        }
        {
            let (server, done) = (server.clone(), done.clone());
            scope.spawn(move || {
                while !done.load(std::sync::atomic::Ordering::Relaxed) {
                    let content = server.content();
                    let values: std::collections::BTreeSet<&String> = content
                        .iter()
                        .filter(|(name, _)| name.starts_with("row"))
                        .map(|(_, value)| value)
                        .collect();
                    assert_eq!(values.len(), 1, "half of a transaction: {values:?}");
                }
            });
        }
        for round in 1..=8 {
            commit_all(&server, &round.to_string()).unwrap();
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert_eq!(rows(&server.content(), "8"), ALL as usize);
}

/// The disk as a power failure would leave it at every step; the tables as they were at the last flush, or lost
/// altogether.
#[test]
fn a_crash_at_any_step_leaves_all_or_nothing() {
    struct Crash {
        step: CommitStep,
        disk: SimulatedDisk,
        tables: Arc<TempDir>,
    }
    let disk = SimulatedDisk::new();
    let tables = Arc::new(tempfile::tempdir().unwrap());
    let server = TestServer::open(Arc::new(disk.clone()), tables, options(config()));
    server.set("other", "1").unwrap();
    let crashes: Arc<Mutex<Vec<Crash>>> = Arc::default();
    {
        let (crashes, disk) = (crashes.clone(), disk.clone());
        let manager = Arc::downgrade(&server.manager);
        server.manager.sync_points().set(move |step| {
            let Some(manager) = manager.upgrade() else { return };
            // The last step of the previous commit may come late.
            if step != CommitStep::Queued && crashes.lock().is_empty() {
                return;
            }
            let tables = Arc::new(tempfile::tempdir().unwrap());
            // In the log stage, before the engines have the transaction, a copy of the tables is what a crash
            // would leave.
            manager.storage().checkpoint(tables.path()).unwrap();
            for seed in 0..2 {
                crashes.lock().push(Crash {
                    step,
                    disk: disk.after_power_failure(seed),
                    tables: tables.clone(),
                });
            }
        });
    }
    commit_all(&server, "large").unwrap();
    server.manager.sync_points().clear();
    let crashes = std::mem::take(&mut *crashes.lock());
    let steps: std::collections::BTreeSet<CommitStep> = crashes.iter().map(|crash| crash.step).collect();
    assert!(steps.len() >= 7, "{steps:?}");
    for Crash { step, disk, tables } in crashes {
        let fresh = Arc::new(tempfile::tempdir().unwrap());
        let copy = Arc::new(tempfile::tempdir().unwrap());
        copy_directory(tables.path(), copy.path());
        for tables in [fresh, copy] {
            let server = TestServer::open(
                Arc::new(disk.clone().after_process_death()),
                tables,
                options(config()),
            );
            let content = server.content();
            let expected = match step {
                CommitStep::Queued | CommitStep::Placed => 0,
                _ => ALL as usize,
            };
            assert_eq!(rows(&content, "large"), expected, "crash at {step:?}");
            assert_eq!(content.get("other").map(String::as_str), Some("1"));
            // The server continues, with another large transaction.
            commit_all(&server, "again").unwrap();
            assert_eq!(rows(&server.content(), "again"), ALL as usize);
        }
    }
}

fn copy_directory(from: &std::path::Path, to: &std::path::Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            std::fs::create_dir_all(&target).unwrap();
            copy_directory(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Without room for the file, the transaction gets an error and nothing of it remains.
#[test]
fn a_full_disk_refuses_only_the_large_transaction() {
    let disk = SimulatedDisk::new();
    let tables = Arc::new(tempfile::tempdir().unwrap());
    let server = TestServer::open(Arc::new(disk.clone()), tables, options(config()));
    server.set("other", "1").unwrap();
    disk.set_capacity(Some(disk.used() + 10_000));
    let mut transaction = server.begin(&server.session(), IsolationLevel::ReadCommitted);
    let error = set_all(&server, &mut transaction, 0..ALL, "large").unwrap_err();
    assert!(matches!(error, Error::LogFull { .. }), "{error}");
    drop(transaction);
    server.set("other", "2").unwrap();
    disk.set_capacity(None);
    commit_all(&server, "large").unwrap();
    assert_eq!(rows(&server.content(), "large"), ALL as usize);
}

/// Transactions that queue after it are not lost when its sync fails. It alone fails, as it is not placed yet.
#[test]
fn a_failed_sync_before_the_queue_fails_only_its_transaction() {
    let disk = SimulatedDisk::new();
    let tables = Arc::new(tempfile::tempdir().unwrap());
    let server = TestServer::open(Arc::new(disk.clone()), tables, options(config()));
    let mut transaction = server.begin(&server.session(), IsolationLevel::ReadCommitted);
    set_all(&server, &mut transaction, 0..ALL, "large").unwrap();
    disk.fail_sync(1);
    assert!(block_on(transaction.commit()).is_err());
    assert!(server.failure.lock().is_none());
    server.set("other", "2").unwrap();
    assert_eq!(server.content().len(), 1);
}

/// Nothing of an earlier statement is acknowledged if a failed sync may have lost it, although that statement
/// had its reply and the one whose sync failed is rolled back.
#[test]
fn a_failed_sync_while_the_file_grows_fails_the_commit() {
    let disk = SimulatedDisk::new();
    let tables = Arc::new(tempfile::tempdir().unwrap());
    let server = TestServer::open(Arc::new(disk.clone()), tables, options(config()));
    let value = "v".repeat(150);
    let mut transaction = server.begin(&server.session(), IsolationLevel::ReadCommitted);
    set_all(&server, &mut transaction, 0..1000, &value).unwrap();
    assert_eq!(server.manager.status().binlog_cache_disk_use, 1);
    disk.fail_sync(1);
    // It has more events than are written between two syncs.
    let error = set_all(&server, &mut transaction, 1000..70_000, &value).unwrap_err();
    assert!(matches!(error, Error::Log(_)), "{error}");
    transaction.rollback_statement();
    assert!(transaction.commit_blocking().is_err());
    assert!(server.failure.lock().is_none());
    assert_eq!(server.content().len(), 0);
    commit_all(&server, "large").unwrap();
    assert_eq!(rows(&server.content(), "large"), ALL as usize);
}
