//! Startup and shutdown of a server.
//!
//! ```text
//!   lock the data directory ─▶ open the tables ─▶ open the log ─▶ replay ─▶ accounts ─▶ listen ─▶ "ready for connections"
//!   stop listening ─▶ tell the sessions (1053), streams to replicas last ─▶ wait for them ─▶ flush, Stop event, close ─▶ unlock
//! ```
//!
//! The data directory:
//!
//! ```text
//!   DATADIR/
//!     paceline.lock            locked while a server is running on the directory; contains its process id
//!     paceline.key             key for sealing the passwords in the log (`paceline_log_stream::source::password`)
//!     paceline.insecure        exists if the directory was created with --initialize-insecure
//!     paceline.unfinished      exists while the directory is incomplete (`crate::incomplete_directory`): no server starts on it
//!     paceline.version         the version that wrote the directory, and its format (`crate::data_version`)
//!     paceline.statistics      statistics of the tables' sizes; created again if missing
//!     paceline.pid             process id; removed when the server has stopped (mariadb-admin shutdown waits for that)
//!     mysql_upgrade_info       for mariadb-upgrade: no upgrade is needed
//!     binlog.index             the log's files, in order
//!     binlog.000001 …          the log
//!     tables/                  the engine's files
//! ```

mod open_server;

pub(crate) use open_server::OpenServer;

use crate::accounts::InitialAccounts;
use crate::cluster::{ClusterAcknowledger, HeldLog, Membership};
use crate::data_directory::{DataDirectory, DirectoryAge, LOCK_PATIENCE, refuse_foreign_directory};
use crate::data_version;
use crate::incomplete_directory::{IncompleteDirectory, refuse_incomplete_directory};
use crate::listener;
use crate::memcached::MemcachedPort;
use crate::options::{StartOptions, absolute};
use crate::recovery::EventOrigins;
use crate::server::{Hosting, Server};
use crate::variables::{Globals, Kind, Variable, VariableValue, transaction_config};
use paceline_binlog::log::{Disk, Log, LogConfig, OpenRequest, RealDisk, SyncMode};
use paceline_binlog::{FileStatistics, MeasuredDisk};
use paceline_catalog::CatalogHandle;
use paceline_log_stream::primary::{SemiSync, SemiSyncAcknowledger};
use paceline_replication::connection_set::STOP_PATIENCE;
use paceline_storage::{Storage, StorageConfig};
use paceline_txn::{Acknowledger, ManagerParts, TransactionManager};
use paceline_types::{LogPosition, ServerId};
use paceline_wire::listener::Listener;
use sd_notify::NotifyState;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::runtime::Runtime;

/// Returns the value of `SELECT VERSION()`: the compatible MariaDB version, and the version of this server.
pub fn version() -> String {
    format!("10.11.19-MariaDB-paceline-{}", paceline_program_version::number())
}

/// File in which `mariadb-upgrade` finds the version of its last run, and its content.
const UPGRADE_INFO_FILE: &str = "mysql_upgrade_info";
const UPGRADED_TO: &str = "10.11.19-MariaDB";

/// File that keeps the tables' statistics across restarts.
const STATISTICS_FILE: &str = "paceline.statistics";
/// File with the process id.
const PID_FILE: &str = "paceline.pid";

/// Maximum time for sessions to end at shutdown.
const GRACE: Duration = Duration::from_secs(10);

/// Time that the commits of a member of a cluster have for their acknowledgement at shutdown.
const ACKNOWLEDGED_WITHIN: Duration = Duration::from_secs(1);

/// Runs a server until shutdown is requested by SIGTERM, SIGINT or SHUTDOWN.
///
/// # Errors
/// A message: why it could not start, or not stop cleanly.
pub fn run(options: StartOptions) -> Result<(), String> {
    PreparedServer::new(options)?.run(None)
}

/// Runs a server in an incomplete directory, for the command that is filling it.
///
/// # Errors
/// The errors of [`run`].
pub fn run_unfinished(options: StartOptions, directory: &IncompleteDirectory) -> Result<(), String> {
    if options.datadir != directory.directory() {
        return Err(format!(
            "{} is not the directory that is being made",
            options.datadir.display()
        ));
    }
    PreparedServer::in_directory(options, DirectoryAge::New)?.run(None)
}

