//! Memory accounts: limits on the memory that sessions collect.
//!
//! ```text
//!   ServerMemory                 limit of all sessions together: 1041
//!     └── SessionMemory          limit of one session: `max_session_mem_used`, 1290
//!           └── MemoryCharge     share of one owner: a statement, a prepared statement, user variables, a cursor
//!                 └── execute::memory::Reservation     share of one collection of a statement
//! ```
//!
//! A charge requests memory from the accounts in chunks, so that collecting a row costs an addition and a
//! comparison. It returns its memory when it is dropped: a statement releases everything, however it ends. A
//! refusal is an error of the statement, unless the work can continue in a file. A session can have at most
//! as much as it leaves free of the server's limit: a single session gets half, n greedy sessions get one
//! part of n + 1 each, and the last part remains for small statements of other sessions. (With a fixed share
//! per session, a few could take the whole.) Accounts count collected data that grows with the rows. The
//! fixed parts of a session and the engine's caches have limits of their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error_code::{ER_OPTION_PREVENTS_STATEMENT, ER_OUT_OF_RESOURCES};

use crate::StatementError;

/// Maximum excess of a request, in bytes: a charge requests half as much again as it needs, up to this limit.
const CHUNK_BYTES: usize = 64 << 10;

/// Account of all sessions of a server.
#[derive(Debug)]
pub struct ServerMemory {
    used: AtomicU64,
    limit: AtomicU64,
}

impl ServerMemory {
    /// Creates an empty account; `limit` is in bytes.
    pub fn new(limit: u64) -> Arc<Self> {
        Arc::new(ServerMemory {
            used: AtomicU64::new(0),
            limit: AtomicU64::new(limit),
        })
    }

    /// Returns the memory of all its sessions, in bytes.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Returns the limit, in bytes.
    pub fn limit(&self) -> u64 {
        self.limit.load(Ordering::Relaxed)
    }

    /// Changes the limit. Memory that is charged already stays charged.
    pub fn set_limit(&self, limit: u64) {
        self.limit.store(limit, Ordering::Relaxed);
    }

    /// Charges `bytes` for a session that then has `session_bytes`, or nothing. At least `session_bytes` must
    /// stay free.
    fn charge(&self, bytes: u64, session_bytes: u64) -> Result<(), StatementError> {
        let limit = self.limit();
        if add_within(&self.used, bytes, limit.saturating_sub(session_bytes)) {
            return Ok(());
        }
        Err(StatementError::with_message(
            ER_OUT_OF_RESOURCES,
            format!(
                "Out of memory: a session may have as much as it leaves free of {limit} bytes (paceline_session_memory_max, paceline_memory_limit)"
            ),
        ))
    }
}

/// Account of one session.
#[derive(Debug)]
pub struct SessionMemory {
    server: Arc<ServerMemory>,
    used: AtomicU64,
    /// Most memory since the session began, or since this was forgotten.
    used_max: AtomicU64,
    limit: AtomicU64,
}

impl SessionMemory {
    /// Creates the account of a session of this server, without a limit of its own.
    pub fn new(server: Arc<ServerMemory>) -> Arc<Self> {
        Arc::new(SessionMemory {
            server,
            used: AtomicU64::new(0),
            used_max: AtomicU64::new(0),
            limit: AtomicU64::new(u64::MAX),
        })
    }

    /// Creates an account without limits: for statements of the server itself, and for tests.
    pub fn unlimited() -> Arc<Self> {
        Self::new(ServerMemory::new(u64::MAX))
    }

    /// Returns the session's memory, in bytes.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Returns the most memory that the session has had, in bytes.
    pub fn used_max(&self) -> u64 {
        self.used_max.load(Ordering::Relaxed)
    }

    /// Forgets the most memory that the session has had. As in MariaDB, the next charge counts again from zero.
    pub fn forget_max(&self) {
        self.used_max.store(0, Ordering::Relaxed);
    }

    /// Sets `max_session_mem_used`, in bytes.
    pub fn set_limit(&self, limit: u64) {
        self.limit.store(limit, Ordering::Relaxed);
    }

