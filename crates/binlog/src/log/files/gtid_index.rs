//! The GTID index of a file: how the GTID state grows along the file.
//!
//! It is derived from the file and can always be rebuilt. The index of the active file is in memory; when a file is
//! closed, its index is written beside it (`bin.000007.idx`). It is sparse, with one entry for every 64 KiB of log.
//! So finding a transaction means walking an index of some hundred kilobytes in memory and reading one stretch of one
//! file.
//!
//! ```text
//! magic (8) | log file's ordinal (4) | log file's length (8) | end of head (8)
//! | number of entries (4) | entries: offset (8), number of GTIDs (4)
//! | GTIDs: domain (4), server (4), sequence (8), of all entries in a row
//! | CRC-32 of all before (4)
//! ```
//! An entry's GTIDs are those written between the previous entry (or the head) and the entry's offset, reduced to the
//! last one of each domain and server, in the order of writing. The state in the file's Gtid_list, updated with the
//! GTIDs of all entries up to some entry, is the state at that entry's offset.

use crate::checksum::crc32;
use crate::codec::{Cursor, PutExt};
use crate::disk::{Disk, DiskFile, read_fully};
use crate::gtid::GtidState;
use paceline_types::{DomainId, Gtid, SequenceNumber, ServerId};
use std::fs;
use std::io::{self, ErrorKind, IoSlice};
use std::path::Path;

/// Distance between two entries, in bytes of log; more if a single transaction is longer.
const SPACING: u64 = 64 * 1024;

const MAGIC: &[u8; 8] = b"pacegtx1";

/// Position in the file between two event groups, with the GTIDs written since the previous entry.
#[derive(Clone, PartialEq, Eq, Debug)]
struct IndexEntry {
    offset: u64,
    /// End of the entry's GTIDs in the index's list. They start where those of the previous entry end.
    gtids_end: usize,
}

/// GTID index of a file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GtidIndex {
    /// End of the file's head: the offset of the state in its Gtid_list.
    head_length: u64,
    entries: Vec<IndexEntry>,
    gtids: Vec<Gtid>,
}

impl GtidIndex {
    /// Reads the index that a server has written beside a closed file with this ordinal in its head and this length
    /// in bytes (uncompressed). Returns `None` if there is none, or none that matches the file.
    pub fn beside(log_file: &Path, ordinal: u32, file_length: u64) -> Option<Self> {
        let name = log_file.file_name()?.to_str()?;
        let path = log_file.with_file_name(format!("{name}.idx"));
        if !may_be_index(fs::metadata(&path).ok()?.len(), file_length) {
            return None;
        }
        Self::decode(&fs::read(path).ok()?, ordinal, file_length)
    }

    /// Returns the entries' offsets, each with the GTIDs written since the previous entry.
    pub fn entries(&self) -> impl Iterator<Item = (u64, &[Gtid])> + '_ {
        let starts = std::iter::once(0).chain(self.entries.iter().map(|entry| entry.gtids_end));
        starts
            .zip(&self.entries)
            .map(|(start, entry)| (entry.offset, &self.gtids[start..entry.gtids_end]))
    }

    /// Encodes the index for a log file of this ordinal and length.
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

    /// Decodes an index. Returns `None` if it is damaged or belongs to another file or length.
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

    /// Writes the index beside its log file. It need not be durable: a torn index is rebuilt.
    pub(in crate::log) fn save(
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

    /// Reads the index of a log file of this ordinal and length. Returns `None` if there is none that can be trusted.
    pub(in crate::log) fn load(disk: &dyn Disk, path: &Path, ordinal: u32, file_length: u64) -> Option<Self> {
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

/// Returns whether a file of this length can be an index: no index is longer than its log.
fn may_be_index(length: u64, log_length: u64) -> bool {
    length <= log_length + SPACING
}

/// Builds the index of a file while the file is written, or read from its start.
#[derive(Clone, Debug)]
pub(in crate::log) struct GtidIndexBuilder {
    index: GtidIndex,
    /// GTID state after everything recorded so far.
    state: GtidState,
    /// GTIDs recorded since the last entry.
    pending: Vec<Gtid>,
    /// Offset of the last entry.
    last_offset: u64,
    /// Number of event groups recorded.
    groups: u64,
}

impl GtidIndexBuilder {
    /// Creates a builder for a file with this GTID state in its head.
    pub fn new(state: GtidState, head_length: u64) -> Self {
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

    /// Records an event group with this GTID that starts at `start`.
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

    /// Returns the GTID state after everything recorded so far.
    pub fn state(&self) -> &GtidState {
        &self.state
    }

    /// Returns whether no event group was recorded.
    pub fn is_empty(&self) -> bool {
        self.groups == 0
    }

    /// Returns the index so far.
    pub fn index(&self) -> &GtidIndex {
        &self.index
    }

    /// Returns the index so far and the GTID state.
    pub fn into_parts(self) -> (GtidIndex, GtidState) {
        (self.index, self.state)
    }
}

/// Returns whether a later GTID makes an earlier one redundant: the same domain and server, and a higher number. (If
/// two are out of order both are kept, so that the highest number is not lost.)
fn supersedes(later: &Gtid, earlier: &Gtid) -> bool {
    later.domain_id == earlier.domain_id
        && later.server_id == earlier.server_id
        && later.sequence > earlier.sequence
}
