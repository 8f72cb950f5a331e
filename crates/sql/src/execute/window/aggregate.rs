//! Aggregates over frames.
//!
//! What comes into a frame is added, what goes is taken back, where the aggregate can: each row comes and goes once. The smallest and the largest value are
//! at the front of a queue of those that may become it. A variance is computed anew when the first row of its frame goes.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::ops::Range;

use paceline_types::Value;

use super::super::run::Exec;
use super::frame::Frames;
use crate::error::Result;
use crate::expr::{
    Accumulator, Aggregate, AggregateFunction, Slide, SlidingAccumulator, compare_values, own_rule,
};

/// What the frame of the last row holds.
enum Held {
    /// Sums and counts.
    Sliding(SlidingAccumulator),
    /// The rows that are, or may become, the best; best first.
    Best(VecDeque<usize>),
    /// Not able to give back what it took.
    Anew(Accumulator),
}

/// An aggregate of one argument, or COUNT(*), while it moves through a partition.
pub(super) struct FrameAggregate<'a> {
    aggregate: &'a Aggregate,
    /// The argument's values for all rows; `None` for COUNT(*).
    values: Option<&'a [Value]>,
    held: Held,
    /// The rows that are in.
    rows: Range<usize>,
}

impl<'a> FrameAggregate<'a> {
    /// Before the row `first`.
    pub fn new(aggregate: &'a Aggregate, values: Option<&'a [Value]>, first: usize) -> Self {
        let held = match aggregate.function {
            AggregateFunction::Min | AggregateFunction::Max => Held::Best(VecDeque::new()),
            _ => match SlidingAccumulator::new(aggregate) {
                Some(sliding) => Held::Sliding(sliding),
                None => Held::Anew(aggregate.accumulator()),
            },
        };
        FrameAggregate {
            aggregate,
            values,
            held,
            rows: first..first,
        }
    }

    /// Moves on to a frame of which neither end is before that of the last one. The rows that come are added before those that go are taken
    /// back, as MariaDB does it: with doubles the order shows.
    ///
    /// # Errors
    /// What the values' conversions meet; 1690; that of an interrupted statement.
    pub fn move_to(&mut self, exec: &mut Exec<'_, '_>, frame: Range<usize>) -> Result<()> {
        debug_assert!(frame.start >= self.rows.start && frame.end >= self.rows.end);
        if matches!(self.held, Held::Anew(_)) && frame.start != self.rows.start {
            self.held = Held::Anew(self.aggregate.accumulator());
            self.rows = frame.start..frame.start;
        }
        for row in self.rows.end..frame.end {
            exec.tick()?;
            self.add(exec, row)?;
        }
        match &mut self.held {
            Held::Sliding(sliding) => {
                for row in self.rows.start..frame.start {
                    exec.tick()?;
                    let value = self.values.map(|values| &values[row]);
                    sliding.slide(Slide::Out, value, &mut exec.context())?;
                }
            }
            Held::Best(best) => {
                while best.front().is_some_and(|row| *row < frame.start) {
                    best.pop_front();
                }
            }
            Held::Anew(_) => {}
        }
        self.rows = frame;
        Ok(())
    }

    fn add(&mut self, exec: &mut Exec<'_, '_>, row: usize) -> Result<()> {
        let value = self.values.map(|values| &values[row]);
        match &mut self.held {
            Held::Sliding(sliding) => sliding.slide(Slide::In, value, &mut exec.context()),
            Held::Anew(accumulator) => match value {
                Some(value) => accumulator.add_argument(self.aggregate, value, &mut exec.context()),
                None => Ok(()),
            },
            Held::Best(best) => {
                let Some(values) = self.values else { return Ok(()) };
                if values[row].is_null() {
                    return Ok(());
                }
                // Of equal ones the first counts.
                while let Some(&last) = best.back() {
                    if !is_better(exec, self.aggregate, &values[row], &values[last])? {
                        break;
                    }
                    best.pop_back();
                }
                best.push_back(row);
                Ok(())
            }
        }
    }

    /// The result for the frame.
    ///
    /// # Errors
    /// 1690.
    pub fn value(&mut self, exec: &mut Exec<'_, '_>) -> Result<Value> {
        match &mut self.held {
            Held::Sliding(sliding) => sliding.value(self.aggregate, &exec.context()),
            Held::Anew(accumulator) => accumulator.finish(self.aggregate, &mut exec.context()),
            Held::Best(best) => Ok(match (best.front(), self.values) {
                (Some(row), Some(values)) => values[*row].clone(),
                _ => Value::Null,
            }),
        }
    }
}

/// Whether MIN or MAX prefers a value to another that came before it; neither is NULL.
pub(super) fn is_better(
    exec: &mut Exec<'_, '_>,
    aggregate: &Aggregate,
    value: &Value,
    other: &Value,
) -> Result<bool> {
    let wanted = match aggregate.function {
        AggregateFunction::Min => Ordering::Less,
        _ => Ordering::Greater,
    };
    let rule = own_rule(&aggregate.args[0].ty, value);
    Ok(compare_values(&rule, value, other, &mut exec.context())? == Some(wanted))
}

/// Appends the results for a partition.
pub(super) fn over_frames(
    exec: &mut Exec<'_, '_>,
    aggregate: &Aggregate,
    values: Option<&[Value]>,
    mut frames: Frames<'_>,
    partition: Range<usize>,
    results: &mut Vec<Value>,
) -> Result<()> {
    let mut held = FrameAggregate::new(aggregate, values, partition.start);
    for row in partition {
        exec.tick()?;
        held.move_to(exec, frames.of(row))?;
        results.push(held.value(exec)?);
    }
    Ok(())
}
