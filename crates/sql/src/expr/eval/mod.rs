//! Evaluation.

use std::borrow::Cow;

use paceline_types::Value;

use super::context::EvalContext;
use super::tree::Expr;
use crate::error::Result;

/// A compiled regular expression with the pattern it came from.
#[derive(Debug)]
pub(crate) struct CompiledPattern {}

impl Expr {
    /// The value for a row.
    ///
    /// # Errors
    /// 1690, 1365 and 1292 in strict writes, 1242, and what a subquery's execution meets.
    pub fn eval(&self, row: &[Value], context: &mut EvalContext<'_>) -> Result<Value> {
        self.eval_ref(row, context).map(Cow::into_owned)
    }

    /// The value for a row, borrowed where it lies in the row, in the plan or in the parameters.
    ///
    /// # Errors
    /// As [`Expr::eval`].
    pub fn eval_ref<'a, 'c: 'a>(
        &'a self,
        row: &'a [Value],
        context: &mut EvalContext<'c>,
    ) -> Result<Cow<'a, Value>> {
        let _ = (row, context);
        todo!()
    }

    /// Whether a condition holds: `None` is UNKNOWN.
    ///
    /// # Errors
    /// As [`Expr::eval`].
    pub fn eval_truth(&self, row: &[Value], context: &mut EvalContext<'_>) -> Result<Option<bool>> {
        let _ = (row, context);
        todo!()
    }

    /// Whether a condition holds; UNKNOWN does not.
    ///
    /// # Errors
    /// As [`Expr::eval`].
    pub fn is_true(&self, row: &[Value], context: &mut EvalContext<'_>) -> Result<bool> {
        Ok(self.eval_truth(row, context)?.unwrap_or(false))
    }
}
