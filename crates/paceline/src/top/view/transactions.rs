//! Open transactions.

use super::super::number;
use super::super::reading::Part;
use super::super::table::{Cell, Column, Emphasis, Table, TableRow};
use super::input::{Input, note_problems};
use std::collections::HashMap;

const COLUMNS: [Column; 9] = [
    Column::number("SESSION"),
    Column::text("USER"),
    Column::text("STATE"),
    Column::number("AGE"),
    Column::number("LOCKED"),
    Column::number("CHANGED"),
    Column::number("LOCK MEMORY"),
    Column::text("ISOLATION"),
    Column::text("STATEMENT"),
];

pub fn table(input: Input) -> Table {
    let mut table = Table {
        columns: COLUMNS.to_vec(),
        ..Table::default()
    };
    let users: HashMap<u64, String> = input
        .reading
        .rows(Part::Sessions)
        .iter()
        .filter_map(|row| {
            Some((
                row.id("id")?,
                format!("{}@{}", row.text("user"), row.text("host")),
            ))
        })
        .collect();
    for row in input.reading.rows(Part::Transactions) {
        // Transactions of appliers belong to no session.
        let session = row.id("trx_mysql_thread_id").filter(|id| *id > 0);
        let state = row.text("trx_state");
        let user = session.and_then(|id| users.get(&id)).map_or("", String::as_str);
        table.rows.push(TableRow {
            key: row.text("trx_id").to_owned(),
            connection: session,
            cells: vec![
                Cell::number(session.map(|id| id as f64), |id| format!("{id:.0}")),
                Cell::text(user),
                Cell::text(state),
                Cell::number(row.number("age").map(|age| age * 1e6), |age| match age > 0.0 {
                    true => number::microseconds(age),
                    false => "0 s".to_owned(),
                }),
                Cell::number(row.number("trx_rows_locked"), number::count),
                Cell::number(row.number("trx_rows_modified"), number::count),
                Cell::number(row.number("trx_lock_memory_bytes"), number::bytes),
                Cell::text(row.text("trx_isolation_level")),
                Cell::text(row.text("trx_query")),
            ],
            emphasis: match state {
                "LOCK WAIT" => Emphasis::Alarm,
                _ => Emphasis::Normal,
            },
        });
    }
    note_problems(&mut table, input.reading, &[Part::Transactions, Part::Sessions]);
    if table.rows.is_empty() && table.notes.is_empty() {
        table.notes.push("no transaction is open".into());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::test_support::{input, lines, reading, row};
    use super::*;

    #[test]
    fn a_transaction_has_its_sessions_user() {
        let open = vec![row(&[
            ("trx_id", "9"),
            ("trx_state", "RUNNING"),
            ("age", "75"),
            ("trx_mysql_thread_id", "4"),
            ("trx_rows_locked", "5"),
            ("trx_rows_modified", "6"),
            ("trx_lock_memory_bytes", "160"),
            ("trx_isolation_level", "READ COMMITTED"),
        ])];
        let sessions = vec![row(&[("ID", "4"), ("USER", "app"), ("HOST", "h:1")])];
        let found = reading(
            0,
            &[],
            vec![(Part::Transactions, Ok(open)), (Part::Sessions, Ok(sessions))],
        );
        assert_eq!(
            lines(&table(input(&found, &found))),
            ["4|app@h:1|RUNNING|1:15|5|6|160 B|READ COMMITTED|"]
        );
    }
}
