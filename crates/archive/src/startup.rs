//! Start and stop of an archive.
//!
//! ```text
//!   lock the directory ─▶ open the log ─▶ listen ─▶ "ready for connections" ─▶ follow
//!   stop following ─▶ write what was received ─▶ end the sessions ─▶ Stop event, close ─▶ unlock
//! ```

use crate::archive::{Archive, OpenedLog, version};
use crate::clock::unix_seconds;
use crate::closed_files::ClosedFiles;
use crate::disk::ArchiveDisk;
use crate::disk::names::LogNames;
use crate::disk::read_only::ReadOnlyDisk;
use crate::disk::remote::Fetcher;
use crate::error::{Error, Result};
use crate::follow;
use crate::http::Http;
use crate::index_from_storage::index_from_storage;
use crate::options::{ArchiveOptions, Role};
use crate::retention::RetentionTask;
use crate::serve::listener;
use crate::writer::{RunningWriter, Writer};
use paceline_binlog::Log;
use paceline_binlog::log::{LogConfig, OpenRequest, SyncMode};
use paceline_object_storage::ObjectStorage;
use paceline_types::ServerId;
use paceline_wire::listener::Listener;
use paceline_wire::tls::ServerTls;
use sd_notify::NotifyState;
use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Time that sessions have to end when the archive stops.
const GRACE: Duration = Duration::from_secs(10);
/// Name of the lock file.
const LOCK_FILE: &str = "paceline.lock";

/// A directory, locked for this process.
pub struct DataDirectory {
    /// Its path.
    pub path: PathBuf,
    _lock: File,
}

impl DataDirectory {
    /// Creates the directory if it does not exist, and locks it.
    ///
    /// # Errors
    /// [`Error::InUse`] if another archive has locked it; [`Error::Option`] if it is another server's data directory.
    pub fn lock(path: &Path) -> Result<DataDirectory> {
        let shown = path.display();
        for (found, whose) in OTHERS {
            if path.join(found).exists() {
                return Err(Error::Option(format!(
                    "{shown} is the data directory of a {whose} server, which has '{found}' there; an archive needs one of its own"
                )));
            }
        }
        paceline_storage::create_directory(path)
            .map_err(Error::system(format!("make the directory {shown}")))?;
        match paceline_storage::restrict_directory(path) {
            Ok(None) => {}
            Ok(Some(mode)) => tracing::warn!(
                "the directory {shown} had the permissions {mode:04o}: it is closed to other users now"
            ),
            Err(error) => {
                tracing::warn!(
                    "other users can enter the directory {shown}, and that cannot be changed: {error}"
                );
            }
        }
        let path = path
            .canonicalize()
            .map_err(Error::system(format!("find the directory {shown}")))?;
        let file = path.join(LOCK_FILE);
        let mut lock = File::options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&file)
            .map_err(Error::system(format!("open {}", file.display())))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let holder = std::fs::read_to_string(&file).unwrap_or_default();
                let holder = holder.trim().to_owned();
                return Err(Error::InUse { path, holder });
            }
            Err(TryLockError::Error(error)) => {
                return Err(Error::system(format!("lock {}", file.display()))(error));
            }
        }
        // For people only: the lock itself is what counts.
        let _ = lock.set_len(0);
        let _ = writeln!(lock, "{}", std::process::id());
        Ok(DataDirectory { path, _lock: lock })
    }
}

/// Files that identify other servers' data directories.
const OTHERS: [(&str, &str); 2] = [("tables", "Paceline"), ("ibdata1", "MariaDB or MySQL")];

/// Runs an archive until it is stopped by SIGTERM, SIGINT or SHUTDOWN.
///
/// # Errors
/// The reason why it could not start or could not continue.
pub fn run(options: ArchiveOptions) -> Result<()> {
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .thread_name("archive")
        .enable_all()
        .build()
        .map_err(Error::system("start threads"))?;
    let outcome = runtime.block_on(serve(&options));
    runtime.shutdown_timeout(Duration::from_secs(1));
    outcome
}

