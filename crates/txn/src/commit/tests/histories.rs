//! Random concurrent histories, checked for invariants in every mode.

use super::all_modes;
use crate::testing::{TEST_INDEX, TestServer, TestTable};
use crate::{Config, Error, IsolationLevel, SyncBinlog};
use paceline_storage::Direction;
use rand::Rng;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

fn number(text: Option<&str>) -> i64 {
    text.map_or(0, |text| text.parse().unwrap())
}

/// Returns whether a client would retry after the error.
fn is_retryable(error: &Error) -> bool {
    matches!(
        error,
        Error::Deadlock | Error::SnapshotConflict { .. } | Error::LockWaitTimeout
    )
}

fn configs() -> Vec<Config> {
    let mut configs = all_modes();
    configs.push(Config {
        sync_binlog: SyncBinlog::Background,
        ..Config::default()
    });
    // Small groups and many rotations.
    configs.push(Config {
        group_transactions_max: 2,
        max_binlog_size: 4096,
        ..Config::default()
    });
    configs
}

/// Money moves between accounts, under all isolation levels at once; no reader ever sees any appear or vanish.
#[test]
fn transfers_keep_the_sum_of_all_accounts() {
    const ACCOUNTS: usize = 6;
    const TOTAL: i64 = 600;
    for config in configs() {
        let server = Arc::new(TestServer::with_config(config.clone()));
        let mut opening = server.begin(&server.session(), IsolationLevel::ReadCommitted);
        for account in 0..ACCOUNTS {
            server
                .table
                .set(&mut opening, &format!("a{account}"), "100")
                .unwrap();
        }
        opening.commit_blocking().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let readers: Vec<_> = [IsolationLevel::RepeatableRead, IsolationLevel::Serializable]
            .into_iter()
            .map(|isolation| {
                let (server, stop) = (server.clone(), stop.clone());
                std::thread::spawn(move || {
                    let session = server.session();
                    let mut looks = 0;
                    // At least once, however late this thread is scheduled.
                    while looks == 0 || !stop.load(Ordering::Relaxed) {
                        let mut reader = server.begin(&session, isolation);
                        let mut sum = 0;
                        let mut scan = match reader.scan(TEST_INDEX.range(), Direction::Forward) {
                            Ok(scan) => scan,
                            Err(error) if is_retryable(&error) => continue,
                            Err(error) => panic!("{error}"),
                        };
                        while let Some(entry) = scan.next().unwrap() {
                            sum += number(Some(&TestTable::value(entry.payload())));
                        }
                        assert_eq!(sum, TOTAL, "{isolation:?}");
                        looks += 1;
                        drop(reader);
                        // Leaves the processors to the writers.
                        std::thread::sleep(Duration::from_micros(300));
                    }
                    looks
                })
            })
            .collect();
        let writers: Vec<_> = (0..4)
            .map(|n| {
                let server = server.clone();
                std::thread::spawn(move || {
                    let mut rng = rand::rng();
                    let session = server.session();
                    let isolation = [
                        IsolationLevel::ReadCommitted,
                        IsolationLevel::RepeatableRead,
                        IsolationLevel::Serializable,
                        IsolationLevel::RepeatableRead,
                    ][n];
                    let mut done = 0;
                    while done < 60 {
                        let (from, to) = (rng.random_range(0..ACCOUNTS), rng.random_range(0..ACCOUNTS));
                        let amount = rng.random_range(1..50i64);
                        let mut transfer = server.begin(&session, isolation);
                        let moved = (|| {
                            transfer.begin_statement(None, 1)?;
                            if rng.random() {
                                // Takes the snapshot, so that 1020 can occur.
                                transfer.get(&TestTable::key("a0"))?;
                            }
                            let change =
                                |by: i64| move |text: Option<&str>| Some((number(text) + by).to_string());
                            server
                                .table
                                .change(&mut transfer, &format!("a{from}"), change(-amount))?;
                            server
                                .table
                                .change(&mut transfer, &format!("a{to}"), change(amount))?;
                            transfer.end_statement()
                        })();
                        match moved {
                            Ok(()) if rng.random_range(0..10) == 0 => transfer.rollback(),
                            Ok(()) => {
                                transfer.commit_blocking().unwrap();
                                done += 1;
                            }
                            Err(error) if is_retryable(&error) => drop(transfer),
                            Err(error) => panic!("{error}"),
                        }
                    }
                })
            })
            .collect();
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        stop.store(true, Ordering::Relaxed);
        let looks: Vec<u64> = readers.into_iter().map(|reader| reader.join().unwrap()).collect();
        assert!(looks.iter().all(|looks| *looks > 0), "{looks:?}");
        let sum: i64 = server.content().values().map(|value| number(Some(value))).sum();
        assert_eq!(sum, TOTAL, "{config:?}");
        assert_eq!(server.manager.status().pending_rows, 0);
        assert_eq!(server.manager.status().locked_keys, 0);
    }
}

