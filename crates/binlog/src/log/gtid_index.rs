//! The GTID index of a file: how the GTID state grows along it.
//!
//! It is derived from the file and can always be made again. For the active file it is in memory; when a file is closed it is
//! written beside it (`bin.000007.idx`). It is sparse: one entry for some 64 KiB of log, so that finding a transaction means
//! to walk an index of some hundred kilobytes in memory and to read one such stretch of one file.
//!
//! ```text
//! magic (8) | log file's ordinal (4) | log file's length (8) | end of head (8)
//! | number of entries (4) | entries: offset (8), number of GTIDs (4)
//! | GTIDs: domain (4), server (4), sequence (8), of all entries in a row
//! | CRC-32 of all before (4)
//! ```
//! An entry's GTIDs are what was written between the entry before (or the head) and its offset, reduced to the last of each
//! domain and server, in the order in which they were written. Updating the state in the file's Gtid_list with the GTIDs of
//! all entries up to one gives the state at its offset.

use super::disk::{Disk, DiskFile, read_fully};
use crate::checksum::crc32;
use crate::codec::{Cursor, PutExt};
use crate::gtid::BinlogState;
use paceline_types::{DomainId, Gtid, SequenceNumber, ServerId};
use std::fs;
use std::io::{self, ErrorKind, IoSlice};
use std::path::Path;

/// How much log stands between two entries, in bytes; more where a single transaction is longer.
const SPACING: u64 = 64 * 1024;

const MAGIC: &[u8; 8] = b"pacegtx1";

/// A place in the file between two event groups, and what was written since the place before.
#[derive(Clone, PartialEq, Eq, Debug)]
struct IndexEntry {
    /// The place.
    offset: u64,
    /// The GTIDs since the entry before: the end of them in the index's list.
    gtids_end: usize,
}

/// The index of a file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GtidIndex {
    /// Where the file's head ends: the place that the state in its Gtid_list belongs to.
    head_length: u64,
    entries: Vec<IndexEntry>,
    gtids: Vec<Gtid>,
}

impl GtidIndex {
    /// The index that a server has written beside a file that it has closed, whose head says this ordinal, and which is so many bytes long
    /// (uncompressed); `None` if there is none that belongs to the file as it is.
    pub fn beside(log_file: &Path, ordinal: u32, file_length: u64) -> Option<Self> {
        let name = log_file.file_name()?.to_str()?;
        let path = log_file.with_file_name(format!("{name}.idx"));
        if !may_be_index(fs::metadata(&path).ok()?.len(), file_length) {
            return None;
        }
        Self::decode(&fs::read(path).ok()?, ordinal, file_length)
    }

