//! Replication: a row for each connection to a primary, and one for each replica that is fed.

use super::super::number;
use super::super::reading::{Part, Reading, Row};
use super::super::table::{Cell, Column, Emphasis, Table, TableRow};
use super::input::{Input, note_problems};

const COLUMNS: [Column; 9] = [
    Column::text("ROLE"),
    Column::text("NAME"),
    Column::text("SERVER"),
    Column::text("RECEIVES"),
    Column::text("APPLIES"),
    Column::number("LAG"),
    Column::text("POSITION"),
    Column::text("GTID"),
    Column::text("STATE OR ERROR"),
];

pub fn table(input: Input) -> Table {
    let reading = input.reading;
    let mut table = Table {
        columns: COLUMNS.to_vec(),
        ..Table::default()
    };
    table
        .rows
        .extend(reading.rows(Part::Primaries).iter().map(primary));
    let dumps = reading
        .rows(Part::Sessions)
        .iter()
        .filter(|row| row.text("command") == "Binlog Dump");
    table.rows.extend(dumps.map(replica));
    if let Some(note) = lag(reading) {
        table.notes.push(note);
    }
    note_problems(&mut table, reading, &[Part::Primaries, Part::Sessions]);
    if table.rows.is_empty() && table.notes.is_empty() {
        table
            .notes
            .push("the server follows no primary and feeds no replica".into());
    }
    table
}

fn primary(row: &Row) -> TableRow {
    let name = row.text("connection_name");
    let (receives, applies) = (row.text("slave_io_running"), row.text("slave_sql_running"));
    let lag = row.number("seconds_behind_master");
    let errors = [row.text("last_io_error"), row.text("last_sql_error")];
    let error = errors.into_iter().find(|error| !error.is_empty());
    let state = error.unwrap_or(match row.text("slave_sql_running_state") {
        "" => row.text("slave_io_state"),
        state => state,
    });
    TableRow {
        key: format!("primary {name}"),
        connection: None,
        cells: vec![
            Cell::text("follows"),
            Cell::text(name),
            Cell::text(&format!(
                "{}:{}",
                row.text("master_host"),
                row.text("master_port")
            )),
            Cell::text(receives),
            Cell::text(applies),
            Cell::number(lag, |seconds| format!("{seconds:.0} s")),
            Cell::text(&format!(
                "{}:{}",
                row.text("master_log_file"),
                row.text("read_master_log_pos")
            )),
            Cell::text(row.text("gtid_io_pos")),
            Cell::text(state),
        ],
        emphasis: match error.is_some() || receives != "Yes" || applies != "Yes" {
            true => Emphasis::Alarm,
            false => Emphasis::Normal,
        },
    }
}

fn replica(row: &Row) -> TableRow {
    let id = row.id("id");
    TableRow {
        key: format!("replica {}", row.text("id")),
        connection: id,
        cells: vec![
            Cell::text("feeds"),
            Cell::text(row.text("id")),
            Cell::text(&format!("{}@{}", row.text("user"), row.text("host"))),
            Cell::text(""),
            Cell::text(""),
            Cell::number(None, number::count),
            Cell::text(""),
            Cell::text(""),
            Cell::text(row.text("state")),
        ],
        emphasis: Emphasis::Normal,
    }
}

/// Returns what a replica still has to apply; `None` for a server that does not tell.
fn lag(reading: &Reading) -> Option<String> {
    let bytes = reading.value("Paceline_replica_lag_bytes")?;
    let transactions = reading.value("Paceline_replica_lag_transactions")?;
    let held_back_by = reading.status.text("paceline_replica_held_back_by");
    let held_back_by = match held_back_by {
        "" => String::new(),
        reason => format!("; held back by: {}", super::super::harmless::harmless(reason)),
    };
    Some(format!(
        "received and not applied: {} transactions, {}{held_back_by}",
        number::count(transactions),
        number::bytes(bytes)
    ))
}

#[cfg(test)]
mod tests {
    use super::super::test_support::{input, lines, reading, row};
    use super::*;

    #[test]
    fn a_replica_shows_its_lag_and_a_primary_its_replicas() {
        let connection = row(&[
            ("Connection_name", "c"),
            ("Slave_IO_Running", "Yes"),
            ("Slave_SQL_Running", "No"),
            ("Master_Host", "db0"),
            ("Master_Port", "3306"),
            ("Seconds_Behind_Master", "12"),
            ("Master_Log_File", "b.1"),
            ("Read_Master_Log_Pos", "9"),
            ("Gtid_IO_Pos", "0-1-7"),
            ("Last_SQL_Error", "Error 1032"),
            ("Slave_IO_State", "Waiting"),
        ]);
        let dump = row(&[
            ("ID", "5"),
            ("USER", "r"),
            ("HOST", "h"),
            ("COMMAND", "Binlog Dump"),
            ("STATE", "sent all"),
        ]);
        let status = [
            ("Paceline_replica_lag_bytes", "2048"),
            ("Paceline_replica_lag_transactions", "3"),
            ("Paceline_replica_held_back_by", "disk"),
        ];
        let found = reading(
            0,
            &status,
            vec![
                (Part::Primaries, Ok(vec![connection])),
                (Part::Sessions, Ok(vec![dump])),
            ],
        );
        let table = table(input(&found, &found));
        assert_eq!(
            lines(&table),
            [
                "follows|c|db0:3306|Yes|No|12 s|b.1:9|0-1-7|Error 1032",
                "feeds|5|r@h|||-|||sent all"
            ]
        );
        assert_eq!(
            table.notes,
            ["received and not applied: 3 transactions, 2.0 KiB; held back by: disk"]
        );
        assert_eq!(table.rows[0].emphasis, Emphasis::Alarm);
    }
}
