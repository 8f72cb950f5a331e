//! The AUTO_INCREMENT values of rows that are there before the column counts.
//!
//! MariaDB has two ways, which give other values under `auto_increment_increment`: where it copies the rows they are
//! numbered as by INSERT; where InnoDB rebuilds the table in place (`ib_sequence_t`) the first value is one step later.
//! Replicas number the rows themselves, so that both have to be known here.

use paceline_types::Value;

use crate::{aligned, counted, is_numbered};
use paceline_expression::session::Settings;

/// Gives them out.
pub(super) struct Numbers {
    next: u64,
    increment: u64,
    offset: u64,
    way: NumberingWay,
}

/// As MariaDB rebuilds the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberingWay {
    Copy,
    InPlace,
}

impl Numbers {
    /// `start`: what the definition asks for at least; 1 if it asks for nothing.
    pub fn new(start: u64, way: NumberingWay, settings: &Settings) -> Self {
        let mut numbers = Numbers {
            next: start.max(1),
            increment: settings.auto_increment_increment.max(1),
            offset: settings.auto_increment_offset,
            way,
        };
        if way == NumberingWay::InPlace && (numbers.increment > 1 || numbers.offset > 1) {
            numbers.next = numbers.behind(if start > 1 { start } else { 0 });
        }
        numbers
    }

    /// The value of a row that has none. Behind the last one the greatest is given, which the column refuses, or its
    /// index.
    pub fn take(&mut self) -> u64 {
        match self.way {
            NumberingWay::Copy => {
                let value = aligned(self.next, self.increment, self.offset).unwrap_or(u64::MAX);
                self.next = value.saturating_add(1);
                value
            }
            NumberingWay::InPlace => {
                let value = self.next;
                self.next = self.behind(value);
                value
            }
        }
    }

    /// The value of a row that holds `value`, if that is to be another; otherwise it counts for those behind it.
    pub fn instead_of(&mut self, value: &Value, settings: &Settings) -> Option<u64> {
        if is_numbered(value, settings.sql_mode) {
            return Some(self.take());
        }
        if let Some(value) = counted(value) {
            self.next = self.next.max(value.saturating_add(1));
        }
        None
    }

    /// `innobase_next_autoinc`.
    fn behind(&self, value: u64) -> u64 {
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
    fn what_a_row_has_counts() {
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
