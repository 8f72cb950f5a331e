//! The running server: what all sessions share.

use crate::accounts::{InitialAccounts, SharedAccounts};
use crate::host_errors::HostErrors;
use crate::information_schema::{self, TableSize};
use crate::mysql_tables;
use crate::registry::Sessions;
use crate::replica_filters::ReplicaFilters;
use crate::replicated_tables::ReplicatedTables;
use crate::replication::replicated_row_options;
use crate::session::idle_poll::LastCommand;
use crate::statement_logs::StatementLogs;
use crate::status::ServerCounters;
use crate::tls::Tls;
use crate::variables::{Globals, Variable, semi_sync_settings, session_memory_max, transaction_config};
use paceline_replication::primary::{Primary, SemiSync};
use paceline_replication::replica::apply::SharedRowOptions;
use paceline_replication::replica::environment::Environment;
use paceline_replication::replica::replicas::Replicas;
use paceline_sql::catalog::{CatalogHandle, TableDefinition, TemporaryTables};
use paceline_sql::plan::Statistics;
use paceline_sql::session::{ServerMemory, VirtualColumn};
use paceline_sql::{Error, Result};
use paceline_storage::IndexId;
use paceline_txn::TransactionManager;
use paceline_types::error_code::ER_MAX_PREPARED_STMT_COUNT_REACHED;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Instant;
use tokio::sync::watch;

/// What all sessions share.
pub struct Server {
    /// The global values of system variables.
    pub globals: Globals,
    /// Who may connect and do what.
    pub accounts: SharedAccounts,
    /// Hosts whose connections fail before a login.
    pub host_errors: HostErrors,
    /// The sessions.
    pub sessions: Sessions,
    /// Whose command was the last.
    pub last_command: Arc<LastCommand>,
    /// Counters for the server as a whole.
    pub counters: ServerCounters,
    /// What all sessions may collect together (`paceline_session_memory_max`).
    pub memory: Arc<ServerMemory>,
    /// Databases and tables.
    pub catalog: Arc<CatalogHandle>,
    /// What is known of the tables' sizes.
    pub statistics: Arc<Statistics>,
    /// Transactions, the log, the engines.
    pub transactions: Arc<TransactionManager>,
    /// Connections to primaries.
    replicas: Replicas,
    /// How their rows are applied, as the variables say now.
    pub row_options: Arc<SharedRowOptions>,
    /// Temporary tables of the primaries' sessions.
    pub replicated_tables: ReplicatedTables,
    /// `replicate_do_db` and its like of connections that have rules of their own.
    pub replica_filters: ReplicaFilters,
    /// Replicas of this server.
    pub primary: Primary,
    /// The general log and that of slow queries.
    pub statement_logs: StatementLogs,
    /// TLS.
    pub tls: Tls,
    /// Who holds which lock of `GET_LOCK`.
    pub user_locks: Mutex<HashMap<String, u32>>,
    /// Held while a statement about accounts is applied and committed.
    pub changing_accounts: tokio::sync::Mutex<()>,
    /// What the process had as it started, in bytes.
    pub initial_memory_bytes: u64,
    /// When the server started.
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

impl Server {
    /// A server on what start-up has opened. `environment` makes what its connections to primaries are given.
    pub fn new(
        globals: Globals,
        initial_accounts: InitialAccounts,
        catalog: Arc<CatalogHandle>,
        transactions: Arc<TransactionManager>,
        semi_sync: Arc<SemiSync>,
        replica_filters: ReplicaFilters,
        environment: impl FnOnce(Weak<Server>) -> Arc<dyn Environment>,
    ) -> Arc<Self> {
        let accounts = SharedAccounts::new(initial_accounts, &catalog.load());
        let memory = ServerMemory::new(session_memory_max(&globals));
        let primary = Primary::new(transactions.clone(), semi_sync);
        Arc::new_cyclic(|server| Server {
            replicas: Replicas::open(environment(server.clone())),
            row_options: Arc::new(SharedRowOptions::new(replicated_row_options(&globals))),
            replicated_tables: ReplicatedTables::default(),
            replica_filters,
            primary,
            memory,
            globals,
            accounts,
            host_errors: HostErrors::default(),
            sessions: Sessions::default(),
            last_command: Arc::default(),
            counters: ServerCounters::default(),
            statement_logs: StatementLogs::default(),
            tls: Tls::default(),
            statistics: Arc::new(Statistics::new(transactions.clone())),
            catalog,
            transactions,
            user_locks: Mutex::default(),
            changing_accounts: tokio::sync::Mutex::default(),
            initial_memory_bytes: crate::memory::resident_bytes(),
            started: Instant::now(),
            prepared_statements: AtomicU64::new(0),
            shutdown: watch::Sender::new(false),
        })
    }

