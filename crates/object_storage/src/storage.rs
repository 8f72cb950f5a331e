//! The storage: objects in a place are written, read, listed and deleted.

use crate::error::{self, Error, Result};
use crate::place::{self, DirectoryOrigin, OpenedPlace};
use crate::transfer::{Download, Upload};
use bytes::Bytes;
use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

/// Description of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Name of the object, relative to the opened place.
    pub name: String,
    /// Length in bytes.
    pub length: u64,
    /// Time of the last write.
    pub modified: SystemTime,
}

/// Whether an existing object may be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overwrite {
    /// An existing object is replaced.
    Yes,
    /// An existing object is an error: [`Error::AlreadyThere`].
    No,
}

/// A place that stores objects. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ObjectStorage {
    store: Arc<dyn ObjectStore>,
    /// Prefix of all object names.
    prefix: Path,
    /// The place as given.
    shown: Arc<str>,
    /// The directory; `None` for a bucket.
    directory: Option<PathBuf>,
    /// Whether opening the place has created the directory.
    origin: DirectoryOrigin,
}

impl ObjectStorage {
    /// Opens a place: a directory or a URL, as described at the top of the crate.
    ///
    /// # Errors
    /// [`Error::Place`] if it is neither, if the directory cannot be created, or if the environment is incomplete.
    pub fn open(place: &str) -> Result<Self> {
        Ok(Self::at(place::open(place)?, place))
    }

    /// Wraps an opened place. `shown` is its name in messages.
    pub(crate) fn at(place: OpenedPlace, shown: &str) -> Self {
        let OpenedPlace {
            store,
            prefix,
            directory,
            origin,
        } = place;
        ObjectStorage {
            store,
            prefix,
            shown: shown.into(),
            directory,
            origin,
        }
    }

    /// Wraps a store that is neither a directory nor a bucket. `place` is its name in messages.
    pub fn of_store(store: Arc<dyn ObjectStore>, place: &str) -> Self {
        ObjectStorage {
            store,
            prefix: Path::default(),
            shown: place.into(),
            directory: None,
            origin: DirectoryOrigin::Existing,
        }
    }

    /// Returns the place as given.
    pub fn place(&self) -> &str {
        &self.shown
    }

    /// Returns the directory; `None` for a bucket.
    pub fn directory(&self) -> Option<&std::path::Path> {
        self.directory.as_deref()
    }

    fn path(&self, name: &str) -> Result<Path> {
        let path = format!("{}/{name}", self.prefix);
        Path::parse(path.trim_matches('/')).map_err(|error| Error::Place {
            place: self.shown.to_string(),
            problem: error.to_string(),
        })
    }

    fn problem(&self, operation: &'static str, name: &str, source: object_store::Error) -> Error {
        Error::of_store(&self.shown, operation, name, source)
    }

    /// Writes a small object with one request.
    ///
    /// # Errors
    /// [`Error::AlreadyThere`], or an error of the place.
    pub async fn put(&self, name: &str, content: impl Into<Bytes>, overwrite: Overwrite) -> Result<()> {
        let mode = match overwrite {
            Overwrite::Yes => PutMode::Overwrite,
            Overwrite::No => PutMode::Create,
        };
        let options = PutOptions {
            mode,
            ..PutOptions::default()
        };
        let payload = PutPayload::from_bytes(content.into());
        let put = self.store.put_opts(&self.path(name)?, payload, options).await;
        put.map(drop).map_err(|error| self.problem("write", name, error))
    }

    /// Starts to write an object of any length. It does not exist before it is [finished](Upload::finish).
    ///
    /// # Errors
    /// Fails if the place fails.
    pub async fn upload(&self, name: &str) -> Result<Upload> {
        let upload = self.store.put_multipart(&self.path(name)?).await;
        let upload = upload.map_err(|error| self.problem("write", name, error))?;
        Ok(Upload::new(self.shown.clone(), name.to_owned(), upload))
    }

    /// Returns the description of an object.
    ///
    /// # Errors
    /// [`Error::NotFound`], or an error of the place.
    pub async fn describe(&self, name: &str) -> Result<Object> {
        let meta = self.store.head(&self.path(name)?).await;
        let meta = meta.map_err(|error| self.problem("look at", name, error))?;
        Ok(Object {
            name: name.to_owned(),
            length: meta.size,
            modified: meta.last_modified.into(),
        })
    }

    /// Reads a whole small object.
    ///
    /// # Errors
    /// [`Error::NotFound`], or an error of the place.
    pub async fn get(&self, name: &str) -> Result<Bytes> {
        let found = self.store.get(&self.path(name)?).await;
        let found = found.map_err(|error| self.problem("read", name, error))?;
        found
            .bytes()
            .await
            .map_err(|error| self.problem("read", name, error))
    }

