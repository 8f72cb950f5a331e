//! The context of evaluation, besides the row: the session, the parameters, and the state that some nodes keep during
//! an execution (the cached result of an uncorrelated subquery, the generator of `RAND(3)`).

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use paceline_native_functions::NativeCall;
use paceline_types::{ErrorCode, Value};

use crate::error::{Error, Result};
use crate::function_id::StoredCall;
use crate::session::{Level, RandomGenerator, SessionContext};
use crate::slot_names::SlotNames;
use crate::subquery::{Subquery, SubqueryId, SubqueryResults};

/// Kind of statement that an expression is evaluated for. It decides between warning and error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum EvalMode {
    /// A query: invalid values become NULL with a warning.
    #[default]
    Query,
    /// A strict INSERT or UPDATE: some warnings become errors (1365, 1292).
    StrictWrite,
    /// A statement with IGNORE: some errors become warnings (1242).
    Ignore,
}

impl EvalMode {
    /// Returns the mode without strictness.
    pub fn lenient(self) -> Self {
        match self {
            EvalMode::StrictWrite => EvalMode::Query,
            other => other,
        }
    }
}

/// Runs what expressions contain: subqueries and stored functions. The executor implements it over its transaction.
pub trait NestedRunner {
    /// Runs a subquery of the statement and passes each row to `sink` until `sink` breaks.
    ///
    /// # Errors
    /// Errors of the execution or of `sink`.
    fn run(
        &mut self,
        subquery: SubqueryId,
        frame: SubqueryFrame<'_>,
        sink: &mut dyn FnMut(&[Value]) -> Result<ControlFlow<()>>,
    ) -> Result<()>;

    /// Calls a stored function of the statement. Returns its value, which has the function's type.
    ///
    /// # Errors
    /// The errors of the call.
    fn call(
        &mut self,
        call: &StoredCall,
        arguments: Vec<Value>,
        session: &mut SessionContext,
    ) -> Result<Value>;

    /// Calls a stored aggregate function for a group, with the arguments of each row. There is at least one.
    ///
    /// # Errors
    /// The errors of the call.
    fn call_group(
        &mut self,
        call: &StoredCall,
        rows: Vec<Vec<Value>>,
        session: &mut SessionContext,
    ) -> Result<Value>;
}

/// The part of an evaluation's context that a subquery's execution receives. Together with the runner it
/// makes an [`EvalContext`] again.
pub struct SubqueryFrame<'f> {
    /// Session of the statement.
    pub session: &'f mut SessionContext,
    /// Parameters of the statement.
    pub parameters: &'f [Value],
    /// Evaluation state of the statement.
    pub state: &'f mut EvalState,
    /// Row of the query around the subquery; it reads [`Subquery::outer_slots`] of it.
    pub outer: &'f [Value],
    /// Decides between warning and error.
    pub mode: EvalMode,
    /// Names of the outer row's slots.
    pub names: Option<&'f dyn SlotNames>,
}

/// State of one execution of a statement, keyed by the node that it belongs to.
#[derive(Debug, Default)]
pub struct EvalState {
    pub(crate) subqueries: SubqueryResults,
    pub(crate) generators: HashMap<u64, RandomGenerator>,
    pub(crate) constants: HashMap<u64, Value>,
    /// Calls of loadable functions that have begun; `None` while one is in use.
    pub(crate) loadable: HashMap<u64, Option<NativeCall>>,
    pub(crate) regexes: HashMap<u64, std::sync::Arc<crate::regex::CompiledPattern>>,
    pub(crate) xpaths: HashMap<u64, std::sync::Arc<crate::xpath::ParsedQuery>>,
    /// Calls whose function's note, that it is deprecated, was raised.
    pub(crate) noted_calls: HashSet<u64>,
    /// Number of rows that each GROUP_CONCAT has returned so far.
    pub(crate) concatenated: HashMap<usize, u64>,
    /// Place in memory of the cast that is being evaluated.
    pub(crate) cast: Option<usize>,
    /// Slot of the column whose value is being converted to a date or time.
    pub(crate) converted_slot: Option<usize>,
}

impl EvalState {
    /// Returns an empty state, for the start of an execution.
    pub fn new() -> Self {
        Self::default()
    }

    /// Empties the state, for another execution.
    pub fn reset(&mut self) {
        self.forget_parameters();
        self.generators.clear();
        self.noted_calls.clear();
        self.concatenated.clear();
    }

    /// Forgets results that may depend on parameters, which will have other values.
    pub fn forget_parameters(&mut self) {
        self.subqueries.clear();
        self.constants.clear();
        self.loadable.clear();
        self.regexes.clear();
        self.xpaths.clear();
    }

    /// Stops caching the results of correlated subqueries: subqueries of an INSERT see the rows that it has
    /// inserted so far.
    pub fn keep_only_uncorrelated(&mut self) {
        self.subqueries.keep_only_uncorrelated();
    }
}

/// Everything that evaluation reads and writes besides the row.
pub struct EvalContext<'c> {
    /// Session of the statement.
    pub session: &'c mut SessionContext,
    /// Values of `?`.
    pub parameters: &'c [Value],
    /// State of this execution.
    pub state: &'c mut EvalState,
    /// Runs subqueries. Without it they are an error.
    pub runner: Option<&'c mut (dyn NestedRunner + 'c)>,
    /// Decides between warning and error.
    pub mode: EvalMode,
    /// Names of the slots of the rows, for error 1690.
    pub names: Option<&'c dyn SlotNames>,
}

impl<'c> EvalContext<'c> {
    /// Creates a context without parameters and subqueries.
    pub fn new(session: &'c mut SessionContext, state: &'c mut EvalState) -> Self {
        EvalContext {
            session,
            parameters: &[],
            state,
            runner: None,
            mode: EvalMode::Query,
            names: None,
        }
    }

    /// Adds a warning to the session's diagnostics. In a strict write it becomes an error instead.
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

    /// Runs a subquery with `row` as its outer row.
    pub(crate) fn run_subquery(
        &mut self,
        subquery: &Subquery,
        row: &[Value],
        sink: &mut dyn FnMut(&[Value]) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let Some(runner) = self.runner.as_deref_mut() else {
            return Err(super::errors::not_supported("subqueries here"));
        };
        let frame = SubqueryFrame {
            session: self.session,
            parameters: self.parameters,
            state: self.state,
            outer: row,
            mode: self.mode,
            names: self.names,
        };
        runner.run(subquery.id, frame, sink)
    }
}