/// Directs the error log to the file of `log_error`, which is relative to the data directory.
fn open_error_log(options: &StartOptions) -> Result<(), String> {
    let name = options.globals.get(Variable::LogError);
    if name.as_str().is_empty() {
        return Ok(());
    }
    let mut path = options.datadir.join(name.as_str());
    if path.extension().is_none() {
        path.set_extension("err");
    }
    let mut file = std::fs::OpenOptions::new();
    std::os::unix::fs::OpenOptionsExt::mode(&mut file, 0o660);
    let file = file.create(true).append(true).open(&path);
    file.and_then(|file| Ok(rustix::stdio::dup2_stderr(file)?))
        .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    options
        .globals
        .set_text(Variable::LogError, path.display().to_string());
    Ok(())
}

/// A server whose data directory is locked and belongs to this version. Nothing is opened yet.
pub struct PreparedServer {
    options: StartOptions,
    directory: DataDirectory,
}

/// Refuses the directory of a cluster's member without the cluster: what was written then would be acknowledged by
/// nobody, and the member would count as a holder of what it does not have.
fn refuse_members_directory(options: &StartOptions) -> Result<(), String> {
    if !options.globals.get(Variable::PacelineCluster).as_str().is_empty() {
        return Ok(());
    }
    paceline_cluster_host::member_file::refuse_directory_of_member(&options.datadir)
}

impl PreparedServer {
    /// Locks and checks the data directory.
    ///
    /// # Errors
    /// A message: why no server can be started there.
    pub fn new(options: StartOptions) -> Result<Self, String> {
        refuse_incomplete_directory(&options.datadir)?;
        let age = refuse_foreign_directory(&options.datadir, &options.log_bin)?;
        refuse_members_directory(&options)?;
        Self::in_directory(options, age)
    }

    /// Locks and checks the data directory of a server within another program, which keeps its standard error. Another
    /// server's lock is waited for as long as `patience`.
    ///
    /// # Errors
    /// A message.
    pub(crate) fn embedded(options: StartOptions, patience: Duration) -> Result<Self, String> {
        refuse_incomplete_directory(&options.datadir)?;
        let age = refuse_foreign_directory(&options.datadir, &options.log_bin)?;
        refuse_members_directory(&options)?;
        let directory = DataDirectory::lock(&options.datadir, patience)?;
        Self::in_locked(options, directory, age)
    }

    fn in_directory(options: StartOptions, age: DirectoryAge) -> Result<Self, String> {
        let directory = DataDirectory::lock(&options.datadir, LOCK_PATIENCE)?;
        open_error_log(&options)?;
        Self::in_locked(options, directory, age)
    }

    fn in_locked(
        mut options: StartOptions,
        directory: DataDirectory,
        age: DirectoryAge,
    ) -> Result<Self, String> {
        for warning in &options.warnings {
            tracing::warn!("{warning}");
        }
        raise_file_limit(&options.globals);
        data_version::claim(directory.path(), age)?;
        options.initial_accounts = directory.initial_accounts(options.initial_accounts, age)?;
        Ok(PreparedServer { options, directory })
    }

    /// Returns the options.
    pub fn options(&self) -> &StartOptions {
        &self.options
    }

    /// Returns the options and the locked directory.
    pub(crate) fn into_parts(self) -> (StartOptions, DataDirectory) {
        (self.options, self.directory)
    }

    /// Returns the path of the data directory.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Returns the settings of the log.
    pub fn log_config(&self) -> LogConfig {
        log_config(
            self.directory.path(),
            &self.options.log_bin,
            &self.options.globals,
        )
    }

    /// Returns the position up to which the table files contain the log.
    ///
    /// # Errors
    /// A message.
    pub fn tables_position(&self) -> Result<LogPosition, String> {
        let config = StorageConfig::new(self.directory.path().join("tables"));
        let storage = Storage::open(&config).map_err(|error| format!("cannot open the tables: {error}"))?;
        Ok(storage.position())
    }

    /// Runs the server until shutdown is requested by SIGTERM, SIGINT or SHUTDOWN. A member of a cluster needs a log
    /// that is acknowledged to its end.
    ///
    /// # Errors
    /// A message: why it could not start, or not stop cleanly.
    pub fn run(self, membership: Option<Membership>) -> Result<(), String> {
        run_in(self.options, &self.directory, membership)
    }
}

