//! Objects of any length, in bounded memory.

use crate::error::Result;
use crate::{Error, ObjectStorage};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use object_store::{GetResult, MultipartUpload, WriteMultipart};

/// How much is sent at a time, in bytes: with the 10,000 parts that S3 allows, objects may be 80 GB long.
const PART_BYTES: usize = 8 << 20;
/// How many parts may be under way at a time.
const PARTS_MAX: usize = 3;

/// An object that is being written. Dropped before it is finished, it was never there.
#[derive(Debug)]
pub struct Upload {
    storage: ObjectStorage,
    name: String,
    writer: Option<WriteMultipart>,
}

impl Upload {
    pub(crate) fn new(storage: ObjectStorage, name: String, upload: Box<dyn MultipartUpload>) -> Self {
        Upload {
            storage,
            name,
            writer: Some(WriteMultipart::new_with_chunk_size(upload, PART_BYTES)),
        }
    }

    /// Appends, and waits while too much is under way.
    ///
    /// # Errors
    /// If the place fails; the object is then not to be had.
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

    /// Now it is there, durable.
    ///
    /// # Errors
    /// If the place fails: it is not there.
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

    /// Gives it up, and frees what has been written of it.
    ///
    /// # Errors
    /// If the place fails.
    pub async fn abort(mut self) -> Result<()> {
        let Some(writer) = self.writer.take() else {
            return Ok(());
        };
        writer.abort().await.map_err(|error| self.problem(error))
    }

    fn problem(&self, error: object_store::Error) -> Error {
        self.storage.problem("write", &self.name, error)
    }
}

/// An object that is being read.
pub struct Download {
    storage: ObjectStorage,
    name: String,
    length: u64,
    chunks: BoxStream<'static, object_store::Result<Bytes>>,
}

impl Download {
    pub(crate) fn new(storage: ObjectStorage, name: String, found: GetResult) -> Self {
        Download {
            storage,
            name,
            length: found.meta.size,
            chunks: found.into_stream(),
        }
    }

    /// How many bytes the object has.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The next bytes, some at a time; `None` at the end.
    ///
    /// # Errors
    /// If the place fails.
    pub async fn next(&mut self) -> Result<Option<Bytes>> {
        let next = self.chunks.next().await.transpose();
        next.map_err(|error| self.storage.problem("read", &self.name, error))
    }
}
