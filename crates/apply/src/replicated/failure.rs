//! Errors of applying a primary's transaction, as `SHOW SLAVE STATUS` shows them.

use paceline_binlog::event::EventType;
use paceline_catalog::TableDefinition;
use paceline_types::ErrorCode;
use paceline_types::error_code::{
    ER_BINLOG_LOGICAL_CORRUPTION, ER_CORRUPTED_JSON_DIFF, ER_COULD_NOT_APPLY_JSON_DIFF, ER_SLAVE_FATAL_ERROR,
};
use std::fmt;

/// Error code of MariaDB's storage engine interface that corresponds to the failure. It is part of MariaDB's message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandlerError {
    /// The row does not exist.
    KeyNotFound,
    /// The row does not exist, and the whole table was searched for it.
    EndOfFile,
    /// The row exists, but differs from the primary's row before the change.
    RecordChanged,
    /// Another row holds the unique key.
    DuplicateKey,
    /// An error of a trigger.
    Generic,
}

impl HandlerError {
    /// Returns MariaDB's name of the error.
    pub const fn name(self) -> &'static str {
        match self {
            HandlerError::KeyNotFound => "HA_ERR_KEY_NOT_FOUND",
            HandlerError::EndOfFile => "HA_ERR_END_OF_FILE",
            HandlerError::RecordChanged => "HA_ERR_RECORD_CHANGED",
            HandlerError::DuplicateKey => "HA_ERR_FOUND_DUPP_KEY",
            HandlerError::Generic => "HA_ERR_GENERIC",
        }
    }
}

/// A failure to apply an event.
#[derive(Clone, Debug)]
pub struct Failure {
    /// MariaDB's error number.
    pub code: ErrorCode,
    /// Message of that error number alone.
    pub message: String,
    /// Name of the event type in MariaDB's words; `None` if the message needs no context.
    pub event: Option<&'static str>,
    /// Database and name of the table of a rows event.
    pub table: Option<(String, String)>,
    /// Error met by a rows event.
    pub handler_error: Option<HandlerError>,
    /// End of the event in the primary's file, from its header (modulo 2^32).
    pub end_log_pos: u32,
}

impl Failure {
    /// Creates a failure whose message needs no context.
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

    /// Creates error 1593 with a description of what happened.
    pub fn fatal(what: impl fmt::Display) -> Self {
        Failure::new(ER_SLAVE_FATAL_ERROR, ER_SLAVE_FATAL_ERROR.message(&[&what]))
    }

    /// Creates a failure of a rows event.
    pub(super) fn of_row(code: ErrorCode, message: impl Into<String>, handler_error: HandlerError) -> Self {
        Failure {
            handler_error: Some(handler_error),
            ..Failure::new(code, message)
        }
    }

    /// Adds the event and its table.
    pub(super) fn on_rows(self, event_type: EventType, table: &TableDefinition) -> Self {
        Failure {
            event: Some(event_type.name()),
            table: Some((table.database().to_owned(), table.name().to_owned())),
            ..self
        }
    }

    /// Returns the text of `Last_SQL_Error`. `file` is the primary's log file.
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
            // Errors of changes to a JSON document also show their position.
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

impl From<paceline_syntax::Error> for Failure {
    fn from(error: paceline_syntax::Error) -> Self {
        Failure::new(error.code(), error.message())
    }
}
