//! Statements for administrators: maintenance, `KILL`, `FLUSH`, `PURGE`, `BACKUP`, `RESET`, `LOCK TABLES`.

use crate::ast::Expr;

use super::account::AccountName;
use crate::ast::TableName;

/// Method of CHECKSUM TABLE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChecksumEffort {
    /// EXTENDED, or no option: reads all rows.
    Rows,
    /// QUICK: a checksum that the table maintains, or NULL.
    Kept,
}

/// `ANALYZE TABLE` and similar statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableMaintenance {
    /// `ANALYZE`.
    Analyze,
    /// `ANALYZE … PERSISTENT FOR …`. Statistics always cover the whole table here.
    AnalyzePersistent,
    /// `CHECK`.
    Check,
    /// `OPTIMIZE`.
    Optimize,
    /// `REPAIR`.
    Repair,
}

/// Whether a maintenance statement, which changes nothing, is logged so that replicas execute it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteToBinlog {
    /// As MariaDB does by default.
    Yes,
    /// `NO_WRITE_TO_BINLOG`, `LOCAL`.
    No,
}

/// `KILL`.
#[derive(Debug, Clone, PartialEq)]
pub struct Kill {
    /// `QUERY`: the statement only.
    pub query_only: bool,
    pub target: KillTarget,
}

/// Target of KILL.
#[derive(Debug, Clone, PartialEq)]
pub enum KillTarget {
    /// A connection.
    Connection(Expr),
    /// `QUERY ID n`.
    QueryId(Expr),
    /// `USER name`.
    User(AccountName),
}

/// Target of FLUSH.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlushTarget {
    /// `TABLES`, `TABLES a, b`.
    Tables {
        /// Empty: all tables.
        tables: Vec<TableName>,
        lock: FlushTablesLock,
    },
    /// `LOGS` and `… LOGS`: the kind in capitals (`BINARY`, `ERROR`, `ENGINE`, `GENERAL`, `SLOW`, `RELAY`);
    /// empty for all.
    Logs(&'static str),
    /// `BINARY LOGS DELETE_DOMAIN_ID=(…)`: replication domains to remove from the log's state.
    DeleteDomains(Vec<u32>),
    /// `STATUS`, `PRIVILEGES`, `HOSTS`, `QUERY CACHE` … in capitals.
    Other(&'static str),
}

/// Additional effect of `FLUSH TABLES`.
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

/// `BACKUP …`: streams a backup of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Backup {
    /// `SERVER`: all tables, and the log from their position on.
    Server,
    /// `BINARY LOGS`: the log since an earlier backup.
    BinaryLogs {
        /// Position at which the earlier backup ended.
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
        connection: Option<String>,
        /// `ALL`: remove the connection's parameters too.
        all: bool,
    },
}

/// One table of `LOCK TABLES`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockTable {
    pub table: TableName,
    pub alias: Option<String>,
    /// `WRITE` rather than `READ`.
    pub write: bool,
}
