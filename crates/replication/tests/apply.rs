//! Tests of the applier against a primary's log: in whatever order transactions are prepared, the replica's tables, log
//! and readers agree with the primary.

mod support;

use paceline_apply::replicated::{
    ExecMode, MappedTable, MappedTables, ReplicatedRows, RowOptions, SkippedErrors, TouchedKeys, touched_keys,
};
use paceline_binlog::EventGroup;
use paceline_binlog::event::{
    BlockKind, ChecksumAlgorithm, DeleteFileEvent, Event, EventBody, EventFlags, EventStamp,
    ExecuteLoadQueryEvent, FileBlockEvent, FormatDescription, GtidEvent, GtidFlags, IntvarEvent, IntvarKind,
    LoadDuplicates, QueryEvent, RawEvent, XidEvent, encode_event,
};
use paceline_replication::apply::{Applier, ApplierOptions, ApplierState, ParallelMode, SharedRowOptions};
use paceline_replication::received::{ReceivedGroup, ReceivedItem, SourcePosition};
use paceline_txn::{Config, SequenceSource, SyncBinlog};
use paceline_types::{Gtid, LogPosition, ServerId, Value};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use support::{TestServer, change, image, lock_row};

const ACCOUNTS: i64 = 12;
const TOTAL: i64 = ACCOUNTS * 1000;

fn primary() -> (tempfile::TempDir, TestServer) {
    let directory = tempfile::tempdir().unwrap();
    let server = TestServer::open(directory.path(), 1, background());
    (directory, server)
}

fn replica() -> (tempfile::TempDir, TestServer) {
    let directory = tempfile::tempdir().unwrap();
    let server = TestServer::open(directory.path(), 2, Config::default());
    (directory, server)
}

