//! Context of an execution: everything that rows meet on their way through the operators.
//!
//! ```text
//!   Execution            of one query: how expressions are evaluated
//!    ├─ session           settings, diagnostics, user variables
//!    ├─ parameters, mode, state of expressions
//!    └─ StatementState    of the statement, shared by its subqueries
//!        ├─ transaction    readers, row writers
//!        ├─ memory         collections
//!        ├─ row_handles    location of the current rows: written by readers, read by UPDATE and DELETE
//!        ├─ derived        rows of derived tables and recursive queries
//!        └─ join_buffers   rows kept by joins
//! ```
//!
//! Rows are pushed, so the context of a consumer passes through the operators below it. An operator uses its own part:
//! a collection gets a [`Reservation`](super::collections::memory::Reservation), a row writer gets the transaction.
//!
//! A query contains queries: derived tables, sides of UNION, subqueries of expressions. [`Execution::run_query`] is the
//! way from a lower layer to the operator that runs them.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use paceline_txn::Transaction;
use paceline_types::Value;

use super::bulk::{Indicator, ParameterSet};
use super::collections::derived_rows::DerivedRows;
use super::collections::hash_table::JoinBuffers;
use super::collections::memory::{Budget, Reservation};
use super::interface::{ExecutionContext, Outcome, ProgramHost, RowSink, UsedTables};
use crate::error::{Error, Result};
use crate::plan::Plan;
use crate::plan::measurements::{Collection, MeasuredAccess, Measurements};
use crate::plan::tree::{QueryPlan, TableAccess};
use crate::program::ProgramCache;
use paceline_catalog::RoutineDefinition;
use paceline_expression::session::{SessionContext, SessionMemory};
use paceline_expression::{
    EvalContext, EvalMode, EvalState, Expr, ExprKind, NestedRunner, SlotNames, StoredCall, SubqueryFrame,
    SubqueryId,
};

/// Consumer of a query's rows.
pub(crate) type Consumer<'c> = &'c mut dyn FnMut(&mut Execution<'_, '_>, &[Value]) -> Result<ControlFlow<()>>;

/// Consumer of a block's row, which it may change.
pub(crate) type Visit<'v> =
    &'v mut dyn FnMut(&mut Execution<'_, '_>, &mut [Value]) -> Result<ControlFlow<()>>;

/// Runs a query for a row of the query around it. See [`Execution::run_query`].
pub(crate) type RunQuery =
    fn(&mut Execution<'_, '_>, &QueryPlan, &[Value], Consumer<'_>) -> Result<Option<u64>>;

/// Location of a row that will be changed.
#[derive(Debug, Default, Clone)]
pub(crate) struct RowHandle {
    /// Clustered key of the row.
    pub key: Vec<u8>,
    /// Image of the row.
    pub image: Vec<u8>,
    /// Whether there is a row: an outer join may have none.
    pub present: bool,
}

/// Part of a statement's state that its subqueries share.
pub(crate) struct StatementState<'t> {
    pub transaction: &'t mut Transaction,
    pub memory: Budget,
    /// Location of the current row of each table, for statements that change rows.
    pub row_handles: Vec<RowHandle>,
    pub derived: DerivedRows,
    pub join_buffers: JoinBuffers,
    /// Number of the step's leading conditions that are known to hold for the current row; [`ALL_CONDITIONS`] if its
    /// range admits only rows that meet all of them. Set by a reader for the join above it.
    pub conditions_held: usize,
    /// Measurements, if the statement is measured.
    pub measurements: Option<Box<Measurements>>,
    /// Plan of a statement whose measurements other sessions can ask for, and the time when it began.
    pub measured_plan: Option<(&'t Plan, Instant)>,
    /// Plans of the subqueries in expressions, by [`SubqueryId`].
    subqueries: &'t [Arc<QueryPlan>],
    run_query: RunQuery,
    /// Environment of stored functions and triggers; `None` if the statement uses none.
    pub programs: Option<ProgramState<'t>>,
    ticks: u32,
}

/// Environment of a statement's stored functions and triggers.
pub(crate) struct ProgramState<'t> {
    pub host: Arc<dyn ProgramHost>,
    pub cache: &'t mut ProgramCache,
    /// Stored functions in expressions, by [`paceline_expression::FunctionId`].
    pub functions: &'t [Arc<RoutineDefinition>],
    /// Tables of the statement and of those around it.
    pub used: UsedTables<'t>,
    pub execute: ExecuteStatement,
    pub run_function: RunFunction,
}

