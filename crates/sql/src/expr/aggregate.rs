//! Aggregate functions: the bound call and its accumulator.
//!
//! ```text
//!   Aggregate (in the plan, shared)  ──accumulator()──▶  Accumulator (one for each group)
//!        args, distinct, order by                          add(row) … add(row), finish() → Value
//! ```

use paceline_types::Value;

use super::context::EvalContext;
use super::expr_type::ExprType;
use super::tree::Expr;
use super::window::SortOrder;
use crate::error::Result;

/// Which aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // SQL's own names
pub enum AggregateFunction {
    /// COUNT(*).
    CountRows,
    /// COUNT(x), COUNT(DISTINCT x, y).
    Count,
    Sum,
    Avg,
    Min,
    Max,
    GroupConcat,
    BitAnd,
    BitOr,
    BitXor,
    StddevPop,
    StddevSamp,
    VarPop,
    VarSamp,
    JsonArrayAgg,
    JsonObjectAgg,
}

/// Whether equal values count once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distinctness {
    /// Every value counts.
    All,
    /// DISTINCT.
    Distinct,
}

/// A bound aggregate.
#[derive(Clone, Debug)]
pub struct Aggregate {
    /// Which.
    pub function: AggregateFunction,
    /// DISTINCT or not.
    pub distinct: Distinctness,
    /// Its arguments, evaluated on each row of the group.
    pub args: Vec<Expr>,
    /// GROUP_CONCAT's ORDER BY.
    pub order_by: Vec<(Expr, SortOrder)>,
    /// GROUP_CONCAT's SEPARATOR.
    pub separator: Box<str>,
    /// GROUP_CONCAT's LIMIT: (offset, count).
    pub limit: Option<(u64, u64)>,
    /// The result's type.
    pub ty: ExprType,
}

impl Aggregate {
    /// An accumulator for one group.
    pub fn accumulator(&self) -> Accumulator {
        todo!()
    }
}

/// What one group has gathered so far.
#[derive(Debug)]
pub struct Accumulator {}

impl Accumulator {
    /// Takes a row of the group into account.
    ///
    /// # Errors
    /// What the arguments meet; 1690.
    pub fn add(&mut self, aggregate: &Aggregate, row: &[Value], context: &mut EvalContext<'_>) -> Result<()> {
        let _ = (aggregate, row, context);
        todo!()
    }

    /// The result; of no rows at all NULL, or 0 for COUNT and the bit functions' neutral values.
    ///
    /// # Errors
    /// 1690.
    pub fn finish(&mut self, aggregate: &Aggregate, context: &mut EvalContext<'_>) -> Result<Value> {
        let _ = (aggregate, context);
        todo!()
    }
}
