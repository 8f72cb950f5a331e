//! Objects of a backup become files, each compared with its checksum on the way.

use crate::backup::error::{Error, Result};
use crate::backup::manifest::checksum_text;
use crate::backup::progress::Progress;
use paceline_object_storage::{Bytes, ObjectStorage};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::Xxh3;

/// Copies objects.
pub struct Fetch<'a> {
    storage: &'a ObjectStorage,
    progress: Progress,
    /// The directories that have got files.
    directories: BTreeSet<PathBuf>,
}

impl<'a> Fetch<'a> {
    /// From a place.
    pub fn new(storage: &'a ObjectStorage, progress: Progress) -> Self {
        Fetch {
            storage,
            progress,
            directories: BTreeSet::new(),
        }
    }

    /// What it was, and how long it took.
    pub fn finish(self) -> String {
        self.progress.finish()
    }

    async fn read(
        &mut self,
        object: &str,
        length: u64,
        checksum: &str,
        mut write: impl FnMut(Bytes) -> Result<()>,
    ) -> Result<()> {
        let damaged = |problem: String| Error::Damaged {
            place: self.storage.place().to_owned(),
            name: object.to_owned(),
            problem,
        };
        let mut download = match self.storage.download(object).await {
            Ok(download) => download,
            Err(paceline_object_storage::Error::NotFound { .. }) => {
                return Err(damaged("it is missing".into()));
            }
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
            self.progress.add(bytes.len() as u64);
            tokio::task::block_in_place(|| write(bytes))?;
        }
        match checksum_text(&sum) == checksum {
            true => Ok(()),
            false => Err(damaged("its checksum is wrong".into())),
        }
    }

    /// Only reads one.
    ///
    /// # Errors
    /// [`Error::Damaged`]; if the place fails.
    pub async fn check(&mut self, object: &str, length: u64, checksum: &str) -> Result<()> {
        self.read(object, length, checksum, |_| Ok(())).await
    }

    /// Makes a file of one. It is synced.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::File`]; if the place fails.
    pub async fn create(&mut self, object: &str, length: u64, checksum: &str, path: &Path) -> Result<()> {
        if let Some(directory) = path.parent() {
            paceline_storage::create_directory(directory).map_err(Error::file(directory))?;
        }
        self.append(object, length, checksum, path, 0).await
    }

    /// Appends one to a file, which is `offset` bytes long so far. It is synced.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub async fn append(
        &mut self,
        object: &str,
        length: u64,
        checksum: &str,
        path: &Path,
        offset: u64,
    ) -> Result<()> {
        let mut file = File::options()
            .create(true)
            .append(true)
            .open(path)
            .map_err(Error::file(path))?;
        let there = file.metadata().map_err(Error::file(path))?.len();
        if there != offset {
            return Err(Error::Damaged {
                place: self.storage.place().to_owned(),
                name: object.to_owned(),
                problem: format!("it begins at {offset}, and what is before it ends at {there}"),
            });
        }
        self.read(object, length, checksum, |bytes| {
            file.write_all(&bytes).map_err(Error::file(path))
        })
        .await?;
        tokio::task::block_in_place(|| file.sync_all()).map_err(Error::file(path))?;
        self.directories.extend(path.parent().map(Path::to_owned));
        Ok(())
    }

    /// Makes the files' names durable.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn sync(&mut self, datadir: &Path) -> Result<()> {
        self.directories.insert(datadir.to_owned());
        for directory in &self.directories {
            File::open(directory)
                .and_then(|opened| opened.sync_all())
                .map_err(Error::file(directory))?;
        }
        Ok(())
    }
}
