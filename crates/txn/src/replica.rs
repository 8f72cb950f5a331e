//! Progress of replication on this server: `gtid_slave_pos`, and the waits for it.
//!
//! The authoritative state is in the log ([`paceline_binlog::replica_state`]). This module holds its published
//! part, which the next snapshot contains. It moves in the publish stage, in log order, after the shared
//! snapshot is taken and before any session is notified. The GTID position of the whole log is kept in the same
//! way, for waits for a GTID wherever it was written.

use crate::commit::log_stage::WrittenGroup;
use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, WaitResult};
use crate::manager::{Core, TransactionManager, unix_seconds};
use paceline_binlog::mysql::MySqlGtidSet;
use paceline_binlog::{GtidPosition, PositionChange, ReplicaRecord, SourcePosition};
use paceline_types::{Gtid, LogPosition, ServerId};
use parking_lot::Mutex;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

/// Outcome of a wait for a GTID position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PositionWaitOutcome {
    /// The position is reached: the next snapshot contains it.
    Reached,
    /// The time-out has passed.
    TimedOut,
}

/// Published GTID position and the waits for it. See the module's head.
pub(crate) struct PublishedPosition {
    position: Mutex<GtidPosition>,
    waiting: Mutex<Vec<(GtidPosition, Waiter)>>,
}

/// A thread or task that waits for a position.
enum Waiter {
    Thread(Interrupt),
    Task(Waker),
}

impl PublishedPosition {
    pub(crate) fn new(position: GtidPosition) -> Self {
        PublishedPosition {
            position: Mutex::new(position),
            waiting: Mutex::default(),
        }
    }

    pub(crate) fn get(&self) -> GtidPosition {
        self.position.lock().clone()
    }

    fn covers(&self, wanted: &GtidPosition) -> bool {
        self.position.lock().covers(wanted)
    }

    /// Applies the moves and wakes the waiters whose position is reached.
    pub(crate) fn advance(&self, moves: &[PositionChange]) {
        if moves.is_empty() {
            return;
        }
        {
            let mut position = self.position.lock();
            moves.iter().for_each(|step| step.apply(&mut position));
        }
        let mut waiting = self.waiting.lock();
        // A thread removes itself from the list.
        waiting.retain(|(wanted, waiter)| {
            if !self.covers(wanted) {
                return true;
            }
            match waiter {
                Waiter::Thread(interrupt) => interrupt.notify(),
                Waiter::Task(waker) => waker.wake_by_ref(),
            }
            matches!(waiter, Waiter::Thread(_))
        });
    }

    fn wait(
        &self,
        wanted: &GtidPosition,
        deadline: Option<Instant>,
        interrupt: &Interrupt,
    ) -> Result<PositionWaitOutcome> {
        if self.covers(wanted) {
            return Ok(PositionWaitOutcome::Reached);
        }
        self.waiting
            .lock()
            .push((wanted.clone(), Waiter::Thread(interrupt.clone())));
        let waited = interrupt.wait_until(deadline, || self.covers(wanted));
        {
            let mut waiting = self.waiting.lock();
            let own = waiting.iter().position(|(position, waiter)| {
                matches!(waiter, Waiter::Thread(other) if other.is_same(interrupt)) && position == wanted
            });
            if let Some(at) = own {
                waiting.swap_remove(at);
            }
        }
        match waited {
            WaitResult::Ready => Ok(PositionWaitOutcome::Reached),
            WaitResult::TimedOut => Ok(PositionWaitOutcome::TimedOut),
            WaitResult::Interrupted(reason) => Err(Error::Interrupted(reason)),
        }
    }
}

/// Wait of a task until a position is replicated and published.
#[must_use = "nothing is awaited before it is polled"]
pub struct ReplicationWait {
    core: Arc<Core>,
    wanted: GtidPosition,
}

