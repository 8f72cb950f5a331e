//! Storage for backups and archived logs: a directory, or a bucket of an object storage service.
//!
//! ```text
//!   /var/backups/monday          a directory, created if it does not exist
//!   file:///var/backups/monday   the same
//!   s3://bucket/monday           S3, or a service with its protocol; credentials and endpoint are in the environment:
//!                                AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL,
//!                                AWS_ALLOW_HTTP=true for a service without TLS
//! ```
//!
//! An object has a name (`full/tables/000012.sst`) and is written once. **It exists as a whole or not at all**: before
//! an upload is [finished](Upload::finish), the object is not listed by [`ObjectStorage::list`] and cannot be read. In
//! a directory, a finished object is synced together with its name. Remains of uploads that a crash has interrupted are
//! removed by [`ObjectStorage::remove_unfinished`] (in a bucket, by rules of the service).
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

#[cfg(test)]
mod bucket_tests;
mod error;
mod place;
mod storage;
mod transfer;

pub use bytes::Bytes;
pub use error::{Error, Result};
pub use storage::{Object, ObjectStorage, Overwrite};
pub use transfer::{Download, Upload};
