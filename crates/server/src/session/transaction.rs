//! A session's transaction: when it begins, when it ends, and what SET TRANSACTION says of it.
//!
//! ```text
//!              BEGIN, autocommit=0 and a statement
//!   None ────────────────────────────────────────▶ Open ──COMMIT, ROLLBACK, DDL──▶ None
//!    │  a statement with autocommit=1                ▲
//!    └────────────▶ Single ──the statement's end──▶ None
//! ```

use super::errors::of_transaction;
use super::logged_statement::LoggedStatement;
use super::services::SessionServices;
use super::{More, Phase, Session};
use crate::variables::Variable;
use paceline_binlog::event::GtidFlags;
use paceline_sql::parse::{self, Completion, TransactionStatement};
use paceline_sql::session::{IsolationLevel as SqlIsolation, SessionContext};
use paceline_sql::{Error, Result};
use paceline_txn::{
    AccessMode, CommitFuture, CommitOutcome, GtidChoice, IsolationLevel, Lifetime, Replication,
    SnapshotIsolation, Transaction, TransactionOptions,
};
use paceline_types::error_code::*;
use paceline_types::{DomainId, SequenceNumber, ServerId};
use paceline_wire::session_state::StateChange;

/// A session's transaction.
#[derive(Default)]
pub struct TransactionSlot {
    state: State,
    /// SET TRANSACTION for the next one: isolation and access.
    next_isolation: Option<SqlIsolation>,
    next_access: Option<AccessMode>,
}

/// Boxed: a transaction is made for each statement in memory that was used a moment ago, not in the session's own, which is long out of the caches where many
/// sessions take turns.
#[derive(Default)]
enum State {
    #[default]
    None,
    /// Of one statement.
    Single(Box<Transaction>),
    /// Until COMMIT or ROLLBACK.
    Open(Box<Transaction>),
    /// As `Open`, after an error that has undone all of it: 1213. The next statement begins another.
    Undone,
}

impl TransactionSlot {
    /// Whether a transaction is open beyond the statement.
    pub fn is_open(&self) -> bool {
        matches!(self.state, State::Open(_))
    }

    /// Whether there is one, also of the running statement only.
    pub fn is_active(&self) -> bool {
        matches!(self.state, State::Open(_) | State::Single(_))
    }

    /// Whether the open one has changed rows.
    pub fn has_writes(&self) -> bool {
        matches!(&self.state, State::Open(transaction) if transaction.has_writes())
    }

    /// Whether the open one is READ ONLY.
    pub fn is_read_only(&self) -> bool {
        matches!(&self.state, State::Open(transaction) if transaction.options().access == AccessMode::ReadOnly)
    }

    /// The running one.
    pub fn get_mut(&mut self) -> Option<&mut Transaction> {
        match &mut self.state {
            State::Open(transaction) | State::Single(transaction) => Some(transaction),
            State::None | State::Undone => None,
        }
    }

    /// The running one, for who has entered it.
    ///
    /// # Errors
    /// 1105 if there is none.
    pub fn running(&mut self) -> Result<&mut Transaction> {
        self.get_mut().ok_or_else(|| Error::new(ER_UNKNOWN_ERROR, &[]))
    }

    /// Takes it out.
    fn take(&mut self) -> Option<Box<Transaction>> {
        match std::mem::take(&mut self.state) {
            State::Open(transaction) | State::Single(transaction) => Some(transaction),
            State::None | State::Undone => None,
        }
    }

    /// Rolls it back without telling anybody: the session ends.
    pub fn abandon(&mut self) {
        if let Some(transaction) = self.take() {
            transaction.rollback();
        }
    }

    /// SET TRANSACTION without SESSION or GLOBAL.
    pub fn set_next(&mut self, isolation: Option<SqlIsolation>, access: Option<AccessMode>) {
        self.next_isolation = isolation.or(self.next_isolation);
        self.next_access = access.or(self.next_access);
    }
}