fn run_in(
    options: StartOptions,
    directory: &DataDirectory,
    membership: Option<Membership>,
) -> Result<(), String> {
    let runtime = runtime(&options.globals)?;
    let pid_file = match options.globals.get(Variable::PidFile).as_str() {
        "" => directory.path().join(PID_FILE),
        chosen => directory.path().join(chosen),
    };
    let outcome = runtime.block_on(serve(options, directory, membership));
    runtime.shutdown_timeout(Duration::from_secs(1));
    let _ = std::fs::remove_file(pid_file);
    outcome
}

/// Starts the threads of a server.
///
/// # Errors
/// A message.
pub(crate) fn runtime(globals: &Globals) -> Result<Runtime, String> {
    let workers = match globals.number(Variable::PacelineWorkerThreads) {
        0 => std::thread::available_parallelism().map_or(2, usize::from),
        count => count as usize,
    };
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        // Waiting for a lock occupies a thread, and so does any other blocking operation.
        .max_blocking_threads(blocking_threads_max())
        .thread_name("paceline")
        // Deeply nested statements are processed recursively. Unused stack takes no memory.
        .thread_stack_size(8 << 20)
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start threads: {error}"))
}

/// Returns the maximum number of blocking threads. `max_connections` can be raised while sessions wait, but this number
/// cannot: without a free thread no session could execute the COMMIT or KILL that ends the waits. Threads are created
/// on demand; a few are for the server's own work.
fn blocking_threads_max() -> usize {
    let Kind::Unsigned { max, .. } = Variable::MaxConnections.definition().kind else {
        unreachable!("connections are counted")
    };
    max as usize + 64
}

/// Runs a server that is a process of its own: with signals, a file with the process id, and listening sockets.
async fn serve(
    options: StartOptions,
    directory: &DataDirectory,
    membership: Option<Membership>,
) -> Result<(), String> {
    let (port, address, socket) = (options.port(), options.bind_address(), absolute(&options.socket));
    let opened = OpenServer::open(options, directory.path(), membership, Hosting::OwnProcess).await?;
    let server = opened.server.clone();
    let listener = Listener::bind(&address, port, Some(&socket))
        .await
        .map_err(|error| error.to_string())?;
    let memcached = MemcachedPort::bind(&server.globals, opened.tls).await?;
    if let Some(port) = listener.port() {
        server
            .globals
            .set(Variable::Port, VariableValue::Unsigned(u64::from(port)));
    }
    opened.show_initial_accounts();
    let pid_file = server.globals.get(Variable::PidFile);
    std::fs::write(pid_file.as_str(), format!("{}\n", std::process::id()))
        .map_err(|error| format!("cannot write {}: {error}", pid_file.as_str()))?;
    opened.begin_background_work(directory.path())?;
    watch_signals(&server)?;
    let version = server.globals.get(Variable::Version);
    tracing::info!("started in {:.1} s", opened.started.elapsed().as_secs_f64());
    let line = format!(
        "paceline {}: ready for connections. {}",
        version.as_str(),
        listener.addresses()
    );
    tracing::info!("{line}");
    opened.show_running();
    let _ = sd_notify::notify(&[NotifyState::Ready, NotifyState::Status(&line)]);
    opened.begin_following(memcached).await?;
    listener::serve(&listener, &server).await;
    drop(listener);
    opened.show_stopping();
    let _ = sd_notify::notify(&[NotifyState::Stopping]);
    opened.stop().await
}

/// Source of the acknowledgements of durable groups.
#[derive(Clone, Copy)]
enum Acknowledgement<'a> {
    /// Replicas, if semi-sync is on.
    SemiSync(&'a Arc<SemiSync>),
    /// The cluster.
    Cluster,
}

/// Opened tables and log. In a cluster also the part of the log that waits for the others.
type OpenedDirectory = (Arc<CatalogHandle>, Arc<TransactionManager>, Option<Arc<HeldLog>>);