impl Future for ReplicationWait {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let position = &self.core.replica;
        if position.covers(&self.wanted) {
            return Poll::Ready(());
        }
        {
            let mut waiting = position.waiting.lock();
            let is_own =
                |waiter: &Waiter| matches!(waiter, Waiter::Task(waker) if waker.will_wake(context.waker()));
            waiting.retain(|(wanted, waiter)| !(is_own(waiter) && *wanted == self.wanted));
            waiting.push((self.wanted.clone(), Waiter::Task(context.waker().clone())));
        }
        match position.covers(&self.wanted) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

/// Moves of GTID positions by groups that are published together.
pub(crate) struct PublishedMoves {
    /// Moves of `gtid_slave_pos`, in order.
    pub(crate) replicated: Vec<PositionChange>,
    /// Moves of the last GTID of each domain.
    pub(crate) logged: Vec<PositionChange>,
}

impl PublishedMoves {
    /// Returns the moves of groups that are published together.
    pub(crate) fn of(groups: &[WrittenGroup]) -> Self {
        let mut logged = Vec::new();
        for transaction in groups.iter().flat_map(|group| &group.transactions) {
            if let Some(gtid) = transaction.committed.gtid {
                note(&mut logged, gtid);
            }
        }
        PublishedMoves {
            replicated: replica_moves(groups),
            logged: match logged.is_empty() {
                true => Vec::new(),
                false => vec![PositionChange::To(logged)],
            },
        }
    }
}

/// Returns the moves of `gtid_slave_pos` by groups that are published together, in order.
fn replica_moves(groups: &[WrittenGroup]) -> Vec<PositionChange> {
    let mut moves: Vec<PositionChange> = Vec::new();
    for group in groups {
        for transaction in &group.transactions {
            let Some(gtid) = transaction.committed.gtid.filter(|_| transaction.is_replicated) else {
                continue;
            };
            match moves.last_mut() {
                Some(PositionChange::To(gtids)) => note(gtids, gtid),
                _ => moves.push(PositionChange::To(vec![gtid])),
            }
        }
        if group.moves != PositionChange::None {
            moves.push(group.moves.clone());
        }
    }
    moves
}

fn note(gtids: &mut Vec<Gtid>, gtid: Gtid) {
    match gtids.iter_mut().find(|known| known.domain_id == gtid.domain_id) {
        Some(known) => *known = gtid,
        None => gtids.push(gtid),
    }
}

impl Core {
    /// Logs a move. Returns its log position, at which it will be published.
    fn move_replica(&self, record: &ReplicaRecord) -> Result<LogPosition> {
        let mut stage = self.log_stage.lock();
        if let Some(error) = self.poisoned() {
            return Err(error);
        }
        match self.log.write_replica_record(record, unix_seconds()) {
            Ok(()) => {}
            Err(error @ paceline_binlog::Error::NoSpace { .. }) => return Err(error.into()),
            Err(error) => return Err(self.fatal(&format!("cannot write the binary log: {error}"))),
        }
        match &record.gtids {
            PositionChange::None => {}
            PositionChange::To(gtids) => gtids.iter().for_each(|gtid| stage.number_after(*gtid)),
            PositionChange::Replace(position) => position.iter().for_each(|gtid| stage.number_after(gtid)),
        }
        let position = self.log.written();
        self.reach_in_stage(position, record.gtids.clone());
        Ok(position)
    }
}

impl TransactionManager {
    /// Returns `gtid_slave_pos`: the last replicated GTID of each domain, as far as it is published.
    pub fn replicated_position(&self) -> GtidPosition {
        self.core().replica.get()
    }

    /// Returns `gtid_current_pos`: in each domain the last replicated GTID, or the last one written here if
    /// that is later.
    pub fn current_position(&self, server_id: ServerId) -> GtidPosition {
        let mut position = self.replicated_position();
        for own in self.gtid_state().position().iter() {
            if own.server_id == server_id {
                position.advance(own);
            }
        }
        position
    }

    /// Returns a connection's position in its primary's log, if it was recorded.
    pub fn source_position(&self, connection: &str) -> Option<SourcePosition> {
        self.core().log.replica_state().sources.get(connection).cloned()
    }

    /// Returns the MySQL GTIDs that a connection has executed; `None` if they are not known.
    pub fn executed_mysql_gtids(&self, connection: &str) -> Option<MySqlGtidSet> {
        self.core().log.replica_state().executed.get(connection).cloned()
    }

    /// Moves the replica's position without a transaction: after a filter has skipped one, for `SET GLOBAL
    /// gtid_slave_pos`, or to a new position in a primary's log. The move is durable when this returns, and
    /// published unless earlier transactions wait for replicas. Transactions that are already in the commit
    /// queue precede it.
    ///
    /// # Errors
    /// [`Error::LogFull`]; others are fatal.
    pub fn move_replica_position(&self, record: &ReplicaRecord) -> Result<()> {
        let core: &Arc<Core> = self.core();
        let position = core.move_replica(record)?;
        core.publish_up_to(position);
        Ok(())
    }

    /// Completes when everything in `wanted` is replicated and published.
    pub fn replicated_up_to(&self, wanted: GtidPosition) -> ReplicationWait {
        ReplicationWait {
            core: self.core().clone(),
            wanted,
        }
    }

    /// `MASTER_GTID_WAIT`: waits in the calling thread until everything in `wanted` is replicated and
    /// published. Only sequence numbers within domains are compared. Without a deadline it waits forever.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if the session is killed or its statement times out.
    pub fn wait_replicated(
        &self,
        wanted: &GtidPosition,
        deadline: Option<Instant>,
        interrupt: &Interrupt,
    ) -> Result<PositionWaitOutcome> {
        let core = self.core();
        crate::lock::owner::blocking(|| core.replica.wait(wanted, deadline, interrupt))
    }

    /// `wait_for_gtid`: waits as [`TransactionManager::wait_replicated`] does, for everything in the log,
    /// wherever it was written.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if the session is killed or its statement times out.
    pub fn wait_logged(
        &self,
        wanted: &GtidPosition,
        deadline: Option<Instant>,
        interrupt: &Interrupt,
    ) -> Result<PositionWaitOutcome> {
        let core = self.core();
        crate::lock::owner::blocking(|| core.logged.wait(wanted, deadline, interrupt))
    }
}
