//! Owners of locks. An owner is a session, for the rows of its transaction and for its metadata locks.

use crate::interrupt::{Interrupt, WaitResult};
use paceline_storage::IndexId;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::Instant;

/// Place in which an owner waits; enough to find its blockers at any later moment.
#[derive(Clone, Debug)]
pub(crate) enum WaitTarget {
    /// A key of a lock table.
    Key { table: TableKind, hash: u64, entry: u64 },
    /// A key range, until other transactions hold no exclusive key locks in it.
    Range { index: IndexId },
    /// The key ranges around a key that the owner has locked exclusively.
    InsideRange { key: Box<[u8]> },
}

/// Lock tables of a manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableKind {
    Rows,
    Metadata,
}

/// States of an owner's wait. The thread that moves it away from `WAITING` (by compare-and-swap) decides how
/// the wait ends.
mod wait_state {
    pub const IDLE: u8 = 0;
    pub const WAITING: u8 = 1;
    pub const GRANTED: u8 = 2;
    pub const VICTIM: u8 = 3;
    pub const GAVE_UP: u8 = 4;
}

/// Fates of an owner's transaction. The thread that moves it away from `RUNNING` decides.
mod fate {
    /// The transaction may be undone.
    pub const RUNNING: u8 = 0;
    /// The transaction is in the commit queue, or about to be: it releases its locks soon.
    pub const COMMITTING: u8 = 1;
    /// An applied transaction needed its locks: it will get 1213 with its next step.
    pub const DOOMED: u8 = 2;
}

/// Origin of an owner's transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnerKind {
    /// A session of a client.
    Session,
    /// An applier: its transactions were committed on a primary, and go before all others. Several may be in
    /// progress.
    Applier,
}

/// Outcome of a lock wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitOutcome {
    Granted,
    Victim,
    TimedOut,
    Interrupted(crate::InterruptReason),
}

/// The current wait of an owner, or its last one.
#[derive(Default)]
struct Wait {
    /// Sequence number of the wait; distinguishes it from earlier and later ones.
    number: u64,
    target: Option<WaitTarget>,
    since: Option<Instant>,
}

/// A session in the lock tables.
pub(crate) struct LockOwner {
    id: u64,
    interrupt: Interrupt,
    state: AtomicU8,
    waiting: Mutex<Wait>,
    /// Set as soon as any owner waits for this one. An owner that nothing waits for cannot close a cycle, and
    /// need not search.
    awaited: AtomicBool,
    /// Rows changed plus locks held: the lightest transaction of a cycle is rolled back.
    weight: AtomicU64,
    rows_changed: AtomicU64,
    /// Memory of the transaction's changes in bytes.
    change_bytes: AtomicU64,
    /// How many transactions it has begun.
    transactions: AtomicU64,
    /// Number of metadata locks that outlive transactions (LOCK TABLES, FLUSH TABLES WITH READ LOCK).
    session_locks: AtomicU64,
    kind: OwnerKind,
    fate: AtomicU8,
    /// Set while the owner waits and has searched for deadlocks: its state changes only when another thread
    /// acts.
    is_parked: AtomicBool,
}

impl LockOwner {
    pub(crate) fn new(id: u64, interrupt: Interrupt) -> Arc<Self> {
        Self::of_kind(id, interrupt, OwnerKind::Session)
    }

    pub(crate) fn of_kind(id: u64, interrupt: Interrupt, kind: OwnerKind) -> Arc<Self> {
        Arc::new(LockOwner {
            id,
            interrupt,
            state: AtomicU8::new(wait_state::IDLE),
            waiting: Mutex::default(),
            awaited: AtomicBool::new(false),
            weight: AtomicU64::new(0),
            rows_changed: AtomicU64::new(0),
            change_bytes: AtomicU64::new(0),
            transactions: AtomicU64::new(0),
            session_locks: AtomicU64::new(0),
            kind,
            fate: AtomicU8::new(fate::RUNNING),
            is_parked: AtomicBool::new(false),
        })
    }

    /// Returns whether its transactions go before those of sessions.
    pub(crate) fn is_applier(&self) -> bool {
        self.kind == OwnerKind::Applier
    }

    /// Marks the transaction as committing, before it joins the commit queue. Returns false if it is doomed.
    pub(crate) fn begin_commit(&self) -> bool {
        self.is_applier()
            || self
                .fate
                .compare_exchange(
                    fate::RUNNING,
                    fate::COMMITTING,
                    Ordering::SeqCst,
                    Ordering::SeqCst,
                )
                .is_ok()
    }

    /// Dooms a session's running transaction: it loses the protection of its locks, and its next step ends with
    /// error 1213. Returns false if it is already committing. If the owner waits for a lock, that wait is over:
    /// wake it when no mutex is held.
    pub(crate) fn doom(&self) -> bool {
        if self.is_applier() {
            return false;
        }
        let before =
            self.fate
                .compare_exchange(fate::RUNNING, fate::DOOMED, Ordering::SeqCst, Ordering::SeqCst);
        let is_doomed = before.is_ok() || before == Err(fate::DOOMED);
        if is_doomed {
            self.choose_as_victim();
        }
        is_doomed
    }

    pub(crate) fn is_doomed(&self) -> bool {
        self.fate.load(Ordering::SeqCst) == fate::DOOMED
    }

