//! The temporary tables of a primary's sessions, whose statements are replicated as text.

use paceline_sql::catalog::TemporaryTables;
use paceline_types::ServerId;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// A session on a primary: its server and its connection's id there.
pub type PrimarySession = (ServerId, u32);

/// The temporary tables of the primaries' sessions, by the connection that they came through. As in MariaDB they outlast STOP SLAVE; they go when the
/// primary's log says that they do, when it has started anew, with RESET SLAVE, and with this server.
#[derive(Default)]
pub struct ReplicatedTables {
    connections: Mutex<HashMap<Arc<str>, HashMap<PrimarySession, TemporaryTables>>>,
}

impl ReplicatedTables {
    /// `Slave_open_temp_tables`.
    pub fn count(&self) -> usize {
        let connections = self.connections.lock();
        let sessions = connections.values().flat_map(HashMap::values);
        sessions.map(|tables| tables.catalog().tables().count()).sum()
    }

    /// Those that came through a connection go.
    pub fn forget(&self, connection: &str) {
        let is_other = |name: &Arc<str>| !name.eq_ignore_ascii_case(connection);
        self.connections.lock().retain(|name, _| is_other(name));
    }

    /// Those of a session of a primary are in the hands of who runs its statement.
    pub fn take(&self, connection: &str, session: PrimarySession) -> Option<TemporaryTables> {
        self.connections.lock().get_mut(connection)?.remove(&session)
    }

    /// A transaction has ended: what it did to the definitions of a session's tables stays, or is undone.
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

    /// Until its next statement.
    pub fn keep(&self, connection: &Arc<str>, session: PrimarySession, tables: TemporaryTables) {
        let mut connections = self.connections.lock();
        connections
            .entry(connection.clone())
            .or_default()
            .insert(session, tables);
    }
}

/// How a primary's transaction has ended here.
#[derive(Clone, Copy)]
pub enum TransactionEnd {
    /// Its changes stay.
    Committed,
    /// It comes again.
    GivenUp,
}
