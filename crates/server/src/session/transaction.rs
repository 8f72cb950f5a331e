//! A session's transaction: begin, end, and SET TRANSACTION.
//!
//! ```text
//!              BEGIN, autocommit=0 and a statement
//!   None ────────────────────────────────────────▶ Open ──COMMIT, ROLLBACK, DDL──▶ None
//!    │  a statement with autocommit=1                ▲
//!    └────────────▶ Single ──the statement's end──▶ None
//! ```

use super::services::SessionServices;
use super::state::SessionState;
use super::transaction_slot::State;
use crate::errors::of_transaction;
use crate::registry;
use crate::variables::Variable;
use paceline_binlog::event::GtidFlags;
use paceline_expression::session::SessionContext;
use paceline_syntax::Result;
use paceline_txn::{
    AccessMode, CommitFuture, CommitOutcome, Lifetime, Replication, SnapshotIsolation, Transaction,
    TransactionOptions,
};
use paceline_wire::session_state::StateChange;

/// Returns the replication mode from `sql_log_bin` and `skip_replication`.
pub fn replication(context: &SessionContext, services: &SessionServices) -> Replication {
    services.replication(context)
}

impl SessionState {
    /// Returns whether the statement's transaction is, or would be, READ ONLY.
    pub fn is_read_only_transaction(&self) -> bool {
        match self.transaction.is_active() {
            true => self.transaction.is_read_only(),
            false => self.context.settings.transaction_read_only,
        }
    }

    /// Returns the options of a transaction that begins now.
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
            isolation: level,
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

    /// Begins a transaction for a statement, if there is none.
    pub fn enter_transaction(&mut self) {
        self.begin_if_none(match self.context.settings.autocommit {
            true => Lifetime::SingleStatement,
            false => Lifetime::Explicit,
        });
        if let Some(transaction) = self.transaction.get_mut() {
            let settings = &self.context.settings;
            // The variables may have been set since the transaction began.
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

    /// Begins a transaction for a statement without tables. It is a single-statement transaction even with
    /// `autocommit=0`, and does not use up the options of SET TRANSACTION.
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

    /// Keeps a transaction open until COMMIT or ROLLBACK.
    pub fn open_transaction(&mut self, transaction: Transaction) {
        self.transaction.state = State::Open(Box::new(transaction));
        self.services.transaction.lock().open = true;
    }

    /// Marks a transaction for `skip_parallel_replication`: replicas must not apply it in parallel.
    pub fn mark_serial(&self, transaction: &mut Transaction) {
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

    /// Ends a successful statement: commits a single-statement transaction, otherwise waits until the data read under
    /// lock is published.
    pub async fn leave_statement(&mut self) -> Result<()> {
        if std::mem::take(&mut self.uses_tables) {
            self.context.counts.handler_commit += 1;
        }
        match &self.transaction.state {
            State::Single(_) => self.commit().await,
            State::Open(transaction) => {
                let settled = transaction.reads_published();
                if !settled.is_ready() {
                    settled.await;
                }
                Ok(())
            }
            State::None | State::Undone => Ok(()),
        }
    }

    /// Ends a failed statement, whose changes are already undone. Rolls the transaction back if it is a single
    /// statement, or if the error has undone all of it.
    pub fn abort_statement(&mut self) {
        if std::mem::take(&mut self.uses_tables) {
            self.context.counts.handler_rollback += 1;
        }
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

    /// Adds the transaction, if there is one, to the commit queue. After the return its memory can be reused while the
    /// commit is awaited.
    fn enqueue_commit(&mut self) -> Option<CommitFuture> {
        let transaction = self.transaction.take()?;
        Some(transaction.commit_where(|| self.check_writable().is_ok()))
    }

    /// Returns whether a transaction of several statements has used a table. A single statement's end is counted as
    /// that of the statement.
    fn has_open_work(&self) -> bool {
        self.transaction.is_open() && self.shared.transaction.is_set()
    }

    /// Commits the transaction, if there is one.
    pub async fn commit(&mut self) -> Result<()> {
        if self.has_open_work() {
            self.context.counts.handler_commit += 1;
        }
        let awaits_cluster = self.server.cluster.is_some() && self.transaction.changes_rows();
        let found_nothing = self.transaction.has_changed_nothing();
        if awaits_cluster {
            self.shared
                .update(|activity| activity.state = registry::CLUSTER_COMMIT);
            self.services.wait_while_held().await;
        }
        let Some(committing) = self.enqueue_commit() else {
            return Ok(());
        };
        let outcome = committing.await;
        if awaits_cluster {
            self.shared.update(|activity| activity.state = "executing");
        }
        self.transaction_ended();
        match outcome {
            // "No row was found" is an answer, and no commit vouches for it.
            Ok(_) if found_nothing => self.services.vouch_for_reads(&mut self.context.diagnostics),
            Ok(outcome) => {
                self.committed(outcome);
                Ok(())
            }
            Err(error) => Err(of_transaction(&error)),
        }
    }

    /// Records a commit.
    pub fn committed(&mut self, outcome: CommitOutcome) {
        let Some(gtid) = outcome.gtid else { return };
        {
            let mut view = self.services.transaction.lock();
            view.last_gtid = Some(gtid);
            // gtid_seq_no applies to one transaction.
            view.gtid_seq_no = 0;
        }
        if self.services.tracks(Variable::LastGtid) {
            let change = StateChange::SystemVariable {
                name: "last_gtid".into(),
                value: gtid.to_string(),
            };
            self.changes.add(&change);
        }
    }

    /// Rolls back the transaction, if there is one.
    pub fn roll_back(&mut self) {
        if self.has_open_work() {
            self.context.counts.handler_rollback += 1;
        }
        if let Some(transaction) = self.transaction.take() {
            transaction.rollback();
            self.transaction_ended();
        }
    }

    fn transaction_ended(&mut self) {
        self.tracking.end();
        let mut view = self.services.transaction.lock();
        view.open = false;
        view.snapshot = None;
        self.shared.transaction.clear();
    }
}
