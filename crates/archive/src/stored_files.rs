//! Reads an archive's files from outside the archive: files in its directory, in any form, or files in object storage
//! alone.
//!
//! Nothing is written, and the archive does not have to run.

use crate::disk::ArchiveDisk;
use crate::disk::COMPRESSED;
use crate::disk::framed::FramedFile;
use crate::disk::names::LogNames;
use crate::disk::remote::{Fetcher, RemoteFrames};
use crate::error::{Error, Result};
use paceline_binlog::log::DiskFile;
use paceline_object_storage::ObjectStorage;
use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;

/// The files that an archive has copied to object storage (`--to`).
#[derive(Clone, Debug)]
pub struct StoredFiles {
    place: String,
    fetcher: Fetcher,
    names: Vec<String>,
    /// Length of each object in bytes.
    lengths: Arc<HashMap<String, u64>>,
}

impl StoredFiles {
    /// Lists the files. The list is empty if the archive has not closed a file yet. Blocks.
    ///
    /// # Errors
    /// Fails if the place cannot be read or contains files of several logs.
    pub fn open(place: &str) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(Error::system("read from object storage"))?;
        let listed = runtime.block_on(async { ObjectStorage::open(place)?.list("").await })?;
        let objects = listed
            .into_iter()
            .filter(|object| object.name.ends_with(COMPRESSED));
        let lengths: HashMap<String, u64> = objects.map(|object| (object.name, object.length)).collect();
        let names = match lengths.is_empty() {
            true => Vec::new(),
            false => LogNames::among(lengths.keys().cloned(), place)?.names,
        };
        Ok(StoredFiles {
            place: place.to_owned(),
            fetcher: Fetcher::start(place).map_err(Error::system("read from object storage"))?,
            names,
            lengths: Arc::new(lengths),
        })
    }

    /// Returns the place as given.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Returns the names of the files in the log, oldest first.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Opens a file by its name in the log. Blocks.
    ///
    /// # Errors
    /// Fails if the file does not exist or is damaged.
    pub fn file(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let object = format!("{name}{COMPRESSED}");
        let length = *self.lengths.get(&object).ok_or(ErrorKind::NotFound)?;
        let (frames, table) = RemoteFrames::of_object(object, length, self.fetcher.clone())?;
        Ok(Arc::new(FramedFile::new(frames, table)))
    }
}

/// Opens a file in a directory by its name in the log, in whatever form it has. `storage` is needed for files of which
/// only a stub is local.
///
/// # Errors
/// Fails if the file does not exist or is damaged, or if `storage` is needed and missing.
pub fn open_local(path: &Path, storage: Option<&StoredFiles>) -> io::Result<Arc<dyn DiskFile>> {
    ArchiveDisk::new(storage.map(|storage| storage.fetcher.clone())).open_to_read(path)
}

/// Returns the names of the log's files in a directory, oldest first.
///
/// # Errors
/// Fails if the directory cannot be read, contains no log files, or files of several logs.
pub fn names_in(directory: &Path) -> Result<Vec<String>> {
    Ok(LogNames::in_directory(directory)?.names)
}
