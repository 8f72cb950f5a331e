//! What evaluation reads and writes besides the row: the session, the parameters, the rows of the queries around, and
//! the state that some nodes keep during an execution (the cached result of an uncorrelated subquery, the generator of
//! `RAND(3)`).

use std::collections::HashMap;
use std::ops::ControlFlow;

use paceline_types::{ErrorCode, Value};

use super::scope::{Subquery, SubqueryId};
use super::subquery_results::SubqueryResults;
use crate::error::{Error, Result};
use crate::session::{Level, RandomGenerator, SessionContext};

/// What an expression is evaluated for; decides between warning and error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum EvalMode {
    /// A query: bad values give NULL and a warning.
    #[default]
    Query,
    /// A strict INSERT or UPDATE: some warnings are errors (1365, 1292).
    StrictWrite,
    /// A statement with IGNORE: some errors are warnings (1242).
    Ignore,
}

impl EvalMode {
    /// The mode without strictness.
    pub fn lenient(self) -> Self {
        match self {
            EvalMode::StrictWrite => EvalMode::Query,
            other => other,
        }
    }
}

/// The row of a query around the one being evaluated.
#[derive(Clone, Copy, Debug)]
pub struct OuterRow<'r> {
    /// Its values.
    pub row: &'r [Value],
    /// The row around that one.
    pub parent: Option<&'r OuterRow<'r>>,
}

/// Runs subqueries for the evaluator; the executor implements it over its transaction.
pub trait SubqueryRunner {
    /// Runs the statement's subquery of this name, and passes each row to `sink` until that breaks.
    ///
    /// # Errors
    /// Errors of the execution and of `sink`.
    fn run(
        &mut self,
        subquery: SubqueryId,
        frame: SubqueryFrame<'_>,
        sink: &mut dyn FnMut(&[Value]) -> Result<ControlFlow<()>>,
    ) -> Result<()>;
}

/// What a subquery's execution gets from the evaluation around it; with the runner it makes an [`EvalContext`] again.
pub struct SubqueryFrame<'f> {
    /// The session.
    pub session: &'f mut SessionContext,
    /// The statement's parameters.
    pub parameters: &'f [Value],
    /// The statement's evaluation state.
    pub state: &'f mut EvalState,
    /// The row that the subquery's outer columns name with depth 1.
    pub outer: Option<&'f OuterRow<'f>>,
    /// What warnings become.
    pub mode: EvalMode,
}

/// State that lives for one execution of a statement, keyed by the node it belongs to.
#[derive(Debug, Default)]
pub struct EvalState {
    pub(crate) subqueries: SubqueryResults,
    pub(crate) generators: HashMap<u64, RandomGenerator>,
    pub(crate) constants: HashMap<u64, Value>,
    pub(crate) regexes: HashMap<u64, std::sync::Arc<super::eval::CompiledPattern>>,
}

impl EvalState {
    /// Empty, as each execution begins.
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps no result of correlated subqueries from now on: an INSERT's subqueries see the rows that it has inserted
    /// so far.
    pub fn keep_only_uncorrelated(&mut self) {
        self.subqueries.keep_only_uncorrelated();
    }
}

/// What evaluation reads and writes besides the row.
pub struct EvalContext<'c> {
    /// The session.
    pub session: &'c mut SessionContext,
    /// The values of `?`.
    pub parameters: &'c [Value],
    /// State of this execution.
    pub state: &'c mut EvalState,
    /// Rows of the queries around this one, nearest first.
    pub outer: Option<&'c OuterRow<'c>>,
    /// Runs subqueries; without one they are an error.
    pub runner: Option<&'c mut (dyn SubqueryRunner + 'c)>,
    /// What warnings become.
    pub mode: EvalMode,
}

impl<'c> EvalContext<'c> {
    /// A context without parameters, outer rows and subqueries.
    pub fn new(session: &'c mut SessionContext, state: &'c mut EvalState) -> Self {
        EvalContext {
            session,
            parameters: &[],
            state,
            outer: None,
            runner: None,
            mode: EvalMode::Query,
        }
    }

    /// Adds a warning to the session's diagnostics; in a strict write it is an error instead.
    ///
    /// # Errors
    /// The warning itself, under [`EvalMode::StrictWrite`].
    #[cold]
    pub fn warn(&mut self, code: ErrorCode, message: impl Into<String>) -> Result<()> {
        let message = message.into();
        if self.mode == EvalMode::StrictWrite {
            return Err(Error::with_message(code, message));
        }
        self.session.diagnostics.push(Level::Warning, code, message);
        Ok(())
    }

    /// Runs a subquery with `row` as its nearest outer row.
    pub(crate) fn run_subquery(
        &mut self,
        subquery: &Subquery,
        row: &[Value],
        sink: &mut dyn FnMut(&[Value]) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let Some(runner) = self.runner.as_deref_mut() else {
            return Err(super::errors::not_supported("subqueries here"));
        };
        let outer = OuterRow {
            row,
            parent: self.outer,
        };
        let frame = SubqueryFrame {
            session: self.session,
            parameters: self.parameters,
            state: self.state,
            outer: Some(&outer),
            mode: self.mode,
        };
        runner.run(subquery.id, frame, sink)
    }
}