fn isolation(level: SqlIsolation) -> IsolationLevel {
    match level {
        SqlIsolation::ReadUncommitted => IsolationLevel::ReadUncommitted,
        SqlIsolation::ReadCommitted => IsolationLevel::ReadCommitted,
        SqlIsolation::RepeatableRead => IsolationLevel::RepeatableRead,
        SqlIsolation::Serializable => IsolationLevel::Serializable,
    }
}

/// The GTID that the session's next transaction asks for.
pub fn gtid_choice(services: &SessionServices) -> GtidChoice {
    if let Some(gtid) = services.transaction.lock().replicated.clone() {
        return gtid;
    }
    let (domain, server) = {
        let values = services.values.lock();
        (
            values.get(Variable::GtidDomainId).as_u64(),
            values.get(Variable::ServerId).as_u64(),
        )
    };
    let sequence = services.transaction.lock().gtid_seq_no;
    GtidChoice::new(
        DomainId(domain as u32),
        ServerId(server as u32),
        SequenceNumber(sequence),
    )
}

/// `sql_log_bin` and `skip_replication`.
pub fn replication(context: &SessionContext, services: &SessionServices) -> Replication {
    let is_marked = || services.values.lock().get(Variable::SkipReplication).as_bool();
    match context.settings.log_bin {
        false => Replication::LocalOnly,
        true if is_marked() => Replication::Marked,
        true => Replication::Replicated,
    }
}

impl Session {
    /// What a transaction that begins now begins with.
    pub fn transaction_options(
        &mut self,
        lifetime: Lifetime,
        access: Option<AccessMode>,
    ) -> TransactionOptions {
        let settings = &self.context.settings;
        let level = self
            .transaction
            .next_isolation
            .take()
            .unwrap_or(settings.isolation);
        let default_access = match settings.transaction_read_only {
            true => AccessMode::ReadOnly,
            false => AccessMode::ReadWrite,
        };
        TransactionOptions {
            isolation: isolation(level),
            snapshot_isolation: match settings.snapshot_isolation {
                true => SnapshotIsolation::On,
                false => SnapshotIsolation::Off,
            },
            access: access
                .or(self.transaction.next_access.take())
                .unwrap_or(default_access),
            lifetime,
            row_lock_timeout: settings.row_lock_wait_timeout,
            metadata_lock_timeout: settings.metadata_lock_wait_timeout,
            gtid: self.services.gtid_choice(),
            replication: replication(&self.context, &self.services),
        }
    }

    /// Makes sure that a statement has a transaction.
    pub fn enter_transaction(&mut self) {
        self.begin_if_none(match self.context.settings.autocommit {
            true => Lifetime::SingleStatement,
            false => Lifetime::Explicit,
        });
        if let Some(transaction) = self.transaction.get_mut() {
            let settings = &self.context.settings;
            // They may have been set since the transaction began.
            transaction.set_lock_timeouts(
                settings.row_lock_wait_timeout,
                settings.metadata_lock_wait_timeout,
            );
            self.shared.transaction.set(
                transaction.options(),
                settings.unique_checks,
                settings.foreign_key_checks,
            );
        }
    }

    /// The same for a statement that touches no table: it is a transaction of its own under `autocommit=0` too, and what SET TRANSACTION has said of the
    /// next one is not said of it.
    pub fn enter_tableless(&mut self) {
        let (isolation, access) = (self.transaction.next_isolation, self.transaction.next_access);
        self.begin_if_none(Lifetime::SingleStatement);
        self.transaction.set_next(isolation, access);
    }

    fn begin_if_none(&mut self, lifetime: Lifetime) {
        if self.transaction.is_active() {
            return;
        }
        let options = self.transaction_options(lifetime, None);
        let mut transaction = self.server.transactions.begin(&self.services.locks, options);
        self.mark_serial(&mut transaction);
        match lifetime {
            Lifetime::SingleStatement => self.transaction.state = State::Single(Box::new(transaction)),
            Lifetime::Explicit => self.open_transaction(transaction),
        }
    }

    /// A transaction lasts until COMMIT or ROLLBACK.
    fn open_transaction(&mut self, transaction: Transaction) {
        self.transaction.state = State::Open(Box::new(transaction));
        self.services.transaction.lock().open = true;
    }

