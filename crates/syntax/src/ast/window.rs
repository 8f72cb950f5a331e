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

/// The definition of a window.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WindowSpec {
    /// The window that this one extends.
    pub base: Option<String>,
    /// `PARTITION BY`; empty when absent.
    pub partition_by: Vec<Expr>,
    /// `ORDER BY`; empty when absent.
    pub order_by: Vec<OrderItem>,
    /// `ROWS …`, `RANGE …`.
    pub frame: Option<WindowFrame>,
}

/// `name AS (…)` of WINDOW.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedWindow {
    /// Its name.
    pub name: String,
    /// Its definition.
    pub spec: WindowSpec,
}

/// The frame of a window.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowFrame {
    /// What bounds count.
    pub units: FrameUnits,
    /// The first row.
    pub start: FrameBound,
    /// The last row; the current one if absent.
    pub end: Option<FrameBound>,
}

/// What the bounds of a frame count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameUnits {
    /// `ROWS`: rows.
    Rows,
    /// `RANGE`: values of what is ordered by.
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
