//! `information_schema`: the tables that MariaDB 10.11 has and clients read, with its columns, filled from what this server knows.
//!
//! ```text
//!   columns.txt        every table's columns, as MariaDB declares them
//!   catalog_tables     SCHEMATA, TABLES, COLUMNS, STATISTICS, … from the catalog
//!   views              VIEWS, and views among TABLES and COLUMNS
//!   shown_column       a row of COLUMNS
//!   transactions       INNODB_TRX, INNODB_LOCKS, INNODB_LOCK_WAITS
//!   innodb             INNODB_SYS_TABLES, …
//!   server_tables      ENGINES, COLLATIONS, PROCESSLIST, variables, privileges, …
//! ```
//! Tables about what does not exist here (routines, triggers, events, partitions of several parts) are there and
//! empty, or say "not partitioned", as MariaDB does for a database without any.
//! What a session may not see, it does not: a database without any privilege leaves no row.

mod catalog_tables;
mod columns;
mod innodb;
mod server_tables;
mod shown_column;
mod transactions;
mod views;

use paceline_sql::catalog::{DatabaseDefinition, TableDescription, ViewDefinition};
use paceline_sql::session::{Privilege, WantedRows};
use paceline_types::Value;
use paceline_types::temporal::TimeZone;

pub(crate) use catalog_tables::column_default;
pub use columns::columns;
pub(crate) use columns::declared;
pub(crate) use innodb::{index_stats, table_stats};
pub(crate) use server_tables::has_engine;
pub use transactions::OpenTransaction;
pub(crate) use views::default_of_expression;

/// The name of the database.
pub const DATABASE: &str = "information_schema";

/// Whether everybody has a privilege for what is in a database. Everybody may read what the server tells of itself in `information_schema`; rows that
/// one may not see are left out there.
pub fn is_for_everybody(privilege: Privilege, database: &str) -> bool {
    privilege == Privilege::Select && database.eq_ignore_ascii_case(DATABASE)
}

/// The catalog of all tables, as the columns named `…_CATALOG` have it.
const CATALOG: &str = "def";

/// A row of any of the tables, in the order of its columns.
pub type Row = Vec<Value>;

/// How large a table is, about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableSize {
    /// Rows.
    pub rows: u64,
    /// Bytes of the rows.
    pub data_bytes: u64,
    /// Bytes of the secondary indexes.
    pub index_bytes: u64,
}

/// A session, as PROCESSLIST shows it.
#[derive(Clone, Debug, Default)]
pub struct Process {
    /// The connection id.
    pub id: u64,
    /// The user's name.
    pub user: String,
    /// `localhost`, or the address and port.
    pub host: String,
    /// The current database.
    pub database: Option<String>,
    /// `Query`, `Sleep`, …
    pub command: String,
    /// How long it has been doing that, in milliseconds.
    pub time_ms: u64,
    /// What it is busy with.
    pub state: Option<String>,
    /// The statement.
    pub info: Option<String>,
    /// The number of its last statement.
    pub query_id: u64,
}

/// A privilege that an account has, as the privilege tables show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantedPrivilege {
    /// `'user'@'host'`.
    pub grantee: String,
    /// The database; `None` for a global one.
    pub database: Option<String>,
    /// `SELECT`, …; `USAGE` for an account without any.
    pub privilege: String,
    /// Whether it may be given on.
    pub grantable: bool,
}

/// A column of a view.
#[derive(Clone, Debug)]
pub struct ViewColumn {
    /// Its name.
    pub name: String,
    /// Its type.
    pub data_type: paceline_types::DataType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// The default of the table's column that it is, as MariaDB writes it.
    pub default: Option<String>,
    /// That column's comment.
    pub comment: String,
}

/// Which values of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The server's.
    Global,
    /// The session's, with the server's where it has none of its own.
    Session,
}

