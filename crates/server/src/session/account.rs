//! Statements about accounts: privilege checks and commit.
//!
//! An account is a catalog record, so these statements are committed like DDL: one Query event and the changed records.
//! The list of accounts is replaced when they are published. They run one at a time: each starts from the result of the
//! previous one.

use super::Session;
use super::errors::of_transaction;
use super::logged_statement::LoggedStatement;
use super::query::Execution;
use crate::accounts::statements::{MissingAccounts, StatementContext, apply, resolve};
use crate::accounts::{Accounts, PrivilegeSet};
use crate::server::Server;
use paceline_catalog::{CatalogChange, write_changes};
use paceline_expression::session::{Privilege, PrivilegeTarget, Privileges, ServerFunctions};
use paceline_storage::WriteSet;
use paceline_syntax::{AccountOptions, AccountStatement, PasswordSpec, PrivilegeLevel};
use paceline_syntax::{Error, Result};
use paceline_txn::DdlCommit;
use paceline_types::error_code::*;
use std::time::Duration;
use tokio::sync::MutexGuard;

/// Interval at which a session that waits for other changes checks whether it should stop waiting.
const LOOK_EVERY: Duration = Duration::from_millis(100);

impl Session {
    /// Executes CREATE USER, GRANT and related statements.
    pub async fn account_statement(
        &mut self,
        statement: &AccountStatement,
        execution: Execution<'_>,
    ) -> Result<()> {
        let counters = &self.shared.counters;
        match statement {
            AccountStatement::Create { .. } => counters.com_create_user.add(1),
            AccountStatement::Alter { .. } => counters.com_alter_user.add(1),
            AccountStatement::Drop { .. } => counters.com_drop_user.add(1),
            AccountStatement::Rename(_) => counters.com_rename_user.add(1),
            AccountStatement::Grant { .. } => counters.com_grant.add(1),
            AccountStatement::Revoke { .. } | AccountStatement::RevokeAll(_) => counters.com_revoke.add(1),
            AccountStatement::SetPassword { .. } => counters.com_set_option.add(1),
        }
        self.change_accounts(statement, Some(execution.text)).await?;
        self.write_ok(0, 0, "", execution.more);
        Ok(())
    }

    /// Applies a statement about accounts and commits it. Without a text, a text is generated for the log.
    pub async fn change_accounts(&mut self, statement: &AccountStatement, text: Option<&[u8]>) -> Result<()> {
        self.server.accounts.must_count()?;
        self.may_change_accounts(statement)?;
        self.check_writable()?;
        if self.table_locks.is_globally_locked() {
            return Err(Error::new(ER_CANT_UPDATE_WITH_READLOCK, &[]));
        }
        self.commit().await?;
        let server = self.server.clone();
        let _one_at_a_time = self.wait_for_others_changes(&server).await?;
        let current = (
            self.context.current_user.user.clone(),
            self.context.current_user.host.clone(),
        );
        let before = server.accounts.load();
        let context = StatementContext {
            accounts: &before,
            current: (&current.0, &current.1),
            database: self.context.database.as_deref(),
            missing_accounts: MissingAccounts::of_sql_mode(self.context.settings.sql_mode),
        };
        self.may_specify(statement, context)?;
        let applied = apply(statement, context)?;
        for (code, message) in applied.notes {
            self.context.diagnostics.note(code, message);
        }
        let text = match (statement, text) {
            // The log must not contain a plain text password if that can be avoided.
            (AccountStatement::SetPassword { account, password }, _) => {
                let (user, host) = match account {
                    Some(name) => resolve(name, context)?,
                    None => current.clone(),
                };
                let hash = match password {
                    PasswordSpec::Plain(text) => super::query::stored_hash(text),
                    PasswordSpec::Hash(hash) => hash.clone(),
                };
                let [user, host] = [user, host].map(|name| name.replace('\\', "\\\\").replace('\'', "''"));
                format!("SET PASSWORD FOR '{user}'@'{host}'='{hash}'").into_bytes()
            }
            (_, Some(text)) => text.to_vec(),
            (_, None) => return Err(Error::new(ER_UNKNOWN_ERROR, &[])),
        };
        let changes = changes(
            &before,
            &applied.accounts,
            server.catalog.load().accounts().next().is_none(),
        );
        self.commit_account_changes(changes, &text, applied.failure.as_ref())
            .await?;
        match applied.failure {
            Some(failure) => Err(failure),
            None => Ok(()),
        }
    }

