//! The compressed form of a file: zstd's seekable format (contrib/seekable_format in facebook/zstd). Any `zstd -d` can
//! read it.
//!
//! ```text
//!   frame of 320 KiB | frame of 1 MiB | … | last frame | skippable frame: the table (length of each frame, compressed and not), footer
//! ```
//!
//! Each frame is compressed independently and has a checksum. The first frame is short: it contains the header of a log
//! file and what a reader of the log fetches with it. For most files nothing else is needed.

use super::names::{UNFINISHED, with_suffix};
use super::replacement::put_in_place;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::ops::Range;
use std::path::Path;

/// Uncompressed length of the first frame in bytes. It is larger than one read of the log (256 KiB), so reading a
/// header reads no other frame.
pub const FIRST_FRAME_LENGTH: usize = 320 << 10;
/// Uncompressed length of each other frame in bytes, except the last.
pub const FRAME_LENGTH: usize = 1 << 20;
/// Compression level: zstd's default.
const LEVEL: i32 = 3;
/// Magic numbers of the frame that contains the table, and of the table's footer.
const SKIPPABLE_MAGIC: u32 = 0x184D_2A5E;
const TABLE_MAGIC: u32 = 0x8F92_EAB1;
/// Footer: number of frames (4), descriptor (1), magic number (4).
const FOOTER_LENGTH: usize = 9;
/// Magic number and length.
const SKIPPABLE_HEAD_LENGTH: usize = 8;
/// Compressed and uncompressed length.
const ENTRY_LENGTH: usize = 8;
/// Bytes read from the end of a compressed file to find its table. They contain the whole table of a 256 MiB file.
const TABLE_GUESS: u64 = 4096;

/// Positions of a file's frames.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SeekTable {
    /// End of each frame: in the compressed file, and in the content.
    ends: Vec<(u64, u64)>,
}

/// A frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Number of the frame, from 0.
    pub number: usize,
    /// Range in the compressed file.
    pub compressed: Range<u64>,
    /// Range in the content.
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

    /// Returns the length of the content in bytes.
    pub fn content_length(&self) -> u64 {
        self.ends.last().map_or(0, |(_, end)| *end)
    }

    /// Returns the length of the compressed file with its table in bytes.
    pub fn file_length(&self) -> u64 {
        let table = SKIPPABLE_HEAD_LENGTH + self.ends.len() * ENTRY_LENGTH + FOOTER_LENGTH;
        self.ends.last().map_or(0, |(end, _)| *end) + table as u64
    }

    /// Returns the frame that contains an offset of the content.
    pub fn frame_at(&self, offset: u64) -> Option<Frame> {
        let number = self.ends.partition_point(|(_, end)| *end <= offset);
        self.frame(number)
    }

    /// Returns a frame by its number.
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

    /// Encodes the table as it is stored after the frames.
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

    /// Reads the table of a compressed file. `file_length` is the file's length in bytes; `read` returns a range of it.
    ///
    /// # Errors
    /// Those of `read`; fails if the file does not end with a table or has another length than the table says.
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

    /// Returns the length of the table in bytes. `last` are the last bytes of a compressed file.
    ///
    /// # Errors
    /// Fails if they are not the end of a table.
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

    /// Decodes a table. `bytes` are the last bytes of the file, [`Self::length_at_end`] of them.
    ///
    /// # Errors
    /// Fails if they are not a table.
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

/// Decompresses a frame.
///
/// # Errors
/// Fails if the frame is damaged.
pub fn decompress(compressed: &[u8], frame: &Frame) -> io::Result<Vec<u8>> {
    let length = (frame.content.end - frame.content.start) as usize;
    let content = zstd::bulk::decompress(compressed, length)?;
    match content.len() == length {
        true => Ok(content),
        false => Err(damaged("a frame holds less than the table says")),
    }
}

