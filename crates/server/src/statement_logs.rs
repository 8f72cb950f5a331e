//! The general log and the slow query log: files of lines in MariaDB's format.
//!
//! `general_log` and `slow_query_log` open them, if `log_output` contains FILE. A write error is reported once in the
//! error log and closes the file; no statement fails because of it.

use crate::registry::now_micros;
use crate::variables::{Globals, SessionValues, Variable};
use paceline_types::TimeZone;
use parking_lot::Mutex;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Bit of FILE in `log_output`.
const TO_FILE: u64 = 1 << 1;

/// Both logs.
#[derive(Debug, Default)]
pub struct StatementLogs {
    general: StatementLog,
    slow: StatementLog,
}

/// One of the two logs.
#[derive(Debug, Default)]
struct StatementLog {
    is_open: AtomicBool,
    file: Mutex<Option<OpenLog>>,
}

#[derive(Debug)]
struct OpenLog {
    file: File,
    path: PathBuf,
    /// Second of the last line.
    last_second: i64,
}

/// A statement for the slow query log.
#[derive(Debug)]
pub struct SlowStatement<'a> {
    /// User and host: `user[user] @ host [address]`.
    pub account: &'a str,
    /// Id of the connection.
    pub connection_id: u64,
    /// The current database.
    pub database: &'a str,
    /// Duration of the statement.
    pub duration_micros: i64,
    /// Number of rows in its result sets.
    pub rows_sent: u64,
    /// Number of rows that it changed.
    pub rows_affected: u64,
    /// Start of the statement in microseconds since 1970.
    pub start_micros: i64,
    /// The client's text, without passwords.
    pub text: &'a [u8],
}

/// A session's settings for the logs.
#[derive(Debug)]
pub struct StatementLogSettings {
    /// `sql_log_off`.
    pub is_silent: bool,
    /// `slow_query_log`, which a session can set.
    pub logs_slow: bool,
    /// `long_query_time`.
    pub slow_after: Duration,
    /// Start of the running statement.
    pub started: Instant,
    /// Number of rows that the session had sent then.
    pub rows_sent_before: u64,
}

impl Default for StatementLogSettings {
    fn default() -> Self {
        StatementLogSettings {
            is_silent: false,
            logs_slow: true,
            slow_after: Duration::MAX,
            started: Instant::now(),
            rows_sent_before: 0,
        }
    }
}

impl StatementLogSettings {
    /// Applies the session's variables.
    pub fn heed(&mut self, values: &SessionValues) {
        self.is_silent = values.get(Variable::SqlLogOff).as_bool();
        self.logs_slow = values.get(Variable::SlowQueryLog).as_bool();
        self.slow_after = Duration::from_secs_f64(values.get(Variable::LongQueryTime).as_f64());
    }
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
        self.general.open_if(
            to_file && globals.is_on(Variable::GeneralLog),
            &path(Variable::GeneralLogFile),
        )?;
        self.slow.open_if(
            to_file && globals.is_on(Variable::SlowQueryLog),
            &path(Variable::SlowQueryLogFile),
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
        self.general.is_open.load(Ordering::Relaxed)
    }

    /// Returns whether slow statements are logged.
    pub fn has_slow(&self) -> bool {
        self.slow.is_open.load(Ordering::Relaxed)
    }

    /// Logs a command.
    pub fn command(&self, connection_id: u64, command: &str, argument: &[u8]) {
        let micros = now_micros();
        self.general.write(micros, |time, line| {
            match time {
                Some(time) => line.extend_from_slice(time.as_bytes()),
                None => line.push(b'\t'),
            }
            line.extend_from_slice(format!("\t{connection_id:6} {command}\t").as_bytes());
            line.extend_from_slice(argument);
            line.push(b'\n');
        });
    }

    /// Logs a slow statement.
    pub fn slow(&self, statement: &SlowStatement<'_>) {
        let end = statement.start_micros + statement.duration_micros;
        self.slow.write(end, |time, line| {
            if let Some(time) = time {
                line.extend_from_slice(format!("# Time: {time}\n").as_bytes());
            }
            let head = format!(
                "# User@Host: {}\n# Thread_id: {}  Schema: {}  QC_hit: No\n# Query_time: {:.6}  Lock_time: 0.000000  Rows_sent: {}  Rows_examined: 0\n\
                 # Rows_affected: {}  Bytes_sent: 0\n",
                statement.account,
                statement.connection_id,
                statement.database,
                statement.duration_micros as f64 / 1e6,
                statement.rows_sent,
                statement.rows_affected,
            );
            line.extend_from_slice(head.as_bytes());
            if !statement.database.is_empty() {
                line.extend_from_slice(format!("use {};\n", statement.database).as_bytes());
            }
            let seconds = statement.start_micros.div_euclid(1_000_000);
            line.extend_from_slice(format!("SET timestamp={seconds};\n").as_bytes());
            line.extend_from_slice(statement.text);
            line.extend_from_slice(b";\n");
        });
    }
}

impl StatementLog {
    fn open_if(&self, wanted: bool, path: &Path) -> io::Result<()> {
        let mut slot = self.file.lock();
        if !wanted {
            *slot = None;
            self.is_open.store(false, Ordering::Relaxed);
            return Ok(());
        }
        if slot.as_ref().is_some_and(|open| open.path == path) {
            return Ok(());
        }
        let mut options = OpenOptions::new();
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o660);
        let file = options.create(true).append(true).open(path)?;
        *slot = Some(OpenLog {
            file,
            path: path.to_owned(),
            last_second: 0,
        });
        self.is_open.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn close(&self) {
        *self.file.lock() = None;
        self.is_open.store(false, Ordering::Relaxed);
    }

    /// Writes the line that `fill` builds. `fill` receives the time if its second differs from that of the previous
    /// line.
    fn write(&self, micros: i64, fill: impl FnOnce(Option<String>, &mut Vec<u8>)) {
        let mut slot = self.file.lock();
        let Some(open) = &mut *slot else { return };
        let second = micros.div_euclid(1_000_000);
        let time = (second != open.last_second).then(|| {
            let local = TimeZone::system().to_local(second);
            let date = local.date;
            format!(
                "{:02}{:02}{:02} {:2}:{:02}:{:02}",
                date.year % 100,
                date.month,
                date.day,
                local.hour,
                local.minute,
                local.second
            )
        });
        open.last_second = second;
        let mut line = Vec::with_capacity(256);
        fill(time, &mut line);
        if let Err(error) = open.file.write_all(&line) {
            tracing::error!("{} is not written any more: {error}", open.path.display());
            *slot = None;
            self.is_open.store(false, Ordering::Relaxed);
        }
    }
}