    /// Waits for the lock on account changes. Its holder may wait long for a global read lock; KILL and
    /// `max_statement_time` end this wait.
    async fn wait_for_others_changes<'a>(&self, server: &'a Server) -> Result<MutexGuard<'a, ()>> {
        loop {
            match tokio::time::timeout(LOOK_EVERY, server.changing_accounts.lock()).await {
                Ok(guard) => return Ok(guard),
                Err(_) => self.services.check_interrupt(&self.context)?,
            }
        }
    }

    async fn commit_account_changes(
        &mut self,
        changes: Vec<CatalogChange>,
        text: &[u8],
        failure: Option<&Error>,
    ) -> Result<()> {
        let mut writes = WriteSet::new();
        write_changes(&changes, &mut writes);
        let logged = LoggedStatement::of(self, text).with_failure(failure);
        let query = logged.query_event(None);
        let server = self.server.clone();
        let on_publish = {
            let server = server.clone();
            Box::new(move |version| {
                server
                    .catalog
                    .publish(&changes, version)
                    .expect("records of accounts are put as they are");
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
            gtid: self.services.gtid_choice(),
            replication: super::transaction::replication(&self.context, &self.services),
            metadata_lock_timeout: self.context.settings.metadata_lock_wait_timeout,
        };
        let locks = &self.services.locks;
        let committing = server
            .transactions
            .commit_ddl_where(locks, ddl, || self.check_writable().is_ok());
        let outcome = committing.await;
        let outcome = outcome.map_err(|error| of_transaction(&error))?;
        self.committed(outcome);
        Ok(())
    }

    /// Returns 1227, 1044 or 1045 if the account may not execute the statement.
    fn may_change_accounts(&self, statement: &AccountStatement) -> Result<()> {
        match statement {
            AccountStatement::SetPassword { account: None, .. } => Ok(()),
            AccountStatement::SetPassword {
                account: Some(name), ..
            } => {
                let current = (
                    self.context.current_user.user.as_str(),
                    self.context.current_user.host.as_str(),
                );
                let accounts = self.server.accounts.load();
                let (user, host) = resolve(
                    name,
                    StatementContext {
                        accounts: &accounts,
                        current,
                        database: None,
                        missing_accounts: MissingAccounts::Refused,
                    },
                )?;
                match (user.as_str(), host.as_str()) == current {
                    true => Ok(()),
                    false => self.services.check(
                        &self.context,
                        Privilege::Update,
                        PrivilegeTarget::Database("mysql"),
                    ),
                }
            }
            AccountStatement::Grant { level, .. } | AccountStatement::Revoke { level, .. } => {
                self.may_grant(level, statement)
            }
            _ => self.services.require_any(&[Privilege::CreateUser]),
        }
    }

    /// Returns 1410 or 1044 for a GRANT that sets more than privileges, because that is a CREATE USER or ALTER USER in
    /// disguise. GRANT OPTION is sufficient for the account's own password.
    fn may_specify(&self, statement: &AccountStatement, context: StatementContext<'_>) -> Result<()> {
        let AccountStatement::Grant {
            accounts, options, ..
        } = statement
        else {
            return Ok(());
        };
        let own = self.services.account();
        let may = |privilege| own.global.has(Privilege::CreateUser) || own.may(privilege, "mysql");
        for spec in accounts {
            let (user, host) = resolve(&spec.account, context)?;
            let is_new = context.accounts.get(&user, &host).is_none();
            let is_own = user == context.current.0 && host.eq_ignore_ascii_case(context.current.1);
            let has_password = spec.authentication.is_some();
            if is_new && has_password && !may(Privilege::Insert) {
                return Err(Error::new(ER_CANT_CREATE_USER_WITH_GRANT, &[]));
            }
            let alters = *options != AccountOptions::default() || (has_password && !is_own);
            if !is_new && alters && !may(Privilege::Update) {
                let target = PrivilegeTarget::Database("mysql");
                return self.services.check(&self.context, Privilege::Update, target);
            }
        }
        Ok(())
    }

    /// Checks that the account has the privileges that it grants, and GRANT OPTION.
    fn may_grant(&self, level: &PrivilegeLevel, statement: &AccountStatement) -> Result<()> {
        let account = self.services.account();
        let (held, database) = match level {
            PrivilegeLevel::Global => (account.global, None),
            PrivilegeLevel::Database(name) => {
                let database = name
                    .clone()
                    .or_else(|| self.context.database.clone())
                    .unwrap_or_default();
                (account.privileges_in_all(&database), Some(database))
            }
            PrivilegeLevel::Table(_) | PrivilegeLevel::Routine(_) => return Ok(()),
        };
        let (AccountStatement::Grant { privileges, .. } | AccountStatement::Revoke { privileges, .. }) =
            statement
        else {
            return Ok(());
        };
        let all = match database {
            None => PrivilegeSet::all_global(),
            Some(_) => PrivilegeSet::all_of_database(),
        };
        let mut wanted = PrivilegeSet::NONE.with(Privilege::GrantOption);
        for spec in privileges {
            wanted = match spec.privilege.as_str() {
                "ALL" | "ALL PRIVILEGES" => wanted.union(all),
                name => PrivilegeSet::named(name).map_or(wanted, |privilege| wanted.with(privilege)),
            };
        }
        if held.includes(wanted) {
            return Ok(());
        }
        let user = &self.context.current_user.user;
        let host = &self.context.current_user.host;
        Err(match database {
            Some(database) => Error::new(ER_DBACCESS_DENIED_ERROR, &[user, host, &database]),
            None => Error::new(ER_ACCESS_DENIED_ERROR, &[user, host, &"YES"]),
        })
    }
}

/// Returns the records that differ. With `all`, if no record has been written yet, every account gets one.
pub fn changes(before: &Accounts, after: &Accounts, all: bool) -> Vec<CatalogChange> {
    let mut changes = vec![];
    for account in before.iter() {
        if after.get(&account.user, &account.host).is_none() && !all {
            changes.push(CatalogChange::DropAccount {
                user: account.user.clone(),
                host: account.host.clone(),
            });
        }
    }
    for account in after.iter() {
        if all || before.get(&account.user, &account.host) != Some(account) {
            changes.push(CatalogChange::PutAccount {
                user: account.user.clone(),
                host: account.host.clone(),
                record: account.to_record(),
            });
        }
    }
    changes
}
