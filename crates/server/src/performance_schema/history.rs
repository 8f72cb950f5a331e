//! `events_statements_current`, `events_statements_history`, `events_statements_history_long`.

use super::statements::work_columns;
use crate::cells::{Row, text_or_null};
use crate::information_schema::{ShownHistory, Sources};
use crate::statement_history::StatementEvent;
use paceline_types::Value;

/// Returns the row of a statement. Times count from the start of the server, in picoseconds.
fn row(event: &StatementEvent, started_micros: i64) -> Row {
    let begin = u64::try_from(event.start_micros - started_micros).unwrap_or(0);
    let begin = begin.saturating_mul(1_000_000);
    let duration = event.nanos.saturating_mul(1000);
    let (digest, digest_text) = event.digest.clone().unzip();
    let mut row = vec![
        Value::UInt(event.session),
        Value::UInt(event.number),
        match event.is_running {
            true => Value::Null,
            false => Value::UInt(event.number),
        },
        Value::Text(event.kind.name()),
        Value::Text(String::new()),
        Value::UInt(begin),
        Value::UInt(begin + duration),
        Value::UInt(duration),
        // Waits for locks are not timed by statement.
        Value::UInt(0),
        Value::Text(event.text.clone()),
        text_or_null(digest),
        text_or_null(digest_text),
        text_or_null(event.database.clone()),
        Value::Null,
        Value::Null,
        Value::Null,
        Value::Null,
        Value::Int(event.code.into()),
        text_or_null(event.sqlstate.clone()),
        text_or_null(event.message.clone()),
        Value::UInt(u64::from(event.code != 0)),
        Value::UInt(event.warnings),
        Value::UInt(event.rows_affected),
        Value::UInt(event.rows_sent),
        Value::UInt(event.rows_examined),
    ];
    row.extend(work_columns(&event.work));
    row.extend([Value::Null, Value::Null, Value::Int(0)]);
    row
}

/// Returns the rows of a table.
pub(super) fn rows(sources: &dyn Sources, shown: ShownHistory) -> Vec<Row> {
    let started = sources.started_micros();
    let events = sources.statement_history(shown);
    events.iter().map(|event| row(event, started)).collect()
}
