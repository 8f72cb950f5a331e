//! The temporary tables of a session.

use crate::server::Server;
use paceline_catalog::{TemporaryCatalog, TemporaryTables};
use std::collections::HashMap;
use std::sync::Arc;

/// Values of `server_id` and `pseudo_thread_id`. As in MariaDB they select the temporary tables of a session, so that
/// the text of a log finds the tables of each original session.
pub type TemporaryOwner = (u64, u64);

/// Temporary tables of one session.
pub struct SessionTemporaryTables {
    /// Visible tables.
    pub(super) tables: TemporaryTables,
    /// Tables for other values of `pseudo_thread_id` and `server_id`.
    others: HashMap<TemporaryOwner, TemporaryTables>,
}

impl SessionTemporaryTables {
    /// Returns the temporary tables of a new session: none.
    pub fn new(server: &Server) -> Self {
        SessionTemporaryTables {
            tables: server.temporary_tables(),
            others: HashMap::new(),
        }
    }

    /// Returns the definitions of the visible temporary tables.
    pub fn catalog(&self) -> &Arc<TemporaryCatalog> {
        self.tables.catalog()
    }

    /// Makes the tables of one owner visible instead of those of another.
    pub(super) fn switch(&mut self, server: &Server, from: TemporaryOwner, to: TemporaryOwner) {
        if from == to {
            return;
        }
        let tables = self.others.remove(&to);
        let tables = tables.unwrap_or_else(|| server.temporary_tables());
        let hidden = std::mem::replace(&mut self.tables, tables);
        if !hidden.catalog().is_empty() {
            self.others.insert(from, hidden);
        }
    }

    /// Drops all tables.
    pub(super) fn clear(&mut self, server: &Server) {
        for tables in self.others.values().chain([&self.tables]) {
            for table in tables.catalog().tables() {
                server.statistics.forget(table);
            }
        }
        *self = SessionTemporaryTables::new(server);
    }
}
