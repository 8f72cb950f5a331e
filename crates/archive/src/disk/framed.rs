//! Reads a compressed file as if it were not compressed.

use super::read_only_file::Content;
use super::seekable::{Frame, SeekTable, decompress};
use parking_lot::Mutex;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

/// Source of compressed frames.
pub trait Frames: Send + Sync + std::fmt::Debug {
    /// Returns the compressed bytes of a frame.
    fn read(&self, frame: &Frame) -> io::Result<Vec<u8>>;
}

/// Frames of a local file.
#[derive(Debug)]
pub struct LocalFrames(File);

impl LocalFrames {
    /// Opens a compressed file.
    ///
    /// # Errors
    /// Fails if the file does not exist or does not end with a table.
    pub fn open(path: &Path) -> io::Result<(Self, SeekTable)> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        let table = SeekTable::read(length, |range| {
            let mut buffer = vec![0; (range.end - range.start) as usize];
            file.read_exact_at(&mut buffer, range.start)?;
            Ok(buffer)
        });
        let table =
            table.map_err(|error| io::Error::new(error.kind(), format!("'{}': {error}", path.display())))?;
        Ok((LocalFrames(file), table))
    }
}

impl Frames for LocalFrames {
    fn read(&self, frame: &Frame) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; (frame.compressed.end - frame.compressed.start) as usize];
        self.0.read_exact_at(&mut bytes, frame.compressed.start)?;
        Ok(bytes)
    }
}

/// A compressed file, read-only. Caches the content of the frame that was read last.
#[derive(Debug)]
pub struct FramedFile<F> {
    frames: F,
    table: SeekTable,
    last: Mutex<Option<(usize, Arc<Vec<u8>>)>>,
}

impl<F: Frames> FramedFile<F> {
    /// Creates the file from its frames and their table.
    pub fn new(frames: F, table: SeekTable) -> Self {
        FramedFile {
            frames,
            table,
            last: Mutex::new(None),
        }
    }

    fn content(&self, frame: &Frame) -> io::Result<Arc<Vec<u8>>> {
        if let Some((number, content)) = &*self.last.lock()
            && *number == frame.number
        {
            return Ok(content.clone());
        }
        let content = Arc::new(decompress(&self.frames.read(frame)?, frame)?);
        *self.last.lock() = Some((frame.number, content.clone()));
        Ok(content)
    }
}

impl<F: Frames> Content for FramedFile<F> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let Some(frame) = self.table.frame_at(offset) else {
            return Ok(0);
        };
        let content = self.content(&frame)?;
        let rest = &content[(offset - frame.content.start) as usize..];
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        Ok(length)
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.table.content_length())
    }
}
