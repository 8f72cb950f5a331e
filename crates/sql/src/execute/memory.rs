//! What a statement may collect in memory.

use std::cell::Cell;
use std::rc::Rc;

use paceline_types::Value;
use paceline_types::error_code::ER_RECORD_FILE_FULL;

use crate::error::{Error, Result};

/// A sort goes on in a temporary file past so many bytes.
pub const SORT_MEMORY_MAX: usize = 64 << 20;

/// What a statement's groups, derived tables, hash tables and changes may take together, in bytes: 1114 beyond.
pub const STATEMENT_MEMORY_MAX: usize = 1 << 30;

/// What a statement has collected so far.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    used: Rc<Cell<usize>>,
}

impl Budget {
    /// Takes `bytes` for what is kept until the statement's end.
    ///
    /// # Errors
    /// 1114 past [`STATEMENT_MEMORY_MAX`].
    pub fn charge(&mut self, bytes: usize) -> Result<()> {
        take(&self.used, bytes)
    }

    /// For one collection, which has nothing yet: what it takes is free again when it goes. A subquery makes and drops its collections for each row of
    /// the query around it.
    pub fn part(&self) -> Reservation {
        Reservation {
            budget: self.used.clone(),
            bytes: 0,
        }
    }
}

/// What one collection has taken of a statement's [`Budget`].
#[derive(Debug)]
pub(crate) struct Reservation {
    budget: Rc<Cell<usize>>,
    bytes: usize,
}

impl Reservation {
    /// Takes so many bytes more.
    ///
    /// # Errors
    /// 1114 past [`STATEMENT_MEMORY_MAX`].
    pub fn take(&mut self, bytes: usize) -> Result<()> {
        self.bytes = self.bytes.saturating_add(bytes);
        take(&self.budget, bytes)
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.set(self.budget.get().saturating_sub(self.bytes));
    }
}

fn take(used: &Cell<usize>, bytes: usize) -> Result<()> {
    used.set(used.get().saturating_add(bytes));
    if used.get() > STATEMENT_MEMORY_MAX {
        return Err(Error::new(ER_RECORD_FILE_FULL, &[&"(temporary)"]));
    }
    Ok(())
}

/// The bytes that a row takes.
pub(crate) fn row_bytes(row: &[Value]) -> usize {
    row.iter().map(Value::memory_bytes).sum::<usize>() + 24
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_collection_took_is_free_when_it_goes() {
        let mut budget = Budget::default();
        budget.charge(10).unwrap();
        for _ in 0..3 {
            let mut part = budget.part();
            part.take(STATEMENT_MEMORY_MAX - 10).unwrap();
            assert_eq!(part.take(1).unwrap_err().code(), ER_RECORD_FILE_FULL);
        }
        assert_eq!(budget.used.get(), 10);
    }
}
