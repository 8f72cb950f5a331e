//! Source of the rows: what the server and the catalog know, restricted to what one session may see.

use super::columns::VirtualTable;
use super::open_transaction::OpenTransaction;
use super::privileges::{ApplicableRole, ColumnPrivileges, GrantedPrivilege, RoutineAccess};
use super::process::Process;
use crate::cells::Row;
use crate::memory::MemoryPart;
use crate::statement_digests::DigestSummary;
use crate::statement_events::{EventLevel, EventOwner, KindSums};
use crate::statement_history::StatementEvent;
use crate::statistic::ShownStatistic;
use crate::user_statistics::{StatisticsOf, TallyValues};
use paceline_binlog::FileStatistics;
use paceline_catalog::{
    DatabaseDefinition, EventDefinition, RoutineDescription, TableDescription, ViewDefinition,
};
use paceline_expression::session::UserVariable;
use paceline_replication::connection::ConnectionStatus;
use paceline_types::temporal::TimeZone;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Approximate size of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableSize {
    /// Number of rows.
    pub rows: u64,
    /// Bytes of all rows.
    pub data_bytes: u64,
    /// Bytes of all secondary indexes.
    pub index_bytes: u64,
}

/// A column of a view.
#[derive(Clone, Debug)]
pub struct ViewColumn {
    /// Name of the column.
    pub name: String,
    /// Type of the column.
    pub data_type: paceline_types::DataType,
    /// Whether the column is nullable.
    pub nullable: bool,
    /// If it is a table's column: its default in MariaDB's notation.
    pub default: Option<String>,
    /// If it is a table's column: its comment.
    pub comment: String,
}

/// Scope of a variable's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The server's value.
    Global,
    /// The session's value, or the server's if the variable has no session value.
    Session,
}

/// A connection to a primary, with the settings that are not its own.
#[derive(Debug)]
pub struct PrimaryConnection {
    /// Its status.
    pub status: ConnectionStatus,
    /// `master_retry_count`.
    pub retry_count: u64,
    /// Period of heartbeats in seconds.
    pub heartbeat_seconds: f64,
    /// Rest of its delay in seconds.
    pub remaining_delay: Option<u64>,
}

/// Statements that a table of `performance_schema` shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShownHistory {
    /// The running or last one of each session.
    Current,
    /// The latest of each session.
    OfSessions,
    /// The latest of the server.
    Long,
}

/// Source of the rows. Everything is restricted to what the session may see.
pub trait Sources {
    /// Returns the databases by name, without the virtual ones.
    fn databases(&self) -> Vec<DatabaseDefinition>;
    /// Returns the tables of a database whose names `admits` accepts, by name.
    fn tables(&self, database: &str, admits: &dyn Fn(&str) -> bool) -> Vec<Arc<TableDescription>>;
    /// Returns the views of a database, by name.
    fn views(&self, database: &str) -> Vec<Arc<ViewDefinition>>;
    /// Returns the virtual tables of a database other than this one.
    fn virtual_tables(&self, database: &str) -> &'static [VirtualTable];
    /// Returns the session's user variables.
    fn user_variables(&self) -> Vec<(String, UserVariable)>;
    /// Returns whether rows can be changed through a view.
    fn is_updatable(&self, view: &ViewDefinition) -> bool;
    /// Returns the current columns of a view.
    ///
    /// # Errors
    /// 1356 for an invalid view.
    fn view_columns(&self, view: &ViewDefinition) -> paceline_syntax::Result<Vec<ViewColumn>>;
    /// Returns a table's size.
    fn table_size(&self, table: &TableDescription) -> TableSize;
    /// Returns the approximate number of distinct values of the first 1, 2, … columns of each index.
    fn distinct_prefixes(&self, table: &TableDescription) -> Vec<Vec<u64>>;
    /// Returns the next AUTO_INCREMENT value.
    fn auto_increment(&self, table: &TableDescription) -> Option<u64>;
    /// Returns the sessions.
    fn processes(&self) -> Vec<Process>;
    /// Returns the values of `SHOW VARIABLES`, by name in lower case.
    fn variables(&self, scope: Scope) -> Vec<(String, String)>;
    /// Returns the rows of SYSTEM_VARIABLES.
    fn system_variables(&self) -> Vec<Row>;
    /// Returns the values of `SHOW STATUS`, by name.
    fn status(&self, scope: Scope) -> Vec<(String, String)>;
    /// Returns the statistics of statements, by their first execution.
    fn digests(&self) -> Vec<DigestSummary>;
    /// Returns the statistics of users or clients; none without the PROCESS privilege.
    fn user_statistics(&self, of: StatisticsOf) -> Vec<(String, TallyValues)>;
    /// Returns whether `performance_schema` is on.
    fn is_instrumented(&self) -> bool;
    /// Returns whether the account may read a table.
    fn may_select(&self, database: &str, table: &str) -> bool;
    /// Returns the statistics of the server, by name.
    fn metrics(&self) -> Vec<ShownStatistic>;
    /// Returns the row of OPTIMIZER_TRACE, if a statement was traced.
    fn optimizer_trace(&self) -> Option<Row>;

