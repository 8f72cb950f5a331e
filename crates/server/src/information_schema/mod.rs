//! `information_schema`: those tables of MariaDB 10.11 that clients read, with MariaDB's columns and this server's
//! data.
//!
//! ```text
//!   columns.txt        every table's columns, as MariaDB declares them
//!   catalog_tables     SCHEMATA, TABLES, COLUMNS, STATISTICS, … from the catalog
//!   views              VIEWS, and views among TABLES and COLUMNS
//!   shown_column       rows of COLUMNS
//!   events             EVENTS; mysql.event
//!   programs           ROUTINES, PARAMETERS, TRIGGERS; mysql.proc
//!   transactions       INNODB_TRX, INNODB_LOCKS, INNODB_LOCK_WAITS
//!   metadata_locks     METADATA_LOCK_INFO; performance_schema.metadata_locks
//!   innodb             INNODB_SYS_TABLES, …
//!   innodb_metrics     INNODB_METRICS
//!   statistics_of_users USER_STATISTICS, CLIENT_STATISTICS, TABLE_STATISTICS, INDEX_STATISTICS
//!   server_tables      ENGINES, COLLATIONS, PROCESSLIST, variables, privileges, …
//! ```
//! Tables about features that do not exist here (multiple partitions) exist and are empty,
//! or say "not partitioned", as in a MariaDB without such objects. A session sees only rows that it has access to: a
//! database without any privilege has no rows.

mod catalog_tables;
mod columns;
mod events;
mod innodb;
mod innodb_metrics;
mod metadata_locks;
mod programs;
mod server_tables;
mod shown_column;
mod statistics_of_users;
mod transactions;
mod views;

pub use programs::RoutineAccess;

use crate::cells::{number, number_or_null, text, text_or_null, yes_no};
use crate::memory::MemoryPart;
use crate::registry::host_without_port;
use crate::session_progress::ShownProgress;
use crate::statement_digests::DigestSummary;
use crate::statement_events::{EventLevel, EventOwner, KindSums};
use crate::statement_history::StatementEvent;
use crate::statistic::ShownStatistic;
use crate::user_statistics::{StatisticsOf, TallyValues};
use paceline_binlog::FileStatistics;
use paceline_catalog::{
    DatabaseDefinition, EventDefinition, RoutineDescription, TableDescription, ViewDefinition,
};
use paceline_expression::session::{Privilege, VirtualColumn, WantedRows};
use paceline_replication::connection::ConnectionStatus;
use paceline_types::Value;
use paceline_types::temporal::TimeZone;
use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) use catalog_tables::column_default;
pub use columns::columns;
pub(crate) use columns::declared;
pub(crate) use events::event;
pub(crate) use innodb::{index_stats, table_stats};
pub(crate) use metadata_locks::rows as metadata_lock_rows;
pub(crate) use programs::{proc, trigger_time};
pub(crate) use server_tables::{has_engine, is_plugin};
pub use transactions::OpenTransaction;
pub(crate) use transactions::{LOCK_BYTES, operation, place_of_key};
pub(crate) use views::default_of_expression;

/// Name of the database.
pub const DATABASE: &str = "information_schema";

/// A virtual table: its name and its columns.
pub type VirtualTable = (&'static str, Vec<VirtualColumn>);

/// Returns whether every account has a privilege in a database. Every account may read `information_schema`; rows that
/// it may not see are omitted there.
pub fn is_for_everybody(privilege: Privilege, database: &str) -> bool {
    privilege == Privilege::Select && database.eq_ignore_ascii_case(DATABASE)
}

/// Value of the columns named `…_CATALOG`.
const CATALOG: &str = "def";

/// A row of any of the tables, in the order of its columns.
pub type Row = Vec<Value>;

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

/// A session in PROCESSLIST.
#[derive(Clone, Debug, Default)]
pub struct Process {
    /// Id of the connection.
    pub id: u64,
    /// Name of the user.
    pub user: String,
    /// `localhost`, or the address and port.
    pub host: String,
    /// The current database.
    pub database: Option<String>,
    /// Command such as `Query` or `Sleep`.
    pub command: String,
    /// Time since the command began, in milliseconds.
    pub time_ms: u64,
    /// Current activity.
    pub state: Option<String>,
    /// Text of the statement.
    pub info: Option<String>,
    /// Id of its last statement.
    pub query_id: u64,
    /// How far its statement is.
    pub progress: ShownProgress,
    /// Memory that it has collected, in bytes.
    pub memory_used: u64,
    /// Most memory that it has had, in bytes.
    pub memory_used_max: u64,
}

impl Process {
    /// Returns its host without the port.
    pub fn host_name(&self) -> String {
        host_without_port(&self.host).to_owned()
    }
}

/// An account's privilege, as the privilege tables show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantedPrivilege {
    /// The account: `'user'@'host'`.
    pub grantee: String,
    /// Object of the privilege.
    pub object: GrantedObject,
    /// Name such as `SELECT`; `USAGE` for an account without privileges.
    pub privilege: String,
    /// Whether the account may grant it.
    pub grantable: bool,
}

