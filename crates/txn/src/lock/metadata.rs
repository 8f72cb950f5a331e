//! Metadata locks: they keep a table's definition in place while it is used.
//!
//! Statements hold their tables in [`MetadataMode::Read`] or [`MetadataMode::Write`] until their transaction
//! ends; DDL holds [`MetadataMode::Exclusive`]. `LOCK TABLES … READ` and the copying phase of ALTER hold
//! [`MetadataMode::ReadOnly`]. A writing statement also holds the whole server in `Write`, with which the
//! `ReadOnly` lock of `FLUSH TABLES WITH READ LOCK` conflicts.

use super::mode::Mode;
use super::owner::LockOwner;
use super::table::{HeldLock, IsHeld, LockRequestOutcome, Wakeups};
use super::{LockManager, WaitLimit};
use crate::error::Result;
use crate::interrupt::AwaitedLock;
use smallvec::SmallVec;
use std::sync::Arc;

/// Weight of DDL in a deadlock, above that of any transaction: its work is harder to repeat (as in MariaDB).
const DDL_WEIGHT: u64 = 1 << 40;

/// Object of a metadata lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MetadataObject<'a> {
    /// The server as a whole: held in `Write` by every writing statement (and DDL) while it runs, in `ReadOnly`
    /// by the global read lock.
    Global,
    /// Commits: held in `Write` from the commit queue to publication, in `ReadOnly` by the global read lock.
    Commit,
    /// A database.
    Database(&'a str),
    /// A table.
    Table {
        /// Name of the database.
        database: &'a str,
        /// Name of the table.
        table: &'a str,
    },
    /// A name that foreign keys of a database may get, or a common prefix of several such names. Locked after
    /// tables.
    ForeignKeyName {
        /// Name of the database.
        database: &'a str,
        /// The name, or the prefix.
        name: &'a str,
    },
    /// The name of a procedure or function, in lower case. Locked after tables.
    Routine {
        /// Name of the database.
        database: &'a str,
        /// Name of the routine.
        name: &'a str,
    },
    /// The name of an event, in lower case.
    Event {
        /// Name of the database.
        database: &'a str,
        /// Name of the event.
        name: &'a str,
    },
    /// A name lock of `GET_LOCK()`.
    UserLevel(&'a str),
}

/// Kind of the object of a metadata lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetadataKind {
    /// [`MetadataObject::Global`].
    Global,
    /// [`MetadataObject::Commit`].
    Commit,
    /// [`MetadataObject::Database`].
    Database,
    /// [`MetadataObject::Table`].
    Table,
    /// [`MetadataObject::ForeignKeyName`].
    ForeignKeyName,
    /// [`MetadataObject::Routine`].
    Routine,
    /// [`MetadataObject::Event`].
    Event,
    /// [`MetadataObject::UserLevel`].
    UserLevel,
}

/// A metadata lock, for users who look for what blocks a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetadataLock {
    /// [`Session::id`](crate::Session::id) of its owner.
    pub session_id: u64,
    /// Kind of its object.
    pub kind: MetadataKind,
    /// Database of the object; empty if it has none.
    pub database: String,
    /// Name of the object; empty if it has none.
    pub name: String,
    /// Mode in which it is held or requested.
    pub mode: MetadataMode,
    /// Whether it is held; if not, its owner waits for it.
    pub is_held: bool,
}

/// Returns the kind, database and name of the object of a key.
fn object_of(key: &[u8]) -> Option<(MetadataKind, String, String)> {
    let (first, rest) = key.split_first()?;
    let kind = match *first {
        kind::GLOBAL => MetadataKind::Global,
        kind::COMMIT => MetadataKind::Commit,
        kind::DATABASE => MetadataKind::Database,
        kind::TABLE => MetadataKind::Table,
        kind::FOREIGN_KEY_NAME => MetadataKind::ForeignKeyName,
        kind::ROUTINE => MetadataKind::Routine,
        kind::EVENT => MetadataKind::Event,
        kind::USER_LEVEL => MetadataKind::UserLevel,
        _ => return None,
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let separator = rest.iter().position(|byte| *byte == 0);
    Some(match (kind, separator) {
        (MetadataKind::UserLevel, _) => (kind, String::new(), text(rest)),
        (_, Some(at)) => (kind, text(&rest[..at]), text(&rest[at + 1..])),
        (_, None) => (kind, text(rest), String::new()),
    })
}

/// Key of an object in the lock table. Up to 32 bytes are stored inline: locks travel with their transactions.
type Key = SmallVec<[u8; 32]>;

/// First byte of a key.
mod kind {
    pub const GLOBAL: u8 = 0;
    pub const DATABASE: u8 = 1;
    pub const TABLE: u8 = 2;
    pub const USER_LEVEL: u8 = 3;
    pub const COMMIT: u8 = 4;
    pub const FOREIGN_KEY_NAME: u8 = 5;
    pub const ROUTINE: u8 = 6;
    pub const EVENT: u8 = 7;
}

/// Returns what the process list shows for a wait on the object of a key.
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
            MetadataObject::Routine { database, name } => {
                key.push(kind::ROUTINE);
                key.extend_from_slice(database.as_bytes());
                key.push(0);
                key.extend_from_slice(name.as_bytes());
            }
            MetadataObject::Event { database, name } => {
                key.push(kind::EVENT);
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

/// Mode of a metadata lock. See `Mode` in `mode.rs` for the compatibility matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetadataMode {
    /// Reads the rows: compatible with everything but `Exclusive`.
    Read,
    /// Writes the rows: compatible with `Read` and `Write`.
    Write,
    /// Reads the rows while no other owner writes them: compatible with `Read` and `ReadOnly`. For `LOCK TABLES
    /// … READ`, the global read lock, and ALTER while it copies.
    ReadOnly,
    /// Compatible with nothing: DDL, `LOCK TABLES … WRITE`.
    Exclusive,
}

impl From<Mode> for MetadataMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Read => MetadataMode::Read,
            Mode::Write => MetadataMode::Write,
            Mode::ReadOnly => MetadataMode::ReadOnly,
            Mode::Exclusive => MetadataMode::Exclusive,
        }
    }
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

