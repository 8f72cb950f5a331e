//! Values of a statement that are known while it is planned.
//!
//! A plan is correct for all values, but the best plan depends on them: a full scan for a range of all rows, an index
//! for a range of ten. Literals are always known. Parameters are known if the statement is planned for an execution,
//! but not when it is prepared. A plan that depends on other values than literals records this
//! ([`PlannedValues`](super::PlannedValues)), so that a session can plan again for other values.

use std::cell::{Cell, RefCell};

use paceline_expression::session::SessionContext;
use paceline_expression::{EvalContext, EvalState, Expr, ExprKind};
use paceline_types::Value;

/// Known values.
#[derive(Clone, Copy)]
pub(crate) struct KnownValues<'a> {
    session: &'a SessionContext,
    /// Copy of the session for evaluating expressions, whose side effects are discarded.
    scratch: &'a RefCell<Option<SessionContext>>,
    /// Values of `?`; empty if they are unknown.
    parameters: &'a [Value],
    rested: &'a Cell<bool>,
}

impl<'a> KnownValues<'a> {
    /// Returns the known values of a session. `scratch` keeps a copy of it. `rested` is set when a choice depends on
    /// other values than literals.
    pub fn new(
        session: &'a SessionContext,
        parameters: &'a [Value],
        scratch: &'a RefCell<Option<SessionContext>>,
        rested: &'a Cell<bool>,
    ) -> Self {
        KnownValues {
            session,
            scratch,
            parameters,
            rested,
        }
    }

    /// Calls `compute` with a context for evaluating expressions.
    pub fn evaluating<R>(&self, compute: impl FnOnce(&mut EvalContext<'_>) -> R) -> R {
        let mut scratch = self.scratch.borrow_mut();
        let session = scratch.get_or_insert_with(|| self.session.clone());
        let mut state = EvalState::new();
        let mut context = EvalContext::new(session, &mut state);
        context.parameters = self.parameters;
        compute(&mut context)
    }

    /// Returns whether an expression's value is known.
    pub fn is_known(&self, expr: &Expr) -> bool {
        expr.is_constant_during_execution()
            && !expr.any(&mut |node| match &node.kind {
                ExprKind::Parameter(number) => *number >= self.parameters.len(),
                ExprKind::ScalarSubquery(_) | ExprKind::Exists { .. } | ExprKind::Quantified { .. } => true,
                _ => false,
            })
    }

    /// Returns whether a value is known. Records that the plan depends on it, unless it is a literal.
    pub fn rest_on(&self, expr: &Expr) -> bool {
        if expr.as_literal().is_some() {
            return true;
        }
        self.rested.set(true);
        self.is_known(expr)
    }
}
