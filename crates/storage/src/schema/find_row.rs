//! Identification of the row that a before image refers to, in a table without a primary key.

use super::TableSchema;
use crate::error::{Error, Result};
use crate::key::{KeyRange, RowId, VERSION_LENGTH};

/// Source that [`TableSchema::find_row`] reads: the newest state with the transaction's own writes on top.
pub trait RowReader {
    /// Error of a read.
    type Error: From<Error>;

    /// Calls `visit` with the keys of a range, ascending, until it returns false or the range ends.
    ///
    /// # Errors
    /// If the engine cannot be read.
    fn visit_keys(
        &mut self,
        range: KeyRange,
        visit: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<(), Self::Error>;

    /// Copies the value of a key (preceded by its version) into `value`. Returns false if there is none.
    ///
    /// # Errors
    /// If the engine cannot be read.
    fn get(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, Self::Error>;
}

impl TableSchema {
    /// Returns the key of the row with this image that has the lowest id, in a table without a primary key;
    /// `None` if there is no such row, or the table has a key. Every update or delete of a row of such a table
    /// uses this row, which is identical to the intended one, so that a replay of the log uses it too.
    ///
    /// # Errors
    /// If the reader fails.
    pub fn find_row<R: RowReader>(&self, image: &[u8], reader: &mut R) -> Result<Option<Vec<u8>>, R::Error> {
        let Some(range) = self.hash_range(image) else {
            return Ok(None);
        };
        let mut value = Vec::new();
        let mut start = range.start;
        // One iteration, unless two images have the same hash: the first row is the one.
        loop {
            let mut found = None;
            reader.visit_keys(KeyRange::new(start, range.end.as_slice()), &mut |key| {
                found = Some(key.to_vec());
                false
            })?;
            let Some(hash_key) = found else { return Ok(None) };
            let malformed = Error::Malformed {
                index: self.clustered_id().as_u32(),
                what: "hash entry",
            };
            let id = RowId::at_end_of(&hash_key).ok_or(malformed)?;
            let row_key = self
                .row_id_key(id)
                .expect("the table has row ids, or no hash range");
            if reader.get(&row_key, &mut value)? && value.get(VERSION_LENGTH..) == Some(image) {
                return Ok(Some(row_key));
            }
            start = hash_key;
            start.push(0);
        }
    }
}
