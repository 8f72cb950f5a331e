//! Kills a server without SQL at random moments under load, and recovers it. Every acknowledged transaction must exist,
//! none may exist in part, and a replay of the whole log into new tables must produce the same keys, values and
//! versions.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use paceline_apply::{DdlEffect, Definitions, LoggedDdl, RecoveryReport, ReplayTable, recover};
use paceline_binlog::event::{EventFlags, QueryEvent, StatusVar};
use paceline_binlog::log::{OpenRequest, RealDisk};
use paceline_binlog::{Log, LogConfig, LoggedTable};
use paceline_catalog::{
    AutoIncrement, ColumnDefault, ColumnDefinition, IndexDefinition, IndexKind, IndexPart, TableDefinition,
    TableDescription, TableEngine,
};
use paceline_storage::{
    BuildId, Direction, IndexId, InputOrder, KeyRange, Row, Storage, StorageConfig, VERSION_LENGTH, WriteSet,
};
use paceline_txn::{
    Config, DdlCommit, GtidChoice, Interrupt, LockMode, LockWait, ManagerParts, Replication, RowChange,
    Transaction, TransactionManager, TransactionOptions,
};
use paceline_types::table_map_metadata::RowMetadata;
use paceline_types::{
    Collation, DataType, DomainId, IntegerType, IntegerWidth, LogPosition, ServerId, Sign, Value, Version,
};

const DIRECTORY: &str = "PACELINE_RECOVERY_TEST_DIRECTORY";
const THREADS: u64 = 4;
/// Rows in `keyed` that each thread has for itself, in addition to its counter.
const ROWS: u64 = 30;

/// Three tables: with a primary key and indexes, without a primary key, and in memory.
struct Tables {
    keyed: TableDefinition,
    keyless: TableDefinition,
    memory: TableDefinition,
}

fn tables() -> Tables {
    let int = DataType::Integer(IntegerType {
        width: IntegerWidth::Big,
        sign: Sign::Signed,
        zerofill: false,
        display_width: 20,
    });
    let text = DataType::VarChar {
        length: 200,
        collation: Collation::Utf8mb4GeneralCi,
    };
    let column = |name: &str, data_type: &DataType| ColumnDefinition {
        name: name.into(),
        data_type: data_type.clone(),
        nullable: false,
        default: ColumnDefault::None,
        on_update: None,
        auto_increment: false,
        invisible: false,
        compressed: false,
        comment: String::new(),
        check: None,
        generated: None,
    };
    let index = |id, name: &str, kind, column| IndexDefinition {
        hashed: false,
        id,
        name: name.into(),
        kind,
        parts: vec![IndexPart {
            column,
            prefix_length: None,
            descending: false,
        }],
        algorithm: None,
        comment: String::new(),
        ignored: false,
        generated: false,
    };
    let table = |name: &str, id: u32, engine, indexes| {
        let description = TableDescription {
            database: "test".into(),
            name: name.into(),
            id,
            temporary: false,
            sequence: false,
            engine,
            collation: Collation::Utf8mb4GeneralCi,
            columns: vec![column("id", &int), column("k", &int), column("c", &text)],
            indexes,
            hidden: [id + 8, id + 9],
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            auto_increment_start: 1,
            comment: String::new(),
            row_format: None,
            options: Vec::new(),
            created_seconds: 0,
            earlier_rows: Vec::new(),
        };
        TableDefinition::new(description, Version::ZERO, Arc::new(AutoIncrement::default())).unwrap()
    };
    let keys = |first: u32| {
        vec![
            index(first, "PRIMARY", IndexKind::Primary, 0),
            index(first + 1, "k", IndexKind::Plain, 1),
        ]
    };
    const MEMORY: u32 = 1 << 31;
    Tables {
        keyed: table("keyed", 1100, TableEngine::InnoDb, keys(1100)),
        keyless: table(
            "keyless",
            1200,
            TableEngine::InnoDb,
            vec![index(1201, "k", IndexKind::Plain, 1)],
        ),
        memory: table("memory", MEMORY | 1300, TableEngine::Memory, keys(MEMORY | 1300)),
    }
}

