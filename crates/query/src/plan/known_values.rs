//! Values that are known while a statement is planned.
//!
//! A plan serves any values, but the best plan depends on them: a full scan for a range of all rows, an index for a
//! range of ten. Literals are always known. Parameters are known if a statement is planned for immediate execution, but
//! not when it is prepared. A plan that relies on more than literals records this
//! ([`PlannedValues`](super::PlannedValues)), so that a session can plan again for other values.

use std::cell::{Cell, RefCell};

use paceline_expression::session::SessionContext;
use paceline_expression::{EvalContext, EvalState, Expr, ExprKind};
use paceline_types::Value;

/// Values known during planning.
#[derive(Clone, Copy)]
pub(crate) struct KnownValues<'a> {
    session: &'a SessionContext,
    /// Copy of the session for the evaluation of expressions. Their side effects on it are discarded.
    scratch: &'a RefCell<Option<SessionContext>>,
    /// Values of `?`; empty if they are not known yet.
    parameters: &'a [Value],
    rested: &'a Cell<bool>,
}

impl<'a> KnownValues<'a> {
    /// Creates the known values of a session. `scratch` holds a copy of the session; `rested` is set if a choice
    /// depends on a value that is not a literal.
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
    pub fn tell(&self, expr: &Expr) -> bool {
        expr.is_constant_during_execution()
            && !expr.any(&mut |node| match &node.kind {
                ExprKind::Parameter(number) => *number >= self.parameters.len(),
                ExprKind::OuterColumn { .. }
                | ExprKind::ScalarSubquery(_)
                | ExprKind::Exists { .. }
                | ExprKind::Quantified { .. } => true,
                _ => false,
            })
    }

    /// Returns whether a value is known. Records that a plan relies on it if it is not a literal.
    pub fn rest_on(&self, expr: &Expr) -> bool {
        if expr.as_literal().is_some() {
            return true;
        }
        self.rested.set(true);
        self.tell(expr)
    }
}
