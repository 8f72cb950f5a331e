//! Errors of `paceline sys-schema`.

use crate::connection::ServerError;
use paceline_types::error_code::{
    ER_DBACCESS_DENIED_ERROR, ER_OPTION_PREVENTS_STATEMENT, ER_PROCACCESS_DENIED_ERROR,
    ER_SPECIFIC_ACCESS_DENIED_ERROR, ER_TABLEACCESS_DENIED_ERROR, ErrorCode,
};
use std::io;

/// An error. Its text is for users.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line cannot be executed.
    #[error("{0}")]
    Usage(String),
    /// The server has its own.
    #[error(
        "{address}: this is {version}, not a Paceline; MariaDB's installation creates its database sys. Nothing was changed"
    )]
    NotPaceline {
        address: String,
        /// Version that the server reported.
        version: String,
    },
    /// The account lacks a privilege.
    #[error(
        "{0}\nThe account needs BINLOG ADMIN, so that nothing is sent to replicas, SELECT on performance_schema and all privileges on sys"
    )]
    Denied(ServerError),
    /// The server accepts no writes of this account.
    #[error("{0}\nOn a server with read_only, the account also needs READ ONLY ADMIN")]
    ReadOnly(ServerError),
    /// The server does not answer, or refuses a statement for another reason.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// A line cannot be printed.
    #[error("cannot write to standard output: {0}")]
    Output(io::Error),
}

/// Errors for missing privileges.
const DENIED: [ErrorCode; 4] = [
    ER_SPECIFIC_ACCESS_DENIED_ERROR,
    ER_DBACCESS_DENIED_ERROR,
    ER_TABLEACCESS_DENIED_ERROR,
    ER_PROCACCESS_DENIED_ERROR,
];

impl Error {
    /// Returns the error of a statement that creates something.
    pub fn of_statement(error: ServerError) -> Self {
        match () {
            () if error.is(&[ER_OPTION_PREVENTS_STATEMENT]) => Error::ReadOnly(error),
            () if error.is(&DENIED) => Error::Denied(error),
            () => Error::Server(error),
        }
    }
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
