//! Why a transaction of a primary cannot be applied, as `SHOW SLAVE STATUS` tells it.

use paceline_types::ErrorCode;
use paceline_types::error_code::{
    ER_BINLOG_LOGICAL_CORRUPTION, ER_CORRUPTED_JSON_DIFF, ER_COULD_NOT_APPLY_JSON_DIFF, ER_SLAVE_FATAL_ERROR,
};
use std::fmt;

/// What the storage engine would have said, for MariaDB's message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandlerError {
    /// The row is not there.
    KeyNotFound,
    /// The row is not there, and was looked for in the whole table.
    EndOfFile,
    /// The row is there, and is not what the primary had.
    RecordChanged,
    /// A unique key is taken.
    DuplicateKey,
}

impl HandlerError {
    /// MariaDB's name for it.
    pub const fn name(self) -> &'static str {
        match self {
            HandlerError::KeyNotFound => "HA_ERR_KEY_NOT_FOUND",
            HandlerError::EndOfFile => "HA_ERR_END_OF_FILE",
            HandlerError::RecordChanged => "HA_ERR_RECORD_CHANGED",
            HandlerError::DuplicateKey => "HA_ERR_FOUND_DUPP_KEY",
        }
    }
}

/// An event that could not be applied.
#[derive(Clone, Debug)]
pub struct Failure {
    /// MariaDB's number.
    pub code: ErrorCode,
    /// The message of that number alone.
    pub message: String,
    /// The kind of the event, as MariaDB names it; `None` where the message says everything.
    pub event: Option<&'static str>,
    /// The table of a rows event: database and name.
    pub table: Option<(String, String)>,
    /// What a rows event met.
    pub handler_error: Option<HandlerError>,
    /// Where the event ends in the primary's file, as its header says (modulo 2^32).
    pub end_log_pos: u32,
}

impl Failure {
    /// One that its message says everything of.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Failure {
            code,
            message: message.into(),
            event: None,
            table: None,
            handler_error: None,
            end_log_pos: 0,
        }
    }

    /// 1593, with what happened.
    pub fn fatal(what: impl fmt::Display) -> Self {
        Failure::new(ER_SLAVE_FATAL_ERROR, ER_SLAVE_FATAL_ERROR.message(&[&what]))
    }

    /// What a rows event met.
    pub(super) fn met(code: ErrorCode, message: impl Into<String>, handler_error: HandlerError) -> Self {
        Failure {
            handler_error: Some(handler_error),
            ..Failure::new(code, message)
        }
    }

    /// The text of `Last_SQL_Error`. `file` is the primary's log file.
    pub fn text(&self, file: &str) -> String {
        match (self.event, &self.table, self.handler_error) {
            (Some(event), Some((database, table)), Some(error)) => format!(
                "Could not execute {event} event on table {database}.{table}; {}, Error_code: {}; handler error {}; the event's master log \
                 {file}, end_log_pos {}",
                self.message,
                self.code,
                error.name(),
                self.end_log_pos
            ),
            // What does not fit a document says where it stands, too.
            (Some(event), Some((database, table)), None) if is_about_changes(self.code) => format!(
                "Could not execute {event} event on table {database}.{table}; {}, Error_code: {}; the event's master log {file}, \
                 end_log_pos {}",
                self.message, self.code, self.end_log_pos
            ),
            _ => self.message.clone(),
        }
    }
}

fn is_about_changes(code: ErrorCode) -> bool {
    matches!(code, ER_CORRUPTED_JSON_DIFF | ER_COULD_NOT_APPLY_JSON_DIFF)
}

impl From<paceline_txn::Error> for Failure {
    fn from(error: paceline_txn::Error) -> Self {
        Failure::new(error.error_code(), error.to_string())
    }
}

impl From<paceline_storage::Error> for Failure {
    fn from(error: paceline_storage::Error) -> Self {
        Failure::from(paceline_txn::Error::from(error))
    }
}

impl From<paceline_types::Error> for Failure {
    fn from(error: paceline_types::Error) -> Self {
        Failure::new(error.error_code(), error.to_string())
    }
}

impl From<paceline_binlog::Error> for Failure {
    fn from(error: paceline_binlog::Error) -> Self {
        Failure::new(ER_BINLOG_LOGICAL_CORRUPTION, error.to_string())
    }
}

impl From<paceline_sql::Error> for Failure {
    fn from(error: paceline_sql::Error) -> Self {
        Failure::new(error.code(), error.message())
    }
}
