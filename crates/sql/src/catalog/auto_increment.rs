//! AUTO_INCREMENT counters.
//!
//! A counter lives in memory and is found again in the tables: it goes on behind the highest value that the column holds, or held in a row that is gone
//! ([`TableSchema::with_numbers`](paceline_storage::TableSchema::with_numbers)). Values of transactions that were rolled back are not given out again while
//! the server runs, but may be after a restart.

use std::sync::atomic::{AtomicU64, Ordering};

use paceline_types::Value;

use crate::error::Result;
use crate::session::SqlMode;

/// The counter of a table. Shared by the definitions that the table has in its life, until it is emptied, told where to go on, or counts in another column.
#[derive(Debug, Default)]
pub struct AutoIncrement {
    /// The next value to give out; 0 while it is not known.
    next: AtomicU64,
}

impl AutoIncrement {
    /// The next value, if it is known.
    pub fn known(&self) -> Option<u64> {
        match self.next.load(Ordering::Acquire) {
            0 => None,
            next => Some(next),
        }
    }

    /// The next value. `highest` finds the highest value in the data (0 for none) if it is not known yet; `start` is what the
    /// definition asks for at least.
    ///
    /// # Errors
    /// Those of `highest`.
    pub fn next(&self, start: u64, highest: impl FnOnce() -> Result<u64>) -> Result<u64> {
        if let Some(next) = self.known() {
            return Ok(next);
        }
        let found = highest()?.saturating_add(1).max(start).max(1);
        // Somebody may have found it, or given out values, at the same time.
        match self
            .next
            .compare_exchange(0, found, Ordering::AcqRel, Ordering::Acquire)
        {
            Ok(_) => Ok(found),
            Err(known) => Ok(known),
        }
    }

    /// Takes `count` values that are `increment` apart and have the remainder of `offset` (`auto_increment_increment`,
    /// `auto_increment_offset`); [`Self::next`] must have been called. Returns the first; `None` if the last is above `max`, the
    /// column's highest value.
    pub fn reserve(&self, count: u64, increment: u64, offset: u64, max: u64) -> Option<u64> {
        debug_assert!(count > 0 && increment > 0, "there is something to reserve");
        let mut next = self.next.load(Ordering::Acquire);
        loop {
            let first = aligned(next.max(1), increment, offset)?;
            let last = increment
                .checked_mul(count - 1)
                .and_then(|span| first.checked_add(span))?;
            if last > max {
                return None;
            }
            // Above the last value that 64 bits hold there is none: the next call fails.
            match self.next.compare_exchange_weak(
                next,
                last.saturating_add(1),
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => return Some(first),
                Err(changed) => next = changed,
            }
        }
    }

    /// Notes a value that a row was given by someone else: a statement that named it, or the log. Costs a load where it is below what
    /// is known.
    pub fn observe(&self, value: u64) {
        let mut next = self.next.load(Ordering::Acquire);
        // What is not known yet will be found in the data.
        while next != 0 && value >= next {
            match self.next.compare_exchange_weak(
                next,
                value.saturating_add(1),
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => return,
                Err(changed) => next = changed,
            }
        }
    }
}

/// A value as a counter sees it: none for what is below zero, or no number.
pub(crate) fn counted(value: &Value) -> Option<u64> {
    value.as_ref().counted()
}

/// Whether a row that was given this value gets the next one instead: for NULL, and for 0 unless `sql_mode` says otherwise.
pub(crate) fn is_numbered(value: &Value, sql_mode: SqlMode) -> bool {
    let is_zero = match value {
        Value::Null => return true,
        Value::Float(number) => *number == 0.0,
        Value::Double(number) => *number == 0.0,
        value => counted(value) == Some(0),
    };
    is_zero && !sql_mode.contains(SqlMode::NO_AUTO_VALUE_ON_ZERO)
}

/// The value behind another one, with `auto_increment_increment` and `auto_increment_offset`; the last of 64 bits where there is none.
pub fn following(value: u64, increment: u64, offset: u64) -> u64 {
    aligned(value.saturating_add(1), increment, offset).unwrap_or(u64::MAX)
}

/// The first value from `from` on that is `offset` and a multiple of `increment`. As MariaDB, an offset above the increment counts for
/// nothing.
pub(crate) fn aligned(from: u64, increment: u64, offset: u64) -> Option<u64> {
    let offset = if offset > increment { 0 } else { offset };
    if increment == 1 {
        return Some(from);
    }
    let steps = from.saturating_sub(offset).div_ceil(increment);
    let value = steps.checked_mul(increment)?.checked_add(offset)?;
    if value == 0 { Some(increment) } else { Some(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_starts_behind_the_data() {
        let counter = AutoIncrement::default();
        assert_eq!(counter.known(), None);
        assert_eq!(counter.next(1, || Ok(41)).unwrap(), 42);
        assert_eq!(counter.next(1, || unreachable!("known by now")).unwrap(), 42);
        assert_eq!(counter.reserve(3, 1, 1, 127), Some(42));
        assert_eq!(counter.known(), Some(45));
        counter.observe(44);
        assert_eq!(counter.known(), Some(45));
        counter.observe(100);
        assert_eq!(counter.reserve(1, 1, 1, 127), Some(101));
        assert_eq!(counter.reserve(100, 1, 1, 127), None);
        assert_eq!(AutoIncrement::default().next(500, || Ok(7)).unwrap(), 500);
    }

    #[test]
    fn values_keep_to_increment_and_offset() {
        let counter = AutoIncrement::default();
        counter.next(1, || Ok(0)).unwrap();
        assert_eq!(counter.reserve(2, 10, 3, u64::MAX), Some(3));
        assert_eq!(counter.reserve(1, 10, 3, u64::MAX), Some(23));
        assert_eq!(counter.reserve(1, 10, 20, u64::MAX), Some(30));
        // Also behind a value that does not.
        assert_eq!(following(5, 10, 1), 11);
        assert_eq!(following(7, 10, 5), 15);
        assert_eq!(following(15, 10, 5), 25);
        assert_eq!(following(u64::MAX, 10, 5), u64::MAX);
    }

    #[test]
    fn the_end_of_64_bits_is_an_end() {
        let counter = AutoIncrement::default();
        counter.next(1, || Ok(u64::MAX - 2)).unwrap();
        assert_eq!(counter.reserve(1, 1, 1, u64::MAX - 1), Some(u64::MAX - 1));
        assert_eq!(counter.reserve(1, 1, 1, u64::MAX - 1), None);
    }
}
