//! Readings for tests.

use super::super::reading::{Identity, Part, Problem, ReaderConnection, Reading, Row};
use super::super::table::{Table, TableRow};
use super::input::{Idle, Input};
use std::collections::HashMap;
use std::time::{Duration, Instant};

pub fn row(values: &[(&str, &str)]) -> Row {
    let pairs = values
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Row::new(pairs.collect())
}

/// Returns a reading at this second of a test.
pub fn reading(
    second: u64,
    status: &[(&str, &str)],
    parts: Vec<(Part, Result<Vec<Row>, Problem>)>,
) -> Reading {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let mut all: Vec<(&str, &str)> = vec![("Uptime", "3600"), ("Threads_connected", "3")];
    all.extend_from_slice(status);
    Reading {
        at: *START.get_or_init(Instant::now) + Duration::from_secs(second),
        seen_by: ReaderConnection::default(),
        identity: Identity {
            version: "10.11.19-MariaDB-paceline-0.2.0".into(),
            host: "db1".into(),
            server_id: "1".into(),
            is_read_only: false,
        },
        status: row(&all),
        parts: parts
            .into_iter()
            .map(|(part, rows)| (part, rows.map(Into::into)))
            .collect::<HashMap<_, _>>(),
    }
}

pub fn input<'a>(reading: &'a Reading, before: &'a Reading) -> Input<'a> {
    Input {
        reading,
        before,
        idle: Idle::Hidden,
    }
}

/// Returns the rows' cells, separated by bars.
pub fn lines(table: &Table) -> Vec<String> {
    let line = |row: &TableRow| {
        let cells: Vec<_> = row.cells.iter().map(|cell| cell.shown.as_str()).collect();
        cells.join("|")
    };
    table.rows.iter().map(line).collect()
}