/// Writes the compressed form of a file under another name, with the same modification time. It exists as a whole or
/// not at all. Every frame is decompressed and compared before the file is put in place.
///
/// # Errors
/// Errors of the file system.
pub fn compress(from: &Path, to: &Path) -> io::Result<()> {
    let unfinished = with_suffix(to, UNFINISHED);
    let made = try_compress(from, &unfinished, to);
    if made.is_err() {
        // Otherwise the next start removes the remains.
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
    fn an_encoded_table_decodes_to_the_same_table() {
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
    fn zstd_decompresses_the_whole_file() {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (directory.path().join("a"), directory.path().join("a.zst"));
        let content: Vec<u8> = (0..700_000u32)
            .flat_map(|number| (number % 1000).to_be_bytes())
            .collect();
        fs::write(&from, &content).unwrap();
        compress(&from, &to).unwrap();
        assert_eq!(zstd::decode_all(File::open(&to).unwrap()).unwrap(), content);
        assert!(!with_suffix(&to, UNFINISHED).exists());
    }

    /// Returns the compressed form of `content`.
    fn compressed(content: &[u8]) -> Vec<u8> {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (directory.path().join("a"), directory.path().join("a.zst"));
        fs::write(&from, content).unwrap();
        compress(&from, &to).unwrap();
        fs::read(to).unwrap()
    }

    fn read_table(bytes: &[u8]) -> io::Result<SeekTable> {
        SeekTable::read(bytes.len() as u64, |range| {
            Ok(bytes[range.start as usize..range.end as usize].to_vec())
        })
    }

    #[test]
    fn frames_of_files_of_every_length_join_to_the_content() {
        let all: Vec<u8> = (0..3_000_000u32).map(|number| (number / 100) as u8).collect();
        let edges = [
            0,
            FIRST_FRAME_LENGTH,
            FIRST_FRAME_LENGTH + FRAME_LENGTH,
            FIRST_FRAME_LENGTH + 2 * FRAME_LENGTH,
        ];
        for length in edges
            .iter()
            .flat_map(|edge| [edge.saturating_sub(1), *edge, edge + 1])
        {
            let bytes = compressed(&all[..length]);
            let table = read_table(&bytes).unwrap();
            assert_eq!(
                (table.content_length(), table.file_length()),
                (length as u64, bytes.len() as u64)
            );
            let mut content = Vec::new();
            while let Some(frame) = table.frame_at(content.len() as u64) {
                assert_eq!(frame.content.start, content.len() as u64);
                let range = frame.compressed.start as usize..frame.compressed.end as usize;
                content.extend(decompress(&bytes[range], &frame).unwrap());
            }
            assert!(content == all[..length], "{length}");
        }
    }

    #[test]
    fn a_file_that_is_cut_off_or_continued_is_refused() {
        let bytes = compressed(
            &(0..900_000u32)
                .map(|number| (number / 100) as u8)
                .collect::<Vec<_>>(),
        );
        for length in 0..bytes.len() {
            assert!(
                read_table(&bytes[..length]).is_err(),
                "{length} of {} bytes",
                bytes.len()
            );
        }
        assert!(read_table(&[&bytes[..], &bytes[..]].concat()).is_err());
        assert!(read_table(&[b"x", &bytes[..]].concat()).is_err());
    }

    #[test]
    fn a_table_longer_than_the_first_read_is_read_completely() {
        let mut table = SeekTable::default();
        for number in 0..2000 {
            table.push(number % 7 + 1, number + 1);
        }
        let mut bytes = vec![0; table.ends.last().unwrap().0 as usize];
        bytes.extend(table.encode());
        assert!(table.encode().len() as u64 > TABLE_GUESS);
        assert_eq!(read_table(&bytes).unwrap(), table);
    }

    proptest::proptest! {
        #[test]
        fn damaged_tables_are_refused_or_describe_the_file(
            lengths in proptest::collection::vec((1usize..1000, 0usize..FRAME_LENGTH), 0..20),
            at in 0usize..1000,
            bit in 0u8..8,
        ) {
            let mut table = SeekTable::default();
            for (compressed, length) in lengths {
                table.push(compressed, length);
            }
            let mut bytes = vec![0; table.ends.last().map_or(0, |(end, _)| *end) as usize];
            bytes.extend(table.encode());
            let table_start = bytes.len() - table.encode().len();
            let at = table_start + at % (bytes.len() - table_start);
            bytes[at] ^= 1 << bit;
            if let Ok(read) = read_table(&bytes) {
                proptest::prop_assert_eq!(read.file_length(), bytes.len() as u64);
            }
        }
    }
}
