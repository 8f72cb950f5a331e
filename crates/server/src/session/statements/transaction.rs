//! BEGIN, COMMIT, ROLLBACK and savepoints.

use super::snapshot_at_gtid::begin_at;
use crate::errors::of_transaction;
use crate::session::logged_statement::LoggedStatement;
use crate::session::protocol::Reply;
use crate::session::state::SessionState;
use crate::session::tracking::Snapshot;
use crate::variables::Variable;
use paceline_syntax::{Completion, Error, Result, TransactionStatement};
use paceline_txn::{IsolationLevel, Lifetime, TransactionOptions};
use paceline_types::AccessMode;
use paceline_types::error_code::ER_SP_DOES_NOT_EXIST;

/// Executes BEGIN, COMMIT, ROLLBACK and savepoint statements.
///
/// # Errors
/// The errors of the commit; 1305 for an unknown savepoint; the errors of a snapshot at a GTID.
pub async fn execute(statement: &TransactionStatement, state: &mut SessionState) -> Result<Reply> {
    match statement {
        TransactionStatement::Start {
            consistent_snapshot,
            snapshot_at,
            access,
        } => {
            state.commit().await?;
            state.table_locks.release_tables();
            // Without the words it may begin, and its writes are refused.
            if *access == Some(AccessMode::ReadWrite) {
                state.services.check_writable()?;
            }
            if let Some(position) = snapshot_at {
                let transaction = begin_at(position, *access, state)?;
                state.services.transaction.lock().snapshot = transaction.snapshot_version();
                state.open_transaction(transaction);
                state.tracking.begin(None, *access, Snapshot::Consistent);
                return Ok(Reply::ok());
            }
            let isolation = state.transaction.next_isolation;
            let begun_access = access.or(state.transaction.next_access);
            let options = state.transaction_options(Lifetime::Explicit, *access);
            if *consistent_snapshot {
                state.services.await_new_reads(&mut state.context.diagnostics)?;
                state.services.await_gtid()?;
            }
            let transactions = &state.server.transactions;
            let mut transaction = match consistent_snapshot {
                false => transactions.begin(&state.services.locks, options),
                true if options.isolation == IsolationLevel::RepeatableRead => {
                    let transaction = transactions.begin_with_snapshot(&state.services.locks, options);
                    state.services.transaction.lock().snapshot = transaction.snapshot_version();
                    transaction
                }
                true => transactions.begin(&state.services.locks, options),
            };
            state.mark_serial(&mut transaction);
            state.open_transaction(transaction);
            let snapshot = match consistent_snapshot {
                true => Snapshot::Consistent,
                false => Snapshot::Late,
            };
            state.tracking.begin(isolation, begun_access, snapshot);
        }
        TransactionStatement::Commit(completion) => {
            let chained = chained_options(state);
            state.commit().await?;
            complete(*completion, chained, state);
        }
        TransactionStatement::Rollback(completion) => {
            let chained = chained_options(state);
            state.roll_back();
            complete(*completion, chained, state);
        }
        TransactionStatement::Savepoint(name) => {
            // A savepoint without a transaction has no effect. MariaDB accepts and ignores it.
            if !state.context.settings.autocommit {
                state.enter_transaction();
            }
            // Logged in MariaDB's form, if the transaction already has rows.
            let text = format!("SAVEPOINT `{}`", name.replace('`', "``"));
            let logged = LoggedStatement::of(state, text.as_bytes());
            if state.shared.transaction.is_set() {
                state.context.counts.handler_savepoint += 1;
            }
            if let Some(transaction) = state.transaction.get_mut() {
                transaction
                    .log_statement(&logged.query_event(None), logged.timestamp_seconds)
                    .map_err(|error| of_transaction(&error))?;
                transaction.savepoint(name);
            }
        }
        TransactionStatement::RollbackTo(name) => {
            let none = || Error::new(ER_SP_DOES_NOT_EXIST, &[&"SAVEPOINT", name]);
            let transaction = state.transaction.get_mut().ok_or_else(none)?;
            transaction.rollback_to_savepoint(name).map_err(|_| none())?;
            if state.shared.transaction.is_set() {
                state.context.counts.handler_savepoint_rollback += 1;
            }
        }
        TransactionStatement::Release(name) => {
            let none = || Error::new(ER_SP_DOES_NOT_EXIST, &[&"SAVEPOINT", name]);
            let transaction = state.transaction.get_mut().ok_or_else(none)?;
            transaction.release_savepoint(name).map_err(|_| none())?;
        }
    }
    Ok(Reply::ok())
}

/// Returns the options of the open transaction, for AND CHAIN.
fn chained_options(state: &mut SessionState) -> Option<TransactionOptions> {
    state
        .transaction
        .get_mut()
        .map(|transaction| transaction.options().clone())
}

/// Handles AND CHAIN, RELEASE and `completion_type`.
fn complete(completion: Completion, chained: Option<TransactionOptions>, state: &mut SessionState) {
    let default = state
        .services
        .values
        .lock()
        .get(Variable::CompletionType)
        .as_u64();
    if completion.release.unwrap_or(default == 2) {
        state.ends_with_reply = true;
    }
    if completion.chain.unwrap_or(default == 1) {
        let mut options = match chained {
            Some(options) => options,
            None => state.transaction_options(Lifetime::Explicit, None),
        };
        options.lifetime = Lifetime::Explicit;
        options.gtid = state.services.gtid_choice();
        let mut transaction = state.server.transactions.begin(&state.services.locks, options);
        state.mark_serial(&mut transaction);
        state.open_transaction(transaction);
        state.tracking.begin(None, None, Snapshot::Late);
    }
}
