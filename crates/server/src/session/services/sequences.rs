//! NEXTVAL, LASTVAL, SETVAL, and INSERT into a sequence: see [`paceline_catalog::sequence`].
//!
//! A change of a sequence's row is a transaction of its own, with its own session in the lock manager: it ends before
//! the user's transaction does. It shares the flag that KILL raises. The statement holds the metadata lock on the
//! sequence and the right to write; the transaction takes only the lock on the row's key, and only appliers compete
//! for it.

use super::SessionServices;
use crate::errors::of_transaction;
use crate::variables::Variable;
use paceline_binlog::event::GtidFlags;
use paceline_catalog::TableDefinition;
use paceline_catalog::sequence::{
    NextValue, SequenceChange, SequencePosition, SequenceRow, SetOutcome, Steps,
};
use paceline_expression::session::{SequenceSet, SessionContext};
use paceline_syntax::{Error, Result};
use paceline_txn::{
    AccessMode, GtidChoice, IsolationLevel, Lifetime, LockMode, LockWait, Replication, RowChange, Session,
    SnapshotIsolation, Transaction, TransactionOptions,
};
use paceline_types::Value;
use paceline_types::error_code::*;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// Maximum number of sequences whose last value a session remembers, and of definitions that it keeps.
const REMEMBERED_MAX: usize = 4096;

/// Database and name.
type FullName = (String, String);

/// State of one session that concerns sequences.
#[derive(Default)]
pub struct SessionSequences {
    /// Temporary sequences that the last statement of each name has used. Others are found in the catalog: the
    /// statement's metadata lock keeps them there.
    temporary: Mutex<HashMap<FullName, Arc<TableDefinition>>>,
    /// Value of the last NEXTVAL, by name and id: a new sequence of the same name has none, nor has a renamed one.
    last: Mutex<HashMap<(FullName, u32), i64>>,
    /// The session in the lock manager that changes rows of sequences.
    locks: OnceLock<Session>,
}

/// Maximum number of attempts to change a row whose lock replicated transactions take away.
const ATTEMPTS_MAX: usize = 100;

/// Error of an attempt to change a sequence.
enum ChangeError {
    /// Of the transaction that changes the row.
    Transaction(paceline_txn::Error),
    /// Of the statement.
    Statement(Error),
}

impl From<paceline_txn::Error> for ChangeError {
    fn from(error: paceline_txn::Error) -> Self {
        ChangeError::Transaction(error)
    }
}

impl From<Error> for ChangeError {
    fn from(error: Error) -> Self {
        ChangeError::Statement(error)
    }
}

/// Kind of a row's change, as replicas distinguish it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowWrite {
    /// Values are given out or set: replicas raise their row.
    Values,
    /// Any change: replicas take over the row.
    Definition,
}

impl SessionSequences {
    /// Records a sequence that the statement uses.
    pub fn enter(&self, definition: &Arc<TableDefinition>) {
        let name = (definition.database().to_owned(), definition.name().to_owned());
        let mut temporary = self.temporary.lock();
        if !definition.is_temporary() {
            temporary.remove(&name);
            return;
        }
        if temporary.len() >= REMEMBERED_MAX {
            temporary.clear();
        }
        temporary.insert(name, definition.clone());
    }

    /// Forgets everything when the session is reset.
    pub fn reset(&self) {
        self.temporary.lock().clear();
        self.last.lock().clear();
    }

    fn remember(&self, definition: &TableDefinition, value: Option<i64>) {
        let mut last = self.last.lock();
        let key = last_value_key(definition);
        match value {
            Some(value) => {
                if last.len() >= REMEMBERED_MAX {
                    last.clear();
                }
                last.insert(key, value);
            }
            None => {
                last.remove(&key);
            }
        }
    }
}

impl SessionServices {
    fn sequence(&self, database: &str, name: &str) -> Result<Arc<TableDefinition>> {
        let key = (database.to_owned(), name.to_owned());
        if let Some(definition) = self.sequences.temporary.lock().get(&key) {
            return Ok(definition.clone());
        }
        self.server.catalog.load().sequence(database, name).cloned()
    }

