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

use super::state::SessionState;
use super::temporary_tables::TemporaryOwner;
use crate::variables::Variable;
use paceline_catalog::{TableDefinition, TemporaryPlan};
use paceline_storage::{TemporaryIndex, TemporaryWrites};
use paceline_syntax::Result;
use std::sync::Arc;

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
        let before = self.temporary.catalog().clone();
        let dropped = self.temporary.tables.apply(plan, self.server.catalog.load())?;
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