/// Sets the variables that a member of a cluster must have.
fn obey_cluster(globals: &Globals) {
    // The log index depends on ascending sequence numbers.
    globals.set(Variable::GtidStrictMode, VariableValue::Boolean(true));
    // Closed until the cluster says that this server is the primary.
    globals.set(Variable::ReadOnly, VariableValue::Boolean(true));
    for (variable, name) in [
        (Variable::RplSemiSyncMasterEnabled, "rpl_semi_sync_master_enabled"),
        (Variable::RplSemiSyncSlaveEnabled, "rpl_semi_sync_slave_enabled"),
    ] {
        if globals.is_on(variable) {
            tracing::warn!("{name} has no effect in a cluster");
            globals.set(variable, VariableValue::Boolean(false));
        }
    }
}

fn log_config(directory: &Path, log_bin: &str, globals: &Globals) -> LogConfig {
    let server_id = ServerId(globals.number(Variable::ServerId) as u32);
    LogConfig {
        server_version: version(),
        file_size_max: globals.number(Variable::MaxBinlogSize),
        prepare_step: globals.number(Variable::PacelineLogBlockSize),
        sync_mode: match globals.number(Variable::SyncBinlog) {
            0 => SyncMode::Deferred,
            _ => SyncMode::EachGroup,
        },
        ..LogConfig::new(directory, log_bin, server_id)
    }
}

/// Opens tables and log, and replays the part of the log that the tables do not contain.
fn open(
    directory: &Path,
    log_bin: &str,
    globals: &Globals,
    initial_accounts: &InitialAccounts,
    acknowledgement: Acknowledgement<'_>,
    file_statistics: Option<&Arc<FileStatistics>>,
) -> Result<OpenedDirectory, String> {
    let mut storage_config = StorageConfig::new(directory.join("tables"));
    storage_config.rocksdb.block_cache_bytes = globals.number(Variable::PacelineBlockCacheSize) as usize;
    storage_config.rocksdb.memtable_bytes = globals.number(Variable::PacelineMemtableSize) as usize;
    let storage =
        Storage::open(&storage_config).map_err(|error| format!("cannot open the tables: {error}"))?;
    let storage = Arc::new(storage);
    let log_config = log_config(directory, log_bin, globals);
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs();
    let request = OpenRequest {
        engine_position: storage.position(),
        ..OpenRequest::new(now as u32)
    };
    let disk: Arc<dyn Disk> = match file_statistics {
        Some(statistics) => Arc::new(MeasuredDisk::new(Arc::new(RealDisk), statistics.clone())),
        None => Arc::new(RealDisk),
    };
    let (log, recovery) = Log::open(disk, log_config, request)
        .map_err(|error| format!("cannot open the binary log: {error}"))?;
    if let Some(cut) = &recovery.cut {
        tracing::warn!("the end of the binary log was torn by a crash: {cut}");
    }
    let catalog = crate::recovery::recover(
        &storage,
        &log,
        recovery.start,
        initial_accounts,
        match acknowledgement {
            Acknowledgement::SemiSync(_) => {
                EventOrigins::Only(ServerId(globals.number(Variable::ServerId) as u32))
            }
            Acknowledgement::Cluster => EventOrigins::All,
        },
    )?;
    let held = match acknowledgement {
        Acknowledgement::SemiSync(_) => None,
        Acknowledgement::Cluster => {
            let end = log.durable_end();
            Some(HeldLog::new(end.index, end.position))
        }
    };
    let acknowledger: Box<dyn Acknowledger> = match (&held, acknowledgement) {
        (Some(held), _) => Box::new(ClusterAcknowledger(held.clone())),
        (None, Acknowledgement::SemiSync(semi_sync)) => Box::new(SemiSyncAcknowledger(semi_sync.clone())),
        (None, Acknowledgement::Cluster) => unreachable!("a cluster's log is held"),
    };
    let parts = ManagerParts {
        config: transaction_config(globals, paceline_txn::Config::default()),
        acknowledger,
        fatal_hook: Box::new(|reason| {
            let message =
                format!("{reason}; the server stops, because a log that failed once is not to be trusted");
            tracing::error!("{message}");
            // A program around the server may collect no messages. This one must not be missed.
            if !tracing::dispatcher::has_been_set() {
                eprintln!("paceline: {message}");
            }
            std::process::abort();
        }),
        ..ManagerParts::new(log, recovery.state, storage)
    };
    let transactions = Arc::new(TransactionManager::open(parts));
    Ok((catalog, transactions, held))
}