    /// Returns the statistics of the log's files.
    fn file_statistics(&self) -> Option<Arc<FileStatistics>>;

    /// Returns the statistics of statements by kind, by owner.
    fn statement_events(&self, level: EventLevel) -> BTreeMap<EventOwner, KindSums>;

    /// Returns the statements of the history that a table of `performance_schema` shows.
    fn statement_history(&self, shown: ShownHistory) -> Vec<Arc<StatementEvent>>;

    /// Returns the connections to primaries.
    fn primaries(&self) -> Vec<PrimaryConnection>;

    /// Returns the start of the server in microseconds since 1970.
    fn started_micros(&self) -> i64;

    /// Returns whether a consumer of `performance_schema` is switched on.
    fn consumes(&self, consumer: &str) -> bool;

    /// Returns what the memory of the process is used for.
    fn memory_usage(&self) -> Vec<MemoryPart>;
    /// Returns the privileges of the accounts.
    fn privileges(&self) -> Vec<GrantedPrivilege>;
    /// Returns the session's time zone.
    fn time_zone(&self) -> TimeZone;
    /// Returns the names of all SQL functions, in lower case.
    fn functions(&self) -> Vec<String>;
    /// Returns the open transactions, except the session's own if it only reads this table.
    fn transactions(&self) -> Vec<OpenTransaction>;
    /// Returns the metadata locks, held and requested, with the ids of their connections.
    fn metadata_locks(&self) -> Vec<(u64, paceline_txn::MetadataLock)>;
    /// Returns the waits for row locks.
    fn row_lock_waits(&self) -> Vec<paceline_txn::RowLockWait>;
    /// Returns the catalog of all tables.
    fn catalog(&self) -> Arc<paceline_catalog::Catalog>;
    /// Returns the account's privileges on the columns of a table.
    fn column_privileges(&self, database: &str, table: &str) -> ColumnPrivileges;
    /// Returns the roles that the account may use, and those that they have.
    fn applicable_roles(&self) -> Vec<ApplicableRole>;
    /// Returns the current role, and all roles that it has.
    fn enabled_roles(&self) -> Vec<String>;
    /// Returns what the account may see of a procedure or function.
    fn routine_access(&self, routine: &RoutineDescription) -> RoutineAccess;
    /// Returns whether the account may see the events of a database.
    fn may_see_events(&self, database: &str) -> bool;
    /// Returns the start of an event's last run in seconds since 1970, if it ran since the start of the server.
    fn last_executed(&self, event: &EventDefinition) -> Option<i64>;
    /// Returns whether the account may see the triggers of a table.
    fn may_see_triggers(&self, database: &str, table: &str) -> bool;
}
