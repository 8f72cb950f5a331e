//! The steps of a program that runs within a statement.

use super::cursors::{AssignedRow, CursorSink, Cursors, SingleRow};
use super::group_rows::{GroupFetch, GroupRows};
use crate::error::{Error, Result};
use crate::execute::context::{ProgramState, StatementState};
use crate::execute::interface::{
    AffectedRows, ExecutionContext, FillOutcome, ProgramHost, RowSink, StatementPrograms, check_snapshot,
    lock_tables,
};
use crate::plan::{
    Plan, PlanContext, ResultColumn, TableUse, insert_of_select, plan_statement, selected_columns,
};
use crate::program::{
    Evaluation, Handling, PreparedProgram, RowAssignment, convert_returned, diagnostics_values, error_of,
    is_true, raised_of, set_typed_user_variable, set_user_variable, setting_value, signal, warnings,
};
use paceline_catalog::FILLED_DATABASE;
use paceline_expression::ExprType;
use paceline_expression::session::SessionContext;
use paceline_program::{Answer, CodePlace, RaisedCondition, Request, Run};
use paceline_syntax::ast::{Expr, TableName};
use paceline_syntax::{DdlStatement, SetItem, SetValue, SqlStatement, Statement, Target};
use paceline_types::error_code::*;
use paceline_types::{DataType, Value};
use std::sync::Arc;

/// Maximum number of attempts to plan a statement whose tables change repeatedly.
const ATTEMPTS_MAX: usize = 100;

/// Number of steps between two checks for KILL. Statements that read rows check themselves.
const STEPS_PER_INTERRUPT_CHECK: u32 = 16;

/// Kind of the outermost program that runs within a statement, for messages.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Function,
    Trigger,
}

impl Place {
    fn name(self) -> &'static str {
        match self {
            Place::Function => "function",
            Place::Trigger => "trigger",
        }
    }
}

/// A program as its steps need it.
#[derive(Clone, Copy)]
pub(super) struct Program<'p> {
    pub place: Place,
    /// Name in messages.
    pub name: &'p str,
    /// Value of a function.
    pub returns: Option<ReturnValue<'p>>,
    pub call_procedure: CallProcedure,
}

/// Value of a function.
#[derive(Clone, Copy)]
pub(super) struct ReturnValue<'p> {
    pub data_type: &'p DataType,
    /// The call, for messages.
    pub text: &'p str,
}

/// Calls a procedure: the layer above.
pub(super) type CallProcedure = fn(
    &TableName,
    &[Expr],
    Vec<Value>,
    Place,
    &mut StatementState<'_>,
    &mut SessionContext,
) -> Result<Vec<(Target, Value)>>;

/// Runs a program to its end. Returns the value of its RETURN.
///
/// # Errors
/// The error for which there was no handler. A note after it says where it occurred.
pub(super) fn run_steps(
    run: &mut Run<'_>,
    prepared: &mut PreparedProgram,
    program: Program<'_>,
    group: Option<&mut GroupRows>,
    state: &mut StatementState<'_>,
    session: &mut SessionContext,
) -> Result<Option<Value>> {
    session.program_variables = prepared.program_variables().clone();
    let cursors = Cursors::new(prepared.code().cursors().len());
    let mut steps = Steps {
        program,
        prepared,
        group,
        state,
        session,
        cursors,
        handling: Handling::default(),
        steps: 0,
        fetched: None,
        is_returning: false,
    };
    steps.run(run).map_err(|(error, line)| {
        let message = format!("At line {line} in {}", program.name);
        session.diagnostics.note_after_error(ER_SP_STACK_TRACE, message);
        error
    })
}

struct Steps<'s, 't> {
    program: Program<'s>,
    prepared: &'s mut PreparedProgram,
    /// Rows of an aggregate function.
    group: Option<&'s mut GroupRows>,
    state: &'s mut StatementState<'t>,
    session: &'s mut SessionContext,
    cursors: Cursors,
    handling: Handling,
    /// Number of steps so far.
    steps: u32,
    /// Row that FETCH GROUP NEXT ROW has read.
    fetched: Option<GroupFetch>,
    /// Whether a RETURN was executed. As in MariaDB, a function that goes on after it, because a handler has dealt with
    /// its error, returns NULL.
    is_returning: bool,
}

