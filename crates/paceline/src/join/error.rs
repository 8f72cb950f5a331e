//! Why a join has failed; for people.

use crate::connection::ServerError;
use paceline_server::unfinished::BeginError;
use paceline_types::error_code::{
    ER_BAD_FIELD_ERROR, ER_LOCK_DEADLOCK, ER_NO_SUCH_TABLE, ER_TABLE_DEF_CHANGED, ErrorCode,
};
use paceline_wire::WireError;

/// Why a join has failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A server refused something, or is not there.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The primary has what cannot be taken over.
    #[error(
        "{address} has what this server cannot take over; nothing was copied:\n{}",
        list(problems)
    )]
    Unsupported {
        /// The primary.
        address: String,
        /// Line by line.
        problems: Vec<String>,
    },
    /// A row did not come over as it was.
    #[error("table {table}: {problem}")]
    Table {
        /// `database.table`.
        table: String,
        /// What happened.
        problem: String,
    },
    /// The data directory cannot be used.
    #[error(transparent)]
    Begin(#[from] BeginError),
    /// The data directory cannot be completed.
    #[error("the data directory: {0}")]
    Directory(String),
    /// Its files could not be copied.
    #[error(transparent)]
    Files(#[from] crate::backup::error::Error),
    /// The server that the rows go into.
    #[error("this server: {0}")]
    Target(String),
}

/// What functions here return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

fn list(problems: &[String]) -> String {
    let lines: Vec<String> = problems.iter().map(|problem| format!("  {problem}")).collect();
    lines.join("\n")
}

/// How a question about a table ends that is redefined or dropped there, or whose turn that comes between.
const REDEFINED: [ErrorCode; 4] = [
    ER_TABLE_DEF_CHANGED,
    ER_NO_SUCH_TABLE,
    ER_BAD_FIELD_ERROR,
    ER_LOCK_DEADLOCK,
];

/// A table is another one than when the schema was read.
pub const REDEFINED_UNSEEN: &str = "it was redefined there before it could be copied; run the command again";

/// Why a table could not be read on the primary; for people.
pub fn told(error: &WireError) -> String {
    match REDEFINED.into_iter().any(|code| is_error(error, code)) {
        true => format!("it was redefined there before it could be copied ({error}); run the command again"),
        false => error.to_string(),
    }
}

/// Whether it is a server's error of this number.
pub fn is_error(error: &WireError, wanted: ErrorCode) -> bool {
    matches!(error, WireError::Server { code, .. } if *code == wanted.number())
}
