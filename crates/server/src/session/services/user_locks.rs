//! Locks of `GET_LOCK`.

use crate::errors::of_transaction;
use crate::registry::SessionHandle;
use crate::server::Server;
use paceline_expression::session::{MemoryCharge, SessionMemory, WaitOutcome};
use paceline_syntax::Result;
use paceline_txn::{MetadataGuard, MetadataMode, MetadataObject};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// Returns the connection id of the session that holds a lock.
pub fn holder(server: &Server, name: &str) -> Option<u64> {
    server
        .user_locks
        .lock()
        .get(&name.to_lowercase())
        .map(|id| u64::from(*id))
}

/// Memory of a lock in bytes besides the copies of its name: entries here, in the server's list and in the lock table.
const LOCK_BYTES: usize = 256;
/// Number of copies of a name.
const NAMES: usize = 3;

/// Locks held by one session. Names are not case-sensitive.
#[derive(Default)]
pub struct UserLocks {
    held: Mutex<HeldLock>,
}

#[derive(Default)]
struct HeldLock {
    /// For each name, the lock and how often it is held.
    locks: HashMap<String, (u32, MetadataGuard)>,
    /// Memory charged to the session for the locks; `None` before the first one.
    charge: Option<MemoryCharge>,
}

impl HeldLock {
    fn remove(&mut self, key: &str) {
        self.locks.remove(key);
        if let Some(charge) = &mut self.charge {
            charge.shrink(bytes_of(key));
        }
    }
}

fn bytes_of(key: &str) -> usize {
    LOCK_BYTES + NAMES * key.len()
}

impl UserLocks {
    /// Executes `GET_LOCK` for the session with these `locks`: waits at most `timeout_seconds`, or without limit if
    /// that is negative. If the session already holds the lock, its count is increased.
    ///
    /// # Errors
    /// 1213 for a deadlock; 1290 and 1041 if the session has no memory for another lock.
    pub fn lock(
        &self,
        server: &Server,
        shared: &SessionHandle,
        locks: &paceline_txn::Session,
        memory: &Arc<SessionMemory>,
        name: &str,
        timeout_seconds: f64,
    ) -> Result<WaitOutcome> {
        let key = name.to_lowercase();
        {
            let mut held = self.held.lock();
            if let Some((count, _)) = held.locks.get_mut(&key) {
                *count += 1;
                return Ok(WaitOutcome::Done);
            }
            let charge = held.charge.get_or_insert_with(|| MemoryCharge::new(memory));
            charge.grow(bytes_of(&key))?;
        }
        let timeout = match timeout_seconds {
            seconds if seconds < 0.0 => Duration::from_secs(365 * 86_400),
            seconds => Duration::from_secs_f64(seconds.min(365.0 * 86_400.0)),
        };
        let locked = locks.lock_metadata(MetadataObject::UserLevel(&key), MetadataMode::Exclusive, timeout);
        if locked.is_err() {
            self.held.lock().remove(&key);
        }
        match locked {
            Ok(guard) => {
                server.user_locks.lock().insert(key.clone(), shared.id);
                self.held.lock().locks.insert(key, (1, guard));
                Ok(WaitOutcome::Done)
            }
            Err(paceline_txn::Error::LockWaitTimeout) => Ok(WaitOutcome::Elapsed),
            Err(paceline_txn::Error::Interrupted(_)) => Ok(WaitOutcome::Interrupted),
            Err(error) => Err(of_transaction(&error)),
        }
    }

    /// Executes `RELEASE_LOCK`: returns whether the session held the lock, or `None` if no session does.
    pub fn release(&self, server: &Server, name: &str) -> Option<bool> {
        let key = name.to_lowercase();
        let mut held = self.held.lock();
        if let Some((count, _)) = held.locks.get_mut(&key) {
            *count -= 1;
            if *count == 0 {
                server.user_locks.lock().remove(&key);
                held.remove(&key);
            }
            return Some(true);
        }
        server.user_locks.lock().contains_key(&key).then_some(false)
    }

    /// Executes `RELEASE_ALL_LOCKS`: returns the number of locks.
    pub fn release_all(&self, server: &Server) -> u64 {
        let held = std::mem::take(&mut *self.held.lock());
        let mut names = server.user_locks.lock();
        held.locks
            .into_iter()
            .map(|(key, (count, _guard))| {
                names.remove(&key);
                u64::from(count)
            })
            .sum()
    }
}
