//! Why an event group cannot be applied.

use paceline_types::{Gtid, LogPosition};

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an event group cannot be applied.
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
        /// Where it starts.
        position: LogPosition,
        /// What is wrong.
        problem: Problem,
    },
    /// A statement that the server itself logs failed.
    #[error("{statement}: {source}")]
    Statement {
        /// The statement.
        statement: String,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A GTID that is not in the log, nor the last of its domain before it.
    #[error("GTID {0} is not in the binary log")]
    NotInLog(Gtid),
    /// What would have to be taken back is too much.
    #[error("what has been logged since then is more than {bytes_max} bytes, which is too much to take back")]
    TooFarBack {
        /// The limit, in bytes of log.
        bytes_max: u64,
    },
    /// The tables are ahead of the log: the log's end was lost, and with it what the tables already have.
    #[error("the tables are at {tables}, but the log ends at {log}")]
    LogTooShort {
        /// Where the tables are.
        tables: LogPosition,
        /// Where the log ends.
        log: LogPosition,
    },
}

/// What is wrong with an event group.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// An event cannot be decoded.
    #[error("{0}")]
    Malformed(paceline_binlog::Error),
    /// A row event names a table by a number that no table map before it gave.
    #[error("a row event is for table number {0}, which no table map names")]
    UnmappedTable(u64),
    /// A table that does not exist.
    #[error("table '{database}.{table}' does not exist")]
    NoSuchTable {
        /// Its database.
        database: String,
        /// Its name.
        table: String,
    },
    /// A table whose columns are not those of the log.
    #[error("table '{database}.{table}' has {has} columns, the log has {logged}")]
    ColumnCount {
        /// Its database.
        database: String,
        /// Its name.
        table: String,
        /// The table's.
        has: usize,
        /// The log's.
        logged: usize,
    },
    /// A row event without all columns (`binlog_row_image` other than FULL).
    #[error("a row event does not have all columns")]
    PartialImage,
    /// A statement that changes rows, logged as text.
    #[error("a statement is logged as text: {0}")]
    Statement(String),
    /// An event that no transaction of this server holds.
    #[error("a {0} event")]
    UnexpectedEvent(&'static str),
    /// A row could not be changed.
    #[error("{0}")]
    Row(paceline_storage::Error),
    /// DDL failed.
    #[error("{statement}: {source}")]
    Ddl {
        /// The statement.
        statement: String,
        /// Why.
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
