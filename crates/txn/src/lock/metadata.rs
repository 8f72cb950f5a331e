//! Metadata locks: what keeps a table's definition in place while it is used.
//!
//! Statements hold their tables in [`MetadataMode::Read`] or [`MetadataMode::Write`] until their transaction ends; DDL holds
//! [`MetadataMode::Exclusive`]. `LOCK TABLES … READ` and the copying phase of ALTER hold [`MetadataMode::ReadOnly`]. Who writes
//! also holds the whole server in `Write`, against which `FLUSH TABLES WITH READ LOCK` sets `ReadOnly`.

use super::mode::Mode;
use super::owner::LockOwner;
use super::table::{HeldLock, Requested, Wakeups};
use super::{LockManager, Patience};
use crate::error::Result;
use crate::interrupt::AwaitedLock;
use smallvec::SmallVec;
use std::sync::Arc;

/// DDL weighs more than any transaction in a deadlock: its work is the harder to repeat (as in MariaDB).
const DDL_WEIGHT: u64 = 1 << 40;

/// What a metadata lock is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MetadataObject<'a> {
    /// The server as a whole: held in `Write` by every writing statement (and DDL) while it runs, frozen by the global read lock.
    Global,
    /// Commits: held in `Write` from the commit queue to publication, frozen by the global read lock.
    Commit,
    /// A database.
    Database(&'a str),
    /// A table.
    Table {
        /// The database.
        database: &'a str,
        /// The table.
        table: &'a str,
    },
    /// A name that foreign keys of a database may get, or what several such names begin with. Waited for behind tables.
    ForeignKeyName {
        /// The database.
        database: &'a str,
        /// The name.
        name: &'a str,
    },
    /// A name lock of `GET_LOCK()`.
    UserLevel(&'a str),
}

/// An object's name in the lock table, in place up to here: locks travel with their transactions.
type Key = SmallVec<[u8; 32]>;

/// What a key begins with.
mod kind {
    pub const GLOBAL: u8 = 0;
    pub const DATABASE: u8 = 1;
    pub const TABLE: u8 = 2;
    pub const USER_LEVEL: u8 = 3;
    pub const COMMIT: u8 = 4;
    pub const FOREIGN_KEY_NAME: u8 = 5;
}

/// What the process list says of a wait for the object of a key.
fn kind_of(key: &[u8]) -> AwaitedLock {
    match key.first() {
        Some(&(kind::GLOBAL | kind::COMMIT)) => AwaitedLock::Server,
        Some(&kind::DATABASE) => AwaitedLock::Database,
        Some(&kind::USER_LEVEL) => AwaitedLock::Name,
        _ => AwaitedLock::Table,
    }
}

impl MetadataObject<'_> {
    fn key(&self) -> Key {
        let mut key = Key::new();
        match self {
            MetadataObject::Global => key.push(kind::GLOBAL),
            MetadataObject::Database(database) => {
                key.push(kind::DATABASE);
                key.extend_from_slice(database.as_bytes());
            }
            MetadataObject::Table { database, table } => {
                key.push(kind::TABLE);
                key.extend_from_slice(database.as_bytes());
                key.push(0);
                key.extend_from_slice(table.as_bytes());
            }
            MetadataObject::ForeignKeyName { database, name } => {
                key.push(kind::FOREIGN_KEY_NAME);
                key.extend_from_slice(database.as_bytes());
                key.push(0);
                key.extend_from_slice(name.as_bytes());
            }
            MetadataObject::Commit => key.push(kind::COMMIT),
            MetadataObject::UserLevel(name) => {
                key.push(kind::USER_LEVEL);
                key.extend_from_slice(name.as_bytes());
            }
        }
        key
    }
}

/// How an object is locked. See `Mode` in `mode.rs` for which go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetadataMode {
    /// Read its rows: goes with everything but `Exclusive`.
    Read,
    /// Write its rows: goes with `Read` and `Write`.
    Write,
    /// Read its rows while nobody writes them: goes with `Read` and `ReadOnly`. `LOCK TABLES … READ`, the global read lock, ALTER
    /// while it copies.
    ReadOnly,
    /// Alone: DDL, `LOCK TABLES … WRITE`.
    Exclusive,
}

impl From<MetadataMode> for Mode {
    fn from(mode: MetadataMode) -> Self {
        match mode {
            MetadataMode::Read => Mode::Read,
            MetadataMode::Write => Mode::Write,
            MetadataMode::ReadOnly => Mode::ReadOnly,
            MetadataMode::Exclusive => Mode::Exclusive,
        }
    }
}

/// One metadata lock, given back when dropped. `LOCK TABLES`, the global read lock and DDL keep these; a statement's locks are kept by
/// its transaction.
#[must_use = "the lock is given back when the guard is dropped"]
pub struct MetadataGuard {
    locks: Arc<LockManager>,
    owner: Arc<LockOwner>,
    key: Key,
    /// `None`: the owner holds the object through another guard.
    held: Option<HeldLock>,
    /// The mode to go back to when an upgrade of another guard's lock ends.
    mode: Mode,
}

