//! Errors of requests.

use crate::request::KeyError;

/// Error in a request. Its text is the reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ProtocolError {
    /// An unknown command, or one with too few words.
    #[error("ERROR")]
    Unknown,
    /// A wrong request.
    #[error("CLIENT_ERROR {0}")]
    Client(&'static str),
    /// The value is longer than the server accepts.
    #[error("SERVER_ERROR object too large for cache")]
    TooLarge,
    /// The line has no end within [`LINE_BYTES_MAX`](crate::LINE_BYTES_MAX).
    #[error("CLIENT_ERROR line too long")]
    LineTooLong,
}

impl ProtocolError {
    /// Returns whether the next request cannot be found, so that the connection has to end.
    pub fn ends_connection(self) -> bool {
        self == ProtocolError::LineTooLong
    }
}

impl From<KeyError> for ProtocolError {
    fn from(_: KeyError) -> Self {
        BAD_LINE
    }
}

/// A line that has not the form of its command.
pub(crate) const BAD_LINE: ProtocolError = ProtocolError::Client("bad command line format");
