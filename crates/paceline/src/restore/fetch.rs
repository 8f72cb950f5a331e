//! Objects of a backup become files, several at a time, each compared with its checksum on the way.
//!
//! A bucket takes tens of milliseconds before an object's first byte comes, and gives one connection a part of the line only. Each download
//! holds what has just come of its object, and no more: memory is bounded by how many there are. The first one that fails ends the others.

use crate::backup::error::{Error, Result};
use crate::backup::manifest::checksum_text;
use crate::new_files::NewFile;
use crate::progress::Progress;
use paceline_object_storage::ObjectStorage;
use parking_lot::Mutex;
use std::sync::Arc;
use tokio::task::JoinSet;
use xxhash_rust::xxh3::Xxh3;

/// An object that is to be read.
pub struct Wanted {
    /// Its name.
    pub object: String,
    /// In bytes.
    pub length: u64,
    /// As manifests have it.
    pub checksum: String,
    /// Where it goes; without one it is only read.
    pub file: Option<NewFile>,
}

/// Copies objects.
pub struct Fetch {
    storage: ObjectStorage,
    progress: Arc<Mutex<Progress>>,
    side_by_side: usize,
}

impl Fetch {
    /// From a place, so many of them at a time.
    pub fn new(storage: &ObjectStorage, progress: Progress, side_by_side: usize) -> Self {
        Fetch {
            storage: storage.clone(),
            progress: Arc::new(Mutex::new(progress)),
            side_by_side,
        }
    }

    /// What it was, and how long it took.
    pub fn finish(self) -> String {
        self.progress.lock().finish()
    }

    /// Reads these, in this order as far as there is one. Their files are whole then, and durable. An object is asked for when its turn comes.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::File`]; if the place fails; what `wanted` gives. Nothing is written any more when this returns.
    pub async fn all(&self, mut wanted: impl Iterator<Item = Result<Wanted>>) -> Result<()> {
        let mut running = JoinSet::new();
        let done = self.keep_running(&mut running, &mut wanted).await;
        running.shutdown().await;
        done
    }

    async fn keep_running(
        &self,
        running: &mut JoinSet<Result<()>>,
        wanted: &mut impl Iterator<Item = Result<Wanted>>,
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
                // Nobody aborts one while this runs.
                Some(Err(error)) => std::panic::resume_unwind(error.into_panic()),
            }
        }
    }
}

impl Drop for Fetch {
    /// Interrupted, its downloads end a moment later.
    fn drop(&mut self) {
        self.progress.lock().leave();
    }
}

async fn read(storage: ObjectStorage, wanted: Wanted, progress: Arc<Mutex<Progress>>) -> Result<()> {
    let Wanted {
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
            "it has {} bytes and not {length}",
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
