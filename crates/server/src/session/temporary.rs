//! The session's temporary tables: what its statements see, and how they come and go.
//!
//! ```text
//!   shared catalog ─▶ TemporaryTables::over ─▶ what names mean in this session
//!   CREATE, ALTER, DROP … ─▶ prepared as any definition ─▶ applied to the session: no lock, no log, no GTID
//!   their rows ─▶ the transaction's own write set for them ─▶ visible to the session's next transaction
//! ```
//!
//! As in MariaDB, CREATE and DROP TEMPORARY TABLE commit nothing and are not undone by a rollback; other definitions commit first, also of temporary
//! tables. What is only about temporary tables needs no privilege but CREATE TEMPORARY TABLES, and is done on a read-only server and under FLUSH
//! TABLES WITH READ LOCK. The log never hears of them: a replica is sent the rows that were read from them, and whole definitions
//! where one was LIKE one of them.

use super::Session;
use super::query::Execution;
use crate::variables::Variable;
use paceline_sql::catalog::{Catalog, FILLED_DATABASE, TableDefinition, TemporaryPlan};
use paceline_sql::parse::definition::CreateTable;
use paceline_sql::parse::{Statement, TableName};
use paceline_sql::{Error, Result};
use paceline_storage::{TemporaryIndex, TemporaryWrites};
use paceline_types::error_code::*;
use std::sync::Arc;

/// `server_id` and `pseudo_thread_id`: as in MariaDB they say whose temporary tables a session sees, so that the text of a log finds those of each session
/// that it comes from.
pub type TemporaryOwner = (u64, u64);

impl Session {
    /// Whose temporary tables the variables mean now.
    pub fn temporary_owner(&self) -> TemporaryOwner {
        let values = self.services.values.lock();
        let number = |variable| values.get(variable).as_u64();
        (number(Variable::ServerId), number(Variable::PseudoThreadId))
    }

    /// The variables were set: the temporary tables in view are no longer those of `before`.
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

    /// The catalog as the session's statements see it.
    #[inline]
    pub fn catalog(&self) -> Arc<Catalog> {
        self.temporary.over(self.server.catalog.load())
    }

    /// Does to the session's temporary tables what a prepared statement asks for: `rows` are those that were built anew.
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

    /// The numbers are free, unless the transaction may have written to them: then when it ends.
    fn release_indexes(&mut self, dropped: Vec<TemporaryIndex>) {
        if let Some(transaction) = self.transaction.get_mut()
            && !dropped.is_empty()
        {
            transaction.drop_temporary_indexes(dropped);
        }
    }

    /// All temporary tables go: the session ends or begins anew. Its transaction has ended.
    pub fn drop_temporary_tables(&mut self) {
        for tables in self.other_temporary.values().chain([&self.temporary]) {
            for table in tables.catalog().tables() {
                self.server.statistics.forget(table);
            }
        }
        self.temporary = self.server.temporary_tables();
        self.other_temporary.clear();
    }

    /// Whether the statement's transaction is, or would be, READ ONLY.
    pub fn is_read_only_transaction(&self) -> bool {
        match self.transaction.is_active() {
            true => self.transaction.is_read_only(),
            false => self.context.settings.transaction_read_only,
        }
    }

    /// 1137 for CREATE OR REPLACE TEMPORARY TABLE … SELECT from the table itself; 1235 for CREATE TABLE … SELECT from a temporary table of the same name.
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

    /// The second half of CREATE TEMPORARY TABLE … SELECT: the rows. They stay whatever becomes of the transaction; the table does not stay without
    /// them. How many there were.
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
                // A transaction of the statement alone is committed already.
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