    /// `skip_parallel_replication`: replicas shall not try the transaction beside others.
    fn mark_serial(&self, transaction: &mut Transaction) {
        if self
            .services
            .values
            .lock()
            .get(Variable::SkipParallelReplication)
            .as_bool()
        {
            transaction.set_gtid_flags(GtidFlags::TRANSACTIONAL);
        }
    }

    /// A statement ended well: commits it if it stands alone, else waits until what it read under lock is published.
    pub async fn leave_statement(&mut self) -> Result<()> {
        match &self.transaction.state {
            State::Single(_) => self.commit().await,
            State::Open(transaction) => {
                let settled = transaction.settled();
                if !settled.is_ready() {
                    settled.await;
                }
                Ok(())
            }
            State::None | State::Undone => Ok(()),
        }
    }

    /// A statement failed: what it wrote is taken back already. Ends its transaction if it stands alone, or if the error has undone all of
    /// it.
    pub fn abort_statement(&mut self) {
        match &mut self.transaction.state {
            State::Single(_) => self.roll_back(),
            State::Open(transaction) if transaction.is_rolled_back() => {
                self.roll_back();
                self.transaction.state = State::Undone;
            }
            _ => {}
        }
    }

    /// Undoes the transaction after an error; the next statement begins another.
    #[cold]
    pub fn undo_transaction(&mut self) {
        if let State::Open(_) = &self.transaction.state {
            self.roll_back();
            self.transaction.state = State::Undone;
        }
    }

    /// Puts the transaction into the commit queue, if there is one. Its memory is free for the next one's when this returns, while the commit is waited for.
    fn enqueue_commit(&mut self) -> Option<CommitFuture> {
        let transaction = self.transaction.take()?;
        Some(transaction.commit_where(|| self.check_writable().is_ok()))
    }

    /// Commits the transaction, if there is one.
    pub async fn commit(&mut self) -> Result<()> {
        let Some(committing) = self.enqueue_commit() else {
            return Ok(());
        };
        let outcome = committing.await;
        self.transaction_ended();
        match outcome {
            Ok(outcome) => {
                self.committed(outcome);
                Ok(())
            }
            Err(error) => Err(of_transaction(&error)),
        }
    }

    /// Notes what was committed.
    pub fn committed(&mut self, outcome: CommitOutcome) {
        let Some(gtid) = outcome.gtid else { return };
        {
            let mut view = self.services.transaction.lock();
            view.last_gtid = Some(gtid);
            // gtid_seq_no holds for one transaction.
            view.gtid_seq_no = 0;
        }
        if self.services.tracks(Variable::LastGtid) {
            let change = StateChange::SystemVariable {
                name: "last_gtid".into(),
                value: gtid.to_string(),
            };
            change.encode(&mut self.state_changes);
        }
    }

    /// Rolls the transaction back, if there is one.
    pub fn roll_back(&mut self) {
        if let Some(transaction) = self.transaction.take() {
            transaction.rollback();
            self.transaction_ended();
        }
    }

    fn transaction_ended(&mut self) {
        let mut view = self.services.transaction.lock();
        view.open = false;
        view.snapshot = None;
        self.shared.transaction.clear();
    }

