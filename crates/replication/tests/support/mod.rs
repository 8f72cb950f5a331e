//! A server without SQL sessions, as primary or replica in tests and measurements. It defines tables by statement,
//! changes rows, and returns its log in the form of a receiver.
#![allow(dead_code)]

use paceline_apply::replicated::{Failure, FiringRows, NoFilter};
use paceline_apply::{CatalogDefinitions, recover};
use paceline_binlog::event::{EventFlags, QueryEvent, StatusVar};
use paceline_binlog::log::{OpenRequest, RealDisk};
use paceline_binlog::{EventGroup, Log, LogConfig};
use paceline_catalog::ddl::{ReplayHost, replay_ddl};
use paceline_catalog::{Catalog, CatalogChange, CatalogHandle, TableDefinition};
use paceline_expression::session::SessionContext;
use paceline_query::plan::Statistics;
use paceline_replication::apply::{
    Applier, ApplierOptions, ApplierParts, ReplicatedStatement, StatementRunner, StatementRunners,
};
use paceline_replication::received::{ReceivedGroup, ReceivedItem, SourcePosition};
use paceline_storage::{Direction, Row, Storage, StorageConfig, value_payload};
use paceline_syntax::AccountStatement;
use paceline_txn::{
    Acknowledger, Config, DdlCommit, GtidChoice, ImmediateAcknowledger, Interrupt, LockMode, LockWait,
    ManagerParts, Replication, RowChange, SequenceSource, Session, Transaction, TransactionManager,
    TransactionOptions,
};
use paceline_types::table_map_metadata::RowMetadata;
use paceline_types::{DomainId, LogPosition, SequenceNumber, ServerId, Value};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

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

/// Texts of LOAD DATA statements, and the files that they read.
type Loads = Arc<Mutex<Vec<(String, Vec<u8>)>>>;

pub struct TestServer {
    pub manager: Arc<TransactionManager>,
    pub catalog: Arc<CatalogHandle>,
    pub server_id: ServerId,
    pub start: LogPosition,
    /// The LOAD DATA statements that ran: text and file.
    pub loads: Loads,
}

impl TestServer {
    pub fn open(directory: &Path, server_id: u32, config: Config) -> Self {
        Self::open_with(directory, server_id, config, Box::new(ImmediateAcknowledger))
    }

    pub fn open_with(
        directory: &Path,
        server_id: u32,
        config: Config,
        acknowledger: Box<dyn Acknowledger>,
    ) -> Self {
        let server_id = ServerId(server_id);
        let storage = Arc::new(Storage::open(&StorageConfig::new(directory.join("tables"))).unwrap());
        let log_directory = directory.join("log");
        std::fs::create_dir_all(&log_directory).unwrap();
        let mut log_config = LogConfig::new(&log_directory, "bin", server_id);
        log_config.prepare_step = 4 << 20;
        let request = OpenRequest {
            engine_position: storage.position(),
            ..OpenRequest::new(1)
        };
        let (log, recovery) = Log::open(Arc::new(RealDisk), log_config, request).unwrap();
        let catalog = Arc::new(CatalogHandle::new(Catalog::load(&storage.snapshot()).unwrap()));
        let mut definitions = CatalogDefinitions::new(catalog.clone(), &NoAccounts);
        recover(&log, &storage, &mut definitions).unwrap();
        let parts = ManagerParts {
            config,
            acknowledger,
            ..ManagerParts::new(log, recovery.state, storage)
        };
        TestServer {
            manager: Arc::new(TransactionManager::open(parts)),
            catalog,
            server_id,
            start: recovery.start,
            loads: Arc::default(),
        }
    }

    pub fn session(&self) -> Session {
        self.manager.session(Interrupt::new())
    }

    fn next(&self, domain: u32) -> GtidChoice {
        GtidChoice::new(DomainId(domain), self.server_id, SequenceNumber(0))
    }

    /// Executes a definition.
    pub fn ddl(&self, sql: &str) {
        let query = QueryEvent::new(b"test", sql.as_bytes());
        run_ddl(&self.manager, &self.catalog, &query, 1_700_000_000, self.next(0)).unwrap();
    }

    pub fn table(&self, name: &str) -> Arc<TableDefinition> {
        self.catalog.load().table("test", name).unwrap().clone()
    }

