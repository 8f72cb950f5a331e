//! A process of the demo, with its log.

use super::bound_process;
use super::error::{Error, Result};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Time limit for a process to become ready.
const READY: Duration = Duration::from_secs(60);
/// Time limit for a process to end after SIGTERM.
const STOP: Duration = Duration::from_secs(20);
/// Interval of polling.
const POLL: Duration = Duration::from_millis(5);
/// Lines of the log that an error shows.
const LAST_LINES: usize = 10;

/// A process of this program. It ends with the demo.
pub struct ChildProcess {
    pub name: &'static str,
    process: Child,
    log: PathBuf,
    ended: Option<ExitStatus>,
}

impl ChildProcess {
    /// Starts a process. Its output goes to `DIRECTORY/NAME.log`. To be called in the main thread
    /// ([`bound_process`]).
    ///
    /// # Errors
    /// Fails if the process cannot be started.
    pub fn start(name: &'static str, directory: &Path, mut command: Command) -> Result<Self> {
        let failed = || Error::system(format!("start the {name}"));
        let log = directory.join(format!("{name}.log"));
        let out = File::create(&log).map_err(failed())?;
        let errors = out.try_clone().map_err(failed())?;
        bound_process::bind(&mut command);
        let process = command
            // Their ready messages are read.
            .env("PACELINE_LOG", "info")
            .env_remove("NOTIFY_SOCKET")
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(errors)
            // Signals of the terminal go to the demo, which stops its processes in order.
            .process_group(0)
            .spawn()
            .map_err(failed())?;
        Ok(ChildProcess {
            name,
            process,
            log,
            ended: None,
        })
    }

    /// Returns the exit status, if the process has ended.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none() {
            self.ended = self.process.try_wait().ok().flatten();
        }
        self.ended
    }

    /// Returns what the process has written.
    pub fn output(&self) -> String {
        let bytes = std::fs::read(&self.log).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn last_lines(&self) -> String {
        let output = self.output();
        let lines: Vec<&str> = output.lines().collect();
        if lines.is_empty() {
            return "    (none)".to_owned();
        }
        let shown = &lines[lines.len().saturating_sub(LAST_LINES)..];
        shown
            .iter()
            .map(|line| format!("    {line}\n"))
            .collect::<String>()
            .trim_end()
            .to_owned()
    }

    /// Returns the error for a process that has ended by itself.
    pub fn died(&self, status: ExitStatus) -> Error {
        Error::Died {
            name: self.name,
            status,
            last_lines: self.last_lines(),
        }
    }

    /// Returns the error for a process that is not ready after some time.
    pub fn not_ready(&self, after: Duration) -> Error {
        Error::NotReady {
            name: self.name,
            seconds: after.as_secs(),
            last_lines: self.last_lines(),
        }
    }

    /// Waits until `found` returns something for the output.
    ///
    /// # Errors
    /// Fails if the process ends, or if it takes too long.
    pub async fn wait_for<T>(&mut self, found: impl Fn(&str) -> Option<T>) -> Result<T> {
        let deadline = Instant::now() + READY;
        loop {
            if let Some(found) = found(&self.output()) {
                return Ok(found);
            }
            if let Some(status) = self.ended() {
                return Err(self.died(status));
            }
            if Instant::now() > deadline {
                return Err(self.not_ready(READY));
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// Asks the process to end.
    pub fn ask_to_end(&mut self) {
        if self.ended().is_none() {
            // It has not been waited for, so the id is its own.
            let _ = kill_process(Pid::from_child(&self.process), Signal::TERM);
        }
    }

    /// Kills the process.
    pub fn kill(&mut self) {
        if self.ended().is_none() {
            let _ = self.process.kill();
            self.ended = self.process.wait().ok();
        }
    }

    /// Waits until the process has ended. After a time it is killed.
    pub async fn wait_for_end(&mut self) {
        let deadline = Instant::now() + STOP;
        while self.ended().is_none() {
            if Instant::now() > deadline {
                return self.kill();
            }
            tokio::time::sleep(POLL).await;
        }
    }
}
