//! The compressed form of a file: zstd's seekable format (contrib/seekable_format in facebook/zstd), which any `zstd -d` reads.
//!
//! ```text
//!   frame of 320 KiB | frame of 1 MiB | … | last frame | skippable frame: the table (length of each frame, compressed and not), footer
//! ```
//!
//! Each frame is compressed by itself and has a checksum. The first one is short: it holds the head of a log file and what a reader of the log
//! takes with it at once, which is all that is needed of most files.

use super::put_in_place;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::ops::Range;
use std::path::Path;

/// How much of a file is in the first frame, in bytes: more than the log reads at a time (256 KiB), so that looking at a head reads nothing else.
pub const FIRST_FRAME_LENGTH: usize = 320 << 10;
/// How much is in each of the others.
pub const FRAME_LENGTH: usize = 1 << 20;
/// zstd's own default.
const LEVEL: i32 = 3;
/// The magic of the frame that holds the table, and the one at the end of it.
const SKIPPABLE_MAGIC: u32 = 0x184D_2A5E;
const TABLE_MAGIC: u32 = 0x8F92_EAB1;
/// Number of frames (4), descriptor (1), magic (4).
const FOOTER_LENGTH: usize = 9;
/// Magic and length.
const SKIPPABLE_HEAD_LENGTH: usize = 8;
/// Two lengths.
const ENTRY_LENGTH: usize = 8;
/// The last bytes of a compressed file that are read at once to find its table: enough for the table of 256 MiB.
const TABLE_GUESS: u64 = 4096;

/// Where the frames of a file are.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SeekTable {
    /// Where each frame ends: in the compressed file, and in what it holds.
    ends: Vec<(u64, u64)>,
}

/// One frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Its number.
    pub number: usize,
    /// Where it is in the compressed file.
    pub compressed: Range<u64>,
    /// What it holds.
    pub content: Range<u64>,
}

fn damaged(problem: &str) -> io::Error {
    io::Error::new(
        ErrorKind::InvalidData,
        format!("a compressed file is damaged: {problem}"),
    )
}

impl SeekTable {
    fn push(&mut self, compressed: usize, length: usize) {
        let (end, content_end) = self.ends.last().copied().unwrap_or_default();
        self.ends
            .push((end + compressed as u64, content_end + length as u64));
    }

    /// How long the file is that the frames hold.
    pub fn content_length(&self) -> u64 {
        self.ends.last().map_or(0, |(_, end)| *end)
    }

    /// How long the compressed file is, with its table.
    pub fn file_length(&self) -> u64 {
        let table = SKIPPABLE_HEAD_LENGTH + self.ends.len() * ENTRY_LENGTH + FOOTER_LENGTH;
        self.ends.last().map_or(0, |(end, _)| *end) + table as u64
    }

    /// The frame that holds a byte of the file.
    pub fn frame_at(&self, offset: u64) -> Option<Frame> {
        let number = self.ends.partition_point(|(_, end)| *end <= offset);
        self.frame(number)
    }

    /// A frame by its number.
    pub fn frame(&self, number: usize) -> Option<Frame> {
        let (end, content_end) = *self.ends.get(number)?;
        let (start, content_start) = match number {
            0 => (0, 0),
            number => self.ends[number - 1],
        };
        Some(Frame {
            number,
            compressed: start..end,
            content: content_start..content_end,
        })
    }

    /// The bytes that stand behind the frames.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let length = self.ends.len() * ENTRY_LENGTH + FOOTER_LENGTH;
        out.extend_from_slice(&SKIPPABLE_MAGIC.to_le_bytes());
        out.extend_from_slice(&(length as u32).to_le_bytes());
        for number in 0..self.ends.len() {
            let frame = self.frame(number).expect("a number below the count");
            let lengths = [frame.compressed, frame.content].map(|range| (range.end - range.start) as u32);
            lengths
                .iter()
                .for_each(|length| out.extend_from_slice(&length.to_le_bytes()));
        }
        out.extend_from_slice(&(self.ends.len() as u32).to_le_bytes());
        out.push(0);
        out.extend_from_slice(&TABLE_MAGIC.to_le_bytes());
        out
    }

    /// Reads the table of a compressed file that is so many bytes long; `read` reads of it.
    ///
    /// # Errors
    /// Those of reading; if the file does not end with a table, or is not as long as that says.
    pub fn read<B: AsRef<[u8]>>(
        file_length: u64,
        mut read: impl FnMut(Range<u64>) -> io::Result<B>,
    ) -> io::Result<Self> {
        let guess = file_length.min(TABLE_GUESS);
        let mut last = read(file_length - guess..file_length)?;
        let needed = Self::length_at_end(last.as_ref())?;
        if needed as u64 > guess {
            let start = file_length
                .checked_sub(needed as u64)
                .ok_or_else(|| damaged("it is cut off"))?;
            last = read(start..file_length)?;
        }
        let at = last.as_ref().len().saturating_sub(needed);
        let table = Self::decode(&last.as_ref()[at..])?;
        match table.file_length() == file_length {
            true => Ok(table),
            false => Err(damaged("it is not as long as its table of frames says")),
        }
    }

    /// How many bytes at the end of a compressed file hold the table, as its last bytes say.
    ///
    /// # Errors
    /// If they are not the end of one.
    pub fn length_at_end(last: &[u8]) -> io::Result<usize> {
        let footer = last
            .last_chunk::<FOOTER_LENGTH>()
            .ok_or_else(|| damaged("it is cut off"))?;
        let number =
            |at: usize| u32::from_le_bytes([footer[at], footer[at + 1], footer[at + 2], footer[at + 3]]);
        if number(5) != TABLE_MAGIC || footer[4] != 0 {
            return Err(damaged("it does not end with a table of its frames"));
        }
        Ok(SKIPPABLE_HEAD_LENGTH + number(0) as usize * ENTRY_LENGTH + FOOTER_LENGTH)
    }

    /// Reads the table. `bytes` are the last ones of the file, as many as [`Self::length_at_end`] says.
    ///
    /// # Errors
    /// If they hold no table.
    pub fn decode(bytes: &[u8]) -> io::Result<Self> {
        if bytes.len() != Self::length_at_end(bytes)? || bytes[..4] != SKIPPABLE_MAGIC.to_le_bytes() {
            return Err(damaged("its table of frames has another length"));
        }
        let mut table = SeekTable::default();
        let entries = &bytes[SKIPPABLE_HEAD_LENGTH..bytes.len() - FOOTER_LENGTH];
        for entry in entries.chunks_exact(ENTRY_LENGTH) {
            let length = |at: usize| {
                u32::from_le_bytes([entry[at], entry[at + 1], entry[at + 2], entry[at + 3]]) as usize
            };
            if length(4) > FRAME_LENGTH || length(0) > 2 * FRAME_LENGTH {
                return Err(damaged("a frame is longer than any"));
            }
            table.push(length(0), length(4));
        }
        Ok(table)
    }
}

