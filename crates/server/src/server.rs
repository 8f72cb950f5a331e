//! The running server: state shared by all sessions.

use crate::accounts::{ClientHost, InitialAccounts, NameResolution, SharedAccounts};
use crate::audit_log::AuditLog;
use crate::backup_history::BackupHistory;
use crate::cluster::Cluster;
use crate::event_runs::EventRuns;
use crate::host_errors::HostErrors;
use crate::information_schema::TableSize;
use crate::last_command::LastCommand;
use crate::loadable_functions::LoadableFunctions;
use crate::memcached_counters::MemcachedCounters;
use crate::memory::MemoryDivision;
use crate::modules::Modules;
use crate::registry::Sessions;
use crate::replica_filters::ReplicaFilters;
use crate::replicated_tables::ReplicatedTables;
use crate::row_options::replicated_row_options;
use crate::slow_statements::SlowStatements;
use crate::statement_digests::StatementDigests;
use crate::statement_events::StatementEvents;
use crate::statement_history::{Consumers, StatementHistory};
use crate::statement_logs::StatementLogs;
use crate::status::ServerCounters;
use crate::tls::Tls;
use crate::user_statistics::UserStatistics;
use crate::variables::{
    Globals, Variable, VariableValue, semi_sync_settings, session_memory_max, transaction_config,
};
use paceline_binlog::FileStatistics;
use paceline_catalog::{CatalogHandle, TableDefinition, TemporaryTables};
use paceline_expression::session::ServerMemory;
use paceline_log_stream::primary::{Primary, SemiSync};
use paceline_query::plan::Statistics;
use paceline_replication::apply::SharedRowOptions;
use paceline_replication::connection_set::ConnectionSet;
use paceline_replication::environment::Environment;
use paceline_replication::status::ReceiverState;
use paceline_storage::IndexId;
use paceline_syntax::{Error, Result};
use paceline_txn::TransactionManager;
use paceline_types::error_code::{ER_MAX_PREPARED_STMT_COUNT_REACHED, ER_OPTION_PREVENTS_STATEMENT};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Instant;
use tokio::sync::watch;

/// State shared by all sessions.
pub struct Server {
    /// The process that this server is in.
    pub hosting: Hosting,
    /// The cluster of which this server is a member.
    pub cluster: Option<Arc<Cluster>>,
    /// Global values of the system variables.
    pub globals: Globals,
    /// Accounts and their privileges.
    pub accounts: SharedAccounts,
    /// Hosts with failures before a login.
    pub host_errors: HostErrors,
    /// Character set of new sessions.
    pub login_charset: LoginCharset,
    /// Registry of all sessions.
    pub sessions: Sessions,
    /// The session that executed the last command.
    pub last_command: Arc<LastCommand>,
    /// Counters of the whole server.
    pub counters: ServerCounters,
    /// Statistics of statements.
    pub digests: StatementDigests,
    /// Statistics of statements by kind.
    pub statement_events: StatementEvents,
    /// Statistics of the log's files, unless `performance_schema` is off.
    pub file_statistics: Option<Arc<FileStatistics>>,
    /// The latest slow statements.
    pub slow_statements: SlowStatements,
    /// The latest backups.
    pub backups: BackupHistory,
    /// Memory account of all sessions together (`paceline_session_memory_max`).
    pub memory: Arc<ServerMemory>,
    /// Databases and tables.
    pub catalog: Arc<CatalogHandle>,
    /// Statistics of the tables' sizes.
    pub statistics: Arc<Statistics>,
    /// Transactions, log and engines.
    pub transactions: Arc<TransactionManager>,
    /// Connections to primaries.
    replicas: ConnectionSet,
    /// Options for applying their rows, from the variables' current values.
    pub row_options: Arc<SharedRowOptions>,
    /// Temporary tables of the primaries' sessions.
    pub replicated_tables: ReplicatedTables,
    /// Filters of connections that have their own (`replicate_do_db` and related variables).
    pub replica_filters: ReplicaFilters,
    /// Part of this server that serves replicas.
    pub primary: Primary,
    /// Latest statements, and the consumers of `performance_schema`.
    pub statement_history: StatementHistory,
    /// The general log and the slow query log.
    pub statement_logs: StatementLogs,
    /// Libraries of functions.
    pub loadable_functions: LoadableFunctions,
    /// Compiled modules of functions.
    pub modules: Modules,
    /// The audit log.
    pub audit_log: AuditLog,
    /// Statistics of users and clients.
    pub user_statistics: UserStatistics,
    /// TLS configuration.
    pub tls: Tls,
    /// Counters of the memcached port.
    pub memcached: MemcachedCounters,
    /// Description of the latest deadlock.
    pub latest_deadlock: Mutex<Option<String>>,
    /// Holder of each lock of `GET_LOCK`, by connection id.
    pub user_locks: Mutex<HashMap<String, u32>>,
    /// Runs of the events so far.
    pub event_runs: EventRuns,
    /// Locked while a statement about accounts is applied and committed.
    pub changing_accounts: tokio::sync::Mutex<()>,
    /// How the limit of the process's memory is divided.
    pub memory_division: MemoryDivision,
    /// Memory of the process at startup, in bytes.
    pub initial_memory_bytes: u64,
    /// Time of the startup.
    pub started: Instant,
    prepared_statements: AtomicU64,
    shutdown: watch::Sender<bool>,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("sessions", &self.sessions.count())
            .finish_non_exhaustive()
    }
}