    /// Returns the server's account.
    pub fn server(&self) -> &Arc<ServerMemory> {
        &self.server
    }

    /// Charges `bytes`, or nothing.
    ///
    /// # Errors
    /// 1290 beyond `max_session_mem_used`, 1041 beyond the limit of the server's sessions.
    fn charge(&self, bytes: usize) -> Result<(), StatementError> {
        let bytes = bytes as u64;
        let limit = self.limit.load(Ordering::Relaxed);
        if !add_within(&self.used, bytes, limit) {
            let option = format!("--max-session-mem-used={limit}");
            return Err(StatementError::new(ER_OPTION_PREVENTS_STATEMENT, &[&option]));
        }
        let charged = self.server.charge(bytes, self.used());
        match charged {
            Ok(()) => self.raise_max(),
            Err(_) => {
                self.used.fetch_sub(bytes, Ordering::Relaxed);
            }
        }
        charged
    }

    fn raise_max(&self) {
        let used = self.used();
        // A maximum is rarely exceeded, so most charges only read it.
        if used > self.used_max() {
            self.used_max.fetch_max(used, Ordering::Relaxed);
        }
    }

    /// Checks that `bytes` more could be charged.
    ///
    /// # Errors
    /// Those of [`MemoryCharge::grow`].
    pub fn check_room(&self, bytes: usize) -> Result<(), StatementError> {
        self.charge(bytes)?;
        self.release(bytes);
        Ok(())
    }

    fn release(&self, bytes: usize) {
        self.used.fetch_sub(bytes as u64, Ordering::Relaxed);
        self.server.used.fetch_sub(bytes as u64, Ordering::Relaxed);
    }
}

/// Adds, unless the sum exceeds the limit.
fn add_within(used: &AtomicU64, bytes: u64, limit: u64) -> bool {
    let sum = |used: u64| used.checked_add(bytes).filter(|sum| *sum <= limit);
    used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum)
        .is_ok()
}

/// Share of one owner of a session's account. It is returned when this is dropped.
#[derive(Debug)]
pub struct MemoryCharge {
    account: Arc<SessionMemory>,
    used: usize,
    /// Memory requested from the account: at least `used`.
    charged: usize,
}

impl MemoryCharge {
    /// Creates an empty charge.
    pub fn new(account: &Arc<SessionMemory>) -> Self {
        MemoryCharge {
            account: account.clone(),
            used: 0,
            charged: 0,
        }
    }

    /// Returns the owner's memory, in bytes.
    pub fn used(&self) -> usize {
        self.used
    }

    /// Charges `bytes` more, or nothing.
    ///
    /// # Errors
    /// 1290 beyond `max_session_mem_used`, 1041 beyond the limit of the server's sessions.
    #[inline]
    pub fn grow(&mut self, bytes: usize) -> Result<(), StatementError> {
        let used = self.used.saturating_add(bytes);
        if used > self.charged {
            self.charge_for(used)?;
        }
        self.used = used;
        Ok(())
    }

    #[cold]
    fn charge_for(&mut self, used: usize) -> Result<(), StatementError> {
        let missing = used - self.charged;
        let ample = missing.saturating_add((used / 2).min(CHUNK_BYTES));
        if self.account.charge(ample).is_ok() {
            self.charged += ample;
            return Ok(());
        }
        // Near a limit, request no more than needed.
        self.account.charge(missing)?;
        self.charged = used;
        Ok(())
    }

    /// Returns `bytes` to the account.
    pub fn shrink(&mut self, bytes: usize) {
        debug_assert!(bytes <= self.used, "more is given back than was taken");
        self.used = self.used.saturating_sub(bytes);
        let spare = self.charged - self.used;
        if spare > 2 * CHUNK_BYTES {
            self.account.release(spare - CHUNK_BYTES);
            self.charged = self.used + CHUNK_BYTES;
        }
    }