fn background() -> Config {
    Config {
        sync_binlog: SyncBinlog::Background,
        ..Config::default()
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

/// Pushes everything and waits until it is applied or an error has ended the applier.
async fn apply_all(applier: &Applier, received: Vec<ReceivedItem>) {
    for one in received {
        if applier.push(one).await.is_err() {
            break;
        }
    }
    let start = Instant::now();
    while applier.status().state == ApplierState::Applying {
        assert!(
            start.elapsed() < Duration::from_secs(120),
            "the applier does not get on: {:?}",
            applier.status()
        );
        // The pause of a loop that waits.
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

fn account(id: i64, balance: i64) -> Vec<Value> {
    vec![
        Value::Int(id),
        Value::Int(balance),
        Value::Text(format!("owner {id}")),
    ]
}

fn create_tables(server: &TestServer) {
    server.ddl("CREATE DATABASE test");
    server.ddl(
        "CREATE TABLE account (id INT PRIMARY KEY, balance INT NOT NULL, owner VARCHAR(40), KEY (balance))",
    );
    server
        .ddl("CREATE TABLE note (id INT PRIMARY KEY, tag INT, text VARCHAR(60) NOT NULL, UNIQUE KEY (tag))");
    server.ddl("CREATE TABLE keyless (a INT, b VARCHAR(20))");
    server.insert("account", (0..ACCOUNTS).map(|id| account(id, 1000)));
}

/// Executes one random transaction. Returns `false` if a lock was not granted.
fn one_transaction(server: &TestServer, rng: &mut StdRng, domain: u32) {
    let session = server.session();
    let mut transaction = server.begin(&session, domain);
    transaction
        .begin_statement(Some("random"), 1_700_000_001)
        .unwrap();
    transaction.begin_writing().unwrap();
    let done = (|| -> paceline_txn::Result<()> {
        match rng.random_range(0..10) {
            // A transfer: the sum of the balances does not change.
            0..5 => {
                let accounts = server.table("account");
                let (mut from, mut to) = (rng.random_range(0..ACCOUNTS), rng.random_range(0..ACCOUNTS));
                if from == to {
                    to = (to + 1) % ACCOUNTS;
                }
                if from > to {
                    std::mem::swap(&mut from, &mut to);
                }
                let amount = rng.random_range(-50..50);
                for (id, amount) in [(from, amount), (to, -amount)] {
                    let before = lock_row(&accounts, &mut transaction, id)?.expect("an account");
                    let mut row = accounts.schema().decode_row(&before).unwrap();
                    let Value::Int(balance) = row[1] else {
                        panic!("a number")
                    };
                    row[1] = Value::Int(balance + amount);
                    let after = image(&accounts, &row);
                    if after != before {
                        change(&accounts, &mut transaction, Some(&before), Some(&after));
                    }
                }
            }
            // Inserts, updates and deletes of notes; tags are unique or NULL.
            5..8 => {
                let notes = server.table("note");
                let id = rng.random_range(0..30);
                let tag = match rng.random_range(0..3) {
                    0 => Value::Null,
                    _ => Value::Int(id * 2 + rng.random_range(0..2)),
                };
                let row = vec![
                    Value::Int(id),
                    tag,
                    Value::Text(format!("text {}", rng.random::<u16>())),
                ];
                let after = image(&notes, &row);
                match lock_row(&notes, &mut transaction, id)? {
                    None => change(&notes, &mut transaction, None, Some(&after)),
                    Some(before) if rng.random_bool(0.4) => {
                        change(&notes, &mut transaction, Some(&before), None);
                    }
                    Some(before) if before != after => {
                        change(&notes, &mut transaction, Some(&before), Some(&after));
                    }
                    Some(_) => {}
                }
            }
            // Equal rows in a table without a key.
            _ => {
                let keyless = server.table("keyless");
                let row = vec![Value::Int(rng.random_range(0..4)), Value::Text("same".into())];
                let row = image(&keyless, &row);
                let found = keyless.schema().find_row(&row, &mut transaction).unwrap();
                match found {
                    Some(key) if rng.random_bool(0.6) => {
                        transaction.lock(
                            &key,
                            paceline_txn::LockMode::Exclusive,
                            paceline_txn::LockWait::Default,
                        )?;
                        if transaction.probe_newest(&key)?.is_some() {
                            change(&keyless, &mut transaction, Some(&row), None);
                        }
                    }
                    _ => change(&keyless, &mut transaction, None, Some(&row)),
                }
            }
        }
        Ok(())
    })();
    if done.is_ok() && transaction.end_statement().is_ok() {
        transaction.commit_blocking().unwrap();
    }
}

fn random_load(server: &TestServer, threads: u64, transactions: u64, seed: u64) {
    std::thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                let mut rng = StdRng::seed_from_u64(seed * 100 + thread);
                for _ in 0..transactions {
                    // Only one thread changes rows without a key: in this test the primary's sessions find and lock
                    // them in two steps.
                    one_transaction(server, &mut rng, 0);
                }
            });
        }
    });
}

fn assert_same(primary: &TestServer, replica: &TestServer) {
    for table in ["account", "note", "keyless"] {
        assert_eq!(primary.rows(table), replica.rows(table), "{table}");
        assert_eq!(primary.entries(table), replica.entries(table), "{table}");
    }
    assert_eq!(primary.manager.gtid_state(), replica.manager.gtid_state());
    assert_eq!(
        primary.manager.gtid_state().position(),
        replica.manager.replicated_position()
    );
}

/// Returns the tables of a group, as the replica has them.
fn tables_of(group: &EventGroup, format: &FormatDescription, server: &TestServer) -> MappedTables {
    let mut tables = MappedTables::new();
    for event in group.events() {
        if let Ok(Event::TableMap(map)) = event.decode(format) {
            let name = std::str::from_utf8(map.table).unwrap();
            let table = MappedTable::new(&map, server.table(name), &RowOptions::default()).unwrap();
            tables.push((map.table_id, Some(Arc::new(table))));
        }
    }
    tables
}

