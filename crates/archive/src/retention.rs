//! The task that looks after closed files: compresses them, copies them to object storage, and removes them when they
//! are old or use too much space.
//!
//! ```text
//!   closed ──▶ compressed ──▶ also in object storage ──▶ old, or too much local space: only there (a stub remains)
//!                    └───────── no object storage ─────▶ old, or too much local space: removed
//! ```
//!
//! The task handles the oldest file first. The state of a file is visible in the directory
//! and in the storage, and recorded nowhere else. Retention never removes a file that is not in the storage yet;
//! without a storage it never removes a file that a replica reads. If the storage holds an object with a file's name
//! but other content, the object is never replaced: another archive writes to the same place, and an operator must
//! resolve that.
//!
//! While the log is empty, its files are ignored. They are deleted when the primaries report where the log begins
//! ([`crate::log_start`]), and other files then get their names.

use crate::closed_files::ClosedFiles;
use crate::context::ArchiveContext;
use crate::disk::framed::{Frames, LocalFrames};
use crate::disk::remote::write_stub;
use crate::disk::seekable::compress;
use crate::disk::{ArchiveDisk, COMPRESSED, FileForm, STUB, UNFINISHED, sync_directory_of, with_suffix};
use crate::options::{Compression, Retention};
use paceline_binlog::log::{LogFile, PurgeTarget};
use paceline_object_storage::{Error as StorageError, ObjectStorage};
use parking_lot::Mutex;
use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::io::AsyncReadExt;

/// Interval between rounds if no file is closed. Files also have to be removed because of their age.
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// Bytes passed to the storage at a time.
const UPLOAD_PIECE: usize = 1 << 20;

/// Bytes at the beginning and at the end of an object that are compared with the file.
const COMPARED_BYTES: u64 = 64 << 10;

/// State of the retention task, for SHOW STATUS.
#[derive(Clone, Debug, Default)]
pub struct RetentionStatus {
    /// Number of closed files that are not compressed.
    pub plain: u64,
    /// Number of compressed files.
    pub compressed: u64,
    /// Number of files that are only in object storage.
    pub remote: u64,
    /// Number of files in object storage.
    pub uploaded: u64,
    /// Bytes in the directory.
    pub local_bytes: u64,
    /// Error of the last round; empty if it succeeded.
    pub error: String,
}

/// The task that looks after closed files.
pub struct RetentionTask {
    disk: ArchiveDisk,
    directory: PathBuf,
    storage: Option<ObjectStorage>,
    compression: Compression,
    retention: Retention,
    /// Receives closed files from the writer.
    closed_files: Arc<ClosedFiles>,
    /// Names of files known to be in the storage.
    uploaded: Mutex<HashSet<String>>,
    status: Mutex<RetentionStatus>,
}

/// Reason why a round could not be finished.
#[derive(Debug, thiserror::Error)]
enum RetentionError {
    #[error("{0}")]
    Disk(#[from] io::Error),
    #[error("{0}")]
    Storage(#[from] StorageError),
    #[error("{0}")]
    Log(#[from] paceline_binlog::Error),
    #[error(
        "'{object}' is in {place} with {there} bytes, and not the {here} bytes that it has here: another archive writes to the same place"
    )]
    OtherObject {
        object: String,
        place: String,
        there: u64,
        here: u64,
    },
    #[error(
        "'{object}' is in {place} as long as it is here, with other content: another archive writes to the same place, or it was damaged there"
    )]
    OtherContent { object: String, place: String },
}

impl RetentionTask {
    /// Creates the retention task of a directory.
    pub fn new(
        disk: ArchiveDisk,
        directory: &Path,
        storage: Option<ObjectStorage>,
        compression: Compression,
        retention: Retention,
        closed_files: Arc<ClosedFiles>,
    ) -> Self {
        RetentionTask {
            disk,
            directory: directory.to_owned(),
            storage,
            compression,
            retention,
            closed_files,
            uploaded: Mutex::default(),
            status: Mutex::default(),
        }
    }

    /// Returns the result of the last complete round, with the current error.
    pub fn status(&self) -> RetentionStatus {
        self.status.lock().clone()
    }

