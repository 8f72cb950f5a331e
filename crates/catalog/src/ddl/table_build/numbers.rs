//! AUTO_INCREMENT values for existing rows of a column that becomes AUTO_INCREMENT.
//!
//! MariaDB has two ways, whose values differ under `auto_increment_increment`. If it copies the rows, they
//! are numbered as by INSERT. If InnoDB rebuilds the table in place (`ib_sequence_t`), the first value is one
//! step later. Replicas number the rows themselves, so both ways must be the same here.

use paceline_types::Value;

use crate::auto_increment::aligned;
use crate::{counted, is_numbered};
use paceline_expression::session::Settings;

/// Assigns AUTO_INCREMENT values.
pub(super) struct Numbers {
    next: u64,
    increment: u64,
    offset: u64,
    way: NumberingWay,
}

/// MariaDB's way of rebuilding the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberingWay {
    Copy,
    InPlace,
}

impl Numbers {
    /// Creates a generator. `start` is the minimum by the definition; 1 if there is none.
    pub fn new(start: u64, way: NumberingWay, settings: &Settings) -> Self {
        let mut numbers = Numbers {
            next: start.max(1),
            increment: settings.auto_increment_increment.max(1),
            offset: settings.auto_increment_offset,
            way,
        };
        if way == NumberingWay::InPlace && (numbers.increment > 1 || numbers.offset > 1) {
            numbers.next = numbers.next_after(if start > 1 { start } else { 0 });
        }
        numbers
    }

    /// Returns the value for a row without one. After the last possible value it returns the highest one,
    /// which the column or its index rejects.
    pub fn take(&mut self) -> u64 {
        match self.way {
            NumberingWay::Copy => {
                let value = aligned(self.next, self.increment, self.offset).unwrap_or(u64::MAX);
                self.next = value.saturating_add(1);
                value
            }
            NumberingWay::InPlace => {
                let value = self.next;
                self.next = self.next_after(value);
                value
            }
        }
    }

    /// Returns the value that replaces `value` in a row, or `None` if `value` stays. Then later rows get
    /// higher ones.
    pub(crate) fn instead_of(&mut self, value: &Value, settings: &Settings) -> Option<u64> {
        if is_numbered(value, settings.sql_mode) {
            return Some(self.take());
        }
        if let Some(value) = counted(value) {
            self.next = self.next.max(value.saturating_add(1));
        }
        None
    }

    /// Implements `innobase_next_autoinc`.
    fn next_after(&self, value: u64) -> u64 {
        let offset = if self.offset > self.increment {
            0
        } else {
            self.offset
        };
        (value.abs_diff(offset) / self.increment)
            .saturating_mul(self.increment)
            .saturating_add(self.increment)
            .saturating_add(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_expression::session::{Services, SessionContext};

    fn taken(start: u64, way: NumberingWay, increment: u64, offset: u64) -> [u64; 3] {
        let mut settings = SessionContext::new(1, Services::default()).settings;
        (settings.auto_increment_increment, settings.auto_increment_offset) = (increment, offset);
        let mut numbers = Numbers::new(start, way, &settings);
        [numbers.take(), numbers.take(), numbers.take()]
    }

    #[test]
    fn values_are_those_of_mariadb() {
        use NumberingWay::{Copy, InPlace};
        for (start, way, [increment, offset], expected) in [
            (1, InPlace, [1, 1], [1, 2, 3]),
            (7, InPlace, [1, 1], [7, 8, 9]),
            (1, InPlace, [10, 3], [13, 23, 33]),
            (100, InPlace, [10, 3], [103, 113, 123]),
            (1, InPlace, [2, 5], [2, 4, 6]),
            (1, Copy, [1, 1], [1, 2, 3]),
            (1, Copy, [10, 3], [3, 13, 23]),
            (100, Copy, [10, 3], [103, 113, 123]),
        ] {
            assert_eq!(
                taken(start, way, increment, offset),
                expected,
                "{start} {way:?} {increment} {offset}"
            );
        }
    }

    #[test]
    fn existing_values_raise_later_ones() {
        let settings = SessionContext::new(1, Services::default()).settings;
        let mut numbers = Numbers::new(1, NumberingWay::Copy, &settings);
        let given: Vec<_> = [
            Value::Null,
            Value::Int(7),
            Value::Int(0),
            Value::Int(-3),
            Value::Null,
        ]
        .iter()
        .map(|value| numbers.instead_of(value, &settings))
        .collect();
        assert_eq!(given, [Some(1), None, Some(8), None, Some(9)]);
    }
}