/// Executes a statement of a function or trigger.
pub(crate) type ExecuteStatement = fn(&Plan, &mut ExecutionContext<'_>, &mut dyn RowSink) -> Result<Outcome>;

/// Calls a stored function.
pub(crate) type RunFunction =
    fn(&mut StatementState<'_>, &StoredCall, FunctionArguments, &mut SessionContext) -> Result<Value>;

/// Arguments of a stored function.
pub(crate) enum FunctionArguments {
    Row(Vec<Value>),
    /// Of an aggregate function: those of each row of the group.
    Group(Vec<Vec<Value>>),
}

/// Value of [`StatementState::conditions_held`]: no condition of the step remains to be checked.
pub(crate) const ALL_CONDITIONS: usize = usize::MAX;

/// Number of rows read between two checks for KILL.
const ROWS_PER_INTERRUPT_CHECK: u32 = 128;

impl<'t> StatementState<'t> {
    /// Creates the state of a statement that begins. `subqueries` are those of its plan.
    pub fn new(
        transaction: &'t mut Transaction,
        subqueries: &'t [Arc<QueryPlan>],
        run_query: RunQuery,
        memory: &Arc<SessionMemory>,
    ) -> Self {
        StatementState {
            transaction,
            memory: Budget::new(memory),
            row_handles: Vec::new(),
            derived: DerivedRows::default(),
            join_buffers: JoinBuffers::default(),
            conditions_held: 0,
            measurements: None,
            measured_plan: None,
            subqueries,
            run_query,
            programs: None,
            ticks: 0,
        }
    }
}

impl<'t> StatementState<'t> {
    /// Creates the reservation of an operation that collects rows, for one part of the plan.
    pub fn reserve<T>(&mut self, part: &T, collection: Collection) -> Reservation {
        match &mut self.measurements {
            None => self.memory.part(),
            Some(measurements) => {
                let measure = measurements.collection_mut(part, collection);
                self.memory.measured_part(measure)
            }
        }
    }

    /// Charges `bytes` that an operation keeps until the end of the statement.
    ///
    /// # Errors
    /// 1290 or 1041 beyond a limit.
    pub fn charge<T>(&mut self, part: &T, collection: Collection, bytes: usize) -> Result<()> {
        self.memory.charge(bytes)?;
        if let Some(measurements) = &mut self.measurements {
            measurements.collection_mut(part, collection).grow(bytes);
        }
        Ok(())
    }

    /// Returns the environment of stored functions and triggers.
    ///
    /// # Errors
    /// 1235 where there can be none.
    pub fn programs(&mut self) -> Result<&mut ProgramState<'t>> {
        self.programs
            .as_mut()
            .ok_or_else(|| Error::unsupported("stored functions here"))
    }
}

/// Execution of one query; see the module comment.
pub(crate) struct Execution<'e, 't> {
    pub state: &'e mut StatementState<'t>,
    pub session: &'e mut SessionContext,
    /// Treatment of warnings of expressions.
    pub mode: EvalMode,
    parameters: &'e [Value],
    /// Indicators of the parameters in a bulk execution; empty otherwise.
    indicators: &'e [Indicator],
    eval_state: &'e mut EvalState,
    /// Names of the slots of the block that is executed.
    names: Option<&'e dyn SlotNames>,
}

impl<'e, 't> Execution<'e, 't> {
    /// Creates the execution of a statement's outermost query.
    pub fn new(
        state: &'e mut StatementState<'t>,
        session: &'e mut SessionContext,
        mode: EvalMode,
        parameters: &'e [Value],
        eval_state: &'e mut EvalState,
    ) -> Self {
        Execution {
            state,
            session,
            mode,
            parameters,
            indicators: &[],
            eval_state,
            names: None,
        }
    }

    /// Returns the execution of a block whose slots have these names.
    pub fn with_names<'s>(&'s mut self, names: &'s dyn SlotNames) -> Execution<'s, 't> {
        Execution {
            state: self.state,
            session: self.session,
            mode: self.mode,
            parameters: self.parameters,
            indicators: self.indicators,
            eval_state: self.eval_state,
            names: Some(names),
        }
    }

    /// Returns the names of the slots of the block that is executed.
    pub fn names(&self) -> Option<&'e dyn SlotNames> {
        self.names
    }

    /// Returns the execution of the same statement with another set of parameters.
    pub fn with_parameters<'s>(&'s mut self, set: ParameterSet<'s>) -> Execution<'s, 't> {
        self.eval_state.forget_parameters();
        Execution {
            state: self.state,
            session: self.session,
            mode: self.mode,
            parameters: set.values,
            indicators: set.indicators,
            eval_state: self.eval_state,
            names: self.names,
        }
    }

    /// Returns whether an expression is a parameter that stands for the default of the column that it is assigned to.
    pub fn is_default(&self, expr: &Expr) -> bool {
        match expr.kind {
            ExprKind::Parameter(index) => {
                (self.indicators.get(index)).is_some_and(|indicator| *indicator != Indicator::Value)
            }
            _ => false,
        }
    }

    /// Runs a query within the statement. `outer` is the row of the query around it. Returns the value of FOUND_ROWS()
    /// if it differs from the number of rows.
    pub fn run_query(
        &mut self,
        plan: &QueryPlan,
        outer: &[Value],
        consumer: Consumer<'_>,
    ) -> Result<Option<u64>> {
        (self.state.run_query)(self, plan, outer, consumer)
    }

    /// Returns the context for evaluating expressions.
    pub fn context(&mut self) -> EvalContext<'_> {
        EvalContext {
            session: self.session,
            parameters: self.parameters,
            state: self.eval_state,
            runner: Some(self.state),
            mode: self.mode,
            names: self.names,
        }
    }

    /// Evaluates an expression.
    pub fn eval(&mut self, expr: &Expr, row: &[Value]) -> Result<Value> {
        match &expr.kind {
            ExprKind::Column(slot) => Ok(row[*slot].clone()),
            // A decimal shows the digits of its type.
            ExprKind::Literal(value) if !matches!(value, Value::Decimal(_)) => Ok(value.clone()),
            _ => expr.eval(row, &mut self.context()),
        }
    }

    /// Evaluates an expression; a quotient keeps all its digits.
    pub fn eval_unrounded(&mut self, expr: &Expr, row: &[Value]) -> Result<Value> {
        match &expr.kind {
            ExprKind::Column(slot) => Ok(row[*slot].clone()),
            ExprKind::Literal(value) => Ok(value.clone()),
            _ => expr.eval_unrounded(row, &mut self.context()).map(Cow::into_owned),
        }
    }

    /// Returns whether all conditions hold.
    pub fn all_true<'c>(
        &mut self,
        conditions: impl IntoIterator<Item = &'c Expr>,
        row: &[Value],
    ) -> Result<bool> {
        for condition in conditions {
            if !condition.is_true(row, &mut self.context())? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the measurements of a table access, to add to them; `None` if the statement is not measured.
    pub fn measured(&mut self, access: &TableAccess) -> Option<MeasuredAccess> {
        let measurements = self.state.measurements.as_mut()?;
        Some(measurements.access_mut(access))
    }

    /// Counts a row that was fetched from a table.
    pub fn row_fetched(&mut self) -> Result<()> {
        self.session.rows_examined += 1;
        self.tick()
    }

    /// Counts a step of the statement: a row that was read or computed. Checks from time to time whether the statement
    /// was killed.
    pub fn tick(&mut self) -> Result<()> {
        self.session.rows_read += 1;
        self.state.ticks += 1;
        if self.state.ticks >= ROWS_PER_INTERRUPT_CHECK {
            self.state.ticks = 0;
            self.session.services.functions.check_interrupt(self.session)?;
            if self.state.measurements.is_some() {
                self.answer_plan_request();
            }
        }
        Ok(())
    }

    /// Answers another session that asks for the plan of this statement, which is measured.
    #[cold]
    fn answer_plan_request(&self) {
        let state = &*self.state;
        let (Some((plan, started)), Some(measurements)) = (state.measured_plan, &state.measurements) else {
            return;
        };
        if let Some(request) = self.session.services.functions.take_plan_request() {
            (request.answer)(plan.rows_so_far(request.flavour, measurements, started.elapsed()));
        }
    }
}

impl NestedRunner for StatementState<'_> {
    fn run(
        &mut self,
        subquery: SubqueryId,
        frame: SubqueryFrame<'_>,
        sink: &mut dyn FnMut(&[Value]) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let subqueries = self.subqueries;
        let mut exec = Execution::new(self, frame.session, frame.mode, frame.parameters, frame.state);
        exec.names = frame.names;
        exec.run_query(&subqueries[subquery.index()], frame.outer, &mut |_, row| {
            sink(row)
        })?;
        Ok(())
    }

    fn call(
        &mut self,
        call: &StoredCall,
        arguments: Vec<Value>,
        session: &mut SessionContext,
    ) -> Result<Value> {
        let run = self.programs()?.run_function;
        run(self, call, FunctionArguments::Row(arguments), session)
    }

    fn call_group(
        &mut self,
        call: &StoredCall,
        rows: Vec<Vec<Value>>,
        session: &mut SessionContext,
    ) -> Result<Value> {
        let run = self.programs()?.run_function;
        run(self, call, FunctionArguments::Group(rows), session)
    }
}
