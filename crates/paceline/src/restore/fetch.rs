//! Reads objects of a backup, several at a time, verifies their checksums, and writes them to files.
//!
//! A bucket takes tens of milliseconds to send the first byte of an object, and one connection gets only a part of the
//! bandwidth. Each download keeps only the bytes just received in memory, so memory is bounded by the number of
//! downloads. The first failure ends the others.

use crate::backup::error::{Error, Result};
use crate::backup::manifest::checksum_text;
use crate::new_files::NewFile;
use crate::progress::Progress;
use paceline_object_storage::ObjectStorage;
use parking_lot::Mutex;
use std::sync::Arc;
use tokio::task::JoinSet;
use xxhash_rust::xxh3::Xxh3;

/// An object to be read.
pub struct ObjectRead {
    pub object: String,
    /// Length in bytes.
    pub length: u64,
    /// Checksum in the notation of manifests.
    pub checksum: String,
    /// Destination; `None` to only verify the object.
    pub file: Option<NewFile>,
}

/// Reads objects in parallel.
pub struct Downloader {
    storage: ObjectStorage,
    progress: Arc<Mutex<Progress>>,
    side_by_side: usize,
}

impl Downloader {
    /// Prepares to read from a place, with `side_by_side` downloads at a time.
    pub fn new(storage: &ObjectStorage, progress: Progress, side_by_side: usize) -> Self {
        Downloader {
            storage: storage.clone(),
            progress: Arc::new(Mutex::new(progress)),
            side_by_side,
        }
    }

    /// Returns the amount and the duration as a text for users.
    pub fn finish(self) -> String {
        self.progress.lock().finish()
    }

    /// Reads the objects, starting them in this order. On success their files are complete and durable. `wanted` is
    /// advanced when a download can start.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::File`], errors of the place, and those that `wanted` yields. Nothing is written any
    /// more when this returns.
    pub async fn all(&self, mut wanted: impl Iterator<Item = Result<ObjectRead>>) -> Result<()> {
        let mut running = JoinSet::new();
        let done = self.keep_running(&mut running, &mut wanted).await;
        running.shutdown().await;
        done
    }

    async fn keep_running(
        &self,
        running: &mut JoinSet<Result<()>>,
        wanted: &mut impl Iterator<Item = Result<ObjectRead>>,
    ) -> Result<()> {
        loop {
            while running.len() < self.side_by_side
                && let Some(next) = wanted.next()
            {
                running.spawn(read(self.storage.clone(), next?, self.progress.clone()));
            }
            match running.join_next().await {
                None => return Ok(()),
                Some(Ok(done)) => done?,
                // Tasks are not aborted while this runs, so the error is a panic.
                Some(Err(error)) => std::panic::resume_unwind(error.into_panic()),
            }
        }
    }
}

impl Drop for Downloader {
    /// If it is interrupted, its downloads end a moment later.
    fn drop(&mut self) {
        self.progress.lock().leave();
    }
}

async fn read(storage: ObjectStorage, wanted: ObjectRead, progress: Arc<Mutex<Progress>>) -> Result<()> {
    let ObjectRead {
        object,
        length,
        checksum,
        mut file,
    } = wanted;
    let damaged = |problem: String| Error::Damaged {
        place: storage.place().to_owned(),
        name: object.clone(),
        problem,
    };
    let mut download = match storage.download(&object).await {
        Ok(download) => download,
        Err(paceline_object_storage::Error::NotFound { .. }) => return Err(damaged("it is missing".into())),
        Err(error) => return Err(error.into()),
    };
    if download.length() != length {
        return Err(damaged(format!(
            "it has {} bytes instead of {length}",
            download.length()
        )));
    }
    let mut sum = Xxh3::new();
    while let Some(bytes) = download.next().await? {
        sum.update(&bytes);
        progress.lock().add(bytes.len() as u64);
        if let Some(file) = &mut file {
            file.write(&bytes)?;
        }
    }
    if checksum_text(&sum) != checksum {
        return Err(damaged("its checksum is wrong".into()));
    }
    match file {
        Some(file) => file.finish(),
        None => Ok(()),
    }
}
