//! The way of a commit through its stages, and what belongs to it: a row for each value.

use super::super::number;
use super::super::reading::{Part, Reading, Row};
use super::super::table::{Cell, Column, Emphasis, Table, TableRow};
use super::input::{Input, note_problems};
use std::collections::HashMap;

const COLUMNS: [Column; 9] = [
    Column::text("VALUE"),
    Column::number("PER SECOND"),
    Column::number("NOW"),
    Column::number("MEAN"),
    Column::number("P50"),
    Column::number("P95"),
    Column::number("P99"),
    Column::number("MAX"),
    Column::text("MEANING"),
];

/// A statistic: its name, what is shown, how a value is written, and its meaning.
type Shown = (&'static str, &'static str, fn(f64) -> String, &'static str);

/// Histograms: name, what is shown, unit. Percentiles are those since the server's start.
const HISTOGRAMS: [Shown; 5] = [
    (
        "paceline_commit_usec",
        "commit",
        number::microseconds,
        "from the queue until the transaction is visible",
    ),
    (
        "paceline_sync_usec",
        "sync",
        number::microseconds,
        "a sync of the log, one per group",
    ),
    (
        "paceline_publish_usec",
        "publish",
        number::microseconds,
        "from the sync until the group is visible",
    ),
    (
        "paceline_group_size",
        "group",
        number::count,
        "transactions per sync",
    ),
    (
        "paceline_lock_wait_usec",
        "lock wait",
        number::microseconds,
        "waits for locks",
    ),
];

/// Counters of SHOW GLOBAL STATUS: name, what is shown, unit of the rate.
const COUNTERS: [Shown; 12] = [
    (
        "Binlog_commits",
        "transactions",
        number::count,
        "written to the log",
    ),
    (
        "Binlog_group_commits",
        "groups",
        number::count,
        "written to the log with one sync",
    ),
    ("Innodb_data_fsyncs", "syncs", number::count, ""),
    (
        "Binlog_bytes_written",
        "log",
        number::bytes,
        "bytes written to the log",
    ),
    (
        "Innodb_os_log_written",
        "redo log",
        number::bytes,
        "bytes of InnoDB's own log",
    ),
    ("Com_commit", "COMMIT", number::count, "statements"),
    ("Com_rollback", "ROLLBACK", number::count, "statements"),
    (
        "Paceline_rollbacks",
        "rollbacks",
        number::count,
        "transactions rolled back, for any reason",
    ),
    (
        "Innodb_deadlocks",
        "deadlocks",
        number::count,
        "each rolled one transaction back",
    ),
    ("Innodb_row_lock_waits", "row lock waits", number::count, ""),
    (
        "Paceline_lock_wait_timeouts",
        "lock wait timeouts",
        number::count,
        "error 1205",
    ),
    (
        "Paceline_checkpoints",
        "checkpoints",
        number::count,
        "recovery need not read the log before them",
    ),
];

/// Gauges of SHOW GLOBAL STATUS.
const GAUGES: [Shown; 10] = [
    (
        "Paceline_open_transactions",
        "open transactions",
        number::count,
        "",
    ),
    ("Paceline_locked_keys", "locked keys", number::count, ""),
    (
        "Innodb_row_lock_current_waits",
        "sessions in row lock waits",
        number::count,
        "",
    ),
    (
        "Paceline_pending_rows",
        "pending rows",
        number::count,
        "committed, not in the engines yet",
    ),
    (
        "Paceline_memtable_bytes",
        "memtables",
        number::bytes,
        "not in table files yet",
    ),
    (
        "Paceline_immutable_memtables",
        "waiting memtables",
        number::count,
        "wait for their flush",
    ),
    (
        "Paceline_pending_compaction_bytes",
        "compactions",
        number::bytes,
        "bytes that they still have to write",
    ),
    (
        "Innodb_history_list_length",
        "history list",
        number::count,
        "InnoDB's undo that is not purged",
    ),
    (
        "Innodb_checkpoint_age",
        "checkpoint age",
        number::bytes,
        "InnoDB's redo log since its checkpoint",
    ),
    (
        "Rpl_semi_sync_master_wait_sessions",
        "semi-sync waits",
        number::count,
        "sessions that wait for a replica",
    ),
];

/// Values that are InnoDB's own. A Paceline has them for programs, with the value of something else or none.
const OF_INNODB: [&str; 3] = [
    "Innodb_os_log_written",
    "Innodb_history_list_length",
    "Innodb_checkpoint_age",
];

pub fn table(input: Input) -> Table {
    let Input { reading, before, .. } = input;
    let is_shown = |name: &str| {
        reading.value(name).is_some() && !(reading.identity.is_paceline() && OF_INNODB.contains(&name))
    };
    let mut table = Table {
        columns: COLUMNS.to_vec(),
        ..Table::default()
    };
    let none = || Cell::number(None, number::count);
    // Rate, value now, and five figures of a histogram.
    let mut push = |name: &str, shown: &str, numbers: &[Cell], meaning: &str| {
        let mut cells = vec![Cell::text(shown)];
        cells.extend_from_slice(numbers);
        cells.resize_with(COLUMNS.len() - 1, none);
        cells.push(Cell::text(meaning));
        table.rows.push(TableRow {
            key: name.to_owned(),
            connection: None,
            cells,
            emphasis: Emphasis::Normal,
        });
    };
    if let Some(size) = group_size(reading, before) {
        let numbers = [none(), Cell::number(Some(size), number::count)];
        push(
            "group size",
            "group size",
            &numbers,
            "transactions per sync in this interval",
        );
    }
    let now = metrics(reading);
    let earlier = metrics(before);
    let seconds = reading.seconds_since(before);
    for (name, shown, unit, meaning) in HISTOGRAMS {
        let value = |part: &str| now.get(&format!("{name}_{part}")).copied();
        let Some(count) = value("count") else { continue };
        let rate = earlier
            .get(&format!("{name}_count"))
            .filter(|earlier| seconds > 0.0 && count >= **earlier)
            .map(|earlier| (count - earlier) / seconds);
        let cell = |part| Cell::number(value(part), unit);
        let mut numbers = vec![Cell::number(rate, number::count), none()];
        numbers.extend(["mean", "p50", "p95", "p99", "max"].map(cell));
        push(name, shown, &numbers, meaning);
    }
    for (name, shown, unit, meaning) in COUNTERS {
        if is_shown(name) {
            push(
                name,
                shown,
                &[Cell::number(reading.rate(before, name), unit)],
                meaning,
            );
        }
    }
    for (name, shown, unit, meaning) in GAUGES {
        if is_shown(name) {
            push(
                name,
                shown,
                &[none(), Cell::number(reading.value(name), unit)],
                meaning,
            );
        }
    }
    note_problems(&mut table, reading, &[Part::Metrics]);
    table
}

/// Returns how many transactions a sync served between two readings; `None` without one.
pub fn group_size(reading: &Reading, before: &Reading) -> Option<f64> {
    let commits = reading.rate(before, "Binlog_commits")?;
    let groups = reading.rate(before, "Binlog_group_commits")?;
    (groups > 0.0).then(|| commits / groups)
}

fn metrics(reading: &Reading) -> HashMap<String, f64> {
    let value = |row: &Row| Some((row.text("name").to_ascii_lowercase(), row.number("value")?));
    reading.rows(Part::Metrics).iter().filter_map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::super::test_support::{input, lines, reading, row};
    use super::*;

    #[test]
    fn rates_are_those_of_the_interval_and_percentiles_those_since_the_start() {
        let metric = |name, value| row(&[("NAME", name), ("VALUE", value)]);
        let metrics = |count| {
            let rows = vec![
                metric("Paceline_sync_usec_count", count),
                metric("Paceline_sync_usec_p99", "2000"),
            ];
            vec![(Part::Metrics, Ok(rows))]
        };
        let status = |commits, groups| [("Binlog_commits", commits), ("Binlog_group_commits", groups)];
        let before = reading(0, &status("100", "50"), metrics("50"));
        let now = reading(2, &status("160", "70"), metrics("70"));
        assert_eq!(
            lines(&table(input(&now, &before))),
            [
                "group size|-|3|-|-|-|-|-|transactions per sync in this interval",
                "sync|10|-|-|-|-|2.0 ms|-|a sync of the log, one per group",
                "transactions|30|-|-|-|-|-|-|written to the log",
                "groups|10|-|-|-|-|-|-|written to the log with one sync",
            ]
        );
        // A counter that went back: the server has restarted.
        let table = table(input(&before, &now));
        assert!(lines(&table).contains(&"transactions|-|-|-|-|-|-|-|written to the log".to_owned()));
    }
}
