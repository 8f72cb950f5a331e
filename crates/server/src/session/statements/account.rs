//! Statements about accounts: privilege checks and commit.
//!
//! An account is a catalog record, so these statements are committed like DDL: one Query event and the changed records.
//! The list of accounts is replaced when they are published. The statements run one at a time, because each one starts
//! from the result of the previous one.

use crate::accounts::checks::{check_account_statement, check_grant_options};
use crate::accounts::records::{WrittenRecords, changed_records};
use crate::accounts::statements::{AccountContext, MissingAccounts, apply, resolve};
use crate::errors::of_transaction;
use crate::server::Server;
use crate::session::logged_statement::LoggedStatement;
use crate::session::parsing::stored_hash;
use crate::session::protocol::Reply;
use crate::session::services::SessionServices;
use crate::session::state::SessionState;
use crate::session::transaction::replication;
use paceline_catalog::{CatalogChange, write_changes};
use paceline_storage::WriteSet;
use paceline_syntax::{AccountStatement, PasswordSpec};
use paceline_syntax::{Error, Result};
use paceline_txn::DdlCommit;
use paceline_types::error_code::*;
use std::time::Duration;
use tokio::sync::MutexGuard;

/// Interval at which a session that waits for other changes checks whether it should stop waiting.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Executes CREATE USER, GRANT and related statements.
///
/// # Errors
/// The errors of [`change_accounts`].
pub async fn execute(statement: &AccountStatement, state: &mut SessionState, text: &[u8]) -> Result<Reply> {
    let counters = &state.shared.counters;
    match statement {
        AccountStatement::Create { .. } => counters.com_create_user.add(1),
        AccountStatement::Alter { .. } => counters.com_alter_user.add(1),
        AccountStatement::Drop { .. } => counters.com_drop_user.add(1),
        AccountStatement::Rename(_) => counters.com_rename_user.add(1),
        AccountStatement::Grant { .. } => counters.com_grant.add(1),
        AccountStatement::Revoke { .. } | AccountStatement::RevokeAll(_) => counters.com_revoke.add(1),
        AccountStatement::SetPassword { .. } => counters.com_set_option.add(1),
    }
    change_accounts(statement, Some(text), state).await?;
    Ok(Reply::ok())
}

/// Applies a statement about accounts and commits it. Without a text, one is generated for the log.
///
/// # Errors
/// The errors of the privilege checks and of [`apply`]; 1290 under `--read-only` and `--skip-grant-tables`; 1223
/// under the session's own global read lock; those of the commit.
pub async fn change_accounts(
    statement: &AccountStatement,
    text: Option<&[u8]>,
    state: &mut SessionState,
) -> Result<()> {
    state.server.accounts.must_count()?;
    check_account_statement(state.services.authority(&state.context), statement)?;
    state.check_writable()?;
    if state.table_locks.is_globally_locked() {
        return Err(Error::new(ER_CANT_UPDATE_WITH_READLOCK, &[]));
    }
    state.commit().await?;
    let server = state.server.clone();
    let _one_at_a_time = wait_for_others_changes(&server, &state.services).await?;
    let current = (
        state.context.current_user.user.clone(),
        state.context.current_user.host.clone(),
    );
    let before = server.accounts.load();
    let context = AccountContext {
        accounts: &before,
        current: (&current.0, &current.1),
        database: state.context.database.as_deref(),
        missing_accounts: MissingAccounts::of_sql_mode(state.context.settings.sql_mode),
    };
    check_grant_options(state.services.authority(&state.context), statement, context)?;
    let applied = apply(statement, context)?;
    for (code, message) in applied.notes {
        state.context.diagnostics.note(code, message);
    }
    let text = match (statement, text) {
        // The log should not contain a password in plain text.
        (AccountStatement::SetPassword { account, password }, _) => {
            let (user, host) = match account {
                Some(name) => resolve(name, context)?,
                None => current.clone(),
            };
            let hash = match password {
                PasswordSpec::Plain(text) => stored_hash(text),
                PasswordSpec::Hash(hash) => hash.clone(),
            };
            let [user, host] = [user, host].map(|name| name.replace('\\', "\\\\").replace('\'', "''"));
            format!("SET PASSWORD FOR '{user}'@'{host}'='{hash}'").into_bytes()
        }
        (_, Some(text)) => text.to_vec(),
        (_, None) => return Err(Error::new(ER_UNKNOWN_ERROR, &[])),
    };
    let changes = changed_records(
        &before,
        &applied.accounts,
        WrittenRecords::of_catalog(&server.catalog.load()),
    );
    commit_changes(changes, &text, applied.failure.as_ref(), state).await?;
    match applied.failure {
        Some(failure) => Err(failure),
        None => Ok(()),
    }
}

/// Waits for the lock on account changes. The session that holds it may wait long for a global read lock. KILL and
/// `max_statement_time` end this wait.
async fn wait_for_others_changes<'a>(
    server: &'a Server,
    services: &SessionServices,
) -> Result<MutexGuard<'a, ()>> {
    loop {
        match tokio::time::timeout(LOOK_EVERY, server.changing_accounts.lock()).await {
            Ok(guard) => return Ok(guard),
            Err(_) => services.check_running()?,
        }
    }
}

async fn commit_changes(
    changes: Vec<CatalogChange>,
    text: &[u8],
    failure: Option<&Error>,
    state: &mut SessionState,
) -> Result<()> {
    let mut writes = WriteSet::new();
    write_changes(&changes, &mut writes);
    let logged = LoggedStatement::of(state, text).with_failure(failure);
    let query = logged.query_event(None);
    let server = state.server.clone();
    let on_publish = {
        let server = server.clone();
        Box::new(move |version| {
            server
                .catalog
                .publish(&changes, version)
                .expect("records of accounts are stored unchanged");
            server.accounts.reload(&server.catalog.load());
        })
    };
    let ddl = DdlCommit {
        query: &query,
        event_flags: paceline_binlog::event::EventFlags::NONE,
        timestamp_seconds: logged.timestamp_seconds,
        writes,
        builds: vec![],
        on_publish: Some(on_publish),
        gtid: state.services.gtid_choice(),
        replication: replication(&state.context, &state.services),
        metadata_lock_timeout: state.context.settings.metadata_lock_wait_timeout,
    };
    let locks = &state.services.locks;
    let committing = server
        .transactions
        .commit_ddl_where(locks, ddl, || state.check_writable().is_ok());
    let outcome = committing.await;
    let outcome = outcome.map_err(|error| of_transaction(&error))?;
    state.committed(outcome);
    Ok(())
}
