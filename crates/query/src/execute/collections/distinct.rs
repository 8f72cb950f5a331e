//! Removal of duplicate rows.

use hashbrown::HashSet;

use paceline_types::Value;

use super::memory::Reservation;
use super::temporary_key;
use crate::error::Result;
use paceline_expression::ExprType;

/// Set of the rows seen so far.
pub(crate) struct Distinct<'p> {
    types: &'p [ExprType],
    memory: Reservation,
    seen: HashSet<Box<[u8]>>,
    /// Key of the last row.
    key: Vec<u8>,
}

impl<'p> Distinct<'p> {
    /// Creates an empty set for rows with columns of these types.
    pub fn new(types: &'p [ExprType], memory: Reservation) -> Self {
        Distinct {
            types,
            memory,
            seen: HashSet::new(),
            key: Vec::new(),
        }
    }

    /// Adds a row. Returns whether it is the first one of its value.
    ///
    /// # Errors
    /// 1290 or 1041 beyond the session's memory limit.
    pub fn is_new(&mut self, row: &[Value]) -> Result<bool> {
        self.key.clear();
        append_row_key(row, self.types, &mut self.key);
        let before = self.seen.len();
        self.seen.get_or_insert_with(&self.key[..], |key| key.into());
        let new = self.seen.len() > before;
        if new {
            self.memory.take(self.key.len() + 48)?;
        }
        Ok(new)
    }

    /// Returns the key of the last row. It is also the key of an ascending sort by all columns.
    pub fn key(&self) -> &[u8] {
        &self.key
    }
}

/// Returns the key of a row. Rows have the same key exactly if they are equal.
pub(crate) fn row_key(row: &[Value], types: &[ExprType]) -> Vec<u8> {
    let mut key = Vec::with_capacity(16 * row.len());
    append_row_key(row, types, &mut key);
    key
}

fn append_row_key(row: &[Value], types: &[ExprType], key: &mut Vec<u8>) {
    for (value, ty) in row.iter().zip(types) {
        temporary_key::append(value, ty, key);
    }
}
