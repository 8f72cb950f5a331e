//! A scan of up to three layers: own writes over the pending overlay over a snapshot.
//!
//! Its contents are fixed when it is created: rows that the same statement writes meanwhile do not appear in it
//! (no Halloween problem), and it borrows nothing from the transaction.

use crate::error::Result;
use crate::overlay::PendingRow;
use paceline_storage::{Change, Cursor, Direction, KeyRange, SharedValue, VERSION_LENGTH, value_version};
use paceline_types::Version;
use std::cmp::Ordering;

/// Entry of a scan.
#[derive(Clone, Copy, Debug)]
pub struct ScanEntry<'a> {
    /// Complete key.
    pub key: &'a [u8],
    /// Value, preceded by its version ([`Version::ZERO`] for the transaction's own).
    pub value: &'a [u8],
}

impl<'a> ScanEntry<'a> {
    /// Returns the version of the transaction that wrote it, or the mark of a large one; [`Version::ZERO`] if
    /// the reading transaction wrote it.
    pub fn version(&self) -> Version {
        value_version(self.value).expect("every value begins with its version")
    }

    /// Returns the value without its version: the row image or, in an index that does not contain the rows, what
    /// leads to the row's key.
    pub fn payload(&self) -> &'a [u8] {
        &self.value[VERSION_LENGTH..]
    }
}

/// Entry of the upper layers, copied or shared when the scan is created.
enum Upper {
    Own {
        key: Box<[u8]>,
        value: Option<SharedValue>,
    },
    Pending(PendingRow),
}

impl Upper {
    fn key(&self) -> &[u8] {
        match self {
            Upper::Own { key, .. } => key,
            Upper::Pending(row) => row.key(),
        }
    }

    /// Returns `None` if the key is deleted.
    fn value(&self) -> Option<&[u8]> {
        match self {
            Upper::Own { value, .. } => value.as_deref(),
            Upper::Pending(row) => match row.change() {
                Change::Put(value) => Some(value),
                Change::Delete => None,
            },
        }
    }
}

/// Location of the current entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EntryLocation {
    Nowhere,
    Engine,
    Upper(usize),
}

/// Scan of a key range. It owns its sources, and lends its entries.
pub struct Scan {
    cursor: Cursor,
    direction: Direction,
    /// The upper layers merged, one entry per key, in the scan's direction.
    upper: Vec<Upper>,
    next_upper: usize,
    /// Ranges that the transaction itself has deleted: entries of the lower layers in them are skipped.
    deleted: Vec<KeyRange>,
    /// Whether the cursor is on an entry that has not been returned.
    engine_ahead: bool,
    at: EntryLocation,
}

impl Scan {
    /// `own` and `pending` must be ascending.
    pub(super) fn new<'o>(
        cursor: Cursor,
        direction: Direction,
        pending: Vec<PendingRow>,
        own: impl Iterator<Item = (&'o [u8], Option<SharedValue>)>,
        deleted: Vec<KeyRange>,
    ) -> Self {
        let mut upper: Vec<Upper> = Vec::new();
        let mut pending = pending
            .into_iter()
            .filter(|row| !deleted.iter().any(|range| range.contains(row.key())))
            .peekable();
        for (key, value) in own {
            while let Some(row) = pending.next_if(|row| row.key() < key) {
                upper.push(Upper::Pending(row));
            }
            pending.next_if(|row| row.key() == key);
            upper.push(Upper::Own {
                key: key.into(),
                value,
            });
        }
        upper.extend(pending.map(Upper::Pending));
        if direction == Direction::Backward {
            upper.reverse();
        }
        Scan {
            cursor,
            direction,
            upper,
            next_upper: 0,
            deleted,
            engine_ahead: false,
            at: EntryLocation::Nowhere,
        }
    }

    /// Moves to the next entry and lends it; returns `None` at the end, and from then on.
    ///
    /// # Errors
    /// If a table file cannot be read or is corrupt.
    #[allow(clippy::should_implement_trait)] // it lends
    pub fn next(&mut self) -> Result<Option<ScanEntry<'_>>> {
        Ok(if self.advance()? { self.entry() } else { None })
    }

    /// Moves to the next entry and returns whether there is one. [`Scan::entry`] lends it.
    ///
    /// # Errors
    /// If a table file cannot be read or is corrupt.
    pub fn advance(&mut self) -> Result<bool> {
        if self.upper.is_empty() && self.deleted.is_empty() {
            let more = self.cursor.advance()?;
            self.at = if more {
                EntryLocation::Engine
            } else {
                EntryLocation::Nowhere
            };
            return Ok(more);
        }
        loop {
            if !self.engine_ahead {
                self.engine_ahead = self.cursor.advance()?;
            }
            let below = if self.engine_ahead {
                self.cursor.entry().map(|(key, _)| key)
            } else {
                None
            };
            let above = self.upper.get(self.next_upper).map(Upper::key);
            let order = match (above, below) {
                (None, None) => {
                    self.at = EntryLocation::Nowhere;
                    return Ok(false);
                }
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(above), Some(below)) => match self.direction {
                    Direction::Forward => above.cmp(below),
                    Direction::Backward => below.cmp(above),
                },
            };
            if order == Ordering::Greater {
                self.engine_ahead = false;
                let key = below.expect("the engine's entry comes first");
                if self.deleted.iter().any(|range| range.contains(key)) {
                    continue;
                }
                self.at = EntryLocation::Engine;
                return Ok(true);
            }
            if order == Ordering::Equal {
                self.engine_ahead = false;
            }
            let at = self.next_upper;
            self.next_upper += 1;
            if self.upper[at].value().is_some() {
                self.at = EntryLocation::Upper(at);
                return Ok(true);
            }
        }
    }

    /// Returns the entry that the last `next` or `advance` found.
    pub fn entry(&self) -> Option<ScanEntry<'_>> {
        match self.at {
            EntryLocation::Nowhere => None,
            EntryLocation::Engine => self.cursor.entry().map(|(key, value)| ScanEntry { key, value }),
            EntryLocation::Upper(at) => {
                let upper = &self.upper[at];
                Some(ScanEntry {
                    key: upper.key(),
                    value: upper.value().expect("deletions are skipped"),
                })
            }
        }
    }

    /// Moves the scan: the next entry is the first one at or after `key` in the scan's direction, within its
    /// range.
    pub fn seek(&mut self, key: &[u8]) {
        self.cursor.seek(key);
        self.engine_ahead = false;
        self.at = EntryLocation::Nowhere;
        self.next_upper = match self.direction {
            Direction::Forward => self.upper.partition_point(|entry| entry.key() < key),
            Direction::Backward => self.upper.partition_point(|entry| entry.key() > key),
        };
    }
}