    /// Returns the distance of the values of a sequence with INCREMENT 0.
    fn sequence_steps(&self) -> Steps {
        let number = |variable| i64::try_from(self.server.globals.number(variable)).unwrap_or(1);
        Steps {
            increment: number(Variable::AutoIncrementIncrement).max(1),
            offset: number(Variable::AutoIncrementOffset),
        }
    }

    /// Implements NEXTVAL.
    pub(super) fn next_sequence_value(
        &self,
        session: &SessionContext,
        database: &str,
        name: &str,
    ) -> Result<i64> {
        let definition = self.sequence(database, name)?;
        let value = match definition.sequence_cache().take() {
            Some(value) => Ok(value),
            None => self.reserve_sequence_values(session, &definition),
        };
        self.sequences.remember(&definition, value.as_ref().ok().copied());
        value
    }

    fn reserve_sequence_values(&self, session: &SessionContext, definition: &TableDefinition) -> Result<i64> {
        let steps = self.sequence_steps();
        self.change_sequence(session, definition, RowWrite::Values, |position| {
            match position.next(steps) {
                NextValue::Reserved(value) => Ok((value, false)),
                NextValue::AfterWrite(value) => Ok((value, true)),
                NextValue::RunOut => Err(run_out(definition)),
            }
        })
    }

    /// Implements LASTVAL.
    pub(super) fn last_sequence_value(&self, database: &str, name: &str) -> Result<Option<i64>> {
        let definition = self.sequence(database, name)?;
        let last = self.sequences.last.lock();
        Ok(last.get(&last_value_key(&definition)).copied())
    }

    /// Implements SETVAL. Returns false if the sequence has already passed the value.
    pub(super) fn set_sequence_value(
        &self,
        session: &SessionContext,
        database: &str,
        name: &str,
        set: SequenceSet,
    ) -> Result<bool> {
        let definition = self.sequence(database, name)?;
        let steps = self.sequence_steps();
        self.change_sequence(
            session,
            &definition,
            RowWrite::Values,
            |position| match position.set(set.value, set.is_used, set.round, steps) {
                SetOutcome::Behind => Ok((false, false)),
                SetOutcome::Done => Ok((true, false)),
                SetOutcome::AfterWrite => Ok((true, true)),
                SetOutcome::RunOut => Err(run_out(&definition)),
            },
        )
    }

    /// Implements INSERT into a sequence.
    pub(super) fn replace_sequence_row(
        &self,
        session: &SessionContext,
        database: &str,
        name: &str,
        row: &[Value],
    ) -> Result<()> {
        let definition = self.sequence(database, name)?;
        let row = SequenceRow::of_values(row)?;
        if !row.is_valid() {
            return Err(Error::new(ER_SEQUENCE_INVALID_DATA, &[&database, &name]));
        }
        let steps = self.sequence_steps();
        self.change_sequence(session, &definition, RowWrite::Definition, |position| {
            *position = SequencePosition::of_row(row, steps);
            Ok(((), true))
        })
    }

    /// Changes a sequence. `change` gets the current position and returns whether its new row must be written before
    /// its result may be used. It is repeated if a replicated transaction takes the lock away: the user's transaction
    /// has lost nothing.
    fn change_sequence<T>(
        &self,
        session: &SessionContext,
        definition: &TableDefinition,
        kind: RowWrite,
        mut change: impl FnMut(&mut SequencePosition) -> Result<(T, bool)>,
    ) -> Result<T> {
        tokio::task::block_in_place(|| {
            let check = || match self.shared.interrupt.raised() {
                Some(reason) => Err(crate::errors::interrupted(reason)),
                None => Ok(()),
            };
            let mut attempts = 0;
            loop {
                attempts += 1;
                let running = definition.sequence_cache().begin_change(check)?;
                match self.try_change(session, definition, kind, running, &mut change) {
                    Err(ChangeError::Transaction(paceline_txn::Error::Deadlock))
                        if attempts < ATTEMPTS_MAX => {}
                    Err(ChangeError::Transaction(error)) => return Err(of_transaction(&error)),
                    Err(ChangeError::Statement(error)) => return Err(error),
                    Ok(result) => return Ok(result),
                }
            }
        })
    }