async fn serve(options: &ArchiveOptions) -> Result<()> {
    // Before the log is opened, which may take long: a probe sees that the archive is alive and not ready.
    let http = Http::start(options).await?;
    let closed_files = Arc::new(ClosedFiles::default());
    let stop = watch::Sender::new(false);
    // The lock is held until the end.
    let (mut archive, _directory) = match &options.role {
        Role::Follow { datadir, sources } => {
            let directory = DataDirectory::lock(datadir)?;
            let opened = open(options, &directory, closed_files.clone()).await?;
            (
                Archive::new(options, opened.0, sources, stop.clone(), None),
                Some(directory),
            )
        }
        Role::Serve { directory, log_bin } => {
            let opened = open_read_only(options, directory, log_bin.as_deref())?;
            (Archive::new(options, opened, &[], stop.clone(), None), None)
        }
    };
    archive.tls = match &options.tls {
        None => None,
        Some(tls) => Some(
            ServerTls::new(tls).map_err(|error| Error::Option(format!("TLS cannot be set up: {error}")))?,
        ),
    };
    let running = match archive.followers.is_empty() {
        true => None,
        false => Some(Writer::start(
            archive.context.log.clone(),
            archive.context.sendable.clone(),
            stop,
            closed_files,
        )?),
    };
    *archive.context.writer.lock() = running.as_ref().map(|running| running.writer.clone());
    let archive = Arc::new(archive);
    let socket = match (&options.socket, &options.role) {
        (Some(socket), _) => Some(socket.clone()),
        (None, Role::Follow { .. }) => Some(archive.context.datadir.join("archive.sock")),
        (None, Role::Serve { .. }) => None,
    };
    let listener = Listener::bind(&options.bind_address, options.port, socket.as_deref())
        .await
        .map_err(|error| Error::system(format!("listen on {}", error.at))(error.source))?;
    watch_signals(&archive)?;
    if let Some(http) = &http {
        http.running(&archive);
    }
    let reached = match archive.context.position() {
        position if position.is_empty() => "nothing archived yet".to_owned(),
        position => format!("at '{position}'"),
    };
    tracing::info!(
        "paceline {}: ready for connections. {}; server id {}, {reached}",
        version(),
        listener.addresses(),
        archive.context.server_id
    );
    let _ = sd_notify::notify(&[NotifyState::Ready]);
    if let Some(retention) = &archive.retention {
        tokio::spawn(retention.clone().run(archive.context.clone()));
    }
    let followers: Vec<JoinHandle<()>> = archive
        .followers
        .iter()
        .map(|follower| tokio::spawn(follow::run(follower.clone(), archive.context.clone())))
        .collect();
    listener::serve(&listener, &archive).await;
    drop(listener);
    if let Some(http) = &http {
        http.stopping();
    }
    let _ = sd_notify::notify(&[NotifyState::Stopping]);
    stop_all(&archive, followers, running).await
}

/// Returns the settings of an archive's log.
pub(crate) fn log_config(options: &ArchiveOptions, directory: &DataDirectory) -> LogConfig {
    let server_id = options.server_id.unwrap_or_else(|| server_id_of(&directory.path));
    LogConfig {
        server_version: version(),
        file_size_max: options.file_size_max,
        sync_mode: SyncMode::Deferred,
        ..LogConfig::new(&directory.path, &options.log_bin, server_id)
    }
}

/// Opens the log, and returns it with its disk. Recovery starts at the last file: there are no tables into which the
/// log must be replayed.
pub(crate) async fn open(
    options: &ArchiveOptions,
    directory: &DataDirectory,
    closed_files: Arc<ClosedFiles>,
) -> Result<(OpenedLog, ArchiveDisk)> {
    let (storage, fetcher) = match &options.storage {
        None => (None, None),
        Some(place) => {
            let storage = ObjectStorage::open(place)?;
            storage.remove_unfinished("").await?;
            let fetcher = Fetcher::start(place).map_err(Error::system("read from object storage"))?;
            let found = index_from_storage(&storage, &fetcher, &directory.path, &options.log_bin).await?;
            if found > 0 {
                tracing::info!("going on behind {found} files in {}", storage.place());
            }
            (Some(storage), Some(fetcher))
        }
    };
    let disk = ArchiveDisk::new(fetcher);
    let config = log_config(options, directory);
    let server_id = config.server_id;
    let (log, recovery) = tokio::task::block_in_place(|| {
        Log::open(Arc::new(disk.clone()), config, OpenRequest::new(unix_seconds()))
    })?;
    if let Some(cut) = &recovery.cut {
        tracing::warn!("the end of the log was torn by a crash: {cut}");
    }
    log.write_checkpoint(log.written(), unix_seconds())?;
    let retention = RetentionTask::new(
        disk.clone(),
        &directory.path,
        storage,
        options.compression,
        options.retention,
        closed_files,
    );
    let opened = OpenedLog {
        datadir: directory.path.clone(),
        server_id,
        log,
        retention: Some(Arc::new(retention)),
    };
    Ok((opened, disk))
}