impl Steps<'_, '_> {
    fn run(&mut self, run: &mut Run<'_>) -> std::result::Result<Option<Value>, (Error, u32)> {
        loop {
            let line = run.line();
            let located = |raised: RaisedCondition| (error_of(raised), line);
            let request = run.request().map_err(located)?;
            self.handling.before_step(run, self.session);
            if let Request::End(value) = request {
                self.handling.end(self.session);
                return Ok(value.or_else(|| self.is_returning.then_some(Value::Null)));
            }
            if let Request::FetchGroup = request {
                match self.group.as_mut().map(|group| group.fetch()) {
                    None | Some(GroupFetch::Over) => return Ok(None),
                    Some(fetch) => self.fetched = Some(fetch),
                }
            }
            let line = run.line();
            let located = |raised: RaisedCondition| (error_of(raised), line);
            match self.answer(request, run.place(), run.values()) {
                Ok(answer) => {
                    let warnings = warnings(self.session);
                    run.answer(Ok(answer), &warnings).map_err(located)?;
                }
                Err(error) => {
                    let raised = raised_of(&error);
                    if !self.state.transaction.is_in_statement() || run.answer(Err(raised), &[]).is_err() {
                        // Without a handler, or after a deadlock that has ended the transaction.
                        return Err((error, line));
                    }
                    self.handling.catch(error, self.session);
                }
            }
        }
    }

    fn answer(&mut self, request: Request<'_>, place: CodePlace, values: &[Value]) -> Result<Answer> {
        self.steps = self.steps.wrapping_add(1);
        if self.steps.is_multiple_of(STEPS_PER_INTERRUPT_CHECK) {
            self.session.services.functions.check_interrupt(self.session)?;
        }
        let keeps = matches!(
            request,
            Request::Execute(SqlStatement {
                statement: Statement::GetDiagnostics(_) | Statement::Signal(_),
                ..
            })
        );
        match keeps {
            true => self.session.diagnostics.keep(),
            false => self
                .session
                .diagnostics
                .begin(self.session.settings.max_error_count),
        }
        Ok(match request {
            Request::Assign { variable, value } => {
                let value = match value {
                    Some(expr) => self
                        .evaluate(place, expr, values)
                        .map_err(|error| self.prepared.types().refused_row(variable, expr, error))?,
                    None => Value::Null,
                };
                self.prepared.note_assigned(variable);
                Answer::Value(self.prepared.types().convert(variable, value, self.session)?)
            }
            Request::AssignRow { row, value } => {
                let types = self.prepared.types();
                let mut assignment = RowAssignment::new(types, row, value, values, self.session)?;
                while let Some((field, number, expr)) =
                    assignment.next_expression(self.prepared.types(), self.session)?
                {
                    let value = self.evaluate(place.of_item(number), expr, assignment.current())?;
                    assignment.assign(field, value, self.prepared.types(), self.session)?;
                }
                Answer::Values(assignment.finish())
            }
            Request::AssignQuery { row, query } => {
                let fields = self.prepared.types().row(row).map_or(0, <[usize]>::len);
                let assigned = self.collect(query, place, values, AssignedRow::new(fields))?;
                assigned.finish(row, self.prepared.types(), self.session)?
            }
            Request::DefineRow { row, query } => {
                let defined = self.define_row(row, query, place, values);
                if defined.is_err() {
                    self.prepared.undefine_row(row, self.session);
                }
                return defined;
            }
            Request::FetchGroup => match self.fetched.take() {
                Some(GroupFetch::Row(row)) => {
                    let mut assigned = Vec::with_capacity(row.len());
                    for (parameter, value) in row.into_iter().enumerate() {
                        let types = self.prepared.types();
                        assigned.push((parameter, types.convert(parameter, value, self.session)?));
                    }
                    Answer::Values(assigned)
                }
                Some(GroupFetch::End) => return Err(Error::new(ER_SP_FETCH_NO_DATA, &[])),
                _ => Answer::Done,
            },
            Request::FetchNext { cursor, into } => {
                self.cursors
                    .fetch_next(cursor, into, self.prepared.types(), self.session)?
            }
            Request::Return(expr) => {
                // The caller sees only conditions raised by RETURN itself.
                let most = self.session.settings.max_error_count;
                self.session.diagnostics.clear(most);
                self.is_returning = true;
                let value = self.evaluate(place, expr, values)?;
                Answer::Value(match self.program.returns {
                    Some(ReturnValue { data_type, text }) => {
                        convert_returned(value, data_type, text, self.session)?
                    }
                    None => value,
                })
            }
            Request::Test(expr) => {
                let value = self.evaluate(place, expr, values)?;
                Answer::Truth(is_true(&value, self.session)?)
            }
            Request::Execute(sql) => self.execute(sql, place, values)?,
            Request::SelectInto { query, targets } => {
                self.state.programs()?.host.count(&query.statement);
                let row = self.collect(query, place, values, SingleRow::default())?;
                row.assign(targets, self.prepared.types(), self.session)?
            }
            Request::Open { cursor, query } => {
                self.state.programs()?.host.count(&query.statement);
                let rows = self.collect(query, place, values, CursorSink::default())?;
                self.cursors.open(cursor, rows, self.session)?
            }
            Request::Fetch { cursor, into } => {
                self.cursors
                    .fetch(cursor, into, self.prepared.types(), self.session)?
            }
            Request::Close { cursor } => {
                self.cursors.close(cursor);
                Answer::Done
            }
            Request::End(_) => Answer::Done,
        })
    }

