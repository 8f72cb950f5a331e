//! Errors of a rewind.

use crate::connection::ServerError;
use paceline_types::LogPosition;
use std::path::PathBuf;

/// Reason why nothing was removed. The texts are for users.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The data directory is not a server's, or its server is running.
    #[error("{0}")]
    Directory(String),
    /// The successor cannot be queried.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The TLS options cannot be used.
    #[error("{0}")]
    Tls(String),
    /// The log cannot be read or cut.
    #[error("the binary log: {0}")]
    Log(#[from] paceline_binlog::Error),
    /// The other server is not a successor.
    #[error(
        "{successor} has no transaction of this server's log (its gtid_binlog_state is '{has}'): it is not the successor, or has replicated nothing from this server. \
         Nothing was changed"
    )]
    Unrelated {
        /// Address of the other server.
        successor: String,
        /// GTID state of the other server.
        has: String,
    },
    /// The log does not reach back far enough.
    #[error(
        "{successor} lacks transactions that were purged from this log: the servers diverged too long ago. Nothing was changed; recreate this server \
         with `paceline join`"
    )]
    Purged {
        /// Address of the successor.
        successor: String,
    },
    /// The tables contain transactions that would have to be removed.
    #[error(
        "the tables contain transactions that {successor} lacks: they contain everything up to {tables}, and the first missing transaction, {first}, \
         is at {place}. This is the case after the server was restarted or stopped cleanly. Nothing was changed; recreate this server with \
         `paceline join`"
    )]
    TablesAhead {
        /// Address of the successor.
        successor: String,
        /// Position of the tables.
        tables: LogPosition,
        /// First transaction that the successor lacks.
        first: paceline_types::Gtid,
        /// Position of this transaction.
        place: LogPosition,
    },
    /// The removed part could not be copied.
    #[error("cannot save the transactions to be removed in {}: {source}; nothing was changed", path.display())]
    SaveTail {
        /// Destination of the copy.
        path: PathBuf,
        source: std::io::Error,
    },
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