/// Opens the files that another server has left.
fn open_read_only(options: &ArchiveOptions, directory: &Path, log_bin: Option<&str>) -> Result<OpenedLog> {
    let datadir = directory.canonicalize().map_err(Error::system(format!(
        "find the directory {}",
        directory.display()
    )))?;
    let log_bin = match log_bin {
        Some(name) => name.to_owned(),
        None => LogNames::in_directory(&datadir)?.base_name,
    };
    let began = Instant::now();
    let (log, found) = Log::open_read_only(Arc::new(ReadOnlyDisk::default()), &datadir, &log_bin)?;
    for cut in &found.cuts {
        tracing::warn!(
            "'{}' was torn: it is served up to its last whole transaction, which ends at {}; {} bytes behind that are left out",
            cut.file,
            cut.offset,
            cut.length
        );
    }
    tracing::info!(
        "{} files with {} bytes are whole (read in {:.1} s)",
        log.files().len(),
        found.bytes,
        began.elapsed().as_secs_f64()
    );
    Ok(OpenedLog {
        server_id: options.server_id.unwrap_or_else(|| server_id_of(&datadir)),
        datadir,
        log,
        retention: None,
    })
}

/// Derives a server id from the host name and the directory, so it remains the same. It is in the upper half of the
/// range, which is rarely assigned by hand.
fn server_id_of(directory: &Path) -> ServerId {
    let mut name = std::fs::read("/proc/sys/kernel/hostname").unwrap_or_default();
    name.extend_from_slice(directory.as_os_str().as_encoded_bytes());
    ServerId(crc32fast::hash(&name) | 1 << 31)
}

fn watch_signals(archive: &Arc<Archive>) -> Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let watched = |kind| signal(kind).map_err(Error::system("watch signals"));
    let mut terminate = watched(SignalKind::terminate())?;
    let mut interrupt = watched(SignalKind::interrupt())?;
    let mut hangup = watched(SignalKind::hangup())?;
    let archive = archive.clone();
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = terminate.recv() => tracing::info!("SIGTERM: shutting down"),
                _ = interrupt.recv() => tracing::info!("SIGINT: shutting down"),
                // Closing the terminal does not stop an archive.
                _ = hangup.recv() => continue,
            }
            archive.context.request_stop();
            return;
        }
    });
    Ok(())
}

/// Stops cleanly: ends receiving and the sessions, and writes everything received.
pub(crate) async fn stop_all(
    archive: &Arc<Archive>,
    followers: Vec<JoinHandle<()>>,
    running: Option<RunningWriter>,
) -> Result<()> {
    for follower in followers {
        let _ = follower.await;
    }
    let deadline = Instant::now() + GRACE;
    archive.sessions.stop_all();
    while archive.sessions.count() > 0 && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    *archive.context.writer.lock() = None;
    let written = match running {
        // Files of another server are never written.
        None => Ok(()),
        Some(RunningWriter { writer, thread }) => {
            drop(writer);
            let ended = tokio::task::spawn_blocking(move || thread.join()).await;
            match ended {
                Ok(Ok(done)) => done,
                _ => Err(Error::Failed(
                    "the thread that writes the log has panicked".into(),
                )),
            }
        }
    };
    if written.is_ok() {
        tracing::info!("shutdown complete");
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_can_be_locked_once_at_a_time() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("new/data");
        let first = DataDirectory::lock(&path).unwrap();
        let refused = DataDirectory::lock(&path).err().unwrap().to_string();
        assert!(refused.contains(&std::process::id().to_string()), "{refused}");
        drop(first);
        DataDirectory::lock(&path).unwrap();
    }

    #[test]
    fn the_server_id_of_a_directory_does_not_change() {
        let one = server_id_of(Path::new("/a"));
        assert_eq!(one, server_id_of(Path::new("/a")));
        assert_ne!(one, server_id_of(Path::new("/b")));
        assert!(one.0 >= 1 << 31);
    }
}
