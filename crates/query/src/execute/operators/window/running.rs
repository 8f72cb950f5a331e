//! Functions that only look back: numbers, ranks, and aggregates from the first row of the partition to the current row
//! or its last peer. A partition of any length is computed in pieces; the state is carried from one piece to the next.

use paceline_types::Value;

use super::aggregate::is_better;
use super::compute::{Input, integer};
use super::frame::peers_end;
use crate::error::Result;
use crate::execute::context::Execution;
use crate::plan::tree::PlannedWindow;
use paceline_expression::{
    Accumulator, Aggregate, AggregateFunction, FrameBound, FrameUnits, Slide, SlidingAccumulator,
    WindowFunction,
};

/// Number of rows computed together, unless peers need more.
pub(super) const PIECE_ROWS: usize = 256;

/// State of a function that only looks back.
pub(super) struct RunningWindow<'p> {
    function: &'p PlannedWindow,
    /// Number of rows of the partition so far.
    rows: usize,
    rank: usize,
    dense_rank: usize,
    held: Option<PartitionState>,
}

/// State of an aggregate over the partition so far.
enum PartitionState {
    Sliding(SlidingAccumulator),
    Best(Option<Value>),
    Other(Accumulator),
}

/// Returns one more than the maximum number of keys that the first row of a piece may share with the previous row: a
/// piece contains all peers of a row whose frame ends with them. `None` if a function needs later rows.
pub(super) fn piece_keys(functions: &[PlannedWindow]) -> Option<usize> {
    let mut keys = usize::MAX;
    for function in functions {
        match &function.function {
            WindowFunction::RowNumber | WindowFunction::Rank | WindowFunction::DenseRank => {}
            WindowFunction::Aggregate(aggregate) if aggregate.function == AggregateFunction::Loadable => {
                return None;
            }
            WindowFunction::Aggregate(_) => match (&function.frame.start, &function.frame.end) {
                (FrameBound::Unbounded, FrameBound::CurrentRow) => {
                    if function.frame.units == FrameUnits::Range {
                        keys = keys.min(function.peers);
                    }
                }
                _ => return None,
            },
            _ => return None,
        }
    }
    Some(keys)
}

impl<'p> RunningWindow<'p> {
    /// Creates the state before the first row.
    pub fn new(function: &'p PlannedWindow) -> Self {
        RunningWindow {
            function,
            rows: 0,
            rank: 0,
            dense_rank: 0,
            held: None,
        }
    }

    /// Returns the results for a piece. `shared` contains the number of leading keys that each row shares with the
    /// previous one; for the first row, with the last row of the previous piece.
    pub fn compute(
        &mut self,
        exec: &mut Execution<'_, '_>,
        input: &Input,
        shared: &[usize],
    ) -> Result<Vec<Value>> {
        let mut results = Vec::with_capacity(shared.len());
        let mut first = 0;
        while first < shared.len() {
            let function = self.function;
            if shared[first] < function.partition {
                *self = RunningWindow::new(function);
            }
            let by_peers = function.frame.units == FrameUnits::Range;
            let end = match &function.function {
                WindowFunction::Aggregate(_) if by_peers => {
                    peers_end(shared, function.peers, first, shared.len())
                }
                _ => first + 1,
            };
            let value = match &function.function {
                WindowFunction::Aggregate(aggregate) => {
                    for row in first..end {
                        self.add(exec, aggregate, input.args.first().map(|values| &values[row]))?;
                    }
                    self.value(exec, aggregate)?
                }
                numbering => {
                    self.rows += 1;
                    if self.rows == 1 || shared[first] < function.peers {
                        self.rank = self.rows;
                        self.dense_rank += 1;
                    }
                    integer(match numbering {
                        WindowFunction::Rank => self.rank,
                        WindowFunction::DenseRank => self.dense_rank,
                        _ => self.rows,
                    })
                }
            };
            results.extend(std::iter::repeat_n(value, end - first));
            first = end;
        }
        Ok(results)
    }

    fn add(
        &mut self,
        exec: &mut Execution<'_, '_>,
        aggregate: &Aggregate,
        value: Option<&Value>,
    ) -> Result<()> {
        exec.tick()?;
        let held = self.held.get_or_insert_with(|| match aggregate.function {
            AggregateFunction::Min | AggregateFunction::Max => PartitionState::Best(None),
            _ => SlidingAccumulator::new(aggregate).map_or_else(
                || PartitionState::Other(aggregate.accumulator()),
                PartitionState::Sliding,
            ),
        });
        match (held, value) {
            (PartitionState::Sliding(sliding), value) => sliding.slide(Slide::In, value, &mut exec.context()),
            (PartitionState::Other(accumulator), Some(value)) => {
                accumulator.add_argument(aggregate, value, &mut exec.context())
            }
            (PartitionState::Best(best), Some(value)) if !value.is_null() => {
                let better = match best {
                    Some(best) => is_better(exec, aggregate, value, best)?,
                    None => true,
                };
                if better {
                    *best = Some(value.clone());
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn value(&mut self, exec: &mut Execution<'_, '_>, aggregate: &Aggregate) -> Result<Value> {
        match &mut self.held {
            Some(PartitionState::Sliding(sliding)) => sliding.value(aggregate, &exec.context()),
            Some(PartitionState::Other(accumulator)) => accumulator.finish(aggregate, &mut exec.context()),
            Some(PartitionState::Best(best)) => Ok(best.clone().unwrap_or_default()),
            None => Ok(Value::Null),
        }
    }
}
