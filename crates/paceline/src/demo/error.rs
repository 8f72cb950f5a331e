//! Errors of a demo.

use crate::connection::ServerError;
use crate::sys_schema;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

/// An error of a demo. The text is for users.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An error of the operating system.
    #[error("cannot {doing}: {source}")]
    System {
        /// The failed operation.
        doing: String,
        source: io::Error,
    },
    /// The path of a socket would be too long for the system.
    #[error("the directory for temporary files has a path that is too long for UNIX sockets ({}): set TMPDIR to a shorter one", .0.display())]
    LongPath(PathBuf),
    /// A process has ended by itself.
    #[error("the {name} has ended ({status}). Its last messages:\n{last_lines}")]
    Died {
        name: &'static str,
        status: ExitStatus,
        last_lines: String,
    },
    /// A process does not become ready.
    #[error("the {name} is not ready after {seconds} s. Its last messages:\n{last_lines}")]
    NotReady {
        name: &'static str,
        seconds: u64,
        last_lines: String,
    },
    /// An error of a server or of the connection to it.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The views of a server cannot be created.
    #[error(transparent)]
    SysSchema(#[from] sys_schema::Error),
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Returns a function that makes an error of the operating system.
    pub fn system(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.into();
        |source| Error::System { doing, source }
    }
}
