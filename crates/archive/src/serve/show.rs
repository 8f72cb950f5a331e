//! SHOW statements.

use super::answer::{Answer, Cell, ColumnKind, Table};
use super::evaluate::unsupported;
use super::session::Session;
use super::variables::all;
use crate::clock::unix_seconds;
use crate::follow::{Follower, RequestedState};
use crate::statistics::{Value, statistics};
use paceline_syntax::Error;
use paceline_syntax::{Show, ShowFilter};
use paceline_types::Collation;
use paceline_types::error_code::ER_BINLOG_PURGE_FATAL_ERR;

impl Session {
    pub(super) fn show(&self, show: &Show) -> Result<Answer, Error> {
        let table = match show {
            Show::Variables { filter, .. } => {
                let rows = all(&self.archive).into_iter();
                filtered("Variable_name", rows, filter)?
            }
            Show::Status { filter, .. } => filtered("Variable_name", self.status().into_iter(), filter)?,
            Show::MasterStatus => self.master_status()?,
            Show::BinaryLogs => self.binary_logs(),
            Show::SlaveStatus { connection, all } => self.slave_status(connection.as_deref(), *all)?,
            Show::SlaveHosts => self.slave_hosts(),
            Show::ProcessList { .. } => self.process_list(),
            Show::Warnings(_) | Show::Errors(_) => Table::new(&[
                ("Level", ColumnKind::Text),
                ("Code", ColumnKind::Number),
                ("Message", ColumnKind::Text),
            ]),
            _ => return Err(unsupported("this SHOW")),
        };
        Ok(Answer::Rows(table))
    }

    fn master_status(&self) -> Result<Table, Error> {
        let mut table = Table::new(&[
            ("File", ColumnKind::Text),
            ("Position", ColumnKind::Number),
            ("Binlog_Do_DB", ColumnKind::Text),
            ("Binlog_Ignore_DB", ColumnKind::Text),
        ]);
        let log = &self.archive.context.log;
        let (file, offset) = log
            .coordinates(self.archive.context.sendable.position())
            .map_err(|error| Error::with_message(ER_BINLOG_PURGE_FATAL_ERR, error.to_string()))?;
        table.row(vec![
            Cell::Text(file),
            Cell::count(offset),
            Cell::text(""),
            Cell::text(""),
        ]);
        Ok(table)
    }

    fn binary_logs(&self) -> Table {
        let mut table = Table::new(&[("Log_name", ColumnKind::Text), ("File_size", ColumnKind::Number)]);
        for file in self.archive.context.log.files() {
            table.row(vec![Cell::Text(file.name), Cell::count(file.length)]);
        }
        table
    }

    fn slave_hosts(&self) -> Table {
        let mut table = Table::new(&[
            ("Server_id", ColumnKind::Number),
            ("Host", ColumnKind::Text),
            ("Port", ColumnKind::Number),
            ("Master_id", ColumnKind::Number),
        ]);
        for replica in self.archive.primary.replicas().list() {
            table.row(vec![
                Cell::Number(i64::from(replica.server_id.0)),
                Cell::Text(replica.host),
                Cell::Number(i64::from(replica.port)),
                Cell::Number(i64::from(replica.source_id.0)),
            ]);
        }
        table
    }

    fn process_list(&self) -> Table {
        let mut table = Table::new(&[
            ("Id", ColumnKind::Number),
            ("User", ColumnKind::Text),
            ("Host", ColumnKind::Text),
            ("db", ColumnKind::Text),
            ("Command", ColumnKind::Text),
            ("Time", ColumnKind::Number),
            ("State", ColumnKind::Text),
            ("Info", ColumnKind::Text),
        ]);
        for session in self.archive.sessions.all() {
            let (command, state) = *session.activity.lock();
            table.row(vec![
                Cell::Number(i64::from(session.id)),
                Cell::text(session.user.get().cloned().unwrap_or_default()),
                Cell::text(session.host.clone()),
                Cell::Null,
                Cell::text(command),
                Cell::count(session.connected.elapsed().as_secs()),
                Cell::text(state),
                Cell::Null,
            ]);
        }
        table
    }

