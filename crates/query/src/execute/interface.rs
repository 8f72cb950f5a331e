//! Interface between the executor and its caller: a statement's context, rows and outcome.

use std::sync::Arc;

use paceline_txn::{MetadataMode, MetadataObject, Transaction};
use paceline_types::error_code::ER_TABLE_DEF_CHANGED;
use paceline_types::{Value, ValueRef};

use super::bulk::ParameterSets;
use crate::error::{Error, Result};
use crate::plan::{Plan, ResultColumn, Statistics, TableUse};
use crate::program::ProgramCache;
use paceline_catalog::ddl::SelectedColumn;
use paceline_catalog::{Catalog, RoutineDefinition, RoutineModule};
use paceline_expression::session::SessionContext;
use paceline_syntax::{DdlStatement, SetItem, Statement};

/// Receiver of a result's rows.
pub trait RowSink {
    /// Receives the columns, once, before the first row.
    ///
    /// # Errors
    /// An error of the sink, which ends the execution.
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<()>;

    /// Receives a row.
    ///
    /// # Errors
    /// An error of the sink, which ends the execution.
    fn row(&mut self, row: &[Value]) -> Result<()>;

    /// Receives a row with borrowed values: the fast path of single-row reads.
    ///
    /// # Errors
    /// An error of the sink, which ends the execution.
    fn row_ref(&mut self, row: &[ValueRef<'_>]) -> Result<()> {
        let owned: Vec<Value> = row.iter().map(|value| value.clone().into_owned()).collect();
        self.row(&owned)
    }
}

/// File that LOAD DATA reads.
pub trait LoadInput: Send {
    /// Appends the next piece of the file; nothing at its end.
    ///
    /// # Errors
    /// An error of the file, which ends the execution.
    fn read(&mut self, buffer: &mut Vec<u8>) -> Result<()>;
}

/// Context for the execution of a statement.
pub struct ExecutionContext<'a> {
    /// Transaction of the statement.
    pub transaction: &'a mut Transaction,
    /// Context of the session.
    pub session: &'a mut SessionContext,
    /// The catalog of the plan, for AUTO_INCREMENT counters.
    pub catalog: &'a Arc<Catalog>,
    /// Values of the `?` parameters.
    pub parameters: &'a [Value],
    /// Sets of parameters of an INSERT or REPLACE for which `parameters` are not used: a bulk execution.
    pub parameter_sets: Option<&'a mut dyn ParameterSets>,
    /// The statement's text, for the log's annotation.
    pub text: &'a [u8],
    /// Meaning of the number of affected rows.
    pub affected: AffectedRows,
    /// Maximum number of rows of a SELECT without its own LIMIT (`sql_select_limit`); `u64::MAX` means no limit.
    pub rows_max: u64,
    /// The file of a LOAD DATA.
    pub input: Option<&'a mut dyn LoadInput>,
    /// Logs the text of the statement in place of its rows; `None` if its rows are logged.
    pub text_log: Option<&'a dyn TextLog>,
    /// Environment of stored functions and triggers; required if [`Plan::runs_programs`].
    pub programs: Option<StatementPrograms<'a>>,
}

/// Logger of a statement that other servers get as text.
pub trait TextLog: Send + Sync {
    /// Logs the text of the running statement, which has changed its rows.
    ///
    /// # Errors
    /// Those of [`Transaction::log_text`].
    fn log(&self, session: &mut SessionContext, transaction: &mut Transaction) -> Result<()>;
}

/// Environment of a statement's stored functions and triggers.
pub struct StatementPrograms<'a> {
    /// The server.
    pub host: Arc<dyn ProgramHost>,
    /// Programs that the session has run.
    pub cache: &'a mut ProgramCache,
    /// Tables of the statements around this one; `None` for a client's statement.
    pub outer: Option<&'a UsedTables<'a>>,
    /// Resources that the server lends to the host; dropped at the statement's end. `None` for a nested statement.
    pub lent: Option<Box<dyn Send + 'a>>,
}

/// Services of the server for the statements of functions and triggers, which are planned and executed within another
/// statement.
pub trait ProgramHost: Send + Sync {
    /// Returns the current catalog as the session sees it.
    fn catalog(&self) -> Arc<Catalog>;

    /// Returns the statistics of the tables.
    fn statistics(&self) -> &Statistics;

    /// Checks that the session may execute a plan.
    ///
    /// # Errors
    /// Missing privileges; 1290 on a read-only server.
    fn check(&self, plan: &Plan, session: &SessionContext) -> Result<()>;

    /// Checks that the session may call a routine, and that it may do so once more (`max_sp_recursion_depth`).
    ///
    /// # Errors
    /// 1370, 1456.
    fn check_call(&self, routine: &RoutineDefinition, session: &SessionContext) -> Result<()>;