fn logged(table: &TableDefinition) -> &LoggedTable {
    table.logged(RowMetadata::NoLog)
}

fn image(table: &TableDefinition, id: u64, k: u64, c: &str) -> Vec<u8> {
    let mut image = Vec::new();
    let values = [Value::Int(id as i64), Value::Int(k as i64), Value::Text(c.into())];
    table.schema().encode_row(&values, &mut image).unwrap();
    image
}

/// Simulates DDL that builds an index: `REBUILD n` fills index 1500 with the keys 0 to n.
const REBUILT: IndexId = IndexId::new(1500);

fn rebuild(storage: &Storage, n: u64) -> BuildId {
    let build = storage.begin_build(BuildId(n)).unwrap();
    let mut index = build.index(InputOrder::Sorted);
    for number in 0..=n {
        let key = [&REBUILT.to_be_bytes()[..], &number.to_be_bytes()].concat();
        index.put(&key, &n.to_be_bytes()).unwrap();
    }
    index.finish().unwrap();
    build.finish().unwrap()
}

impl Definitions for Tables {
    fn table(&self, database: &str, table: &str) -> Option<ReplayTable> {
        assert_eq!(database, "test");
        let all = [&self.keyed, &self.keyless, &self.memory];
        let found = all.into_iter().find(|definition| definition.name() == table)?;
        Some(ReplayTable {
            schema: Arc::clone(found.schema()),
            defined_at: found.version(),
        })
    }

    fn replay_ddl(
        &mut self,
        ddl: &LoggedDdl<'_>,
        storage: &Arc<Storage>,
    ) -> Result<DdlEffect, Box<dyn std::error::Error + Send + Sync>> {
        let statement = std::str::from_utf8(&ddl.query.sql)?;
        let n = statement
            .strip_prefix("REBUILD ")
            .ok_or("unknown statement")?
            .parse()?;
        let id = BuildId(ddl.query.xid().ok_or("no Q_XID")?);
        if !storage.builds()?.contains(&id) {
            rebuild(storage, n);
        }
        let mut writes = WriteSet::new();
        writes.delete_range(REBUILT.range());
        Ok(DdlEffect {
            writes,
            builds: vec![id],
            publish: Box::new(|_| Ok(())),
        })
    }
}

/// Opens a data directory as a server does.
fn open(directory: &Path) -> (TransactionManager, RecoveryReport) {
    let (log, storage, state, report) = recover_in(directory, "tables");
    let config = Config {
        checkpoint_log_bytes: 1 << 20,
        ..Config::default()
    };
    (
        TransactionManager::open(ManagerParts {
            config,
            ..ManagerParts::new(log, state, storage)
        }),
        report,
    )
}

fn recover_in(
    directory: &Path,
    tables_in: &str,
) -> (Log, Arc<Storage>, paceline_binlog::GtidState, RecoveryReport) {
    let mut config = StorageConfig::new(directory.join(tables_in));
    config.rocksdb.memtable_bytes = 1 << 20;
    let storage = Arc::new(Storage::open(&config).unwrap());
    let mut log_config = LogConfig::new(directory.join("log"), "bin", ServerId(1));
    log_config.prepare_step = 256 << 10;
    log_config.file_size_max = 2 << 20;
    std::fs::create_dir_all(directory.join("log")).unwrap();
    let request = OpenRequest {
        engine_position: storage.position(),
        ..OpenRequest::new(1)
    };
    let (log, recovery) = Log::open(Arc::new(RealDisk), log_config, request).unwrap();
    let report = recover(&log, &storage, &mut tables()).unwrap();
    (log, storage, recovery.state, report)
}

/// One change in a transaction of a thread.
enum Change {
    /// In `keyed`: new values k and c for this row, or its deletion.
    Keyed(u64, Option<(u64, String)>),
    /// In `keyless`: adds a row with this k.
    Add(u64),
    /// In `keyless`: removes a row with this k, if one exists.
    Remove(u64),
}

