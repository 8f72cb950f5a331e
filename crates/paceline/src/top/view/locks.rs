//! Waits for locks of rows and of metadata: a row for each pair of a session that waits and one that blocks it.

use super::super::number;
use super::super::reading::{Part, Problem, Reading, Row};
use super::super::table::{Cell, Column, Emphasis, Table, TableRow};
use super::input::{Input, note_problems};
use super::sessions::is_waiting;
use std::collections::{HashMap, HashSet};

const COLUMNS: [Column; 10] = [
    Column::text("LOCK"),
    Column::number("WAITER"),
    Column::text("WAITER'S USER"),
    Column::number("WAITS"),
    Column::number("BLOCKER"),
    Column::text("BLOCKER'S USER"),
    Column::text("BLOCKER DOES"),
    Column::number("BLOCKS"),
    Column::text("OBJECT"),
    Column::text("WAITER'S STATEMENT"),
];

/// A session waits for another one.
struct Wait {
    kind: &'static str,
    object: String,
    waiter: u64,
    /// `None` if the server does not tell.
    blocker: Option<u64>,
    /// Duration in seconds.
    seconds: Option<f64>,
}

pub fn table(input: Input) -> Table {
    let reading = input.reading;
    let mut table = Table {
        columns: COLUMNS.to_vec(),
        ..Table::default()
    };
    let by_id = |part, column: &'static str| -> HashMap<u64, &Row> {
        let rows = reading.rows(part).iter();
        rows.filter_map(|row| Some((row.id(column)?, row))).collect()
    };
    let sessions = by_id(Part::Sessions, "id");
    let mut waits = row_waits(reading);
    waits.extend(metadata_waits(reading));
    let mut blocked: HashMap<u64, f64> = HashMap::new();
    for blocker in waits.iter().filter_map(|wait| wait.blocker) {
        *blocked.entry(blocker).or_default() += 1.0;
    }
    for wait in &waits {
        let session = |id: Option<u64>| id.and_then(|id| sessions.get(&id).copied());
        let text = |row: Option<&Row>, column: &str| row.map_or("", |row| row.text(column)).to_owned();
        let user = |row: Option<&Row>| match row {
            Some(row) => format!("{}@{}", row.text("user"), row.text("host")),
            None => String::new(),
        };
        let (waiter, blocker) = (session(Some(wait.waiter)), session(wait.blocker));
        // A blocker that executes nothing has left its transaction open.
        let does = match (blocker, text(blocker, "info").as_str()) {
            (None, _) => String::new(),
            (Some(row), "") => format!("{}, no statement", row.text("command")),
            (Some(_), statement) => statement.chars().take(BLOCKER_STATEMENT_MAX).collect(),
        };
        let seconds = wait.seconds.or_else(|| Some(waiter?.number("time_ms")? / 1e3));
        let id = |id: Option<u64>| Cell::number(id.map(|id| id as f64), |id| format!("{id:.0}"));
        table.rows.push(TableRow {
            key: format!("{} {} {:?}", wait.kind, wait.waiter, wait.blocker),
            connection: wait.blocker,
            cells: vec![
                Cell::text(wait.kind),
                id(Some(wait.waiter)),
                Cell::text(&user(waiter)),
                Cell::number(seconds.map(|seconds| seconds * 1e6), number::microseconds),
                id(wait.blocker),
                Cell::text(&user(blocker)),
                Cell::text(&does),
                Cell::number(
                    wait.blocker.and_then(|id| blocked.get(&id).copied()),
                    number::count,
                ),
                Cell::text(&wait.object),
                Cell::text(&text(waiter, "info")),
            ],
            emphasis: Emphasis::Alarm,
        });
    }
    note_problems(
        &mut table,
        reading,
        &[Part::LockWaits, Part::Transactions, Part::Locks, Part::Sessions],
    );
    match reading.problem(Part::MetadataLocks) {
        None => {}
        // MariaDB without performance_schema has an empty table, and the plugin METADATA_LOCK_INFO names no waiters.
        Some(Problem::Missing) => table
            .notes
            .push("blockers of metadata locks are not known here".into()),
        Some(_) => note_problems(&mut table, reading, &[Part::MetadataLocks]),
    }
    if table.rows.is_empty() && table.notes.is_empty() {
        table.notes.push("nobody waits for a lock".into());
    }
    table
}

/// Characters of a blocker's statement, which is not in the last column.
const BLOCKER_STATEMENT_MAX: usize = 40;

fn row_waits(reading: &Reading) -> Vec<Wait> {
    let by_text = |part, column: &'static str| -> HashMap<&str, &Row> {
        let rows = reading.rows(part).iter();
        rows.map(|row| (row.text(column), row)).collect()
    };
    let transactions = by_text(Part::Transactions, "trx_id");
    let locks = by_text(Part::Locks, "lock_id");
    let session = |id: &str| transactions.get(id)?.id("trx_mysql_thread_id");
    let waits = reading.rows(Part::LockWaits).iter().filter_map(|row| {
        let waiting = row.text("requesting_trx_id");
        let object = locks.get(row.text("requested_lock_id")).map(|lock| {
            let index = lock.text("lock_index");
            let index = match index.trim_matches('`') {
                "" => String::new(),
                index => format!(" {index}"),
            };
            format!("{}{index} ({})", lock.text("lock_table"), lock.text("lock_mode"))
        });
        Some(Wait {
            kind: "row",
            object: object.unwrap_or_default(),
            waiter: session(waiting)?,
            blocker: session(row.text("blocking_trx_id")),
            seconds: transactions.get(waiting).and_then(|row| row.number("waited")),
        })
    });
    waits.collect()
}

