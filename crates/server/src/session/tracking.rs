//! `session_track_state_change` and `session_track_transaction_info`: reports from which a proxy
//! between client and server can move a session to another server.
//!
//! The state of the transaction has eight characters, and is reported when it differs from the last report:
//!
//! ```text
//!   T  explicit transaction, or I: one that a statement has begun under autocommit=0
//!   r  read from a table without transactions    (never here)
//!   R  read from a table
//!   w  wrote to a table without transactions     (never here)
//!   W  wrote to a table, or locked its rows
//!   s  statement whose effect is unsafe to repeat (never here)
//!   S  sent a result set to the client
//!   L  LOCK TABLES
//! ```
//! The *characteristics* are the statements that begin such a transaction elsewhere.

use super::protocol::StateChanges;
use super::table_locks::TableLocks;
use super::transaction_slot::TransactionSlot;
use crate::variables::{SessionValues, Variable};
use paceline_query::plan::Plan;
use paceline_txn::{AccessMode, IsolationLevel};
use paceline_wire::session_state::StateChange;

/// Extent of the reports about transactions that the client asks for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Wanted {
    #[default]
    Nothing,
    State,
    Characteristics,
}

/// Tracked state of a session, and the state last reported to its client.
#[derive(Debug, Default)]
pub(super) struct Tracking {
    wants_state_change: bool,
    wanted: Wanted,
    /// Whether the statement has changed the session's state.
    state_changed: bool,
    transaction: TrackedTransaction,
    reported_state: Option<[u8; 8]>,
    reported_characteristics: Option<String>,
}

/// Actions of the open transaction.
#[derive(Debug, Default)]
struct TrackedTransaction {
    /// The statements that have begun it; empty for one that has begun by itself.
    begun_by: String,
    reads: bool,
    writes: bool,
    sends: bool,
}

impl Tracking {
    /// Applies the session's variables.
    pub fn heed(&mut self, values: &SessionValues) {
        self.wants_state_change = values.get(Variable::SessionTrackStateChange).as_bool();
        let wanted = match values.get(Variable::SessionTrackTransactionInfo).as_u64() {
            0 => Wanted::Nothing,
            1 => Wanted::State,
            _ => Wanted::Characteristics,
        };
        if wanted < self.wanted || self.wanted == Wanted::Nothing {
            self.reported_state = None;
            self.reported_characteristics = None;
        }
        self.wanted = wanted;
    }

    /// Records a change of the session's state.
    pub fn note_state_change(&mut self) {
        self.state_changed = true;
    }

    /// Records that a statement begins a transaction.
    pub fn begin(
        &mut self,
        isolation: Option<IsolationLevel>,
        access: Option<AccessMode>,
        snapshot: Snapshot,
    ) {
        if self.wanted == Wanted::Nothing {
            return;
        }
        let mut begun_by = isolation.map(isolation_statement).unwrap_or_default();
        begun_by.push_str("START TRANSACTION");
        if snapshot == Snapshot::Consistent {
            begun_by.push_str(" WITH CONSISTENT SNAPSHOT");
        }
        if let Some(access) = access {
            begun_by.push_str(if snapshot == Snapshot::Consistent {
                ", "
            } else {
                " "
            });
            begun_by.push_str(access_words(access));
        }
        begun_by.push(';');
        self.transaction = TrackedTransaction {
            begun_by,
            reads: snapshot == Snapshot::Consistent,
            ..TrackedTransaction::default()
        };
    }

    /// Records that the transaction has ended.
    pub fn end(&mut self) {
        self.transaction = TrackedTransaction::default();
    }

    /// Records the effects of a statement in an open transaction.
    #[inline]
    pub fn execute(&mut self, plan: &Plan) {
        if self.wanted == Wanted::Nothing {
            return;
        }
        for table in plan.tables() {
            let usage = &table.usage;
            match usage.writes() || usage.lock {
                true => self.transaction.writes = true,
                false => self.transaction.reads |= usage.select,
            }
        }
        self.transaction.sends |= plan.has_result_set();
    }
}

/// Snapshot of a transaction that begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Snapshot {
    /// Taken by the first read.
    Late,
    /// WITH CONSISTENT SNAPSHOT.
    Consistent,
}

fn isolation_statement(level: IsolationLevel) -> String {
    let level = match level {
        IsolationLevel::ReadUncommitted => "READ UNCOMMITTED",
        IsolationLevel::ReadCommitted => "READ COMMITTED",
        IsolationLevel::RepeatableRead => "REPEATABLE READ",
        IsolationLevel::Serializable => "SERIALIZABLE",
    };
    format!("SET TRANSACTION ISOLATION LEVEL {level}; ")
}

fn access_words(access: AccessMode) -> &'static str {
    match access {
        AccessMode::ReadOnly => "READ ONLY",
        AccessMode::ReadWrite => "READ WRITE",
    }
}

impl Tracking {
    /// Adds unreported changes to those that the next OK packet reports.
    pub fn report(
        &mut self,
        transaction: &TransactionSlot,
        table_locks: &TableLocks,
        changes: &mut StateChanges,
    ) {
        let changed = std::mem::take(&mut self.state_changed);
        if changed && self.wants_state_change {
            changes.add(&StateChange::State);
        }
        if self.wanted == Wanted::Nothing {
            return;
        }
        let state = self.transaction_state(transaction, table_locks);
        if self.reported_state != Some(state) {
            let text = state.iter().copied().map(char::from).collect();
            changes.add(&StateChange::TransactionState(text));
            self.reported_state = Some(state);
        }
        if self.wanted == Wanted::Characteristics {
            let text = self.transaction_characteristics(transaction);
            if self.reported_characteristics.as_ref() != Some(&text) {
                changes.add(&StateChange::TransactionCharacteristics(text.clone()));
                self.reported_characteristics = Some(text);
            }
        }
    }

    fn transaction_state(&self, transaction: &TransactionSlot, table_locks: &TableLocks) -> [u8; 8] {
        let tracked = &self.transaction;
        let is_open = transaction.is_open();
        let mark = |is_so: bool, letter: u8| if is_so { letter } else { b'_' };
        let kind = match tracked.begun_by.is_empty() {
            _ if !is_open => b'_',
            true => b'I',
            false => b'T',
        };
        [
            kind,
            b'_',
            mark(is_open && tracked.reads, b'R'),
            b'_',
            mark(is_open && tracked.writes, b'W'),
            b'_',
            mark(is_open && tracked.sends, b'S'),
            mark(table_locks.has_tables(), b'L'),
        ]
    }

    fn transaction_characteristics(&self, transaction: &TransactionSlot) -> String {
        if transaction.is_open() {
            return self.transaction.begun_by.clone();
        }
        let mut text = (transaction.next_isolation)
            .map(isolation_statement)
            .unwrap_or_default();
        if let Some(access) = transaction.next_access {
            text.push_str(&format!("SET TRANSACTION {};", access_words(access)));
        }
        text.trim_end().to_owned()
    }
}