fn changes(thread: u64, n: u64) -> Vec<Change> {
    let mut random = (thread << 40 | n).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = |below: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random >> 20) % below
    };
    let mut changes = Vec::new();
    for _ in 0..1 + next(4) {
        let row = next(ROWS);
        let value = (next(4) > 0).then(|| (next(5), format!("{n}{}", "x".repeat(next(100) as usize))));
        changes.push(Change::Keyed(row, value));
        match next(3) {
            0 => changes.push(Change::Remove(next(3))),
            _ => changes.push(Change::Add(next(3))),
        }
    }
    changes
}

/// Expected rows of a thread after `n` transactions: id → (k, c), and the number of copies of each row without a key.
type Model = (BTreeMap<u64, (u64, String)>, BTreeMap<u64, u64>);

fn model(thread: u64, n: u64) -> Model {
    let mut model = Model::default();
    for n in 1..=n {
        for change in changes(thread, n) {
            match change {
                Change::Keyed(row, Some(value)) => drop(model.0.insert(row, value)),
                Change::Keyed(row, None) => drop(model.0.remove(&row)),
                Change::Add(k) => *model.1.entry(k).or_default() += 1,
                Change::Remove(k) => {
                    let count = model.1.entry(k).or_default();
                    *count = count.saturating_sub(1);
                }
            }
        }
    }
    model.1.retain(|_, count| *count > 0);
    model
}

fn keyed_id(thread: u64, row: u64) -> u64 {
    thread * 1000 + row
}

/// Returns the id of the row that counts a thread's transactions.
fn counter_id(thread: u64) -> u64 {
    thread * 1000 + 999
}

fn write_keyed(transaction: &mut Transaction, table: &TableDefinition, id: u64, row: Option<(u64, &str)>) {
    let schema = table.schema();
    let mut key = Vec::new();
    schema.append_row_key(&image(table, id, 0, ""), &mut key).unwrap();
    transaction
        .lock(&key, LockMode::Exclusive, LockWait::Default)
        .unwrap();
    let before = transaction
        .get_newest(&key)
        .unwrap()
        .map(|row| row.payload().to_vec());
    let after = row.map(|(k, c)| image(table, id, k, c));
    let change = match (&before, &after) {
        (None, None) => return,
        (None, Some(after)) => RowChange::Insert { after },
        (Some(before), Some(after)) => RowChange::Update { before, after },
        (Some(before), None) => RowChange::Delete { before },
    };
    let stored = before.as_deref().map(|image| Row {
        image,
        key: Some(&key),
    });
    schema
        .row_change(stored, after.as_deref(), transaction.write_set_mut().unwrap())
        .unwrap();
    transaction.log_row(logged(table), change).unwrap();
}

fn run_transaction(
    manager: &TransactionManager,
    session: &paceline_txn::Session,
    tables: &Tables,
    thread: u64,
    n: u64,
) {
    let mut transaction = manager.begin(session, TransactionOptions::default());
    transaction.begin_statement(Some("change things"), 7).unwrap();
    transaction.begin_writing().unwrap();
    for change in changes(thread, n) {
        match change {
            Change::Keyed(row, value) => {
                let value = value.as_ref().map(|(k, c)| (*k, c.as_str()));
                write_keyed(&mut transaction, &tables.keyed, keyed_id(thread, row), value);
            }
            Change::Add(k) => {
                let after = image(&tables.keyless, thread, k, "");
                let schema = tables.keyless.schema();
                schema
                    .row_change(None, Some(&after), transaction.write_set_mut().unwrap())
                    .unwrap();
                transaction
                    .log_row(logged(&tables.keyless), RowChange::Insert { after: &after })
                    .unwrap();
            }
            Change::Remove(k) => {
                let before = image(&tables.keyless, thread, k, "");
                let schema = tables.keyless.schema();
                if let Some(key) = schema.find_row(&before, &mut transaction).unwrap() {
                    let row = Row {
                        image: &before,
                        key: Some(&key),
                    };
                    schema
                        .row_change(Some(row), None, transaction.write_set_mut().unwrap())
                        .unwrap();
                    transaction
                        .log_row(logged(&tables.keyless), RowChange::Delete { before: &before })
                        .unwrap();
                }
            }
        }
    }
    write_keyed(&mut transaction, &tables.keyed, counter_id(thread), Some((n, "")));
    write_keyed(
        &mut transaction,
        &tables.memory,
        counter_id(thread),
        Some((n, "")),
    );
    transaction.end_statement().unwrap();
    transaction.commit_blocking().unwrap();
}