    /// Executes an item of SET, whose value has been evaluated: `None` is DEFAULT, and of an item without a value.
    ///
    /// # Errors
    /// Those of SET; 1560, 1695, 1930 and 1954 for variables that a function must not set; 1235 for an item that is not
    /// implemented there.
    fn set(&self, item: &SetItem, value: Option<Value>, session: &mut SessionContext) -> Result<()>;

    /// Calls a function whose code is a module, with arguments of its parameters' types.
    ///
    /// # Errors
    /// 1123, 1289 if the module cannot be used; failures of the call.
    fn call_module(
        &self,
        routine: &RoutineDefinition,
        module: &RoutineModule,
        arguments: &[Value],
        transaction: &mut Transaction,
        session: &SessionContext,
    ) -> Result<Value>;

    /// Counts a statement that begins, for `Com_…`.
    fn count(&self, statement: &Statement);

    /// Creates or drops temporary tables. `selected` are the columns of the query of CREATE … SELECT. Returns the table
    /// that this query has to fill, with its database; until [`Self::end_fill`] it is in `FILLED_DATABASE`.
    ///
    /// # Errors
    /// Those of the statement.
    fn define_temporary(
        &self,
        ddl: &DdlStatement,
        selected: Option<&[SelectedColumn]>,
        transaction: &mut Transaction,
        session: &mut SessionContext,
    ) -> Result<Option<(String, String)>>;

    /// Gives a table that was filled its name, or drops it if that failed.
    fn end_fill(&self, table: &(String, String), outcome: FillOutcome, transaction: &mut Transaction);
}

/// Outcome of filling a new table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FillOutcome {
    /// It has its rows.
    Filled,
    /// The query or an INSERT failed.
    Failed,
}

/// Tables of a statement and of those around it.
pub struct UsedTables<'a> {
    tables: &'a [TableUse],
    outer: Option<&'a UsedTables<'a>>,
}

impl<'a> UsedTables<'a> {
    pub(crate) fn new(tables: &'a [TableUse], outer: Option<&'a UsedTables<'a>>) -> Self {
        UsedTables { tables, outer }
    }

    /// Returns whether one of the statements names a table. A trigger may write to a table that only foreign keys use:
    /// a row of history is a child of the row whose change it records.
    pub(crate) fn contains(&self, database: &str, name: &str) -> bool {
        let is_same =
            |table: &TableUse| table.usage.is_named() && &*table.database == database && &*table.name == name;
        self.tables.iter().any(is_same) || self.outer.is_some_and(|outer| outer.contains(database, name))
    }
}

/// Takes the metadata locks of a plan's tables.
///
/// # Errors
/// 1205, 1213; 1412 for a table that was defined after the transaction's snapshot.
pub fn lock_tables(plan: &Plan, transaction: &mut Transaction) -> Result<()> {
    for table in plan.tables() {
        let is_stored = table.definition.is_some() || table.view.is_some();
        if !is_stored || table.is_temporary() {
            continue;
        }
        let mode = match table.usage.writes() || table.usage.exclusive || table.usage.action {
            true => MetadataMode::Write,
            false => MetadataMode::Read,
        };
        let object = MetadataObject::Table {
            database: &table.database,
            table: &table.name,
        };
        transaction.lock_metadata(object, mode)?;
    }
    Ok(())
}

/// Checks that a transaction can read the tables of a plan.
///
/// # Errors
/// 1412 for a table that was defined after its snapshot.
pub fn check_snapshot(plan: &Plan, transaction: &Transaction) -> Result<()> {
    let Some(snapshot) = transaction.snapshot_version() else {
        return Ok(());
    };
    let named = plan.tables().iter().filter(|table| table.usage.is_named());
    for definition in named.filter_map(|table| table.definition.as_ref()) {
        // A sequence is read as it is now.
        if definition.version() > snapshot && !definition.is_sequence() {
            return Err(Error::new(ER_TABLE_DEF_CHANGED, &[]));
        }
    }
    Ok(())
}

/// Meaning of the number of affected rows of an UPDATE or INSERT … ON DUPLICATE KEY UPDATE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AffectedRows {
    /// Changed rows.
    #[default]
    Changed,
    /// Found rows (`CLIENT_FOUND_ROWS`).
    Found,
}

/// Outcome of a statement besides its rows: the contents of an OK packet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Whether rows were sent to the sink (then the reply ends with EOF instead of OK).
    pub result_set: bool,
    /// Number of affected rows.
    pub affected_rows: u64,
    /// First generated AUTO_INCREMENT value, or the argument of LAST_INSERT_ID(expr); 0 for none.
    pub last_insert_id: u64,
    /// Text such as "Records: 3  Duplicates: 0  Warnings: 0"; empty for none.
    pub info: String,
    /// Number of rows sent to the sink.
    pub rows_sent: u64,
}
