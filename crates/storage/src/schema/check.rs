//! Comparison of a table's rows with its index entries: CHECK TABLE.
//!
//! Each index is read once, in order. For each, the check keeps a count and a sum of hashes: of the entries
//! that the rows require, and of the existing ones. The sums do not depend on the order. A check therefore
//! takes constant memory, and looks up no entry.

use super::entry::{EntryKind, hash_entry};
use super::{RowPlacement, TableSchema};
use crate::error::{Error, Result};
use crate::key::{IndexId, KeyRange, RowId};
use xxhash_rust::xxh3::Xxh3;

/// Check of one table in one snapshot.
#[derive(Debug)]
pub struct TableCheck<'a> {
    schema: &'a TableSchema,
    /// One per index other than the clustered one.
    tallies: Vec<IndexTally>,
    buffer: Vec<u8>,
}

#[derive(Debug)]
struct IndexTally {
    which: CheckedIndex,
    id: IndexId,
    expected: Tally,
    found: Tally,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Tally {
    entries: u64,
    sum: u128,
}

impl Tally {
    fn add(&mut self, key: &[u8], payload: &[&[u8]]) {
        let mut hash = Xxh3::new();
        hash.update(&(key.len() as u64).to_be_bytes());
        hash.update(key);
        payload.iter().for_each(|part| hash.update(part));
        self.entries += 1;
        self.sum = self.sum.wrapping_add(hash.digest128());
    }
}

/// Index whose entries are compared with the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckedIndex {
    /// The index with that number in [`TableSchema::indexes`].
    Declared(usize),
    /// The hidden index by which the log finds the rows of a table without a key.
    Hash,
}

/// Index that does not match the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexMismatch {
    /// The index.
    pub index: CheckedIndex,
    /// Number of existing entries.
    pub found: u64,
    /// Number of entries that the rows require; equal to `found` if entries are wrong rather than missing.
    pub expected: u64,
}

impl<'a> TableCheck<'a> {
    /// Begins a check. All rows must be added before all entries.
    pub fn new(schema: &'a TableSchema) -> TableCheck<'a> {
        let tally = |which, id| IndexTally {
            which,
            id,
            expected: Tally::default(),
            found: Tally::default(),
        };
        let declared = schema.other_indexes();
        let mut tallies: Vec<_> = declared
            .map(|index| tally(CheckedIndex::Declared(index), schema.indexes[index].id))
            .collect();
        if let RowPlacement::RowId(hidden) = schema.clustered {
            tallies.push(tally(CheckedIndex::Hash, hidden.hash));
        }
        TableCheck {
            schema,
            tallies,
            buffer: Vec::new(),
        }
    }

    /// Adds a row with the key under which it is stored, as its value with its version.
    ///
    /// # Errors
    /// [`Error::Malformed`] if a value does not fit its column's type, or the row does not belong under its
    /// key.
    pub fn add_row(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let image = &*self.schema.row_image(value)?;
        self.schema.decode_row(image)?;
        let misplaced = || Error::Malformed {
            index: self.schema.clustered_id().as_u32(),
            what: "row under another row's key",
        };
        if !matches!(self.schema.clustered, RowPlacement::RowId(_)) {
            self.buffer.clear();
            self.schema.append_row_key(image, &mut self.buffer)?;
            if self.buffer != key {
                return Err(misplaced());
            }
        }
        for tally in &mut self.tallies {
            let index = match tally.which {
                CheckedIndex::Declared(index) => index,
                CheckedIndex::Hash => {
                    let row_id = RowId::at_end_of(key).ok_or(Error::MissingRow)?;
                    tally.expected.add(&hash_entry(tally.id, image, row_id), &[]);
                    continue;
                }
            };
            self.buffer.clear();
            match self
                .schema
                .append_entry_key(index, image, key, &mut self.buffer)?
            {
                EntryKind::Unique => tally
                    .expected
                    .add(&self.buffer, &[&[0, 0], &key[IndexId::LENGTH..]]),
                EntryKind::Shared { row_key_offset } => {
                    tally.expected.add(&self.buffer, &[&row_key_offset.to_be_bytes()]);
                }
            }
        }
        Ok(())
    }

    /// Returns the ranges of the entries that [`add_entry`](TableCheck::add_entry) takes.
    pub fn entry_ranges(&self) -> Vec<KeyRange> {
        self.tallies.iter().map(|tally| tally.id.range()).collect()
    }

    /// Adds an entry, without its version.
    pub fn add_entry(&mut self, key: &[u8], payload: &[u8]) {
        let id = IndexId::of_key(key);
        if let Some(tally) = self.tallies.iter_mut().find(|tally| Some(tally.id) == id) {
            tally.found.add(key, &[payload]);
        }
    }

    /// Returns the indexes that do not match the rows.
    pub fn mismatches(&self) -> Vec<IndexMismatch> {
        let wrong = self.tallies.iter().filter(|tally| tally.found != tally.expected);
        let mismatch = |tally: &IndexTally| IndexMismatch {
            index: tally.which,
            found: tally.found.entries,
            expected: tally.expected.entries,
        };
        wrong.map(mismatch).collect()
    }
}