fn run_rebuild(manager: &TransactionManager, session: &paceline_txn::Session, n: u64) {
    let build = rebuild(manager.storage(), n);
    let sql = format!("REBUILD {n}");
    let mut query = QueryEvent::new(b"test", sql.as_bytes());
    query.status_vars = vec![StatusVar::Xid(build.0)];
    let mut writes = WriteSet::new();
    writes.delete_range(REBUILT.range());
    let ddl = DdlCommit {
        query: &query,
        event_flags: EventFlags::NONE,
        timestamp_seconds: 7,
        writes,
        builds: vec![build],
        on_publish: None,
        gtid: GtidChoice::Next {
            domain_id: DomainId(0),
            server_id: ServerId(1),
        },
        replication: Replication::Replicated,
        metadata_lock_timeout: Duration::from_secs(10),
    };
    manager.commit_ddl(session, ddl).wait_blocking().unwrap();
}

fn counter(storage: &Storage, table: &TableDefinition, thread: u64) -> u64 {
    let mut key = Vec::new();
    table
        .schema()
        .append_row_key(&image(table, counter_id(thread), 0, ""), &mut key)
        .unwrap();
    let Some(value) = storage.get_newest(&key).unwrap() else {
        return 0;
    };
    match table.schema().decode_row(value.payload()).unwrap()[1] {
        Value::Int(n) => n as u64,
        ref other => panic!("{other:?}"),
    }
}

/// The child process: recovers, then continues until it is killed. Prints what is acknowledged.
#[test]
#[ignore = "the child process of a_killed_server_loses_nothing_acknowledged"]
fn child() {
    let Some(directory) = std::env::var_os(DIRECTORY) else {
        return;
    };
    let (manager, _) = open(Path::new(&directory));
    let tables = tables();
    println!("ready");
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (manager, tables) = (&manager, &tables);
            scope.spawn(move || {
                let session = manager.session(Interrupt::new());
                let mut n = counter(manager.storage(), &tables.keyed, thread);
                loop {
                    n += 1;
                    run_transaction(manager, &session, tables, thread, n);
                    writeln!(std::io::stdout().lock(), "ack {thread} {n}").unwrap();
                }
            });
        }
        scope.spawn(|| {
            let session = manager.session(Interrupt::new());
            let mut n = rebuilt(manager.storage());
            loop {
                n += 1;
                run_rebuild(&manager, &session, n);
                writeln!(std::io::stdout().lock(), "ack {THREADS} {n}").unwrap();
                // The pause between two rebuilds.
                std::thread::sleep(Duration::from_millis(20));
            }
        });
    });
}

/// Returns the number of the last rebuild. Its index must be complete.
fn rebuilt(storage: &Storage) -> u64 {
    let entries = dump(storage, &REBUILT.range());
    let Some((_, first)) = entries.first() else {
        return 0;
    };
    assert!(
        entries.iter().all(|(_, value)| value == first),
        "parts of two builds"
    );
    let n = u64::from_be_bytes(first[..8].try_into().unwrap());
    assert_eq!(entries.len() as u64, n + 1, "a part of a build");
    n
}

fn dump(storage: &Storage, range: &KeyRange) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut entries = Vec::new();
    let mut cursor = storage.scan_newest(range.clone(), Direction::Forward);
    while let Some((key, value)) = cursor.next().unwrap() {
        entries.push((key.to_vec(), value.to_vec()));
    }
    entries
}

/// Returns the range of all keys of users' tables on disk.
fn everything() -> KeyRange {
    KeyRange::new(IndexId::new(IndexId::FIRST_USER).to_be_bytes(), [0x80, 0, 0, 0])
}

