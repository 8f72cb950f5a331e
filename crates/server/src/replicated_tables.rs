//! Temporary tables of a primary's sessions whose statements are replicated as text.

use paceline_catalog::TemporaryTables;
use paceline_types::ServerId;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// A session on a primary: the server, and the connection's id there.
pub type PrimarySession = (ServerId, u32);

/// Temporary tables of sessions on primaries, by the connection that replicated them. As in MariaDB they survive STOP
/// SLAVE. They are dropped when the primary's log says so, when the primary has restarted, by RESET SLAVE, and when
/// this server stops.
#[derive(Default)]
pub struct ReplicatedTables {
    connections: Mutex<HashMap<Arc<str>, HashMap<PrimarySession, TemporaryTables>>>,
}

impl ReplicatedTables {
    /// Returns the value of `Slave_open_temp_tables`.
    pub fn count(&self) -> usize {
        let connections = self.connections.lock();
        let sessions = connections.values().flat_map(HashMap::values);
        sessions.map(|tables| tables.catalog().tables().count()).sum()
    }

    /// Drops the tables that were replicated through a connection.
    pub fn forget(&self, connection: &str) {
        let is_other = |name: &Arc<str>| !name.eq_ignore_ascii_case(connection);
        self.connections.lock().retain(|name, _| is_other(name));
    }

    /// Removes and returns the tables of a primary's session, for the execution of its next statement.
    pub fn take(&self, connection: &str, session: PrimarySession) -> Option<TemporaryTables> {
        self.connections.lock().get_mut(connection)?.remove(&session)
    }

    /// Ends a transaction: its changes of the definitions of a session's tables are kept or undone.
    pub fn end(&self, connection: &str, session: PrimarySession, end: TransactionEnd) {
        let mut connections = self.connections.lock();
        let Some(sessions) = connections.get_mut(connection) else {
            return;
        };
        if let Some(tables) = sessions.get_mut(&session) {
            match end {
                TransactionEnd::Committed => tables.keep_definitions(),
                TransactionEnd::GivenUp => tables.undo_definitions(),
            }
            if tables.is_nothing() {
                sessions.remove(&session);
            }
        }
    }

    /// Stores the tables until the session's next statement.
    pub fn keep(&self, connection: &Arc<str>, session: PrimarySession, tables: TemporaryTables) {
        let mut connections = self.connections.lock();
        connections
            .entry(connection.clone())
            .or_default()
            .insert(session, tables);
    }
}

/// Outcome of a primary's transaction on this server.
#[derive(Clone, Copy)]
pub enum TransactionEnd {
    /// Its changes are kept.
    Committed,
    /// It was given up and will be received again.
    GivenUp,
}