/// Object of a privilege in the privilege tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GrantedObject {
    /// The server.
    Global,
    /// A database, as a pattern.
    Database(String),
    /// Database and table.
    Table(String, String),
    /// Database, table and column.
    Column(String, String, String),
}

/// A role that an account, or another role, may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplicableRole {
    /// `user@host`, or a role.
    pub grantee: String,
    /// Name of the role.
    pub role: String,
    /// Whether the grantee may grant it.
    pub grantable: bool,
    /// Whether it is the account's default role; `None` if the grantee is a role.
    pub is_default: Option<bool>,
}

/// The session's privileges on the columns of one table, as COLUMNS shows them.
#[derive(Clone, Debug, Default)]
pub struct ColumnPrivileges {
    /// Those on columns without privileges of their own.
    pub of_all: String,
    /// Those on other columns, by name.
    pub of_some: Vec<(String, String)>,
}

impl ColumnPrivileges {
    /// Returns the privileges on a column: `select,insert,update,references` or a part of it. `None` if the session may
    /// not see the column.
    pub fn of(&self, column: &str) -> Option<&str> {
        let known = self
            .of_some
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(column));
        let privileges = known.map_or(&self.of_all, |(_, privileges)| privileges);
        (!privileges.is_empty()).then_some(privileges)
    }
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
    fn tables(&self, database: &str, admits: &dyn Fn(&str) -> bool) -> Vec<std::sync::Arc<TableDescription>>;
    /// Returns the views of a database, by name.
    fn views(&self, database: &str) -> Vec<std::sync::Arc<ViewDefinition>>;
    /// Returns the virtual tables of a database other than this one.
    fn virtual_tables(&self, database: &str) -> &'static [VirtualTable];
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
    fn catalog(&self) -> std::sync::Arc<paceline_catalog::Catalog>;
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

/// Returns whether a table needs the PROCESS privilege.
pub fn needs_process(table: &str) -> bool {
    let prefix = table.get(.."INNODB_".len());
    let is_innodb = prefix.is_some_and(|prefix| prefix.eq_ignore_ascii_case("INNODB_"))
        && !table.eq_ignore_ascii_case("INNODB_FT_DEFAULT_STOPWORD");
    let others = ["METADATA_LOCK_INFO", "PACELINE_STATEMENTS"];
    is_innodb || others.iter().any(|other| other.eq_ignore_ascii_case(table))
}

/// Returns the names of all tables in upper case, by name.
pub fn table_names() -> impl Iterator<Item = &'static str> {
    columns::tables().map(|(name, _)| name)
}