/// Checks the replica's log: the primary's order, all transactions marked, and no common key among transactions of one
/// commit id.
fn assert_log(server: &TestServer, from: LogPosition) {
    let (groups, _) = server.groups(from);
    let format = server.manager.log().reader(from, from).unwrap().format().clone();
    let mut last: Option<Gtid> = None;
    let mut commit_id = None;
    let mut keys: HashSet<u64> = HashSet::new();
    for group in groups {
        let head = group.gtid_event().unwrap();
        assert!(last.is_none_or(|last| last.sequence < head.gtid.sequence));
        last = Some(head.gtid);
        let first = group.events().next().unwrap();
        assert!(first.header().flags.contains(EventFlags::REPLICATED));
        if head.commit_id.is_none() || head.commit_id != commit_id {
            keys.clear();
        }
        commit_id = head.commit_id;
        let tables = tables_of(&group, &format, server);
        let rows = ReplicatedRows {
            group: &group,
            format: &format,
            tables: &tables,
        };
        let mut own = Vec::new();
        assert_eq!(touched_keys(&rows, &mut own).unwrap(), TouchedKeys::Listed);
        let own: HashSet<u64> = own.into_iter().collect();
        assert!(
            keys.is_disjoint(&own),
            "two transactions of one commit id touch the same key"
        );
        keys.extend(own);
    }
}

fn options(workers: usize, mode: ParallelMode) -> ApplierOptions {
    ApplierOptions {
        workers,
        mode,
        queued_bytes_max: 64 << 10,
        ..ApplierOptions::default()
    }
}

#[test]
fn every_way_of_applying_produces_the_primarys_tables() {
    let (_primary_directory, primary) = primary();
    create_tables(&primary);
    random_load(&primary, 4, 250, 1);
    primary.ddl("ALTER TABLE note ADD COLUMN extra INT NOT NULL DEFAULT 7");
    primary.ddl("ALTER TABLE note DROP COLUMN extra");
    random_load(&primary, 4, 250, 2);
    let runtime = runtime();
    for (workers, domain_workers, mode) in [
        (0, 0, ParallelMode::Optimistic),
        (1, 0, ParallelMode::Optimistic),
        (4, 0, ParallelMode::Optimistic),
        (4, 1, ParallelMode::Optimistic),
        (3, 2, ParallelMode::Conservative),
        (4, 0, ParallelMode::None),
    ] {
        let (_directory, replica) = replica();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            // A reader sees only states that the primary had.
            let reader = scope.spawn(|| {
                let mut looks = 0;
                while !is_over.load(Ordering::Acquire) {
                    if replica.catalog.load().table("test", "account").is_none() {
                        continue;
                    }
                    let rows = replica.rows("account");
                    let sum: i64 = rows
                        .iter()
                        .map(|row| match row[1] {
                            Value::Int(balance) => balance,
                            _ => panic!("a number"),
                        })
                        .sum();
                    assert!(
                        rows.is_empty() || sum == TOTAL,
                        "{} accounts have {sum}",
                        rows.len()
                    );
                    looks += 1;
                }
                looks
            });
            runtime.block_on(async {
                let applier = replica.applier(ApplierOptions {
                    domain_workers,
                    ..options(workers, mode)
                });
                apply_all(&applier, primary.received(primary.start)).await;
                let status = applier.status();
                assert!(status.error.is_none(), "{:?}", status.error);
                assert_eq!(status.pending_transactions, 0);
                assert_eq!(
                    status.last_gtid,
                    primary.manager.gtid_state().last(paceline_types::DomainId(0))
                );
                assert!(status.rounds > 1);
                applier.stop().await;
            });
            is_over.store(true, Ordering::Release);
            assert!(reader.join().unwrap() > 0);
        });
        assert_same(&primary, &replica);
        let (groups, _) = replica.groups(replica.start);
        let first_rows = groups
            .iter()
            .position(|group| group.event_count() > 3)
            .expect("rows");
        assert!(first_rows > 0);
        // After the last definition.
        let last_ddl = groups
            .iter()
            .rposition(|group| group.event_count() == 2)
            .expect("definitions");
        assert_log(&replica, groups[last_ddl].end());
        assert_eq!(replica.manager.status().locked_keys, 0);
    }
}

