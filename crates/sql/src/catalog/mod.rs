//! Databases and tables: what there is, and what it looks like.
//!
//! ```text
//!   records in the engine        in memory
//!   IndexId 1 ‖ kind ‖ name ──▶  CatalogHandle ─ArcSwap─▶ Catalog ──▶ database ──▶ Arc<TableDefinition>
//!        ▲                              ▲                 (immutable)               schema, table map, defaults,
//!        └── same batch as the data ────┴── CatalogChange, in the log's order       AUTO_INCREMENT counter (shared)
//! ```
//!
//! * A [`Catalog`] never changes; whoever planned with one keeps it. A DDL statement makes [`CatalogChange`]s: they are written as records
//!   in the transaction's own batch, and applied to the handle when that is published, in the log's order.
//! * A record's version, which the engine puts in front of every value, is the table's *definition version*: the place in the log where it
//!   got its present shape. Snapshots older than that cannot read it (1412), and row events older than that are not for it.
//! * Names of databases and tables are case sensitive, as MariaDB's on Linux; names of columns and indexes are not.
//! * A session's temporary tables lie over its catalog ([`TemporaryTables`]); nothing of them is in a record or in the log.
//! * `mysql` holds what MariaDB keeps there; its tables are part of the program ([`system`]). `information_schema` and
//!   `performance_schema` are made by the server on demand, see [`crate::session::VirtualTables`].

mod auto_increment;
mod definition;
mod duplicate_entry;
mod handle;
mod number_series;
mod record;
mod referrers;
mod snapshot;
pub mod system;
mod table;
mod temporary;
mod temporary_catalog;
mod view;

pub use auto_increment::AutoIncrement;
pub(crate) use auto_increment::{aligned, counted, following, is_numbered};
pub use definition::*;
pub use duplicate_entry::duplicate_entry;
pub use handle::CatalogHandle;
pub use number_series::NumberSeries;
pub use record::{CatalogChange, write_changes};
pub use referrers::TableReferrers;
pub use snapshot::{Catalog, Database};
pub use table::TableDefinition;
pub(crate) use table::{kept_number, literal_value, same_name, schema_of};
pub use temporary::{TemporaryPlan, TemporaryTables};
pub use temporary_catalog::{FILLED_DATABASE, TemporaryCatalog};
pub use view::{ViewAlgorithm, ViewCheck, ViewDefinition, ViewDescription, ViewSecurity};

/// Databases that the server makes on demand.
pub const VIRTUAL_DATABASES: [&str; 2] = ["information_schema", "performance_schema"];

/// The database of system tables.
pub const SYSTEM_DATABASE: &str = "mysql";