/// Returns at least the wanted rows of a table, or `None` if it does not exist. Names are compared without case.
pub fn rows(table: &str, sources: &dyn Sources, wanted: &WantedRows) -> Option<Vec<Row>> {
    let (name, declared) = columns::tables().find(|(name, _)| name.eq_ignore_ascii_case(table))?;
    Some(match name {
        "SCHEMATA" => catalog_tables::schemata(sources, wanted),
        "TABLES" => both(
            catalog_tables::tables(sources, wanted),
            views::tables(sources, wanted),
        ),
        "COLUMNS" => both(
            catalog_tables::columns(sources, wanted),
            views::columns(sources, wanted),
        ),
        "VIEWS" => views::views(sources, wanted),
        "STATISTICS" => catalog_tables::statistics(sources, wanted),
        "KEY_COLUMN_USAGE" => catalog_tables::key_column_usage(sources, wanted),
        "TABLE_CONSTRAINTS" => catalog_tables::table_constraints(sources, wanted),
        "REFERENTIAL_CONSTRAINTS" => catalog_tables::referential_constraints(sources, wanted),
        "CHECK_CONSTRAINTS" => catalog_tables::check_constraints(sources, wanted),
        "PARTITIONS" => catalog_tables::partitions(sources, wanted),
        "EVENTS" => events::events(sources, wanted),
        "ROUTINES" => programs::routines(sources, wanted),
        "PARAMETERS" => programs::parameters(sources, wanted),
        "TRIGGERS" => programs::triggers(sources, wanted),
        "ENGINES" => server_tables::engines(),
        "CHARACTER_SETS" => server_tables::character_sets(),
        "COLLATIONS" => server_tables::collations(),
        "COLLATION_CHARACTER_SET_APPLICABILITY" => server_tables::collation_applicability(),
        "PROCESSLIST" => server_tables::processlist(sources),
        "GLOBAL_VARIABLES" => server_tables::pairs(sources.variables(Scope::Global)),
        "SESSION_VARIABLES" => server_tables::pairs(sources.variables(Scope::Session)),
        "GLOBAL_STATUS" => server_tables::pairs(sources.status(Scope::Global)),
        "SESSION_STATUS" => server_tables::pairs(sources.status(Scope::Session)),
        "USER_PRIVILEGES" => server_tables::user_privileges(sources),
        "SCHEMA_PRIVILEGES" => server_tables::schema_privileges(sources),
        "TABLE_PRIVILEGES" => server_tables::table_privileges(sources),
        "COLUMN_PRIVILEGES" => server_tables::column_privileges(sources),
        "APPLICABLE_ROLES" => server_tables::applicable_roles(sources),
        "ENABLED_ROLES" => server_tables::enabled_roles(sources),
        "SYSTEM_VARIABLES" => sources.system_variables(),
        "INNODB_TRX" => transactions::transactions(sources),
        "INNODB_METRICS" => innodb_metrics::rows(sources),
        "METADATA_LOCK_INFO" => metadata_locks::info(sources),
        "INNODB_LOCKS" => transactions::locks(sources),
        "INNODB_LOCK_WAITS" => transactions::lock_waits(sources),
        "INNODB_SYS_TABLES" => innodb::sys_tables(sources),
        "INNODB_SYS_TABLESTATS" => innodb::sys_tablestats(sources),
        "INNODB_SYS_INDEXES" => innodb::sys_indexes(sources),
        "INNODB_SYS_FIELDS" => innodb::sys_fields(sources),
        "INNODB_SYS_COLUMNS" => innodb::sys_columns(sources),
        "INNODB_SYS_FOREIGN" => innodb::sys_foreign(sources),
        "INNODB_SYS_FOREIGN_COLS" => innodb::sys_foreign_cols(sources),
        "INNODB_FT_DEFAULT_STOPWORD" => innodb::stopwords(),
        "INNODB_BUFFER_POOL_STATS" => innodb::buffer_pool_stats(declared.len()),
        "OPTIMIZER_TRACE" => sources.optimizer_trace().into_iter().collect(),
        "PACELINE_MEMORY" => server_tables::memory(sources),
        "PACELINE_METRICS" => server_tables::metrics(sources),
        "PACELINE_STATEMENTS" => server_tables::statements(sources),
        "USER_STATISTICS" => statistics_of_users::of(StatisticsOf::Users, sources),
        "CLIENT_STATISTICS" => statistics_of_users::of(StatisticsOf::Clients, sources),
        "TABLE_STATISTICS" => statistics_of_users::of_tables(sources, wanted),
        "INDEX_STATISTICS" => statistics_of_users::of_indexes(sources, wanted),
        "PLUGINS" => server_tables::plugins(),
        "SQL_FUNCTIONS" => sources
            .functions()
            .into_iter()
            .map(|name| vec![text(name)])
            .collect(),
        _ => Vec::new(),
    })
}

/// Columns that contain the name of a row's database, and of its table.
const DATABASE_COLUMNS: [&str; 3] = ["TABLE_SCHEMA", "SCHEMA_NAME", "CONSTRAINT_SCHEMA"];
const TABLE_COLUMNS: [&str; 1] = ["TABLE_NAME"];

/// Returns the visible databases whose rows are wanted.
fn wanted_databases(sources: &dyn Sources, wanted: &WantedRows) -> Vec<DatabaseDefinition> {
    let mut databases = sources.databases();
    databases.retain(|database| wanted.admits(&DATABASE_COLUMNS, &database.name));
    databases
}

/// Concatenates the rows of tables and of views.
fn both(mut tables: Vec<Row>, views: Vec<Row>) -> Vec<Row> {
    tables.extend(views);
    tables
}