    /// Gives a row variable the columns of a query as its fields.
    fn define_row(
        &mut self,
        row: usize,
        query: &SqlStatement,
        place: CodePlace,
        values: &[Value],
    ) -> Result<Answer> {
        let host = self.state.programs()?.host.clone();
        for _ in 0..ATTEMPTS_MAX {
            let plan = self.plan(query, place, values)?;
            if plan.is_current(&host.catalog()) {
                return self.prepared.define_row(row, plan.columns(), self.session);
            }
            self.prepared.forget_plan(place);
        }
        Err(Error::new(ER_TABLE_DEF_CHANGED, &[]))
    }

    /// Evaluates an expression of the program.
    fn evaluate(&mut self, place: CodePlace, expr: &Expr, values: &[Value]) -> Result<Value> {
        match self.prepared.evaluate(place, expr, values, self.session)? {
            Evaluation::Value(value, _) => Ok(value),
            Evaluation::Query(query) => Ok(self
                .collect(&query, place, values, SingleRow::default())?
                .into_value()
                .0),
        }
    }

    /// Evaluates an expression of the program. Also returns its type.
    fn evaluate_typed(
        &mut self,
        place: CodePlace,
        expr: &Expr,
        values: &[Value],
    ) -> Result<(Value, ExprType)> {
        match self.prepared.evaluate(place, expr, values, self.session)? {
            Evaluation::Value(value, expr) => Ok((value, expr.ty.clone())),
            Evaluation::Query(query) => Ok(self
                .collect(&query, place, values, SingleRow::default())?
                .into_value()),
        }
    }

