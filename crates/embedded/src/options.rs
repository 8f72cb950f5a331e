//! Options of a database within a program.

use crate::error::{Error, Result};
use paceline_server::options::{self, Request, StartOptions};
use std::path::Path;
use std::time::Duration;

/// Time that an open waits for another process to release the directory: the kernel takes a while to free the memory
/// of a process that was killed.
const LOCK_PATIENCE: Duration = Duration::from_secs(1);

/// Options of a database. They have the names and values of the server's options.
///
/// ```
/// use paceline_embedded::Options;
/// let options = Options::new().set("paceline-block-cache-size", "64M").set("sync-binlog", "0");
/// ```
#[derive(Debug, Clone)]
pub struct Options {
    arguments: Vec<String>,
    lock_patience: Duration,
}

impl Default for Options {
    fn default() -> Options {
        Options::new()
    }
}

impl Options {
    /// Returns the defaults: those of the server, without a listening socket.
    pub fn new() -> Options {
        Options {
            arguments: vec!["--skip-networking".to_owned()],
            lock_patience: LOCK_PATIENCE,
        }
    }

    /// Sets an option of the server. An unknown name or a wrong value is an error of the open.
    #[must_use]
    pub fn set(mut self, name: &str, value: &str) -> Options {
        self.arguments.push(format!("--{name}={value}"));
        self
    }

    /// Adds an option as it stands on a command line, for example `--config=/etc/my.cnf` or `--skip-ssl`.
    #[must_use]
    pub fn argument(mut self, argument: &str) -> Options {
        self.arguments.push(argument.to_owned());
        self
    }

    /// Sets how long an open waits for another process that has the directory. The default is a second.
    #[must_use]
    pub fn lock_patience(mut self, patience: Duration) -> Options {
        self.lock_patience = patience;
        self
    }

    pub(crate) fn patience(&self) -> Duration {
        self.lock_patience
    }

    /// Returns the server's options for a directory.
    pub(crate) fn start_options(&self, directory: &Path) -> Result<StartOptions> {
        let mut arguments = self.arguments.clone();
        let directory = directory
            .to_str()
            .ok_or_else(|| Error::Open(format!("the path {} is not in UTF-8", directory.display())))?;
        arguments.push(format!("--datadir={directory}"));
        match options::parse(&arguments) {
            Ok(Request::Start(options)) => Ok(*options),
            Ok(Request::Help(_) | Request::Version) => Err(Error::Open(
                "--help and --version are for the command line".to_owned(),
            )),
            Err(error) => Err(Error::Open(error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_those_of_the_server() {
        let path = Path::new("/nowhere");
        let known = Options::new()
            .set("sync-binlog", "0")
            .start_options(path)
            .unwrap();
        assert_eq!(known.datadir, path);
        assert_eq!(known.port(), None);
        for (options, wanted) in [
            (
                Options::new().set("sink-binlog", "0"),
                "unknown option '--sink-binlog'",
            ),
            (
                Options::new().argument("--help"),
                "--help and --version are for the command line",
            ),
        ] {
            assert_eq!(options.start_options(path).unwrap_err().to_string(), wanted);
        }
    }
}
