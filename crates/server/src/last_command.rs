//! The session that sent the server's last command: a session whose own commands are the last ones is alone.

use std::sync::atomic::{AtomicU32, Ordering};

/// The session that sent the server's last command.
#[derive(Debug, Default)]
pub struct LastCommand {
    /// Id of the session; 0 before the first command.
    session: AtomicU32,
}

impl LastCommand {
    /// Returns whether this session sent it.
    pub fn is_of(&self, session: u32) -> bool {
        self.session.load(Ordering::Relaxed) == session
    }

    /// Records a command of this session.
    pub fn set(&self, session: u32) {
        self.session.store(session, Ordering::Relaxed);
    }
}
