//! A copy of the tables and the log after it must produce the server's present state: rows, DDL with builds that the
//! copy does not have, MEMORY tables. The same code recovers and restores.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use paceline_apply::{CatalogDefinitions, RecoveryReport, empty_memory_tables, recover};
use paceline_binlog::event::{EventFlags, QueryEvent, StatusVar};
use paceline_binlog::log::{OpenRequest, RealDisk};
use paceline_binlog::{GtidState, Log, LogConfig};
use paceline_catalog::ddl::{ReplayHost, replay_ddl};
use paceline_catalog::{Catalog, CatalogChange, CatalogHandle};
use paceline_expression::session::SessionContext;
use paceline_storage::{BuildId, Direction, IndexId, KeyRange, Storage, StorageConfig};
use paceline_syntax::AccountStatement;
use paceline_txn::{
    DdlCommit, GtidChoice, Interrupt, ManagerParts, Replication, RowChange, TransactionManager,
    TransactionOptions,
};
use paceline_types::table_map_metadata::RowMetadata;
use paceline_types::{DomainId, LogPosition, ServerId, Value};

struct NoAccounts;

impl ReplayHost for NoAccounts {
    fn replay_accounts(
        &self,
        _: &AccountStatement,
        _: &Catalog,
        _: &SessionContext,
    ) -> paceline_syntax::Result<Vec<CatalogChange>> {
        Err(paceline_syntax::Error::unsupported("accounts"))
    }
}

const GTID: GtidChoice = GtidChoice::Next {
    domain_id: DomainId(0),
    server_id: ServerId(1),
};

struct Recovered {
    log: Log,
    state: GtidState,
    storage: Arc<Storage>,
    catalog: Arc<CatalogHandle>,
    report: RecoveryReport,
}

fn recovered(tables: &Path, log: &Path) -> Recovered {
    let storage = Arc::new(Storage::open(&StorageConfig::new(tables)).unwrap());
    std::fs::create_dir_all(log).unwrap();
    let mut config = LogConfig::new(log, "bin", ServerId(1));
    config.prepare_step = 256 << 10;
    let request = OpenRequest {
        engine_position: storage.position(),
        ..OpenRequest::new(1)
    };
    let (log, recovery) = Log::open(Arc::new(RealDisk), config, request).unwrap();
    let catalog = Arc::new(CatalogHandle::new(Catalog::load(&storage.snapshot()).unwrap()));
    let mut definitions = CatalogDefinitions::new(Arc::clone(&catalog), &NoAccounts);
    let report = recover(&log, &storage, &mut definitions).unwrap();
    Recovered {
        log,
        state: recovery.state,
        storage,
        catalog,
        report,
    }
}

struct Server {
    manager: TransactionManager,
    catalog: Arc<CatalogHandle>,
    report: RecoveryReport,
}

impl Server {
    fn open(directory: &Path) -> Self {
        let Recovered {
            log,
            state,
            storage,
            catalog,
            report,
        } = recovered(&directory.join("tables"), &directory.join("log"));
        let manager = TransactionManager::open(ManagerParts::new(log, state, storage));
        Server {
            manager,
            catalog,
            report,
        }
    }

    fn ddl(&self, sql: &str) {
        let session = self.manager.session(Interrupt::new());
        let first_id = self.catalog.load().next_id();
        let mut query = QueryEvent::new(b"test", sql.as_bytes());
        query.status_vars = vec![StatusVar::SqlMode(0), StatusVar::Xid(u64::from(first_id))];
        let plan = replay_ddl(
            &self.catalog,
            self.manager.storage(),
            &self.manager.mark_state(),
            &query,
            1_700_000_000,
            ServerId(1),
            &NoAccounts,
        )
        .unwrap();
        let (changes, catalog) = (plan.changes, Arc::clone(&self.catalog));
        let ddl = DdlCommit {
            query: &query,
            event_flags: EventFlags::NONE,
            timestamp_seconds: 1_700_000_000,
            writes: plan.writes,
            builds: plan.builds,
            on_publish: Some(Box::new(move |version| {
                catalog.publish(&changes, version).unwrap()
            })),
            gtid: GTID,
            replication: Replication::Replicated,
            metadata_lock_timeout: Duration::from_secs(10),
        };
        self.manager.commit_ddl(&session, ddl).wait_blocking().unwrap();
    }

