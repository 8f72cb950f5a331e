//! Walking the expressions that our grammar builds.

use std::convert::Infallible;
use std::ops::ControlFlow;

use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Query, Visit, Visitor,
};

use crate::error::Result;

/// Calls `visit` for each expression right below one; those of queries within it aside.
pub(crate) fn for_each_child(expr: &mut Expr, visit: &mut dyn FnMut(&mut Expr) -> Result<()>) -> Result<()> {
    match expr {
        Expr::Nested(inner)
        | Expr::UnaryOp { expr: inner, .. }
        | Expr::IsNull(inner)
        | Expr::IsNotNull(inner)
        | Expr::IsTrue(inner)
        | Expr::IsNotTrue(inner)
        | Expr::IsFalse(inner)
        | Expr::IsNotFalse(inner)
        | Expr::IsUnknown(inner)
        | Expr::IsNotUnknown(inner)
        | Expr::Collate { expr: inner, .. }
        | Expr::Cast { expr: inner, .. }
        | Expr::Convert { expr: inner, .. }
        | Expr::Extract { expr: inner, .. } => visit(inner),
        Expr::Interval(interval) => visit(&mut interval.value),
        Expr::BinaryOp { left, right, .. }
        | Expr::AnyOp { left, right, .. }
        | Expr::AllOp { left, right, .. } => {
            visit(left)?;
            visit(right)
        }
        Expr::Between { expr, low, high, .. } => {
            visit(expr)?;
            visit(low)?;
            visit(high)
        }
        Expr::InList { expr, list, .. } => {
            visit(expr)?;
            list.iter_mut().try_for_each(visit)
        }
        Expr::InSubquery { expr, .. } => visit(expr),
        Expr::Like { expr, pattern, .. } | Expr::RLike { expr, pattern, .. } => {
            visit(expr)?;
            visit(pattern)
        }
        Expr::Case {
            operand,
            conditions,
            else_result,
            ..
        } => {
            if let Some(operand) = operand {
                visit(operand)?;
            }
            for branch in conditions {
                visit(&mut branch.condition)?;
                visit(&mut branch.result)?;
            }
            match else_result {
                Some(otherwise) => visit(otherwise),
                None => Ok(()),
            }
        }
        Expr::Function(function) => arguments_mut(function).into_iter().try_for_each(visit),
        Expr::Substring {
            expr,
            substring_from,
            substring_for,
            ..
        } => {
            visit(expr)?;
            let parts = [substring_from, substring_for];
            parts.into_iter().flatten().try_for_each(|part| visit(part))
        }
        Expr::Trim { trim_what, expr, .. } => {
            if let Some(what) = trim_what {
                visit(what)?;
            }
            visit(expr)
        }
        Expr::Position { expr, r#in } => {
            visit(expr)?;
            visit(r#in)
        }
        Expr::Tuple(list) => list.iter_mut().try_for_each(visit),
        _ => Ok(()),
    }
}

/// The expressions among the arguments of a function.
pub(crate) fn arguments_mut(function: &mut Function) -> Vec<&mut Expr> {
    let FunctionArguments::List(list) = &mut function.args else {
        return Vec::new();
    };
    let exprs = list.args.iter_mut().filter_map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
        _ => None,
    });
    exprs.collect()
}

/// Calls `visit` for an expression and all within it; those of queries within it aside.
pub(crate) fn for_each_expr(expr: &Expr, visit: impl FnMut(&Expr)) {
    let mut walk = OutsideQueries { visit, depth: 0 };
    let walked = expr.visit(&mut walk);
    debug_assert!(walked.is_continue());
}

/// Meets the expressions that stand in no query.
struct OutsideQueries<F> {
    visit: F,
    /// How many queries are around.
    depth: u32,
}

impl<F: FnMut(&Expr)> Visitor for OutsideQueries<F> {
    type Break = Infallible;

    fn pre_visit_query(&mut self, _query: &Query) -> ControlFlow<Infallible> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _query: &Query) -> ControlFlow<Infallible> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Infallible> {
        if self.depth == 0 {
            (self.visit)(expr);
        }
        ControlFlow::Continue(())
    }
}
