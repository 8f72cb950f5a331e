//! Errors of `paceline top`.

use crate::connection::ServerError;

/// An error that ends the program. The text is for users.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Options that cannot be used.
    #[error("{0}")]
    Usage(String),
    /// The server, or the connection to it.
    #[error(transparent)]
    Server(#[from] ServerError),
    #[error("standard output is no terminal; --once or --batch print plain text")]
    NoTerminal,
    #[error("terminal: {0}")]
    Terminal(std::io::Error),
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
