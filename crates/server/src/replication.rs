//! The environment of the server's connections to primaries: their settings and appliers.

use crate::replication_options::{applier_options, options};
use crate::server::Server;
use crate::session::replicated::ReplicatedSessions;
use paceline_apply::replicated::NoFilter;
use paceline_log_stream::source::options::ReplicaOptions;
use paceline_log_stream::source::password::PasswordKey;
use paceline_replication::apply::{Applier, ApplierParts, KeptPosition};
use paceline_replication::environment::Environment;
use paceline_txn::TransactionManager;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

/// Environment of the server's connections.
pub struct ServerEnvironment {
    server: Weak<Server>,
    transactions: Arc<TransactionManager>,
    password_key: PasswordKey,
}

impl ServerEnvironment {
    /// Creates the environment for the server on this data directory. The server may not be fully built yet.
    pub fn new(server: Weak<Server>, transactions: Arc<TransactionManager>, directory: &Path) -> Self {
        ServerEnvironment {
            server,
            transactions,
            password_key: PasswordKey::in_directory(directory),
        }
    }

    fn server(&self) -> Arc<Server> {
        self.server
            .upgrade()
            .expect("connections end before their server")
    }
}

impl Environment for ServerEnvironment {
    fn transactions(&self) -> &Arc<TransactionManager> {
        &self.transactions
    }

    fn password_key(&self) -> &PasswordKey {
        &self.password_key
    }

    fn options(&self, connection: &str) -> ReplicaOptions {
        options(&self.server(), connection)
    }

    fn new_thread_id(&self) -> u32 {
        let connections = &self.server().counters.connections;
        (connections.fetch_add(1, Ordering::Relaxed) + 1) as u32
    }

    fn start_applier(&self, connection: &Arc<str>, position: KeptPosition) -> Applier {
        let server = self.server();
        Applier::start(ApplierParts {
            connection: connection.clone(),
            manager: self.transactions.clone(),
            catalog: server.catalog.clone(),
            index_statistics: server.statistics.clone(),
            // The receiver has already applied the filters.
            filter: Arc::new(NoFilter),
            options: applier_options(&server, position),
            statement_counts: server.sessions.replicated_statements(),
            statements: Arc::new(ReplicatedSessions::new(server, connection.clone())),
        })
    }
}
