//! An archive's files, read from outside of it: in its directory, in whatever form each of them is, or in object storage alone.
//!
//! Nothing is written anywhere, and no archive has to run.

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
    /// How long each object is, in bytes.
    lengths: Arc<HashMap<String, u64>>,
}

impl StoredFiles {
    /// Looks what is there; nothing, where an archive has not closed a file yet. Blocks.
    ///
    /// # Errors
    /// If the place cannot be read, or holds files of several logs.
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

    /// Where they are, as it was given.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Their names as the log has them, oldest first.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Opens one by its name in the log. Blocks.
    ///
    /// # Errors
    /// If it is not there, or damaged.
    pub fn file(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let object = format!("{name}{COMPRESSED}");
        let length = *self.lengths.get(&object).ok_or(ErrorKind::NotFound)?;
        let (frames, table) = RemoteFrames::of_object(object, length, self.fetcher.clone())?;
        Ok(Arc::new(FramedFile::new(frames, table)))
    }
}

/// Opens a file of a directory by its name in the log, in the form that it has there. `storage` has what is there as a stub only.
///
/// # Errors
/// If it is not there, or damaged; if `storage` is needed and was not told.
pub fn open_local(path: &Path, storage: Option<&StoredFiles>) -> io::Result<Arc<dyn DiskFile>> {
    ArchiveDisk::new(storage.map(|storage| storage.fetcher.clone())).open_to_read(path)
}

/// The names of the files of the log in a directory, oldest first.
///
/// # Errors
/// If the directory cannot be read, or holds no files of a log, or those of several.
pub fn names_in(directory: &Path) -> Result<Vec<String>> {
    Ok(LogNames::in_directory(directory)?.names)
}
