//! Windows of window functions.

use super::{Expr, OrderItem};

/// `OVER …`.
#[derive(Debug, Clone, PartialEq)]
pub enum Over {
    /// `OVER name`.
    Named(String),
    /// `OVER (…)`.
    Spec(WindowSpec),
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct WindowSpec {
    /// Name of the window that this one extends.
    pub base: Option<String>,
    /// `PARTITION BY`; empty when absent.
    pub partition_by: Vec<Expr>,
    /// `ORDER BY`; empty when absent.
    pub order_by: Vec<OrderItem>,
    /// `ROWS …`, `RANGE …`.
    pub frame: Option<WindowFrame>,
}

/// `name AS (…)` in WINDOW.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedWindow {
    pub name: String,
    pub spec: WindowSpec,
}

/// The frame of a window.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowFrame {
    /// Unit of the bounds.
    pub units: FrameUnits,
    /// First row.
    pub start: FrameBound,
    /// Last row; the current row if absent.
    pub end: Option<FrameBound>,
}

/// Units of a frame's bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameUnits {
    /// `ROWS`: rows.
    Rows,
    /// `RANGE`: values of the sort key.
    Range,
}

/// A bound of a frame.
#[derive(Debug, Clone, PartialEq)]
pub enum FrameBound {
    /// `CURRENT ROW`.
    CurrentRow,
    /// `UNBOUNDED PRECEDING` (`None`), `n PRECEDING`.
    Preceding(Option<Box<Expr>>),
    /// `UNBOUNDED FOLLOWING` (`None`), `n FOLLOWING`.
    Following(Option<Box<Expr>>),
}