fn rows_of(storage: &Storage, table: &TableDefinition) -> Vec<(u64, u64, String)> {
    let rows = dump(storage, &table.schema().rows_range());
    rows.iter()
        .map(
            |(_, value)| match &table.schema().decode_row(&value[VERSION_LENGTH..]).unwrap()[..] {
                [Value::Int(id), Value::Int(k), Value::Text(c)] => (*id as u64, *k as u64, c.clone()),
                other => panic!("{other:?}"),
            },
        )
        .collect()
}

fn check(storage: &Storage, acknowledged: &[u64]) {
    let tables = tables();
    let keyed = rows_of(storage, &tables.keyed);
    let keyless = rows_of(storage, &tables.keyless);
    for thread in 0..THREADS {
        let n = counter(storage, &tables.keyed, thread);
        assert!(
            n >= acknowledged[thread as usize],
            "thread {thread} is at {n} of {acknowledged:?}"
        );
        let mut found = Model::default();
        for (id, k, c) in &keyed {
            if id / 1000 == thread && *id != counter_id(thread) {
                found.0.insert(id % 1000, (*k, c.clone()));
            }
        }
        for (id, k, _) in &keyless {
            if *id == thread {
                *found.1.entry(*k).or_default() += 1;
            }
        }
        assert_eq!(found, model(thread, n), "thread {thread} after {n} transactions");
        assert_eq!(
            counter(storage, &tables.memory, thread),
            0,
            "a MEMORY table is empty after a restart"
        );
    }
    let rebuilt = rebuilt(storage);
    assert!(
        rebuilt >= acknowledged[THREADS as usize],
        "rebuild {rebuilt} of {acknowledged:?}"
    );
}

#[test]
fn a_killed_server_loses_nothing_acknowledged() {
    let directory = tempfile::tempdir().unwrap();
    let mut acknowledged = vec![0u64; THREADS as usize + 1];
    let mut replayed = 0;
    for round in 0..6 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child", "--ignored", "--nocapture"])
            .env(DIRECTORY, directory.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let reader = std::thread::spawn(move || {
            let mut last = vec![0; THREADS as usize + 1];
            // A line that is cut off was not acknowledged to anyone.
            for line in lines.map_while(Result::ok) {
                let mut words = line.split(' ');
                if let (Some("ack"), Some(thread), Some(n), None) =
                    (words.next(), words.next(), words.next(), words.next())
                    && let (Ok(thread), Ok(n)) = (thread.parse::<usize>(), n.parse::<u64>())
                {
                    last[thread] = n;
                }
            }
            last
        });
        // Kills it at a random moment.
        std::thread::sleep(Duration::from_millis(rand::random_range(100..1500)));
        child.kill().unwrap();
        child.wait().unwrap();
        let last = reader.join().unwrap();
        for (thread, n) in last.into_iter().enumerate() {
            acknowledged[thread] = acknowledged[thread].max(n);
        }
        // This recovery is not followed by a normal close: the next one must continue.
        let (log, storage, _, report) = recover_in(directory.path(), "tables");
        println!("round {round}: {report:?}");
        replayed += report.groups;
        assert_eq!(report.to, log.written());
        check(&storage, &acknowledged);
        assert!(storage.builds().unwrap().is_empty());
        drop((log, storage));
    }
    assert!(acknowledged.iter().all(|n| *n > 0), "{acknowledged:?}");
    assert!(replayed > 0, "the kills left something to recover");

    // The log alone must produce the same tables.
    let (log, storage, _, _) = recover_in(directory.path(), "tables");
    drop(log);
    let (_other_log, fresh, _, report) = recover_in(directory.path(), "fresh-tables");
    assert_eq!(report.from, LogPosition::ZERO);
    let (old, new) = (dump(&storage, &everything()), dump(&fresh, &everything()));
    assert!(
        old == new,
        "{} entries in the tables, {} in those replayed from the log",
        old.len(),
        new.len()
    );
}