/// Sets the informational variables about this server and its files.
fn fill_in(globals: &Globals, directory: &Path, log_bin: &str, socket: &Path) {
    let text = |variable: Variable, value: String| globals.set_text(variable, value);
    let inside = |name: &str| directory.join(name).display().to_string();
    text(Variable::Datadir, format!("{}/", directory.display()));
    text(Variable::Socket, socket.display().to_string());
    text(Variable::LogBinBasename, inside(log_bin));
    text(Variable::LogBinIndex, inside(&format!("{log_bin}.index")));
    if globals.get(Variable::PidFile).as_str().is_empty() {
        text(Variable::PidFile, inside(PID_FILE));
    } else {
        text(Variable::PidFile, inside(globals.get(Variable::PidFile).as_str()));
    }
    text(Variable::Version, version());
    text(
        Variable::VersionComment,
        "Paceline, a replicated transactional server".into(),
    );
    text(Variable::VersionCompileMachine, std::env::consts::ARCH.into());
    text(Variable::VersionCompileOs, "Linux".into());
    text(
        Variable::VersionMallocLibrary,
        paceline_types::heap::name().into(),
    );
    text(Variable::InnodbVersion, "10.11.19".into());
    if globals.number(Variable::PacelineNativeFunctions) != 0 {
        text(Variable::HaveDynamicLoading, "YES".into());
    }
    let hostname = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    text(Variable::Hostname, hostname.trim().to_owned());
    for (variable, other, ending) in [
        (Variable::GeneralLogFile, None, ".log"),
        (
            Variable::SlowQueryLogFile,
            Some(Variable::LogSlowQueryFile),
            "-slow.log",
        ),
    ] {
        if globals.get(variable).as_str().is_empty() {
            text(variable, format!("{}{ending}", hostname.trim()));
        }
        if let Some(other) = other {
            globals.set(other, globals.get(variable));
        }
    }
    if globals.number(Variable::ReportPort) == 0 {
        globals.set(Variable::ReportPort, globals.get(Variable::Port));
    }
    text(Variable::SystemTimeZone, system_time_zone());
    if let Some(basedir) = std::env::current_exe()
        .ok()
        .and_then(|path| Some(path.parent()?.to_owned()))
    {
        text(Variable::Basedir, format!("{}/", basedir.display()));
    }
}

/// Returns the abbreviation of the machine's time zone.
fn system_time_zone() -> String {
    std::env::var("TZ")
        .ok()
        .filter(|zone| !zone.is_empty())
        .unwrap_or_else(|| "UTC".into())
}

/// Raises the limit of open files: two for each connection, and those of the table files.
fn raise_file_limit(globals: &Globals) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let wanted = globals.number(Variable::MaxConnections) * 2 + 8192;
    let limit = getrlimit(Resource::Nofile);
    let maximum = limit.maximum.unwrap_or(u64::MAX);
    let current = limit.current.unwrap_or(u64::MAX);
    if current < wanted {
        let raised = Rlimit {
            current: Some(wanted.min(maximum)),
            maximum: limit.maximum,
        };
        if let Err(error) = setrlimit(Resource::Nofile, raised) {
            tracing::warn!("cannot raise the limit of open files: {error}");
        }
    }
    let now = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    if now < wanted {
        tracing::warn!("{now} open files are allowed, {wanted} may be needed for max_connections");
    }
    globals.set(
        Variable::OpenFilesLimit,
        VariableValue::Unsigned(now.min(u64::from(u32::MAX))),
    );
}

/// Starts a task that ends idle sessions, once a second.
fn spawn_housekeeping(server: &Arc<Server>) {
    let server = server.clone();
    tokio::spawn(async move {
        let mut tick = tokio::time::interval(Duration::from_secs(1));
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = tick.tick() => server.sessions.end_idle(),
                () = server.shutdown_requested() => return,
            }
        }
    });
}