    fn execute(&mut self, sql: &SqlStatement, place: CodePlace, values: &[Value]) -> Result<Answer> {
        self.state.programs()?.host.count(&sql.statement);
        match &sql.statement {
            Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) | Statement::Do(_) => {
                let mut rows = NoRows {
                    place: self.program.place,
                };
                let outcome = self.execute_planned(sql, place, values, &mut rows)?;
                self.session.row_count = i64::try_from(outcome.affected_rows).unwrap_or(i64::MAX);
                Ok(Answer::Done)
            }
            Statement::Query(_) | Statement::Show(_) | Statement::Explain(_) => {
                Err(Error::new(ER_SP_NO_RETSET, &[&self.program.place.name()]))
            }
            Statement::Set(items) => self.set(items, place, values),
            Statement::Signal(condition) => {
                signal(condition, self.session, values)?;
                Ok(Answer::Done)
            }
            Statement::GetDiagnostics(get) => {
                let read = diagnostics_values(get, self.session, values)?;
                self.assign(read)
            }
            Statement::Call { procedure, arguments } => {
                let mut given = Vec::with_capacity(arguments.len());
                for (number, argument) in arguments.iter().enumerate() {
                    given.push(self.evaluate(place.of_item(number), argument, values)?);
                }
                let call = self.program.call_procedure;
                let outputs = call(
                    procedure,
                    arguments,
                    given,
                    self.program.place,
                    self.state,
                    self.session,
                )?;
                self.assign(outputs)
            }
            Statement::Empty => Ok(Answer::Done),
            Statement::Ddl(ddl) if concerns_temporary_table(ddl) => {
                let rows = self.define_temporary(ddl, values)?;
                self.session.row_count = i64::try_from(rows).unwrap_or(i64::MAX);
                Ok(Answer::Done)
            }
            Statement::Transaction(_) | Statement::Ddl(_) | Statement::Account(_) | Statement::Plugin(_) => {
                Err(Error::new(ER_COMMIT_NOT_ALLOWED_IN_SF_OR_TRG, &[]))
            }
            Statement::Prepare { .. }
            | Statement::Execute { .. }
            | Statement::ExecuteImmediate { .. }
            | Statement::Deallocate(_) => {
                Err(Error::new(ER_STMT_NOT_ALLOWED_IN_SF_OR_TRG, &[&"Dynamic SQL"]))
            }
            _ => Err(Error::unsupported("this statement in a function or trigger")),
        }
    }

    /// Creates or drops temporary tables. A table that a statement around the program uses stays as it is. Returns the
    /// number of rows of CREATE … SELECT.
    fn define_temporary(&mut self, ddl: &DdlStatement, values: &[Value]) -> Result<u64> {
        let dropped: &[TableName] = match ddl {
            DdlStatement::CreateTable(create) if create.or_replace => std::slice::from_ref(&create.name),
            DdlStatement::DropTables { tables, .. } => tables,
            _ => &[],
        };
        let ProgramState { host, used, .. } = self.state.programs()?;
        for table in dropped {
            let database = table.database.as_deref().or(self.session.database.as_deref());
            if used.contains(database.unwrap_or_default(), &table.name) {
                return Err(Error::new(ER_CANT_REOPEN_TABLE, &[&table.name]));
            }
        }
        let host = host.clone();
        let filling = match ddl {
            DdlStatement::CreateTable(create) => create.select().map(|select| (create, select)),
            _ => None,
        };
        let Some((create, select)) = filling else {
            host.define_temporary(ddl, None, self.state.transaction, self.session)?;
            return Ok(0);
        };
        let query = Statement::Query(Box::new(select.query.clone()));
        let plan = self.plan_once(&query, values)?;
        // Without the privileges to read, no table may be created or replaced.
        host.check(&plan, self.session)?;
        let catalog = host.catalog();
        if create.or_replace {
            let database = create
                .name
                .database
                .as_deref()
                .or(self.session.database.as_deref());
            let hidden_by = catalog.temporary_table(database.unwrap_or_default(), &create.name.name);
            let is_it = |table: &TableUse| match (&table.definition, hidden_by) {
                (Some(read), Some(replaced)) => Arc::ptr_eq(read, replaced),
                _ => false,
            };
            if plan.tables().iter().any(is_it) {
                return Err(Error::new(ER_CANT_REOPEN_TABLE, &[&create.name.name]));
            }
        }
        let selected = selected_columns(&plan, &catalog);
        let Some(table) =
            host.define_temporary(ddl, Some(&selected), self.state.transaction, self.session)?
        else {
            return Ok(0);
        };
        // As outside of programs the rows stay even if the transaction is rolled back.
        let mark = self.state.transaction.temporary_mark();
        let hidden = TableName::qualified(FILLED_DATABASE, &table.1);
        let filled = self.fill(&insert_of_select(hidden, select, &plan), values);
        let outcome = match filled {
            Ok(_) => FillOutcome::Filled,
            Err(_) => FillOutcome::Failed,
        };
        if outcome == FillOutcome::Filled {
            self.state.transaction.keep_temporary_since(mark);
        }
        host.end_fill(&table, outcome, self.state.transaction);
        filled
    }

    /// Executes the INSERT of CREATE TABLE … SELECT. Returns the number of rows.
    fn fill(&mut self, insert: &Statement, values: &[Value]) -> Result<u64> {
        let mut rows = NoRows {
            place: self.program.place,
        };
        for _ in 0..ATTEMPTS_MAX {
            let plan = self.plan_once(insert, values)?;
            if let Some(outcome) = execute_nested(&plan, values, self.state, self.session, &mut rows)? {
                return Ok(outcome.affected_rows);
            }
        }
        Err(Error::new(ER_TABLE_DEF_CHANGED, &[]))
    }

    /// Plans a statement that is not one of the program's own.
    fn plan_once(&mut self, statement: &Statement, values: &[Value]) -> Result<Plan> {
        planned(&*self.state.programs()?.host, self.session, statement, values)
    }

    /// Gives targets their values. Returns those of the program's variables.
    fn assign(&mut self, values: Vec<(Target, Value)>) -> Result<Answer> {
        let mut assigned = Vec::new();
        for (target, value) in values {
            match target {
                Target::User(name) => set_user_variable(&name, &value, self.session)?,
                Target::Variable(variable) => {
                    self.prepared.note_assigned(variable);
                    assigned.push((
                        variable,
                        self.prepared.types().convert(variable, value, self.session)?,
                    ));
                }
            }
        }
        Ok(Answer::Values(assigned))
    }

    /// Executes SET, which has one item in a program.
    fn set(&mut self, items: &[SetItem], place: CodePlace, values: &[Value]) -> Result<Answer> {
        let [item] = items else {
            return Err(Error::unsupported("SET of several variables here"));
        };
        let value = match item {
            SetItem::UserVariable { name, value } => {
                let (value, ty) = self.evaluate_typed(place, value, values)?;
                set_typed_user_variable(name, &value, ty, self.session)?;
                return Ok(Answer::Done);
            }
            SetItem::Variable { value, .. } => match value {
                SetValue::Default => None,
                SetValue::Word(word) => Some(Value::Text(word.clone())),
                SetValue::Expr(expr) => {
                    let (value, ty) = self.evaluate_typed(place, expr, values)?;
                    Some(setting_value(value, &ty))
                }
            },
            _ => None,
        };
        let host = self.state.programs()?.host.clone();
        host.set(item, value, self.session)?;
        Ok(Answer::Done)
    }

    fn collect<S: RowSink>(
        &mut self,
        sql: &SqlStatement,
        place: CodePlace,
        values: &[Value],
        mut rows: S,
    ) -> Result<S> {
        self.execute_planned(sql, place, values, &mut rows)?;
        Ok(rows)
    }

    fn plan(&mut self, sql: &SqlStatement, place: CodePlace, values: &[Value]) -> Result<Arc<Plan>> {
        let host = &self.state.programs()?.host;
        let session = &*self.session;
        self.prepared.plan(place, sql, session, |statement| {
            planned(&**host, session, statement, values)
        })
    }

    /// Plans a statement, or takes its plan, locks its tables and executes it.
    fn execute_planned(
        &mut self,
        sql: &SqlStatement,
        place: CodePlace,
        values: &[Value],
        sink: &mut dyn RowSink,
    ) -> Result<crate::execute::Outcome> {
        for _ in 0..ATTEMPTS_MAX {
            let plan = self.plan(sql, place, values)?;
            if let Some(outcome) = execute_nested(&plan, values, self.state, self.session, sink)? {
                self.prepared.note_rows_read(place, self.session.rows_read);
                return Ok(outcome);
            }
            self.prepared.forget_plan(place);
        }
        Err(Error::new(ER_TABLE_DEF_CHANGED, &[]))
    }
}

