//! A server that is open: its directory, its tables, its log and its background work, without listening sockets.
//!
//! [`crate::startup`] makes a process of it, [`crate::embedded`] a part of another process. Both take the same steps in
//! the same order:
//!
//! ```text
//!   open ─▶ (listen) ─▶ begin_background_work ─▶ show_running ─▶ begin_following ─▶ … ─▶ show_stopping ─▶ stop
//! ```
//!
//! Rejected: one function with switches for signals, the file with the process id and the sockets. Each of them belongs
//! to the process, and another process has its own.

use super::{
    Acknowledgement, STATISTICS_FILE, UPGRADE_INFO_FILE, UPGRADED_TO, fill_in, obey_cluster, open,
    spawn_housekeeping, stop,
};
use crate::accounts::InitialAccounts;
use crate::cluster::hand_over::hand_over;
use crate::cluster::{Cluster, Membership};
use crate::cluster_member::ServerHost;
use crate::http::Http;
use crate::memcached::MemcachedPort;
use crate::memory_control;
use crate::options::{OfferTls, StartOptions, absolute};
use crate::replication::ServerEnvironment;
use crate::server::{Choices, Hosting, Server};
use crate::session::init_file::run_init_file;
use crate::variables::Variable;
use paceline_binlog::{FileStatistics, LogOrigin};
use paceline_log_stream::primary::SemiSync;
use paceline_replication::environment::Environment;
use paceline_txn::{GtidChoice, Replication};
use paceline_types::{DomainId, ServerId};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A server that is open, and that nobody can reach yet.
pub(crate) struct OpenServer {
    pub(crate) server: Arc<Server>,
    /// Whether its clients are offered TLS.
    pub(crate) tls: OfferTls,
    /// Time at which the start began.
    pub(crate) started: Instant,
    http: Option<Http>,
    /// Whether no account has been made yet.
    is_new: bool,
    /// Number of MEMORY tables that were emptied.
    emptied: usize,
}

impl OpenServer {
    /// Opens the tables and the log of a locked directory.
    ///
    /// # Errors
    /// A message.
    pub(crate) async fn open(
        options: StartOptions,
        directory: &Path,
        membership: Option<Membership>,
        hosting: Hosting,
    ) -> Result<OpenServer, String> {
        let started = Instant::now();
        let tls = options.tls;
        let log_bin = options.log_bin.clone();
        fill_in(&options.globals, directory, &log_bin, &absolute(&options.socket));
        // Before recovery: a probe has to see that the server is alive.
        let http = Http::start(&options.globals, tls).await?;
        if let Some(http) = &http {
            tracing::info!("statistics and probes: {}", http.addresses());
        }
        let semi_sync = SemiSync::new();
        let initial_accounts = options.initial_accounts;
        for warning in memory_control::fit_to_limit(&options.globals) {
            tracing::warn!("{warning}");
        }
        let is_instrumented = options.globals.is_on(Variable::PerformanceSchema);
        let file_statistics = is_instrumented.then(Arc::<FileStatistics>::default);
        if membership.is_some() {
            obey_cluster(&options.globals);
        }
        let (catalog, transactions, held) = open(
            directory,
            &log_bin,
            &options.globals,
            &initial_accounts,
            match &membership {
                Some(_) => Acknowledgement::Cluster,
                None => Acknowledgement::SemiSync(&semi_sync),
            },
            file_statistics.as_ref(),
        )?;
        let cluster = membership
            .zip(held)
            .map(|(membership, held)| Cluster::new(membership, held));
        let is_new = catalog.load().accounts().next().is_none();
        let environment = {
            let transactions = transactions.clone();
            |server| Arc::new(ServerEnvironment::new(server, transactions, directory)) as Arc<dyn Environment>
        };
        let globals = options.globals;
        let choices = Choices {
            filters: options.filters,
            consumers: options.consumers,
            login_charset: options.login_charset,
            file_statistics,
            cluster: cluster.clone(),
            hosting,
        };
        let server = Server::new(
            globals,
            initial_accounts,
            catalog,
            transactions,
            semi_sync,
            choices,
            environment,
        );
        crate::lock_report::watch_deadlocks(&server);
        memory_control::keep_within_limit(&server);
        server.statistics.keep_in(directory.join(STATISTICS_FILE));
        if let Some(cluster) = &cluster {
            if tls == OfferTls::No {
                return Err("--cluster needs TLS for the other members: not --skip-ssl".into());
            }
            server.tls.show_members(cluster.membership.key.clone());
        }
        // In another program there may never be a client: the certificate waits for the first listening socket.
        if tls == OfferTls::Yes && hosting == Hosting::OwnProcess {
            server.tls.offer(&server.globals)?;
        }
        let gtid = GtidChoice::Next {
            domain_id: DomainId(server.globals.number(Variable::GtidDomainId) as u32),
            server_id: ServerId(server.globals.number(Variable::ServerId) as u32),
        };
        // A replica empties its MEMORY tables without replicating that, because its GTIDs are its primary's. The same
        // applies if nothing has been written yet, or nothing after a restore: such a server may become a replica. A
        // promoted server has replicas of its own.
        let transactions = &server.transactions;
        let logged = transactions.gtid_state().position();
        let is_untouched_copy = || {
            transactions.log().replica_state().log_origin == LogOrigin::Restored
                && transactions.replicated_position().covers(&logged)
        };
        let is_followers = cluster.is_some()
            || !server.replicas().all().is_empty()
            || logged.is_empty()
            || is_untouched_copy();
        let replication = match is_followers {
            true => Replication::LocalOnly,
            false => Replication::Replicated,
        };
        let limit = Duration::from_secs(60);
        let emptied = paceline_apply::empty_memory_tables(
            &server.transactions,
            &server.catalog,
            gtid,
            replication,
            limit,
        )
        .map_err(|error| format!("the MEMORY tables cannot be emptied: {error}"))?;
        if cluster.is_none() {
            server.start_semi_sync();
        }
        if server.globals.is_on(Variable::SkipGrantTables) {
            tracing::warn!(
                "--skip-grant-tables: everybody who can connect may do everything, until FLUSH PRIVILEGES"
            );
            server.accounts.skip();
        }
        let init_file = server.globals.get(Variable::InitFile);
        if !init_file.as_str().is_empty() {
            run_init_file(&server, Path::new(init_file.as_str())).await?;
        }
        Ok(OpenServer {
            server,
            tls,
            started,
            http,
            is_new,
            emptied,
        })
    }

