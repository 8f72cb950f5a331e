//! Statements by their digest.

use super::super::number;
use super::super::reading::{Part, Row};
use super::super::table::{Cell, Column, Emphasis, Table, TableRow};
use super::input::{Input, note_problems};
use std::collections::HashMap;

const COLUMNS: [Column; 11] = [
    // Time of executions per time that has passed: the average number of sessions that execute it.
    Column::number("LOAD"),
    Column::number("CALLS/S"),
    Column::number("MEAN"),
    Column::number("P95"),
    Column::number("P99"),
    Column::number("MAX"),
    Column::number("CALLS"),
    Column::number("TOTAL"),
    Column::number("ERRORS"),
    Column::number("ROWS"),
    Column::text("STATEMENT"),
];

pub fn table(input: Input) -> Table {
    let mut table = Table {
        columns: COLUMNS.to_vec(),
        ..Table::default()
    };
    let key = |row: &Row| format!("{}.{}", row.text("schema_name"), row.text("digest"));
    let before: HashMap<String, &Row> = input
        .before
        .rows(Part::Statements)
        .iter()
        .map(|row| (key(row), row))
        .collect();
    let is_before_complete = !input.before.has_more(Part::Statements);
    // The reading before may be that of another view.
    let seconds = match input.before.has(Part::Statements) {
        true => input.reading.seconds_since(input.before),
        false => 0.0,
    };
    for row in input.reading.rows(Part::Statements) {
        let key = key(row);
        let grown = |column: &str| {
            let earlier = match before.get(&key) {
                Some(row) => row.number(column)?,
                // The statement is new.
                None if is_before_complete => 0.0,
                None => return None,
            };
            let grown = row.number(column)? - earlier;
            (seconds > 0.0 && grown >= 0.0).then(|| grown / seconds)
        };
        let calls = row.number("executions");
        let total = row.number("total_usec");
        let mean = calls.zip(total).map(|(calls, total)| total / calls.max(1.0));
        let text = match (row.text("schema_name"), row.text("digest_text")) {
            (_, "") => "(statements without a digest of their own)".to_owned(),
            ("", text) => text.to_owned(),
            (schema, text) => format!("{schema}: {text}"),
        };
        let microseconds = |column: &str| Cell::number(row.number(column), number::microseconds);
        let count = |column: &str| Cell::number(row.number(column), number::count);
        let rows =
            row.number("rows_sent").unwrap_or_default() + row.number("rows_affected").unwrap_or_default();
        table.rows.push(TableRow {
            connection: None,
            cells: vec![
                Cell::number(grown("total_usec").map(|load| load / 1e6), |load| {
                    format!("{load:.3}")
                }),
                Cell::number(grown("executions"), number::count),
                Cell::number(mean, number::microseconds),
                microseconds("p95_usec"),
                microseconds("p99_usec"),
                microseconds("max_usec"),
                count("executions"),
                microseconds("total_usec"),
                count("errors"),
                Cell::number(Some(rows), number::count),
                Cell::text(&text),
            ],
            key,
            emphasis: Emphasis::Normal,
        });
    }
    note_problems(&mut table, input.reading, &[Part::Statements]);
    if table.rows.is_empty() && table.notes.is_empty() {
        table
            .notes
            .push("nothing is counted: performance_schema may be OFF".into());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::super::reading::ROWS_MAX;
    use super::super::test_support::{input, lines, reading, row};
    use super::*;

    #[test]
    fn without_an_earlier_reading_there_is_no_load() {
        let before = reading(0, &[], vec![]);
        let row = row(&[
            ("DIGEST", "x"),
            ("DIGEST_TEXT", "COMMIT"),
            ("EXECUTIONS", "5"),
            ("TOTAL_USEC", "5000"),
        ]);
        let now = reading(2, &[], vec![(Part::Statements, Ok(vec![row]))]);
        assert!(lines(&table(input(&now, &before)))[0].starts_with("-|-|1.0 ms|"));
    }

    #[test]
    fn a_statement_without_an_earlier_row_is_new_if_all_rows_were_read() {
        let digest = |digest: &str| {
            row(&[
                ("DIGEST", digest),
                ("DIGEST_TEXT", "COMMIT"),
                ("EXECUTIONS", "8"),
                ("TOTAL_USEC", "8000000"),
            ])
        };
        for (count, expected) in [(ROWS_MAX, "4.000|4|"), (ROWS_MAX + 1, "-|-|")] {
            let rows = (0..count).map(|number| digest(&number.to_string()));
            let before = reading(0, &[], vec![(Part::Statements, Ok(rows.collect()))]);
            let now = reading(2, &[], vec![(Part::Statements, Ok(vec![digest("x")]))]);
            let lines = lines(&table(input(&now, &before)));
            assert!(lines[0].starts_with(expected), "{count}: {lines:?}");
        }
    }

    #[test]
    fn load_is_the_time_of_executions_per_second() {
        let digest = |executions, total| {
            row(&[
                ("SCHEMA_NAME", "d"),
                ("DIGEST", "x"),
                ("DIGEST_TEXT", "SELECT ?"),
                ("EXECUTIONS", executions),
                ("TOTAL_USEC", total),
                ("MAX_USEC", "9000"),
                ("ERRORS", "1"),
                ("ROWS_SENT", "4"),
                ("ROWS_AFFECTED", "0"),
            ])
        };
        let before = reading(
            0,
            &[],
            vec![(Part::Statements, Ok(vec![digest("10", "1000000")]))],
        );
        let now = reading(
            2,
            &[],
            vec![(Part::Statements, Ok(vec![digest("30", "2000000")]))],
        );
        let table = table(input(&now, &before));
        assert_eq!(
            lines(&table),
            ["0.500|10|67 ms|-|-|9.0 ms|30|2.0 s|1|4|d: SELECT ?"]
        );
    }
}
