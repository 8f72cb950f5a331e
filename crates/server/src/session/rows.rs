//! Rows without SQL, for the program around an embedded server: a session's transaction is lent to
//! [`paceline_table_access`].
//!
//! ```text
//!   begin_read ─▶ metadata lock, definition still current? ─▶ the transaction ─▶ get, scan, lock ─▶ end_read
//!   begin_explicit ─▶ … reads, run_direct … ─▶ commit_explicit, roll_back_explicit
//! ```
//! A read outside an explicit transaction is one of its own, as a SELECT with autocommit is. Reads are statements of
//! the transaction (READ COMMITTED takes a new snapshot for each), but not of the session: they have no text, and
//! count in no statistics of statements. They count in those of indexes.

use super::Session;
use super::direct::DirectStatement;
use crate::errors::of_transaction;
use crate::registry::SessionHandle;
use paceline_catalog::TableDefinition;
use paceline_query::execute::{Outcome, RowSink};
use paceline_query::plan::ResultColumn;
use paceline_syntax::{Error, Result, Statement};
use paceline_txn::{
    AccessMode, InterruptReason, IsolationLevel, Lifetime, MetadataMode, MetadataObject, Transaction,
};
use paceline_types::error_code::*;
use paceline_types::{Gtid, Value, convert::ConvertContext};
use std::sync::Arc;

/// Rows that a statement has returned.
#[derive(Debug, Clone, Default)]
pub struct CollectedRows {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<Value>>,
}

impl RowSink for CollectedRows {
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<()> {
        self.columns = columns.iter().map(|column| column.name.to_string()).collect();
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        self.rows.push(row.to_vec());
        Ok(())
    }
}

/// Whether a definition is still that of its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Currency {
    /// It is.
    Current,
    /// The table was altered, or created again: it must be looked up again.
    Outdated,
}

impl Session {
    /// Returns the definition of a table, also of a temporary one of the session.
    ///
    /// # Errors
    /// 1146; 1347 for a view.
    pub(crate) fn table_definition(&self, database: &str, name: &str) -> Result<Arc<TableDefinition>> {
        let catalog = self.state.temporary.tables.over(self.state.server.catalog.load());
        if let Some(definition) = catalog.table(database, name) {
            return Ok(definition.clone());
        }
        match catalog.view(database, name) {
            Some(_) => Err(Error::new(ER_WRONG_OBJECT, &[&database, &name, &"BASE TABLE"])),
            None => Err(Error::new(ER_NO_SUCH_TABLE, &[&database, &name])),
        }
    }

    /// Begins a read: enters the session's transaction, or begins one, and locks the definition in it.
    ///
    /// # Errors
    /// Those of KILL and of the transaction; 1192 under LOCK TABLES; 1412 for a table that is newer than the
    /// transaction's snapshot.
    pub(crate) fn begin_read(&mut self, definition: &TableDefinition) -> Result<Currency> {
        self.check_alive()?;
        let state = &mut self.state;
        if state.table_locks.has_tables() {
            return Err(Error::new(ER_LOCK_OR_ACTIVE_TRANSACTION, &[]));
        }
        state
            .services
            .set_deadline(state.context.settings.max_statement_time);
        state.services.await_gtid()?;
        state.services.await_new_reads(&mut state.context.diagnostics)?;
        state.uses_tables = true;
        state.enter_transaction();
        let (database, name) = (definition.database(), definition.name());
        if !definition.is_temporary() {
            let object = MetadataObject::Table {
                database,
                table: name,
            };
            let locked = state
                .transaction
                .running()?
                .lock_metadata(object, MetadataMode::Read);
            locked.map_err(|error| of_transaction(&error))?;
        }
        let is_current = match definition.is_temporary() {
            false => {
                let catalog = state.server.catalog.load();
                let now = catalog.table(database, name);
                now.is_some_and(|now| now.version() == definition.version())
                    && (state.temporary.tables.catalog().is_empty()
                        || state.temporary.tables.catalog().table(database, name).is_none())
            }
            true => {
                let now = state.temporary.tables.catalog().table(database, name);
                now.is_some_and(|now| now.version() == definition.version())
            }
        };
        if !is_current {
            return Ok(Currency::Outdated);
        }
        let transaction = state.transaction.running()?;
        let snapshot = transaction.snapshot_version();
        if snapshot.is_some_and(|snapshot| definition.version() > snapshot) {
            return Err(Error::new(ER_TABLE_DEF_CHANGED, &[]));
        }
        // Reads have nothing to undo and nothing to log: the statement only decides about the snapshot.
        let begun = transaction.begin_statement(None, 0);
        begun
            .and_then(|()| transaction.end_statement())
            .map_err(|error| of_transaction(&error))?;
        Ok(Currency::Current)
    }

