//! The promise of a member on its disk: `paceline.promise`.
//!
//! A write makes a new file, `paceline.promise.new`, syncs it, gives it the name of the old one, and syncs the
//! directory. So an interrupted write leaves the old promise whole; nobody has learned of the new one yet. And if the
//! file itself is damaged, its disk has lost something that was durable: that is [`StoredPromise::Torn`], and the
//! member bounds its promise by etcd.
//!
//! ```text
//!   8 bytes "PACEPROM"   version u32   epoch u64   primary u32   CRC-32 of all before u32      little-endian
//! ```
//!
//! # A file that is missing
//! In a new directory it means that nothing was ever promised. A directory is new until `paceline.member` exists
//! ([`crate::member_file`]), which is made after the first promise file. Later, a missing file is a torn promise.
//!
//! # Alternatives considered
//! *Two slots of one file, written in turn.* One sync instead of two, and no space is needed when the disk is full. But
//! after a crash a damaged slot may be the write that was interrupted or a promise that was durable and has been
//! damaged since; only the first may fall back to the other slot. A member that calls each of them torn needs etcd
//! after each interrupted write. A promise is written once in an election, where the second sync does not matter.
//!
//! *The record of the log* (a promise as an event): the log of a member that follows is its primary's, byte by byte.

use paceline_cluster::{Epoch, MemberId, Promise, StoredPromise};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

const NAME: &str = "paceline.promise";
const NEW_NAME: &str = "paceline.promise.new";
const MAGIC: &[u8; 8] = b"PACEPROM";
const VERSION: u32 = 1;
const LENGTH: usize = 28;

/// Failure of the promise's file.
#[derive(Debug, thiserror::Error)]
#[error("{}: {error}", path.display())]
pub struct PromiseFileError {
    path: PathBuf,
    error: io::Error,
}

/// The file of a member's promise.
#[derive(Debug)]
pub struct PromiseFile {
    directory: PathBuf,
}

impl PromiseFile {
    /// Reads the promise of this directory; makes one in a new directory.
    ///
    /// # Errors
    /// The file cannot be read or made. A damaged file is no error but [`StoredPromise::Torn`].
    pub fn open(directory: &Path) -> Result<(PromiseFile, StoredPromise), PromiseFileError> {
        let file = PromiseFile {
            directory: directory.to_owned(),
        };
        let promise = match file.read() {
            Ok(Some(bytes)) => decode(&bytes).map_or(StoredPromise::Torn, StoredPromise::Whole),
            Ok(None) if crate::member_file::exists(directory) => StoredPromise::Torn,
            Ok(None) => {
                file.write(Promise::NONE)?;
                StoredPromise::Whole(Promise::NONE)
            }
            Err(error) => return Err(file.failure(NAME, error)),
        };
        Ok((file, promise))
    }

    /// Replaces the promise. When this returns, it is durable.
    ///
    /// # Errors
    /// The disk has failed; which promise is durable is not known.
    pub fn write(&self, promise: Promise) -> Result<(), PromiseFileError> {
        let (new, name) = (self.directory.join(NEW_NAME), self.directory.join(NAME));
        let write = || {
            let mut file = File::create(&new)?;
            file.write_all(&encode(promise))?;
            file.sync_all()?;
            std::fs::rename(&new, &name)?;
            File::open(&self.directory)?.sync_all()
        };
        write().map_err(|error| self.failure(NEW_NAME, error))
    }

    fn read(&self) -> io::Result<Option<Vec<u8>>> {
        let file = match File::open(self.directory.join(NAME)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let mut bytes = Vec::new();
        file.take(LENGTH as u64 + 1).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    fn failure(&self, name: &str, error: io::Error) -> PromiseFileError {
        PromiseFileError {
            path: self.directory.join(name),
            error,
        }
    }
}

fn encode(promise: Promise) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(LENGTH);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&promise.epoch.0.to_le_bytes());
    bytes.extend_from_slice(&promise.primary.0.to_le_bytes());
    bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
    assert_eq!(bytes.len(), LENGTH);
    bytes
}

