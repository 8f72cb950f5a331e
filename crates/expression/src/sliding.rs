//! Aggregates from which values can be removed again, for frames that lose rows at their start while they
//! gain rows at their end.
//!
//! This is possible for COUNT, SUM, AVG and the bit functions, but not for MIN, MAX and the variances. A sum
//! of doubles is maintained by subtraction, as in MariaDB. So it has MariaDB's digits, including MariaDB's
//! rounding errors when numbers of very different sizes pass through a frame.

use paceline_types::{Decimal, Value};

use super::context::EvalContext;
use super::errors;
use super::eval::convert;
use super::expr_type::Class;
use crate::aggregate::{double_result, exact_result};
use crate::error::Result;
use crate::tree::{Aggregate, AggregateFunction};

/// State of an aggregate over a sliding frame.
#[derive(Debug)]
pub struct SlidingAccumulator(State);

#[derive(Debug)]
enum State {
    Count(i64),
    /// Integers are summed separately.
    Exact {
        sum: Decimal,
        small: i128,
        count: u64,
    },
    Double {
        sum: f64,
        count: u64,
    },
    /// Number of values that have each bit set.
    Bits {
        ones: Box<[u64; 64]>,
        count: u64,
    },
}

/// Direction in which a row crosses the frame's boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slide {
    /// The row enters the frame.
    In,
    /// The row leaves the frame.
    Out,
}

impl SlidingAccumulator {
    /// Creates a state without rows; `None` for an aggregate that cannot remove values.
    pub fn new(aggregate: &Aggregate) -> Option<Self> {
        use AggregateFunction as A;
        Some(Self(match aggregate.function {
            A::CountRows | A::Count => State::Count(0),
            A::Sum | A::Avg if aggregate.ty.class() == Class::Decimal => State::Exact {
                sum: Decimal::ZERO,
                small: 0,
                count: 0,
            },
            A::Sum | A::Avg => State::Double { sum: 0.0, count: 0 },
            A::BitAnd | A::BitOr | A::BitXor => State::Bits {
                ones: Box::new([0; 64]),
                count: 0,
            },
            _ => return None,
        }))
    }

    /// Adds the value of a row that enters the frame, or removes that of a row that leaves it; `None` for
    /// COUNT(*).
    ///
    /// # Errors
    /// Errors of the conversion; 1690.
    pub fn slide(
        &mut self,
        direction: Slide,
        value: Option<&Value>,
        context: &mut EvalContext<'_>,
    ) -> Result<()> {
        if value.is_some_and(Value::is_null) {
            return Ok(());
        }
        let enters = direction == Slide::In;
        match &mut self.0 {
            State::Count(count) => *count += if enters { 1 } else { -1 },
            State::Exact { sum, small, count } => {
                *count = adjusted(*count, enters);
                let sign = if enters { 1 } else { -1 };
                match value {
                    Some(Value::Int(number)) => *small += sign * i128::from(*number),
                    Some(Value::UInt(number)) => *small += sign * i128::from(*number),
                    Some(other) => {
                        let number = convert::to_decimal(other, context)?;
                        let result = if enters {
                            sum.add(&number)
                        } else {
                            sum.sub(&number)
                        };
                        *sum = result.map_err(|_| errors::out_of_range("DECIMAL", "sum"))?;
                    }
                    None => {}
                }
            }
            State::Double { sum, count } => {
                *count = adjusted(*count, enters);
                if let Some(value) = value {
                    let number = convert::to_double(value, context)?;
                    *sum += if enters { number } else { -number };
                }
            }
            State::Bits { ones, count } => {
                *count = adjusted(*count, enters);
                if let Some(value) = value {
                    let mut bits = convert::to_bits(value, context)?;
                    while bits != 0 {
                        let bit = bits.trailing_zeros() as usize;
                        ones[bit] = adjusted(ones[bit], enters);
                        bits &= bits - 1;
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the result for the rows in the frame.
    ///
    /// # Errors
    /// 1690.
    pub fn value(&self, aggregate: &Aggregate, context: &EvalContext<'_>) -> Result<Value> {
        Ok(match &self.0 {
            State::Count(count) => Value::Int(*count),
            State::Exact { sum, small, count } => exact_result(aggregate, sum, *small, *count, context)?,
            State::Double { sum, count } => double_result(aggregate, *sum, *count)?,
            State::Bits { ones, count } => {
                let set = |ones: u64| match aggregate.function {
                    AggregateFunction::BitAnd => ones == *count,
                    AggregateFunction::BitOr => ones > 0,
                    _ => ones % 2 == 1,
                };
                let bits = ones.iter().enumerate();
                Value::UInt(bits.fold(0, |bits, (bit, ones)| bits | (u64::from(set(*ones)) << bit)))
            }
        })
    }
}

fn adjusted(count: u64, enters: bool) -> u64 {
    if enters { count + 1 } else { count - 1 }
}