/// Executes a statement of a program within the outer one. Returns `None` if its tables have changed since the plan.
fn execute_nested(
    plan: &Plan,
    parameters: &[Value],
    state: &mut StatementState<'_>,
    session: &mut SessionContext,
    sink: &mut dyn RowSink,
) -> Result<Option<crate::execute::Outcome>> {
    let StatementState {
        transaction,
        programs,
        ..
    } = state;
    let ProgramState {
        host,
        cache,
        used,
        execute,
        ..
    } = programs
        .as_mut()
        .ok_or_else(|| Error::unsupported("stored programs here"))?;
    host.check(plan, session)?;
    for table in plan.tables().iter().filter(|table| table.usage.writes()) {
        if used.contains(&table.database, &table.name) {
            return Err(Error::new(ER_CANT_UPDATE_USED_TABLE_IN_SF_OR_TRG, &[&table.name]));
        }
    }
    if plan.writes_ordinary() {
        transaction.begin_writing()?;
    }
    lock_tables(plan, transaction)?;
    let catalog = host.catalog();
    if !plan.is_current(&catalog) {
        return Ok(None);
    }
    check_snapshot(plan, transaction)?;
    let mut context = ExecutionContext {
        transaction,
        session,
        catalog: &catalog,
        parameters,
        parameter_sets: None,
        text: b"",
        affected: AffectedRows::Changed,
        rows_max: u64::MAX,
        input: None,
        text_log: None,
        programs: Some(StatementPrograms {
            host: host.clone(),
            cache,
            outer: Some(used),
            lent: None,
        }),
    };
    execute(plan, &mut context, sink).map(Some)
}

fn concerns_temporary_table(ddl: &DdlStatement) -> bool {
    match ddl {
        DdlStatement::CreateTable(table) => table.temporary,
        DdlStatement::DropTables { temporary, .. } => *temporary,
        _ => false,
    }
}

/// Sink of statements that must not return rows.
struct NoRows {
    place: Place,
}

impl RowSink for NoRows {
    fn columns(&mut self, _: &[ResultColumn]) -> Result<()> {
        Err(Error::new(ER_SP_NO_RETSET, &[&self.place.name()]))
    }

    fn row(&mut self, _: &[Value]) -> Result<()> {
        Ok(())
    }
}

/// Plans a statement of a program.
fn planned(
    host: &dyn ProgramHost,
    session: &SessionContext,
    statement: &Statement,
    parameters: &[Value],
) -> Result<Plan> {
    let context = PlanContext {
        catalog: &host.catalog(),
        session,
        statistics: host.statistics(),
        parameters,
    };
    plan_statement(statement, &context)
}
