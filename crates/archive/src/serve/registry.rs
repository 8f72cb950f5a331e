//! All sessions: to list them, and to end them.

use paceline_txn::{Interrupt, InterruptReason};
use paceline_wire::socket::SocketHandle;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

/// How many clients there may be at a time.
const SESSIONS_MAX: usize = 1000;

/// What others see of a session.
#[derive(Debug)]
pub struct SessionShared {
    /// The connection's id.
    pub id: u32,
    /// Ends its stream.
    pub interrupt: Interrupt,
    socket: SocketHandle,
    /// Where it comes from.
    pub host: String,
    /// When it came.
    pub connected: Instant,
    /// What it does: command and state.
    pub doing: Mutex<(&'static str, &'static str)>,
}

impl SessionShared {
    /// Ends the session.
    pub fn kill(&self, reason: InterruptReason) {
        self.interrupt.raise(reason);
        self.socket.stop_reading();
    }
}

/// All sessions.
#[derive(Debug, Default)]
pub struct Sessions {
    all: Mutex<BTreeMap<u32, Arc<SessionShared>>>,
    last_id: AtomicU32,
}

/// Whether there was room for a session.
#[derive(Debug)]
pub enum Admission {
    /// There was.
    Admitted(Arc<SessionShared>),
    /// There was not: 1040.
    Full(Arc<SessionShared>),
}

impl Sessions {
    /// A client has connected.
    pub fn add(&self, socket: SocketHandle, host: String) -> Admission {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let shared = Arc::new(SessionShared {
            id,
            interrupt: Interrupt::new(),
            socket,
            host,
            connected: Instant::now(),
            doing: Mutex::new(("Connect", "login")),
        });
        let mut all = self.all.lock();
        if all.len() >= SESSIONS_MAX {
            return Admission::Full(shared);
        }
        all.insert(id, shared.clone());
        Admission::Admitted(shared)
    }

    /// A session has ended.
    pub fn remove(&self, id: u32) {
        self.all.lock().remove(&id);
    }

    /// All that are there.
    pub fn all(&self) -> Vec<Arc<SessionShared>> {
        self.all.lock().values().cloned().collect()
    }

    /// How many are there.
    pub fn count(&self) -> usize {
        self.all.lock().len()
    }

    /// Ends all.
    pub fn stop_all(&self) {
        for session in self.all() {
            session.kill(InterruptReason::Shutdown);
        }
    }
}
