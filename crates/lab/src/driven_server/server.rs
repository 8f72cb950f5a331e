//! A server in a process of its own.

use super::connection::Connection;
use super::server_program::ServerProgram;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a start may take.
const START: Duration = Duration::from_secs(60);

/// A running server. It ends, and its data with it, when this is dropped.
pub struct Server {
    process: Child,
    directory: TempDir,
}

impl Server {
    /// Starts a server with its data in a new directory in `parent`.
    ///
    /// # Errors
    /// If it does not start: with what it has said.
    pub fn start(program: &ServerProgram, parent: &Path) -> io::Result<Self> {
        Server::start_by(program, parent, |command, _| command)
    }

    /// Starts a server by another command, which is made from the server's own and its directory.
    pub(super) fn start_by(
        program: &ServerProgram,
        parent: &Path,
        command: impl FnOnce(Command, &Path) -> Command,
    ) -> io::Result<Self> {
        let directory = tempfile::Builder::new()
            .prefix("paceline-lab-")
            .tempdir_in(parent)?;
        program.prepare(directory.path())?;
        let messages = directory.path().join("messages");
        let output = File::create(&messages)?;
        let mut command = command(program.command(directory.path()), directory.path());
        let process = command
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            .spawn()
            .map_err(|error| {
                let program = command.get_program().display();
                io::Error::new(error.kind(), format!("{program}: {error}"))
            })?;
        let mut server = Server { process, directory };
        let end = Instant::now() + START;
        while let Err(error) = server.connect() {
            let ended = server.process.try_wait()?;
            if ended.is_some() || Instant::now() > end {
                let said = std::fs::read_to_string(&messages).unwrap_or_default();
                return Err(io::Error::other(format!(
                    "{}: the server does not start: {error}\n{said}",
                    program.path().display()
                )));
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    pub fn socket(&self) -> PathBuf {
        self.directory.path().join("s")
    }

    pub(super) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Connects to the server.
    ///
    /// # Errors
    /// Those of the socket, and that of the server as text.
    pub fn connect(&self) -> io::Result<Connection> {
        Connection::open(&self.socket())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A clean end is not needed: the data is deleted. But it must not write to the directory any more.
        let pid = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid {
            // It has ended already, if this fails.
            let _ = kill_process(pid, Signal::KILL);
        }
        let _ = self.process.wait();
    }
}
