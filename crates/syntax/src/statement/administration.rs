//! What an administrator does: maintenance, `KILL`, `FLUSH`, `PURGE`, `BACKUP`, `RESET`, `LOCK TABLES`.

use crate::ast::Expr;

use super::account::AccountName;
use crate::ast::TableName;

/// What CHECKSUM TABLE is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChecksumEffort {
    /// Read all rows: EXTENDED, or nothing said.
    Rows,
    /// QUICK: a checksum that the table keeps up to date, or NULL.
    Kept,
}

/// `ANALYZE TABLE` and its like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableMaintenance {
    /// `ANALYZE`.
    Analyze,
    /// `ANALYZE … PERSISTENT FOR …`. Statistics are of the whole table here, whatever it names.
    AnalyzePersistent,
    /// `CHECK`.
    Check,
    /// `OPTIMIZE`.
    Optimize,
    /// `REPAIR`.
    Repair,
}

/// Whether a statement that changes nothing is logged, so that replicas carry it out too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteToBinlog {
    /// As MariaDB does.
    Yes,
    /// `NO_WRITE_TO_BINLOG`, `LOCAL`.
    No,
}

/// `KILL`.
#[derive(Debug, Clone, PartialEq)]
pub struct Kill {
    /// `QUERY`: only its statement.
    pub query_only: bool,
    /// Whom.
    pub target: KillTarget,
}

/// Whom to kill.
#[derive(Debug, Clone, PartialEq)]
pub enum KillTarget {
    /// A connection.
    Connection(Expr),
    /// `QUERY ID n`.
    QueryId(Expr),
    /// `USER name`.
    User(AccountName),
}

/// What to flush.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlushTarget {
    /// `TABLES`, `TABLES a, b`.
    Tables {
        /// The tables; empty means all.
        tables: Vec<TableName>,
        /// What comes with it.
        lock: FlushTablesLock,
    },
    /// `LOGS` and `… LOGS`: in capitals (`BINARY`, `ERROR`, `ENGINE`, `GENERAL`, `SLOW`, `RELAY`), empty for all.
    Logs(&'static str),
    /// `BINARY LOGS DELETE_DOMAIN_ID=(…)`: the replication domains that the log is to forget.
    DeleteDomains(Vec<u32>),
    /// `STATUS`, `PRIVILEGES`, `HOSTS`, `QUERY CACHE` …: in capitals.
    Other(&'static str),
}

/// What `FLUSH TABLES` does besides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlushTablesLock {
    /// Nothing.
    None,
    /// `WITH READ LOCK`.
    ReadLock,
    /// `FOR EXPORT`.
    Export,
    /// `WITH READ LOCK AND DISABLE CHECKPOINT`.
    ReadLockDisableCheckpoint,
}

/// `PURGE BINARY LOGS`.
#[derive(Debug, Clone, PartialEq)]
pub enum Purge {
    /// `TO 'file'`.
    To(String),
    /// `BEFORE time`.
    Before(Expr),
}

/// `BACKUP …`: what the server's backup is streamed by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Backup {
    /// `SERVER`: all tables, and the log from where they are.
    Server,
    /// `BINARY LOGS`: what the log has gained since a backup before.
    BinaryLogs {
        /// What that backup has ended with.
        from: String,
    },
}

/// `RESET …`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResetTarget {
    /// `MASTER [TO n]`.
    Master(Option<u64>),
    /// `QUERY CACHE`.
    QueryCache,
    /// `SLAVE [name] [ALL]`.
    Slave {
        /// The connection's name.
        connection: Option<String>,
        /// `ALL`: forget the connection's parameters too.
        all: bool,
    },
}

/// One table of `LOCK TABLES`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockTable {
    /// The table.
    pub table: TableName,
    /// The alias.
    pub alias: Option<String>,
    /// `READ` or `WRITE`.
    pub write: bool,
}
