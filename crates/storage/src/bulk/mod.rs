//! Bulk builds: table files built aside, and made visible all at once.
//!
//! ```text
//!   builds/                       one directory per build
//!     17.building/                being written; deleted at the next start
//!       000001.sst  …             finished files of one or several indexes
//!       000002.run  …             sorted runs of an index builder with unsorted input
//!     16/                         finished: all files synced, then the directory renamed and its parent synced
//!       commit                    the write set of its transaction, while it is being activated
//!     rows-3.building/            the rows of a large transaction: deleted at the next start in any case
//! ```
//!
//! A finished build waits until its transaction is in the log. [`Storage::activate`](crate::Storage::activate)
//! ingests it at that position; [`Storage::abandon`](crate::Storage::abandon) deletes it. After a crash
//! [`Storage::builds`](crate::Storage::builds) lists the finished builds, and recovery decides by the log:
//! builds that it names after the engine's position are activated, the others abandoned. Nothing is built
//! twice.

mod builder;
mod row_files;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

pub use builder::{IndexBuilder, InputOrder};
pub use row_files::RowFiles;

use crate::build_id::BuildId;
use crate::error::{Error, Result};

/// Directory of all builds.
pub(crate) struct Builds {
    path: PathBuf,
    next_rows: AtomicU64,
}

const UNFINISHED: &str = "building";

impl Builds {
    /// Opens the directory, creates it if needed, and deletes unfinished builds.
    pub(crate) fn open(path: PathBuf) -> Result<Self> {
        crate::directory::create_directory(&path).map_err(Error::file(&path))?;
        for entry in fs::read_dir(&path).map_err(Error::file(&path))? {
            let entry = entry.map_err(Error::file(&path))?.path();
            if entry.extension().is_some_and(|extension| extension == UNFINISHED) {
                fs::remove_dir_all(&entry).map_err(Error::file(&entry))?;
            }
        }
        Ok(Builds {
            path,
            next_rows: AtomicU64::new(1),
        })
    }

    pub(crate) fn begin(&self, id: BuildId) -> Result<BulkBuild> {
        let directory = self.path.join(format!("{id}.{UNFINISHED}"));
        if directory.exists() {
            fs::remove_dir_all(&directory).map_err(Error::file(&directory))?;
        }
        fs::create_dir(&directory).map_err(Error::file(&directory))?;
        let shared = Arc::new(Shared::new(directory));
        Ok(BulkBuild {
            id,
            finished: self.directory(id),
            shared: Some(shared),
        })
    }

    /// Returns the ids of finished builds, ascending.
    pub(crate) fn finished(&self) -> Result<Vec<BuildId>> {
        let mut ids = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(Error::file(&self.path))? {
            let name = entry.map_err(Error::file(&self.path))?.file_name();
            ids.extend(name.to_str().and_then(|name| name.parse().ok()).map(BuildId));
        }
        ids.sort_unstable();
        Ok(ids)
    }

    /// Returns the directory of all builds.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Creates a directory for the rows of a large transaction.
    fn new_row_directory(&self) -> Result<PathBuf> {
        let number = self.next_rows.fetch_add(1, Ordering::Relaxed);
        let directory = self.path.join(format!("rows-{number}.{UNFINISHED}"));
        fs::create_dir(&directory).map_err(Error::file(&directory))?;
        Ok(directory)
    }

    pub(crate) fn directory(&self, id: BuildId) -> PathBuf {
        self.path.join(id.to_string())
    }

    /// Returns the files of a finished build, ordered by name.
    pub(crate) fn files(&self, id: BuildId) -> Result<Vec<PathBuf>> {
        let directory = self.directory(id);
        if !directory.is_dir() {
            return Err(Error::NoSuchBuild(id));
        }
        let mut files = Vec::new();
        for entry in fs::read_dir(&directory).map_err(Error::file(&directory))? {
            let file = entry.map_err(Error::file(&directory))?.path();
            if file.extension().is_some_and(|extension| extension == "sst") {
                files.push(file);
            }
        }
        files.sort();
        Ok(files)
    }

    /// Deletes a finished build. Does nothing if there is none.
    pub(crate) fn remove(&self, id: BuildId) -> Result<()> {
        let directory = self.directory(id);
        match fs::remove_dir_all(&directory) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::file(directory)(error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

struct Shared {
    directory: PathBuf,
    next_file: AtomicU32,
}

impl Shared {
    fn new(directory: PathBuf) -> Self {
        Shared {
            directory,
            next_file: AtomicU32::new(1),
        }
    }

    fn new_file(&self, extension: &str) -> PathBuf {
        let number = self.next_file.fetch_add(1, Ordering::Relaxed);
        self.directory.join(format!("{number:06}.{extension}"))
    }
}

/// Build that is being written. It is deleted if it is dropped unfinished.
pub struct BulkBuild {
    id: BuildId,
    finished: PathBuf,
    shared: Option<Arc<Shared>>,
}

impl BulkBuild {
    /// Returns the id of the build.
    pub fn id(&self) -> BuildId {
        self.id
    }

    /// Returns a builder for the entries of one index. Several may be in use at the same time; all must be
    /// finished before the build is.
    pub fn index(&self, order: InputOrder) -> IndexBuilder {
        IndexBuilder::new(Arc::clone(self.shared()), order)
    }

    fn shared(&self) -> &Arc<Shared> {
        self.shared.as_ref().expect("a build is finished once")
    }

    /// Makes the build durable. It stays invisible until it is activated.
    ///
    /// # Errors
    /// If the disk fails. The build is then deleted.
    ///
    /// # Panics
    /// If an index builder is neither finished nor dropped.
    pub fn finish(mut self) -> Result<BuildId> {
        assert!(
            Arc::strong_count(self.shared()) == 1,
            "all index builders are finished before their build is"
        );
        let directory = self.shared().directory.clone();
        sync_directory(&directory)?;
        if self.finished.exists() {
            fs::remove_dir_all(&self.finished).map_err(Error::file(&self.finished))?;
        }
        fs::rename(&directory, &self.finished).map_err(Error::file(&directory))?;
        self.shared = None;
        sync_directory(self.finished.parent().expect("builds are in a directory"))?;
        Ok(self.id)
    }
}

impl Drop for BulkBuild {
    fn drop(&mut self) {
        if let Some(shared) = &self.shared {
            // Whatever cannot be deleted now is deleted at the next start.
            let _ = fs::remove_dir_all(&shared.directory);
        }
    }
}

pub(crate) fn sync_directory(path: &Path) -> Result<()> {
    File::open(path)
        .and_then(|directory| directory.sync_all())
        .map_err(Error::file(path))
}
