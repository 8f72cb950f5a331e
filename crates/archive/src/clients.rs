//! Registry of sessions: lists and ends them.

use paceline_txn::{Interrupt, InterruptReason};
use paceline_wire::socket::SocketHandle;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// Maximum number of sessions.
const SESSIONS_MAX: usize = 1000;

/// The part of a session that other sessions can see.
#[derive(Debug)]
pub struct ClientHandle {
    /// Connection id.
    pub id: u32,
    /// Ends the stream of a replica.
    pub interrupt: Interrupt,
    socket: SocketHandle,
    /// Address of the client.
    pub host: String,
    /// Its user name, once it has logged in.
    pub user: OnceLock<String>,
    /// Time when the client connected.
    pub connected: Instant,
    /// Current command and state.
    pub activity: Mutex<(&'static str, &'static str)>,
}

impl ClientHandle {
    /// Ends the session.
    pub fn kill(&self, reason: InterruptReason) {
        self.interrupt.raise(reason);
        self.socket.stop_reading();
    }
}

/// All sessions.
#[derive(Debug, Default)]
pub struct Sessions {
    all: Mutex<BTreeMap<u32, Arc<ClientHandle>>>,
    last_id: AtomicU32,
}

/// Result of adding a session.
#[derive(Debug)]
pub enum Admission {
    /// The session was added.
    Admitted(Arc<ClientHandle>),
    /// The limit was reached: the client gets error 1040.
    Full(Arc<ClientHandle>),
}

impl Sessions {
    /// Adds a session for a client that has connected.
    pub fn add(&self, socket: SocketHandle, host: String) -> Admission {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let client = Arc::new(ClientHandle {
            id,
            interrupt: Interrupt::new(),
            socket,
            host,
            user: OnceLock::new(),
            connected: Instant::now(),
            activity: Mutex::new(("Connect", "login")),
        });
        let mut all = self.all.lock();
        if all.len() >= SESSIONS_MAX {
            return Admission::Full(client);
        }
        all.insert(id, client.clone());
        Admission::Admitted(client)
    }

    /// Removes a session that has ended.
    pub fn remove(&self, id: u32) {
        self.all.lock().remove(&id);
    }

    /// Returns all sessions.
    pub fn all(&self) -> Vec<Arc<ClientHandle>> {
        self.all.lock().values().cloned().collect()
    }

    /// Returns the number of sessions.
    pub fn count(&self) -> usize {
        self.all.lock().len()
    }

    /// Ends all sessions.
    pub fn stop_all(&self) {
        for session in self.all() {
            session.kill(InterruptReason::Shutdown);
        }
    }
}
