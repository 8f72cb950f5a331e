//! Where backups and archived logs are kept: a directory, or a bucket of an object storage service.
//!
//! ```text
//!   /var/backups/monday          a directory, made if it is not there
//!   file:///var/backups/monday   the same
//!   s3://bucket/monday           S3, or what speaks its protocol; who and where is told by the environment:
//!                                AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL,
//!                                AWS_ALLOW_HTTP=true for a service without TLS
//! ```
//!
//! An object has a name (`full/tables/000012.sst`), is written once, and **is there as a whole or not at all**: what is being written is
//! not seen by [`ObjectStorage::list`] and cannot be read before it is [finished](Upload::finish). In a directory, what is finished is
//! synced together with its name; what a crash has left unfinished is removed by [`ObjectStorage::remove_unfinished`] (a service's own
//! rules do that in a bucket).
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! # let directory = tempfile::tempdir().unwrap();
//! use paceline_object_storage::ObjectStorage;
//!
//! let storage = ObjectStorage::open(directory.path().to_str().unwrap())?;
//! let mut upload = storage.upload("logs/binlog.000001").await?;
//! upload.write(b"the first ".as_slice()).await?;
//! upload.write(b"and the second".as_slice()).await?;
//! assert!(storage.list("logs").await?.is_empty());
//! upload.finish().await?;
//! assert_eq!(storage.list("logs").await?[0].length, 24);
//! assert_eq!(storage.read("logs/binlog.000001", 4..9).await?, "first");
//! # Ok::<(), paceline_object_storage::Error>(())
//! # }).unwrap();
//! ```
#![forbid(unsafe_code)]

mod error;
mod place;
mod transfer;

pub use bytes::Bytes;
pub use error::{Error, Result};
pub use transfer::{Download, Upload};

use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

/// What is known of an object without reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its name, below the place that was opened.
    pub name: String,
    /// How many bytes it has.
    pub length: u64,
    /// When it was written.
    pub modified: SystemTime,
}

/// Whether an object that is there already may be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replace {
    /// It may.
    Yes,
    /// It may not: [`Error::AlreadyThere`].
    No,
}

/// A place that keeps objects. A handle that is cheap to clone.
#[derive(Clone, Debug)]
pub struct ObjectStorage {
    store: Arc<dyn ObjectStore>,
    /// What stands before each name.
    prefix: Path,
    /// The place as it was given.
    shown: Arc<str>,
    /// The directory, if it is one.
    directory: Option<PathBuf>,
    /// Who has made it.
    made: Made,
}

/// Who has made a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Made {
    /// It was there.
    Before,
    /// Opening it has made it.
    Here,
}

impl ObjectStorage {
    /// Opens a place: a directory or a URL. See the crate's head.
    ///
    /// # Errors
    /// [`Error::Place`] for what is neither, for a directory that cannot be made, and for an incomplete environment.
    pub fn open(place: &str) -> Result<Self> {
        place::open(place)
    }

    /// The place as it was given.
    pub fn place(&self) -> &str {
        &self.shown
    }

    /// The directory, if it is one.
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
        let (place, name) = (self.shown.to_string(), name.to_owned());
        match source {
            source if error::is_about_bucket(&source) => Error::NoBucket { place },
            object_store::Error::NotFound { .. } => Error::NotFound { place, name },
            object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. } => {
                Error::AlreadyThere { place, name }
            }
            source => Error::Storage {
                place,
                operation,
                name,
                source: Box::new(source),
            },
        }
    }

    /// Writes a small object at once.
    ///
    /// # Errors
    /// [`Error::AlreadyThere`]; if the place fails.
    pub async fn put(&self, name: &str, content: impl Into<Bytes>, replace: Replace) -> Result<()> {
        let mode = match replace {
            Replace::Yes => PutMode::Overwrite,
            Replace::No => PutMode::Create,
        };
        let options = PutOptions {
            mode,
            ..PutOptions::default()
        };
        let payload = PutPayload::from_bytes(content.into());
        let put = self.store.put_opts(&self.path(name)?, payload, options).await;
        put.map(drop).map_err(|error| self.problem("write", name, error))
    }

    /// Begins to write an object of any length. Nobody sees it before it is [finished](Upload::finish).
    ///
    /// # Errors
    /// If the place fails.
    pub async fn upload(&self, name: &str) -> Result<Upload> {
        let upload = self.store.put_multipart(&self.path(name)?).await;
        let upload = upload.map_err(|error| self.problem("write", name, error))?;
        Ok(Upload::new(self.clone(), name.to_owned(), upload))
    }

    /// Whether there is such an object, and how long it is.
    ///
    /// # Errors
    /// [`Error::NotFound`]; if the place fails.
    pub async fn look(&self, name: &str) -> Result<Object> {
        let meta = self.store.head(&self.path(name)?).await;
        let meta = meta.map_err(|error| self.problem("look at", name, error))?;
        Ok(Object {
            name: name.to_owned(),
            length: meta.size,
            modified: meta.last_modified.into(),
        })
    }

    /// Reads a small object as a whole.
    ///
    /// # Errors
    /// [`Error::NotFound`]; if the place fails.
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
    /// [`Error::NotFound`], [`Error::Short`]; if the place fails.
    pub async fn read(&self, name: &str, range: Range<u64>) -> Result<Bytes> {
        if range.is_empty() {
            return Ok(Bytes::new());
        }
        let wanted = range.end;
        let length = range.end - range.start;
        let read = self.store.get_range(&self.path(name)?, range.clone()).await;
        match read {
            Ok(bytes) if bytes.len() as u64 == length => Ok(bytes),
            // Past the end, a directory gives less and a service may refuse.
            outcome => {
                let end = self.look(name).await?.length;
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

    /// Begins to read an object of any length from its start.
    ///
    /// # Errors
    /// [`Error::NotFound`]; if the place fails.
    pub async fn download(&self, name: &str) -> Result<Download> {
        let found = self.store.get(&self.path(name)?).await;
        let found = found.map_err(|error| self.problem("read", name, error))?;
        Ok(Download::new(self.clone(), name.to_owned(), found))
    }

    /// The finished objects whose names begin with the segments of `below` (`logs` finds `logs/a` and not `logs2`), by name; all for an
    /// empty one.
    ///
    /// # Errors
    /// If the place fails.
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

    /// Deletes an object. One that is not there is fine.
    ///
    /// # Errors
    /// If the place fails.
    pub async fn delete(&self, name: &str) -> Result<()> {
        match self.store.delete(&self.path(name)?).await {
            Ok(()) => Ok(()),
            Err(error @ object_store::Error::NotFound { .. }) if !error::is_about_bucket(&error) => Ok(()),
            Err(error) => Err(self.problem("delete", name, error)),
        }
    }

    /// Removes the directories below that hold nothing, and the place itself if it holds nothing and opening it has made it. In a bucket there
    /// are none. Nobody else may write there.
    pub async fn remove_empty(&self) {
        let Some(directory) = self.directory.clone() else {
            return;
        };
        let made = self.made;
        let removed = tokio::task::spawn_blocking(move || {
            place::remove_empty_below(&directory);
            match made {
                Made::Before => Ok(()),
                Made::Here => std::fs::remove_dir(&directory),
            }
        });
        // What is not empty stays.
        let _ = removed.await;
    }

    /// Removes what uploads that were interrupted have left below `below`, while no other upload to there is under way. In a bucket there
    /// is nothing to do: a rule of its own should end uploads that nobody has finished ("abort incomplete multipart uploads").
    ///
    /// # Errors
    /// If the directory cannot be read.
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
