//! Values of the server at one moment.

use crate::cluster::ClusterStatistics;
use crate::memory;
use crate::registry::SessionHandle;
use crate::server::Server;
use crate::status::Counters;
use crate::variables::Variable;
use paceline_log_stream::primary::semi_sync::SemiSyncStatus;
use paceline_replication::connection::ConnectionStatus;
use paceline_storage::StorageStatistics;
use paceline_txn::Status;
use paceline_types::Version;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Values at one moment, from which the readers of the table take theirs.
pub struct Sample {
    /// The server.
    pub server: Arc<Server>,
    /// Sums of the counters of all sessions.
    pub totals: Counters,
    /// The session whose values are shown instead of the server's, where there are both.
    session: Option<Arc<SessionHandle>>,
    /// Transactions, locks and the log.
    pub transactions: Status,
    /// The engines.
    pub storage: StorageStatistics,
    /// Semi-sync on the primary's side.
    pub semi_sync: SemiSyncStatus,
    /// The cluster.
    pub cluster: ClusterStatistics,
    /// Connections to primaries.
    pub connections: Vec<ConnectionStatus>,
    /// Name of the connection whose values have no name of their own.
    default_connection: String,
    /// `Binlog_snapshot_file` and `Binlog_snapshot_position`.
    pub snapshot: (String, u64),
    /// `Ssl_…`.
    tls: Vec<(String, String)>,
    /// Whether the session's packets are compressed.
    pub is_compressed: bool,
}

/// The session that asks.
pub struct SessionView<'a> {
    /// The session.
    pub session: &'a Arc<SessionHandle>,
    /// Whether its values are shown instead of the server's, where there are both.
    pub own_values: bool,
    /// Name of its default connection to a primary.
    pub default_connection: String,
    /// Its consistent snapshot.
    pub snapshot: Option<Version>,
}

impl Sample {
    /// Takes the values of the whole server.
    pub fn of_server(server: &Arc<Server>) -> Sample {
        let published = server.transactions.positions().published;
        Sample::take(server, None, String::new(), published)
    }

    /// Takes the values as a session sees them.
    pub fn of_session(server: &Arc<Server>, view: SessionView<'_>) -> Sample {
        let published = || server.transactions.positions().published;
        let snapshot = view.snapshot.unwrap_or_else(published);
        let own = view.own_values.then(|| view.session.clone());
        let mut sample = Sample::take(server, own, view.default_connection, snapshot);
        sample.tls = server.tls.status(view.session.tls.get());
        sample.is_compressed = view.session.is_compressed.load(Ordering::Relaxed);
        sample
    }

    fn take(
        server: &Arc<Server>,
        session: Option<Arc<SessionHandle>>,
        default_connection: String,
        snapshot: Version,
    ) -> Sample {
        let transactions = &server.transactions;
        let connections = server.replicas().all();
        Sample {
            totals: server.sessions.totals(),
            session,
            transactions: transactions.status(),
            storage: transactions.storage().statistics(),
            cluster: server
                .cluster
                .as_deref()
                .map(ClusterStatistics::of)
                .unwrap_or_default(),
            semi_sync: server.primary.semi_sync().status(),
            connections: connections.iter().map(|connection| connection.status()).collect(),
            default_connection,
            snapshot: transactions.coordinates(snapshot).unwrap_or_default(),
            tls: server.tls.status(None),
            is_compressed: false,
            server: server.clone(),
        }
    }

    /// Returns the counters of the session, or their sums.
    pub fn counters(&self) -> &Counters {
        self.session
            .as_ref()
            .map_or(&self.totals, |session| &session.counters)
    }

    /// Returns the status of the session's default connection to a primary.
    pub fn own_connection(&self) -> Option<&ConnectionStatus> {
        let is_own = |status: &&ConnectionStatus| *status.name == *self.default_connection;
        self.connections.iter().find(is_own)
    }

    /// Returns the memory of the session, or of the process, in bytes.
    pub fn memory_used(&self) -> u64 {
        match &self.session {
            Some(session) => session.memory_use().total(),
            None => memory::resident().anonymous,
        }
    }

    /// Returns the most memory that the session has had, or the most of all living sessions, in bytes.
    pub fn memory_used_max(&self) -> u64 {
        match &self.session {
            Some(session) => session.memory_use_max(),
            None => {
                let sessions = self.server.sessions.all();
                let most = sessions.iter().map(|session| session.memory_use_max());
                most.max().unwrap_or(0)
            }
        }
    }

    /// Returns a value of `Ssl_…`; an empty text if there is none.
    pub fn tls(&self, name: &str) -> &str {
        let found = self.tls.iter().find(|(other, _)| other == name);
        found.map_or("", |(_, value)| value)
    }

    /// Returns the sum of a number of all connections to primaries.
    pub fn sum_of_connections(&self, number: impl Fn(&ConnectionStatus) -> u64) -> u64 {
        self.connections.iter().map(number).sum()
    }

    /// Returns the heartbeat period of the default connection, in seconds.
    pub fn heartbeat_period(&self) -> f64 {
        let net_timeout = Duration::from_secs(self.server.globals.number(Variable::SlaveNetTimeout));
        let own = self.own_connection();
        own.map_or(Duration::ZERO, |status| {
            status.definition.heartbeat_period(net_timeout)
        })
        .as_secs_f64()
    }
}
