//! The general log and the slow query log, in MariaDB's format: files of lines, or tables of `mysql`.
//!
//! ```text
//!   begin of a command ─────────────────────────────▶ general ─┬─▶ LogFile   (log_output=FILE)
//!   end of a statement ─▶ slow? ─▶ filter, rate ────▶ slow ────┴─▶ LogTable  (log_output=TABLE)
//! ```
//!
//! `general_log` and `slow_query_log` open what `log_output` names. A write error is reported once in the error log and
//! closes the file; no statement fails because of it.
//!
//! A statement that is not slow pays for a comparison of its duration. Its plan is looked at after its execution, and
//! only if it is slow and a variable asks for the plan; `log_queries_not_using_indexes` looks at the plan of each.

mod file;
mod log_table;
mod settings;
mod slow;

pub use settings::{Operations, StatementLogSettings};
pub use slow::SlowStatement;

use crate::registry::now_micros;
use crate::variables::{Globals, Variable, VariableValue};
use file::LogFile;
use log_table::{LogTable, text_value};
use paceline_types::Value;
use paceline_types::temporal::{Time, Timestamp};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bit of FILE in `log_output`.
const TO_FILE: u64 = 1 << 1;
/// Bit of TABLE.
const TO_TABLE: u64 = 1 << 2;
/// Bit of NONE, which wins over the others.
const TO_NOTHING: u64 = 1 << 0;

/// Both logs.
#[derive(Debug, Default)]
pub struct StatementLogs {
    general: LogFile,
    slow: LogFile,
    general_table: LogTable,
    slow_table: LogTable,
    /// Number of slow statements, for `log_slow_rate_limit`.
    slow_statements: AtomicU64,
}

/// Returns whether a variable chooses or opens a log file.
pub fn is_log_variable(variable: Variable) -> bool {
    use Variable::*;
    matches!(
        variable,
        GeneralLog
            | GeneralLogFile
            | SlowQueryLog
            | LogSlowQuery
            | SlowQueryLogFile
            | LogSlowQueryFile
            | LogOutput
    )
}

/// Returns the synonym of a variable.
pub fn other_name(variable: Variable) -> Option<Variable> {
    use Variable::*;
    Some(match variable {
        SlowQueryLog => LogSlowQuery,
        LogSlowQuery => SlowQueryLog,
        SlowQueryLogFile => LogSlowQueryFile,
        LogSlowQueryFile => SlowQueryLogFile,
        LongQueryTime => LogSlowQueryTime,
        LogSlowQueryTime => LongQueryTime,
        MinExaminedRowLimit => LogSlowMinExaminedRowLimit,
        LogSlowMinExaminedRowLimit => MinExaminedRowLimit,
        DefaultStorageEngine => StorageEngine,
        StorageEngine => DefaultStorageEngine,
        _ => return None,
    })
}

/// Returns the variables that get a value with `variable`: its synonym, and those that are bits of it or of which it is
/// a bit. `current` returns the value of a variable.
pub fn paired(
    variable: Variable,
    setting: &VariableValue,
    current: impl Fn(Variable) -> VariableValue,
) -> Vec<(Variable, VariableValue)> {
    use Variable::*;
    const ADMIN: u64 = 1 << 0;
    const SLAVE: u64 = 1 << 2;
    const NOT_USING_INDEX: u64 = 1 << 6;
    let with_bit = |of: Variable, bit: u64, is_set: bool| {
        let bits = current(of).as_u64() & !bit;
        vec![(
            of,
            VariableValue::Unsigned(if is_set { bits | bit } else { bits }),
        )]
    };
    let has = |bit: u64| VariableValue::Boolean(setting.as_u64() & bit != 0);
    let has_not = |bit: u64| VariableValue::Boolean(setting.as_u64() & bit == 0);
    match variable {
        LogSlowAdminStatements => with_bit(LogSlowDisabledStatements, ADMIN, !setting.as_bool()),
        LogSlowSlaveStatements => with_bit(LogSlowDisabledStatements, SLAVE, !setting.as_bool()),
        LogQueriesNotUsingIndexes => with_bit(LogSlowFilter, NOT_USING_INDEX, setting.as_bool()),
        LogSlowDisabledStatements => vec![
            (LogSlowAdminStatements, has_not(ADMIN)),
            (LogSlowSlaveStatements, has_not(SLAVE)),
        ],
        LogSlowFilter => vec![(LogQueriesNotUsingIndexes, has(NOT_USING_INDEX))],
        _ => other_name(variable)
            .map(|other| (other, setting.clone()))
            .into_iter()
            .collect(),
    }
}

/// Returns the part of a setting of the slow query log that is not built.
pub fn unbuilt_part(variable: Variable, setting: &VariableValue) -> Option<&'static str> {
    const ENGINE: u64 = 1 << 0 | 1 << 3;
    const STATEMENTS_OF_PROGRAMS: u64 = 1 << 3;
    let bits = setting.as_u64();
    match variable {
        Variable::LogSlowVerbosity if bits & ENGINE != 0 => Some("log_slow_verbosity=engine"),
        Variable::LogSlowDisabledStatements if bits & STATEMENTS_OF_PROGRAMS == 0 => {
            Some("log_slow_disabled_statements without sp")
        }
        _ => None,
    }
}

