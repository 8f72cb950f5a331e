//! A server of this project in a process of its own, with its data in memory.

use super::connection::Connection;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Where Linux has a file system in memory.
const RAM_DISK: &str = "/dev/shm";

/// How long a start may take.
const START: Duration = Duration::from_secs(60);

/// A running server. It ends, and its data with it, when this is dropped.
pub struct Server {
    process: Child,
    directory: TempDir,
}

impl Server {
    /// Starts a server that syncs its log for every commit group. It listens on a UNIX socket only.
    ///
    /// # Errors
    /// If it does not start: with the end of what it has said.
    pub fn start(program: &Path) -> io::Result<Self> {
        let directory = tempfile::Builder::new()
            .prefix("paceline-lab-")
            .tempdir_in(RAM_DISK)?;
        let messages = directory.path().join("messages");
        let output = File::create(&messages)?;
        let process = Command::new(program)
            .args(["server", "--port", "0", "--initialize-insecure"])
            .args(["--sync_binlog=1", "--max_connections=2000", "--datadir"])
            .arg(directory.path().join("data"))
            .arg("--socket")
            .arg(directory.path().join("s"))
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            .spawn()
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", program.display())))?;
        let mut server = Server { process, directory };
        let end = Instant::now() + START;
        while let Err(error) = Connection::open(&server.socket()) {
            let ended = server.process.try_wait()?;
            if ended.is_some() || Instant::now() > end {
                let said = std::fs::read_to_string(&messages).unwrap_or_default();
                return Err(io::Error::other(format!(
                    "the server does not start: {error}\n{said}"
                )));
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    pub fn socket(&self) -> PathBuf {
        self.directory.path().join("s")
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
