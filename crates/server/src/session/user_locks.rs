//! The locks of `GET_LOCK`.

use super::errors::of_transaction;
use crate::registry::SessionShared;
use crate::server::Server;
use paceline_sql::Result;
use paceline_sql::session::{MemoryCharge, SessionMemory, WaitOutcome};
use paceline_txn::{MetadataGuard, MetadataMode, MetadataObject};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// The session that holds a lock, by its connection id.
pub fn holder(server: &Server, name: &str) -> Option<u64> {
    server
        .user_locks
        .lock()
        .get(&name.to_lowercase())
        .map(|id| u64::from(*id))
}

/// What a lock takes beside the copies of its name, in bytes: entries here, in the server's list and in the lock table.
const LOCK_BYTES: usize = 256;
/// Copies of a name.
const NAMES: usize = 3;

/// Those that one session holds. Names do not tell upper from lower case.
#[derive(Default)]
pub struct UserLocks {
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    /// How often, and the lock.
    locks: HashMap<String, (u32, MetadataGuard)>,
    /// What they count against the session's memory; `None` before the first one.
    charge: Option<MemoryCharge>,
}

impl Held {
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
    /// `GET_LOCK` of the session that has these `locks`: waits at most `timeout_seconds`; without end if that is negative. What the session holds it
    /// holds once more.
    ///
    /// # Errors
    /// 1213 if the wait would never end; 1290, 1041 if the session has no memory for one more.
    pub fn lock(
        &self,
        server: &Server,
        shared: &SessionShared,
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

    /// `RELEASE_LOCK`: whether the session held it; `None` if nobody does.
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

    /// `RELEASE_ALL_LOCKS`: how many there were.
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