/// Returns the waits for metadata locks. The blockers are the sessions that hold a lock of the same object.
fn metadata_waits(reading: &Reading) -> Vec<Wait> {
    let object = |row: &Row| {
        (
            row.text("object_type").to_owned(),
            row.text("object_schema").to_owned(),
            row.text("object_name").to_owned(),
        )
    };
    let mut holders: HashMap<_, HashSet<u64>> = HashMap::new();
    let (granted, pending): (Vec<&Row>, Vec<&Row>) = reading
        .rows(Part::MetadataLocks)
        .iter()
        .partition(|row| row.text("lock_status") == "GRANTED");
    for row in granted {
        if let Some(id) = row.id("processlist_id") {
            holders.entry(object(row)).or_default().insert(id);
        }
    }
    let mut waits = Vec::new();
    let mut known = HashSet::new();
    for row in pending {
        let Some(waiter) = row.id("processlist_id") else {
            continue;
        };
        known.insert(waiter);
        let (kind, schema, name) = object(row);
        let shown = match (schema.as_str(), name.as_str()) {
            ("", _) => kind.to_lowercase(),
            (_, "") => schema.clone(),
            _ => format!("{schema}.{name}"),
        };
        let shown = format!("{shown} ({})", row.text("lock_type"));
        let mut blockers: Vec<Option<u64>> = holders
            .get(&(kind, schema, name))
            .map(|ids| ids.iter().copied().filter(|id| *id != waiter).map(Some).collect())
            .unwrap_or_default();
        blockers.sort_unstable();
        // It may wait for one that itself waits, which is not in the way of others.
        if blockers.is_empty() {
            blockers.push(None);
        }
        waits.extend(blockers.into_iter().map(|blocker| Wait {
            kind: "metadata",
            object: shown.clone(),
            waiter,
            blocker,
            seconds: None,
        }));
    }
    // A server that does not tell of what: the session's state says that it waits.
    let states = reading.rows(Part::Sessions).iter().filter_map(|row| {
        let (id, state) = (row.id("id")?, row.text("state"));
        (is_waiting(state) && !state.contains("row lock") && !known.contains(&id)).then(|| Wait {
            kind: "metadata",
            object: state.to_owned(),
            waiter: id,
            blocker: None,
            seconds: None,
        })
    });
    waits.extend(states);
    waits
}

#[cfg(test)]
mod tests {
    use super::super::test_support::{input, lines, reading, row};
    use super::*;

    #[test]
    fn waits_for_rows_and_metadata_name_waiter_and_blocker() {
        let transaction = |id, thread, waited| {
            row(&[
                ("trx_id", id),
                ("trx_mysql_thread_id", thread),
                ("waited", waited),
            ])
        };
        let session = |id, state, info| {
            row(&[
                ("ID", id),
                ("USER", "u"),
                ("HOST", "h"),
                ("COMMAND", "Sleep"),
                ("TIME_MS", "3000"),
                ("STATE", state),
                ("INFO", info),
            ])
        };
        let metadata = |status, id| {
            row(&[
                ("OBJECT_TYPE", "TABLE"),
                ("OBJECT_SCHEMA", "d"),
                ("OBJECT_NAME", "t"),
                ("LOCK_TYPE", "EXCLUSIVE"),
                ("LOCK_STATUS", status),
                ("PROCESSLIST_ID", id),
            ])
        };
        let waiting = "Waiting for table metadata lock";
        let found = reading(
            0,
            &[],
            vec![
                (
                    Part::LockWaits,
                    Ok(vec![row(&[
                        ("requesting_trx_id", "2"),
                        ("requested_lock_id", "l"),
                        ("blocking_trx_id", "1"),
                    ])]),
                ),
                (
                    Part::Locks,
                    Ok(vec![row(&[
                        ("lock_id", "l"),
                        ("lock_table", "`d`.`t`"),
                        ("lock_index", "PRIMARY"),
                        ("lock_mode", "X"),
                    ])]),
                ),
                (
                    Part::Transactions,
                    Ok(vec![transaction("1", "11", ""), transaction("2", "12", "4")]),
                ),
                (
                    Part::MetadataLocks,
                    Ok(vec![metadata("PENDING", "13"), metadata("GRANTED", "11")]),
                ),
                (
                    Part::Sessions,
                    Ok(vec![
                        session("11", "", ""),
                        session("12", "", "update t"),
                        session("13", waiting, "alter"),
                        session("14", waiting, "drop"),
                    ]),
                ),
            ],
        );
        assert_eq!(
            lines(&table(input(&found, &found))),
            [
                "row|12|u@h|4.0 s|11|u@h|Sleep, no statement|2|`d`.`t` PRIMARY (X)|update t",
                "metadata|13|u@h|3.0 s|11|u@h|Sleep, no statement|2|d.t (EXCLUSIVE)|alter",
                "metadata|14|u@h|3.0 s|-|||-|Waiting for table metadata lock|drop",
            ]
        );
    }
}
