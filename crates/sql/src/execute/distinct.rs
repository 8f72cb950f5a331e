//! Leaving out equal rows.

use hashbrown::HashSet;

use paceline_types::Value;

use super::memory::Budget;
use super::temporary_key;
use crate::error::Result;
use crate::expr::ExprType;

/// The rows seen so far.
pub(crate) struct Distinct<'p> {
    types: &'p [ExprType],
    seen: HashSet<Vec<u8>>,
}

impl<'p> Distinct<'p> {
    /// None yet; rows have columns of these types.
    pub fn new(types: &'p [ExprType]) -> Self {
        Distinct {
            types,
            seen: HashSet::new(),
        }
    }

    /// Whether no equal row came before.
    pub fn is_new(&mut self, row: &[Value], memory: &mut Budget) -> Result<bool> {
        let key = row_key(row, self.types);
        let bytes = key.len() + 48;
        let new = self.seen.insert(key);
        if new {
            memory.charge(bytes)?;
        }
        Ok(new)
    }
}

/// A key that rows share exactly if they are equal.
pub(crate) fn row_key(row: &[Value], types: &[ExprType]) -> Vec<u8> {
    let mut key = Vec::with_capacity(16 * row.len());
    for (value, ty) in row.iter().zip(types) {
        temporary_key::append(value, ty, &mut key);
    }
    key
}