    fn insert(&self, table: &str, rows: impl IntoIterator<Item = Vec<Value>>) {
        let definition = Arc::clone(self.catalog.load().table("test", table).unwrap());
        let session = self.manager.session(Interrupt::new());
        let mut transaction = self.manager.begin(&session, TransactionOptions::default());
        transaction.begin_statement(None, 1).unwrap();
        transaction.begin_writing().unwrap();
        for values in rows {
            let mut after = Vec::new();
            definition.schema().encode_row(&values, &mut after).unwrap();
            transaction
                .write_row(definition.schema(), None, Some(&after))
                .unwrap();
            transaction
                .log_row(
                    definition.logged(RowMetadata::NoLog),
                    RowChange::Insert { after: &after },
                )
                .unwrap();
        }
        transaction.end_statement().unwrap();
        transaction.commit_blocking().unwrap();
    }
}

fn dump(storage: &Storage, range: KeyRange) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut entries = Vec::new();
    let mut cursor = storage.scan_newest(range, Direction::Forward);
    while let Some((key, value)) = cursor.next().unwrap() {
        entries.push((key.to_vec(), value.to_vec()));
    }
    entries
}

/// Returns the catalog's records and all keys of users' tables on disk.
fn everything(storage: &Storage) -> Vec<(Vec<u8>, Vec<u8>)> {
    let tables = KeyRange::new(IndexId::new(IndexId::FIRST_USER).to_be_bytes(), [0x80, 0, 0, 0]);
    let mut all = dump(storage, IndexId::CATALOG.range());
    all.extend(dump(storage, tables));
    all
}

fn row(id: i64, name: &str) -> Vec<Value> {
    vec![Value::Int(id), Value::Text(name.into())]
}

#[test]
fn a_copy_and_the_later_log_restore_the_same_tables() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::open(directory.path());
    assert_eq!((server.report.from, server.report.groups), (LogPosition::ZERO, 0));
    server.ddl("CREATE DATABASE test");
    server.ddl("CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(50) NOT NULL)");
    server.insert("t", (0..500).map(|id| row(id, &format!("name {}", id % 70))));
    let copy = directory.path().join("copy");
    let copied_at = server.manager.storage().checkpoint(&copy).unwrap();

    server.insert("t", (500..900).map(|id| row(id, "later")));
    server.ddl("ALTER TABLE t ADD INDEX by_name (name), ADD COLUMN extra INT NOT NULL DEFAULT 7");
    server.ddl("CREATE TABLE keyless (id INT, name VARCHAR(50))");
    server.insert("keyless", [row(1, "x"), row(3, "x"), row(2, "y")]);
    server.ddl("ALTER TABLE keyless ADD PRIMARY KEY (name, id), ADD COLUMN n INT FIRST");
    server.ddl("CREATE TABLE m (id INT PRIMARY KEY, name VARCHAR(50)) ENGINE=MEMORY");
    server.insert("m", [row(1, "gone after a restart")]);
    server.ddl("CREATE TABLE dropped (id INT PRIMARY KEY, name VARCHAR(50))");
    server.insert("dropped", [row(1, "a")]);
    server.ddl("TRUNCATE TABLE dropped");
    server.insert("dropped", [row(2, "b")]);
    server.ddl("RENAME TABLE dropped TO renamed");
    let expected = everything(server.manager.storage());
    server.manager.close().unwrap();
    drop(server);

    // Restore: the copy has none of the builds, so they are made.
    let restored = recovered(&copy, &directory.path().join("log"));
    assert_eq!(restored.report.from, copied_at);
    assert_eq!(restored.report.ddl_statements, 7);
    assert!(
        everything(&restored.storage) == expected,
        "the restored tables differ"
    );
    let memory = restored
        .catalog
        .load()
        .table("test", "m")
        .unwrap()
        .schema()
        .rows_range();
    assert!(dump(&restored.storage, memory).is_empty());
    drop(restored);

    // Restore from the log alone.
    let fresh = recovered(&directory.path().join("fresh"), &directory.path().join("log"));
    assert_eq!(fresh.report.from, LogPosition::ZERO);
    assert!(
        everything(&fresh.storage) == expected,
        "the tables made of the log alone differ"
    );
    drop(fresh);

    // A restart of the server has nothing to replay. It only logs that the MEMORY table is empty.
    let server = Server::open(directory.path());
    assert_eq!(server.report.groups, 0);
    assert!(everything(server.manager.storage()) == expected);
    let before = server.manager.positions().published;
    assert_eq!(
        empty_memory_tables(
            &server.manager,
            &server.catalog,
            GTID,
            Replication::Replicated,
            std::time::Duration::from_secs(60)
        )
        .unwrap(),
        1
    );
    assert!(server.manager.positions().published > before);
    assert!(server.manager.storage().builds().unwrap() == Vec::<BuildId>::new());
}
