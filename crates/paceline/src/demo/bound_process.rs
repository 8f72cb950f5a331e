//! Processes that end with the process that has started them, however that ends.
//!
//! The kernel sends SIGKILL to a process when its parent dies, if the process has asked for it (`PR_SET_PDEATHSIG`).
//! The parent cannot ask in the child's place without unsafe code, so it names itself in the child's environment, and
//! the child asks at its start.
//!
//! *A parent that dies before the child has asked* is noticed by the child: it has another parent then.
//!
//! *The parent must start the child from its main thread.* The kernel takes the end of the thread that has started the
//! child for the end of the parent.
//!
//! *Alternative considered*: a pipe whose other end the parent holds. Each child would need a thread that reads it, and
//! a child that hangs would survive. (For what remains of a killed demo besides its servers, a pipe is used:
//! [`cleaner`](super::cleaner).)

use rustix::process::{Signal, getppid, set_parent_process_death_signal};
use std::process::Command;

/// Environment variable with the process id of the parent.
const VARIABLE: &str = "PACELINE_PARENT";

/// Makes a command of this program end with this process.
pub fn bind(command: &mut Command) {
    command.env(VARIABLE, std::process::id().to_string());
}

/// Binds this process to its parent, if that has requested it. To be called first in `main`.
pub fn obey() {
    let Some(parent) = std::env::var_os(VARIABLE) else {
        return;
    };
    if let Err(error) = set_parent_process_death_signal(Some(Signal::KILL)) {
        eprintln!("paceline: cannot watch the parent process: {error}");
        std::process::exit(1);
    }
    let current = getppid().map_or(0, |process| process.as_raw_nonzero().get());
    if parent.to_str() != Some(&*current.to_string()) {
        eprintln!("paceline: the process that has started this one has ended");
        std::process::exit(1);
    }
}
