//! A server whose syncs strace counts.

use super::server::Server;
use super::server_program::ServerProgram;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The program that traces system calls.
pub const STRACE: &str = "strace";

/// System calls that write a file's data to the disk, or begin to.
const CALLS: [&str; 6] = ["fsync", "fdatasync", "msync", "sync", "sync_file_range", "syncfs"];

/// A running server with a tracer, which slows each sync but no other call.
pub struct TracedServer {
    server: Server,
    /// A line for each call.
    trace: PathBuf,
}

impl TracedServer {
    /// Starts a server and its tracer.
    ///
    /// # Errors
    /// As [`Server::start`].
    pub fn start(program: &ServerProgram, parent: &Path) -> io::Result<Self> {
        let server = Server::start_by(program, parent, trace)?;
        let trace = trace_file(server.directory());
        Ok(TracedServer { server, trace })
    }

    /// Returns the number of calls since the start.
    ///
    /// # Errors
    /// Those of reading the tracer's file.
    pub fn syncs(&self) -> io::Result<SyncCounts> {
        SyncCounts::read(BufReader::new(File::open(&self.trace)?))
    }
}

impl Deref for TracedServer {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

fn trace_file(directory: &Path) -> PathBuf {
    directory.join("syncs")
}

/// Returns the command that starts a server with its tracer. The process is the server; the tracer is not its parent,
/// and ends with it.
fn trace(server: Command, directory: &Path) -> Command {
    let mut command = Command::new(STRACE);
    command.args(["--daemonize", "--follow-forks", "--seccomp-bpf", "--quiet=all"]);
    command
        .args(["-e", "signal=none", "-e"])
        .arg(format!("trace={}", CALLS.join(",")));
    command.arg("-o").arg(trace_file(directory));
    command.arg(server.get_program()).args(server.get_args());
    command
}

/// Numbers of system calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SyncCounts(BTreeMap<&'static str, u64>);

impl SyncCounts {
    /// Counts the lines of a trace. A call that others interrupt has two, of which the second begins with `<...`.
    fn read(trace: impl BufRead) -> io::Result<Self> {
        let mut counts = SyncCounts::default();
        for line in trace.lines() {
            let line = line?;
            let call =
                line.trim_start_matches(|character: char| character.is_ascii_digit() || character == ' ');
            let name = call.split_once('(').map(|(name, _)| name);
            if let Some(name) = CALLS.into_iter().find(|call| Some(*call) == name) {
                *counts.0.entry(name).or_default() += 1;
            }
        }
        Ok(counts)
    }

    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// Returns the calls since an earlier count.
    pub fn since(&self, earlier: &SyncCounts) -> SyncCounts {
        let calls = self.0.iter().map(|(name, count)| {
            let before = earlier.0.get(name).copied().unwrap_or_default();
            (*name, count.saturating_sub(before))
        });
        SyncCounts(calls.filter(|(_, count)| *count > 0).collect())
    }

    /// Adds the calls of another count.
    pub fn add(&mut self, other: &SyncCounts) {
        for (name, count) in &other.0 {
            *self.0.entry(name).or_default() += count;
        }
    }
}

impl fmt::Display for SyncCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calls: Vec<String> = self
            .0
            .iter()
            .map(|(name, count)| format!("{count} {name}"))
            .collect();
        f.write_str(&calls.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "\
7065  fdatasync(17)                     = 0
7065  fdatasync(17 <unfinished ...>
7066  fsync(3)                          = 0
7065  <... fdatasync resumed>)          = 0
7066  openat(AT_FDCWD, \"fsync(\", O_RDONLY) = 4
7066  +++ exited with 0 +++
";

    #[test]
    fn an_interrupted_call_counts_once() {
        let counts = SyncCounts::read(TRACE.as_bytes()).unwrap();
        assert_eq!(
            (counts.total(), counts.to_string()),
            (3, "2 fdatasync, 1 fsync".to_owned())
        );
    }

    #[test]
    fn calls_since_an_earlier_count_are_counted() {
        let first_line = TRACE.lines().next().unwrap_or_default();
        let before = SyncCounts::read(first_line.as_bytes()).unwrap();
        let after = SyncCounts::read(TRACE.as_bytes()).unwrap();
        let mut sum = after.since(&before);
        assert_eq!(sum.to_string(), "1 fdatasync, 1 fsync");
        sum.add(&before);
        assert_eq!(sum, after);
        assert_eq!(after.since(&after), SyncCounts::default());
    }
}
