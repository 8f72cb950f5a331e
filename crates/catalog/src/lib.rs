//! Databases and tables: their definitions.
//!
//! ```text
//!   records in the engine        in memory
//!   IndexId 1 ‖ kind ‖ name ──▶  CatalogHandle ─ArcSwap─▶ Catalog ──▶ database ──▶ Arc<TableDefinition>
//!        ▲                              ▲                 (immutable)               schema, table map, defaults,
//!        └── same batch as the data ────┴── CatalogChange, in the log's order       AUTO_INCREMENT counter (shared)
//! ```
//!
//! * A [`Catalog`] is immutable; a plan keeps the catalog that it was made with. A DDL statement produces
//!   [`CatalogChange`]s. They are written as records in the transaction's own batch, and applied to the
//!   handle when the transaction is published, in the order of the log.
//! * The version of a record, which the engine stores before every value, is the table's *definition
//!   version*: the position in the log where it got its current definition. Older snapshots cannot read the
//!   table (1412), and older row events do not fit it.
//! * As in MariaDB on Linux, names of databases and tables are case-sensitive; names of columns and indexes
//!   are not.
//! * A session's temporary tables are layered over its catalog ([`TemporaryTables`]). They have no records
//!   and are not logged.
//! * `mysql` contains MariaDB's system tables, which are built in ([`system`]). The server computes
//!   `information_schema` and `performance_schema` on demand, see
//!   [`paceline_expression::session::VirtualTables`].
//!
//! [`ddl`] turns a definition statement into changes, at run time and when the log is replayed.
//! [`foreign_key`] checks changed rows against other tables and executes the actions of foreign keys.
#![forbid(unsafe_code)]

mod added_engine;
mod auto_increment;
mod column_type;
pub mod ddl;
mod definition;
mod duplicate_entry;
mod earlier_rows;
mod error;
mod event;
pub mod foreign_key;
mod handle;
mod index_statistics;
mod loadable;
mod names;
mod number_series;
mod quote;
mod record;
mod referrers;
mod routine;
pub mod sequence;
mod snapshot;
pub mod system;
mod table;
mod table_counters;
mod temporary;
mod temporary_catalog;
mod trigger;
mod view;

pub use auto_increment::AutoIncrement;
pub use auto_increment::{counted, following, is_numbered};
pub use definition::*;
pub use duplicate_entry::duplicate_entry;
pub use error::{Error, Result};
pub use event::{EventDefinition, EventDescription, EventTimes};
pub use handle::CatalogHandle;
pub use index_statistics::IndexStatistics;
pub use loadable::{LoadableCode, LoadableFunction};
pub use names::{no_such_table, same_name};
pub use number_series::NumberSeries;
pub use paceline_syntax::definition::{ReferentialAction, ViewAlgorithm, ViewCheck, ViewSecurity};
pub use record::{CatalogChange, write_changes};
pub use referrers::TableReferrers;
pub use routine::{
    CompiledRoutine, ProgramEnvironment, ProgramSettings, RoutineDefinition, RoutineDescription,
    RoutineModule,
};
pub use snapshot::{Catalog, Database};
pub use table::TableDefinition;
pub use table::{counter_id, literal_value};
pub use table_counters::{RowCounts, UserRowCounts};
pub use temporary::{TemporaryPlan, TemporaryTables};
pub use temporary_catalog::{FILLED_DATABASE, TemporaryCatalog};
pub use trigger::{CompiledTrigger, TableTriggers, TriggerDefinition, TriggerDescription};
pub use view::{ViewDefinition, ViewDescription};

/// Databases whose tables the server computes on demand.
pub(crate) const VIRTUAL_DATABASES: [&str; 2] = ["information_schema", "performance_schema"];

/// Database of the system tables.
pub const SYSTEM_DATABASE: &str = "mysql";
