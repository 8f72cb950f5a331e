//! Index entries: from a row to the keys that find it, and back.

use paceline_types::sort_key;
use sha2::{Digest, Sha256};
use xxhash_rust::xxh3::xxh3_128;

use super::{IndexKind, RowPlacement, TableSchema};
use crate::error::{Error, Result};
use crate::key::{IndexId, KeyRange, RowId, VERSION_LENGTH};

/// Whether an entry excludes others with the same columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EntryKind {
    /// No other row may have this key. The value's payload is two zero bytes and the row's key without its
    /// index number.
    Unique,
    /// The key ends with the row's key (without its index number). The value's payload is the offset at which
    /// that begins (2 bytes, big endian).
    Shared {
        /// That offset.
        row_key_offset: u16,
    },
}

impl TableSchema {
    /// Appends the key under which a row is stored.
    ///
    /// # Errors
    /// If the image does not fit this table, or rows are stored under hidden row ids, which images do not
    /// contain.
    pub fn append_row_key(&self, image: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let number = match self.clustered {
            RowPlacement::Key(number) => number,
            RowPlacement::Single(rows) => {
                out.extend_from_slice(&super::single_row_key(rows));
                return Ok(());
            }
            RowPlacement::RowId(_) => {
                return Err(Error::InvalidSchema(
                    "a table without a primary key has no row key in its image",
                ));
            }
        };
        out.extend_from_slice(&self.indexes[number].id.to_be_bytes());
        self.append_columns(number, image, out)?;
        Ok(())
    }

    /// Appends the key of a row's entry in an index other than the clustered one. `row_key` is the key under
    /// which the row is stored.
    ///
    /// # Errors
    /// If the image does not fit this table.
    pub fn append_entry_key(
        &self,
        index: usize,
        image: &[u8],
        row_key: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<EntryKind> {
        let start = out.len();
        out.extend_from_slice(&self.indexes[index].id.to_be_bytes());
        let nulls = self.append_columns(index, image, out)?;
        if self.indexes[index].kind != IndexKind::Secondary && nulls == Nulls::None {
            return Ok(EntryKind::Unique);
        }
        let row_key_offset = u16::try_from(out.len() - start).map_err(|_| Error::Malformed {
            index: self.indexes[index].id.as_u32(),
            what: "key of 64 KiB or more",
        })?;
        out.extend_from_slice(&row_key[IndexId::LENGTH..]);
        Ok(EntryKind::Shared { row_key_offset })
    }

    /// Appends the key that no two rows may share in a unique index (including the clustered one): the key that
    /// an insert locks and looks up. Returns false, and appends nothing, if the row has a NULL there and so
    /// excludes no other row.
    ///
    /// # Errors
    /// If the image does not fit this table.
    pub fn append_unique_key(&self, index: usize, image: &[u8], out: &mut Vec<u8>) -> Result<bool> {
        debug_assert_ne!(self.indexes[index].kind, IndexKind::Secondary);
        let start = out.len();
        out.extend_from_slice(&self.indexes[index].id.to_be_bytes());
        match self.append_columns(index, image, out)? {
            Nulls::None => Ok(true),
            Nulls::Some => {
                out.truncate(start);
                Ok(false)
            }
        }
    }

    /// Appends the key of the row that an index entry refers to. In the clustered index that is the entry's own
    /// key.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the entry is too short.
    pub fn append_row_key_of_entry(
        &self,
        index: usize,
        key: &[u8],
        value: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        if self.clustered == RowPlacement::Key(index) {
            out.extend_from_slice(key);
            return Ok(());
        }
        let malformed = |what| Error::Malformed {
            index: self.indexes[index].id.as_u32(),
            what,
        };
        let payload = value.get(VERSION_LENGTH..).ok_or(malformed("value"))?;
        out.extend_from_slice(&self.clustered_id().to_be_bytes());
        let (offset, row_key) = payload.split_first_chunk::<2>().ok_or(malformed("value"))?;
        match u16::from_be_bytes(*offset) {
            0 => out.extend_from_slice(row_key),
            offset => out.extend_from_slice(key.get(usize::from(offset)..).ok_or(malformed("key"))?),
        }
        Ok(())
    }

    /// Returns the range of the entries of all rows that (almost certainly) have this image, in a table without
    /// a primary key; ascending by row id. `None` if rows are stored under a key of the table.
    pub fn hash_range(&self, image: &[u8]) -> Option<KeyRange> {
        match self.clustered {
            RowPlacement::Key(_) | RowPlacement::Single(_) => None,
            RowPlacement::RowId(hidden) => Some(KeyRange::prefix(&hash_prefix(hidden.hash, image))),
        }
    }

    /// Appends the sort keys of an index's columns.
    fn append_columns(&self, index: usize, image: &[u8], out: &mut Vec<u8>) -> Result<Nulls> {
        let start = out.len();
        let nulls = self.append_values(index, image, out)?;
        self.hash_if_required(index, start, out);
        Ok(nulls)
    }

    /// Replaces everything from `start` on by its hash, if the index requires that.
    pub(super) fn hash_if_required(&self, index: usize, start: usize, out: &mut Vec<u8>) {
        if self.indexes[index].kind == IndexKind::UniqueHash {
            // A collision-resistant hash: a row with the same hash as a different value would be refused, or
            // replaced.
            let hash = Sha256::digest(&out[start..]);
            out.truncate(start);
            out.extend_from_slice(&hash);
        }
    }

    fn append_values(&self, index: usize, image: &[u8], out: &mut Vec<u8>) -> Result<Nulls> {
        let parts = &self.indexes[index].parts;
        let image = self.layout.image(image);
        let mut nulls = Nulls::None;
        // One walk over the image for parts in the order of the table's columns.
        let mut columns = image.columns();
        for part in parts {
            if part.column < columns.position() {
                columns = image.columns();
            }
            columns.skip_to(part.column)?;
            let nullability = self.columns[part.column].nullability;
            let is_null = sort_key::append_column(&mut columns, nullability, part.prefix, out)?;
            if is_null {
                nulls = Nulls::Some;
            }
        }
        Ok(nulls)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Nulls {
    None,
    Some,
}

pub(super) fn hash_prefix(index: IndexId, image: &[u8]) -> [u8; 20] {
    let mut prefix = [0; 20];
    prefix[..4].copy_from_slice(&index.to_be_bytes());
    prefix[4..].copy_from_slice(&xxh3_128(image).to_be_bytes());
    prefix
}

pub(super) fn hash_entry(index: IndexId, image: &[u8], id: RowId) -> [u8; 32] {
    let mut key = [0; 32];
    key[..20].copy_from_slice(&hash_prefix(index, image));
    key[20..].copy_from_slice(&id.to_be_bytes());
    key
}
