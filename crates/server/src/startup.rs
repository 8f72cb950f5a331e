//! From options to a running server, and back.
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
//!     paceline.lock            held while a server runs on it; its process id
//!     paceline.unfinished      there while the directory is being made (`crate::unfinished`): no server starts on it
//!     paceline.pid             the process id, gone when the server has stopped (mariadb-admin shutdown waits for that)
//!     binlog.index             the log's files, in order
//!     binlog.000001 …          the log
//!     tables/                  the engine's files
//! ```

use crate::listener;
use crate::options::{OfferTls, StartOptions, absolute};
use crate::replication::ServerEnvironment;
use crate::server::Server;
use crate::unfinished::{Unfinished, refuse_unfinished};
use crate::variables::{Globals, Kind, Setting, Variable, transaction_config};
use crate::whose::refuse_anothers;
use paceline_binlog::History;
use paceline_binlog::log::{Log, LogConfig, OpenRequest, RealDisk, SyncMode};
use paceline_replication::primary::{SemiSync, SemiSyncAcknowledger};
use paceline_replication::replica::environment::Environment;
use paceline_replication::replica::replicas::STOP_PATIENCE;
use paceline_sql::catalog::CatalogHandle;
use paceline_storage::{Storage, StorageConfig};
use paceline_txn::{GtidChoice, ManagerParts, Replication, TransactionManager};
use paceline_types::{DomainId, ServerId};
use paceline_wire::listener::Listener;
use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// What `SELECT VERSION()` says: MariaDB's version whose behaviour this is, and what it really is.
pub fn version() -> String {
    format!("10.11.19-MariaDB-paceline-{}", env!("CARGO_PKG_VERSION"))
}

/// The file with the process id.
const PID_FILE: &str = "paceline.pid";

/// How long a start waits for the server before it to give the data directory free: the memory of one that was killed takes the kernel a
/// while. MariaDB waits too.
const LOCK_PATIENCE: Duration = Duration::from_secs(10);

/// How often it looks.
const LOCK_RETRY: Duration = Duration::from_millis(50);

/// How long sessions have to end when the server stops.
const GRACE: Duration = Duration::from_secs(10);

/// A data directory, locked for this process.
#[derive(Debug)]
pub struct DataDirectory {
    path: PathBuf,
    _lock: File,
}

impl DataDirectory {
    /// Locks it. A server that was killed a moment ago may still be ending: its lock is waited for, for `patience`.
    ///
    /// # Errors
    /// For people: who has it, or why it cannot be locked.
    pub fn lock(path: &Path, patience: Duration) -> Result<DataDirectory, String> {
        let shown = path.display();
        paceline_storage::create_directory(path)
            .map_err(|error| format!("cannot make the data directory {shown}: {error}"))?;
        let file = path.join("paceline.lock");
        let mut lock = File::options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&file)
            .map_err(|error| format!("cannot open {}: {error}", file.display()))?;
        let deadline = Instant::now() + patience;
        let mut locked = lock.try_lock();
        if matches!(locked, Err(TryLockError::WouldBlock)) && !patience.is_zero() {
            tracing::info!("the data directory {shown} is in use; waiting for its server to end");
        }
        while matches!(locked, Err(TryLockError::WouldBlock)) && Instant::now() < deadline {
            std::thread::sleep(LOCK_RETRY);
            locked = lock.try_lock();
        }
        match locked {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let holder = std::fs::read_to_string(&file).unwrap_or_default();
                return Err(format!(
                    "the data directory {shown} is in use by another server (process {})",
                    holder.trim()
                ));
            }
            Err(TryLockError::Error(error)) => {
                return Err(format!("cannot lock {}: {error}", file.display()));
            }
        }
        let _ = lock.set_len(0);
        let _ = writeln!(lock, "{}", std::process::id());
        let path = path.canonicalize().map_err(|error| format!("{shown}: {error}"))?;
        Ok(DataDirectory { path, _lock: lock })
    }
}