    /// Logs the accounts of a new directory.
    pub(crate) fn show_initial_accounts(&self) {
        if self.is_new {
            match self.server.accounts.initial() {
                InitialAccounts::WithoutPassword => tracing::warn!(
                    "the data directory was begun with --initialize-insecure, and no account has been made yet: 'root' may log in without a password, from this machine only"
                ),
                InitialAccounts::BySocket { server_user } => {
                    let users = ["root"].into_iter().chain(server_user.as_deref());
                    let users: Vec<_> = users.map(|user| format!("'{user}'")).collect();
                    tracing::info!(
                        "no account has been made yet: the operating system's {} may log in under that name, over the UNIX socket only",
                        users.join(" and ")
                    );
                }
            }
        }
    }

    /// Opens the logs of statements, and begins the work that nobody asks for.
    ///
    /// # Errors
    /// A message.
    pub(crate) fn begin_background_work(&self, directory: &Path) -> Result<(), String> {
        let server = &self.server;
        server
            .statement_logs
            .configure(&server.globals)
            .map_err(|error| format!("cannot open the general log or that of slow queries: {error}"))?;
        server
            .audit_log
            .configure(&server.globals)
            .map_err(|error| format!("cannot open the audit log: {error}"))?;
        // The tables of `mysql` are built in. This file shows MariaDB's tools that no upgrade of them is needed.
        std::fs::write(directory.join(UPGRADE_INFO_FILE), UPGRADED_TO)
            .map_err(|error| format!("cannot write {UPGRADE_INFO_FILE}: {error}"))?;
        spawn_housekeeping(server);
        crate::event_scheduler::start(server);
        tokio::spawn(server.primary.semi_sync().clone().run_timer());
        Ok(())
    }

    /// Lets probes see that the server is ready.
    pub(crate) fn show_running(&self) {
        if let Some(http) = &self.http {
            http.running(&self.server);
        }
    }

    /// Becomes a member of its cluster, or follows its primaries, and accepts memcached's clients.
    ///
    /// # Errors
    /// A message.
    pub(crate) async fn begin_following(&self, memcached: Option<MemcachedPort>) -> Result<(), String> {
        let server = &self.server;
        match &server.cluster {
            Some(cluster) => {
                cluster.held.pass_on(Arc::downgrade(&server.transactions))?;
                server.primary.limit_outsiders(cluster.held.limit());
                crate::cluster::commit_watch::start(cluster.clone());
                let handle = cluster.membership.handle.clone();
                handle.set_host(ServerHost::new(server, cluster.clone(), self.emptied));
            }
            None if server.globals.is_on(Variable::SkipSlaveStart) => {}
            None => server.replicas().start_all().await,
        }
        if let Some(memcached) = memcached {
            tokio::spawn(memcached.serve(server.clone()));
        }
        Ok(())
    }

    /// Lets probes see that the server stops.
    pub(crate) fn show_stopping(&self) {
        if let Some(http) = &self.http {
            http.stopping();
        }
    }

    /// Ends the sessions, flushes the engines and closes the log.
    ///
    /// # Errors
    /// A message.
    pub(crate) async fn stop(&self) -> Result<(), String> {
        if let Some(cluster) = &self.server.cluster {
            hand_over(cluster).await;
        }
        stop(&self.server).await
    }
}
