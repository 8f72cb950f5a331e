//! What can go wrong on a connection.

use std::time::Duration;
use thiserror::Error;

/// An error of the protocol itself. None of them is survivable for the connection that it happens on.
#[derive(Debug, Error)]
pub enum WireError {
    /// The operating system's error.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The other end closed the connection, in the middle of a packet or between two.
    #[error("the connection was closed")]
    Closed,
    /// A packet's sequence number is not the next one.
    #[error("Got packets out of order")]
    OutOfOrder,
    /// A packet is longer than `max_allowed_packet`.
    #[error("Got a packet bigger than 'max_allowed_packet' bytes")]
    TooLarge,
    /// A packet's content does not follow the protocol; says what was being read.
    #[error("Malformed communication packet ({0})")]
    Malformed(&'static str),
    /// The handshake is not one of this protocol.
    #[error("Bad handshake")]
    BadHandshake,
    /// The other end did not take what was sent in time (`net_write_timeout`).
    #[error("Got timeout writing communication packets")]
    WriteTimeout,
    /// The other end did not send what was waited for in time (`net_read_timeout`).
    #[error("Got timeout reading communication packets: nothing has come for {} s", .0.as_secs())]
    ReadTimeout(Duration),
    /// TLS: a handshake that failed, a certificate that is not believed, or settings that cannot be heeded. A client's error 2026.
    #[error("SSL connection error: {0}")]
    Tls(String),
    /// The server answered with an error (seen by the [client](crate::client)).
    #[error("error {code} ({sqlstate}): {message}")]
    Server {
        /// MariaDB's error number.
        code: u16,
        /// The five characters of SQLSTATE.
        sqlstate: String,
        /// The message.
        message: String,
    },
}

impl WireError {
    /// MariaDB's error number and SQLSTATE for it, where the protocol allows to tell the client.
    pub fn code(&self) -> Option<(u16, &'static str)> {
        match self {
            WireError::OutOfOrder => Some((1156, "08S01")),
            WireError::TooLarge => Some((1153, "08S01")),
            WireError::Malformed(_) => Some((1835, "HY000")),
            WireError::BadHandshake => Some((1043, "08S01")),
            WireError::WriteTimeout => Some((1161, "08S01")),
            WireError::ReadTimeout(_) => Some((1159, "08S01")),
            WireError::Io(_) | WireError::Closed | WireError::Tls(_) | WireError::Server { .. } => None,
        }
    }
}

/// What fallible functions of this crate return.
pub type WireResult<T> = Result<T, WireError>;
