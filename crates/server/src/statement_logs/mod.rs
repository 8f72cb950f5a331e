//! The general log and the slow query log: files of lines in MariaDB's format.
//!
//! `general_log` and `slow_query_log` open them, if `log_output` contains FILE. A write error is reported once in the
//! error log and closes the file; no statement fails because of it.

mod file;
mod settings;
mod slow;

pub use settings::{Operations, StatementLogSettings};
pub use slow::SlowStatement;

use crate::registry::now_micros;
use crate::variables::{Globals, Variable};
use file::LogFile;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bit of FILE in `log_output`.
const TO_FILE: u64 = 1 << 1;

/// Both logs.
#[derive(Debug, Default)]
pub struct StatementLogs {
    general: LogFile,
    slow: LogFile,
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

impl StatementLogs {
    /// Opens and closes the files according to the variables.
    ///
    /// # Errors
    /// If a file cannot be opened; its log stays as it was.
    pub fn configure(&self, globals: &Globals) -> io::Result<()> {
        let directory = globals.get(Variable::Datadir);
        let to_file = globals.number(Variable::LogOutput) & TO_FILE != 0;
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
        self.general.is_open()
    }

    /// Returns whether slow statements are logged.
    pub fn has_slow(&self) -> bool {
        self.slow.is_open()
    }

    /// Logs a command.
    pub fn command(&self, connection_id: u64, command: &str, argument: &[u8]) {
        let micros = now_micros();
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
    pub fn slow(&self, statement: &SlowStatement<'_>) {
        let end = statement.start_micros + statement.duration_micros;
        let database = Some(statement.database).filter(|database| !database.is_empty());
        self.slow
            .write(end, database, |head, line| statement.write(head, line));
    }
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