    /// Reads exactly these bytes of an object.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Short`], or an error of the place.
    pub async fn read(&self, name: &str, range: Range<u64>) -> Result<Bytes> {
        if range.is_empty() {
            return Ok(Bytes::new());
        }
        let wanted = range.end;
        let length = range.end - range.start;
        let read = self.store.get_range(&self.path(name)?, range.clone()).await;
        match read {
            Ok(bytes) if bytes.len() as u64 == length => Ok(bytes),
            // Beyond the end, a directory returns fewer bytes, and a service may refuse the request.
            outcome => {
                let end = self.describe(name).await?.length;
                if end < wanted {
                    let (place, name) = (self.shown.to_string(), name.to_owned());
                    return Err(Error::Short {
                        place,
                        name,
                        end,
                        wanted,
                    });
                }
                match outcome {
                    Err(error) => Err(self.problem("read", name, error)),
                    Ok(bytes) => Err(Error::Short {
                        place: self.shown.to_string(),
                        name: name.to_owned(),
                        end: range.start + bytes.len() as u64,
                        wanted,
                    }),
                }
            }
        }
    }

    /// Starts to read an object of any length from its beginning.
    ///
    /// # Errors
    /// [`Error::NotFound`], or an error of the place.
    pub async fn download(&self, name: &str) -> Result<Download> {
        let found = self.store.get(&self.path(name)?).await;
        let found = found.map_err(|error| self.problem("read", name, error))?;
        Ok(Download::new(self.shown.clone(), name.to_owned(), found))
    }

    /// Lists the finished objects whose names begin with the path segments of `below`, sorted by name. `logs` matches
    /// `logs/a` but not `logs2`; an empty string matches everything.
    ///
    /// # Errors
    /// Fails if the place fails.
    pub async fn list(&self, below: &str) -> Result<Vec<Object>> {
        let path = self.path(below)?;
        let listed: std::result::Result<Vec<_>, _> = self.store.list(Some(&path)).try_collect().await;
        let listed = match listed {
            Ok(listed) => listed,
            Err(error @ object_store::Error::NotFound { .. }) if !error::is_about_bucket(&error) => {
                Vec::new()
            }
            Err(error) => return Err(self.problem("list", below, error)),
        };
        let mut objects: Vec<Object> = listed
            .into_iter()
            .map(|meta| Object {
                name: self.name_of(&meta.location),
                length: meta.size,
                modified: meta.last_modified.into(),
            })
            .collect();
        objects.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(objects)
    }

    fn name_of(&self, path: &Path) -> String {
        match path.prefix_match(&self.prefix) {
            Some(parts) => {
                let parts: Vec<String> = parts.map(|part| part.as_ref().to_owned()).collect();
                parts.join("/")
            }
            None => path.to_string(),
        }
    }

    /// Deletes an object. A missing object is not an error.
    ///
    /// # Errors
    /// Fails if the place fails.
    pub async fn delete(&self, name: &str) -> Result<()> {
        match self.store.delete(&self.path(name)?).await {
            Ok(()) => Ok(()),
            Err(error @ object_store::Error::NotFound { .. }) if !error::is_about_bucket(&error) => Ok(()),
            Err(error) => Err(self.problem("delete", name, error)),
        }
    }

    /// Removes empty directories in the place, and the place itself if it is empty and opening has created it. A bucket
    /// has no directories. Nothing else may write to the place meanwhile.
    pub async fn remove_empty(&self) {
        let Some(directory) = self.directory.clone() else {
            return;
        };
        let origin = self.origin;
        let removed = tokio::task::spawn_blocking(move || {
            place::remove_empty_below(&directory);
            match origin {
                DirectoryOrigin::Existing => Ok(()),
                DirectoryOrigin::Created => std::fs::remove_dir(&directory),
            }
        });
        // A directory that is not empty remains.
        let _ = removed.await;
    }

    /// Removes the remains of interrupted uploads from the directory `below`. No upload to it may be in progress.
    /// Returns how many files were removed. In a bucket nothing is done: a rule of the bucket should end unfinished
    /// uploads ("abort incomplete multipart uploads").
    ///
    /// # Errors
    /// Fails if the directory cannot be read.
    pub async fn remove_unfinished(&self, below: &str) -> Result<usize> {
        let Some(directory) = &self.directory else {
            return Ok(0);
        };
        let directory = directory.join(below);
        let removed = tokio::task::spawn_blocking(move || place::remove_unfinished(&directory)).await;
        let removed = removed.unwrap_or_else(|error| Err(std::io::Error::other(error)));
        removed.map_err(|error| Error::Place {
            place: self.shown.to_string(),
            problem: error.to_string(),
        })
    }
}
