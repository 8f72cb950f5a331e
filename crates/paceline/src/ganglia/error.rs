//! Errors of `paceline ganglia`.

use crate::connection::ServerError;
use paceline_wire::TcpAddress;
use std::io;

/// An error. Its text is for users.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line cannot be executed.
    #[error("{0}")]
    Usage(String),
    /// The address of gmond cannot be used.
    #[error("gmond at {0}: {1}")]
    Gmond(TcpAddress, io::Error),
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
    Memcached(TcpAddress, String),
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