    /// Charges or returns memory until the owner has exactly `bytes`.
    ///
    /// # Errors
    /// Those of [`MemoryCharge::grow`].
    pub fn set(&mut self, bytes: usize) -> Result<(), StatementError> {
        if bytes > self.used {
            return self.grow(bytes - self.used);
        }
        self.shrink(self.used - bytes);
        Ok(())
    }
}

impl Drop for MemoryCharge {
    fn drop(&mut self) {
        if self.charged > 0 {
            self.account.release(self.charged);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(result: Result<(), StatementError>) -> u16 {
        result.map_or_else(|error| error.code().number(), |()| 0)
    }

    #[test]
    fn a_dropped_charge_returns_everything() {
        let server = ServerMemory::new(u64::MAX);
        let session = SessionMemory::new(server.clone());
        let mut charge = MemoryCharge::new(&session);
        for _ in 0..1000 {
            charge.grow(1000).unwrap();
        }
        assert_eq!(charge.used(), 1_000_000);
        assert!(session.used() >= 1_000_000 && session.used() < 1_200_000);
        assert_eq!(server.used(), session.used());
        charge.shrink(900_000);
        assert!(session.used() >= 100_000 && session.used() < 300_000);
        charge.set(500_000).unwrap();
        assert!(session.used() >= 500_000);
        drop(charge);
        assert_eq!((session.used(), server.used()), (0, 0));
    }

    #[test]
    fn the_maximum_stays_until_it_is_forgotten() {
        let session = SessionMemory::unlimited();
        let mut charge = MemoryCharge::new(&session);
        charge.grow(500_000).unwrap();
        let most = session.used();
        charge.set(0).unwrap();
        assert_eq!(session.used_max(), most);
        charge.grow(400_000).unwrap();
        assert_eq!(session.used_max(), most);
        session.forget_max();
        assert_eq!(session.used_max(), 0);
        charge.grow(100_000).unwrap();
        assert_eq!(session.used_max(), session.used());
    }

    #[test]
    fn a_refused_charge_is_no_maximum() {
        let session = SessionMemory::unlimited();
        session.set_limit(100_000);
        assert_eq!(code(MemoryCharge::new(&session).grow(200_000)), 1290);
        assert_eq!(session.used_max(), 0);
    }

    #[test]
    fn limits_are_exact_and_a_refusal_takes_nothing() {
        let server = ServerMemory::new(400_000);
        let (first, second) = (
            SessionMemory::new(server.clone()),
            SessionMemory::new(server.clone()),
        );
        first.set_limit(100_000);
        let mut charge = MemoryCharge::new(&first);
        charge.grow(99_999).unwrap();
        assert_eq!(code(charge.grow(2)), 1290);
        charge.grow(1).unwrap();
        assert_eq!(
            (charge.used(), first.used(), server.used()),
            (100_000, 100_000, 100_000)
        );
        // A session without a limit of its own gets as much as it leaves free: 150,000 of the remaining
        // 300,000.
        let mut other = MemoryCharge::new(&second);
        other.grow(150_000).unwrap();
        assert_eq!(code(other.grow(1)), 1041);
        let third = SessionMemory::new(server.clone());
        let mut rest = MemoryCharge::new(&third);
        assert_eq!(code(rest.grow(75_001)), 1041);
        rest.grow(75_000).unwrap();
        assert_eq!(server.used(), 325_000);
        drop(other);
        rest.grow(75_000).unwrap();
        drop((charge, rest));
        assert_eq!(server.used(), 0);
    }

    #[test]
    fn greedy_sessions_leave_room_for_a_small_one() {
        let server = ServerMemory::new(1 << 20);
        let sessions: Vec<_> = (0..7).map(|_| SessionMemory::new(server.clone())).collect();
        let mut charges: Vec<_> = sessions.iter().map(MemoryCharge::new).collect();
        while charges
            .iter_mut()
            .map(|charge| charge.grow(1000).is_ok())
            .fold(false, |any, grown| any | grown)
        {}
        let small = SessionMemory::new(server.clone());
        MemoryCharge::new(&small).grow(50_000).unwrap();
    }
}