    /// Returns whether a file must be copied to object storage and is not known to be there yet.
    pub fn has_yet_to_copy(&self, name: &str) -> bool {
        self.storage.is_some() && !self.uploaded.lock().contains(name)
    }

    /// Runs until the archive stops.
    pub async fn run(self: Arc<Self>, context: Arc<ArchiveContext>) {
        self.remove_unfinished();
        loop {
            if let Err(error) = self.round(&context).await {
                let text = error.to_string();
                let before = std::mem::replace(&mut self.status.lock().error, text.clone());
                if before != text {
                    tracing::error!("archived files are kept as they are: {text}");
                }
            } else {
                self.status.lock().error.clear();
            }
            tokio::select! {
                () = self.closed_files.wait() => {}
                () = tokio::time::sleep(LOOK_EVERY) => {}
                () = context.stop_requested() => return,
            }
        }
    }

    /// Removes unfinished files that a crash has left.
    fn remove_unfinished(&self) {
        let Ok(entries) = fs::read_dir(&self.directory) else {
            return;
        };
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().ends_with(UNFINISHED) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    async fn round(&self, context: &ArchiveContext) -> Result<(), RetentionError> {
        // Checked before the files are listed: after this no name is used twice. It is not enough that the log has
        // begun: until it contains a transaction, it begins again at every start of the archive.
        if context.log.closed_state().is_empty() {
            return Ok(());
        }
        let mut files = {
            let _closing = self.closed_files.lock();
            context.log.files()
        };
        // The last file is still being written.
        files.pop();
        let mut status = RetentionStatus::default();
        let mut here = Vec::new();
        for file in files {
            if *context.stop.borrow() {
                return Ok(());
            }
            let path = self.directory.join(&file.name);
            let mut form = self.disk.form(&path)?;
            if matches!(form, Some((FileForm::Plain, _))) && self.compression == Compression::Zstd {
                let plain = path.clone();
                let made = tokio::task::spawn_blocking(move || compress_in_place(&plain)).await;
                made.map_err(io::Error::other)??;
                form = self.disk.form(&path)?;
            }
            let Some((form, bytes)) = form else {
                // The file has been purged meanwhile.
                continue;
            };
            match form {
                FileForm::Stub => {
                    self.uploaded.lock().insert(file.name.clone());
                }
                FileForm::Plain | FileForm::Compressed => self.upload(&file, form, bytes).await?,
            }
            match form {
                FileForm::Plain => status.plain += 1,
                FileForm::Compressed => status.compressed += 1,
                FileForm::Stub => status.remote += 1,
            }
            status.uploaded += u64::from(form == FileForm::Stub || self.uploaded.lock().contains(&file.name));
            status.local_bytes += bytes;
            here.push((file, form, bytes));
        }
        // Retention reads, writes and syncs files.
        tokio::task::block_in_place(|| self.retain(context, &here, &mut status))?;
        *self.status.lock() = status;
        Ok(())
    }

    /// Copies a file to the storage if it is not there yet.
    async fn upload(&self, file: &LogFile, form: FileForm, bytes: u64) -> Result<(), RetentionError> {
        let Some(storage) = &self.storage else {
            return Ok(());
        };
        if form != FileForm::Compressed || self.uploaded.lock().contains(&file.name) {
            return Ok(());
        }
        let object = format!("{}{COMPRESSED}", file.name);
        let path = with_suffix(&self.directory.join(&file.name), COMPRESSED);
        match storage.describe(&object).await {
            Ok(found) if found.length == bytes => {
                if !has_same_ends(storage, &object, &path, bytes).await? {
                    let place = storage.place().to_owned();
                    return Err(RetentionError::OtherContent { object, place });
                }
            }
            Ok(found) => {
                return Err(RetentionError::OtherObject {
                    object,
                    place: storage.place().to_owned(),
                    there: found.length,
                    here: bytes,
                });
            }
            Err(StorageError::NotFound { .. }) => {
                let mut source = tokio::fs::File::open(path).await?;
                let mut upload = storage.upload(&object).await?;
                let mut piece = vec![0; UPLOAD_PIECE];
                loop {
                    let length = source.read(&mut piece).await?;
                    if length == 0 {
                        break;
                    }
                    upload.write(piece[..length].to_vec()).await?;
                }
                upload.finish().await?;
                tracing::info!("'{object}' is in {}", storage.place());
            }
            Err(error) => return Err(error.into()),
        }
        self.uploaded.lock().insert(file.name.clone());
        Ok(())
    }

    /// Removes files that are too old or use too much space, oldest first.
    fn retain(
        &self,
        context: &ArchiveContext,
        here: &[(LogFile, FileForm, u64)],
        status: &mut RetentionStatus,
    ) -> Result<(), RetentionError> {
        let now = SystemTime::now();
        let mut bytes = status.local_bytes;
        for (file, form, size) in here.iter().filter(|(_, form, _)| *form != FileForm::Stub) {
            let age = now.duration_since(file.modified).unwrap_or_default();
            let is_old = self.retention.age_max.is_some_and(|limit| age > limit);
            let is_too_much = self.retention.bytes_max.is_some_and(|limit| bytes > limit);
            if !is_old && !is_too_much {
                break;
            }
            match &self.storage {
                None => {
                    if !purge(context, file)? {
                        break;
                    }
                    match form {
                        FileForm::Plain => status.plain -= 1,
                        FileForm::Compressed | FileForm::Stub => status.compressed -= 1,
                    }
                }
                Some(_) if self.uploaded.lock().contains(&file.name) => {
                    self.evict(&file.name)?;
                    status.compressed -= 1;
                    status.remote += 1;
                }
                Some(_) => break,
            }
            bytes -= size;
        }
        status.local_bytes = bytes;
        Ok(())
    }

    /// Replaces a file that is in the storage by a stub.
    fn evict(&self, name: &str) -> Result<(), RetentionError> {
        let path = self.directory.join(name);
        let compressed = with_suffix(&path, COMPRESSED);
        let (frames, table) = LocalFrames::open(&compressed)?;
        let first = match table.frame(0) {
            Some(frame) => frames.read(&frame)?,
            None => Vec::new(),
        };
        let modified = fs::metadata(&compressed)?.modified()?;
        write_stub(&with_suffix(&path, STUB), &first, &table, modified)?;
        fs::remove_file(&compressed)?;
        sync_directory_of(&compressed)?;
        tracing::info!("'{name}' is in object storage only from now on");
        Ok(())
    }
}

/// Returns whether an object of the same length has the same beginning and end as the file. The beginning contains the
/// archive's server id, the time and the GTID state; the end contains the checksum of the last frame's content and the
/// length of every frame. Comparing everything would mean reading all objects again at each start of an archive.
async fn has_same_ends(
    storage: &ObjectStorage,
    object: &str,
    path: &Path,
    length: u64,
) -> Result<bool, RetentionError> {
    let part = length.min(COMPARED_BYTES);
    for range in [0..part, length - part..length] {
        let path = path.to_owned();
        let wanted = range.clone();
        let here = tokio::task::spawn_blocking(move || {
            let mut bytes = vec![0; (wanted.end - wanted.start) as usize];
            fs::File::open(path)?.read_exact_at(&mut bytes, wanted.start)?;
            io::Result::Ok(bytes)
        });
        let here = here.await.map_err(io::Error::other)??;
        if storage.read(object, range).await? != here {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Compresses a closed file and removes the original.
fn compress_in_place(plain: &Path) -> io::Result<()> {
    compress(plain, &with_suffix(plain, COMPRESSED))?;
    fs::remove_file(plain)?;
    sync_directory_of(plain)
}

/// Removes the oldest file from the log unless a replica reads it. Returns whether it was removed.
fn purge(context: &ArchiveContext, oldest: &LogFile) -> Result<bool, RetentionError> {
    let files = context.log.files();
    let Some(next) = files.get(1).filter(|_| files[0].name == oldest.name) else {
        return Ok(false);
    };
    let leases = context.leases.clone();
    let guard = move |file: &LogFile| leases.holder_of(file.ordinal);
    let outcome = context.log.purge(&PurgeTarget::File(next.name.clone()), &guard)?;
    Ok(outcome.blocked.is_none())
}