/// The process that a server is in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Hosting {
    /// Its own.
    #[default]
    OwnProcess,
    /// Another program, which opens and closes it.
    OtherProgram,
}

/// Character set with which a session begins (`character-set-client-handshake`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LoginCharset {
    /// That of the client's collation.
    #[default]
    OfClient,
    /// `character_set_server`, whatever the client requests.
    OfServer,
}

/// Options of the start that are not variables.
#[derive(Debug, Default)]
pub struct Choices {
    /// The process that the server is in.
    pub hosting: Hosting,
    /// Filters of connections that have their own.
    pub filters: ReplicaFilters,
    /// Consumers of `performance_schema`.
    pub consumers: Consumers,
    /// Character set of new sessions.
    pub login_charset: LoginCharset,
    /// Statistics of the log's files, if they are collected.
    pub file_statistics: Option<Arc<FileStatistics>>,
    /// The cluster of which the server is a member.
    pub cluster: Option<Arc<Cluster>>,
}

impl Server {
    /// Creates a server from the opened parts. `environment` creates the interface to its connections to primaries.
    pub fn new(
        globals: Globals,
        initial_accounts: InitialAccounts,
        catalog: Arc<CatalogHandle>,
        transactions: Arc<TransactionManager>,
        semi_sync: Arc<SemiSync>,
        choices: Choices,
        environment: impl FnOnce(Weak<Server>) -> Arc<dyn Environment>,
    ) -> Arc<Self> {
        let accounts = SharedAccounts::new(initial_accounts, &catalog.load());
        let memory = ServerMemory::new(session_memory_max(&globals));
        let digests = StatementDigests::new(digests_max(&globals));
        let statement_events = StatementEvents::new(globals.is_on(Variable::PerformanceSchema));
        let size = |variable| history_size(&globals, variable);
        let statement_history = StatementHistory::new(
            choices.consumers,
            size(Variable::PerformanceSchemaEventsStatementsHistorySize),
            size(Variable::PerformanceSchemaEventsStatementsHistoryLongSize),
            size(Variable::PerformanceSchemaMaxSqlTextLength),
        );
        let has_page = !globals.get(Variable::PacelineHttpAddress).as_str().is_empty();
        let primary = Primary::new(transactions.clone(), semi_sync);
        let user_statistics = UserStatistics::new(&globals);
        Arc::new_cyclic(|server| Server {
            hosting: choices.hosting,
            login_charset: choices.login_charset,
            cluster: choices.cluster,
            replicas: ConnectionSet::open(environment(server.clone())),
            row_options: Arc::new(SharedRowOptions::new(replicated_row_options(&globals))),
            replicated_tables: ReplicatedTables::default(),
            replica_filters: choices.filters,
            primary,
            memory,
            globals,
            accounts,
            host_errors: HostErrors::default(),
            sessions: Sessions::default(),
            last_command: Arc::default(),
            counters: ServerCounters::default(),
            digests,
            statement_events,
            file_statistics: choices.file_statistics,
            statement_history,
            slow_statements: SlowStatements::new(has_page),
            backups: BackupHistory::default(),
            statement_logs: StatementLogs::default(),
            loadable_functions: LoadableFunctions::default(),
            modules: Modules::default(),
            audit_log: AuditLog::default(),
            user_statistics,
            tls: Tls::default(),
            statistics: Arc::new(Statistics::new(transactions.clone())),
            catalog,
            transactions,
            memcached: MemcachedCounters::default(),
            latest_deadlock: Mutex::default(),
            user_locks: Mutex::default(),
            event_runs: EventRuns::default(),
            changing_accounts: tokio::sync::Mutex::default(),
            memory_division: MemoryDivision::default(),
            initial_memory_bytes: crate::memory::resident().anonymous,
            started: Instant::now(),
            prepared_statements: AtomicU64::new(0),
            shutdown: watch::Sender::new(false),
        })
    }

