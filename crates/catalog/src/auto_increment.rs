//! AUTO_INCREMENT counters.
//!
//! A counter is in memory and is initialized from the table: it continues after the highest value in the column,
//! including values of deleted rows ([`TableSchema::with_numbers`](paceline_storage::TableSchema::with_numbers)).
//! Values of transactions that were rolled back are not assigned again while the server is running, but may be after a
//! restart.

use std::sync::atomic::{AtomicU64, Ordering};

use paceline_types::Value;

use crate::error::Result;
use paceline_expression::session::SqlMode;

/// Counter of a table. All definitions of the table share it, until the table is emptied, its counter is set, or
/// another column is AUTO_INCREMENT.
#[derive(Debug, Default)]
pub struct AutoIncrement {
    /// Next value; 0 while it is unknown.
    next: AtomicU64,
}

impl AutoIncrement {
    /// Returns the next value, if it is known.
    pub fn known(&self) -> Option<u64> {
        match self.next.load(Ordering::Acquire) {
            0 => None,
            next => Some(next),
        }
    }

    /// Returns the next value. If it is unknown, `highest` determines the highest value in the data (0 for none).
    /// `start` is the minimum by the definition.
    ///
    /// # Errors
    /// The errors of `highest`.
    pub fn next(&self, start: u64, highest: impl FnOnce() -> Result<u64>) -> Result<u64> {
        if let Some(next) = self.known() {
            return Ok(next);
        }
        let found = highest()?.saturating_add(1).max(start).max(1);
        // Another session may have initialized the counter or reserved values at the same time.
        match self
            .next
            .compare_exchange(0, found, Ordering::AcqRel, Ordering::Acquire)
        {
            Ok(_) => Ok(found),
            Err(known) => Ok(known),
        }
    }

    /// Reserves `count` values with distance `increment` and the remainder of `offset` (`auto_increment_increment`,
    /// `auto_increment_offset`). [`Self::next`] must have been called. Returns the first value, or `None` if the last
    /// one is above `max`, the column's highest value.
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
            // If no 64-bit value follows, the next call fails.
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

    /// Records an explicit value of a row, from a statement or the log. The cost is one load if the value is below the
    /// counter.
    pub fn observe(&self, value: u64) {
        let mut next = self.next.load(Ordering::Acquire);
        // An unknown counter will be initialized from the data.
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

/// Returns a value for the counter, or `None` if it is negative or not a number.
pub fn counted(value: &Value) -> Option<u64> {
    value.as_ref().counted()
}

/// Returns whether a row with this value gets the next number instead: for NULL, and for 0 unless `sql_mode` forbids
/// it.
pub fn is_numbered(value: &Value, sql_mode: SqlMode) -> bool {
    let is_zero = match value {
        Value::Null => return true,
        Value::Float(number) => *number == 0.0,
        Value::Double(number) => *number == 0.0,
        value => counted(value) == Some(0),
    };
    is_zero && !sql_mode.contains(SqlMode::NO_AUTO_VALUE_ON_ZERO)
}

/// Returns the value after another one, for `auto_increment_increment` and `auto_increment_offset`; the highest 64-bit
/// value if there is none.
pub fn following(value: u64, increment: u64, offset: u64) -> u64 {
    aligned(value.saturating_add(1), increment, offset).unwrap_or(u64::MAX)
}

/// Returns the first value from `from` on that is `offset` plus a multiple of `increment`. As in MariaDB an offset
/// above the increment is ignored.
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
    fn the_counter_starts_after_the_data() {
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
        // Also after a value that does not fit.
        assert_eq!(following(5, 10, 1), 11);
        assert_eq!(following(7, 10, 5), 15);
        assert_eq!(following(15, 10, 5), 25);
        assert_eq!(following(u64::MAX, 10, 5), u64::MAX);
    }

    #[test]
    fn counters_stop_at_64_bits() {
        let counter = AutoIncrement::default();
        counter.next(1, || Ok(u64::MAX - 2)).unwrap();
        assert_eq!(counter.reserve(1, 1, 1, u64::MAX - 1), Some(u64::MAX - 1));
        assert_eq!(counter.reserve(1, 1, 1, u64::MAX - 1), None);
    }
}
