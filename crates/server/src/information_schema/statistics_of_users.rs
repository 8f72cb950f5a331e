//! USER_STATISTICS, CLIENT_STATISTICS, TABLE_STATISTICS, INDEX_STATISTICS.

use super::sources::Sources;
use super::wanted_databases::DATABASE_COLUMNS;
use crate::cells::{Row, number, text};
use crate::user_statistics::{StatisticsOf, TallyValues};
use paceline_catalog::TableDefinition;
use paceline_expression::session::WantedRows;
use paceline_types::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// Returns the rows of USER_STATISTICS or CLIENT_STATISTICS.
pub(super) fn of(list: StatisticsOf, sources: &dyn Sources) -> Vec<Row> {
    let mut connected: HashMap<String, u64> = HashMap::new();
    for process in sources.processes() {
        let name = match list {
            StatisticsOf::Users => process.user,
            StatisticsOf::Clients => process.host_name(),
        };
        *connected.entry(name).or_default() += 1;
    }
    let values = sources.user_statistics(list).into_iter();
    values
        .map(|(name, values)| {
            let now = connected.get(&name).copied().unwrap_or(0);
            row(name, now, &values)
        })
        .collect()
}

fn row(name: String, connected: u64, values: &TallyValues) -> Row {
    let seconds = |micros: u64| Value::Double(micros as f64 / 1e6);
    let mut row = vec![
        text(name),
        number(values.total_connections),
        number(connected),
        number(values.connected_seconds),
        seconds(values.busy_micros),
        seconds(values.cpu_micros),
    ];
    row.extend(
        [
            values.bytes_received,
            values.bytes_sent,
            // The log's writer does not know users.
            0,
            values.rows_read,
            values.rows_sent,
            values.rows_deleted,
            values.rows_inserted,
            values.rows_updated,
            values.select_commands,
            values.update_commands,
            values.other_commands,
            values.commit_transactions,
            values.rollback_transactions,
            values.denied_connections,
            values.lost_connections,
            values.access_denied,
            values.empty_queries,
            values.total_ssl_connections,
            values.max_statement_time_exceeded,
        ]
        .map(number),
    );
    row
}

/// Calls `add` for each visible table that has counters.
fn for_each_table(sources: &dyn Sources, wanted: &WantedRows, mut add: impl FnMut(&Arc<TableDefinition>)) {
    let catalog = sources.catalog();
    for database in catalog.databases() {
        if !wanted.admits(&DATABASE_COLUMNS, database.name()) {
            continue;
        }
        let counted = database.tables().filter(|table| table.has_row_counts());
        for table in counted.filter(|table| sources.may_select(table.database(), table.name())) {
            add(table);
        }
    }
}

/// Returns the rows of TABLE_STATISTICS.
pub(super) fn of_tables(sources: &dyn Sources, wanted: &WantedRows) -> Vec<Row> {
    let mut rows = Vec::new();
    for_each_table(sources, wanted, |table| {
        let counts = table.user_row_counts(None);
        if counts.reads + counts.changes > 0 {
            let indexes = table.indexes().len().max(1) as u64;
            rows.push(vec![
                text(table.database()),
                text(table.name()),
                number(counts.reads),
                number(counts.changes),
                number(counts.changes * indexes),
            ]);
        }
    });
    rows
}

/// Returns the rows of INDEX_STATISTICS.
pub(super) fn of_indexes(sources: &dyn Sources, wanted: &WantedRows) -> Vec<Row> {
    let mut rows = Vec::new();
    for_each_table(sources, wanted, |table| {
        for (place, index) in table.indexes().iter().enumerate() {
            let reads = table.user_row_counts(Some(place)).reads;
            if reads > 0 {
                rows.push(vec![
                    text(table.database()),
                    text(table.name()),
                    text(index.name.as_str()),
                    number(reads),
                ]);
            }
        }
    });
    rows
}
