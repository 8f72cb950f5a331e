//! Statistics of statements.

use crate::cells::moment;
use crate::information_schema::{Row, Sources};
use crate::statement_digests::{DigestSummary, DigestWork};
use paceline_types::Value;

/// Picoseconds in a nanosecond: the unit of all times in `performance_schema`.
const PICOSECONDS: u64 = 1000;

/// Returns the rows of `events_statements_summary_by_digest`.
pub(super) fn by_digest(sources: &dyn Sources) -> Vec<Row> {
    sources.digests().iter().map(summary).collect()
}

fn summary(digest: &DigestSummary) -> Row {
    let statement = &digest.statement;
    let counted = &digest.statistics;
    let text = |text: Option<String>| text.map_or(Value::Null, Value::Text);
    let time = |nanos: u64| Value::UInt(nanos.saturating_mul(PICOSECONDS));
    let mut row = vec![
        text(statement.database.clone()),
        text(statement.name()),
        text(statement.text.clone()),
        Value::UInt(counted.count),
        time(counted.nanos),
        time(counted.nanos_min),
        time(counted.nanos / counted.count.max(1)),
        time(counted.nanos_max),
        // Waits for locks are not timed by statement.
        Value::UInt(0),
        Value::UInt(counted.errors),
        Value::UInt(counted.warnings),
        Value::UInt(counted.rows_affected),
        Value::UInt(counted.rows_sent),
        Value::UInt(counted.rows_examined),
    ];
    row.extend(work_columns(&counted.work));
    row.extend([moment(counted.first_seen), moment(counted.last_seen)]);
    row
}

/// Returns the columns about the work of statements: temporary tables, kinds of joins, sorts, missing indexes.
pub(super) fn work_columns(work: &DigestWork) -> [Value; 13] {
    [
        work.created_tmp_disk_tables,
        work.created_tmp_tables,
        work.select_full_join,
        work.select_full_range_join,
        work.select_range,
        // Ranges are not chosen anew for each row.
        0,
        work.select_scan,
        work.sort_merge_passes,
        work.sort_range,
        work.sort_rows,
        work.sort_scan,
        work.no_index_used,
        0,
    ]
    .map(Value::UInt)
}
