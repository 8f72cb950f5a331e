//! A read-only log over the files that another server has left.
//!
//! The files are those of MariaDB 10.0 or later, or of Paceline, in a directory that contains nothing else of that
//! server. They keep their names, so a replica may ask for a file and an offset as well as for GTIDs. Ordinals are
//! assigned in the order of the files. A file with space that was prepared for later is not part of the log.
//!
//! Nothing is known of these files except their content, so each is read to its end. A file may end with a write that
//! a crash has torn; it then counts up to its last whole event group. But no valid event may follow a bad place, and
//! each file must continue where the one before it ends. If something is damaged or missing, the error names it and
//! nothing is served.

use crate::disk::Disk;
use crate::epoch::EpochHistory;
use crate::error::{Error, Result};
use crate::gtid::GtidState;
use crate::log::extent::LogExtent;
use crate::log::files::active_file::ActiveFile;
use crate::log::files::entry::{FileEntry, file_name};
use crate::log::files::head::{FileHead, Origin};
use crate::log::files::index_file::IndexFile;
use crate::log::files::tail::read_tail;
use crate::log::handle::{Inner, Log, LogLifecycle, Writer};
use crate::log::offline::directory::log_file_names;
use crate::log::opening::recovery::CutTail;
use crate::replica_state::ReplicaState;
use crate::sync_mode::SyncMode;
use paceline_types::{Gtid, LogPosition, ServerId};
use parking_lot::{Mutex, RwLock};
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

/// Result of opening a foreign log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadOnlyLog {
    /// The torn ends of files.
    pub cuts: Vec<CutTail>,
    /// Number of bytes read.
    pub bytes: u64,
}

impl Log {
    /// Opens the log files that another server has left in a directory, for reading only. GTID indexes are written
    /// beside the files where that is possible.
    ///
    /// # Errors
    /// [`Error::MissingFile`] if there is no file of that base name; [`Error::Damaged`], [`Error::Gap`] for files
    /// that are damaged, are not logs with GTIDs and checksums, or do not follow each other; [`Error::Encrypted`].
    pub fn open_read_only(
        disk: Arc<dyn Disk>,
        directory: &Path,
        base_name: &str,
    ) -> Result<(Log, ReadOnlyLog)> {
        let io_error = |operation: &'static str, path: &Path| {
            let path = path.to_owned();
            move |source| Error::Io {
                operation,
                path,
                source,
            }
        };
        let mut report = ReadOnlyLog {
            cuts: Vec::new(),
            bytes: 0,
        };
        let mut files = Vec::new();
        let mut before: Option<(String, GtidState)> = None;
        let mut epochs = EpochHistory::default();
        let mut last = None;
        let names = log_file_names(&disk, directory, base_name)?;
        for (at, (number, name)) in names.into_iter().enumerate() {
            let path = directory.join(&name);
            let ordinal = u32::try_from(at + 1).map_err(|_| Error::NumbersExhausted)?;
            let file = disk.open(&path).map_err(io_error("open", &path))?;
            let mut head = FileHead::read_as(&file, &name, Origin::Foreign { ordinal })?;
            if head.epochs.is_empty() {
                // MariaDB's files do not repeat them.
                head.epochs = std::mem::take(&mut epochs);
            }
            if let Some((before, state)) = &before {
                check_follows(&name, &head.state, before, state)?;
            }
            let tail = read_tail(&file, &name, &head)?;
            epochs = tail.epochs;
            report.bytes += tail.end;
            if tail.garbage > 0 {
                report.cuts.push(CutTail {
                    file: name.clone(),
                    offset: tail.end,
                    length: tail.garbage,
                });
            }
            let modified = disk.modified(&path).unwrap_or(SystemTime::UNIX_EPOCH);
            before = Some((name.clone(), tail.builder.state().clone()));
            let index_path = directory.join(format!("{name}.idx"));
            if let Err(error) = tail.builder.index().save(&*disk, &index_path, ordinal, tail.end) {
                tracing::debug!("the GTID index of '{name}' is not kept: {error}");
            }
            files.push(Arc::new(FileEntry::new(
                name.clone(),
                number,
                head,
                tail.end,
                modified,
            )));
            last = Some((name, number, ordinal, file, path, tail.end, tail.builder));
        }
        let Some((name, number, ordinal, file, path, end, builder)) = last else {
            return Err(Error::MissingFile(file_name(base_name, 1)));
        };
        let active = ActiveFile::new(name, number, ordinal, file, path, end, builder);
        let inner = read_only(disk, directory, base_name, files, active, end, epochs);
        Ok((
            Log {
                inner: Arc::new(inner),
            },
            report,
        ))
    }
}

/// Checks that a file continues where the file before it ends. Domains may have been deleted in between.
pub(in crate::log) fn check_follows(
    name: &str,
    state: &GtidState,
    before: &str,
    end: &GtidState,
) -> Result<()> {
    let is_kept = |gtid: Gtid| state.last_of(gtid.domain_id, gtid.server_id) == Some(gtid);
    let follows = state
        .iter()
        .all(|gtid| end.last_of(gtid.domain_id, gtid.server_id) == Some(gtid))
        && end
            .iter()
            .all(|gtid| is_kept(gtid) || state.last(gtid.domain_id).is_none());
    if follows {
        return Ok(());
    }
    Err(Error::Damaged {
        file: name.to_owned(),
        offset: 0,
        problem: format!(
            "it begins behind '{}', but the file before it, '{before}', ends with '{}': what is between them is missing",
            state.position(),
            end.position()
        ),
    })
}

/// Returns a log whose last file is finished and which takes no writes.
fn read_only(
    disk: Arc<dyn Disk>,
    directory: &Path,
    base_name: &str,
    files: Vec<Arc<FileEntry>>,
    active: ActiveFile,
    end: u64,
    epochs: EpochHistory,
) -> Inner {
    let position = LogPosition::new(active.ordinal, end);
    let extent = LogExtent::new(position, active.index.lock().state(), epochs);
    let active = Arc::new(active);
    Inner {
        index: Mutex::new(IndexFile::new(Arc::clone(&disk), directory, base_name)),
        disk,
        directory: directory.to_owned(),
        base_name: base_name.to_owned(),
        server_id: ServerId(0),
        server_version: String::new(),
        prepare_step: 0,
        file_size_max: AtomicU64::new(u64::MAX),
        next_large: AtomicU64::new(1),
        files: RwLock::new(files),
        active: RwLock::new(Arc::clone(&active)),
        writer: Mutex::new(Writer {
            active,
            end,
            sync_mode: SyncMode::Deferred,
            prefix: Vec::new(),
            recorded_durable: position,
            timestamp: 0,
            life: LogLifecycle::Closed,
        }),
        prepared_file: Mutex::new(None),
        written: AtomicU64::new(position.as_u64()),
        durable: AtomicU64::new(position.as_u64()),
        extent: Mutex::new(extent),
        // Nothing is ever purged.
        checkpoint: AtomicU64::new(0),
        replica: Mutex::new(ReplicaState::default()),
        poison: OnceLock::new(),
    }
}