    /// From now on commits wait for replicas, if the variables say so. Not before replicas can connect: what is logged until then would wait in vain.
    pub fn start_semi_sync(&self) {
        self.primary.semi_sync().set(semi_sync_settings(&self.globals));
    }

    /// Connections to primaries.
    pub fn replicas(&self) -> &Replicas {
        &self.replicas
    }

    /// Passes the global variables that concern commits on to the commit pipeline.
    ///
    /// # Errors
    /// 1026 if the log has no room for it; nothing has been passed on then. If the log fails.
    pub fn apply_transaction_config(&self) -> Result<()> {
        let config = transaction_config(&self.globals, (*self.transactions.config()).clone());
        self.transactions
            .set_config(config)
            .map_err(|error| crate::session::errors::of_transaction(&error))?;
        self.primary.semi_sync().set(semi_sync_settings(&self.globals));
        Ok(())
    }

    /// A statement was prepared.
    ///
    /// # Errors
    /// 1461 past `max_prepared_stmt_count`.
    pub fn prepared_statement_opened(&self) -> Result<()> {
        let limit = self.globals.number(Variable::MaxPreparedStmtCount);
        if self.prepared_statements.fetch_add(1, Ordering::Relaxed) >= limit {
            self.prepared_statements.fetch_sub(1, Ordering::Relaxed);
            return Err(Error::new(ER_MAX_PREPARED_STMT_COUNT_REACHED, &[&limit]));
        }
        Ok(())
    }

    /// One was forgotten.
    pub fn prepared_statement_closed(&self) {
        self.prepared_statements.fetch_sub(1, Ordering::Relaxed);
    }

    /// `Prepared_stmt_count`.
    pub fn prepared_statements(&self) -> u64 {
        self.prepared_statements.load(Ordering::Relaxed)
    }

    /// Begins to stop the server.
    pub fn request_shutdown(&self) {
        self.shutdown.send_replace(true);
    }

    /// Ends when the server is to stop.
    pub async fn shutdown_requested(&self) {
        let mut receiver = self.shutdown.subscribe();
        // The sender lives as long as the server.
        let _ = receiver.wait_for(|stop| *stop).await;
    }

    /// The temporary tables of a session that begins: none.
    pub fn temporary_tables(&self) -> TemporaryTables {
        TemporaryTables::new(self.transactions.storage().temporary().clone())
    }

    /// How large a table is, about.
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

/// Databases that programs look for, without tables here: MariaDB's views of its own state. One of these names may also be a user's database.
pub const EMPTY_DATABASES: [&str; 2] = ["performance_schema", "sys"];

/// The name of a database that exists without being in the catalog, in its own spelling.
pub fn virtual_database(name: &str) -> Option<&'static str> {
    [information_schema::DATABASE, "performance_schema"]
        .into_iter()
        .find(|known| known.eq_ignore_ascii_case(name))
}

/// The columns of a table that is made on demand.
pub fn virtual_columns(database: &str, table: &str) -> Option<&'static [VirtualColumn]> {
    if database.eq_ignore_ascii_case(information_schema::DATABASE) {
        information_schema::columns(table)
    } else if database == mysql_tables::DATABASE {
        mysql_tables::columns(table)
    } else {
        None
    }
}