/// Where the rows come from. Everything is as the asking session may see it.
pub trait Sources {
    /// The databases that the session may see, virtual ones apart, by name.
    fn databases(&self) -> Vec<DatabaseDefinition>;
    /// The tables of a database with a name that passes, by name.
    fn tables(&self, database: &str, admits: &dyn Fn(&str) -> bool) -> Vec<std::sync::Arc<TableDescription>>;
    /// The views of a database, by name.
    fn views(&self, database: &str) -> Vec<std::sync::Arc<ViewDefinition>>;
    /// Whether rows could be changed through a view.
    fn is_updatable(&self, view: &ViewDefinition) -> bool;
    /// What columns a view has now.
    ///
    /// # Errors
    /// 1356 for a view that cannot be read.
    fn view_columns(&self, view: &ViewDefinition) -> paceline_sql::Result<Vec<ViewColumn>>;
    /// A table's size.
    fn table_size(&self, table: &TableDescription) -> TableSize;
    /// For each index of a table about how many different values its first 1, 2, … columns have.
    fn distinct_prefixes(&self, table: &TableDescription) -> Vec<Vec<u64>>;
    /// The next AUTO_INCREMENT value.
    fn auto_increment(&self, table: &TableDescription) -> Option<u64>;
    /// The sessions.
    fn processes(&self) -> Vec<Process>;
    /// `SHOW VARIABLES`: names in lower case, by name.
    fn variables(&self, scope: Scope) -> Vec<(String, String)>;
    /// The rows of SYSTEM_VARIABLES.
    fn system_variables(&self) -> Vec<Row>;
    /// `SHOW STATUS`, by name.
    fn status(&self, scope: Scope) -> Vec<(String, String)>;
    /// What accounts may do.
    fn privileges(&self) -> Vec<GrantedPrivilege>;
    /// The session's time zone.
    fn time_zone(&self) -> TimeZone;
    /// The names of the functions that SQL has, in lower case.
    fn functions(&self) -> Vec<String>;
    /// The transactions that are open, the session's own reading of this aside.
    fn transactions(&self) -> Vec<OpenTransaction>;
    /// Who waits for rows, and for whom.
    fn row_lock_waits(&self) -> Vec<paceline_txn::RowLockWait>;
    /// All tables.
    fn catalog(&self) -> std::sync::Arc<paceline_sql::catalog::Catalog>;
    /// What the session's account may do with columns: `select,insert,update,references` or a part of it.
    fn column_privileges(&self, database: &str) -> String;
}

/// Whether only accounts with the PROCESS privilege may read a table.
pub fn needs_process(table: &str) -> bool {
    let prefix = table.get(.."INNODB_".len());
    prefix.is_some_and(|prefix| prefix.eq_ignore_ascii_case("INNODB_"))
        && !table.eq_ignore_ascii_case("INNODB_FT_DEFAULT_STOPWORD")
}

/// The names of all tables, in upper case, by name.
pub fn table_names() -> impl Iterator<Item = &'static str> {
    columns::tables().map(|(name, _)| name)
}

/// The rows of a table that are wanted, at least; `None` when there is no such table. Names compare without case.
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
        "SYSTEM_VARIABLES" => sources.system_variables(),
        "INNODB_TRX" => transactions::transactions(sources),
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
        "PLUGINS" => server_tables::plugins(),
        "SQL_FUNCTIONS" => sources
            .functions()
            .into_iter()
            .map(|name| vec![text(name)])
            .collect(),
        _ => Vec::new(),
    })
}

/// The columns that name a row's database, and its table.
const DATABASE_COLUMNS: [&str; 3] = ["TABLE_SCHEMA", "SCHEMA_NAME", "CONSTRAINT_SCHEMA"];
const TABLE_COLUMNS: [&str; 1] = ["TABLE_NAME"];

/// The databases that the session may see of which rows are wanted.
fn wanted_databases(sources: &dyn Sources, wanted: &WantedRows) -> Vec<DatabaseDefinition> {
    let mut databases = sources.databases();
    databases.retain(|database| wanted.admits(&DATABASE_COLUMNS, &database.name));
    databases
}

/// What is told of tables, then what is told of views.
fn both(mut tables: Vec<Row>, views: Vec<Row>) -> Vec<Row> {
    tables.extend(views);
    tables
}

fn text(value: impl Into<String>) -> Value {
    Value::Text(value.into())
}

fn text_or_null(value: Option<impl Into<String>>) -> Value {
    value.map_or(Value::Null, text)
}

fn number(value: u64) -> Value {
    Value::UInt(value)
}

fn number_or_null(value: Option<u64>) -> Value {
    value.map_or(Value::Null, Value::UInt)
}

fn yes_no(value: bool) -> Value {
    text(if value { "YES" } else { "NO" })
}
