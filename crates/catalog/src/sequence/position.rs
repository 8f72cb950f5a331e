//! Values that a sequence gives out: from the reserved ones, and what a reservation writes.

use super::SequenceRow;

/// `auto_increment_increment` and `auto_increment_offset`, which a sequence with INCREMENT 0 follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Steps {
    /// Distance of two values, above 0.
    pub increment: i64,
    /// Remainder of the values.
    pub offset: i64,
}

/// State of a sequence in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequencePosition {
    row: SequenceRow,
    /// Next value to give out; beyond the bounds after the last one.
    next_free: i64,
    /// Distance of two values, not 0.
    step: i64,
    /// Whether the last attempt found no value.
    is_exhausted: bool,
}

/// Outcome of asking for a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextValue {
    /// A value that is reserved.
    Reserved(i64),
    /// A value that may be given out after the row has been written.
    AfterWrite(i64),
    /// There is none: 4084.
    RunOut,
}

/// Outcome of setting the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetOutcome {
    /// The sequence has already passed the value, so nothing changes.
    Behind,
    /// The value is set in memory; the row stays.
    Done,
    /// The value is set after the row has been written.
    AfterWrite,
    /// A later round of a sequence that has no cycles: 4084.
    RunOut,
}

impl SequencePosition {
    /// Returns the position after all reserved values of a row.
    pub fn of_row(row: SequenceRow, steps: Steps) -> Self {
        let mut position = SequencePosition {
            row,
            next_free: row.reserved_until,
            step: match row.increment {
                0 => steps.increment,
                increment => increment,
            },
            is_exhausted: false,
        };
        position.move_to(row.reserved_until, steps);
        position
    }

    /// Returns the row.
    pub fn row(&self) -> &SequenceRow {
        &self.row
    }

    /// Moves to a value. With INCREMENT 0 it is rounded up to the steps.
    fn move_to(&mut self, value: i64, steps: Steps) {
        self.next_free = value;
        if self.row.increment != 0 {
            return;
        }
        let offset = match steps.increment {
            1 => 0,
            increment => steps.offset % increment,
        };
        let missing = (offset - value).rem_euclid(steps.increment);
        self.next_free = match value.checked_add(missing) {
            Some(next) if next <= self.row.maximum => next,
            _ => self.row.maximum.saturating_add(1),
        };
    }

    /// Returns the value after this one, or one beyond the bounds.
    fn following(&self, value: i64) -> i64 {
        match self.step > 0 {
            true => match value.checked_add(self.step) {
                Some(next) if next <= self.row.maximum => next,
                _ => self.row.maximum.saturating_add(1),
            },
            false => match value.checked_add(self.step) {
                Some(next) if next >= self.row.minimum => next,
                _ => self.row.minimum.saturating_sub(1),
            },
        }
    }

    /// Returns whether a value is before another one in the sequence's direction.
    fn is_before(&self, value: i64, other: i64) -> bool {
        match self.step > 0 {
            true => value < other,
            false => value > other,
        }
    }

    /// Takes the next value if it is reserved.
    pub fn take(&mut self) -> Option<i64> {
        let value = self.next_free;
        if !self.is_before(value, self.row.reserved_until) {
            return None;
        }
        self.next_free = self.following(value);
        Some(value)
    }

    /// Takes the next value, and reserves more if necessary.
    pub fn next(&mut self, steps: Steps) -> NextValue {
        if let Some(value) = self.take() {
            return NextValue::Reserved(value);
        }
        if self.is_exhausted {
            return NextValue::RunOut;
        }
        match self.reserve() {
            Some(value) => NextValue::AfterWrite(value),
            None if self.row.cycle => {
                self.row.round = self.row.round.wrapping_add(1);
                self.row.reserved_until = match self.step > 0 {
                    true => self.row.minimum,
                    false => self.row.maximum,
                };
                self.move_to(self.row.reserved_until, steps);
                // With INCREMENT 0 no value may fit between the bounds.
                match self.reserve() {
                    Some(value) => NextValue::AfterWrite(value),
                    None => self.run_out(),
                }
            }
            None => self.run_out(),
        }
    }

    fn run_out(&mut self) -> NextValue {
        self.is_exhausted = true;
        NextValue::RunOut
    }

    /// Reserves values and takes the first one; `None` if the next value is beyond the bounds.
    fn reserve(&mut self) -> Option<i64> {
        let value = self.next_free;
        // A valid row's cache times its increment does not overflow.
        let distance = self.step.saturating_mul(self.row.cache.max(1));
        let until = self.row.reserved_until.checked_add(distance);
        let end = match self.step > 0 {
            true => self.row.maximum.saturating_add(1),
            false => self.row.minimum.saturating_sub(1),
        };
        let until = match until {
            Some(until) if self.is_before(until, end) => until,
            _ => end,
        };
        if until == end && !self.is_before(value, end) {
            self.row.reserved_until = end;
            return None;
        }
        self.row.reserved_until = until;
        self.next_free = self.following(value);
        Some(value)
    }