/// Each transaction takes the next number and leaves a row under it. A reader sees all numbers up to some
/// number, never N+1 without N, and no session is notified of its commit before it can see it.
#[test]
fn transactions_become_visible_in_order() {
    for config in configs() {
        let server = Arc::new(TestServer::with_config(config.clone()));
        let stop = Arc::new(AtomicBool::new(false));
        let reader = {
            let (server, stop) = (server.clone(), stop.clone());
            std::thread::spawn(move || {
                let (mut highest, mut version) = (0, paceline_types::LogPosition::ZERO);
                while !stop.load(Ordering::Relaxed) {
                    let snapshot = server.manager.snapshot();
                    let mut cursor = snapshot.scan(TEST_INDEX.range(), Direction::Forward);
                    let mut rows = 0;
                    let mut counter = 0;
                    while let Some((key, value)) = cursor.next().unwrap() {
                        match &key[4..] {
                            b"counter" => counter = number(Some(&TestTable::value(&value[8..]))),
                            name => {
                                rows += 1;
                                assert_eq!(name, format!("n{rows:06}").as_bytes(), "a number is missing");
                            }
                        }
                    }
                    assert_eq!(counter, rows, "a transaction is half visible");
                    assert!(
                        rows >= highest && snapshot.position() >= version,
                        "time goes back"
                    );
                    (highest, version) = (rows, snapshot.position());
                }
                highest
            })
        };
        let last_version = Arc::new(AtomicU64::new(0));
        let writers: Vec<_> = (0..4)
            .map(|_| {
                let (server, last_version) = (server.clone(), last_version.clone());
                std::thread::spawn(move || {
                    let session = server.session();
                    for _ in 0..50 {
                        let mut writer = server.begin(&session, IsolationLevel::ReadCommitted);
                        writer.begin_statement(None, 1).unwrap();
                        let mut mine = 0;
                        server
                            .table
                            .change(&mut writer, "counter", |text| {
                                mine = number(text) + 1;
                                Some(mine.to_string())
                            })
                            .unwrap();
                        server
                            .table
                            .change(&mut writer, &format!("n{mine:06}"), |_| Some("x".into()))
                            .unwrap();
                        writer.end_statement().unwrap();
                        let outcome = writer.commit_blocking().unwrap();
                        let seen = server.manager.snapshot();
                        assert!(seen.position() >= outcome.version, "told before it is published");
                        assert!(
                            seen.get(&TestTable::key(&format!("n{mine:06}")))
                                .unwrap()
                                .is_some()
                        );
                        last_version.fetch_max(outcome.version.as_u64(), Ordering::Relaxed);
                    }
                })
            })
            .collect();
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        stop.store(true, Ordering::Relaxed);
        reader.join().unwrap();
        let content = server.content();
        assert_eq!(content["counter"], "200", "an update was lost under {config:?}");
        assert_eq!(content.len(), 201);
        assert!(server.manager.positions().published.as_u64() >= last_version.load(Ordering::Relaxed));
    }
}

/// No two transactions with the same commit id touch the same key (a replica may run them in parallel), and
/// GTIDs follow the log.
#[test]
fn a_commit_group_has_no_conflicts() {
    for config in super::all_modes() {
        let server = Arc::new(TestServer::with_config(config));
        let writers: Vec<_> = (0..6)
            .map(|_| {
                let server = server.clone();
                std::thread::spawn(move || {
                    let mut rng = rand::rng();
                    for _ in 0..40 {
                        server.set(&format!("k{}", rng.random_range(0..4)), "v").unwrap();
                    }
                })
            })
            .collect();
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        let mut groups: BTreeMap<u64, Vec<Vec<u8>>> = BTreeMap::new();
        let log = server.manager.log();
        let mut reader = log
            .reader(server.recovery.start, server.manager.positions().written)
            .unwrap();
        let mut sequence = 0;
        while let Some(group) = reader.next_group().unwrap() {
            let head = group.gtid_event().unwrap();
            sequence += 1;
            assert_eq!(head.gtid.sequence.0, sequence);
            let Some(commit_id) = head.commit_id else { continue };
            for event in group.decoded(reader.format()) {
                if let paceline_binlog::event::Event::Rows(rows) = event.unwrap() {
                    groups
                        .entry(commit_id.0)
                        .or_default()
                        .push(rows.rows[1..4].to_vec());
                }
            }
        }
        assert_eq!(sequence, 240);
        for keys in groups.values_mut() {
            let all = keys.len();
            keys.sort();
            keys.dedup();
            assert_eq!(keys.len(), all, "a key twice in one commit group");
        }
    }
}

/// Sessions are tasks of a runtime, as in the server: more of them than threads, waiting for each other's rows
/// and commits.
#[test]
fn tasks_of_a_runtime_do_not_starve_each_other() {
    for config in super::all_modes() {
        let server = Arc::new(TestServer::with_config(config));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(128)
            .enable_all()
            .build()
            .unwrap();
        let work = async {
            let tasks: Vec<_> = (0..64)
                .map(|n| {
                    let server = server.clone();
                    tokio::spawn(async move {
                        let session = server.session();
                        for round in 0..10 {
                            let mut writer = server.begin(&session, IsolationLevel::ReadCommitted);
                            writer.begin_statement(None, 1).unwrap();
                            let key = if round % 3 == 0 {
                                "hot".to_owned()
                            } else {
                                format!("k{n}")
                            };
                            server
                                .table
                                .change(&mut writer, &key, |text| Some((number(text) + 1).to_string()))
                                .unwrap();
                            writer.end_statement().unwrap();
                            writer.commit().await.unwrap();
                        }
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
        };
        runtime
            .block_on(async { tokio::time::timeout(Duration::from_secs(60), work).await })
            .unwrap();
        assert_eq!(server.get("hot").as_deref(), Some("256"));
    }
}
