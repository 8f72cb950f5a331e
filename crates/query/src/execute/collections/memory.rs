//! Memory of a statement's collections, charged to the session's account
//! ([`paceline_expression::session::SessionMemory`]).

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use paceline_types::Value;

use crate::error::Result;
use crate::plan::measurements::CollectionMeasure;
use paceline_expression::session::{MemoryCharge, SessionMemory};

/// Number of bytes beyond which a sort continues in a temporary file.
pub const SORT_MEMORY_MAX: usize = 64 << 20;

/// Memory of a statement.
#[derive(Debug)]
pub(crate) struct Budget {
    charge: Rc<RefCell<MemoryCharge>>,
}

impl Budget {
    /// Creates an empty budget.
    pub fn new(account: &Arc<SessionMemory>) -> Self {
        Budget {
            charge: Rc::new(RefCell::new(MemoryCharge::new(account))),
        }
    }

    /// Charges `bytes` that are kept until the end of the statement.
    ///
    /// # Errors
    /// 1290 or 1041 beyond a limit.
    pub fn charge(&mut self, bytes: usize) -> Result<()> {
        self.charge.borrow_mut().grow(bytes)
    }

    /// Creates the reservation of one collection. Its memory is released when it is dropped. A subquery creates and
    /// drops its collections for each row of the outer query.
    pub fn part(&self) -> Reservation {
        Reservation {
            charge: self.charge.clone(),
            bytes: 0,
            measure: None,
        }
    }

    /// Creates the reservation of one collection, whose size is measured.
    pub fn measured_part(&self, measure: Rc<CollectionMeasure>) -> Reservation {
        let mut part = self.part();
        part.measure = Some(measure);
        part
    }
}

/// Memory of one collection within a statement's [`Budget`].
#[derive(Debug)]
pub(crate) struct Reservation {
    charge: Rc<RefCell<MemoryCharge>>,
    bytes: usize,
    /// Measurements of the operation, for the ANALYZE statement.
    measure: Option<Rc<CollectionMeasure>>,
}

impl Reservation {
    /// Charges `bytes` more, or nothing if that fails.
    ///
    /// # Errors
    /// 1290 or 1041 beyond a limit.
    pub fn take(&mut self, bytes: usize) -> Result<()> {
        self.charge.borrow_mut().grow(bytes)?;
        self.bytes += bytes;
        if let Some(measure) = &self.measure {
            measure.grow(bytes);
        }
        Ok(())
    }

    /// Returns the measurements of the operation, if the statement is measured.
    pub fn measure(&self) -> Option<&Rc<CollectionMeasure>> {
        self.measure.as_ref()
    }

    /// Returns the charged bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Releases a part of the memory.
    pub fn give_back(&mut self, bytes: usize) {
        self.charge.borrow_mut().shrink(bytes);
        self.bytes -= bytes;
        if let Some(measure) = &self.measure {
            measure.shrink(bytes);
        }
    }

    /// Releases all memory.
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

/// Returns the memory of a row in bytes.
pub(crate) fn row_bytes(row: &[Value]) -> usize {
    row.iter().map(Value::memory_bytes).sum::<usize>() + 24
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_types::error_code::ER_OPTION_PREVENTS_STATEMENT;

    #[test]
    fn a_dropped_collection_releases_its_memory() {
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