/// One metadata lock, released when dropped. `LOCK TABLES`, the global read lock and DDL keep such guards; a
/// statement's locks are kept by its transaction.
#[must_use = "the lock is given back when the guard is dropped"]
pub struct MetadataGuard {
    locks: Arc<LockManager>,
    owner: Arc<LockOwner>,
    key: Key,
    /// `None` if the owner holds the object through another guard.
    held: Option<HeldLock>,
    /// Mode in which this guard holds the object.
    mode: Mode,
}

impl MetadataGuard {
    /// Strengthens the lock, waiting for conflicting ones.
    ///
    /// # Errors
    /// [`crate::Error::LockWaitTimeout`], [`crate::Error::Deadlock`], [`crate::Error::Interrupted`]; the lock
    /// is unchanged then.
    pub fn upgrade(&mut self, mode: MetadataMode, timeout: std::time::Duration) -> Result<()> {
        let mode = Mode::from(mode);
        self.owner.set_weight(self.owner.weight().max(DDL_WEIGHT));
        self.locks
            .request_metadata(&self.owner, &self.key, mode, WaitLimit::For(timeout))?;
        self.mode = self.mode.join(mode);
        Ok(())
    }

    /// Weakens the lock.
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

/// Metadata locks of a transaction's statements.
#[derive(Default)]
pub(crate) struct TransactionMetadataLocks {
    held: SmallVec<[TransactionLock; 2]>,
    /// Set with the first lock; used to release the locks on drop.
    manager: Option<(Arc<LockManager>, Arc<LockOwner>)>,
}

struct TransactionLock {
    key: Key,
    mode: Mode,
    /// `None` if the session holds the object anyway (LOCK TABLES).
    held: Option<HeldLock>,
}

impl TransactionMetadataLocks {
    /// Locks an object until the transaction ends.
    pub(crate) fn lock(
        &mut self,
        locks: &Arc<LockManager>,
        owner: &Arc<LockOwner>,
        object: MetadataObject<'_>,
        mode: MetadataMode,
        wait_limit: WaitLimit,
    ) -> Result<()> {
        let key = object.key();
        let mode = Mode::from(mode);
        let known = self.held.iter().position(|lock| lock.key == key);
        if known.is_some_and(|at| self.held[at].mode.covers(mode)) {
            return Ok(());
        }
        let held = locks.request_metadata(owner, &key, mode, wait_limit)?;
        self.manager.get_or_insert_with(|| (locks.clone(), owner.clone()));
        match known {
            Some(at) => self.held[at].mode = self.held[at].mode.join(mode),
            None => self.held.push(TransactionLock { key, mode, held }),
        }
        Ok(())
    }

    /// Returns the number of locked objects.
    pub(crate) fn len(&self) -> usize {
        self.held.len()
    }

    /// Releases the newest locks, down to `keep` of them (rollback to a savepoint).
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

impl Drop for TransactionMetadataLocks {
    fn drop(&mut self) {
        self.release_newest(0);
    }
}

impl LockManager {
    /// Returns all metadata locks, held and requested. The parts of the lock table are read one after the other, so
    /// they may be inconsistent.
    pub(crate) fn metadata_locks(&self) -> Vec<MetadataLock> {
        let mut locks = Vec::new();
        self.metadata.for_each_lock(|key, owner, mode, is_held| {
            if let Some((kind, database, name)) = object_of(key) {
                locks.push(MetadataLock {
                    session_id: owner.id(),
                    kind,
                    database,
                    name,
                    mode: mode.into(),
                    is_held: is_held == IsHeld::Yes,
                });
            }
        });
        locks
    }

    /// Locks an object in the metadata table. Returns `None` if the owner had it already (in this mode, or in a
    /// weaker one, which is raised).
    fn request_metadata(
        &self,
        owner: &Arc<LockOwner>,
        key: &[u8],
        mode: Mode,
        wait_limit: WaitLimit,
    ) -> Result<Option<HeldLock>> {
        match self.metadata.request(owner, key, mode, wait_limit.on_conflict()) {
            LockRequestOutcome::AlreadyHeld | LockRequestOutcome::Upgraded => Ok(None),
            LockRequestOutcome::New(held) => Ok(Some(held)),
            LockRequestOutcome::Busy => Err(crate::Error::LockWaitTimeout),
            LockRequestOutcome::Queued { held, is_new } => {
                self.wait(
                    owner,
                    kind_of(key),
                    wait_limit,
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
        wait_limit: WaitLimit,
    ) -> Result<MetadataGuard> {
        let key = object.key();
        let mode = Mode::from(mode);
        if mode == Mode::Exclusive {
            owner.set_weight(owner.weight().max(DDL_WEIGHT));
        }
        let held = self.request_metadata(owner, &key, mode, wait_limit)?;
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