    /// BEGIN, COMMIT, ROLLBACK, savepoints.
    pub async fn transaction_statement(
        &mut self,
        statement: &TransactionStatement,
        more: More,
    ) -> Result<()> {
        let counters = &self.shared.counters;
        match statement {
            TransactionStatement::Start {
                consistent_snapshot,
                snapshot_at,
                access,
            } => {
                counters.com_begin.add(1);
                self.commit().await?;
                self.table_locks.release_tables();
                if let Some(position) = snapshot_at {
                    let transaction = self.begin_at(position, *access)?;
                    self.services.transaction.lock().snapshot = transaction.snapshot_version();
                    self.open_transaction(transaction);
                    self.write_ok(0, 0, "", more);
                    return Ok(());
                }
                let access = access.map(|mode| match mode {
                    parse::AccessMode::ReadOnly => AccessMode::ReadOnly,
                    parse::AccessMode::ReadWrite => AccessMode::ReadWrite,
                });
                let options = self.transaction_options(Lifetime::Explicit, access);
                if *consistent_snapshot {
                    self.services.await_gtid()?;
                }
                let transactions = &self.server.transactions;
                let mut transaction = match consistent_snapshot {
                    false => transactions.begin(&self.services.locks, options),
                    true if options.isolation == IsolationLevel::RepeatableRead => {
                        let transaction = transactions.begin_with_snapshot(&self.services.locks, options);
                        self.services.transaction.lock().snapshot = transaction.snapshot_version();
                        transaction
                    }
                    true => transactions.begin(&self.services.locks, options),
                };
                self.mark_serial(&mut transaction);
                self.open_transaction(transaction);
            }
            TransactionStatement::Commit(completion) => {
                counters.com_commit.add(1);
                let chained = self.chained_options();
                self.commit().await?;
                self.complete(*completion, chained);
            }
            TransactionStatement::Rollback(completion) => {
                counters.com_rollback.add(1);
                let chained = self.chained_options();
                self.roll_back();
                self.transaction.state = State::None;
                self.complete(*completion, chained);
            }
            TransactionStatement::Savepoint(name) => {
                counters.com_savepoint.add(1);
                // Outside a transaction a savepoint has nothing to stand in; MariaDB takes it and forgets it.
                if !self.context.settings.autocommit {
                    self.enter_transaction();
                }
                // As MariaDB logs it: where the transaction has rows already, by a name of its own making.
                let text = format!("SAVEPOINT `{}`", name.replace('`', "``"));
                let logged = LoggedStatement::of(self, text.as_bytes());
                if let Some(transaction) = self.transaction.get_mut() {
                    transaction
                        .log_statement(&logged.query_event(None), logged.timestamp_seconds)
                        .map_err(|error| of_transaction(&error))?;
                    transaction.savepoint(name);
                }
            }
            TransactionStatement::RollbackTo(name) => {
                counters.com_rollback_to_savepoint.add(1);
                let none = || Error::new(ER_SP_DOES_NOT_EXIST, &[&"SAVEPOINT", name]);
                let transaction = self.transaction.get_mut().ok_or_else(none)?;
                transaction.rollback_to_savepoint(name).map_err(|_| none())?;
            }
            TransactionStatement::Release(name) => {
                counters.com_release_savepoint.add(1);
                let none = || Error::new(ER_SP_DOES_NOT_EXIST, &[&"SAVEPOINT", name]);
                let transaction = self.transaction.get_mut().ok_or_else(none)?;
                transaction.release_savepoint(name).map_err(|_| none())?;
            }
        }
        self.write_ok(0, 0, "", more);
        Ok(())
    }

    /// What the open transaction was begun with, for AND CHAIN.
    fn chained_options(&mut self) -> Option<TransactionOptions> {
        self.transaction
            .get_mut()
            .map(|transaction| transaction.options().clone())
    }

    /// AND CHAIN, RELEASE, and `completion_type`.
    fn complete(&mut self, completion: Completion, chained: Option<TransactionOptions>) {
        let default = self.services.values.lock().get(Variable::CompletionType).as_u64();
        if completion.release.unwrap_or(default == 2) {
            self.phase = Phase::Closing;
        }
        if completion.chain.unwrap_or(default == 1) {
            let mut options = match chained {
                Some(options) => options,
                None => self.transaction_options(Lifetime::Explicit, None),
            };
            options.lifetime = Lifetime::Explicit;
            options.gtid = self.services.gtid_choice();
            let mut transaction = self.server.transactions.begin(&self.services.locks, options);
            self.mark_serial(&mut transaction);
            self.open_transaction(transaction);
        }
    }
}

impl SessionServices {
    /// See [`gtid_choice`].
    pub fn gtid_choice(&self) -> GtidChoice {
        gtid_choice(self)
    }

    /// Whether the client wants to be told when this variable changes (`session_track_system_variables`).
    pub fn tracks(&self, variable: Variable) -> bool {
        self.values.lock().tracks(variable)
    }
}
