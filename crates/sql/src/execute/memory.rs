//! What a statement collects in memory, counted by its collections against the session's account ([`crate::session::SessionMemory`]).

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use paceline_types::Value;

use crate::error::Result;
use crate::session::{MemoryCharge, SessionMemory};

/// A sort goes on in a temporary file past so many bytes.
pub const SORT_MEMORY_MAX: usize = 64 << 20;

/// What a statement has collected so far.
#[derive(Debug)]
pub(crate) struct Budget {
    charge: Rc<RefCell<MemoryCharge>>,
}

impl Budget {
    /// Nothing so far.
    pub fn new(account: &Arc<SessionMemory>) -> Self {
        Budget {
            charge: Rc::new(RefCell::new(MemoryCharge::new(account))),
        }
    }

    /// Takes `bytes` for what is kept until the statement's end.
    ///
    /// # Errors
    /// 1290 or 1041 past a limit.
    pub fn charge(&mut self, bytes: usize) -> Result<()> {
        self.charge.borrow_mut().grow(bytes)
    }

    /// For one collection, which has nothing yet: what it takes is free again when it goes. A subquery makes and drops its collections for each row of
    /// the query around it.
    pub fn part(&self) -> Reservation {
        Reservation {
            charge: self.charge.clone(),
            bytes: 0,
        }
    }
}

/// What one collection has taken of a statement's [`Budget`].
#[derive(Debug)]
pub(crate) struct Reservation {
    charge: Rc<RefCell<MemoryCharge>>,
    bytes: usize,
}

impl Reservation {
    /// Takes so many bytes more, or none.
    ///
    /// # Errors
    /// 1290 or 1041 past a limit.
    pub fn take(&mut self, bytes: usize) -> Result<()> {
        self.charge.borrow_mut().grow(bytes)?;
        self.bytes += bytes;
        Ok(())
    }

    /// What it has.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Gives so many of them back.
    pub fn give_back(&mut self, bytes: usize) {
        self.charge.borrow_mut().shrink(bytes);
        self.bytes -= bytes;
    }

    /// Gives all of them back.
    pub fn clear(&mut self) {
        if self.bytes > 0 {
            self.give_back(self.bytes);
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.clear();
    }
}

/// The bytes that a row takes.
pub(crate) fn row_bytes(row: &[Value]) -> usize {
    row.iter().map(Value::memory_bytes).sum::<usize>() + 24
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_types::error_code::ER_OPTION_PREVENTS_STATEMENT;

    #[test]
    fn what_a_collection_took_is_free_when_it_goes() {
        let account = SessionMemory::unlimited();
        account.set_limit(1_000_000);
        let mut budget = Budget::new(&account);
        budget.charge(10).unwrap();
        for _ in 0..3 {
            let mut part = budget.part();
            part.take(1_000_000 - 10).unwrap();
            assert_eq!(part.take(1).unwrap_err().code(), ER_OPTION_PREVENTS_STATEMENT);
        }
        assert_eq!(budget.charge.borrow().used(), 10);
        drop(budget);
        assert_eq!(account.used(), 0);
    }
}