    fn try_change<T>(
        &self,
        session: &SessionContext,
        definition: &TableDefinition,
        kind: RowWrite,
        running: SequenceChange<'_>,
        change: &mut impl FnMut(&mut SequencePosition) -> Result<(T, bool)>,
    ) -> Result<T, ChangeError> {
        let mut transaction = self.begin_sequence_change(session);
        let schema = definition.schema();
        let key = schema.single_row_key().unwrap_or_default();
        transaction.lock(&key, LockMode::Exclusive, LockWait::Default)?;
        let row = match transaction.probe_newest(&key)? {
            Some(newest) => SequenceRow::of_image(schema, newest.payload())?,
            None => return Err(Error::new(ER_KEY_NOT_FOUND, &[&definition.name()]).into()),
        };
        // A replicated transaction may have changed the row.
        let known = running.position().filter(|position| *position.row() == row);
        let mut position = known.unwrap_or_else(|| SequencePosition::of_row(row, self.sequence_steps()));
        let (result, is_written) = change(&mut position)?;
        if is_written {
            let image = position.row().image(schema)?;
            self.write_sequence_row(session, definition, transaction, kind, &image)?;
        }
        running.finish(position);
        Ok(result)
    }

    fn begin_sequence_change(&self, session: &SessionContext) -> Transaction {
        let settings = &session.settings;
        let locks = self
            .sequences
            .locks
            .get_or_init(|| self.server.transactions.session(self.shared.interrupt.clone()));
        // A GTID that the session has chosen is for its own transaction. A replicated one has no second number.
        let (gtid, is_local) = match self.gtid_choice() {
            choice @ GtidChoice::Next { .. } => (choice, false),
            GtidChoice::Given(gtid) => (
                GtidChoice::Next {
                    domain_id: gtid.domain_id,
                    server_id: gtid.server_id,
                },
                false,
            ),
            GtidChoice::Replicated(gtid) | GtidChoice::ReplicatedFrom(gtid, _) => (
                GtidChoice::Next {
                    domain_id: gtid.domain_id,
                    server_id: gtid.server_id,
                },
                true,
            ),
        };
        let options = TransactionOptions {
            isolation: IsolationLevel::ReadCommitted,
            snapshot_isolation: SnapshotIsolation::Off,
            access: AccessMode::ReadWrite,
            lifetime: Lifetime::SingleStatement,
            row_lock_timeout: settings.row_lock_wait_timeout,
            metadata_lock_timeout: settings.metadata_lock_wait_timeout,
            gtid,
            replication: match is_local {
                true => Replication::LocalOnly,
                false => self.replication(session),
            },
        };
        self.server.transactions.begin(locks, options)
    }

    /// Writes the row and waits until it is published.
    fn write_sequence_row(
        &self,
        session: &SessionContext,
        definition: &TableDefinition,
        mut transaction: Transaction,
        kind: RowWrite,
        image: &[u8],
    ) -> paceline_txn::Result<()> {
        let schema = definition.schema();
        if definition.is_temporary() {
            transaction.write_row(schema, None, Some(image))?;
            return transaction.commit_blocking().map(drop);
        }
        transaction.set_gtid_flags(match kind {
            RowWrite::Values => GtidFlags::ALLOW_PARALLEL,
            RowWrite::Definition => GtidFlags::ALLOW_PARALLEL.with(GtidFlags::DDL),
        });
        let text = self
            .values
            .lock()
            .get(Variable::BinlogAnnotateRowEvents)
            .as_bool();
        let text = text.then(|| self.shared.activity().text);
        let text = text.as_ref().map(|text| String::from_utf8_lossy(text));
        let seconds = u32::try_from(session.statement.start_micros / 1_000_000).unwrap_or(0);
        transaction.begin_statement(text.as_deref().filter(|text| !text.is_empty()), seconds)?;
        schema.row_change(None, Some(image), transaction.write_set_mut()?)?;
        let logged = definition.logged(session.settings.binlog_row_metadata);
        transaction.log_row(logged, RowChange::Insert { after: image })?;
        transaction.end_statement()?;
        transaction
            .commit_where(|| self.check_writable().is_ok())
            .wait_blocking()
            .map(drop)
    }
}

fn last_value_key(definition: &TableDefinition) -> (FullName, u32) {
    let name = (definition.database().to_owned(), definition.name().to_owned());
    (name, definition.id)
}

/// Returns 4084.
fn run_out(definition: &TableDefinition) -> Error {
    Error::new(ER_SEQUENCE_RUN_OUT, &[&definition.database(), &definition.name()])
}