/// What a frame holds.
///
/// # Errors
/// If it is damaged.
pub fn decompress(compressed: &[u8], frame: &Frame) -> io::Result<Vec<u8>> {
    let length = (frame.content.end - frame.content.start) as usize;
    let content = zstd::bulk::decompress(compressed, length)?;
    match content.len() == length {
        true => Ok(content),
        false => Err(damaged("a frame holds less than the table says")),
    }
}

/// Makes the compressed form of a file, of the same age, under another name; it is there as a whole or not at all. It is read back before it is
/// put in place.
///
/// # Errors
/// Those of the file system.
pub fn compress(from: &Path, to: &Path) -> io::Result<()> {
    let unfinished = super::with_suffix(to, super::UNFINISHED);
    let made = try_compress(from, &unfinished, to);
    if made.is_err() {
        // What is left of it is removed at the next start as well.
        let _ = fs::remove_file(&unfinished);
    }
    made
}

fn try_compress(from: &Path, unfinished: &Path, to: &Path) -> io::Result<()> {
    let mut source = File::open(from)?;
    let modified = source.metadata()?.modified()?;
    let mut out = File::create(unfinished)?;
    let mut compressor = zstd::bulk::Compressor::new(LEVEL)?;
    compressor.set_parameter(zstd::zstd_safe::CParameter::ChecksumFlag(true))?;
    let mut table = SeekTable::default();
    let mut buffer = vec![0; FRAME_LENGTH];
    loop {
        let wanted = match table.ends.is_empty() {
            true => FIRST_FRAME_LENGTH,
            false => FRAME_LENGTH,
        };
        let length = read_up_to(&mut source, &mut buffer[..wanted])?;
        if length == 0 {
            break;
        }
        let content = &buffer[..length];
        let compressed = compressor.compress(content)?;
        table.push(compressed.len(), length);
        let frame = table.frame(table.ends.len() - 1).expect("it was just added");
        if decompress(&compressed, &frame)? != content {
            return Err(damaged("it is not what was compressed"));
        }
        out.write_all(&compressed)?;
    }
    out.write_all(&table.encode())?;
    put_in_place(&out, unfinished, to, modified)
}

fn read_up_to(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..])? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_return() {
        let mut table = SeekTable::default();
        assert_eq!(SeekTable::decode(&table.encode()).unwrap(), table);
        for length in [FIRST_FRAME_LENGTH, FRAME_LENGTH, 17] {
            table.push(length / 3 + 1, length);
        }
        let bytes = table.encode();
        assert_eq!(SeekTable::length_at_end(&bytes).unwrap(), bytes.len());
        assert_eq!(SeekTable::decode(&bytes).unwrap(), table);
        assert_eq!(
            table.content_length(),
            (FIRST_FRAME_LENGTH + FRAME_LENGTH + 17) as u64
        );
        let second = table.frame_at(FIRST_FRAME_LENGTH as u64).unwrap();
        assert_eq!(second.number, 1);
        assert_eq!(table.frame_at(table.content_length()), None);
        assert!(SeekTable::decode(&bytes[1..]).is_err());
    }

    #[test]
    fn zstd_itself_reads_it() {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (directory.path().join("a"), directory.path().join("a.zst"));
        let content: Vec<u8> = (0..700_000u32)
            .flat_map(|number| (number % 1000).to_be_bytes())
            .collect();
        fs::write(&from, &content).unwrap();
        compress(&from, &to).unwrap();
        assert_eq!(zstd::decode_all(File::open(&to).unwrap()).unwrap(), content);
        assert!(!super::super::with_suffix(&to, super::super::UNFINISHED).exists());
    }
}
