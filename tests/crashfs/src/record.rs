//! Operations written down in order: from one run under load, every moment at which the power might have failed.
//!
//! ```text
//! record   = { length u32, tag u8, body }      (little endian)
//! body     = numbers u64 and names u16 length + bytes, in the order of the operation's fields; what is last takes the rest
//! ```
//! Inodes are numbered in the order of their creation, so that doing the same again gives the same numbers.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::disk::Inode;

/// Something that was done to the disk, or said on the control channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation<'a> {
    /// A new file.
    CreateFile { parent: Inode, name: &'a OsStr },
    /// A new directory.
    CreateDirectory { parent: Inode, name: &'a OsStr },
    /// A second name.
    Link {
        inode: Inode,
        parent: Inode,
        name: &'a OsStr,
    },
    /// A name taken away.
    Remove { parent: Inode, name: &'a OsStr },
    /// A name changed.
    Rename {
        parent: Inode,
        to: Inode,
        name: &'a OsStr,
        to_name: &'a OsStr,
    },
    /// Bytes written.
    Write {
        inode: Inode,
        offset: u64,
        data: &'a [u8],
    },
    /// A file made longer or shorter.
    Resize { inode: Inode, length: u64 },
    /// A file or directory made durable.
    Sync { inode: Inode },
    /// A power failure.
    Crash { seed: u64 },
    /// A word of the control channel: what a client has been told by now.
    Mark(&'a [u8]),
}

impl<'a> Operation<'a> {
    /// One letter for its kind: what the recording looks like from far away.
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

/// A file that operations are written to.
pub struct Recorder {
    file: BufWriter<File>,
    bytes: Vec<u8>,
}

impl Recorder {
    /// Starts a recording.
    ///
    /// # Errors
    /// If the file cannot be made.
    pub fn create(path: &Path) -> io::Result<Self> {
        Ok(Self {
            file: BufWriter::with_capacity(1 << 20, File::create(path)?),
            bytes: Vec::new(),
        })
    }

    /// Writes one down. A recording that lacks one is worth nothing: then the process ends.
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
    /// If its end cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A recording that was read.
pub struct Recording {
    bytes: Vec<u8>,
    /// Where each operation stands.
    places: Vec<(usize, usize)>,
}

impl Recording {
    /// Reads a recording.
    ///
    /// # Errors
    /// If it cannot be read, or is none.
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

    /// How many operations there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// An operation by its number.
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
    fn a_recording_gives_the_same_disk_again() {
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
