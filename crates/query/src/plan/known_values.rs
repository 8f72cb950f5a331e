//! What is known of a statement's values while it is planned.
//!
//! A plan serves any values, but which one is best depends on them: a full scan for a range of all rows, an index for
//! one of ten. What stands in the text is known always; a parameter, when a statement is planned to be executed at
//! once, and not yet when it is prepared. A plan that rests on more than the text says so
//! ([`PlannedValues`](super::PlannedValues)), so that a session can look again with other values.

use std::cell::{Cell, RefCell};

use paceline_expression::session::SessionContext;
use paceline_expression::{EvalContext, EvalState, Expr, ExprKind};
use paceline_types::Value;

/// What is known of values.
#[derive(Clone, Copy)]
pub(crate) struct KnownValues<'a> {
    session: &'a SessionContext,
    /// A copy of the session that expressions are evaluated with: what they do to it is of no effect.
    scratch: &'a RefCell<Option<SessionContext>>,
    /// The values of `?`; none if they are not known yet.
    parameters: &'a [Value],
    rested: &'a Cell<bool>,
}

impl<'a> KnownValues<'a> {
    /// What is known in a session; `scratch` keeps a copy of it, and `rested` is set where something depended on other
    /// values than literals.
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

    /// Calls `compute` with what expressions are evaluated with.
    pub fn evaluating<R>(&self, compute: impl FnOnce(&mut EvalContext<'_>) -> R) -> R {
        let mut scratch = self.scratch.borrow_mut();
        let session = scratch.get_or_insert_with(|| self.session.clone());
        let mut state = EvalState::new();
        let mut context = EvalContext::new(session, &mut state);
        context.parameters = self.parameters;
        compute(&mut context)
    }

    /// Whether an expression's value is known.
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

    /// Whether a value is known. Notes that a plan rests on it if it is no literal.
    pub fn rest_on(&self, expr: &Expr) -> bool {
        if expr.as_literal().is_some() {
            return true;
        }
        self.rested.set(true);
        self.tell(expr)
    }
}
