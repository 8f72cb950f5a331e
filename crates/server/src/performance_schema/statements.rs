//! Statistics of statements.

use super::timed::timed;
use crate::cells::{Row, moment};
use crate::information_schema::Sources;
use crate::statement_digests::DigestSummary;
use crate::statement_events::{EventLevel, EventOwner};
use crate::statement_kind::StatementKind;
use crate::statement_sums::{StatementSums, StatementWork};
use paceline_types::Value;

/// Returns the rows of `events_statements_summary_by_digest`.
pub(super) fn by_digest(sources: &dyn Sources) -> Vec<Row> {
    sources.digests().iter().map(summary).collect()
}

fn summary(digest: &DigestSummary) -> Row {
    let statement = &digest.statement;
    let counted = &digest.statistics;
    let text = |text: Option<String>| text.map_or(Value::Null, Value::Text);
    let mut row = vec![
        text(statement.database.clone()),
        text(statement.name()),
        text(statement.text.clone()),
    ];
    append_sums(&mut row, &counted.sums);
    row.extend([moment(counted.first_seen), moment(counted.last_seen)]);
    row
}

/// Appends the columns about the executions of a digest or a kind.
fn append_sums(row: &mut Row, sums: &StatementSums) {
    row.extend(timed(sums.count, sums.nanos, sums.nanos_min, sums.nanos_max));
    row.extend([
        // Waits for locks are not timed by statement.
        Value::UInt(0),
        Value::UInt(sums.errors),
        Value::UInt(sums.warnings),
        Value::UInt(sums.rows_affected),
        Value::UInt(sums.rows_sent),
        Value::UInt(sums.rows_examined),
    ]);
    row.extend(work_columns(&sums.work));
}

/// Returns the level of statistics that a table shows; `None` if it shows others.
pub fn event_level(table: &str) -> Option<EventLevel> {
    let between = |name: &str| {
        let rest = name.strip_prefix("events_statements_summary_")?;
        rest.strip_suffix("_by_event_name").map(str::to_owned)
    };
    Some(match &between(&table.to_ascii_lowercase())?[..] {
        "by_thread" => EventLevel::Sessions,
        "by_account" => EventLevel::Accounts,
        "by_user" => EventLevel::Users,
        "by_host" => EventLevel::Hosts,
        "global" => EventLevel::Server,
        _ => return None,
    })
}

/// Returns the rows of `events_statements_summary_…_by_event_name`: of the server all kinds, of others those that
/// they have executed. MariaDB lists all for all, which would be millions of rows for thousands of sessions.
pub(super) fn by_kind(sources: &dyn Sources, level: EventLevel) -> Vec<Row> {
    let mut rows = Vec::new();
    for (owner, sums) in sources.statement_events(level) {
        let owner = match owner {
            EventOwner::Session(id) => vec![Value::UInt(id.into())],
            EventOwner::Account(user, host) => vec![Value::Text(user), Value::Text(host)],
            EventOwner::User(name) | EventOwner::Host(name) => vec![Value::Text(name)],
            EventOwner::Server => vec![],
        };
        let mut append = |kind: StatementKind, sums: &StatementSums| {
            let mut row = owner.clone();
            row.push(Value::Text(kind.name()));
            append_sums(&mut row, sums);
            rows.push(row);
        };
        match level {
            EventLevel::Server => {
                let none = StatementSums::default();
                StatementKind::all().for_each(|kind| append(kind, sums.get(&kind).unwrap_or(&none)));
            }
            _ => sums.iter().for_each(|(kind, sums)| append(*kind, sums)),
        }
    }
    rows
}

/// Returns the columns about the work of statements: temporary tables, kinds of joins, sorts, missing indexes.
pub(super) fn work_columns(work: &StatementWork) -> [Value; 13] {
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