impl StatementLogs {
    /// Opens and closes the files according to the variables.
    ///
    /// # Errors
    /// If a file cannot be opened; its log stays as it was.
    pub fn configure(&self, globals: &Globals) -> io::Result<()> {
        let directory = globals.get(Variable::Datadir);
        let output = globals.number(Variable::LogOutput);
        let goes_to = |place: u64| output & place != 0 && output & TO_NOTHING == 0;
        let to_file = goes_to(TO_FILE);
        self.general_table
            .set_written(goes_to(TO_TABLE) && globals.is_on(Variable::GeneralLog));
        self.slow_table
            .set_written(goes_to(TO_TABLE) && globals.is_on(Variable::SlowQueryLog));
        let path = |file: Variable| Path::new(directory.as_str()).join(globals.get(file).as_str());
        let head = head(globals);
        self.general.open_if(
            to_file && globals.is_on(Variable::GeneralLog),
            &path(Variable::GeneralLogFile),
            &head,
        )?;
        self.slow.open_if(
            to_file && globals.is_on(Variable::SlowQueryLog),
            &path(Variable::SlowQueryLogFile),
            &head,
        )
    }

    /// Reopens the files, which may have been renamed.
    ///
    /// # Errors
    /// If a file cannot be opened.
    pub fn reopen(&self, globals: &Globals) -> io::Result<()> {
        self.general.close();
        self.slow.close();
        self.configure(globals)
    }

    /// Returns whether commands are logged.
    pub fn has_general(&self) -> bool {
        self.general.is_open() || self.general_table.is_written()
    }

    /// Returns whether slow statements are logged.
    pub fn has_slow(&self) -> bool {
        self.slow.is_open() || self.slow_table.is_written()
    }

    /// Returns a table of the database `mysql` that has the entries of a log.
    fn table(&self, name: &str) -> Option<&LogTable> {
        match name {
            "general_log" => Some(&self.general_table),
            "slow_log" => Some(&self.slow_table),
            _ => None,
        }
    }

    /// Returns the rows of a table of the database `mysql`; `None` if it is not the table of a log.
    pub fn table_rows(&self, name: &str) -> Option<Vec<Vec<Value>>> {
        Some(self.table(name)?.rows())
    }

    /// Empties a table of the database `mysql`. Returns whether it is the table of a log.
    pub fn clear_table(&self, name: &str) -> bool {
        self.table(name).map(LogTable::clear).is_some()
    }

    /// Logs a command. `account` is as in [`SlowStatement`].
    pub fn command(&self, session: LoggedSession<'_>, command: &str, argument: &[u8]) {
        let micros = now_micros();
        let connection_id = session.connection_id;
        if self.general_table.is_written() {
            self.general_table.add(vec![
                timestamp(micros),
                Value::Text(session.account.to_owned()),
                Value::UInt(connection_id),
                Value::UInt(u64::from(session.server_id)),
                Value::Text(command.to_owned()),
                text_value(argument),
            ]);
        }
        self.general.write(micros, None, |head, line| {
            match &head.time {
                Some(time) => line.extend_from_slice(time.as_bytes()),
                None => line.push(b'\t'),
            }
            line.extend_from_slice(format!("\t{connection_id:6} {command}\t").as_bytes());
            line.extend_from_slice(argument);
            line.push(b'\n');
        });
    }

    /// Returns whether a slow statement is the one of `rate_limit` that is logged.
    pub fn chooses_slow(&self, rate_limit: u64) -> bool {
        rate_limit <= 1 || self.slow_statements.fetch_add(1, Ordering::Relaxed) % rate_limit == rate_limit - 1
    }

    /// Logs a slow statement.
    pub fn slow(&self, server_id: u32, statement: &SlowStatement<'_>) {
        let end = statement.start_micros + statement.duration_micros;
        if self.slow_table.is_written() {
            let account = statement.account;
            self.slow_table.add(vec![
                timestamp(end),
                Value::Text(account.to_owned()),
                Value::Time(Time::from_micros(statement.duration_micros, 6)),
                Value::Time(Time::from_micros(0, 6)),
                Value::UInt(statement.rows_sent),
                Value::UInt(statement.rows_examined),
                Value::Text(statement.database.to_owned()),
                Value::Int(0),
                Value::Int(0),
                Value::UInt(u64::from(server_id)),
                text_value(statement.text),
                Value::UInt(statement.connection_id),
                Value::UInt(statement.rows_affected),
            ]);
        }
        let database = Some(statement.database).filter(|database| !database.is_empty());
        self.slow
            .write(end, database, |head, line| statement.write(head, line));
    }
}

/// Session whose command is logged.
#[derive(Debug, Clone, Copy)]
pub struct LoggedSession<'a> {
    /// User and host: `user[user] @ host [address]`.
    pub account: &'a str,
    /// Id of the connection.
    pub connection_id: u64,
    /// `server_id`.
    pub server_id: u32,
}

fn timestamp(micros: i64) -> Value {
    let seconds = u32::try_from(micros.div_euclid(1_000_000)).unwrap_or(0);
    let fraction = u32::try_from(micros.rem_euclid(1_000_000)).unwrap_or(0);
    Value::Timestamp(Timestamp::new(seconds, fraction, 6))
}

/// Returns the first lines of a log.
fn head(globals: &Globals) -> String {
    let get = |variable| globals.get(variable);
    format!(
        "paceline, Version: {} ({}). started with:\nTcp port: {}  Unix socket: {}\nTime\t\t    Id Command\tArgument\n",
        get(Variable::Version).as_str(),
        get(Variable::VersionComment).as_str(),
        globals.number(Variable::Port),
        get(Variable::Socket).as_str()
    )
}
