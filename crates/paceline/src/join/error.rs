//! Errors of `paceline join`, with texts for users.

use crate::backup::error::Error as CopyError;
use crate::connection::{Cause, ServerError};
use paceline_server::incomplete_directory::BeginError;
use paceline_types::error_code::{
    ER_ACCESS_DENIED_ERROR, ER_BAD_FIELD_ERROR, ER_LOCK_DEADLOCK, ER_NO_SUCH_TABLE, ER_TABLE_DEF_CHANGED,
    ErrorCode,
};
use paceline_wire::WireError;

/// Reason why a join has failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A server could not be reached, or refused something.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The primary has objects that cannot be copied.
    #[error(
        "{address} has objects that cannot be copied; nothing was copied:\n{}",
        list(problems)
    )]
    Unsupported {
        /// Address of the primary.
        address: String,
        /// One line for each object.
        problems: Vec<String>,
    },
    /// Triggers could be created before the rows were copied, but not after. The copy is incomplete.
    #[error(
        "the rows of {address} were copied, but triggers could not be created after them; the copy is not usable:\n{}",
        list(problems)
    )]
    TriggersAfterRows {
        /// Address of the primary.
        address: String,
        /// One line for each trigger.
        problems: Vec<String>,
    },
    /// A row was not copied exactly, or could not be read.
    #[error("table {table}: {problem}")]
    Table {
        /// `database.table`.
        table: String,
        /// Description of the error.
        problem: String,
    },
    /// The data directory cannot be used.
    #[error(transparent)]
    Begin(#[from] BeginError),
    /// The data directory cannot be completed.
    #[error("the data directory: {0}")]
    Directory(String),
    /// The primary's files could not be copied.
    #[error(transparent)]
    Files(#[from] CopyError),
    /// The server that the rows are loaded into failed.
    #[error("this server: {0}")]
    Target(String),
}

impl Error {
    /// Returns whether it concerns the server that is copied: it was lost, or is not ready. Another attempt, perhaps
    /// with another server, may succeed. A wrong account or password does not change by itself.
    pub fn is_of_primary(&self) -> bool {
        match self {
            Error::Server(error) | Error::Files(CopyError::Server(error)) => {
                error.cause != Cause::Server(ER_ACCESS_DENIED_ERROR.number())
            }
            _ => false,
        }
    }
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

fn list(problems: &[String]) -> String {
    let lines: Vec<String> = problems.iter().map(|problem| format!("  {problem}")).collect();
    lines.join("\n")
}

/// Errors of reading a table that is redefined or dropped meanwhile, or with which a redefinition interferes.
const REDEFINED: [ErrorCode; 4] = [
    ER_TABLE_DEF_CHANGED,
    ER_NO_SUCH_TABLE,
    ER_BAD_FIELD_ERROR,
    ER_LOCK_DEADLOCK,
];

/// Message for a table that is no longer the one in the schema.
pub const REDEFINED_UNSEEN: &str =
    "it was redefined on the primary before it could be copied; run the command again";

/// Returns the reason why a table could not be read on the primary, as a text for users.
pub fn read_error_text(error: &WireError) -> String {
    match REDEFINED.into_iter().any(|code| is_error(error, code)) {
        true => format!(
            "it was redefined on the primary before it could be copied ({error}); run the command again"
        ),
        false => error.to_string(),
    }
}

/// Returns whether it is a server's error with this number.
pub fn is_error(error: &WireError, wanted: ErrorCode) -> bool {
    matches!(error, WireError::Server { code, .. } if *code == wanted.number())
}
