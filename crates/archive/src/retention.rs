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
//! In a cluster, a file stays as it was written until all of it is acknowledged, and is not removed for good while a
//! server could have to fetch it ([`crate::acknowledged`]).
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
    pub fn is_upload_pending(&self, name: &str) -> bool {
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
            if let Some(acknowledged) = &context.acknowledged
                && !acknowledged.has_acknowledged(&file)
            {
                // It may still be cut.
                break;
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
            let exceeds_limit = self.retention.bytes_max.is_some_and(|limit| bytes > limit);
            if !is_old && !exceeds_limit {
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
    let guard = |file: &LogFile| context.needed_by(file);
    let outcome = context.log.purge(&PurgeTarget::File(next.name.clone()), &guard)?;
    Ok(outcome.blocked.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::FileForm;
    use crate::disk::remote::Fetcher;
    use crate::test_support::{append, context, fill, group, open_log, rotate, run};
    use paceline_object_storage::Overwrite;
    use paceline_simulated_store::{Failure, SimulatedStore};

    /// Closed files of the logs below.
    const FILES: [&str; 3] = ["archive.000001", "archive.000002", "archive.000003"];

    struct TestArchive {
        directory: tempfile::TempDir,
        store: SimulatedStore,
        task: RetentionTask,
        context: ArchiveContext,
    }

    impl TestArchive {
        /// Opens an archive with three closed files. `has_storage`: it copies them to a simulated store.
        fn new(has_storage: bool, compression: Compression, retention: Retention) -> Self {
            let directory = tempfile::tempdir().unwrap();
            let log = open_log(ArchiveDisk::default(), directory.path());
            fill(&log, FILES.len() as u64);
            Self::with_log(directory, log, has_storage, compression, retention)
        }

        fn with_log(
            directory: tempfile::TempDir,
            log: paceline_binlog::Log,
            has_storage: bool,
            compression: Compression,
            retention: Retention,
        ) -> Self {
            let store = SimulatedStore::new();
            let storage = has_storage.then(|| ObjectStorage::of_store(Arc::new(store.clone()), "there"));
            let task = RetentionTask::new(
                ArchiveDisk::default(),
                directory.path(),
                storage,
                compression,
                retention,
                Arc::default(),
            );
            let context = context(log, directory.path());
            TestArchive {
                directory,
                store,
                task,
                context,
            }
        }

        fn round(&self) -> Result<(), RetentionError> {
            run(self.task.round(&self.context))
        }

        fn form(&self, name: &str) -> Option<FileForm> {
            let form = self.task.disk.form(&self.directory.path().join(name)).unwrap();
            form.map(|(form, _)| form)
        }

        fn forms(&self) -> Vec<Option<FileForm>> {
            FILES.iter().map(|name| self.form(name)).collect()
        }

        /// Returns the objects as the log's files are called.
        fn objects(&self) -> Vec<String> {
            let names = run(self.store.names());
            names
                .iter()
                .map(|name| name.trim_end_matches(COMPRESSED).to_owned())
                .collect()
        }

        fn set_retention(&mut self, bytes_max: u64) {
            self.task.retention.bytes_max = Some(bytes_max);
        }
    }

    fn keep_all() -> Retention {
        Retention::default()
    }

    fn keep_none() -> Retention {
        Retention {
            age_max: None,
            bytes_max: Some(0),
        }
    }

    #[test]
    fn closed_files_are_compressed_and_the_active_one_is_not() {
        let archive = TestArchive::new(false, Compression::Zstd, keep_all());
        archive.round().unwrap();
        assert_eq!(archive.forms(), [Some(FileForm::Compressed); 3]);
        assert_eq!(archive.form("archive.000004"), Some(FileForm::Plain));
        let status = archive.task.status();
        assert_eq!(
            (status.plain, status.compressed, status.remote, status.uploaded),
            (0, 3, 0, 0)
        );
        assert!(archive.objects().is_empty());
    }

    #[test]
    fn without_compression_files_are_not_copied_and_so_they_remain() {
        let archive = TestArchive::new(true, Compression::None, keep_none());
        archive.round().unwrap();
        assert_eq!(archive.forms(), [Some(FileForm::Plain); 3]);
        assert_eq!(archive.task.status().plain, 3);
        assert!(archive.store.take_requests().is_empty());
    }

    #[test]
    fn each_file_is_copied_once_with_its_content() {
        let archive = TestArchive::new(true, Compression::Zstd, keep_all());
        assert!(FILES.iter().all(|name| archive.task.is_upload_pending(name)));
        archive.round().unwrap();
        assert_eq!(archive.objects(), FILES);
        assert!(!FILES.iter().any(|name| archive.task.is_upload_pending(name)));
        let storage = archive.task.storage.as_ref().unwrap();
        for name in FILES {
            let object = run(storage.get(&format!("{name}{COMPRESSED}"))).unwrap();
            let file = fs::read(archive.directory.path().join(format!("{name}{COMPRESSED}"))).unwrap();
            assert!(object == file, "{name}");
        }
        archive.store.take_requests();
        archive.round().unwrap();
        assert!(archive.store.take_requests().is_empty());
    }

    #[test]
    fn the_oldest_files_go_until_the_rest_fits() {
        let mut archive = TestArchive::new(false, Compression::Zstd, keep_all());
        archive.round().unwrap();
        let length = |name: &str| {
            let path = archive.directory.path().join(format!("{name}{COMPRESSED}"));
            fs::metadata(path).unwrap().len()
        };
        let last_two = length(FILES[1]) + length(FILES[2]);
        assert_eq!(archive.task.status().local_bytes, length(FILES[0]) + last_two);
        archive.set_retention(last_two);
        archive.round().unwrap();
        let compressed = Some(FileForm::Compressed);
        assert_eq!(archive.forms(), [None, compressed, compressed]);
        assert_eq!(
            (
                archive.task.status().compressed,
                archive.task.status().local_bytes
            ),
            (2, last_two)
        );
        archive.set_retention(last_two - 1);
        archive.round().unwrap();
        assert_eq!(archive.forms(), [None, None, compressed]);
        // The log knows that they are gone.
        assert_eq!(archive.context.log.files()[0].name, FILES[2]);
    }

    #[test]
    fn old_files_go_and_young_ones_remain() {
        let retention = |age_max| Retention {
            age_max: Some(age_max),
            bytes_max: None,
        };
        let hour = TestArchive::new(false, Compression::Zstd, retention(Duration::from_secs(3600)));
        hour.round().unwrap();
        assert_eq!(hour.forms(), [Some(FileForm::Compressed); 3]);
        let none = TestArchive::new(false, Compression::Zstd, retention(Duration::ZERO));
        none.round().unwrap();
        assert_eq!(none.forms(), [None; 3]);
        assert_eq!(none.form("archive.000004"), Some(FileForm::Plain));
    }

    #[test]
    fn a_file_that_a_replica_reads_is_not_purged() {
        let archive = TestArchive::new(false, Compression::Zstd, keep_none());
        let second = &archive.context.log.files()[1];
        let position = archive.context.log.position_of(&second.name, 4).unwrap();
        let lease = archive.context.leases.take(position, "a replica".to_owned());
        archive.round().unwrap();
        let compressed = Some(FileForm::Compressed);
        assert_eq!(archive.forms(), [None, compressed, compressed]);
        assert_eq!(archive.task.status().compressed, 2);
        drop(lease);
        archive.round().unwrap();
        assert_eq!(archive.forms(), [None; 3]);
    }

    #[test]
    fn a_file_in_the_storage_becomes_a_stub_and_can_be_read() {
        let archive = TestArchive::new(true, Compression::Zstd, keep_none());
        let before: Vec<Vec<u8>> = FILES
            .iter()
            .map(|name| fs::read(archive.directory.path().join(name)).unwrap())
            .collect();
        archive.round().unwrap();
        assert_eq!(archive.forms(), [Some(FileForm::Stub); 3]);
        let status = archive.task.status();
        assert_eq!(
            (
                status.compressed,
                status.remote,
                status.uploaded,
                status.local_bytes
            ),
            (0, 3, 3, 0)
        );
        assert_eq!(archive.context.log.files().len(), 4);
        let store = archive.store.clone();
        let fetcher = Fetcher::start_with(|| Ok(ObjectStorage::of_store(Arc::new(store), "there"))).unwrap();
        let disk = ArchiveDisk::new(Some(fetcher));
        for (name, content) in FILES.iter().zip(&before) {
            let file = disk.open_to_read(&archive.directory.path().join(name)).unwrap();
            let mut read = vec![0; content.len() + 1];
            assert_eq!(file.read_at(&mut read, 0).unwrap(), content.len());
            assert!(read[..content.len()] == content[..], "{name}");
        }
        // Stubs are known to be in the storage, also after a start.
        let again = TestArchive::with_log(
            archive.directory,
            archive.context.log,
            true,
            Compression::Zstd,
            keep_none(),
        );
        again.round().unwrap();
        assert_eq!(again.task.status().remote, 3);
        assert!(again.store.take_requests().is_empty());
    }

    #[test]
    fn whichever_request_fails_no_file_goes_that_is_not_in_the_storage() {
        const TWO: &[&str] = FILES.split_at(2).0;
        let mut count = 0;
        'requests: for request in 1.. {
            for failure in [Failure::Refused, Failure::AnswerLost] {
                let directory = tempfile::tempdir().unwrap();
                let log = open_log(ArchiveDisk::default(), directory.path());
                fill(&log, TWO.len() as u64);
                let archive = TestArchive::with_log(directory, log, true, Compression::Zstd, keep_none());
                archive.store.fail_at(request, failure);
                let done = archive.round();
                if !archive.store.has_failed() {
                    done.unwrap();
                    break 'requests;
                }
                count += 1;
                assert!(
                    matches!(done, Err(RetentionError::Storage(_))),
                    "{request} {failure:?}: {done:?}"
                );
                // A round that fails removes nothing.
                for name in TWO {
                    let form = archive.form(name);
                    assert!(
                        matches!(form, Some(FileForm::Plain | FileForm::Compressed)),
                        "{name} {form:?}"
                    );
                }
                archive.store.repair();
                archive.round().unwrap();
                for name in TWO {
                    assert_eq!(archive.form(name), Some(FileForm::Stub), "{request} {failure:?}");
                }
                assert_eq!(archive.objects(), TWO);
            }
        }
        // For each file: is it there, the upload's beginning, its part, its end.
        assert_eq!(count, 2 * 4 * TWO.len());
    }

    #[test]
    fn an_object_with_other_content_is_never_replaced() {
        let archive = TestArchive::new(true, Compression::Zstd, keep_none());
        let compressed = TestArchive::new(false, Compression::Zstd, keep_all());
        compressed.round().unwrap();
        let object = format!("{}{COMPRESSED}", FILES[0]);
        let same_length = fs::read(compressed.directory.path().join(&object)).unwrap();
        for (at_end, expected) in [(false, "with other content"), (true, "with other content")] {
            let mut other = same_length.clone();
            let at = if at_end { other.len() - 1 } else { 0 };
            other[at] ^= 1;
            run(archive.store.replace(&object, other.clone()));
            let error = archive.round().unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
            let storage = archive.task.storage.as_ref().unwrap();
            assert!(run(storage.get(&object)).unwrap() == other);
        }
        run(archive.store.replace(&object, "short"));
        let error = archive.round().unwrap_err().to_string();
        assert!(error.contains("with 5 bytes, and not the"), "{error}");
        assert_eq!(archive.form(FILES[0]), Some(FileForm::Compressed));
        assert!(archive.task.is_upload_pending(FILES[0]));
    }

    #[test]
    fn an_object_that_an_earlier_process_has_copied_is_accepted() {
        let archive = TestArchive::new(true, Compression::Zstd, keep_all());
        compress_in_place(&archive.directory.path().join(FILES[0])).unwrap();
        let object = format!("{}{COMPRESSED}", FILES[0]);
        let content = fs::read(archive.directory.path().join(&object)).unwrap();
        let storage = archive.task.storage.as_ref().unwrap();
        run(storage.put(&object, content, Overwrite::No)).unwrap();
        archive.store.take_requests();
        archive.round().unwrap();
        let requests = archive.store.take_requests();
        assert!(!requests.contains(&format!("upload {object}")), "{requests:?}");
        assert_eq!(archive.task.status().uploaded, 3);
    }

    #[test]
    fn files_of_a_log_without_transactions_are_ignored() {
        let directory = tempfile::tempdir().unwrap();
        let log = open_log(ArchiveDisk::default(), directory.path());
        rotate(&log);
        let archive = TestArchive::with_log(directory, log, true, Compression::Zstd, keep_none());
        archive.round().unwrap();
        assert_eq!(archive.form(FILES[0]), Some(FileForm::Plain));
        assert!(archive.store.take_requests().is_empty());
        // The transaction is in the active file: the file before it belongs to a log that has begun only when the next
        // file is begun.
        append(&archive.context.log, group("0-1-1", b"x"));
        rotate(&archive.context.log);
        archive.round().unwrap();
        assert_eq!(archive.form(FILES[0]), Some(FileForm::Stub));
    }

    #[test]
    fn remains_of_a_crash_are_removed_and_nothing_else() {
        let archive = TestArchive::new(false, Compression::Zstd, keep_all());
        let path = |name: &str| archive.directory.path().join(name);
        for name in ["archive.000001.zst.tmp", "archive.index.tmp", "notes.txt"] {
            fs::write(path(name), "x").unwrap();
        }
        archive.task.remove_unfinished();
        assert!(!path("archive.000001.zst.tmp").exists() && !path("archive.index.tmp").exists());
        assert!(path("notes.txt").exists() && path(FILES[0]).exists() && path("archive.index").exists());
    }
}
