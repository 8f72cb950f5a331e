//! Events of a session for the audit log.

use super::Session;
use super::state::SessionState;
use crate::audit_log::{AuditedSession, AuditedTable, ConnectionEvent, TABLES_MAX, TableOperation};
use paceline_query::plan::Plan;
use paceline_syntax::definition::DdlStatement;
use paceline_syntax::{Result, TableName};
use std::sync::Arc;

impl Session {
    /// Logs an event of the connection. `user` is the name that the client gave.
    pub(super) fn audit_connection(&self, user: &str, event: ConnectionEvent, error: u16) {
        let session = AuditedSession {
            user,
            host: &self.client.name,
            ..self.state.audited()
        };
        self.state.server.audit_log.connection(session, event, error);
    }
}

impl SessionState {
    fn audited(&self) -> AuditedSession<'_> {
        AuditedSession {
            connection_id: u64::from(self.shared.id),
            user: &self.context.user.user,
            host: &self.context.user.host,
            database: self.context.database.as_deref().unwrap_or_default(),
        }
    }

    /// Logs a statement that has ended.
    #[cold]
    pub(super) fn audit_statement(&mut self, text: &[u8], done: &Result<()>) {
        let tables = std::mem::take(&mut self.audited_tables);
        let error = done.as_ref().err().map_or(0, |error| error.code().number());
        let sql_mode = self.context.settings.sql_mode;
        self.server
            .audit_log
            .statement(self.audited(), text, sql_mode, &tables, error);
    }

    /// Notes the tables of a plan that is about to be executed.
    #[inline]
    pub(super) fn audit_plan(&mut self, plan: &Plan) {
        if self.server.audit_log.is_on() {
            self.note_tables(plan);
        }
    }

    #[cold]
    fn note_tables(&mut self, plan: &Plan) {
        for table in plan.tables() {
            let usage = table.usage;
            let writes = usage.insert || usage.update || usage.delete;
            if usage.queried || !writes {
                self.note_table(TableOperation::Read, table.database.clone(), table.name.clone());
            }
            if writes {
                self.note_table(TableOperation::Write, table.database.clone(), table.name.clone());
            }
        }
    }

    /// Notes the tables that a statement defines.
    pub(super) fn audit_definition(&mut self, ddl: &DdlStatement) {
        if !self.server.audit_log.is_on() {
            return;
        }
        let mut note = |operation, table: &TableName| {
            let database = table.database.as_deref().or(self.context.database.as_deref());
            let database: Arc<str> = database.unwrap_or_default().into();
            self.note_table(operation, database, table.name.as_str().into());
        };
        match ddl {
            DdlStatement::CreateTable(create) => note(TableOperation::Create, &create.name),
            DdlStatement::AlterTable(alter) => note(TableOperation::Alter, &alter.table),
            DdlStatement::TruncateTable(table) => note(TableOperation::Write, table),
            DdlStatement::DropTables { tables, .. } => {
                tables.iter().for_each(|table| note(TableOperation::Drop, table));
            }
            DdlStatement::RenameTables { renames, .. } => {
                renames
                    .iter()
                    .for_each(|(table, _)| note(TableOperation::Rename, table));
            }
            _ => {}
        }
    }

    fn note_table(&mut self, operation: TableOperation, database: Arc<str>, name: Arc<str>) {
        let table = AuditedTable {
            operation,
            database,
            name,
        };
        if self.audited_tables.len() < TABLES_MAX && !self.audited_tables.contains(&table) {
            self.audited_tables.push(table);
        }
    }
}
