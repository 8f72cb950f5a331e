//! Errors of transactions, and MariaDB's numbers for them.

use crate::interrupt_reason::InterruptReason;
use paceline_storage::IndexId;
use paceline_types::StatementError;
use paceline_types::error_code::{self, ErrorCode};
use paceline_types::{Gtid, LogPosition};
use std::sync::Arc;

/// Result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Part of the transaction that is undone when an error reaches the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RollbackScope {
    /// The statement; the transaction continues.
    Statement,
    /// The whole transaction. It is already undone when the error is returned.
    Transaction,
}

/// Error of a transaction.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// 1205: the lock was not granted in time, or not at once where NOWAIT was requested.
    #[error("Lock wait timeout exceeded; try restarting transaction")]
    LockWaitTimeout,
    /// 1213: this transaction was chosen to break a deadlock. It is rolled back.
    #[error("Deadlock found when trying to get lock; try restarting transaction")]
    Deadlock,
    /// 1206: the sessions hold too many row locks. This transaction is rolled back.
    #[error("The total number of locks exceeds the lock table size")]
    TooManyLocks {
        /// [`crate::Config::row_locks_max`].
        keys_max: usize,
    },
    /// 1020: the row was changed or deleted after this transaction's snapshot. The conflicting version is
    /// published; this transaction is rolled back.
    #[error("a row of index {index} has changed since the transaction's snapshot")]
    SnapshotConflict {
        /// The index of the key; SQL turns it into the table's name for the message.
        index: IndexId,
        /// The conflicting version. [`LogPosition::ZERO`] for a deleted row whose deletion is no longer known.
        version: LogPosition,
    },
    /// 1969, 1317, 1927 or 1053.
    #[error("interrupted: {0}")]
    Interrupted(InterruptReason),
    /// 1197: more events than `max_binlog_cache_size`.
    #[error(
        "Multi-statement transaction required more than 'max_binlog_cache_size' bytes of storage; increase this mariadbd variable and try again"
    )]
    CacheFull {
        /// `max_binlog_cache_size`.
        limit_bytes: u64,
    },
    /// 1598: a large statement cannot be logged as text, and its rows are in a file already.
    #[error(
        "Binary logging not possible. Message: other sessions took AUTO_INCREMENT values in between; use binlog_format=ROW"
    )]
    TextOfLarge,
    /// 1950: the GTID is lower than the last one of its domain, and `gtid_strict_mode` is on.
    #[error("GTID {given} is out of order after {existing}")]
    OutOfOrder {
        /// The requested GTID.
        given: Gtid,
        /// The last GTID of its domain.
        existing: Gtid,
    },
    /// 1950: the sequence numbers of a domain are used up.
    #[error("the sequence numbers of replication domain {0} are used up")]
    SequenceExhausted(paceline_types::DomainId),
    /// 1792: a write in a READ ONLY transaction.
    #[error("Cannot execute statement in a READ ONLY transaction")]
    ReadOnlyTransaction,
    /// 1290: the server became read only before the transaction committed.
    #[error("The MariaDB server is running with the --read-only option so it cannot execute this statement")]
    ReadOnlyServer,
    /// 1305: no savepoint has that name.
    #[error("SAVEPOINT {0} does not exist")]
    NoSuchSavepoint(String),
    /// 1213: the transaction was rolled back by an earlier error; a new one must be begun.
    #[error("the transaction has been rolled back")]
    RolledBack,
    /// 1964: an earlier transaction of the same [`crate::CommitStream`] was refused.
    #[error("a transaction before it could not be committed")]
    Aborted,
    /// 1026: the log has no room. Nothing of the transaction remains.
    #[error("no space left on device for the binary log (wanted {wanted} bytes more)")]
    LogFull {
        /// Requested room, in bytes.
        wanted: u64,
    },
    /// 1053 to clients: the log could not be synced or written; the server stops (invariant 4).
    #[error("the log cannot be written any more: {0}")]
    Fatal(Arc<str>),
    /// 1053: this member of a cluster has promised to take part in a later epoch. Nothing of the transaction is in the
    /// log.
    #[error("the server writes nothing: a new primary is being elected")]
    WritingStopped,
    /// 1053: the transaction is in the log, and the server stops before it was acknowledged. Whether it is committed
    /// is decided by those who take over.
    #[error(
        "the server stops before the transaction was acknowledged; it is not known whether it is committed"
    )]
    Undecided,
    /// 1053: the manager is closed.
    #[error("the server is shutting down")]
    Closed,
    /// 1378: a log file to be purged is still needed.
    #[error("binary log '{file}' is needed by {needed_by}")]
    LogInUse {
        /// The first file that cannot be removed.
        file: String,
        /// Statement or option that needs it.
        needed_by: String,
    },
    /// Error of the log.
    #[error(transparent)]
    Log(Arc<paceline_binlog::Error>),
    /// Error of an engine.
    #[error(transparent)]
    Storage(Arc<paceline_storage::Error>),
}