    /// Resets the fate of a doomed transaction that is undone and has released its locks, so that the owner's
    /// next wait is not affected. A committing transaction is left alone: its locks travel through the commit
    /// queue.
    pub(crate) fn forget_doom(&self) {
        let _ = self
            .fate
            .compare_exchange(fate::DOOMED, fate::RUNNING, Ordering::SeqCst, Ordering::SeqCst);
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    pub(crate) fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// Resets the owner for a new transaction of its session.
    pub(crate) fn begin(&self) {
        self.weight.store(0, Ordering::Relaxed);
        self.rows_changed.store(0, Ordering::Relaxed);
        add_to_own(&self.transactions);
        self.fate.store(fate::RUNNING, Ordering::SeqCst);
        if self.session_locks.load(Ordering::Relaxed) == 0 {
            self.awaited.store(false, Ordering::SeqCst);
        }
    }

    pub(crate) fn add_session_lock(&self) {
        self.session_locks.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn remove_session_lock(&self) {
        self.session_locks.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn weight(&self) -> u64 {
        self.weight.load(Ordering::Relaxed)
    }

    pub(crate) fn set_weight(&self, weight: u64) {
        self.weight.store(weight, Ordering::Relaxed);
    }

    /// Its transaction has changed another row.
    pub(crate) fn count_row(&self) {
        add_to_own(&self.rows_changed);
        self.set_weight(self.weight() + 1);
    }

    /// Notes the memory of the transaction's changes, for display.
    pub(crate) fn set_change_bytes(&self, bytes: usize) {
        self.change_bytes.store(bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn change_bytes(&self) -> u64 {
        self.change_bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn rows_changed(&self) -> u64 {
        self.rows_changed.load(Ordering::Relaxed)
    }

    pub(crate) fn transactions(&self) -> u64 {
        self.transactions.load(Ordering::Relaxed)
    }

    /// Returns the start of the current wait for a lock.
    pub(crate) fn waits_since(&self) -> Option<Instant> {
        let wait = self.waiting.lock();
        match self.state.load(Ordering::SeqCst) {
            wait_state::WAITING => wait.since,
            _ => None,
        }
    }

    pub(crate) fn mark_awaited(&self) {
        self.awaited.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_awaited(&self) -> bool {
        self.awaited.load(Ordering::SeqCst)
    }

    /// Starts a wait. Called with the lock of the queue that the owner enters.
    pub(crate) fn start_wait(&self, target: WaitTarget) {
        {
            // Set before the state: a thread that sees the state also sees which wait it belongs to.
            let mut wait = self.waiting.lock();
            wait.number += 1;
            wait.target = Some(target);
            wait.since = Some(Instant::now());
        }
        let before = self.state.swap(wait_state::WAITING, Ordering::SeqCst);
        assert_ne!(
            before,
            wait_state::WAITING,
            "a session waits for one lock at a time"
        );
        if self.is_doomed() {
            // The thread that doomed it may have checked before it waited.
            self.choose_as_victim();
        }
    }

    /// Returns the number and the place of the current wait, if there is one.
    pub(crate) fn waiting_for(&self) -> Option<(u64, WaitTarget)> {
        let wait = self.waiting.lock();
        match self.state.load(Ordering::SeqCst) {
            wait_state::WAITING => Some((wait.number, wait.target.clone()?)),
            _ => None,
        }
    }

    /// Returns whether it is in the wait with this number, undecided.
    pub(crate) fn is_in_wait(&self, number: u64) -> bool {
        let wait = self.waiting.lock();
        wait.number == number && self.state.load(Ordering::SeqCst) == wait_state::WAITING
    }

    /// Returns whether it waits for a lock and has already searched for deadlocks.
    pub(crate) fn is_parked(&self) -> bool {
        self.is_parked.load(Ordering::SeqCst) && self.state.load(Ordering::SeqCst) == wait_state::WAITING
    }

    fn decide(&self, outcome: u8) -> bool {
        self.state
            .compare_exchange(wait_state::WAITING, outcome, Ordering::SeqCst, Ordering::SeqCst)
            .is_ok()
    }

    /// Ends the wait with the lock. Returns false if it has ended otherwise. Called under the queue's lock;
    /// wake the owner afterwards.
    pub(crate) fn grant(&self) -> bool {
        self.decide(wait_state::GRANTED)
    }

    /// Ends the wait with error 1213. Returns false if it has ended otherwise.
    pub(crate) fn choose_as_victim(&self) -> bool {
        self.decide(wait_state::VICTIM)
    }

    /// Makes the waiting thread check its state.
    pub(crate) fn wake(&self) {
        self.interrupt.notify();
    }

    /// Waits, blocking the thread, until the wait is decided.
    pub(crate) fn wait(&self, deadline: Option<Instant>) -> WaitOutcome {
        self.is_parked.store(true, Ordering::SeqCst);
        let decided = || self.state.load(Ordering::SeqCst) != wait_state::WAITING;
        let waited = if decided() {
            WaitResult::Ready
        } else {
            blocking(|| self.interrupt.wait_until(deadline, decided))
        };
        let gave_up = waited != WaitResult::Ready && self.decide(wait_state::GAVE_UP);
        let state = self.state.swap(wait_state::IDLE, Ordering::SeqCst);
        self.is_parked.store(false, Ordering::SeqCst);
        self.waiting.lock().target = None;
        match (state, waited) {
            (wait_state::GRANTED, _) => WaitOutcome::Granted,
            (wait_state::VICTIM, _) => WaitOutcome::Victim,
            (_, WaitResult::Interrupted(reason)) => WaitOutcome::Interrupted(reason),
            _ => {
                assert!(gave_up, "a wait ends by a decision or by giving up");
                WaitOutcome::TimedOut
            }
        }
    }
}

/// Adds one to a number that only its own session changes.
fn add_to_own(number: &AtomicU64) {
    number.store(number.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

impl std::fmt::Debug for LockOwner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LockOwner({})", self.id)
    }
}

/// Runs blocking work in such a way that a tokio runtime continues with its other tasks.
pub(crate) fn blocking<R>(work: impl FnOnce() -> R) -> R {
    use tokio::runtime::{Handle, RuntimeFlavor};
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}
