//! `information_schema`: those tables of MariaDB 10.11 that clients read, with MariaDB's columns and this server's
//! data.
//!
//! ```text
//!   rows ─▶ catalog_tables      SCHEMATA, TABLES, COLUMNS, STATISTICS, … from the catalog
//!           views               VIEWS, and views among TABLES and COLUMNS
//!           events              EVENTS; mysql.event
//!           programs            ROUTINES, PARAMETERS, TRIGGERS; mysql.proc
//!           transactions        INNODB_TRX, INNODB_LOCKS, INNODB_LOCK_WAITS
//!           metadata_locks      METADATA_LOCK_INFO; performance_schema.metadata_locks
//!           innodb              INNODB_SYS_TABLES, …
//!           innodb_metrics      INNODB_METRICS
//!           statistics_of_users USER_STATISTICS, CLIENT_STATISTICS, TABLE_STATISTICS, INDEX_STATISTICS
//!           server_tables       ENGINES, COLLATIONS, PROCESSLIST, variables, privileges, …
//!              │
//!              ├─▶ database          the name and the privileges of the database
//!              ├─▶ columns           every table's columns, as MariaDB declares them in columns.txt
//!              ├─▶ wanted_databases  conditions on the names of databases and tables
//!              ├─▶ shown_column      rows of COLUMNS
//!              ├─▶ session_time      times in the session's zone
//!              └─▶ sources           the data: process, privileges, open_transaction, …
//! ```
//! Tables about features that do not exist here (multiple partitions) exist and are empty,
//! or say "not partitioned", as in a MariaDB without such objects. A session sees only rows that it has access to: a
//! database without any privilege has no rows.

mod catalog_tables;
mod columns;
mod database;
mod events;
mod innodb;
mod innodb_metrics;
mod key_place;
mod metadata_locks;
mod open_transaction;
mod privileges;
mod process;
mod programs;
mod server_tables;
mod session_time;
mod shown_column;
mod sources;
mod statistics_of_users;
mod transactions;
mod views;
mod wanted_databases;

pub(crate) use catalog_tables::column_default;
pub use columns::{VirtualTable, columns};
pub(crate) use columns::{declared, typed};
pub use database::{DATABASE, is_for_everybody, needs_process};
pub(crate) use events::event;
pub(crate) use innodb::{index_stats, table_stats};
pub(crate) use key_place::KeyPlace;
pub(crate) use metadata_locks::rows as metadata_lock_rows;
pub use open_transaction::OpenTransaction;
pub use privileges::{ApplicableRole, ColumnPrivileges, GrantedObject, GrantedPrivilege, RoutineAccess};
pub use process::Process;
pub(crate) use programs::{proc, trigger_time};
pub(crate) use server_tables::{has_engine, is_plugin};
pub use sources::{PrimaryConnection, Scope, ShownHistory, Sources, TableSize, ViewColumn};
pub(crate) use transactions::{LOCK_BYTES, operation};
pub(crate) use views::default_of_expression;

use crate::cells::{Row, text};
use crate::user_statistics::StatisticsOf;
use paceline_expression::session::WantedRows;

/// Returns at least the wanted rows of a table, or `None` if it does not exist. Names are compared without case.
pub fn rows(table: &str, sources: &dyn Sources, wanted: &WantedRows) -> Option<Vec<Row>> {
    let (name, declared) = columns::tables().find(|(name, _)| name.eq_ignore_ascii_case(table))?;
    let mut rows = match name {
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
        // No plugin can be installed.
        "PLUGINS" | "ALL_PLUGINS" => server_tables::plugins(),
        "user_variables" => server_tables::user_variables(sources),
        "SQL_FUNCTIONS" => sources
            .functions()
            .into_iter()
            .map(|name| vec![text(name)])
            .collect(),
        _ => Vec::new(),
    };
    typed(&mut rows, declared);
    Some(rows)
}

/// Concatenates the rows of tables and of views.
fn both(mut tables: Vec<Row>, views: Vec<Row>) -> Vec<Row> {
    tables.extend(views);
    tables
}
