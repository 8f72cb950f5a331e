//! Conversion of a row's before and after image to changes of keys.

use smallvec::SmallVec;

use super::entry::{EntryKind, hash_entry};
use super::{RowPlacement, TableSchema};
use crate::error::{Error, Result};
use crate::key::{IndexId, RowId};
use crate::write_set::{RowIdLocation, WriteSet};

/// Buffer for a key without an allocation.
type KeyBuffer = SmallVec<[u8; 64]>;

/// An existing row.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// Image of the row.
    pub image: &'a [u8],
    /// Key under which it is stored, if the caller knows it. Required for a table without a primary key.
    pub key: Option<&'a [u8]>,
}

impl<'a> From<&'a [u8]> for Row<'a> {
    fn from(image: &'a [u8]) -> Self {
        Row { image, key: None }
    }
}

impl TableSchema {
    /// Writes a row change with all its index entries into a write set: an insert (only `after`), a delete
    /// (only `before`) or an update. An update touches only the indexes whose columns changed: one key, if no
    /// index contains a changed column (and the hash entries of a table without a primary key).
    ///
    /// A table that keeps nothing has no change.
    ///
    /// Reads nothing but its arguments: the caller has checked unique keys, or replays a change for which they
    /// were checked.
    ///
    /// # Errors
    /// If an image does not fit this table; [`Error::MissingRow`] if the table has no primary key and `before`
    /// no key.
    pub fn row_change(
        &self,
        before: Option<Row<'_>>,
        after: Option<&[u8]>,
        write_set: &mut WriteSet,
    ) -> Result<()> {
        if !self.stores_rows() {
            return Ok(());
        }
        match (before, after) {
            (None, None) => Ok(()),
            (None, Some(after)) => self.insert(after, write_set),
            (Some(before), None) => self.delete(before, write_set),
            (Some(before), Some(after)) => self.update(before, after, write_set),
        }
    }

    fn insert(&self, image: &[u8], write_set: &mut WriteSet) -> Result<()> {
        let mut row_key = KeyBuffer::new();
        let id = match self.clustered {
            RowPlacement::Key(_) | RowPlacement::Single(_) => {
                self.fill(&mut row_key, |out| self.append_row_key(image, out))?;
                None
            }
            RowPlacement::RowId(hidden) => {
                let id = write_set.allocate_row_id();
                row_key.extend_from_slice(&hidden.rows.to_be_bytes());
                row_key.extend_from_slice(&id.to_be_bytes());
                write_set.put_parts(&hash_entry(hidden.hash, image, id), &[], RowIdLocation::KeyEnd);
                Some(id)
            }
        };
        write_set.put_parts(&row_key, &[image], key_place(id));
        for index in self.other_indexes() {
            self.put_entry(index, image, &row_key, id, write_set)?;
        }
        Ok(())
    }

    fn delete(&self, row: Row<'_>, write_set: &mut WriteSet) -> Result<()> {
        let row_key = self.row_key(row)?;
        let id = self.placeholder(&row_key);
        if let RowPlacement::RowId(hidden) = self.clustered {
            let id = RowId::at_end_of(&row_key).ok_or(Error::MissingRow)?;
            write_set.delete_placed(
                &hash_entry(hidden.hash, row.image, id),
                key_place(self.placeholder(&row_key)),
            );
        }
        write_set.delete_placed(&row_key, key_place(id));
        self.keep_number(row.image, write_set)?;
        for index in self.other_indexes() {
            self.delete_entry(index, row.image, &row_key, id, write_set)?;
        }
        Ok(())
    }

    fn update(&self, before: Row<'_>, after: &[u8], write_set: &mut WriteSet) -> Result<()> {
        let changed = self.changed_columns(before.image, after)?;
        let row_key = self.row_key(before)?;
        let id = self.placeholder(&row_key);
        let moved = changed & self.clustered_dependencies != 0;
        let mut new_row_key = KeyBuffer::new();
        if moved {
            self.fill(&mut new_row_key, |out| self.append_row_key(after, out))?;
        }
        let new_row_key = if moved { &new_row_key } else { &row_key };
        if new_row_key != &row_key {
            write_set.delete_placed(&row_key, key_place(id));
        }
        write_set.put_parts(new_row_key, &[after], key_place(id));
        if let RowPlacement::RowId(hidden) = self.clustered
            && before.image != after
        {
            let row_id = RowId::at_end_of(&row_key).ok_or(Error::MissingRow)?;
            write_set.delete_placed(&hash_entry(hidden.hash, before.image, row_id), key_place(id));
            write_set.put_parts(&hash_entry(hidden.hash, after, row_id), &[], key_place(id));
        }
        if changed == 0 {
            return Ok(());
        }
        if self
            .counter
            .is_some_and(|counter| changed & counter.dependency != 0)
        {
            self.keep_number(before.image, write_set)?;
        }
        for index in self.other_indexes() {
            if changed & self.dependencies[index] != 0 {
                self.delete_entry(index, before.image, &row_key, id, write_set)?;
                self.put_entry(index, after, new_row_key, id, write_set)?;
            }
        }
        Ok(())
    }