/// Runs a server until it is told to stop: SIGTERM, SIGINT, SHUTDOWN.
///
/// # Errors
/// Why it could not start, or not stop cleanly; for people.
pub fn run(options: StartOptions) -> Result<(), String> {
    refuse_unfinished(&options.datadir)?;
    refuse_anothers(&options.datadir, &options.log_bin)?;
    run_in(options)
}

/// Runs a server in a directory that is being made, for who makes it.
///
/// # Errors
/// As [`run`].
pub fn run_unfinished(options: StartOptions, directory: &Unfinished) -> Result<(), String> {
    if options.datadir != directory.directory() {
        return Err(format!(
            "{} is not the directory that is being made",
            options.datadir.display()
        ));
    }
    run_in(options)
}

fn run_in(options: StartOptions) -> Result<(), String> {
    for warning in &options.warnings {
        tracing::warn!("{warning}");
    }
    raise_file_limit(&options.globals);
    let directory = DataDirectory::lock(&options.datadir, LOCK_PATIENCE)?;
    let workers = match options.globals.number(Variable::PacelineWorkerThreads) {
        0 => std::thread::available_parallelism().map_or(2, usize::from),
        count => count as usize,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        // Who waits for a lock occupies a thread, and so does everybody else who has to block.
        .max_blocking_threads(blocking_threads_max())
        .thread_name("paceline")
        // A deeply nested statement is walked by recursion; what is not used costs no memory.
        .thread_stack_size(8 << 20)
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start threads: {error}"))?;
    let outcome = runtime.block_on(serve(options, &directory));
    runtime.shutdown_timeout(Duration::from_secs(1));
    let _ = std::fs::remove_file(directory.path.join(PID_FILE));
    outcome
}

/// `max_connections` can be raised while sessions wait, and the number of threads cannot: were there none left, nobody could serve the COMMIT or the
/// KILL that ends the waits. Threads are made when they are needed; a few are for the server's own work.
fn blocking_threads_max() -> usize {
    let Kind::Unsigned { max, .. } = Variable::MaxConnections.definition().kind else {
        unreachable!("connections are counted")
    };
    max as usize + 64
}

async fn serve(options: StartOptions, directory: &DataDirectory) -> Result<(), String> {
    let started = Instant::now();
    let (port, address, socket) = (options.port(), options.bind_address(), absolute(&options.socket));
    let log_bin = options.log_bin.clone();
    fill_in(&options.globals, &directory.path, &log_bin, &socket);
    let semi_sync = SemiSync::new();
    let (catalog, transactions) = open(&directory.path, &log_bin, &options.globals, &semi_sync)?;
    let is_new = catalog.load().accounts().next().is_none();
    let environment = {
        let transactions = transactions.clone();
        |server| Arc::new(ServerEnvironment::new(server, transactions)) as Arc<dyn Environment>
    };
    let (globals, filters) = (options.globals, options.filters);
    let server = Server::new(globals, catalog, transactions, semi_sync, filters, environment);
    if options.tls == OfferTls::Yes {
        server.tls.offer(&server.globals)?;
    }
    let gtid = GtidChoice::Next {
        domain_id: DomainId(server.globals.number(Variable::GtidDomainId) as u32),
        server_id: ServerId(server.globals.number(Variable::ServerId) as u32),
    };
    // A replica's tables are its own affair: its GTIDs are its primary's. So they are where nothing was written yet, or nothing behind what
    // was restored: that may become a replica. One that was promoted has replicas of its own.
    let transactions = &server.transactions;
    let logged = transactions.gtid_state().position();
    let is_untouched_copy = || {
        transactions.log().replica_state().history == History::Copied
            && transactions.replicated_position().covers(&logged)
    };
    let is_followers = !server.replicas().all().is_empty() || logged.is_empty() || is_untouched_copy();
    let replication = match is_followers {
        true => Replication::LocalOnly,
        false => Replication::Replicated,
    };
    paceline_apply::empty_memory_tables(&server.transactions, &server.catalog, gtid, replication)
        .map_err(|error| format!("the MEMORY tables cannot be emptied: {error}"))?;
    let listener = Listener::bind(&address, port, Some(&socket))
        .await
        .map_err(|error| error.to_string())?;
    if let Some(port) = listener.port() {
        server
            .globals
            .set(Variable::Port, Setting::Unsigned(u64::from(port)));
    }
    if is_new {
        tracing::info!(
            "nobody has made an account yet: 'root' may log in without a password, from this machine only"
        );
    }
    std::fs::write(directory.path.join(PID_FILE), format!("{}\n", std::process::id()))
        .map_err(|error| format!("cannot write {PID_FILE}: {error}"))?;
    spawn_housekeeping(&server);
    tokio::spawn(server.primary.semi_sync().clone().run_timer());
    watch_signals(&server)?;
    let version = server.globals.get(Variable::Version);
    tracing::info!("started in {:.1} s", started.elapsed().as_secs_f64());
    let line = format!(
        "paceline {}: ready for connections. {}",
        version.as_str(),
        listener.addresses()
    );
    tracing::info!("{line}");
    if !server.globals.is_on(Variable::SkipSlaveStart) {
        server.replicas().start_all().await;
    }
    listener::serve(&listener, &server).await;
    drop(listener);
    stop(&server).await
}

/// Opens tables and log, and replays what the tables do not hold yet.
fn open(
    directory: &Path,
    log_bin: &str,
    globals: &Globals,
    semi_sync: &Arc<SemiSync>,
) -> Result<(Arc<CatalogHandle>, Arc<TransactionManager>), String> {
    let mut storage_config = StorageConfig::new(directory.join("tables"));
    storage_config.rocksdb.block_cache_bytes = globals.number(Variable::PacelineBlockCacheSize) as usize;
    storage_config.rocksdb.memtable_bytes = globals.number(Variable::PacelineMemtableSize) as usize;
    let storage =
        Storage::open(&storage_config).map_err(|error| format!("cannot open the tables: {error}"))?;
    let storage = Arc::new(storage);
    let server_id = ServerId(globals.number(Variable::ServerId) as u32);
    let log_config = LogConfig {
        server_version: version(),
        file_size_max: globals.number(Variable::MaxBinlogSize),
        prepare_step: globals.number(Variable::PacelineLogBlockSize),
        sync_mode: match globals.number(Variable::SyncBinlog) {
            0 => SyncMode::Deferred,
            _ => SyncMode::EachGroup,
        },
        ..LogConfig::new(directory, log_bin, server_id)
    };
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs();
    let request = OpenRequest {
        engine_position: storage.position(),
        ..OpenRequest::new(now as u32)
    };
    let (log, recovery) = Log::open(Arc::new(RealDisk), log_config, request)
        .map_err(|error| format!("cannot open the binary log: {error}"))?;
    if let Some(cut) = &recovery.cut {
        tracing::warn!("the end of the binary log was torn by a crash: {cut:?}");
    }
    let catalog = crate::recovery::recover(&storage, &log, recovery.start)?;
    let parts = ManagerParts {
        config: transaction_config(globals, paceline_txn::Config::default()),
        acknowledger: Box::new(SemiSyncAcknowledger(semi_sync.clone())),
        fatal_hook: Box::new(|reason| {
            tracing::error!(
                "{reason}; the server stops, because a log that failed once is not to be trusted"
            );
            std::process::abort();
        }),
        ..ManagerParts::new(log, recovery.state, storage)
    };
    let transactions = Arc::new(TransactionManager::open(parts));
    Ok((catalog, transactions))
}

/// Variables that say where and what this server is.
fn fill_in(globals: &Globals, directory: &Path, log_bin: &str, socket: &Path) {
    let text = |variable: Variable, value: String| globals.set_text(variable, value);
    let inside = |name: &str| directory.join(name).display().to_string();
    text(Variable::Datadir, format!("{}/", directory.display()));
    text(Variable::Socket, socket.display().to_string());
    text(Variable::LogBinBasename, inside(log_bin));
    text(Variable::LogBinIndex, inside(&format!("{log_bin}.index")));
    text(Variable::PidFile, inside(PID_FILE));
    text(Variable::Version, version());
    text(
        Variable::VersionComment,
        "Paceline, a replicated transactional server".into(),
    );
    text(Variable::VersionCompileMachine, std::env::consts::ARCH.into());
    text(Variable::VersionCompileOs, "Linux".into());
    text(Variable::VersionMallocLibrary, "system".into());
    text(Variable::InnodbVersion, "10.11.19".into());
    let hostname = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    text(Variable::Hostname, hostname.trim().to_owned());
    text(Variable::SystemTimeZone, system_time_zone());
    if let Some(basedir) = std::env::current_exe()
        .ok()
        .and_then(|path| Some(path.parent()?.to_owned()))
    {
        text(Variable::Basedir, format!("{}/", basedir.display()));
    }
}

/// The abbreviation of the machine's time zone.
fn system_time_zone() -> String {
    std::env::var("TZ")
        .ok()
        .filter(|zone| !zone.is_empty())
        .unwrap_or_else(|| "UTC".into())
}

/// Descriptors for every connection (two each) and for the table files.
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
        Setting::Unsigned(now.min(u64::from(u32::MAX))),
    );
}

