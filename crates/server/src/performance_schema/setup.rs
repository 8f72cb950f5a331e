//! `setup_…`: what is collected. Only consumers can be switched.

use super::files::class_name;
use crate::cells::{Row, text, yes_no};
use crate::information_schema::Sources;
use crate::statement_history::CONSUMERS;
use crate::statement_kind::StatementKind;
use paceline_binlog::FileClass;
use paceline_types::Value;

/// Returns the rows of `setup_consumers`.
pub(super) fn consumers(sources: &dyn Sources) -> Vec<Row> {
    let row = |name: &&str| vec![text(*name), yes_no(sources.consumes(name))];
    CONSUMERS.iter().map(row).collect()
}

/// Returns the row of `setup_actors`: everybody.
pub(super) fn actors() -> Vec<Row> {
    vec![vec![text("%"), text("%"), text("%"), text("YES"), text("YES")]]
}

/// Returns the rows of `setup_objects`: tables of all databases but those of the server itself.
pub(super) fn objects() -> Vec<Row> {
    let row = |schema: &str, is_on: bool| {
        vec![
            text("TABLE"),
            text(schema),
            text("%"),
            yes_no(is_on),
            yes_no(is_on),
        ]
    };
    vec![
        row("mysql", false),
        row("performance_schema", false),
        row("information_schema", false),
        row("%", true),
    ]
}

/// Event of rows that are read and changed, which are counted and not timed.
const TABLE_EVENT: &str = "wait/io/table/sql/handler";

/// Returns the rows of `setup_instruments`: kinds of statements, files of the log, tables, and purposes of memory.
pub(super) fn instruments(sources: &dyn Sources) -> Vec<Row> {
    let statements = StatementKind::all().map(|kind| (kind.name(), "YES"));
    let memory = sources.memory_usage().into_iter();
    let memory = memory.map(|part| (format!("memory/paceline/{}", part.purpose.name()), "NO"));
    let files = FileClass::ALL.map(|class| (class_name(class).to_owned(), "YES"));
    let tables = [(TABLE_EVENT.to_owned(), "NO")];
    statements
        .chain(files)
        .chain(tables)
        .chain(memory)
        .map(|(name, timed)| vec![Value::Text(name), text("YES"), text(timed)])
        .collect()
}
