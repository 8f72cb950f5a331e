//! Leaving out equal rows.

use hashbrown::HashSet;

use paceline_types::Value;

use super::memory::Reservation;
use super::temporary_key;
use crate::error::Result;
use crate::expr::ExprType;

/// The rows seen so far.
pub(crate) struct Distinct<'p> {
    types: &'p [ExprType],
    memory: Reservation,
    seen: HashSet<Box<[u8]>>,
    /// The key of the row that came last.
    key: Vec<u8>,
}

impl<'p> Distinct<'p> {
    /// None yet; rows have columns of these types.
    pub fn new(types: &'p [ExprType], memory: Reservation) -> Self {
        Distinct {
            types,
            memory,
            seen: HashSet::new(),
            key: Vec::new(),
        }
    }

    /// Whether no equal row came before.
    ///
    /// # Errors
    /// 1114 for more than a statement may collect.
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

    /// The key of the row that was asked about last: that of a sort by all columns, ascending, too.
    pub fn key(&self) -> &[u8] {
        &self.key
    }
}

/// A key that rows share exactly if they are equal.
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
