//! A session on a transaction manager with temporary files and without a server: parse, plan, execute, commit.

#![allow(dead_code)] // each test uses its part

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use paceline_binlog::event::{EventFlags, QueryEvent};
use paceline_binlog::log::OpenRequest;
use paceline_binlog::{Disk, Log, LogConfig};
use paceline_catalog::ddl::{DdlInput, PreparedDdl, prepare_ddl};
use paceline_catalog::{Catalog, CatalogHandle, TableEngine};
use paceline_expression::session::{Account, KeepDiagnostics, Services, SessionContext, SqlMode};
use paceline_query::execute::{AffectedRows, ExecutionContext, Outcome, RowSink, execute};
use paceline_query::plan::{Plan, PlanContext, ResultColumn, Statistics, plan_statement, trace_passes};
use paceline_simulated_disk::SimulatedDisk;
use paceline_storage::{Storage, StorageConfig};
use paceline_syntax::{
    DdlStatement, ParseOptions, SetItem, SetValue, Statement, TransactionStatement, parse_first,
};
use paceline_syntax::{Error, Result};
use paceline_txn::{
    DdlCommit, Interrupt, ManagerParts, Replication, Transaction, TransactionManager, TransactionOptions,
};
use paceline_types::{ServerId, TimeZone, Value};
use tempfile::TempDir;

/// Outcome of a statement.
pub struct Answer {
    pub result: Result<Outcome>,
    pub columns: Option<Vec<ResultColumn>>,
    /// Rows as text, separated by tabs.
    pub rows: Vec<String>,
    pub values: Vec<Vec<Value>>,
    pub warnings: Vec<(String, u16, String)>,
}

/// One session with everything below it.
pub struct Server {
    pub manager: Arc<TransactionManager>,
    pub handle: Arc<CatalogHandle>,
    pub statistics: Arc<Statistics>,
    pub session: SessionContext,
    owner: paceline_txn::Session,
    open: Option<Transaction>,
    _directory: TempDir,
}

#[derive(Default)]
struct Collect {
    columns: Option<Vec<ResultColumn>>,
    rows: Vec<Vec<Value>>,
}

impl RowSink for Collect {
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<()> {
        self.columns = Some(columns.to_vec());
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        self.rows.push(row.to_vec());
        Ok(())
    }
}

