//! A process that removes what a killed demo leaves.
//!
//! ```text
//!   demo ── pipe: "client 1234" ──▶ cleaner, in a process group of its own
//!    ✝ end of the pipe               ends the client, removes the directory, ends
//! ```
//! The servers of a demo end with it ([`bound_process`](super::bound_process)). Its directory and the `mariadb` client
//! do not. The cleaner holds the reading end of a pipe, whose only writing end the kernel closes when the demo ends,
//! even by `kill -9`. A demo that ends in order closes the pipe too, after its servers have stopped: there is one way
//! to remove the directory.
//!
//! *Nothing else can be removed*: the directory must contain [`MARKER`], and its name must start with [`PREFIX`].

use super::error::{Error, Result};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::io::{self, BufRead, ErrorKind, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

/// Name of a file in the directory of each demo.
pub const MARKER: &str = "paceline-demo";
/// Start of the name of each demo's directory.
pub const PREFIX: &str = "paceline-demo-";

/// Time in which killed servers release the directory.
const REMOVAL: Duration = Duration::from_secs(20);
/// Time in which the client ends before it is killed.
const CLIENT: Duration = Duration::from_secs(1);
/// Interval of polling.
const POLL: Duration = Duration::from_millis(10);

/// The running cleaner, as the demo sees it.
pub struct Cleaner {
    process: Child,
    pipe: Option<ChildStdin>,
    directory: PathBuf,
    is_kept: bool,
}

impl Cleaner {
    /// Starts the cleaner of a directory.
    ///
    /// # Errors
    /// Fails if the process cannot be started. The directory is removed then.
    pub fn start(program: &Path, directory: &Path) -> Result<Self> {
        let failed = |error| {
            // The error of the start is the one to report.
            let _ = remove(directory);
            Error::system("start the process that cleans up")(error)
        };
        let mut process = Command::new(program)
            .arg("demo")
            .arg("--clean-up")
            .arg(directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // The terminal's signals go to the foreground process group, which this is not.
            .process_group(0)
            .current_dir("/")
            .spawn()
            .map_err(failed)?;
        let pipe = process.stdin.take();
        Ok(Cleaner {
            process,
            pipe,
            directory: directory.to_owned(),
            is_kept: false,
        })
    }

    /// Announces the client.
    pub fn client_started(&mut self, client: &Child) {
        if let Some(pipe) = &mut self.pipe {
            // Fails only if the cleaner has been killed.
            let _ = writeln!(pipe, "client {}", client.id());
        }
    }

    /// Keeps the directory.
    pub fn keep_directory(&mut self) {
        self.is_kept = true;
        if let Some(pipe) = &mut self.pipe {
            let _ = writeln!(pipe, "keep");
        }
    }

    /// Lets the cleaner do its work, and waits for it. If it has been killed, this process does the work.
    ///
    /// # Errors
    /// Fails if the directory cannot be removed.
    pub fn finish(mut self) -> Result<()> {
        drop(self.pipe.take());
        let status = self
            .process
            .wait()
            .map_err(Error::system("wait for the process that cleans up"))?;
        if status.success() || self.is_kept {
            return Ok(());
        }
        let directory = &self.directory;
        remove(directory).map_err(Error::system(format!("remove {}", directory.display())))
    }
}

/// Runs the cleaner.
///
/// # Errors
/// A message: the directory cannot be removed.
pub fn run(directory: &Path) -> Result<(), String> {
    let mut client: Option<OwnedFd> = None;
    let mut is_kept = false;
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        match line.split_once(' ') {
            Some(("client", id)) => client = id.parse().ok().and_then(open),
            _ => is_kept |= line == "keep",
        }
    }
    if let Some(client) = client {
        end(&client);
    }
    match is_kept {
        true => Ok(()),
        false => remove(directory).map_err(|error| format!("cannot remove {}: {error}", directory.display())),
    }
}

fn open(id: i32) -> Option<OwnedFd> {
    pidfd_open(Pid::from_raw(id)?, PidfdFlags::empty()).ok()
}

fn end(client: &OwnedFd) {
    let deadline = Instant::now() + CLIENT;
    // The client restores the terminal's settings.
    let mut signal = Signal::TERM;
    while pidfd_send_signal(client, signal).is_ok() && signal != Signal::KILL {
        std::thread::sleep(POLL);
        if Instant::now() > deadline {
            signal = Signal::KILL;
        }
    }
}

/// Removes the directory of a demo. Its servers may be about to end.
///
/// # Errors
/// Fails if this is not a demo's directory, or if it cannot be removed.
fn remove(directory: &Path) -> io::Result<()> {
    let name = directory.file_name().unwrap_or_default();
    let is_ours = name.to_string_lossy().starts_with(PREFIX) && directory.join(MARKER).is_file();
    if !is_ours {
        return match directory.exists() {
            true => Err(io::Error::other("it is not a demo's directory")),
            false => Ok(()),
        };
    }
    let deadline = Instant::now() + REMOVAL;
    loop {
        match std::fs::remove_dir_all(directory) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == ErrorKind::NotFound && !directory.exists() => return Ok(()),
            Err(error) if Instant::now() > deadline => return Err(error),
            // A server still creates files.
            Err(_) => std::thread::sleep(POLL),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_directories_of_demos_are_removed() {
        let above = tempfile::tempdir().unwrap();
        let other = above.path().join("other");
        let unmarked = above.path().join(format!("{PREFIX}1"));
        let demo = above.path().join(format!("{PREFIX}2"));
        for directory in [&other, &unmarked, &demo] {
            std::fs::create_dir(directory).unwrap();
        }
        std::fs::write(other.join(MARKER), "").unwrap();
        std::fs::write(demo.join(MARKER), "").unwrap();
        assert!(remove(&other).is_err() && other.exists());
        assert!(remove(&unmarked).is_err() && unmarked.exists());
        remove(&demo).unwrap();
        assert!(!demo.exists());
        remove(&demo).unwrap();
    }
}