/// Returns `None` if anything is not as [`encode`] writes it.
fn decode(bytes: &[u8]) -> Option<Promise> {
    let bytes: &[u8; LENGTH] = bytes.try_into().ok()?;
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let is_whole =
        bytes.starts_with(MAGIC) && number(8) == VERSION && number(24) == crc32fast::hash(&bytes[..24]);
    is_whole.then(|| Promise {
        epoch: Epoch(u64::from(number(16)) << 32 | u64::from(number(12))),
        primary: MemberId(number(20)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::member_file::MemberFile;
    use std::fs;

    const OLD: Promise = Promise {
        epoch: Epoch(7),
        primary: MemberId(70),
    };
    const NEW: Promise = Promise {
        epoch: Epoch(0x1234_5678_9abc),
        primary: MemberId(u32::MAX),
    };

    /// Returns a directory of a member with the old promise.
    fn directory() -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        let (file, promise) = PromiseFile::open(directory.path()).unwrap();
        assert_eq!(promise, StoredPromise::Whole(Promise::NONE));
        MemberFile::open(directory.path(), "c").unwrap();
        file.write(OLD).unwrap();
        directory
    }

    fn stored(directory: &Path) -> StoredPromise {
        PromiseFile::open(directory).unwrap().1
    }

    #[test]
    fn a_promise_is_read_as_it_was_written() {
        let directory = directory();
        assert_eq!(stored(directory.path()), StoredPromise::Whole(OLD));
        let (file, _) = PromiseFile::open(directory.path()).unwrap();
        file.write(NEW).unwrap();
        assert_eq!(stored(directory.path()), StoredPromise::Whole(NEW));
    }

    #[test]
    fn a_write_that_is_interrupted_anywhere_leaves_the_old_promise() {
        let directory = directory();
        for length in 0..=LENGTH {
            fs::write(directory.path().join(NEW_NAME), &encode(NEW)[..length]).unwrap();
            assert_eq!(stored(directory.path()), StoredPromise::Whole(OLD), "{length}");
        }
        let (file, _) = PromiseFile::open(directory.path()).unwrap();
        file.write(NEW).unwrap();
        assert_eq!(stored(directory.path()), StoredPromise::Whole(NEW));
        assert!(!directory.path().join(NEW_NAME).exists());
    }

    #[test]
    fn a_damaged_file_is_a_torn_promise_wherever_it_is_damaged() {
        let directory = directory();
        let name = directory.path().join(NAME);
        let (old, new) = (encode(OLD), encode(NEW));
        for at in 0..LENGTH {
            // Torn: the beginning of one, the end of the other, or nothing.
            let mixed = [&new[..at], &old[at..]].concat();
            let zeros = [&new[..at], &vec![0; LENGTH - at][..]].concat();
            for torn in [mixed, new[..at].to_vec(), zeros] {
                let expected = match torn == old || torn == new {
                    true => StoredPromise::Whole(if torn == old { OLD } else { NEW }),
                    false => StoredPromise::Torn,
                };
                fs::write(&name, &torn).unwrap();
                assert_eq!(stored(directory.path()), expected, "{at}");
            }
            for bit in 0..8 {
                let mut damaged = new.clone();
                damaged[at] ^= 1 << bit;
                fs::write(&name, &damaged).unwrap();
                assert_eq!(stored(directory.path()), StoredPromise::Torn, "{at}");
            }
        }
        fs::write(&name, [&new[..], &[0]].concat()).unwrap();
        assert_eq!(stored(directory.path()), StoredPromise::Torn, "too long");
    }

    #[test]
    fn a_file_that_is_missing_in_a_known_directory_is_a_torn_promise() {
        let directory = directory();
        fs::remove_file(directory.path().join(NAME)).unwrap();
        assert_eq!(stored(directory.path()), StoredPromise::Torn);
    }

    #[test]
    fn a_directory_that_cannot_be_written_is_an_error() {
        let directory = directory();
        let (file, _) = PromiseFile::open(directory.path()).unwrap();
        drop(directory);
        assert!(file.write(NEW).unwrap_err().to_string().contains(NEW_NAME));
    }
}