    /// Returns the transaction of the read that has begun, and the settings for conversions of its keys.
    ///
    /// # Errors
    /// 1105 without one.
    pub(crate) fn reading(&mut self) -> Result<(&mut Transaction, ConvertContext<'_>)> {
        let context = &self.state.context;
        let settings = &context.settings;
        let conversion = ConvertContext {
            date_modes: settings.date_modes(),
            time_zone: &settings.time_zone,
            now: settings.time_zone.to_local(context.statement.start_seconds()),
        };
        Ok((self.state.transaction.running()?, conversion))
    }

    /// Ends a read that has succeeded: a transaction of its own is over, and what was read under lock is published.
    ///
    /// # Errors
    /// Those of the commit.
    pub(crate) async fn end_read(&mut self) -> Result<()> {
        self.state.leave_statement().await
    }

    /// Ends a read that has failed.
    pub(crate) fn abandon_read(&mut self) {
        self.state.abort_statement();
    }

    /// Begins a transaction that lasts until it is committed or rolled back. One that is open is committed, as by
    /// BEGIN.
    ///
    /// # Errors
    /// Those of that commit, and of KILL.
    pub(crate) async fn begin_explicit(
        &mut self,
        isolation: Option<IsolationLevel>,
        access: Option<AccessMode>,
    ) -> Result<()> {
        self.check_alive()?;
        self.state.commit().await?;
        let mut options = self.state.transaction_options(Lifetime::Explicit, access);
        options.isolation = isolation.unwrap_or(options.isolation);
        let state = &mut self.state;
        let mut transaction = state.server.transactions.begin(&state.services.locks, options);
        state.mark_serial(&mut transaction);
        state.open_transaction(transaction);
        Ok(())
    }

    /// Commits the explicit transaction. Returns its GTID; `None` if it has changed nothing.
    ///
    /// # Errors
    /// 1213 if an error has rolled it back, or SQL has ended it; those of the commit.
    pub(crate) async fn commit_explicit(&mut self) -> Result<Option<Gtid>> {
        if !self.state.transaction.is_open() {
            self.state.roll_back();
            return Err(Error::new(ER_LOCK_DEADLOCK, &[]));
        }
        let has_writes = self.state.transaction.has_writes();
        self.state.commit().await?;
        let last = self.state.services.transaction.lock().last_gtid;
        Ok(last.filter(|_| has_writes))
    }

    /// Rolls the explicit transaction back, if it is open.
    pub(crate) fn roll_back_explicit(&mut self) {
        self.state.roll_back();
        self.rest();
    }

    /// Executes a text that is one statement.
    ///
    /// # Errors
    /// Those of the statement; 1295 for one of a kind whose rows cannot be collected: SHOW, EXPLAIN, CALL and others.
    pub(crate) async fn execute_collected(
        &mut self,
        text: &str,
        parameters: &[Value],
    ) -> Result<(CollectedRows, Outcome)> {
        self.check_alive()?;
        let mut prepared = self.prepare_direct(text)?;
        if !prepared.is_planned() && !sends_no_rows(prepared.statement()) {
            return Err(Error::new(ER_UNSUPPORTED_PS, &[]));
        }
        self.run_direct(&mut prepared, parameters).await
    }

    /// Prepares a statement for the changes of one table's rows.
    ///
    /// # Errors
    /// Those of COM_STMT_PREPARE.
    pub(crate) fn prepare_change(&mut self, text: &str) -> Result<DirectStatement> {
        self.check_alive()?;
        self.prepare_direct(text)
    }

    /// Returns the database of the session (`USE`).
    pub(crate) fn database(&self) -> Option<&str> {
        self.state.context.database.as_deref()
    }

    /// Returns the part of the session that other threads can access.
    pub(crate) fn handle(&self) -> &Arc<SessionHandle> {
        &self.state.shared
    }

    fn check_alive(&self) -> Result<()> {
        let interrupt = &self.state.shared.interrupt;
        match interrupt.raised() {
            None => Ok(()),
            Some(InterruptReason::Connection) => Err(Error::new(ER_CONNECTION_KILLED, &[])),
            Some(InterruptReason::Shutdown) => Err(Error::new(ER_SERVER_SHUTDOWN, &[])),
            Some(_) => {
                interrupt.clear_query();
                Ok(())
            }
        }
    }
}

/// Returns whether a statement without a plan never returns rows.
fn sends_no_rows(statement: &Statement) -> bool {
    matches!(
        statement,
        Statement::Empty
            | Statement::Query(_)
            | Statement::Insert(_)
            | Statement::Update(_)
            | Statement::Delete(_)
            | Statement::LoadData(_)
            | Statement::Set(_)
            | Statement::Transaction(_)
            | Statement::Use(_)
            | Statement::Ddl(_)
            | Statement::Signal(_)
            | Statement::Account(_)
            | Statement::Kill(_)
            | Statement::Flush { .. }
            | Statement::Purge(_)
            | Statement::Reset(_)
            | Statement::LockTables(_)
            | Statement::UnlockTables
            | Statement::Replication(_)
            | Statement::Plugin(_)
            | Statement::Shutdown
    )
}