    pub fn begin(&self, session: &Session, domain: u32) -> Transaction {
        let options = TransactionOptions {
            gtid: self.next(domain),
            row_lock_timeout: Duration::from_secs(20),
            ..TransactionOptions::default()
        };
        self.manager.begin(session, options)
    }

    /// Runs `change` in one transaction.
    pub fn transaction(&self, domain: u32, change: impl FnOnce(&mut Transaction)) {
        let session = self.session();
        let mut transaction = self.begin(&session, domain);
        transaction
            .begin_statement(Some("a test"), 1_700_000_000)
            .unwrap();
        transaction.begin_writing().unwrap();
        change(&mut transaction);
        transaction.end_statement().unwrap();
        transaction.commit_blocking().unwrap();
    }

    pub fn insert(&self, table: &str, rows: impl IntoIterator<Item = Vec<Value>>) {
        let definition = self.table(table);
        self.transaction(0, |transaction| {
            for row in rows {
                change(&definition, transaction, None, Some(&image(&definition, &row)));
            }
        });
    }

    /// Returns the log's event groups from a position on, and their end.
    pub fn groups(&self, from: LogPosition) -> (Vec<EventGroup>, LogPosition) {
        let end = self.manager.positions().published;
        let mut reader = self.manager.log().reader(from, end).unwrap();
        let mut groups = Vec::new();
        while let Some(group) = reader.next_group().unwrap() {
            groups.push(group);
        }
        (groups, end)
    }

    /// Returns the same groups in the form of a receiver.
    pub fn received(&self, from: LogPosition) -> Vec<ReceivedItem> {
        let reader = self.manager.log().reader(from, from).unwrap();
        let format = Arc::new(reader.format().clone());
        let (groups, _) = self.groups(from);
        groups
            .into_iter()
            .map(|group| {
                let source_end = SourcePosition {
                    file: "primary-bin.000001".into(),
                    offset: group.end().offset(),
                };
                ReceivedItem::Group(ReceivedGroup {
                    group,
                    format: format.clone(),
                    source_end,
                    received_at: Instant::now(),
                    executed: None,
                    numbers: SequenceSource::Primary,
                })
            })
            .collect()
    }

    /// Returns all rows of a table, sorted for the comparison of primary and replica.
    pub fn rows(&self, table: &str) -> Vec<Vec<Value>> {
        let definition = self.table(table);
        let snapshot = self.manager.snapshot();
        let mut rows = Vec::new();
        let mut cursor = snapshot.scan(definition.schema().rows_range(), Direction::Forward);
        while let Some((_, value)) = cursor.next().unwrap() {
            rows.push(definition.schema().decode_row(value_payload(value)).unwrap());
        }
        rows.sort_by_key(|row| format!("{row:?}"));
        rows
    }

    /// Returns the number of entries in each index of a table.
    pub fn entries(&self, table: &str) -> Vec<usize> {
        let definition = self.table(table);
        let snapshot = self.manager.snapshot();
        definition
            .schema()
            .index_ids()
            .map(|id| {
                let mut cursor = snapshot.scan(id.range(), Direction::Forward);
                let mut count = 0;
                while cursor.next().unwrap().is_some() {
                    count += 1;
                }
                count
            })
            .collect()
    }

    pub fn applier(&self, options: ApplierOptions) -> Applier {
        Applier::start(ApplierParts {
            connection: "".into(),
            manager: self.manager.clone(),
            catalog: self.catalog.clone(),
            index_statistics: Arc::new(Statistics::new(self.manager.clone())),
            filter: Arc::new(NoFilter),
            options,
            statements: Arc::new(Runners {
                manager: self.manager.clone(),
                catalog: self.catalog.clone(),
                loads: self.loads.clone(),
            }),
            statement_counts: Arc::default(),
        })
    }
}

pub fn image(definition: &TableDefinition, row: &[Value]) -> Vec<u8> {
    let mut image = Vec::new();
    definition.schema().encode_row(row, &mut image).unwrap();
    image
}

/// Changes a row that is locked.
pub fn change(
    definition: &TableDefinition,
    transaction: &mut Transaction,
    before: Option<&[u8]>,
    after: Option<&[u8]>,
) {
    let schema = definition.schema();
    let mut key = None;
    if let Some(before) = before {
        key = schema.find_row(before, transaction).unwrap();
    }
    let row = before.map(|image| Row {
        image,
        key: key.as_deref(),
    });
    transaction.write_row(schema, row, after).unwrap();
    let logged = definition.logged(RowMetadata::NoLog);
    let change = match (before, after) {
        (None, Some(after)) => RowChange::Insert { after },
        (Some(before), Some(after)) => RowChange::Update { before, after },
        (Some(before), None) => RowChange::Delete { before },
        (None, None) => return,
    };
    transaction.log_row(logged, change).unwrap();
}