impl MetadataGuard {
    /// Makes the lock stronger, waiting for those that stand against it.
    ///
    /// # Errors
    /// [`crate::Error::LockWaitTimeout`], [`crate::Error::Deadlock`], [`crate::Error::Interrupted`]; the lock stays as it was.
    pub fn upgrade(&mut self, mode: MetadataMode, timeout: std::time::Duration) -> Result<()> {
        let mode = Mode::from(mode);
        self.owner.set_weight(self.owner.weight().max(DDL_WEIGHT));
        self.locks
            .request_metadata(&self.owner, &self.key, mode, Patience::For(timeout))?;
        self.mode = self.mode.join(mode);
        Ok(())
    }

    /// Makes the lock weaker.
    pub fn downgrade(&mut self, mode: MetadataMode) {
        if let Some(held) = self.held {
            let mut wakeups = Wakeups::new();
            self.locks
                .metadata
                .downgrade(&self.owner, held, mode.into(), &mut wakeups);
            self.mode = mode.into();
            wakeups.iter().for_each(|owner| owner.wake());
        }
    }
}

impl Drop for MetadataGuard {
    fn drop(&mut self) {
        if let Some(held) = self.held.take() {
            let mut wakeups = Wakeups::new();
            self.locks.metadata.release(&self.owner, held, &mut wakeups);
            self.owner.remove_session_lock();
            wakeups.iter().for_each(|owner| owner.wake());
        }
    }
}

/// The metadata locks of a transaction's statements.
#[derive(Default)]
pub(crate) struct TransactionMetadata {
    held: SmallVec<[TransactionLock; 2]>,
    /// Set with the first lock; what a drop releases through.
    manager: Option<(Arc<LockManager>, Arc<LockOwner>)>,
}

struct TransactionLock {
    key: Key,
    mode: Mode,
    /// `None`: the session holds the object anyway (LOCK TABLES).
    held: Option<HeldLock>,
}

impl TransactionMetadata {
    /// Locks an object until the transaction ends.
    pub(crate) fn lock(
        &mut self,
        locks: &Arc<LockManager>,
        owner: &Arc<LockOwner>,
        object: MetadataObject<'_>,
        mode: MetadataMode,
        patience: Patience,
    ) -> Result<()> {
        let key = object.key();
        let mode = Mode::from(mode);
        let known = self.held.iter().position(|lock| lock.key == key);
        if known.is_some_and(|at| self.held[at].mode.covers(mode)) {
            return Ok(());
        }
        let held = locks.request_metadata(owner, &key, mode, patience)?;
        self.manager.get_or_insert_with(|| (locks.clone(), owner.clone()));
        match known {
            Some(at) => self.held[at].mode = self.held[at].mode.join(mode),
            None => self.held.push(TransactionLock { key, mode, held }),
        }
        Ok(())
    }

    /// How many objects are locked.
    pub(crate) fn len(&self) -> usize {
        self.held.len()
    }

    /// Gives back what was locked after there were `keep` (rollback to a savepoint).
    pub(crate) fn release_newest(&mut self, keep: usize) {
        let Some((locks, owner)) = &self.manager else {
            return;
        };
        let mut wakeups = Wakeups::new();
        while self.held.len() > keep {
            let lock = self.held.pop().expect("more than are kept");
            if let Some(held) = lock.held {
                locks.metadata.release(owner, held, &mut wakeups);
            }
        }
        wakeups.iter().for_each(|owner| owner.wake());
    }
}

impl Drop for TransactionMetadata {
    fn drop(&mut self) {
        self.release_newest(0);
    }
}

impl LockManager {
    /// Locks an object of the metadata table. `None`: the owner had it already (in this or a weaker mode, which is raised).
    fn request_metadata(
        &self,
        owner: &Arc<LockOwner>,
        key: &[u8],
        mode: Mode,
        patience: Patience,
    ) -> Result<Option<HeldLock>> {
        match self.metadata.request(owner, key, mode, patience.if_busy()) {
            Requested::AlreadyHeld | Requested::Upgraded => Ok(None),
            Requested::New(held) => Ok(Some(held)),
            Requested::Busy => Err(crate::Error::LockWaitTimeout),
            Requested::Queued { held, is_new } => {
                self.wait(
                    owner,
                    kind_of(key),
                    patience,
                    &self.counters.metadata_lock_waits,
                    |wakeups| self.metadata.cancel(owner, held, wakeups),
                )?;
                Ok(is_new.then_some(held))
            }
        }
    }

    /// Locks an object for a session, until the guard is dropped.
    pub(crate) fn lock_metadata(
        self: &Arc<Self>,
        owner: &Arc<LockOwner>,
        object: MetadataObject<'_>,
        mode: MetadataMode,
        patience: Patience,
    ) -> Result<MetadataGuard> {
        let key = object.key();
        let mode = Mode::from(mode);
        if mode == Mode::Exclusive {
            owner.set_weight(owner.weight().max(DDL_WEIGHT));
        }
        let held = self.request_metadata(owner, &key, mode, patience)?;
        if held.is_some() {
            owner.add_session_lock();
        }
        Ok(MetadataGuard {
            locks: self.clone(),
            owner: owner.clone(),
            key,
            held,
            mode,
        })
    }
}
