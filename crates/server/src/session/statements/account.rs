//! Statements about accounts: privilege checks and commit.
//!
//! An account is a catalog record, so these statements are committed like DDL: one Query event and the changed records.
//! The list of accounts is replaced when they are published. The statements run one at a time, because each one starts
//! from the result of the previous one.

use crate::accounts::checks::{check_account_statement, check_grant_options};
use crate::accounts::password_check::{PasswordRules, RefusedPassword};
use crate::accounts::records::{WrittenRecords, changed_records};
use crate::accounts::statements::{AccountContext, MissingAccounts, apply, resolve};
use crate::errors::of_transaction;
use crate::server::Server;
use crate::session::logged_statement::LoggedStatement;
use crate::session::protocol::Reply;
use crate::session::services::SessionServices;
use crate::session::state::SessionState;
use crate::session::transaction::replication;
use crate::sql_text::identifier;
use paceline_catalog::{CatalogChange, write_changes};
use paceline_expression::session::Diagnostics;
use paceline_storage::WriteSet;
use paceline_syntax::{
    AccountName, AccountSpec, AccountStatement, Authentication, AuthenticationPlugin, PasswordSpec,
    PrivilegeLevel, RoleName, Statement, UserName,
};
use paceline_syntax::{Error, Result};
use paceline_txn::DdlCommit;
use paceline_types::error_code::*;
use paceline_wire::caching_sha2::CACHING_SHA2_PASSWORD;
use std::time::Duration;
use tokio::sync::MutexGuard;

/// Interval at which a session that waits for other changes checks whether it should stop waiting.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Executes CREATE USER, GRANT and related statements.
///
/// # Errors
/// The errors of [`change_accounts`].
pub async fn execute(statement: &AccountStatement, state: &mut SessionState, text: &[u8]) -> Result<Reply> {
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
    let hashed = text.and_then(|text| with_hashes(statement, text, state));
    let statement = hashed.as_ref().unwrap_or(statement);
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
    let current_role = state.context.current_role.clone();
    let before = server.accounts.load();
    let catalog = server.catalog.load();
    let virtual_tables = state.context.services.virtual_tables.clone();
    let context = AccountContext {
        accounts: &before,
        current: (&current.0, &current.1),
        current_role: current_role.as_deref(),
        catalog: &catalog,
        virtual_tables: &*virtual_tables,
        database: state.context.database.as_deref(),
        missing_accounts: MissingAccounts::of_sql_mode(state.context.settings.sql_mode),
        sql_mode: state.context.settings.sql_mode,
        now_seconds: state.context.statement.start_seconds(),
    };
    check_grant_options(state.services.authority(&state.context), statement, context)?;
    let on_table = matches!(
        statement,
        AccountStatement::Grant {
            level: PrivilegeLevel::Table(_),
            ..
        } | AccountStatement::Revoke {
            level: PrivilegeLevel::Table(_),
            ..
        }
    );
    if on_table {
        state.context.diagnostics.forget_earlier();
    }
    let rules = PasswordRules::of(&server.globals);
    if let Some(rules) = rules.filter(|_| !is_replicated(state)) {
        rules
            .check(statement, context)
            .map_err(|refused| refuse_password(refused, statement, &mut state.context.diagnostics))?;
    }
    let applied = apply(statement, context)?;
    for (code, message) in applied.notes {
        state.context.diagnostics.note(code, message);
    }
    let text = match (statement, text) {
        // The log should not contain a password in plain text.
        (AccountStatement::SetPassword { account, .. }, _) => {
            let (user, host) = match account {
                Some(name) => resolve(name, context)?,
                None => current.clone(),
            };
            let changed = applied.accounts.get(&user, &host);
            let hash = changed.and_then(|account| account.authentication.first_hash());
            let hash = hash.unwrap_or_default();
            // The salt of a given hash may have any character.
            let literals =
                [user, host, hash.to_owned()].map(|text| text.replace('\\', "\\\\").replace('\'', "''"));
            let [user, host, hash] = literals;
            format!("SET PASSWORD FOR '{user}'@'{host}'='{hash}'").into_bytes()
        }
        (AccountStatement::SetDefaultRole { role, account }, _) => {
            let (user, host) = match account {
                Some(name) => resolve(name, context)?,
                None => current.clone(),
            };
            let role = match (role, &current_role) {
                (Some(RoleName::Name(name)), _) => identifier(name),
                (Some(RoleName::Current), Some(role)) => identifier(role),
                (Some(RoleName::Current) | None, _) => "NONE".to_owned(),
            };
            let (user, host) = (identifier(&user), identifier(&host));
            format!("SET DEFAULT ROLE {role} FOR {user}@{host}").into_bytes()
        }
        (_, Some(text)) => text.to_vec(),
        (_, None) => return Err(Error::new(ER_UNKNOWN_ERROR, &[])),
    };
    let altered: Vec<(String, String)> = match statement {
        AccountStatement::Alter { accounts, .. } => { accounts.iter() }
            .filter_map(|spec| resolve(&spec.account, context).ok())
            .collect(),
        _ => Vec::new(),
    };
    let changes = changed_records(
        &before,
        &applied.accounts,
        WrittenRecords::of_catalog(&server.catalog.load()),
    );
    commit_changes(statement, changes, &text, applied.failure.as_ref(), state).await?;
    // An ALTER USER unblocks accounts also if it has changed nothing: the error of a blocked account advises it.
    let accounts = server.accounts.load();
    for account in altered.iter().filter_map(|(user, host)| accounts.get(user, host)) {
        server.accounts.password_errors().forgive(account);
    }
    state.heed_new_password();
    server.accounts.use_present_passwords();
    match applied.failure {
        Some(failure) => Err(failure),
        None => Ok(()),
    }
}