/// Locks a row by its primary key and reads it.
pub fn lock_row(
    definition: &TableDefinition,
    transaction: &mut Transaction,
    id: i64,
) -> paceline_txn::Result<Option<Vec<u8>>> {
    let mut key = Vec::new();
    definition
        .schema()
        .append_key_prefix(0, &[paceline_types::ValueRef::Int(id)], &mut key)
        .unwrap();
    transaction.lock(&key, LockMode::Exclusive, LockWait::Default)?;
    Ok(transaction.probe_newest(&key)?.map(|row| row.payload().to_vec()))
}

fn run_ddl(
    manager: &TransactionManager,
    catalog: &Arc<CatalogHandle>,
    query: &QueryEvent<'_>,
    timestamp_seconds: u32,
    gtid: GtidChoice,
) -> Result<(), Failure> {
    let session = manager.session(Interrupt::new());
    let mut query = query.clone();
    query
        .status_vars
        .retain(|variable| !matches!(variable, StatusVar::Xid(_)));
    let first_id = catalog.load().next_id();
    query.status_vars.push(StatusVar::Xid(u64::from(first_id)));
    let plan = replay_ddl(
        catalog,
        manager.storage(),
        &manager.mark_state(),
        &query,
        timestamp_seconds,
        ServerId(1),
        &NoAccounts,
    )?;
    let (changes, switched) = (plan.changes, catalog.clone());
    let ddl = DdlCommit {
        query: &query,
        event_flags: EventFlags::NONE,
        timestamp_seconds,
        writes: plan.writes,
        builds: plan.builds,
        on_publish: Some(Box::new(move |version| {
            switched.publish(&changes, version).unwrap()
        })),
        gtid,
        replication: Replication::Replicated,
        metadata_lock_timeout: Duration::from_secs(10),
    };
    manager.commit_ddl(&session, ddl).wait_blocking()?;
    Ok(())
}

/// Executes definitions, records the files of LOAD DATA, and does nothing else.
struct Runners {
    manager: Arc<TransactionManager>,
    catalog: Arc<CatalogHandle>,
    loads: Loads,
}

struct Runner {
    manager: Arc<TransactionManager>,
    catalog: Arc<CatalogHandle>,
    loads: Loads,
    gtid: Option<GtidChoice>,
}

impl StatementRunners for Runners {
    fn runner(&self, _: Interrupt) -> Box<dyn StatementRunner> {
        Box::new(Runner {
            manager: self.manager.clone(),
            catalog: self.catalog.clone(),
            loads: self.loads.clone(),
            gtid: None,
        })
    }

    fn primary_restarted(&self) {}
}

impl StatementRunner for Runner {
    fn begin(&mut self, gtid: GtidChoice, _: Replication, _: u32) {
        self.gtid = Some(gtid);
    }

    fn statement(&mut self, statement: &ReplicatedStatement<'_>) -> Result<(), Failure> {
        if let Some(file) = statement.file {
            let text = file.event.text_with(b" INFILE 'x'", file.event.duplicates);
            let text = format!("{} {:?}", String::from_utf8(text).unwrap(), statement.intvars);
            self.loads.lock().unwrap().push((text, file.blocks.concat()));
            return Ok(());
        }
        let gtid = self.gtid.take().expect("begun");
        run_ddl(
            &self.manager,
            &self.catalog,
            statement.query,
            statement.timestamp_seconds,
            gtid,
        )
    }

    fn make_table(&mut self, _: &ReplicatedStatement<'_>) -> Result<(), Failure> {
        Err(Failure::fatal("no rows among statements here"))
    }

    fn change_rows(&mut self, _: &FiringRows) -> Result<(), Failure> {
        Err(Failure::fatal("no triggers here"))
    }

    fn transaction(&mut self) -> Result<&mut Transaction, Failure> {
        Err(Failure::fatal("no rows among statements here"))
    }

    fn commit(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    fn rollback(&mut self) {}

    fn give_up(&mut self) {}
}