    /// Keeps the number of a row that is deleted, or gets another number: it must not be assigned again.
    fn keep_number(&self, image: &[u8], write_set: &mut WriteSet) -> Result<()> {
        if let Some(counter) = self.counter
            && let Some(number) = self.image(image).column(counter.column)?.counted()
        {
            write_set.raise_counter(counter.id, number);
        }
        Ok(())
    }

    fn put_entry(
        &self,
        index: usize,
        image: &[u8],
        row_key: &[u8],
        id: Option<RowId>,
        write_set: &mut WriteSet,
    ) -> Result<()> {
        let mut key = Vec::with_capacity(64);
        match self.append_entry_key(index, image, row_key, &mut key)? {
            EntryKind::Unique => {
                let place = if id.is_some() {
                    RowIdLocation::ValueEnd
                } else {
                    RowIdLocation::None
                };
                write_set.put_parts(&key, &[&[0, 0], &row_key[IndexId::LENGTH..]], place);
            }
            EntryKind::Shared { row_key_offset } => {
                write_set.put_parts(&key, &[&row_key_offset.to_be_bytes()], key_place(id));
            }
        }
        Ok(())
    }

    fn delete_entry(
        &self,
        index: usize,
        image: &[u8],
        row_key: &[u8],
        id: Option<RowId>,
        write_set: &mut WriteSet,
    ) -> Result<()> {
        let mut key = Vec::with_capacity(64);
        let place = match self.append_entry_key(index, image, row_key, &mut key)? {
            EntryKind::Unique => RowIdLocation::None,
            EntryKind::Shared { .. } => key_place(id),
        };
        write_set.delete_placed(&key, place);
        Ok(())
    }

    /// Returns the declared indexes in which the rows are not stored.
    pub(super) fn other_indexes(&self) -> impl Iterator<Item = usize> + use<> {
        let clustered = match self.clustered {
            RowPlacement::Key(number) => number,
            RowPlacement::RowId(_) | RowPlacement::Single(_) => usize::MAX,
        };
        (0..self.indexes.len()).filter(move |&index| index != clustered)
    }

    fn row_key(&self, row: Row<'_>) -> Result<KeyBuffer> {
        match (row.key, self.clustered) {
            (Some(key), _) => Ok(KeyBuffer::from_slice(key)),
            (None, RowPlacement::Key(_) | RowPlacement::Single(_)) => {
                let mut key = KeyBuffer::new();
                self.fill(&mut key, |out| self.append_row_key(row.image, out))?;
                Ok(key)
            }
            (None, RowPlacement::RowId(_)) => Err(Error::MissingRow),
        }
    }

    fn fill(&self, key: &mut KeyBuffer, append: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
        let mut bytes = Vec::with_capacity(64);
        append(&mut bytes)?;
        *key = KeyBuffer::from_vec(bytes);
        Ok(())
    }

    /// Returns the row's hidden id, if the running transaction inserted the row, so that its version is not
    /// known yet.
    fn placeholder(&self, row_key: &[u8]) -> Option<RowId> {
        match self.clustered {
            RowPlacement::Key(_) | RowPlacement::Single(_) => None,
            RowPlacement::RowId(_) => RowId::at_end_of(row_key).filter(|id| id.is_placeholder()),
        }
    }

    /// Returns which of the indexed columns differ: one bit each; all bits if there are more than 64 such
    /// columns and any differs.
    fn changed_columns(&self, before: &[u8], after: &[u8]) -> Result<u64> {
        let Some(&last) = self.indexed_columns.last() else {
            return Ok(0);
        };
        let mut changed = 0u64;
        let (mut old, mut new) = (
            self.layout.image(before).columns(),
            self.layout.image(after).columns(),
        );
        let mut indexed = self.indexed_columns.iter().enumerate().peekable();
        for column in 0..=last {
            let (old, new) = (old.next_packed()?, new.next_packed()?);
            if let Some((number, _)) = indexed.next_if(|(_, indexed)| **indexed == column)
                && old != new
            {
                changed |= if self.indexed_columns.len() > 64 {
                    u64::MAX
                } else {
                    1 << number
                };
            }
        }
        Ok(changed)
    }
}

fn key_place(id: Option<RowId>) -> RowIdLocation {
    if id.is_some() {
        RowIdLocation::KeyEnd
    } else {
        RowIdLocation::None
    }
}
