//! Window functions as the binder hands them to the planner.

use super::aggregate::Aggregate;
use super::expr_type::ExprType;
use super::tree::Expr;

/// Which window function.
#[derive(Clone, Debug)]
pub enum WindowFunction {
    /// ROW_NUMBER().
    RowNumber,
    /// RANK().
    Rank,
    /// DENSE_RANK().
    DenseRank,
    /// An aggregate over the window.
    Aggregate(Box<Aggregate>),
}

/// `function OVER (PARTITION BY … ORDER BY …)`.
#[derive(Clone, Debug)]
pub struct WindowCall {
    /// Which function.
    pub function: WindowFunction,
    /// PARTITION BY.
    pub partition_by: Vec<Expr>,
    /// ORDER BY.
    pub order_by: Vec<(Expr, SortOrder)>,
    /// The result's type.
    pub ty: ExprType,
}

/// ASC or DESC. NULL sorts first in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SortOrder {
    /// ASC.
    #[default]
    Ascending,
    /// DESC.
    Descending,
}