#[test]
fn domains_do_not_wait_for_each_other_and_keep_their_order() {
    let (_primary_directory, primary) = primary();
    create_tables(&primary);
    let notes = primary.table("note");
    for number in 0..300i64 {
        let domain = (number % 3) as u32;
        primary.transaction(domain, |transaction| {
            let row = vec![Value::Int(number), Value::Null, Value::Text("x".into())];
            change(&notes, transaction, None, Some(&image(&notes, &row)));
        });
    }
    let (_directory, replica) = replica();
    runtime().block_on(async {
        let applier = replica.applier(options(2, ParallelMode::Optimistic));
        // The statements that create the tables come first, in domain 0.
        let mut received = primary.received(primary.start);
        let rows = received.split_off(5);
        apply_all(&applier, received).await;
        apply_all(&applier, rows).await;
        assert!(applier.status().error.is_none(), "{:?}", applier.status().error);
        applier.stop().await;
    });
    assert_same(&primary, &replica);
}

fn note(id: i64, text: &str) -> Vec<Value> {
    vec![Value::Int(id), Value::Null, Value::Text(text.into())]
}

#[test]
fn an_error_stops_after_whole_transactions_and_a_repair_lets_it_continue() {
    let (_primary_directory, primary) = primary();
    create_tables(&primary);
    let (_directory, replica) = replica();
    let runtime = runtime();
    runtime.block_on(async {
        let applier = replica.applier(options(4, ParallelMode::Optimistic));
        apply_all(&applier, primary.received(primary.start)).await;
        assert!(applier.status().error.is_none(), "{:?}", applier.status().error);
        applier.stop().await;
    });
    let from = primary.manager.positions().published;
    for id in 0..50 {
        primary.insert("note", [note(id, "from the primary")]);
    }
    // A local session has written on the replica.
    let in_the_way = image(&replica.table("note"), &note(25, "local"));
    replica.transaction(9, |transaction| {
        change(&replica.table("note"), transaction, None, Some(&in_the_way));
    });
    let (groups, _) = primary.groups(from);
    runtime.block_on(async {
        let applier = replica.applier(options(4, ParallelMode::Optimistic));
        apply_all(&applier, primary.received(from)).await;
        let status = applier.status();
        let error = status.error.expect("an error");
        assert_eq!(error.code.number(), 1062);
        assert_eq!(error.gtid, Some(groups[25].gtid()));
        let end = groups[25].events().nth(3).unwrap().header().end_position;
        assert_eq!(
            error.text,
            format!(
                "Could not execute Write_rows_v1 event on table test.note; Duplicate entry '25' for key 'PRIMARY', Error_code: 1062; handler \
                 error HA_ERR_FOUND_DUPP_KEY; the event's master log primary-bin.000001, end_log_pos {end}"
            )
        );
        assert_eq!(status.last_gtid, Some(groups[24].gtid()));
        applier.stop().await;
    });
    let position = replica.manager.replicated_position();
    assert_eq!(position.to_string(), groups[24].gtid().to_string());
    assert_eq!(replica.rows("note").len(), 26, "25 of the primary's and ours");
    assert_eq!(replica.manager.status().locked_keys, 0);

    replica.transaction(9, |transaction| {
        change(&replica.table("note"), transaction, Some(&in_the_way), None);
    });
    runtime.block_on(async {
        let applier = replica.applier(options(4, ParallelMode::Optimistic));
        apply_all(&applier, primary.received(groups[24].end())).await;
        assert!(applier.status().error.is_none(), "{:?}", applier.status().error);
        applier.stop().await;
    });
    assert_eq!(primary.rows("note"), replica.rows("note"));
    assert_eq!(
        replica.manager.replicated_position(),
        primary.manager.gtid_state().position()
    );
}

