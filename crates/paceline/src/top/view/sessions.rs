//! Sessions.

use super::super::number;
use super::super::reading::{Part, Problem, Row};
use super::super::table::{Cell, Column, Emphasis, Table, TableRow};
use super::input::{Idle, Input, note_problems};
use std::collections::HashMap;

const COLUMNS: [Column; 12] = [
    Column::number("ID"),
    Column::text("USER"),
    Column::text("HOST"),
    Column::text("DATABASE"),
    Column::text("COMMAND"),
    Column::number("TIME"),
    Column::text("STATE"),
    Column::number("DONE"),
    Column::number("ROWS"),
    Column::number("CHANGED"),
    Column::number("MEMORY"),
    Column::text("STATEMENT"),
];

pub fn table(input: Input) -> Table {
    let transactions: HashMap<u64, &Row> = input
        .reading
        .rows(Part::Transactions)
        .iter()
        .filter_map(|row| Some((row.id("trx_mysql_thread_id")?, row)))
        .collect();
    let mut table = Table {
        columns: COLUMNS.to_vec(),
        ..Table::default()
    };
    let mut hidden = 0;
    for row in input.reading.rows(Part::Sessions) {
        let Some(id) = row.id("id") else { continue };
        let transaction = transactions.get(&id).copied();
        if input.idle == Idle::Hidden && is_idle(row) && !transaction.is_some_and(holds_locks) {
            hidden += 1;
            continue;
        }
        let changed = transaction.and_then(|transaction| transaction.number("trx_rows_modified"));
        table.rows.push(session(row, id, changed));
    }
    if hidden > 0 {
        table.notes.push(format!("{hidden} idle: not shown"));
    }
    note_problems(&mut table, input.reading, &[Part::Sessions]);
    if let Some(problem @ Problem::Denied(_)) = input.reading.problem(Part::Transactions) {
        let text = problem.text(Part::Transactions, &input.reading.identity);
        table
            .notes
            .push(format!("perhaps only this account's own sessions: {text}"));
    }
    table
}

fn session(row: &Row, id: u64, changed: Option<f64>) -> TableRow {
    let state = row.text("state");
    let time = row.number("time_ms").map(|milliseconds| milliseconds * 1e3);
    TableRow {
        key: id.to_string(),
        connection: Some(id),
        cells: vec![
            Cell::number(Some(id as f64), |_| id.to_string()),
            Cell::text(row.text("user")),
            Cell::text(row.text("host")),
            Cell::text(row.text("db")),
            Cell::text(row.text("command")),
            Cell::number(time, number::microseconds),
            Cell::text(state),
            Cell::number(progress(row), |percent| format!("{percent:.0} %")),
            Cell::number(row.number("examined_rows"), number::count),
            Cell::number(changed, number::count),
            Cell::number(row.number("memory_used"), number::bytes),
            Cell::text(row.text("info")),
        ],
        emphasis: match () {
            () if is_waiting(state) => Emphasis::Alarm,
            () if is_idle(row) => Emphasis::Quiet,
            () => Emphasis::Normal,
        },
    }
}

/// Returns how much of a statement is done in percent: of all its stages.
fn progress(row: &Row) -> Option<f64> {
    let stages = row.number("max_stage").filter(|stages| *stages > 0.0)?;
    let stage = row.number("stage")?;
    let percent = row.number("progress")?;
    Some(((stage - 1.0).max(0.0) * 100.0 + percent) / stages)
}

fn is_idle(row: &Row) -> bool {
    // Daemons wait without end and are nobody's sessions.
    matches!(row.text("command"), "Sleep" | "Daemon")
}

/// Returns whether a transaction holds locks, for which others may wait: its session is not hidden when it is idle.
fn holds_locks(transaction: &Row) -> bool {
    let columns = ["trx_rows_locked", "trx_rows_modified"];
    columns
        .iter()
        .any(|column| transaction.number(column) > Some(0.0))
}

/// Returns whether a state is a wait for another session.
pub fn is_waiting(state: &str) -> bool {
    let state = state.to_ascii_lowercase();
    state.contains("lock") && state.starts_with("waiting")
}

#[cfg(test)]
mod tests {
    use super::super::test_support::{input, lines, reading, row};
    use super::*;

    #[test]
    fn idle_sessions_are_hidden_unless_they_hold_locks() {
        let session = |id, command, info| {
            row(&[
                ("ID", id),
                ("USER", "app"),
                ("HOST", "h"),
                ("COMMAND", command),
                ("TIME_MS", "1500.2"),
                ("INFO", info),
                ("STAGE", "2"),
                ("MAX_STAGE", "2"),
                ("PROGRESS", "50.000"),
                ("MEMORY_USED", "2048"),
                ("EXAMINED_ROWS", "7"),
            ])
        };
        let sessions = vec![
            session("5", "Sleep", ""),
            session("6", "Sleep", ""),
            session("7", "Query", "select\x1b 1"),
            session("8", "Sleep", ""),
            session("9", "Sleep", ""),
        ];
        let transaction = |id, locked, modified| {
            row(&[
                ("trx_mysql_thread_id", id),
                ("trx_rows_locked", locked),
                ("trx_rows_modified", modified),
            ])
        };
        let open = vec![
            transaction("6", "0", "3"),
            transaction("8", "2", "0"),
            transaction("9", "0", "0"),
        ];
        let found = reading(
            0,
            &[],
            vec![(Part::Sessions, Ok(sessions)), (Part::Transactions, Ok(open))],
        );
        let table = table(input(&found, &found));
        assert_eq!(
            lines(&table),
            [
                "6|app|h||Sleep|1.5 s||75 %|7|3|2.0 KiB|",
                "7|app|h||Query|1.5 s||75 %|7|-|2.0 KiB|select· 1",
                "8|app|h||Sleep|1.5 s||75 %|7|0|2.0 KiB|"
            ]
        );
        assert_eq!(table.notes, ["2 idle: not shown"]);
    }
}
