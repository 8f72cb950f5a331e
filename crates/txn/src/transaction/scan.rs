//! A scan through up to three layers: own writes over the pending overlay over a snapshot.
//!
//! What it sees is fixed when it is made: rows that the same statement writes meanwhile do not turn up in it (no Halloween
//! problem), and it borrows nothing from the transaction.

use crate::error::Result;
use crate::overlay::PendingRow;
use paceline_storage::{Change, Cursor, Direction, KeyRange, SharedValue, VERSION_LENGTH, value_version};
use paceline_types::Version;
use std::cmp::Ordering;

/// One entry of a scan.
#[derive(Clone, Copy, Debug)]
pub struct ScanEntry<'a> {
    /// The whole key.
    pub key: &'a [u8],
    /// The value, its version in front ([`Version::ZERO`] for the transaction's own).
    pub value: &'a [u8],
}

impl<'a> ScanEntry<'a> {
    /// The version of the transaction that wrote it, or the mark of a large one; [`Version::ZERO`] if that is the reading transaction itself.
    pub fn version(&self) -> Version {
        value_version(self.value).expect("every value begins with its version")
    }

    /// The row image, the primary key or nothing, depending on the index.
    pub fn payload(&self) -> &'a [u8] {
        &self.value[VERSION_LENGTH..]
    }
}

/// An entry of the upper layers; both are copied or shared when the scan is made.
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

    /// `None`: the key is deleted.
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

/// Where the current entry is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    Nowhere,
    Engine,
    Upper(usize),
}

/// A scan over a key range. It owns what it reads from, and lends its entries.
pub struct Scan {
    cursor: Cursor,
    direction: Direction,
    /// The upper layers merged, one entry a key, in the scan's direction.
    upper: Vec<Upper>,
    next_upper: usize,
    /// Ranges that the transaction itself has deleted: entries below are gone.
    deleted: Vec<KeyRange>,
    /// Whether the cursor stands on an entry that has not been handed out.
    engine_ahead: bool,
    at: At,
}

impl Scan {
    /// `own` and `pending` ascending.
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
            at: At::Nowhere,
        }
    }

    /// Goes to the next entry and lends it; `None` at the end, and from then on.
    ///
    /// # Errors
    /// If a table file cannot be read or is corrupt.
    #[allow(clippy::should_implement_trait)] // it lends
    pub fn next(&mut self) -> Result<Option<ScanEntry<'_>>> {
        Ok(if self.advance()? { self.entry() } else { None })
    }

    /// Goes to the next entry; [`Scan::entry`] lends it.
    ///
    /// # Errors
    /// If a table file cannot be read or is corrupt.
    pub fn advance(&mut self) -> Result<bool> {
        if self.upper.is_empty() && self.deleted.is_empty() {
            let more = self.cursor.advance()?;
            self.at = if more { At::Engine } else { At::Nowhere };
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
                    self.at = At::Nowhere;
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
                self.at = At::Engine;
                return Ok(true);
            }
            if order == Ordering::Equal {
                self.engine_ahead = false;
            }
            let at = self.next_upper;
            self.next_upper += 1;
            if self.upper[at].value().is_some() {
                self.at = At::Upper(at);
                return Ok(true);
            }
        }
    }

    /// The entry that the last `next` or `advance` found.
    pub fn entry(&self) -> Option<ScanEntry<'_>> {
        match self.at {
            At::Nowhere => None,
            At::Engine => self.cursor.entry().map(|(key, value)| ScanEntry { key, value }),
            At::Upper(at) => {
                let upper = &self.upper[at];
                Some(ScanEntry {
                    key: upper.key(),
                    value: upper.value().expect("deletions are passed over"),
                })
            }
        }
    }

    /// Moves the scan: the next entry is the first at `key` or beyond it in the scan's direction, within its range.
    pub fn seek(&mut self, key: &[u8]) {
        self.cursor.seek(key);
        self.engine_ahead = false;
        self.at = At::Nowhere;
        self.next_upper = match self.direction {
            Direction::Forward => self.upper.partition_point(|entry| entry.key() < key),
            Direction::Backward => self.upper.partition_point(|entry| entry.key() > key),
        };
    }
}