impl Server {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let storage = Arc::new(Storage::open(&StorageConfig::new(directory.path())).expect("tables open"));
        let disk: Arc<dyn Disk> = Arc::new(SimulatedDisk::new());
        let request = OpenRequest {
            engine_position: storage.position(),
            ..OpenRequest::new(1)
        };
        let (log, recovery) =
            Log::open(disk, LogConfig::new("/log", "bin", ServerId(1)), request).expect("the log opens");
        let end = recovery.end;
        storage.apply(&[], end).expect("an empty group");
        let manager = Arc::new(TransactionManager::open(ManagerParts::new(
            log,
            recovery.state.clone(),
            storage,
        )));
        let owner = manager.session(Interrupt::new());
        let mut session = SessionContext::new(1, Services::default());
        session.user = Account {
            user: "root".to_owned(),
            host: "localhost".to_owned(),
        };
        session.settings.time_zone = TimeZone::UTC;
        session.settings.timestamp_override = Some(1_700_000_000_000_000);
        Server {
            statistics: Arc::new(Statistics::new(manager.clone())),
            manager,
            handle: Arc::new(CatalogHandle::new(Catalog::new())),
            session,
            owner,
            open: None,
            _directory: directory,
        }
    }

    pub fn use_database(&mut self, name: &str) {
        self.session.database = Some(name.to_owned());
    }

    /// Runs one statement.
    pub fn run(&mut self, text: &str) -> Answer {
        self.run_with(text, &[])
    }

    /// Runs one statement with parameters.
    pub fn run_with(&mut self, text: &str, parameters: &[Value]) -> Answer {
        self.session.begin_statement(KeepDiagnostics::No);
        // Only this statement's conditions are compared. The server keeps earlier ones for statements without tables.
        self.session
            .diagnostics
            .clear(self.session.settings.max_error_count);
        let mut sink = Collect::default();
        let caught =
            std::panic::catch_unwind(AssertUnwindSafe(|| self.statement(text, parameters, &mut sink)));
        let result = caught.unwrap_or_else(|panic| {
            let text = panic
                .downcast_ref::<String>()
                .cloned()
                .or(panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            self.open = None;
            Err(Error::unsupported(format_args!(
                "PANIC {}",
                text.unwrap_or_default()
            )))
        });
        if let Ok(outcome) = &result {
            self.session.row_count = if outcome.result_set {
                -1
            } else {
                outcome.affected_rows as i64
            };
        }
        let zone = self.session.settings.time_zone.clone();
        let rows = match &sink.columns {
            None => Vec::new(),
            Some(columns) => sink
                .rows
                .iter()
                .map(|row| {
                    let fields: Vec<String> = row
                        .iter()
                        .zip(columns)
                        .map(|(value, column)| field(value, column, &zone))
                        .collect();
                    fields.join("\t")
                })
                .collect(),
        };
        let diagnostics = self.session.diagnostics.conditions();
        let warnings = diagnostics
            .iter()
            .map(|condition| {
                (
                    condition.level.as_str().to_lowercase(),
                    condition.code.number(),
                    condition.message.clone(),
                )
            })
            .filter(|(level, ..)| level != "error")
            .collect();
        Answer {
            result,
            columns: sink.columns,
            rows,
            values: sink.rows,
            warnings,
        }
    }

    fn statement(&mut self, text: &str, parameters: &[Value], sink: &mut Collect) -> Result<Outcome> {
        let options = ParseOptions {
            sql_mode: self.session.settings.sql_mode,
            ..ParseOptions::default()
        };
        let parsed = parse_first(text.as_bytes(), &options)?;
        match &parsed.statement {
            Statement::Ddl(ddl) => {
                let prepared = self.prepare_definition(ddl)?;
                self.commit_definition(prepared, text)?;
                Ok(Outcome::default())
            }
            Statement::Set(items) => {
                for item in items {
                    self.set(item);
                }
                Ok(Outcome::default())
            }
            Statement::Transaction(TransactionStatement::Start { .. }) => {
                self.open = Some(self.begin());
                Ok(Outcome::default())
            }
            Statement::Transaction(TransactionStatement::Commit(_)) => {
                if let Some(transaction) = self.open.take() {
                    transaction.commit_blocking()?;
                }
                Ok(Outcome::default())
            }
            Statement::Transaction(TransactionStatement::Rollback(_)) => {
                self.open = None;
                Ok(Outcome::default())
            }
            statement => {
                let plan = self.plan(statement)?;
                self.execute(&plan, text, parameters, sink)
            }
        }
    }

    /// Prepares a definition statement without committing it, so that another one may run before.
    pub fn prepare(&mut self, text: &str) -> Result<PreparedDdl> {
        self.session.begin_statement(KeepDiagnostics::No);
        // Only this statement's conditions are compared. The server keeps earlier ones for statements without tables.
        self.session
            .diagnostics
            .clear(self.session.settings.max_error_count);
        match parse_first(text.as_bytes(), &ParseOptions::default())?.statement {
            Statement::Ddl(ddl) => self.prepare_definition(&ddl),
            other => panic!("{other:?} is not a definition"),
        }
    }

    fn prepare_definition(&mut self, ddl: &DdlStatement) -> Result<PreparedDdl> {
        let input = DdlInput {
            catalog: &self.handle,
            storage: self.manager.storage(),
            snapshot: &self.manager.snapshot(),
            marks: &self.manager.mark_state(),
            default_engine: TableEngine::InnoDb,
            select_columns: None,
            temporary: None,
        };
        prepare_ddl(input, &mut self.session, ddl)
    }

    /// Commits a prepared definition statement.
    pub fn commit_definition(&mut self, prepared: PreparedDdl, text: &str) -> Result<()> {
        let database = self.session.database.clone().unwrap_or_default();
        let query = QueryEvent::new(database.as_bytes(), text.as_bytes());
        let (handle, changes) = (self.handle.clone(), prepared.plan.changes);
        let commit = DdlCommit {
            query: &query,
            event_flags: EventFlags::NONE,
            timestamp_seconds: 1_700_000_000,
            writes: prepared.writes,
            builds: prepared.builds,
            on_publish: Some(Box::new(move |version| {
                handle.publish(&changes, version).expect("planned changes")
            })),
            gtid: TransactionOptions::default().gtid,
            replication: Replication::Replicated,
            metadata_lock_timeout: Duration::from_secs(10),
        };
        self.manager.commit_ddl(&self.owner, commit).wait_blocking()?;
        Ok(())
    }

    /// Plans a statement.
    pub fn plan(&self, statement: &Statement) -> Result<Plan> {
        self.with_plan_context(|context| plan_statement(statement, context))
    }

    /// Plans a statement. Returns what each pass of the planner has changed.
    pub fn trace_passes(&self, text: &str) -> Result<String> {
        let parsed = parse_first(text.as_bytes(), &ParseOptions::default())?;
        self.with_plan_context(|context| trace_passes(&parsed.statement, context))
    }

    fn with_plan_context<T>(&self, plan: impl FnOnce(&PlanContext<'_>) -> T) -> T {
        let catalog = self.handle.load();
        plan(&PlanContext {
            parameters: &[],
            catalog: &catalog,
            session: &self.session,
            statistics: &self.statistics,
        })
    }

    /// Executes a plan, and commits unless a transaction is open.
    pub fn execute(
        &mut self,
        plan: &Plan,
        text: &str,
        parameters: &[Value],
        sink: &mut dyn RowSink,
    ) -> Result<Outcome> {
        let catalog = self.handle.load();
        let (mut transaction, open) = match self.open.take() {
            Some(transaction) => (transaction, true),
            None => (self.begin(), false),
        };
        let mut context = ExecutionContext {
            transaction: &mut transaction,
            session: &mut self.session,
            catalog: &catalog,
            parameters,
            parameter_sets: None,
            text: text.as_bytes(),
            affected: AffectedRows::Changed,
            rows_max: u64::MAX,
            input: None,
            text_log: None,
            programs: None,
        };
        let result = execute(plan, &mut context, sink);
        drop(context);
        if open {
            self.open = Some(transaction);
        } else if result.is_ok() {
            transaction.commit_blocking()?;
        }
        result
    }

    fn begin(&self) -> Transaction {
        self.manager.begin(&self.owner, TransactionOptions::default())
    }

    fn set(&mut self, item: &SetItem) {
        let SetItem::Variable { name, value, .. } = item else {
            return;
        };
        let number = || match value {
            SetValue::Expr(expr) => expr.to_string().trim_matches('\'').to_owned(),
            SetValue::Word(word) => word.clone(),
            SetValue::Default => String::new(),
        };
        let settings = &mut self.session.settings;
        match name.to_lowercase().as_str() {
            "sql_mode" => {
                settings.sql_mode = match value {
                    SetValue::Default => SqlMode::DEFAULT,
                    _ => SqlMode::parse(&number()).expect("a mode"),
                }
            }
            "auto_increment_increment" => settings.auto_increment_increment = number().parse().unwrap_or(1),
            "auto_increment_offset" => settings.auto_increment_offset = number().parse().unwrap_or(1),
            other => panic!("SET {other} is not for these tests"),
        }
    }
}

fn field(value: &Value, column: &ResultColumn, zone: &TimeZone) -> String {
    if value.is_null() {
        return "NULL".to_owned();
    }
    let mut bytes = Vec::new();
    match value {
        Value::Bytes(value) => bytes.extend_from_slice(value),
        value => {
            paceline_types::text::append_column_value(&value.as_ref(), &column.data_type, zone, &mut bytes)
        }
    }
    let Ok(text) = String::from_utf8(bytes.clone()) else {
        return bytes
            .iter()
            .fold("0x".to_owned(), |text, byte| text + &format!("{byte:02X}"));
    };
    let mut out = String::new();
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 0x20 || c as u32 == 0x7F => out.push_str(&format!("\\x{:02x}", c as u32)),
            c => out.push(c),
        }
    }
    out
}