#[test]
fn missing_rows_are_reported_ignored_or_skipped() {
    let (_primary_directory, primary) = primary();
    create_tables(&primary);
    primary.insert("note", [note(1, "a"), note(2, "b")]);
    let base = primary.manager.positions().published;
    let notes = primary.table("note");
    primary.transaction(0, |transaction| {
        let (before, after) = (image(&notes, &note(1, "a")), image(&notes, &note(1, "c")));
        change(&notes, transaction, Some(&before), Some(&after));
    });
    primary.insert("note", [note(3, "d")]);
    let runtime = runtime();
    let cases = [
        (RowOptions::default(), Some("HA_ERR_RECORD_CHANGED")),
        (
            RowOptions {
                exec_mode: ExecMode::Idempotent,
                ..RowOptions::default()
            },
            None,
        ),
        (
            RowOptions {
                skipped_errors: SkippedErrors::All,
                ..RowOptions::default()
            },
            None,
        ),
    ];
    for (rows, expected) in cases {
        let (_directory, replica) = replica();
        runtime.block_on(async {
            let applier = replica.applier(options(2, ParallelMode::Optimistic));
            let received = primary
                .received(primary.start)
                .into_iter()
                .filter(|one| matches!(one, ReceivedItem::Group(group) if group.group.end() <= base));
            apply_all(&applier, received.collect()).await;
            applier.stop().await;
            // The replica has diverged.
            replica.transaction(9, |transaction| {
                let table = replica.table("note");
                let (before, after) = (image(&table, &note(1, "a")), image(&table, &note(1, "other")));
                change(&table, transaction, Some(&before), Some(&after));
            });
            let idempotent = rows.exec_mode == ExecMode::Idempotent;
            let applier = replica.applier(ApplierOptions {
                rows: Arc::new(SharedRowOptions::new(rows)),
                ..options(2, ParallelMode::Optimistic)
            });
            apply_all(&applier, primary.received(base)).await;
            let status = applier.status();
            match expected {
                Some(handler_error) => {
                    let error = status.error.expect("an error");
                    assert_eq!(error.code.number(), 1032);
                    assert!(error.text.contains(handler_error), "{}", error.text);
                    assert_eq!(replica.rows("note").len(), 2);
                }
                None => {
                    assert!(status.error.is_none(), "{:?}", status.error);
                    let texts: Vec<String> = replica
                        .rows("note")
                        .iter()
                        .map(|row| format!("{:?}", row[2]))
                        .collect();
                    let first = if idempotent { "c" } else { "other" };
                    assert!(texts[0].contains(first), "{texts:?}");
                    assert_eq!(texts.len(), 3);
                }
            }
            applier.stop().await;
        });
    }
}

#[test]
fn positions_move_without_transactions() {
    let (_directory, replica) = replica();
    runtime().block_on(async {
        let applier = replica.applier(options(0, ParallelMode::Optimistic));
        let end = |offset| paceline_replication::received::SourcePosition {
            file: "primary-bin.000001".into(),
            offset,
        };
        let passed = |gtid: &str, offset| ReceivedItem::Passed {
            gtid: gtid.parse().unwrap(),
            source_end: end(offset),
            executed: None,
            numbers: SequenceSource::Primary,
            skipped: None,
        };
        apply_all(
            &applier,
            vec![
                ReceivedItem::Position(end(4)),
                passed("0-1-7", 100),
                passed("0-1-8", 200),
                passed("3-1-1", 300),
            ],
        )
        .await;
        let status = applier.status();
        assert_eq!(status.position, Some(end(300)));
        assert_eq!(status.last_gtid, Some("3-1-1".parse().unwrap()));
        applier.stop().await;
    });
    assert_eq!(replica.manager.replicated_position().to_string(), "0-1-8,3-1-1");
}

