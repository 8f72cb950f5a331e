//! Reads an archive's files from outside the archive: files in its directory, in any form, or files in object storage
//! alone.
//!
//! Nothing is written, and the archive does not have to run.

use crate::disk::ArchiveDisk;
use crate::disk::COMPRESSED;
use crate::disk::framed::FramedFile;
use crate::disk::names::LogNames;
use crate::disk::read_only_file::ReadOnlyFile;
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
        Ok(Arc::new(ReadOnlyFile(FramedFile::new(frames, table))))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::seekable::compress;
    use crate::disk::{STUB, with_suffix};
    use std::fs;

    /// Compresses a file of a log into a directory. Returns its content.
    fn store(directory: &Path, name: &str) -> Vec<u8> {
        let content = name.repeat(100_000).into_bytes();
        let plain = directory.join("plain");
        fs::write(&plain, &content).unwrap();
        compress(&plain, &directory.join(format!("{name}{COMPRESSED}"))).unwrap();
        fs::remove_file(plain).unwrap();
        content
    }

    fn read(file: &dyn DiskFile) -> Vec<u8> {
        let mut content = Vec::new();
        let mut buffer = vec![0; 300_000];
        loop {
            match file.read_at(&mut buffer, content.len() as u64).unwrap() {
                0 => return content,
                length => content.extend_from_slice(&buffer[..length]),
            }
        }
    }

    #[test]
    fn the_files_of_a_storage_are_listed_and_read() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().to_str().unwrap();
        assert!(StoredFiles::open(place).unwrap().names().is_empty());
        let contents = ["a.000010", "a.000009"].map(|name| (name, store(directory.path(), name)));
        fs::write(directory.path().join("a.notes"), "x").unwrap();
        let files = StoredFiles::open(place).unwrap();
        assert_eq!(
            (files.place(), files.names()),
            (place, ["a.000009", "a.000010"].map(str::to_owned).as_slice())
        );
        for (name, content) in contents {
            let file = files.file(name).unwrap();
            assert_eq!(file.length().unwrap(), content.len() as u64);
            assert!(read(&*file) == content, "{name}");
        }
        assert_eq!(files.file("a.000011").unwrap_err().kind(), ErrorKind::NotFound);
        fs::write(directory.path().join("a.000009.zst"), "damaged").unwrap();
        let files = StoredFiles::open(place).unwrap();
        let damaged = files.file("a.000009").unwrap_err().to_string();
        assert!(damaged.contains("'a.000009.zst'"), "{damaged}");
    }

    #[test]
    fn a_storage_with_files_of_two_logs_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        store(directory.path(), "a.000001");
        store(directory.path(), "b.000001");
        let error = StoredFiles::open(directory.path().to_str().unwrap())
            .unwrap_err()
            .to_string();
        assert!(error.contains("'a' and 'b'"), "{error}");
    }

    #[test]
    fn a_stub_is_read_from_the_storage_and_not_without_it() {
        let (local, remote) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let content = store(remote.path(), "a.000001");
        let files = StoredFiles::open(remote.path().to_str().unwrap()).unwrap();
        let (frames, table) = RemoteFrames::of_object(
            "a.000001.zst".to_owned(),
            files.lengths["a.000001.zst"],
            files.fetcher.clone(),
        )
        .unwrap();
        let path = local.path().join("a.000001");
        let now = std::time::SystemTime::now();
        crate::disk::remote::write_stub(&with_suffix(&path, STUB), frames.first(), &table, now).unwrap();
        assert_eq!(names_in(local.path()).unwrap(), ["a.000001"]);
        assert!(read(&*open_local(&path, Some(&files)).unwrap()) == content);
        let error = open_local(&path, None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("--storage"), "{error}");
    }
}
