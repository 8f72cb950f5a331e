//! Records operations in order. From one run under load, the state at every possible moment of a power failure can be
//! derived.
//!
//! ```text
//! record   = { length u32, tag u8, body }      (little endian)
//! body     = numbers as u64, names as u16 length + bytes, in the order of the fields; the last field takes the rest
//! ```
//! Inodes are numbered in the order of their creation, so replaying the same operations assigns the same numbers.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::disk::Inode;

/// An operation on the disk, or a mark from the control channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation<'a> {
    /// Creates a file.
    CreateFile { parent: Inode, name: &'a OsStr },
    /// Creates a directory.
    CreateDirectory { parent: Inode, name: &'a OsStr },
    /// Adds another name for a file.
    Link {
        inode: Inode,
        parent: Inode,
        name: &'a OsStr,
    },
    /// Removes a name.
    Remove { parent: Inode, name: &'a OsStr },
    /// Renames.
    Rename {
        parent: Inode,
        to: Inode,
        name: &'a OsStr,
        to_name: &'a OsStr,
    },
    /// Writes bytes.
    Write {
        inode: Inode,
        offset: u64,
        data: &'a [u8],
    },
    /// Extends or truncates a file.
    Resize { inode: Inode, length: u64 },
    /// Syncs a file or a directory.
    Sync { inode: Inode },
    /// Loses power.
    Crash { seed: u64 },
    /// A mark from the control channel, for example what a client has been told so far.
    Mark(&'a [u8]),
}

impl<'a> Operation<'a> {
    /// Returns a letter for the kind of operation. The letters give an overview of a recording.
    pub fn letter(&self) -> char {
        match self {
            Operation::CreateFile { .. } => 'c',
            Operation::CreateDirectory { .. } => 'd',
            Operation::Link { .. } => 'l',
            Operation::Remove { .. } => 'u',
            Operation::Rename { .. } => 'r',
            Operation::Write { .. } => 'w',
            Operation::Resize { .. } => 't',
            Operation::Sync { .. } => 's',
            Operation::Crash { .. } => 'x',
            Operation::Mark(_) => 'm',
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.push(self.letter() as u8);
        let mut number = |value: u64| out.extend_from_slice(&value.to_le_bytes());
        match *self {
            Operation::CreateFile { parent, name }
            | Operation::CreateDirectory { parent, name }
            | Operation::Remove { parent, name } => {
                number(parent);
                out.extend_from_slice(name.as_bytes());
            }
            Operation::Link { inode, parent, name } => {
                number(inode);
                number(parent);
                out.extend_from_slice(name.as_bytes());
            }
            Operation::Rename {
                parent,
                to,
                name,
                to_name,
            } => {
                number(parent);
                number(to);
                out.extend_from_slice(&(name.len() as u16).to_le_bytes());
                out.extend_from_slice(name.as_bytes());
                out.extend_from_slice(to_name.as_bytes());
            }
            Operation::Write { inode, offset, data } => {
                number(inode);
                number(offset);
                out.extend_from_slice(data);
            }
            Operation::Resize { inode, length } => {
                number(inode);
                number(length);
            }
            Operation::Sync { inode } => number(inode),
            Operation::Crash { seed } => number(seed),
            Operation::Mark(text) => out.extend_from_slice(text),
        }
    }

    fn decode(bytes: &'a [u8]) -> Option<Self> {
        let (&tag, mut rest) = bytes.split_first()?;
        let mut number = || {
            let (first, behind) = rest.split_first_chunk::<8>()?;
            rest = behind;
            Some(u64::from_le_bytes(*first))
        };
        Some(match tag {
            b'c' | b'd' | b'u' => {
                let parent = number()?;
                let name = OsStr::from_bytes(rest);
                match tag {
                    b'c' => Operation::CreateFile { parent, name },
                    b'd' => Operation::CreateDirectory { parent, name },
                    _ => Operation::Remove { parent, name },
                }
            }
            b'l' => Operation::Link {
                inode: number()?,
                parent: number()?,
                name: OsStr::from_bytes(rest),
            },
            b'r' => {
                let (parent, to) = (number()?, number()?);
                let (length, names) = rest.split_first_chunk::<2>()?;
                let (name, to_name) = names.split_at_checked(usize::from(u16::from_le_bytes(*length)))?;
                Operation::Rename {
                    parent,
                    to,
                    name: OsStr::from_bytes(name),
                    to_name: OsStr::from_bytes(to_name),
                }
            }
            b'w' => Operation::Write {
                inode: number()?,
                offset: number()?,
                data: rest,
            },
            b't' => Operation::Resize {
                inode: number()?,
                length: number()?,
            },
            b's' => Operation::Sync { inode: number()? },
            b'x' => Operation::Crash { seed: number()? },
            b'm' => Operation::Mark(rest),
            _ => return None,
        })
    }
}

/// Writes operations to a file.
pub struct Recorder {
    file: BufWriter<File>,
    bytes: Vec<u8>,
}

impl Recorder {
    /// Starts a recording.
    ///
    /// # Errors
    /// Fails if the file cannot be created.
    pub fn create(path: &Path) -> io::Result<Self> {
        Ok(Self {
            file: BufWriter::with_capacity(1 << 20, File::create(path)?),
            bytes: Vec::new(),
        })
    }

    /// Records an operation. Panics if that fails, because an incomplete recording is useless.
    pub fn write(&mut self, operation: &Operation<'_>) {
        self.bytes.clear();
        operation.encode(&mut self.bytes);
        let length = (self.bytes.len() as u32).to_le_bytes();
        self.file
            .write_all(&length)
            .and_then(|()| self.file.write_all(&self.bytes))
            .expect("the recording is written");
    }

    /// Ends the recording.
    ///
    /// # Errors
    /// Fails if the end of the recording cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A recording that was read from a file.
pub struct Recording {
    bytes: Vec<u8>,
    /// Start and end of each operation in `bytes`.
    places: Vec<(usize, usize)>,
}

impl Recording {
    /// Reads a recording.
    ///
    /// # Errors
    /// Fails if the file cannot be read or is not a recording.
    pub fn open(path: &Path) -> io::Result<Self> {
        let bytes = std::fs::read(path)?;
        let (mut places, mut at) = (Vec::new(), 0);
        while let Some((length, _)) = bytes[at..].split_first_chunk::<4>() {
            let (start, length) = (at + 4, u32::from_le_bytes(*length) as usize);
            if Operation::decode(bytes.get(start..start + length).unwrap_or_default()).is_none() {
                let text = format!("operation {} is damaged", places.len());
                return Err(io::Error::new(io::ErrorKind::InvalidData, text));
            }
            places.push((start, start + length));
            at = start + length;
        }
        Ok(Self { bytes, places })
    }

    /// Returns the number of operations.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns an operation by its number.
    pub fn get(&self, number: usize) -> Operation<'_> {
        let (start, end) = self.places[number];
        Operation::decode(&self.bytes[start..end]).expect("checked when it was opened")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::{Disk, ROOT};

    #[test]
    fn replaying_a_recording_reproduces_the_disk() {
        let path = std::env::temp_dir().join(format!("crashfs-recording-{}", std::process::id()));
        let mut disk = Disk::default();
        disk.recorder = Some(Recorder::create(&path).unwrap());
        let name = OsStr::new;
        let directory = disk.create_directory(ROOT, name("d")).unwrap();
        let file = disk.create_file(directory, name("a")).unwrap();
        disk.write(file, 3, b"bytes").unwrap();
        disk.sync(file).unwrap();
        disk.mark("told 1");
        disk.link(file, ROOT, name("second")).unwrap();
        disk.rename(directory, name("a"), ROOT, name("b")).unwrap();
        disk.resize(file, 5).unwrap();
        disk.sync(ROOT).unwrap();
        disk.remove(ROOT, name("second")).unwrap();
        disk.crash(7);
        disk.recorder.take().unwrap().finish().unwrap();
        let recording = Recording::open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let letters: String = (0..recording.len()).map(|n| recording.get(n).letter()).collect();
        assert_eq!(letters, "dcwsmlrtsux");
        let mut again = Disk::default();
        for number in 0..recording.len() {
            again.replay(&recording.get(number)).unwrap();
        }
        let found = again.lookup(ROOT, name("b"));
        assert_eq!(found, disk.lookup(ROOT, name("b")));
        assert_eq!(found, Ok(file));
        assert_eq!(again.used(), disk.used());
    }
}
