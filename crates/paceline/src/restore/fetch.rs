//! Objects of a backup become files, each compared with its checksum on the way.

use crate::backup::error::{Error, Result};
use crate::backup::manifest::checksum_text;
use crate::new_files::NewFile;
use crate::progress::Progress;
use paceline_object_storage::{Bytes, ObjectStorage};
use xxhash_rust::xxh3::Xxh3;

/// Copies objects.
pub struct Fetch<'a> {
    storage: &'a ObjectStorage,
    progress: Progress,
}

impl<'a> Fetch<'a> {
    /// From a place.
    pub fn new(storage: &'a ObjectStorage, progress: Progress) -> Self {
        Fetch { storage, progress }
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
            write(bytes)?;
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

    /// Appends one to a file, which is whole then, and durable.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::File`]; if the place fails.
    pub async fn append(
        &mut self,
        object: &str,
        length: u64,
        checksum: &str,
        mut file: NewFile,
    ) -> Result<()> {
        self.read(object, length, checksum, |bytes| file.write(&bytes))
            .await?;
        file.finish()
    }
}