    fn slave_status(&self, connection: Option<&str>, all: bool) -> Result<Table, Error> {
        let followers = match (all, self.archive.followers.is_empty()) {
            (true, _) | (_, true) => self.archive.followers.clone(),
            (false, false) => vec![self.follower(connection)?.clone()],
        };
        let mut columns = Vec::new();
        if all {
            columns.push(("Connection_name", ColumnKind::Text));
        }
        columns.extend(STATUS_COLUMNS);
        let mut table = Table::new(&columns);
        for follower in followers {
            let mut row = Vec::new();
            if all {
                row.push(Cell::text(follower.name()));
            }
            row.extend(self.status_row(&follower));
            table.row(row);
        }
        Ok(table)
    }

    fn status_row(&self, follower: &Follower) -> Vec<Cell> {
        let status = follower.status();
        let address = status
            .address
            .clone()
            .unwrap_or_else(|| follower.candidates().0[0].clone());
        let runs = match follower.requested() {
            RequestedState::Follow => "Yes",
            RequestedState::Stop => "No",
        };
        vec![
            Cell::text(status.doing),
            Cell::text(address.host),
            Cell::text(self.archive.context.account.user.clone()),
            Cell::Number(i64::from(address.port)),
            Cell::text(&*status.read.file),
            Cell::count(status.read.offset),
            Cell::text(status.state.name()),
            Cell::text(runs),
            Cell::Number(i64::from(status.error_number)),
            Cell::text(status.error.clone()),
            Cell::count(status.read.offset),
            status
                .seconds_behind(unix_seconds())
                .map_or(Cell::Null, Cell::count),
            Cell::Number(i64::from(status.error_number)),
            Cell::text(status.error.clone()),
            Cell::Number(0),
            Cell::text(""),
            Cell::Number(i64::from(status.server_id)),
            Cell::text("Slave_Pos"),
            Cell::text(self.archive.context.position().to_string()),
            Cell::text(follower.candidates().to_string()),
            Cell::count(status.waiting),
        ]
    }

    fn status(&self) -> Vec<(&'static str, Cell)> {
        let cell = |value: Value| match value {
            Value::Counter(number) | Value::Gauge(number) => Cell::count(number),
            Value::Switch(true) => Cell::text("ON"),
            Value::Switch(false) => Cell::text("OFF"),
            Value::Text(text) | Value::Problem(text) => Cell::Text(text),
        };
        let all = statistics(&self.archive).into_iter();
        all.map(|statistic| (statistic.name, cell(statistic.value)))
            .collect()
    }
}

/// Columns of SHOW SLAVE STATUS in MariaDB's order, followed by two of the archive.
const STATUS_COLUMNS: [(&str, ColumnKind); 21] = [
    ("Slave_IO_State", ColumnKind::Text),
    ("Master_Host", ColumnKind::Text),
    ("Master_User", ColumnKind::Text),
    ("Master_Port", ColumnKind::Number),
    ("Master_Log_File", ColumnKind::Text),
    ("Read_Master_Log_Pos", ColumnKind::Number),
    ("Slave_IO_Running", ColumnKind::Text),
    ("Slave_SQL_Running", ColumnKind::Text),
    ("Last_Errno", ColumnKind::Number),
    ("Last_Error", ColumnKind::Text),
    ("Exec_Master_Log_Pos", ColumnKind::Number),
    ("Seconds_Behind_Master", ColumnKind::Number),
    ("Last_IO_Errno", ColumnKind::Number),
    ("Last_IO_Error", ColumnKind::Text),
    ("Last_SQL_Errno", ColumnKind::Number),
    ("Last_SQL_Error", ColumnKind::Text),
    ("Master_Server_Id", ColumnKind::Number),
    ("Using_Gtid", ColumnKind::Text),
    ("Gtid_IO_Pos", ColumnKind::Text),
    ("Candidates", ColumnKind::Text),
    ("Waiting_Transactions", ColumnKind::Number),
];

/// Returns a table of the names and values that match a filter.
fn filtered(
    name: &str,
    rows: impl Iterator<Item = (&'static str, Cell)>,
    filter: &ShowFilter,
) -> Result<Table, Error> {
    let mut table = Table::new(&[(name, ColumnKind::Text), ("Value", ColumnKind::Text)]);
    for (name, cell) in rows {
        let is_wanted = match filter {
            ShowFilter::None => true,
            ShowFilter::Like(pattern) => Collation::Utf8mb4GeneralCi.like(name, pattern, Some('\\')),
            ShowFilter::Where(_) => return Err(unsupported("SHOW … WHERE")),
        };
        if is_wanted {
            let value = match cell {
                Cell::Number(number) => Cell::Text(number.to_string()),
                cell => cell,
            };
            table.row(vec![Cell::text(name), value]);
        }
    }
    Ok(table)
}
