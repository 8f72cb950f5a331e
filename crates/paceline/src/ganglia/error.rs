//! Errors of `paceline ganglia`.

use crate::connection::ServerError;
use std::io;

/// An error. Its text is for users.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line cannot be executed.
    #[error("{0}")]
    Usage(String),
    /// The address of gmond cannot be used.
    #[error("gmond at {0}: {1}")]
    Gmond(String, io::Error),
    /// A packet cannot be sent.
    #[error("cannot send to gmond: {0}")]
    Send(io::Error),
    /// A line cannot be printed.
    #[error("cannot write to standard output: {0}")]
    Output(io::Error),
    /// A server does not answer.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// A memcached does not answer.
    #[error("memcached at {0}: {1}")]
    Memcached(String, String),
}

pub type Result<T> = std::result::Result<T, Error>;