/// What is done once a second, beside the sessions: ending those that slept too long.
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
                // A terminal that closes does not stop a server.
                _ = hangup.recv() => continue,
            }
            server.request_shutdown();
            return;
        }
    });
    Ok(())
}

/// A clean end: sessions are told, then the engines are flushed and the log gets its Stop event.
async fn stop(server: &Arc<Server>) -> Result<(), String> {
    server.sessions.stop_clients();
    if tokio::time::timeout(STOP_PATIENCE, server.replicas().stop_all())
        .await
        .is_err()
    {
        tracing::warn!("connections to primaries did not end in time");
    }
    let deadline = Instant::now() + GRACE;
    let semi_sync = server.primary.semi_sync();
    // Nobody connects any more: who waits for more replicas than there are waits in vain.
    let in_vain = || semi_sync.waits_in_vain() as usize;
    // The streams last: a commit may be waiting for what a replica acknowledges.
    while server.sessions.stop_clients() > in_vain() && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let unacknowledged = in_vain();
    if unacknowledged > 0 {
        tracing::warn!(
            "{unacknowledged} transactions are in the log and not acknowledged by a replica; their clients were not told"
        );
    }
    // Before what they wait for is published.
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
    use crate::replica_filters::ReplicaFilters;

    /// A server that nobody can connect to, on an empty directory.
    pub(crate) fn server(directory: &Path) -> Arc<Server> {
        let globals = Globals::default();
        fill_in(&globals, directory, "binlog", &directory.join("socket"));
        let semi_sync = SemiSync::new();
        let (catalog, transactions) = open(directory, "binlog", &globals, &semi_sync).unwrap();
        let environment = {
            let transactions = transactions.clone();
            |server| Arc::new(ServerEnvironment::new(server, transactions)) as Arc<dyn Environment>
        };
        let filters = ReplicaFilters::default();
        Server::new(globals, catalog, transactions, semi_sync, filters, environment)
    }

    #[test]
    fn a_data_directory_is_for_one_server() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("new/data");
        let first = DataDirectory::lock(&path, Duration::ZERO).unwrap();
        let refused = DataDirectory::lock(&path, Duration::ZERO).err().unwrap();
        assert!(refused.contains("is in use by another server"), "{refused}");
        assert!(refused.contains(&std::process::id().to_string()));
        let ends = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(200));
            drop(first);
        });
        DataDirectory::lock(&path, Duration::from_secs(20)).unwrap();
        ends.join().unwrap();
    }
}
