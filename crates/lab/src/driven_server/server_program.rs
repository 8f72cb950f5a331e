//! The programs of servers, and how they are started.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const INSTALL_MARIADB: &str = "mariadb-install-db";

/// A server's program.
#[derive(Debug, Clone)]
pub enum ServerProgram {
    Paceline(PathBuf),
    MariaDb(PathBuf),
}

impl ServerProgram {
    pub fn name(&self) -> &'static str {
        match self {
            ServerProgram::Paceline(_) => "Paceline",
            ServerProgram::MariaDb(_) => "MariaDB",
        }
    }

    pub fn path(&self) -> &Path {
        match self {
            ServerProgram::Paceline(path) | ServerProgram::MariaDb(path) => path,
        }
    }

    /// Returns the programs that a start needs.
    pub fn required(&self) -> Vec<PathBuf> {
        let mut programs = vec![self.path().to_owned()];
        if let ServerProgram::MariaDb(_) = self {
            programs.push(PathBuf::from(INSTALL_MARIADB));
        }
        programs
    }

    /// Prepares `directory` for the server, whose root then needs no password.
    ///
    /// # Errors
    /// If MariaDB's tables cannot be made: with what its program said.
    pub(super) fn prepare(&self, directory: &Path) -> io::Result<()> {
        let ServerProgram::MariaDb(_) = self else {
            return Ok(());
        };
        // MariaDB removes all temporary tables in its directory for them: it must not be shared.
        let temporary = directory.join("tmp");
        fs::create_dir(&temporary)?;
        let messages = directory.join("install");
        let output = File::create(&messages)?;
        let mut command = Command::new(INSTALL_MARIADB);
        command.args(["--no-defaults", "--force", "--skip-test-db"]);
        command.arg("--auth-root-authentication-method=normal");
        command.args(user());
        command.arg(option("datadir", &directory.join("data")));
        command.env("TMPDIR", &temporary).stdin(Stdio::null());
        let status = command.stdout(output.try_clone()?).stderr(output).status();
        let status =
            status.map_err(|error| io::Error::new(error.kind(), format!("{INSTALL_MARIADB}: {error}")))?;
        match status.success() {
            true => Ok(()),
            false => Err(io::Error::other(format!(
                "{INSTALL_MARIADB}: {status}\n{}",
                fs::read_to_string(&messages)?
            ))),
        }
    }

    /// Returns the command that starts the server with its data in `directory`, and its socket `s`.
    pub(super) fn command(&self, directory: &Path) -> Command {
        let mut command = Command::new(self.path());
        match self {
            ServerProgram::Paceline(_) => {
                command.args(["server", "--port", "0", "--initialize-insecure"]);
            }
            ServerProgram::MariaDb(_) => {
                command.args(["--no-defaults", "--skip-networking", "--server-id=1"]);
                command.args(["--log-bin=bin", "--innodb_flush_log_at_trx_commit=1"]);
                command.args(user());
                command.arg(option("tmpdir", &directory.join("tmp")));
            }
        }
        command.args(["--sync_binlog=1", "--max_connections=2000"]);
        command.arg(option("datadir", &directory.join("data")));
        command.arg(option("socket", &directory.join("s")));
        command
    }
}

/// Returns the option without which MariaDB does not run as root.
fn user() -> Option<&'static str> {
    rustix::process::geteuid().is_root().then_some("--user=root")
}

/// Returns an option with its value, in the one form that all the programs read.
fn option(name: &str, value: &Path) -> OsString {
    let mut option = OsString::from(format!("--{name}="));
    option.push(value);
    option
}
