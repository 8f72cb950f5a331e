//! Reads and writes of tables and indexes.
//!
//! Counted are rows, and as in MariaDB those that statements have read and changed, whether they then were committed or
//! not. All times are 0: reading a clock twice for each row, or even for each statement and table, would cost more than
//! a percent of the read of a single row. A row of another table that a foreign key changes is not counted, nor are the
//! changes of a replica's appliers.

use crate::cells::{Row, text};
use crate::information_schema::Sources;
use paceline_catalog::{RowCounts, TableDefinition};
use paceline_types::Value;
use std::sync::Arc;

/// Database whose tables MariaDB does not count by default.
const NOT_COUNTED: &str = "mysql";

/// Returns the tables that were used since the start of the server.
fn used_tables(sources: &dyn Sources) -> Vec<Arc<TableDefinition>> {
    if !sources.is_instrumented() {
        return Vec::new();
    }
    let catalog = sources.catalog();
    let databases = catalog
        .databases()
        .filter(|database| database.name() != NOT_COUNTED);
    let tables = databases.flat_map(|database| database.tables());
    tables.filter(|table| table.has_row_counts()).cloned().collect()
}

/// Returns the first columns of a table's row.
fn object(table: &TableDefinition) -> Row {
    vec![text("TABLE"), text(table.database()), text(table.name())]
}

/// Appends a count, and the sum, minimum, average and maximum of its times.
fn append(row: &mut Row, count: u64) {
    row.push(Value::UInt(count));
    row.extend(std::iter::repeat_n(Value::UInt(0), 4));
}

fn append_all(row: &mut Row, counts: &RowCounts) {
    for count in [
        counts.reads + counts.writes(),
        counts.reads,
        counts.writes(),
        counts.reads,
        counts.inserts,
        counts.updates,
        counts.deletes,
    ] {
        append(row, count);
    }
}

/// Returns the places of a table that have counters: its indexes, and `None`.
fn places(table: &TableDefinition) -> impl Iterator<Item = Option<usize>> {
    (0..table.indexes().len()).map(Some).chain([None])
}

fn sum(table: &TableDefinition) -> RowCounts {
    let mut sum = RowCounts::default();
    places(table).for_each(|place| sum.add(&table.row_counts(place)));
    sum
}

/// Returns the rows of `table_io_waits_summary_by_table`.
pub(super) fn by_table(sources: &dyn Sources) -> Vec<Row> {
    let row = |table: &Arc<TableDefinition>| {
        let mut row = object(table);
        append_all(&mut row, &sum(table));
        row
    };
    used_tables(sources).iter().map(row).collect()
}

/// Returns the rows of `table_io_waits_summary_by_index_usage`.
pub(super) fn by_index(sources: &dyn Sources) -> Vec<Row> {
    let mut rows = Vec::new();
    for table in used_tables(sources) {
        for place in places(&table) {
            let mut row = object(&table);
            row.push(place.map_or(Value::Null, |index| text(&table.indexes()[index].name)));
            append_all(&mut row, &table.row_counts(place));
            rows.push(row);
        }
    }
    rows
}

/// Returns the rows of `objects_summary_global_by_type`.
pub(super) fn objects(sources: &dyn Sources) -> Vec<Row> {
    let row = |table: &Arc<TableDefinition>| {
        let counts = sum(table);
        let mut row = object(table);
        append(&mut row, counts.reads + counts.writes());
        row
    };
    used_tables(sources).iter().map(row).collect()
}

/// Names of the tables that show these counters. Emptying one empties all.
pub const TABLES: [&str; 3] = [
    "objects_summary_global_by_type",
    "table_io_waits_summary_by_index_usage",
    "table_io_waits_summary_by_table",
];