fn watch_signals(server: &Arc<Server>) -> Result<(), String> {
    use tokio::signal::unix::{SignalKind, signal};
    let failed = |error: std::io::Error| format!("cannot watch signals: {error}");
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let mut hangup = signal(SignalKind::hangup()).map_err(failed)?;
    let server = server.clone();
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = terminate.recv() => tracing::info!("SIGTERM: shutting down"),
                _ = interrupt.recv() => tracing::info!("SIGINT: shutting down"),
                // A closed terminal does not stop the server.
                _ = hangup.recv() => continue,
            }
            server.request_shutdown();
            return;
        }
    });
    Ok(())
}

/// Lets the commits of a member of a cluster end: those that the others acknowledge soon are reported, the rest remains
/// undecided in the log.
async fn give_up_unacknowledged(server: &Arc<Server>) -> Result<(), String> {
    let deadline = Instant::now() + ACKNOWLEDGED_WITHIN;
    while server.sessions.stop_clients() > 0 && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let transactions = server.transactions.clone();
    let given_up = tokio::task::spawn_blocking(move || transactions.give_up_unacknowledged()).await;
    match given_up {
        Ok(Ok(0)) => Ok(()),
        Ok(Ok(count)) => {
            tracing::warn!(
                "{count} transactions are in the log and not acknowledged by the cluster; their clients were not told"
            );
            Ok(())
        }
        Ok(Err(error)) => Err(error.to_string()),
        Err(error) => Err(format!("the end was interrupted: {error}")),
    }
}

/// Shuts down cleanly: notifies the sessions, then flushes the engines and writes the Stop event to the log.
async fn stop(server: &Arc<Server>) -> Result<(), String> {
    server.sessions.stop_clients();
    if tokio::time::timeout(STOP_PATIENCE, server.replicas().stop_all())
        .await
        .is_err()
    {
        tracing::warn!("connections to primaries did not end in time");
    }
    let deadline = Instant::now() + GRACE;
    if server.cluster.is_some() {
        give_up_unacknowledged(server).await?;
    }
    let semi_sync = server.primary.semi_sync();
    // No replica connects any more. A commit that waits for more replicas than are connected waits in vain.
    let in_vain = || semi_sync.waits_in_vain() as usize;
    // The streams end last, because a commit may wait for an acknowledgement.
    while server.sessions.stop_clients() > in_vain() && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let unacknowledged = in_vain();
    if unacknowledged > 0 {
        tracing::warn!(
            "{unacknowledged} transactions are in the log and not acknowledged by a replica; their clients were not told"
        );
    }
    // Closed before the transactions for which the clients wait are published.
    server.sessions.close_clients();
    semi_sync.end();
    server.sessions.stop_all();
    while server.sessions.count() > 0 && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let left = server.sessions.count();
    if left > 0 {
        tracing::warn!("{left} sessions did not end; what they have not committed is rolled back");
        for session in server.sessions.all() {
            session.socket.close();
        }
    }
    server.statistics.write();
    let transactions = server.transactions.clone();
    let closed = tokio::task::spawn_blocking(move || transactions.close()).await;
    match closed {
        Ok(Ok(())) => {
            tracing::info!("shutdown complete");
            Ok(())
        }
        Ok(Err(error)) => Err(format!(
            "the log could not be closed cleanly, the next start replays it: {error}"
        )),
        Err(error) => Err(format!("the end was interrupted: {error}")),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::replication::ServerEnvironment;
    use crate::server::Choices;
    use paceline_replication::environment::Environment;

    /// Returns a server without listeners, on an empty directory.
    pub(crate) fn server(directory: &Path) -> Arc<Server> {
        let globals = Globals::default();
        fill_in(&globals, directory, "binlog", &directory.join("socket"));
        let semi_sync = SemiSync::new();
        let initial_accounts = InitialAccounts::WithoutPassword;
        let acknowledgement = Acknowledgement::SemiSync(&semi_sync);
        let (catalog, transactions, _) = open(
            directory,
            "binlog",
            &globals,
            &initial_accounts,
            acknowledgement,
            None,
        )
        .unwrap();
        let environment = {
            let transactions = transactions.clone();
            |server| Arc::new(ServerEnvironment::new(server, transactions, directory)) as Arc<dyn Environment>
        };
        Server::new(
            globals,
            initial_accounts,
            catalog,
            transactions,
            semi_sync,
            Choices::default(),
            environment,
        )
    }
}
