//! The running server: what all sessions share.

use crate::accounts::{Accounts, SharedAccounts};
use crate::information_schema::{self, TableSize};
use crate::registry::Sessions;
use crate::replica_filters::ReplicaFilters;
use crate::replicated_tables::ReplicatedTables;
use crate::session::idle_poll::LastCommand;
use crate::status::ServerCounters;
use crate::tls::Tls;
use crate::variables::{Globals, Variable, semi_sync_settings, transaction_config};
use crate::{accounts, mysql_tables};
use paceline_replication::primary::{Primary, SemiSync};
use paceline_replication::replica::environment::Environment;
use paceline_replication::replica::replicas::Replicas;
use paceline_sql::catalog::{Catalog, CatalogHandle, TableDefinition, TemporaryTables};
use paceline_sql::plan::Statistics;
use paceline_sql::session::VirtualColumn;
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
    /// The sessions.
    pub sessions: Sessions,
    /// Whose command was the last.
    pub last_command: Arc<LastCommand>,
    /// Counters for the server as a whole.
    pub counters: ServerCounters,
    /// Databases and tables.
    pub catalog: Arc<CatalogHandle>,
    /// What is known of the tables' sizes.
    pub statistics: Arc<Statistics>,
    /// Transactions, the log, the engines.
    pub transactions: Arc<TransactionManager>,
    /// Connections to primaries.
    replicas: Replicas,
    /// Temporary tables of the primaries' sessions.
    pub replicated_tables: ReplicatedTables,
    /// `replicate_do_db` and its like of connections that have rules of their own.
    pub replica_filters: ReplicaFilters,
    /// Replicas of this server.
    pub primary: Primary,
    /// TLS.
    pub tls: Tls,
    /// Who holds which lock of `GET_LOCK`.
    pub user_locks: Mutex<HashMap<String, u32>>,
    /// Held while a statement about accounts is applied and committed.
    pub changing_accounts: tokio::sync::Mutex<()>,
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
        catalog: Arc<CatalogHandle>,
        transactions: Arc<TransactionManager>,
        semi_sync: Arc<SemiSync>,
        replica_filters: ReplicaFilters,
        environment: impl FnOnce(Weak<Server>) -> Arc<dyn Environment>,
    ) -> Arc<Self> {
        let accounts = accounts_of(&catalog.load());
        let primary = Primary::new(transactions.clone(), semi_sync);
        primary.semi_sync().set(semi_sync_settings(&globals));
        Arc::new_cyclic(|server| Server {
            replicas: Replicas::open(environment(server.clone())),
            replicated_tables: ReplicatedTables::default(),
            replica_filters,
            primary,
            globals,
            accounts: SharedAccounts::new(accounts),
            sessions: Sessions::default(),
            last_command: Arc::default(),
            counters: ServerCounters::default(),
            tls: Tls::default(),
            statistics: Arc::new(Statistics::new(transactions.clone())),
            catalog,
            transactions,
            user_locks: Mutex::default(),
            changing_accounts: tokio::sync::Mutex::default(),
            started: Instant::now(),
            prepared_statements: AtomicU64::new(0),
            shutdown: watch::Sender::new(false),
        })
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

/// The accounts that the catalog holds. A new data directory holds none: then there are the initial ones, which become records with the
/// first statement about accounts.
pub fn accounts_of(catalog: &Catalog) -> Accounts {
    let mut list = vec![];
    for (user, host, record) in catalog.accounts() {
        match accounts::Account::from_record(record) {
            Some(account) => list.push(account),
            None => {
                tracing::error!("the record of account '{user}'@'{host}' cannot be read; it cannot log in")
            }
        }
    }
    match list.is_empty() {
        true => Accounts::initial(),
        false => Accounts::new(list),
    }
}

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
