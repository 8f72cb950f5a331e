//! Errors of a connection.

use std::time::Duration;
use thiserror::Error;

/// Error of a connection. After any of them except [`WireError::Server`] the connection is unusable.
#[derive(Debug, Error)]
pub enum WireError {
    /// An error of the operating system.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The peer has closed the connection, in the middle of a packet or between two.
    #[error("the connection was closed")]
    Closed,
    /// The sequence number of a packet is not the next one.
    #[error("Got packets out of order")]
    OutOfOrder,
    /// A packet is longer than `max_allowed_packet`.
    #[error("Got a packet bigger than 'max_allowed_packet' bytes")]
    TooLarge,
    /// A packet needs a larger buffer than the limit of all buffers allows.
    #[error("Out of memory: the buffers of all connections have their limit")]
    OutOfMemory,
    /// The content of a packet violates the protocol; the text says what was being decoded.
    #[error("Malformed communication packet ({0})")]
    Malformed(&'static str),
    /// The handshake is not of this protocol.
    #[error("Bad handshake")]
    BadHandshake,
    /// The peer did not accept what was sent in time (`net_write_timeout`).
    #[error("Got timeout writing communication packets")]
    WriteTimeout,
    /// The peer did not send the expected bytes in time (`net_read_timeout`).
    #[error("Got timeout reading communication packets: nothing has come for {} s", .0.as_secs())]
    ReadTimeout(Duration),
    /// TLS: a failed handshake, an untrusted certificate, or unusable settings. A client's error 2026.
    #[error("SSL connection error: {0}")]
    Tls(String),
    /// The server has answered with an error ([client](crate::client) only).
    #[error("error {code} ({sqlstate}): {message}")]
    Server {
        /// MariaDB's error number.
        code: u16,
        /// SQLSTATE, five characters.
        sqlstate: String,
        /// The message.
        message: String,
    },
}

impl WireError {
    /// Returns MariaDB's error number and SQLSTATE, if the protocol allows reporting this error to the client.
    pub fn code(&self) -> Option<(u16, &'static str)> {
        match self {
            WireError::OutOfOrder => Some((1156, "08S01")),
            WireError::TooLarge => Some((1153, "08S01")),
            WireError::OutOfMemory => Some((1041, "HY000")),
            WireError::Malformed(_) => Some((1835, "HY000")),
            WireError::BadHandshake => Some((1043, "08S01")),
            WireError::WriteTimeout => Some((1161, "08S01")),
            WireError::ReadTimeout(_) => Some((1159, "08S01")),
            WireError::Io(_) | WireError::Closed | WireError::Tls(_) | WireError::Server { .. } => None,
        }
    }
}

/// Result of this crate's functions.
pub type WireResult<T> = Result<T, WireError>;
