//! Calls of aggregate functions.

use super::{Expr, LoadableCall};
use crate::expr_type::ExprType;
use crate::function_id::StoredCall;
use paceline_syntax::ast::SortOrder;
use std::sync::Arc;

/// Aggregate functions.
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
    /// A stored aggregate function.
    Stored,
    /// A loadable aggregate function.
    Loadable,
}

impl AggregateFunction {
    /// Returns whether the function calculates with the exact value of its argument, whatever digits the
    /// argument shows.
    pub const fn calculates(self) -> bool {
        use AggregateFunction as A;
        matches!(
            self,
            A::Sum
                | A::Avg
                | A::BitAnd
                | A::BitOr
                | A::BitXor
                | A::StddevPop
                | A::StddevSamp
                | A::VarPop
                | A::VarSamp
        )
    }
}

/// Treatment of equal values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distinctness {
    /// Every value counts.
    All,
    /// DISTINCT: equal values count once.
    Distinct,
}

/// A bound call of an aggregate function.
#[derive(Clone, Debug)]
pub struct Aggregate {
    /// The function.
    pub function: AggregateFunction,
    /// Whether the call has DISTINCT.
    pub distinct: Distinctness,
    /// Arguments, evaluated on each row of the group.
    pub args: Vec<Expr>,
    /// ORDER BY of GROUP_CONCAT.
    pub order_by: Vec<(Expr, SortOrder)>,
    /// SEPARATOR of GROUP_CONCAT.
    pub separator: Box<str>,
    /// LIMIT of GROUP_CONCAT: (offset, count).
    pub limit: Option<(u64, u64)>,
    /// Type of the result.
    pub ty: ExprType,
    /// The stored function.
    pub stored: Option<Box<StoredCall>>,
    /// The loadable function.
    pub loadable: Option<Arc<LoadableCall>>,
}

impl Aggregate {
    /// Returns the call's place in memory: the key of its state during an execution.
    pub(crate) fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}
