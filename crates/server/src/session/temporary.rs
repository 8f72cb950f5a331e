//! A session's temporary tables: their visibility, creation and removal.
//!
//! ```text
//!   shared catalog ─▶ TemporaryTables::over ─▶ the session's catalog
//!   CREATE, ALTER, DROP … ─▶ prepared like any DDL ─▶ applied to the session: no lock, no log, no GTID
//!   their rows ─▶ a separate write set of the transaction ─▶ visible to the session's next transaction
//! ```
//!
//! As in MariaDB, CREATE and DROP TEMPORARY TABLE do not commit and are not undone by a rollback; other DDL commits
//! first, also on temporary tables. Statements on temporary tables alone need only the privilege CREATE TEMPORARY
//! TABLES, and are executed on a read-only server and under FLUSH TABLES WITH READ LOCK. They are never logged: a
//! replica gets the rows that were read from temporary tables, and a complete definition instead of one LIKE a
//! temporary table.

use super::Session;
use super::query::Execution;
use crate::variables::Variable;
use paceline_catalog::{Catalog, FILLED_DATABASE, TableDefinition, TemporaryPlan};
use paceline_storage::{TemporaryIndex, TemporaryWrites};
use paceline_syntax::definition::CreateTable;
use paceline_syntax::{Error, Result};
use paceline_syntax::{Statement, TableName};
use paceline_types::error_code::*;
use std::sync::Arc;

/// Values of `server_id` and `pseudo_thread_id`. As in MariaDB they select the temporary tables of a session, so that
/// the text of a log finds those of each original session.
pub type TemporaryOwner = (u64, u64);

impl Session {
    /// Returns the owner selected by the variables' current values.
    pub fn temporary_owner(&self) -> TemporaryOwner {
        let values = self.services.values.lock();
        (
            values.get(Variable::ServerId).as_u64(),
            self.context.connection_id,
        )
    }

    /// Switches the temporary tables after the variables were set. `before` is the owner whose tables are active.
    pub fn choose_temporary_tables(&mut self, before: TemporaryOwner) {
        let now = self.temporary_owner();
        if now == before {
            return;
        }
        let tables = self.other_temporary.remove(&now);
        let tables = tables.unwrap_or_else(|| self.server.temporary_tables());
        let hidden = std::mem::replace(&mut self.temporary, tables);
        if !hidden.catalog().is_empty() {
            self.other_temporary.insert(before, hidden);
        }
    }

    /// Returns the catalog as the session's statements see it.
    #[inline]
    pub fn catalog(&self) -> Arc<Catalog> {
        self.temporary.over(self.server.catalog.load())
    }

    /// Applies a prepared statement to the session's temporary tables. `rows` are those of a rebuilt table.
    pub fn apply_temporary(&mut self, plan: TemporaryPlan, rows: Option<TemporaryWrites>) -> Result<()> {
        if plan.is_empty() {
            return Ok(());
        }
        let before = self.temporary.catalog().clone();
        let dropped = self.temporary.apply(plan, self.server.catalog.load())?;
        if let Some(rows) = rows {
            rows.apply();
        }
        let now = self.temporary.catalog().clone();
        for table in before.tables() {
            let stays = |now: &&Arc<TableDefinition>| Arc::ptr_eq(now, table);
            if now.table(table.database(), table.name()).filter(stays).is_none() {
                self.server.statistics.forget(table);
            }
        }
        self.release_indexes(dropped);
        Ok(())
    }

    /// Releases the index numbers. If the transaction may have written to them, they are released at its end.
    fn release_indexes(&mut self, dropped: Vec<TemporaryIndex>) {
        if let Some(transaction) = self.transaction.get_mut()
            && !dropped.is_empty()
        {
            transaction.drop_temporary_indexes(dropped);
        }
    }

    /// Drops all temporary tables when the session ends or is reset. Its transaction has ended.
    pub fn drop_temporary_tables(&mut self) {
        for tables in self.other_temporary.values().chain([&self.temporary]) {
            for table in tables.catalog().tables() {
                self.server.statistics.forget(table);
            }
        }
        self.temporary = self.server.temporary_tables();
        self.other_temporary.clear();
    }

    /// Returns whether the statement's transaction is, or would be, READ ONLY.
    pub fn is_read_only_transaction(&self) -> bool {
        match self.transaction.is_active() {
            true => self.transaction.is_read_only(),
            false => self.context.settings.transaction_read_only,
        }
    }

    /// Returns 1137 for CREATE OR REPLACE TEMPORARY TABLE … SELECT from the table itself; 1235 for CREATE TABLE …
    /// SELECT from a temporary table of the same name.
    pub fn check_select_source(&self, create: &CreateTable) -> Result<()> {
        let Some(select) = create.select() else {
            return Ok(());
        };
        let (database, name) = self.qualified(&create.name)?;
        let Some(hidden_by) = self.temporary.catalog().table(&database, &name).cloned() else {
            return Ok(());
        };
        let plan = self.plan(&Statement::Query(Box::new(select.query.clone())))?;
        let is_read = plan.tables().iter().any(|table| {
            let definition = table.definition.as_ref();
            definition.is_some_and(|definition| Arc::ptr_eq(definition, &hidden_by))
        });
        match (is_read, create.temporary) {
            (true, true) if create.or_replace => Err(Error::new(ER_CANT_REOPEN_TABLE, &[&name])),
            (true, false) => Err(Error::unsupported(
                "CREATE TABLE … SELECT from a temporary table of the same name",
            )),
            _ => Ok(()),
        }
    }

    /// Executes the second half of CREATE TEMPORARY TABLE … SELECT: inserts the rows. They stay even if the transaction
    /// is rolled back; without them the table is dropped. Returns their number.
    pub async fn fill_temporary_table(
        &mut self,
        table: TableName,
        create: &CreateTable,
        execution: Execution<'_>,
    ) -> Result<u64> {
        let (database, name) = self.qualified(&table)?;
        self.temporary.begin_fill(&database, &name);
        self.enter_transaction();
        let mark = self
            .transaction
            .get_mut()
            .map(|transaction| transaction.temporary_mark());
        let filled = self
            .insert_selected(TableName::qualified(FILLED_DATABASE, &name), create, execution)
            .await;
        match filled {
            Ok(rows) => {
                // A single-statement transaction is already committed.
                if let (Some(transaction), Some(mark)) = (self.transaction.get_mut(), mark) {
                    transaction.keep_temporary_since(mark);
                }
                self.temporary.end_fill(&database, &name);
                Ok(rows)
            }
            Err(error) => {
                let dropped = self.temporary.abandon_fill(&name);
                self.release_indexes(dropped);
                Err(error)
            }
        }
    }
}
