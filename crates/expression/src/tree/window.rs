//! Window functions as the binder passes them to the planner, and frames as the executor reads them.

pub use paceline_syntax::ast::{FrameUnits, SortOrder};

use crate::expr_type::ExprType;
use crate::tree::{Aggregate, Expr};
use paceline_syntax::ast;

/// Window functions.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // SQL's own names
pub enum WindowFunction {
    RowNumber,
    Rank,
    DenseRank,
    PercentRank,
    CumeDist,
    /// NTILE(groups).
    Ntile,
    /// LAG(value, distance).
    Lag,
    /// LEAD(value, distance).
    Lead,
    FirstValue,
    LastValue,
    /// NTH_VALUE(value, position).
    NthValue,
    /// PERCENTILE_CONT(fraction), and MEDIAN. The second argument is the sort key.
    PercentileCont,
    /// PERCENTILE_DISC(fraction). The second argument is the sort key.
    PercentileDisc,
    /// An aggregate of at most one argument, over the frame.
    Aggregate(Box<Aggregate>),
}

impl WindowFunction {
    /// Returns the function of this name, in lower case, that exists only with OVER.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "row_number" => WindowFunction::RowNumber,
            "rank" => WindowFunction::Rank,
            "dense_rank" => WindowFunction::DenseRank,
            "percent_rank" => WindowFunction::PercentRank,
            "cume_dist" => WindowFunction::CumeDist,
            "ntile" => WindowFunction::Ntile,
            "lag" => WindowFunction::Lag,
            "lead" => WindowFunction::Lead,
            "first_value" => WindowFunction::FirstValue,
            "last_value" => WindowFunction::LastValue,
            "nth_value" => WindowFunction::NthValue,
            "percentile_cont" => WindowFunction::PercentileCont,
            "percentile_disc" => WindowFunction::PercentileDisc,
            _ => return None,
        })
    }

    /// Returns the function's name in error messages.
    pub fn name(&self) -> &'static str {
        match self {
            WindowFunction::RowNumber => "row_number",
            WindowFunction::Rank => "rank",
            WindowFunction::DenseRank => "dense_rank",
            WindowFunction::PercentRank => "percent_rank",
            WindowFunction::CumeDist => "cume_dist",
            WindowFunction::Ntile => "ntile",
            WindowFunction::Lag => "lag",
            WindowFunction::Lead => "lead",
            WindowFunction::FirstValue => "first_value",
            WindowFunction::LastValue => "last_value",
            WindowFunction::NthValue => "nth_value",
            WindowFunction::PercentileCont => "percentile_cont",
            WindowFunction::PercentileDisc => "percentile_disc",
            WindowFunction::Aggregate(_) => "aggregate",
        }
    }

    /// Returns whether a frame is allowed. MariaDB rejects one that would have no effect (but accepts it for
    /// LAG and LEAD).
    pub fn may_have_frame(&self) -> bool {
        !matches!(
            self,
            WindowFunction::RowNumber
                | WindowFunction::Rank
                | WindowFunction::DenseRank
                | WindowFunction::PercentRank
                | WindowFunction::CumeDist
                | WindowFunction::Ntile
        )
    }

    /// Returns whether ORDER BY is required.
    pub fn needs_order(&self) -> bool {
        matches!(
            self,
            WindowFunction::Rank
                | WindowFunction::DenseRank
                | WindowFunction::PercentRank
                | WindowFunction::CumeDist
                | WindowFunction::Lag
                | WindowFunction::Lead
        )
    }
}

/// `function OVER …`. The window is not bound yet: it may name columns of the result, which are not all known
/// before the last select item.
#[derive(Clone, Debug)]
pub struct WindowCall {
    /// The function.
    pub function: WindowFunction,
    /// Bound arguments.
    pub args: Vec<Expr>,
    /// Clause after OVER.
    pub over: ast::Over,
    /// ORDER BY of WITHIN GROUP.
    pub within: Option<(Expr, SortOrder)>,
    /// Type of the result.
    pub ty: ExprType,
}

/// Rows of the partition that a function sees from a row.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Unit of the bounds.
    pub units: FrameUnits,
    /// First row.
    pub start: FrameBound,
    /// Last row.
    pub end: FrameBound,
}

impl Default for Frame {
    /// Returns the frame of a window that specifies none: up to the last peer of the row. Without ORDER BY
    /// all rows are peers.
    fn default() -> Self {
        Frame {
            units: FrameUnits::Range,
            start: FrameBound::Unbounded,
            end: FrameBound::CurrentRow,
        }
    }
}

/// Bound of a frame.
#[derive(Clone, Debug)]
pub enum FrameBound {
    /// The end of the partition on this side.
    Unbounded,
    /// The row itself.
    CurrentRow,
    /// This many rows before the row.
    RowsBefore(u64),
    /// This many rows after the row.
    RowsBehind(u64),
    /// The row's sort key, moved by the number of the bound: the frame includes rows up to this value.
    Value(Box<Expr>),
}