/// Returns a transaction of these events.
fn transaction_of(number: u64, bodies: &[&dyn EventBody]) -> ReceivedItem {
    let gtid = GtidEvent::new(format!("0-1-{number}").parse().unwrap(), GtidFlags::TRANSACTIONAL);
    let mut group: Option<EventGroup> = None;
    for body in std::iter::once(&gtid as &dyn EventBody).chain(bodies.iter().copied()) {
        let stamp = EventStamp {
            timestamp: 1,
            server_id: ServerId(1),
            flags: EventFlags::NONE,
        };
        let mut bytes = Vec::new();
        encode_event(&mut bytes, &stamp, 0, body);
        let event = RawEvent::new(&bytes, ChecksumAlgorithm::Crc32).unwrap();
        match &mut group {
            Some(group) => group.push(&event),
            None => group = Some(EventGroup::begin(LogPosition::ZERO, &event).unwrap()),
        }
    }
    ReceivedItem::Group(ReceivedGroup {
        group: group.unwrap(),
        format: Arc::new(FormatDescription::new("10.11.0-MariaDB", 0)),
        source_end: SourcePosition {
            file: "primary-bin.000001".into(),
            offset: number * 1000,
        },
        received_at: Instant::now(),
        executed: None,
        numbers: SequenceSource::Primary,
    })
}

#[test]
fn load_data_reads_the_file_of_its_own_transaction() {
    let block = |kind, file_id, bytes| FileBlockEvent { kind, file_id, bytes };
    let (first, next) = (BlockKind::First, BlockKind::Next);
    let load = |file_id, duplicates| ExecuteLoadQueryEvent {
        query: QueryEvent::new(b"d", b"LOAD DATA LOCAL INFILE '/primary' IGNORE INTO TABLE `t`"),
        file_id,
        file_start: 9,
        file_end: 45,
        duplicates,
    };
    let insert_id = |value| IntvarEvent {
        kind: IntvarKind::InsertId,
        value,
    };
    let (plain, xid) = (LoadDuplicates::Error, XidEvent { xid: 1 });
    let whole = transaction_of(
        1,
        &[
            &insert_id(7),
            &block(first, 3, b"a "),
            &block(next, 3, b"b"),
            &block(first, 4, b"c"),
            &load(4, LoadDuplicates::Replace),
            &insert_id(8),
            &load(3, LoadDuplicates::Ignore),
            &insert_id(9),
            &block(first, 5, b"given up"),
            &DeleteFileEvent { file_id: 5 },
            &block(first, 6, b""),
            &load(6, plain),
            &xid,
        ],
    );
    let (_directory, replica) = replica();
    let runtime = runtime();
    let stopped_by = |received| {
        runtime.block_on(async {
            let applier = replica.applier(options(2, ParallelMode::Optimistic));
            apply_all(&applier, vec![received]).await;
            let error = applier.status().error;
            applier.stop().await;
            error.map(|error| (error.code.number(), error.text))
        })
    };
    assert_eq!(stopped_by(whole), None);
    let loads: Vec<_> = std::mem::take(&mut *replica.loads.lock().unwrap());
    let expected = [
        ("LOAD DATA INFILE 'x' REPLACE INTO TABLE `t` [(InsertId, 7)]", "c"),
        (
            "LOAD DATA INFILE 'x' IGNORE INTO TABLE `t` [(InsertId, 8)]",
            "a b",
        ),
        ("LOAD DATA INFILE 'x' INTO TABLE `t` []", ""),
    ];
    let expected = expected.map(|(text, file)| (text.to_owned(), file.as_bytes().to_vec()));
    assert_eq!(loads, expected);

    // Missing files: that of another transaction, a dropped one, one that has been read, and one without a first block.
    for (number, bodies) in [
        (2, &[&load(3, plain) as &dyn EventBody, &xid][..]),
        (
            3,
            &[
                &block(first, 5, b"x"),
                &DeleteFileEvent { file_id: 5 },
                &load(5, plain),
                &xid,
            ],
        ),
        (4, &[&block(next, 5, b"x"), &xid]),
    ] {
        let (code, text) = stopped_by(transaction_of(number, bodies)).expect("an error");
        assert_eq!(code, 1593, "{text}");
        assert!(text.contains("which does not begin in its transaction"), "{text}");
    }
    assert!(replica.loads.lock().unwrap().is_empty());
}
