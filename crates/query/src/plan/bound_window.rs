//! Window functions of a block during binding.

use super::tree::WindowKey;
use paceline_expression::{Expr, Frame, FrameBound, SortOrder, WindowCall, WindowFunction};
use paceline_syntax::ast;

/// Window functions of a block while it is bound.
#[derive(Default)]
pub(crate) struct Windows {
    /// Windows of the clause WINDOW; `None` in statements that have no window functions.
    pub named: Option<Vec<ast::NamedWindow>>,
    /// Functions, each with the slot of its result.
    pub calls: Vec<(WindowCall, usize)>,
}

/// A window function with its window.
pub(crate) struct BoundWindow {
    pub function: WindowFunction,
    pub args: Vec<Expr>,
    pub partition: Vec<Expr>,
    pub order: Vec<(Expr, SortOrder)>,
    pub frame: Frame,
    pub slot: usize,
    pub rounded: Option<(usize, u8)>,
}

impl BoundWindow {
    /// Returns all expressions that it evaluates.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let order = self.order.iter().map(|(expr, _)| expr);
        let bounds = [&self.frame.start, &self.frame.end]
            .into_iter()
            .filter_map(|bound| match bound {
                FrameBound::Value(expr) => Some(&**expr),
                _ => None,
            });
        self.args.iter().chain(&self.partition).chain(order).chain(bounds)
    }

    /// Returns all expressions that it evaluates.
    pub fn exprs_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let order = self.order.iter_mut().map(|(expr, _)| expr);
        let bounds = [&mut self.frame.start, &mut self.frame.end]
            .into_iter()
            .filter_map(|bound| match bound {
                FrameBound::Value(expr) => Some(&mut **expr),
                _ => None,
            });
        self.args
            .iter_mut()
            .chain(&mut self.partition)
            .chain(order)
            .chain(bounds)
    }

    /// Returns the keys of the sort that it needs.
    pub fn keys(&self) -> Vec<WindowKey> {
        let partition = self.partition.iter().map(|expr| (expr, SortOrder::Ascending));
        let order = self.order.iter().map(|(expr, order)| (expr, *order));
        partition
            .chain(order)
            .map(|(expr, order)| WindowKey {
                expr: expr.clone(),
                order,
            })
            .collect()
    }
}