    /// The places, and the GTIDs written since the place before each.
    pub fn entries(&self) -> impl Iterator<Item = (u64, &[Gtid])> + '_ {
        let starts = std::iter::once(0).chain(self.entries.iter().map(|entry| entry.gtids_end));
        starts
            .zip(&self.entries)
            .map(|(start, entry)| (entry.offset, &self.gtids[start..entry.gtids_end]))
    }

    /// The index's file form, for a log file of this ordinal and length.
    fn encode(&self, ordinal: u32, file_length: u64) -> Vec<u8> {
        let mut out = Vec::with_capacity(64 + self.entries.len() * 12 + self.gtids.len() * 16);
        out.extend_from_slice(MAGIC);
        out.put_u32(ordinal);
        out.put_u64(file_length);
        out.put_u64(self.head_length);
        out.put_u32(self.entries.len() as u32);
        for (offset, gtids) in self.entries() {
            out.put_u64(offset);
            out.put_u32(gtids.len() as u32);
        }
        for gtid in &self.gtids {
            out.put_u32(gtid.domain_id.0);
            out.put_u32(gtid.server_id.0);
            out.put_u64(gtid.sequence.0);
        }
        let checksum = crc32(&out);
        out.put_u32(checksum);
        out
    }

    /// Reads the file form; `None` if it is damaged or belongs to another file or length.
    fn decode(bytes: &[u8], ordinal: u32, file_length: u64) -> Option<Self> {
        let (content, checksum) = bytes.split_last_chunk::<4>()?;
        if crc32(content) != u32::from_le_bytes(*checksum) || !content.starts_with(MAGIC) {
            return None;
        }
        let mut cursor = Cursor::new("GTID index", &content[MAGIC.len()..]);
        if cursor.u32().ok()? != ordinal || cursor.u64().ok()? != file_length {
            return None;
        }
        let head_length = cursor.u64().ok()?;
        let count = cursor.u32().ok()? as usize;
        if cursor.remaining() < count.checked_mul(12)? {
            return None;
        }
        let mut index = Self {
            head_length,
            entries: Vec::with_capacity(count),
            gtids: Vec::new(),
        };
        let mut gtids_end: usize = 0;
        for _ in 0..count {
            let offset = cursor.u64().ok()?;
            gtids_end = gtids_end.checked_add(cursor.u32().ok()? as usize)?;
            index.entries.push(IndexEntry { offset, gtids_end });
        }
        if cursor.remaining() != gtids_end.checked_mul(16)? {
            return None;
        }
        for _ in 0..gtids_end {
            let (domain_id, server_id) = (DomainId(cursor.u32().ok()?), ServerId(cursor.u32().ok()?));
            index.gtids.push(Gtid {
                domain_id,
                server_id,
                sequence: SequenceNumber(cursor.u64().ok()?),
            });
        }
        Some(index)
    }

    /// Writes the index beside its log file. It need not be durable: a torn one is made again.
    pub(super) fn save(
        &self,
        disk: &dyn Disk,
        path: &Path,
        ordinal: u32,
        file_length: u64,
    ) -> io::Result<()> {
        match disk.remove(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        disk.create(path)?
            .write_at(&[IoSlice::new(&self.encode(ordinal, file_length))], 0)
    }

    /// Reads the index of a log file of this ordinal and length; `None` if there is none that can be trusted.
    pub(super) fn load(disk: &dyn Disk, path: &Path, ordinal: u32, file_length: u64) -> Option<Self> {
        let file = disk.open(path).ok()?;
        let length = usize::try_from(file.length().ok()?).ok()?;
        if !may_be_index(length as u64, file_length) {
            return None;
        }
        let mut bytes = vec![0; length];
        let read = read_fully(&*file as &dyn DiskFile, &mut bytes, 0).ok()?;
        Self::decode(&bytes[..read], ordinal, file_length)
    }
}

/// No index is longer than a part of its log.
fn may_be_index(length: u64, log_length: u64) -> bool {
    length <= log_length + SPACING
}

/// Makes the index of a file while it is written, or read from its start.
#[derive(Clone, Debug)]
pub(super) struct GtidIndexBuilder {
    index: GtidIndex,
    /// The GTID state of everything so far.
    state: BinlogState,
    /// What was written since the last entry.
    pending: Vec<Gtid>,
    /// The last entry's offset.
    last_offset: u64,
    /// How many event groups there are.
    groups: u64,
}

impl GtidIndexBuilder {
    /// For a file with this state in its head.
    pub fn new(state: BinlogState, head_length: u64) -> Self {
        let index = GtidIndex {
            head_length,
            ..GtidIndex::default()
        };
        Self {
            index,
            state,
            pending: Vec::new(),
            last_offset: head_length,
            groups: 0,
        }
    }

    /// An event group of this GTID starts there.
    pub fn record(&mut self, gtid: Gtid, start: u64) {
        if start >= self.last_offset + SPACING {
            self.index.gtids.append(&mut self.pending);
            self.index.entries.push(IndexEntry {
                offset: start,
                gtids_end: self.index.gtids.len(),
            });
            self.last_offset = start;
        }
        self.groups += 1;
        self.state.update(gtid);
        if gtid.domain_id == crate::gtid::LOCAL_DOMAIN {
            return;
        }
        match self.pending.last_mut() {
            Some(last) if supersedes(&gtid, last) => *last = gtid,
            _ => {
                if let Some(at) = self.pending.iter().position(|earlier| supersedes(&gtid, earlier)) {
                    self.pending.remove(at);
                }
                self.pending.push(gtid);
            }
        }
    }

    /// The GTID state of everything so far.
    pub fn state(&self) -> &BinlogState {
        &self.state
    }

    /// Whether no event group was recorded.
    pub fn is_empty(&self) -> bool {
        self.groups == 0
    }

    /// The index so far.
    pub fn index(&self) -> &GtidIndex {
        &self.index
    }

    /// The index so far and the state.
    pub fn into_parts(self) -> (GtidIndex, BinlogState) {
        (self.index, self.state)
    }
}

/// Whether a later GTID says all that an earlier one says: the same domain and server, and a higher number. (Of two that are
/// out of order both are kept, so that the highest number is not lost.)
fn supersedes(later: &Gtid, earlier: &Gtid) -> bool {
    later.domain_id == earlier.domain_id
        && later.server_id == earlier.server_id
        && later.sequence > earlier.sequence
}