impl From<paceline_binlog::Error> for Error {
    fn from(error: paceline_binlog::Error) -> Self {
        match error {
            paceline_binlog::Error::NoSpace { wanted } => Error::LogFull { wanted },
            error => Error::Log(Arc::new(error)),
        }
    }
}

impl From<paceline_storage::Error> for Error {
    fn from(error: paceline_storage::Error) -> Self {
        Error::Storage(Arc::new(error))
    }
}

impl Error {
    /// Returns how much of the transaction the error undoes.
    pub fn rollback_scope(&self) -> RollbackScope {
        match self {
            Error::Deadlock
            | Error::TooManyLocks { .. }
            | Error::SnapshotConflict { .. }
            | Error::RolledBack
            | Error::Fatal(_)
            | Error::Closed
            | Error::WritingStopped
            | Error::Undecided
            | Error::Aborted
            | Error::ReadOnlyServer
            | Error::LogFull { .. }
            | Error::OutOfOrder { .. }
            | Error::SequenceExhausted(_) => RollbackScope::Transaction,
            _ => RollbackScope::Statement,
        }
    }

    /// Returns MariaDB's error number.
    pub fn error_code(&self) -> ErrorCode {
        match self {
            Error::LockWaitTimeout => error_code::ER_LOCK_WAIT_TIMEOUT,
            Error::TooManyLocks { .. } => error_code::ER_LOCK_TABLE_FULL,
            Error::Aborted => error_code::ER_PRIOR_COMMIT_FAILED,
            Error::Deadlock | Error::RolledBack => error_code::ER_LOCK_DEADLOCK,
            Error::SnapshotConflict { .. } => error_code::ER_CHECKREAD,
            Error::Interrupted(InterruptReason::StatementTimeout) => error_code::ER_STATEMENT_TIMEOUT,
            Error::Interrupted(InterruptReason::Query) => error_code::ER_QUERY_INTERRUPTED,
            Error::Interrupted(InterruptReason::Connection) => error_code::ER_CONNECTION_KILLED,
            Error::Interrupted(InterruptReason::Shutdown)
            | Error::Closed
            | Error::WritingStopped
            | Error::Undecided
            | Error::Fatal(_) => error_code::ER_SERVER_SHUTDOWN,
            Error::CacheFull { .. } => error_code::ER_TRANS_CACHE_FULL,
            Error::TextOfLarge => error_code::ER_BINLOG_LOGGING_IMPOSSIBLE,
            Error::OutOfOrder { .. } | Error::SequenceExhausted(_) => error_code::ER_GTID_STRICT_OUT_OF_ORDER,
            Error::ReadOnlyTransaction => error_code::ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION,
            Error::ReadOnlyServer => error_code::ER_OPTION_PREVENTS_STATEMENT,
            Error::NoSuchSavepoint(_) => error_code::ER_SP_DOES_NOT_EXIST,
            Error::LogFull { .. } | Error::Log(_) => error_code::ER_ERROR_ON_WRITE,
            Error::LogInUse { .. } => error_code::ER_LOG_IN_USE,
            Error::Storage(error) if matches!(**error, paceline_storage::Error::MemoryFull { .. }) => {
                error_code::ER_RECORD_FILE_FULL
            }
            Error::Storage(_) => error_code::ER_GET_ERRNO,
        }
    }
}

impl From<Error> for StatementError {
    fn from(error: Error) -> Self {
        let code = error.error_code();
        match &error {
            Error::Interrupted(_) | Error::RolledBack | Error::ReadOnlyTransaction => Self::new(code, &[]),
            _ => Self::with_message(code, error.to_string()),
        }
    }
}