    /// Returns whether the server follows another one: a connection's receiver or applier runs.
    pub fn follows_another(&self) -> bool {
        let connections = self.replicas.all();
        let statuses = connections.iter().map(|connection| connection.status());
        let mut running =
            statuses.map(|status| status.applier_runs || status.receiver.state != ReceiverState::Stopped);
        running.any(|runs| runs)
    }

    /// Refuses what would endanger a cluster, or has no effect in one.
    ///
    /// # Errors
    /// 1290 for `--cluster`, if this server is a member of one.
    pub fn refuse_in_cluster(&self) -> Result<()> {
        match &self.cluster {
            Some(_) => Err(Error::new(ER_OPTION_PREVENTS_STATEMENT, &[&"--cluster"])),
            None => Ok(()),
        }
    }

    /// Enables semi-sync if the variables require it. Call this only when replicas can connect: earlier commits would
    /// wait in vain.
    pub fn start_semi_sync(&self) {
        self.primary.semi_sync().set(semi_sync_settings(&self.globals));
    }

    /// Returns the connections to primaries.
    pub fn replicas(&self) -> &ConnectionSet {
        &self.replicas
    }

    /// Passes the variables that affect commits to the commit pipeline.
    ///
    /// # Errors
    /// 1026 if the log has no room for the change; then nothing is changed. The errors of the log.
    pub fn apply_transaction_config(&self) -> Result<()> {
        let config = transaction_config(&self.globals, (*self.transactions.config()).clone());
        self.transactions
            .set_config(config)
            .map_err(|error| crate::errors::of_transaction(&error))?;
        self.primary.semi_sync().set(semi_sync_settings(&self.globals));
        Ok(())
    }

    /// Counts a new prepared statement.
    ///
    /// # Errors
    /// 1461 beyond `max_prepared_stmt_count`.
    pub fn prepared_statement_opened(&self) -> Result<()> {
        let limit = self.globals.number(Variable::MaxPreparedStmtCount);
        if self.prepared_statements.fetch_add(1, Ordering::Relaxed) >= limit {
            self.prepared_statements.fetch_sub(1, Ordering::Relaxed);
            return Err(Error::new(ER_MAX_PREPARED_STMT_COUNT_REACHED, &[&limit]));
        }
        Ok(())
    }

    /// Counts a closed prepared statement.
    pub fn prepared_statement_closed(&self) {
        self.prepared_statements.fetch_sub(1, Ordering::Relaxed);
    }

    /// Returns the value of `Prepared_stmt_count`.
    pub fn prepared_statements(&self) -> u64 {
        self.prepared_statements.load(Ordering::Relaxed)
    }

    /// Requests the shutdown of the server.
    pub fn request_shutdown(&self) {
        self.shutdown.send_replace(true);
    }

    /// Returns the origin of a TCP connection from this address.
    pub fn client_host(&self, address: IpAddr) -> ClientHost {
        let resolution = match self.globals.is_on(Variable::SkipNameResolve) {
            true => NameResolution::Skipped,
            false => NameResolution::Loopback,
        };
        ClientHost::of(address, resolution)
    }

    /// Returns whether shutdown is requested.
    pub fn is_stopping(&self) -> bool {
        *self.shutdown.borrow()
    }

    /// Waits until shutdown is requested.
    pub async fn shutdown_requested(&self) {
        let mut receiver = self.shutdown.subscribe();
        // The sender lives as long as the server.
        let _ = receiver.wait_for(|stop| *stop).await;
    }

    /// Returns the temporary tables of a new session: none.
    pub fn temporary_tables(&self) -> TemporaryTables {
        TemporaryTables::new(self.transactions.storage().temporary().clone())
    }

    /// Returns the approximate size of a table.
    pub fn table_size(&self, table: &Arc<TableDefinition>) -> TableSize {
        let storage = self.transactions.storage();
        let clustered = table.schema().clustered_id();
        let secondary = table
            .indexes()
            .iter()
            .map(|index| IndexId::new(index.id))
            .filter(|id| *id != clustered);
        TableSize {
            rows: self.statistics.row_count(table),
            data_bytes: storage.approximate_bytes(clustered),
            index_bytes: secondary.map(|id| storage.approximate_bytes(id)).sum(),
        }
    }
}

/// Returns a size of the history of statements; -1 for the default.
fn history_size(globals: &Globals, variable: Variable) -> i64 {
    match globals.get(variable) {
        VariableValue::Integer(number) => number,
        _ => -1,
    }
}

/// Returns the maximum number of digests: none without `performance_schema`, -1 for the default.
fn digests_max(globals: &Globals) -> i64 {
    match globals.is_on(Variable::PerformanceSchema) {
        true => match globals.get(Variable::PerformanceSchemaDigestsSize) {
            VariableValue::Integer(number) => number,
            _ => -1,
        },
        false => 0,
    }
}
