//! Reads and writes objects of any length in bounded memory.

use crate::error::{Error, Result};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use object_store::{GetResult, MultipartUpload, WriteMultipart};
use std::sync::Arc;

/// Bytes of one part of an upload. With the 10,000 parts that S3 allows, an object may have 80 GB.
const PART_BYTES: usize = 8 << 20;
/// Maximum number of parts that are sent at the same time.
const PARTS_MAX: usize = 3;

/// An object that is being written. If it is dropped before it is finished, the object never exists.
#[derive(Debug)]
pub struct Upload {
    /// Place of the object, for messages.
    place: Arc<str>,
    name: String,
    writer: Option<WriteMultipart>,
}

impl Upload {
    pub(crate) fn new(place: Arc<str>, name: String, upload: Box<dyn MultipartUpload>) -> Self {
        Upload {
            place,
            name,
            writer: Some(WriteMultipart::new_with_chunk_size(upload, PART_BYTES)),
        }
    }

    /// Appends bytes. Waits while too many parts are being sent.
    ///
    /// # Errors
    /// Fails if the place fails. The object can then no longer be finished.
    pub async fn write(&mut self, bytes: impl Into<Bytes>) -> Result<()> {
        let Some(writer) = &mut self.writer else {
            return Ok(());
        };
        match writer.wait_for_capacity(PARTS_MAX).await {
            Ok(()) => {
                writer.put(bytes.into());
                Ok(())
            }
            Err(error) => Err(self.problem(error)),
        }
    }

    /// Finishes the object. It now exists, durably.
    ///
    /// # Errors
    /// Fails if the place fails. The object then does not exist.
    pub async fn finish(mut self) -> Result<()> {
        let Some(writer) = self.writer.take() else {
            return Ok(());
        };
        writer
            .finish()
            .await
            .map(drop)
            .map_err(|error| self.problem(error))
    }

    /// Cancels the upload and frees what was written of it.
    ///
    /// # Errors
    /// Fails if the place fails.
    pub async fn abort(mut self) -> Result<()> {
        let Some(writer) = self.writer.take() else {
            return Ok(());
        };
        writer.abort().await.map_err(|error| self.problem(error))
    }

    fn problem(&self, error: object_store::Error) -> Error {
        Error::of_store(&self.place, "write", &self.name, error)
    }
}

/// An object that is being read.
pub struct Download {
    /// Place of the object, for messages.
    place: Arc<str>,
    name: String,
    length: u64,
    chunks: BoxStream<'static, object_store::Result<Bytes>>,
}

impl Download {
    pub(crate) fn new(place: Arc<str>, name: String, found: GetResult) -> Self {
        Download {
            place,
            name,
            length: found.meta.size,
            chunks: found.into_stream(),
        }
    }

    /// Returns the length of the object in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Returns the next bytes, a chunk at a time; `None` at the end.
    ///
    /// # Errors
    /// Fails if the place fails.
    pub async fn next(&mut self) -> Result<Option<Bytes>> {
        let next = self.chunks.next().await.transpose();
        next.map_err(|error| Error::of_store(&self.place, "read", &self.name, error))
    }
}
