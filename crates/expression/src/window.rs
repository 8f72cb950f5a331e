//! Window functions: as the binder hands them to the planner, and frames as the executor reads them.

pub use paceline_syntax::ast::{FrameUnits, SortOrder};

use super::aggregate::Aggregate;
use super::expr_type::ExprType;
use super::tree::Expr;
use paceline_syntax::ast;

/// Which window function.
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
    /// NTH_VALUE(value, place).
    NthValue,
    /// PERCENTILE_CONT(fraction), and MEDIAN; what is ordered by is the second argument.
    PercentileCont,
    /// PERCENTILE_DISC(fraction); what is ordered by is the second argument.
    PercentileDisc,
    /// An aggregate of one argument at most, over the frame.
    Aggregate(Box<Aggregate>),
}

impl WindowFunction {
    /// The one of that name, in lower case, that exists with OVER only.
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

    /// As errors call it.
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

    /// Whether a frame may be written: MariaDB refuses one where it would mean nothing (but takes it with LAG and
    /// LEAD).
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

    /// Whether ORDER BY must be written.
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

/// `function OVER …`, its window not yet bound: that may name columns of the result, which are not all known before the
/// last one is.
#[derive(Clone, Debug)]
pub struct WindowCall {
    /// Which function.
    pub function: WindowFunction,
    /// Its arguments.
    pub args: Vec<Expr>,
    /// What stands behind OVER.
    pub over: ast::Over,
    /// WITHIN GROUP's ORDER BY.
    pub within: Option<(Expr, SortOrder)>,
    /// The result's type.
    pub ty: ExprType,
}

/// Which rows of its partition a function sees from a row.
#[derive(Clone, Debug)]
pub struct Frame {
    /// What it counts.
    pub units: FrameUnits,
    /// Its first row.
    pub start: FrameBound,
    /// Its last row.
    pub end: FrameBound,
}

impl Default for Frame {
    /// What a window without a frame has: up to the last peer of the row; without ORDER BY all rows are peers.
    fn default() -> Self {
        Frame {
            units: FrameUnits::Range,
            start: FrameBound::Unbounded,
            end: FrameBound::CurrentRow,
        }
    }
}

/// One end of a frame.
#[derive(Clone, Debug)]
pub enum FrameBound {
    /// The end of the partition on that side.
    Unbounded,
    /// The row itself.
    CurrentRow,
    /// So many rows before it.
    RowsBefore(u64),
    /// So many rows behind it.
    RowsBehind(u64),
    /// The row's value that is ordered by, moved by the bound's number: the frame reaches as far as rows with this
    /// value.
    Value(Box<Expr>),
}
