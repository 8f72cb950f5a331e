//! A session's temporary tables: their visibility, creation and removal.
//!
//! ```text
//!   shared catalog ─▶ TemporaryTables::over ─▶ the session's catalog
//!   CREATE, ALTER, DROP … ─▶ prepared like any DDL ─▶ applied to the session: no lock, no log, no GTID
//!   their rows ─▶ a separate write set of the transaction ─▶ visible to the session's next transaction
//! ```
//!
//! As in MariaDB, CREATE and DROP TEMPORARY TABLE do not commit and are not undone by a rollback. Other DDL commits
//! first, even on temporary tables. Statements that use only temporary tables need only the privilege CREATE TEMPORARY
//! TABLES, and are executed on a read-only server and under FLUSH TABLES WITH READ LOCK. They are never logged: a
//! replica receives the rows that were read from temporary tables, and a complete definition instead of one LIKE a
//! temporary table.

use super::services::SessionServices;
use super::state::SessionState;
use super::temporary_tables::TemporaryOwner;
use crate::accounts::checks::{DefinitionCatalogs, check_definition};
use crate::server::Server;
use crate::variables::Variable;
use paceline_catalog::ddl::{DdlInput, SelectedColumn, prepare_ddl};
use paceline_catalog::{TableDefinition, TemporaryPlan, TemporaryTables};
use paceline_expression::session::SessionContext;
use paceline_storage::{TemporaryIndex, TemporaryWrites};
use paceline_syntax::{DdlStatement, Error, Result};
use paceline_txn::Transaction;
use paceline_types::AccessMode;
use paceline_types::error_code::ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION;
use std::sync::Arc;

/// Changes a session's temporary tables. `rows` are the rows of a rebuilt table. Returns the indexes that no table uses
/// any more.
pub(super) fn change_tables(
    tables: &mut TemporaryTables,
    plan: TemporaryPlan,
    rows: Option<TemporaryWrites>,
    server: &Server,
) -> Result<Vec<TemporaryIndex>> {
    let before = tables.catalog().clone();
    let dropped = tables.apply(plan, server.catalog.load())?;
    if let Some(rows) = rows {
        rows.apply();
    }
    let now = tables.catalog();
    for table in before.tables() {
        let stays = |now: &&Arc<TableDefinition>| Arc::ptr_eq(now, table);
        if now.table(table.database(), table.name()).filter(stays).is_none() {
            server.statistics.forget(table);
        }
    }
    Ok(dropped)
}

impl SessionState {
    /// Returns the owner selected by the variables' current values.
    pub(super) fn temporary_owner(&self) -> TemporaryOwner {
        let values = self.services.values.lock();
        (
            values.get(Variable::ServerId).as_u64(),
            self.context.connection_id,
        )
    }

    /// Switches the temporary tables after the variables were set. `before` is the owner whose tables are active.
    pub(super) fn choose_temporary_tables(&mut self, before: TemporaryOwner) {
        let now = self.temporary_owner();
        self.temporary.switch(&self.server, before, now);
    }

    /// Applies a prepared statement to the session's temporary tables. `rows` are the rows of a rebuilt table.
    pub(super) fn apply_temporary(
        &mut self,
        plan: TemporaryPlan,
        rows: Option<TemporaryWrites>,
    ) -> Result<()> {
        if plan.is_empty() {
            return Ok(());
        }
        let dropped = change_tables(&mut self.temporary.tables, plan, rows, &self.server)?;
        self.release_indexes(dropped);
        Ok(())
    }

    /// Releases the index numbers. If the transaction may have written to them, they are released at its end.
    pub(super) fn release_indexes(&mut self, dropped: Vec<TemporaryIndex>) {
        if let Some(transaction) = self.transaction.get_mut()
            && !dropped.is_empty()
        {
            transaction.drop_temporary_indexes(dropped);
        }
    }

    /// Drops all temporary tables when the session ends or is reset. Its transaction has ended.
    pub(super) fn drop_temporary_tables(&mut self) {
        self.temporary.clear(&self.server);
    }
}

/// A statement that creates or drops temporary tables within another one.
pub struct TemporaryDefinition<'d> {
    pub ddl: &'d DdlStatement,
    /// Columns of the query of CREATE … SELECT.
    pub selected: Option<&'d [SelectedColumn]>,
}

/// Creates or drops temporary tables within a statement: in a function or trigger. Returns database and name of a table
/// that the query of CREATE … SELECT has to fill.
///
/// # Errors
/// The errors of the privilege checks and of the plan.
pub fn define_within_statement(
    TemporaryDefinition { ddl, selected }: TemporaryDefinition<'_>,
    tables: &mut TemporaryTables,
    services: &SessionServices,
    transaction: &mut Transaction,
    context: &mut SessionContext,
) -> Result<Option<(String, String)>> {
    let server = &services.server;
    check_definition(
        services.authority(context),
        ddl,
        &DefinitionCatalogs {
            temporary: tables.catalog(),
            visible: &tables.over(server.catalog.load()),
        },
    )?;
    if transaction.options().access == AccessMode::ReadOnly {
        return Err(Error::new(ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, &[]));
    }
    let snapshot = server.transactions.snapshot();
    let input = DdlInput {
        catalog: &server.catalog,
        storage: server.transactions.storage(),
        snapshot: &snapshot,
        marks: &server.transactions.mark_state(),
        default_engine: services.default_engine(),
        select_columns: selected,
        temporary: Some(tables),
    };
    let mut prepared = prepare_ddl(input, context, ddl)?;
    let plan = std::mem::take(&mut prepared.plan.temporary);
    let rows = prepared.temporary_writes.take();
    let database = context.database.as_deref().unwrap_or_default();
    let fill = prepared.plan.fill.take().map(|table| {
        let database = table.database.unwrap_or_else(|| database.to_owned());
        (database, table.name)
    });
    if !plan.is_empty() {
        let dropped = change_tables(tables, plan, rows, server)?;
        transaction.drop_temporary_indexes(dropped);
    }
    match prepared.plan.failure.take() {
        Some(failure) => Err(failure),
        None => Ok(fill),
    }
}