/// Returns whether the statement comes from a primary, which has accepted its passwords.
fn is_replicated(state: &SessionState) -> bool {
    state.services.transaction.lock().replicated.is_some()
}

/// Raises the conditions of a refused password. Returns the statement's error: as in MariaDB, ALTER USER ends with the
/// error of the statement, and the others with that of the password.
fn refuse_password(
    refused: RefusedPassword,
    statement: &AccountStatement,
    diagnostics: &mut Diagnostics,
) -> Error {
    for reason in refused.reasons {
        diagnostics.warn(ER_NOT_VALID_PASSWORD, reason);
    }
    match (refused.failed, statement) {
        (Some(failed), AccountStatement::Alter { .. }) => {
            diagnostics.push_error(&refused.error);
            failed
        }
        (Some(failed), _) => {
            diagnostics.error_after_error(failed.code(), failed.message());
            refused.error
        }
        (None, _) => refused.error,
    }
}

/// Returns the statement as it is logged, with hashes instead of passwords, if it has a password for
/// `caching_sha2_password`: its hash is another one each time, and what is logged must be what is stored.
fn with_hashes(statement: &AccountStatement, text: &[u8], state: &SessionState) -> Option<AccountStatement> {
    let specs = match statement {
        AccountStatement::Create { accounts, .. }
        | AccountStatement::Alter { accounts, .. }
        | AccountStatement::Grant { accounts, .. }
        | AccountStatement::GrantRole { accounts, .. }
        | AccountStatement::GrantProxy { accounts, .. } => accounts,
        _ => return None,
    };
    let is_salted = |plugin: &AuthenticationPlugin| {
        matches!(plugin.credential, Some(PasswordSpec::Plain(_)))
            && plugin.plugin.eq_ignore_ascii_case(CACHING_SHA2_PASSWORD)
    };
    let has_salted = specs.iter().any(|spec| match &spec.authentication {
        Some(Authentication::Plugins(plugins)) => plugins.iter().any(is_salted),
        _ => false,
    });
    if !has_salted {
        return None;
    }
    match state.parse(text).ok()?.parsed.statement {
        Statement::Account(statement) => Some(statement),
        Statement::SetStatement { statement, .. } => match *statement {
            Statement::Account(statement) => Some(statement),
            _ => None,
        },
        _ => None,
    }
}

/// Waits for the lock on account changes. The session that holds it may wait long for a global read lock. KILL and
/// `max_statement_time` end this wait.
pub(super) async fn wait_for_others_changes<'a>(
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

/// Returns whether a statement depends on the current role.
fn names_current_role(statement: &AccountStatement) -> bool {
    let is_current = |name: &AccountName| name.user == UserName::CurrentRole;
    let of_specs = |specs: &[AccountSpec]| specs.iter().any(|spec| is_current(&spec.account));
    match statement {
        AccountStatement::Grant { accounts, .. } => of_specs(accounts),
        AccountStatement::GrantRole { role, accounts, .. } => {
            *role == RoleName::Current || of_specs(accounts)
        }
        AccountStatement::Revoke { accounts, .. } | AccountStatement::RevokeAll(accounts) => {
            accounts.iter().any(is_current)
        }
        AccountStatement::RevokeRole { role, accounts, .. } => {
            *role == RoleName::Current || accounts.iter().any(is_current)
        }
        AccountStatement::CreateRoles { admin, .. } => admin.as_ref().is_some_and(is_current),
        _ => false,
    }
}

async fn commit_changes(
    statement: &AccountStatement,
    changes: Vec<CatalogChange>,
    text: &[u8],
    failure: Option<&Error>,
    state: &mut SessionState,
) -> Result<()> {
    let mut writes = WriteSet::new();
    write_changes(&changes, &mut writes);
    let role = state.context.current_role.as_deref();
    let role = role.filter(|_| names_current_role(statement));
    let logged = LoggedStatement::of(state, text)
        .with_failure(failure)
        .by_role(role);
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
    state.services.wait_while_held().await;
    let locks = &state.services.locks;
    let committing = server
        .transactions
        .commit_ddl_where(locks, ddl, || state.check_writable().is_ok());
    let outcome = committing.await;
    let outcome = outcome.map_err(|error| of_transaction(&error))?;
    state.committed(outcome);
    Ok(())
}
