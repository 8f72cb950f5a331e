//! Errors of applying event groups.

use paceline_types::{Gtid, LogPosition};

/// Result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Reason why an event group cannot be applied.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] paceline_binlog::Error),
    /// The tables cannot be read or written.
    #[error(transparent)]
    Storage(#[from] paceline_storage::Error),
    /// An event group does not fit the tables.
    #[error("transaction {gtid} at {position} of the log cannot be applied: {problem}")]
    Group {
        /// The transaction.
        gtid: Gtid,
        /// Start of its event group.
        position: LogPosition,
        /// Kind of the mismatch.
        problem: Problem,
    },
    /// A statement that the server itself logs has failed.
    #[error("{statement}: {source}")]
    Statement {
        /// SQL text.
        statement: String,
        /// Cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A GTID that is neither in the log nor the last one of its domain before the log.
    #[error("GTID {0} is not in the binary log")]
    NotInLog(Gtid),
    /// More of the log would have to be undone than the limit allows.
    #[error("what has been logged since then is more than {bytes_max} bytes, which is too much to take back")]
    UndoTooLarge {
        /// The limit, in bytes of log.
        bytes_max: u64,
    },
    /// The tables are ahead of the log: the end of the log was lost, but the tables already hold it.
    #[error("the tables are at {tables}, but the log ends at {log}")]
    LogTooShort {
        /// Position of the tables.
        tables: LogPosition,
        /// End of the log.
        log: LogPosition,
    },
}

/// Reason why an event group does not fit the tables.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// An event cannot be decoded.
    #[error("{0}")]
    Malformed(paceline_binlog::Error),
    /// A rows event names a table number that no earlier table map has defined.
    #[error("a row event is for table number {0}, which no table map names")]
    UnmappedTable(u64),
    /// The table does not exist.
    #[error("table '{database}.{table}' does not exist")]
    NoSuchTable {
        /// Database of the table.
        database: String,
        /// Name of the table.
        table: String,
    },
    /// The table's columns are not those in the log.
    #[error("table '{database}.{table}' has {has} columns, the log has {logged}")]
    ColumnCount {
        /// Database of the table.
        database: String,
        /// Name of the table.
        table: String,
        /// Number of columns of the table.
        has: usize,
        /// Number of columns in the log.
        logged: usize,
    },
    /// A rows event lacks some columns (`binlog_row_image` is not FULL).
    #[error("a row event does not have all columns")]
    PartialImage,
    /// A statement that changes rows is logged as text.
    #[error("a statement is logged as text: {0}")]
    Statement(String),
    /// An event that transactions of this server do not contain.
    #[error("a {0} event")]
    UnexpectedEvent(&'static str),
    /// The row cannot be changed.
    #[error("{0}")]
    Row(paceline_storage::Error),
    /// A DDL statement failed.
    #[error("{statement}: {source}")]
    Ddl {
        /// SQL text.
        statement: String,
        /// Cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl From<paceline_storage::Error> for Problem {
    fn from(error: paceline_storage::Error) -> Self {
        Problem::Row(error)
    }
}

impl From<paceline_types::Error> for Problem {
    fn from(error: paceline_types::Error) -> Self {
        Problem::Row(error.into())
    }
}