    /// Sets the next value, unless the sequence has already passed it.
    pub fn set(&mut self, value: i64, is_used: bool, round: u64, steps: Steps) -> SetOutcome {
        let value = if is_used { self.following(value) } else { value };
        // MariaDB compares rounds as unsigned numbers.
        let own_round = self.row.round as u64;
        if own_round > round {
            return SetOutcome::Behind;
        }
        let is_later_round = own_round < round;
        if !is_later_round {
            if self.is_before(value, self.next_free) {
                return SetOutcome::Behind;
            }
            if value == self.next_free {
                return SetOutcome::Done;
            }
        } else if !self.row.cycle {
            return SetOutcome::RunOut;
        }
        self.row.round = round as i64;
        self.is_exhausted = false;
        self.move_to(value, steps);
        if is_later_round || self.is_before(self.row.reserved_until, self.next_free) {
            self.row.reserved_until = self.next_free;
            return SetOutcome::AfterWrite;
        }
        SetOutcome::Done
    }
}

/// Returns the row after a replicated reservation; `None` if the existing row is already further.
pub fn raised(row: &SequenceRow, reserved_until: i64, round: i64) -> Option<SequenceRow> {
    let (own, other) = (row.round as u64, round as u64);
    let is_ahead = match row.increment < 0 {
        true => reserved_until < row.reserved_until,
        false => reserved_until > row.reserved_until,
    };
    (own < other || (own == other && is_ahead)).then_some(SequenceRow {
        reserved_until,
        round,
        ..*row
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_syntax::definition::{SequenceBound, SequenceSpec};

    const ONE: Steps = Steps {
        increment: 1,
        offset: 1,
    };

    fn position(increment: i64, bounds: (i64, i64), cache: i64, cycle: bool) -> SequencePosition {
        let spec = SequenceSpec {
            increment: Some(increment),
            minimum: Some(SequenceBound::Value(bounds.0)),
            maximum: Some(SequenceBound::Value(bounds.1)),
            cache: Some(cache),
            cycle: Some(cycle),
            ..SequenceSpec::default()
        };
        SequencePosition::of_row(SequenceRow::created(&spec).unwrap(), ONE)
    }

    fn values(position: &mut SequencePosition, count: usize, steps: Steps) -> Vec<i64> {
        let mut values = Vec::new();
        for _ in 0..count {
            match position.next(steps) {
                NextValue::Reserved(value) | NextValue::AfterWrite(value) => values.push(value),
                NextValue::RunOut => break,
            }
        }
        values
    }

    #[test]
    fn each_reservation_precedes_its_values() {
        let mut position = position(1, (1, 100), 3, false);
        assert_eq!(position.next(ONE), NextValue::AfterWrite(1));
        assert_eq!(position.row().reserved_until, 4);
        assert_eq!(position.next(ONE), NextValue::Reserved(2));
        assert_eq!(position.next(ONE), NextValue::Reserved(3));
        assert_eq!(position.next(ONE), NextValue::AfterWrite(4));
        assert_eq!(position.row().reserved_until, 7);
    }

    #[test]
    fn values_end_or_begin_again() {
        assert_eq!(values(&mut position(1, (1, 3), 2, false), 9, ONE), [1, 2, 3]);
        assert_eq!(values(&mut position(1, (1, 3), 2, true), 5, ONE), [1, 2, 3, 1, 2]);
        assert_eq!(
            values(&mut position(-1, (1, 3), 2, true), 5, ONE),
            [3, 2, 1, 3, 2]
        );
        assert_eq!(
            values(&mut position(10, (-10, 11), 10, false), 9, ONE),
            [-10, 0, 10]
        );
        let mut ended = position(1, (1, 2), 0, false);
        values(&mut ended, 3, ONE);
        assert_eq!(ended.next(ONE), NextValue::RunOut);
        assert_eq!(ended.row().reserved_until, 3);
    }

    #[test]
    fn an_increment_of_0_follows_the_servers_steps() {
        let steps = Steps {
            increment: 2,
            offset: 2,
        };
        let mut position = position(0, (-3, 1000), 1000, false);
        position = SequencePosition::of_row(*position.row(), steps);
        assert_eq!(values(&mut position, 3, steps), [-2, 0, 2]);
    }

    #[test]
    fn a_value_is_only_raised() {
        let mut position = position(1, (1, 1000), 10, false);
        assert_eq!(position.set(10, true, 0, ONE), SetOutcome::AfterWrite);
        assert_eq!(position.row().reserved_until, 11);
        assert_eq!(position.next(ONE), NextValue::AfterWrite(11));
        assert_eq!(position.set(12, true, 0, ONE), SetOutcome::Done);
        assert_eq!(position.next(ONE), NextValue::Reserved(13));
        assert_eq!(position.set(5, true, 0, ONE), SetOutcome::Behind);
        assert_eq!(position.set(5, true, 1, ONE), SetOutcome::RunOut);
        let row = *position.row();
        assert_eq!(raised(&row, 20, 0), None);
        assert_eq!(raised(&row, 22, 0).unwrap().reserved_until, 22);
        assert_eq!(raised(&row, 1, 1).unwrap().round, 1);
    }
}
