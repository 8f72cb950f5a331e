//! Databases and tables whose rows are wanted: by the conditions on the columns that contain their names.

use super::sources::Sources;
use paceline_catalog::DatabaseDefinition;
use paceline_expression::session::WantedRows;

/// Columns that contain the name of a row's database.
pub(super) const DATABASE_COLUMNS: [&str; 3] = ["TABLE_SCHEMA", "SCHEMA_NAME", "CONSTRAINT_SCHEMA"];

/// Columns that contain the name of a row's table.
pub(super) const TABLE_COLUMNS: [&str; 1] = ["TABLE_NAME"];

/// Returns the visible databases whose rows are wanted.
pub(super) fn wanted_databases(sources: &dyn Sources, wanted: &WantedRows) -> Vec<DatabaseDefinition> {
    let mut databases = sources.databases();
    databases.retain(|database| wanted.admits(&DATABASE_COLUMNS, &database.name));
    databases
}
