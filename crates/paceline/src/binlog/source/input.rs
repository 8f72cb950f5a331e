//! The bytes of a log file in any form.

use paceline_binlog::log::DiskFile;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::sync::Arc;

/// A readable log file or pipe.
#[derive(Debug)]
pub struct Input {
    bytes: Bytes,
    is_seekable: bool,
}

#[derive(Debug)]
enum Bytes {
    /// Bytes of a file or a pipe.
    File(File),
    /// Contents of a compressed file, from the offset `at`.
    Archive { file: Arc<dyn DiskFile>, at: u64 },
}

impl Input {
    /// Uses a file or a pipe.
    ///
    /// # Errors
    /// Fails if the operating system does not tell which it is.
    pub fn of_file(file: File) -> io::Result<Self> {
        Ok(Input {
            is_seekable: file.metadata()?.is_file(),
            bytes: Bytes::File(file),
        })
    }

    /// Uses a file of an archive.
    pub fn of_archive(file: Arc<dyn DiskFile>) -> Self {
        Input {
            bytes: Bytes::Archive { file, at: 0 },
            is_seekable: true,
        }
    }

    /// Returns whether it is a regular file.
    pub fn is_seekable(&self) -> bool {
        self.is_seekable
    }

    /// Returns the present length in bytes.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn length(&self) -> io::Result<u64> {
        match &self.bytes {
            Bytes::File(file) => Ok(file.metadata()?.len()),
            Bytes::Archive { file, .. } => file.length(),
        }
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.bytes {
            Bytes::File(file) => file.read(buffer),
            Bytes::Archive { file, at } => {
                let length = file.read_at(buffer, *at)?;
                *at += length as u64;
                Ok(length)
            }
        }
    }
}

impl Seek for Input {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match &mut self.bytes {
            Bytes::File(file) => file.seek(to),
            Bytes::Archive { file, at } => {
                let from = match to {
                    SeekFrom::Start(offset) => Some(offset),
                    SeekFrom::Current(by) => at.checked_add_signed(by),
                    SeekFrom::End(by) => file.length()?.checked_add_signed(by),
                };
                *at = from.ok_or(ErrorKind::InvalidInput)?;
                Ok(*at)
            }
        }
    }
}
