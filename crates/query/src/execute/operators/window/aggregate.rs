//! Aggregates over frames.
//!
//! If the aggregate supports it, rows that enter a frame are added, and rows that leave it are removed: each row is
//! processed twice at most. For MIN and MAX, the result is at the front of a queue of the candidates. A variance is
//! computed again when the first row leaves its frame.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::ops::Range;

use paceline_types::Value;

use super::frame::Frames;
use crate::error::Result;
use crate::execute::context::Execution;
use paceline_expression::{
    Accumulator, Aggregate, AggregateFunction, Slide, SlidingAccumulator, compare_values, own_rule,
};

/// State for the current frame.
enum FrameState {
    /// Sums and counts, with removal.
    Sliding(SlidingAccumulator),
    /// Rows that are the result or may become it, best first.
    Best(VecDeque<usize>),
    /// An aggregate without removal.
    Anew(Accumulator),
}

/// An aggregate of one argument, or COUNT(*), that moves through a partition.
pub(super) struct FrameAggregate<'a> {
    aggregate: &'a Aggregate,
    /// Values of the argument for all rows; `None` for COUNT(*).
    values: Option<&'a [Value]>,
    state: FrameState,
    /// Rows that have been added.
    rows: Range<usize>,
}

impl<'a> FrameAggregate<'a> {
    /// Creates the state before row `first`.
    pub fn new(aggregate: &'a Aggregate, values: Option<&'a [Value]>, first: usize) -> Self {
        let state = match aggregate.function {
            AggregateFunction::Min | AggregateFunction::Max => FrameState::Best(VecDeque::new()),
            _ => match SlidingAccumulator::new(aggregate) {
                Some(sliding) => FrameState::Sliding(sliding),
                None => FrameState::Anew(aggregate.accumulator()),
            },
        };
        FrameAggregate {
            aggregate,
            values,
            state,
            rows: first..first,
        }
    }

    /// Moves to a frame with both ends at or after those of the previous one. New rows are added before old ones are
    /// removed, as in MariaDB: with doubles the order affects the result.
    ///
    /// # Errors
    /// Errors of the values' conversions; 1690; the error of an interrupted statement.
    pub fn move_to(&mut self, exec: &mut Execution<'_, '_>, frame: Range<usize>) -> Result<()> {
        debug_assert!(frame.start >= self.rows.start && frame.end >= self.rows.end);
        if matches!(self.state, FrameState::Anew(_)) && frame.start != self.rows.start {
            self.state = FrameState::Anew(self.aggregate.accumulator());
            self.rows = frame.start..frame.start;
        }
        for row in self.rows.end..frame.end {
            exec.tick()?;
            self.add(exec, row)?;
        }
        match &mut self.state {
            FrameState::Sliding(sliding) => {
                for row in self.rows.start..frame.start {
                    exec.tick()?;
                    let value = self.values.map(|values| &values[row]);
                    sliding.slide(Slide::Out, value, &mut exec.context())?;
                }
            }
            FrameState::Best(best) => {
                while best.front().is_some_and(|row| *row < frame.start) {
                    best.pop_front();
                }
            }
            FrameState::Anew(_) => {}
        }
        self.rows = frame;
        Ok(())
    }

    fn add(&mut self, exec: &mut Execution<'_, '_>, row: usize) -> Result<()> {
        let value = self.values.map(|values| &values[row]);
        match &mut self.state {
            FrameState::Sliding(sliding) => sliding.slide(Slide::In, value, &mut exec.context()),
            FrameState::Anew(accumulator) => match value {
                Some(value) => accumulator.add_argument(self.aggregate, value, &mut exec.context()),
                None => Ok(()),
            },
            FrameState::Best(best) => {
                let Some(values) = self.values else { return Ok(()) };
                if values[row].is_null() {
                    return Ok(());
                }
                // Of equal values the first counts.
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

    /// Returns the result for the frame.
    ///
    /// # Errors
    /// 1690 if the result is out of range.
    pub fn value(&mut self, exec: &mut Execution<'_, '_>) -> Result<Value> {
        match &mut self.state {
            FrameState::Sliding(sliding) => sliding.value(self.aggregate, &exec.context()),
            FrameState::Anew(accumulator) => accumulator.finish(self.aggregate, &mut exec.context()),
            FrameState::Best(best) => Ok(match (best.front(), self.values) {
                (Some(row), Some(values)) => values[*row].clone(),
                _ => Value::Null,
            }),
        }
    }
}

/// Returns whether MIN or MAX prefers a value to an earlier one. Neither is NULL.
pub(super) fn is_better(
    exec: &mut Execution<'_, '_>,
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
    exec: &mut Execution<'_, '_>,
    aggregate: &Aggregate,
    values: Option<&[Value]>,
    mut frames: Frames<'_>,
    partition: Range<usize>,
    results: &mut Vec<Value>,
) -> Result<()> {
    let mut state = FrameAggregate::new(aggregate, values, partition.start);
    for row in partition {
        exec.tick()?;
        state.move_to(exec, frames.of(row))?;
        results.push(state.value(exec)?);
    }
    Ok(())
}
