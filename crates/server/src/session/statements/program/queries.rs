//! Expressions, queries and changes of rows in a program, and their plans in the [prepared
//! program](paceline_query::program::PreparedProgram).

use super::Driver;
use crate::accounts::checks::check_plan;
use crate::command_counter::count_command;
use crate::session::execution::Execution;
use crate::session::planning::{ATTEMPTS_MAX, switches_consumers};
use crate::session::replies::ReplyWriter;
use crate::session::state::SessionState;
use crate::session::statements::dispatcher::Dispatcher;
use crate::session::statements::query::{collect, run_plan};
use paceline_expression::ExprType;
use paceline_program::{Answer, CodePlace, RowValue};
use paceline_query::execute::{AssignedRow, CursorSink, RowSink, SingleRow};
use paceline_query::plan::Plan;
use paceline_query::program::{Evaluation, RowAssignment, set_typed_user_variable};
use paceline_syntax::ast::Expr;
use paceline_syntax::{Error, Result, SetItem, SqlStatement, Statement, Target};
use paceline_types::Value;
use paceline_types::error_code::*;
use std::sync::Arc;

/// Returns whether a statement is of a kind that has a plan.
pub(super) fn has_plan(statement: &Statement, state: &SessionState) -> bool {
    match statement {
        Statement::Update(update) => !switches_consumers(update, state),
        Statement::Query(query) => query.into.is_none(),
        Statement::Insert(_) | Statement::Delete(_) | Statement::Do(_) => true,
        _ => false,
    }
}

impl<D: Dispatcher> Driver<'_, D> {
    /// Evaluates an expression of the program.
    pub(super) async fn evaluate(
        &mut self,
        place: CodePlace,
        expr: &Expr,
        values: &[Value],
    ) -> Result<Value> {
        let context = &mut self.state.context;
        match self.prepared.evaluate(place, expr, values, context)? {
            Evaluation::Value(value, _) => Ok(value),
            Evaluation::Query(query) => Ok(self.evaluate_query(place, &query, values).await?.0),
        }
    }

    async fn evaluate_typed(
        &mut self,
        place: CodePlace,
        expr: &Expr,
        values: &[Value],
    ) -> Result<(Value, ExprType)> {
        let context = &mut self.state.context;
        match self.prepared.evaluate(place, expr, values, context)? {
            Evaluation::Value(value, expr) => Ok((value, expr.ty.clone())),
            Evaluation::Query(query) => self.evaluate_query(place, &query, values).await,
        }
    }

    async fn evaluate_query(
        &mut self,
        place: CodePlace,
        query: &SqlStatement,
        values: &[Value],
    ) -> Result<(Value, ExprType)> {
        let execution = Execution::of_server(values);
        let row = self.collect(query, place, execution, SingleRow::default).await?;
        Ok(row.into_value())
    }

    /// Executes a SET of user variables only. All values are evaluated before the first is assigned.
    pub(super) async fn set_user_variables(
        &mut self,
        items: &[SetItem],
        place: CodePlace,
        values: &[Value],
    ) -> Result<()> {
        self.state.shared.counters.com_set_option.add(1);
        let mut assigned = Vec::with_capacity(items.len());
        for (number, item) in items.iter().enumerate() {
            if let SetItem::UserVariable { name, value } = item {
                let (value, ty) = self.evaluate_typed(place.of_item(number), value, values).await?;
                assigned.push((name, value, ty));
            }
        }
        for (name, value, ty) in assigned {
            set_typed_user_variable(name, &value, ty, &mut self.state.context)?;
            self.state.tracking.note_state_change();
        }
        Ok(())
    }

    /// Gives the fields of a row variable their values.
    pub(super) async fn assign_row(
        &mut self,
        row: usize,
        value: &RowValue,
        place: CodePlace,
        values: &[Value],
    ) -> Result<Answer> {
        let types = self.prepared.types();
        let mut assignment = RowAssignment::new(types, row, value, values, &self.state.context)?;
        while let Some((field, number, expr)) =
            assignment.next_expression(self.prepared.types(), &mut self.state.context)?
        {
            let value = self
                .evaluate(place.of_item(number), expr, assignment.current())
                .await?;
            assignment.assign(field, value, self.prepared.types(), &mut self.state.context)?;
        }
        Ok(Answer::Values(assignment.finish()))
    }

    /// Gives the fields of a row variable the values of a query's row.
    pub(super) async fn assign_query(
        &mut self,
        row: usize,
        query: &SqlStatement,
        place: CodePlace,
        values: &[Value],
    ) -> Result<Answer> {
        let fields = self.prepared.types().row(row).map_or(0, <[usize]>::len);
        let sink = || AssignedRow::new(fields);
        let assigned = self
            .collect(query, place, Execution::of_server(values), sink)
            .await?;
        assigned.finish(row, self.prepared.types(), &mut self.state.context)
    }

    /// Gives a row variable the columns of a query as its fields.
    pub(super) fn define_row(
        &mut self,
        row: usize,
        query: &SqlStatement,
        place: CodePlace,
        values: &[Value],
    ) -> Result<Answer> {
        let execution = self.execution_of(query, values);
        for _ in 0..ATTEMPTS_MAX {
            let plan = self.plan(query, place, execution)?;
            if plan.is_current(&self.state.catalog()) {
                let context = &mut self.state.context;
                check_plan(self.state.services.authority(context), &plan)?;
                return self.prepared.define_row(row, plan.columns(), context);
            }
            self.prepared.forget_plan(place);
        }
        Err(Error::new(ER_TABLE_DEF_CHANGED, &[]))
    }

    /// Executes a statement with a plan.
    pub(super) async fn execute_planned(
        &mut self,
        sql: &SqlStatement,
        place: CodePlace,
        execution: Execution<'_>,
    ) -> Result<()> {
        for _ in 0..ATTEMPTS_MAX {
            let plan = self.plan(sql, place, execution)?;
            let reply = run_plan((&plan).into(), self.state, self.connection, execution, None).await?;
            if let Some(reply) = reply {
                self.note_rows_read(place);
                return ReplyWriter::new(self.state, self.connection).reply(reply, execution);
            }
            self.prepared.forget_plan(place);
        }
        Err(Error::new(ER_TABLE_DEF_CHANGED, &[]))
    }

    fn plan(&mut self, sql: &SqlStatement, place: CodePlace, execution: Execution<'_>) -> Result<Arc<Plan>> {
        let state = &*self.state;
        let make = |statement: &Statement| state.plan_for(statement, execution.parameters);
        self.prepared.plan(place, sql, &state.context, make)
    }

    fn note_rows_read(&mut self, place: CodePlace) {
        self.prepared.note_rows_read(place, self.state.context.rows_read);
    }

    /// Executes a query and collects its rows in a sink, which each attempt creates.
    async fn collect<S: RowSink>(
        &mut self,
        sql: &SqlStatement,
        place: CodePlace,
        execution: Execution<'_>,
        sink: impl Fn() -> S,
    ) -> Result<S> {
        for _ in 0..ATTEMPTS_MAX {
            let plan = self.plan(sql, place, execution)?;
            if let Some((rows, _)) = collect((&plan).into(), self.state, execution, sink()).await? {
                self.note_rows_read(place);
                return Ok(rows);
            }
            self.prepared.forget_plan(place);
        }
        Err(Error::new(ER_TABLE_DEF_CHANGED, &[]))
    }

    fn execution_of<'e>(&self, sql: &'e SqlStatement, values: &'e [Value]) -> Execution<'e>
    where
        Self: 'e,
    {
        Execution {
            text: sql.text.as_bytes(),
            parameters: values,
            ..self.execution
        }
    }

    /// Executes `SELECT … INTO`.
    ///
    /// # Errors
    /// 1222 for another number of columns than targets; 1172 for more than one row.
    pub(super) async fn select_into(
        &mut self,
        query: &SqlStatement,
        place: CodePlace,
        targets: &[Target],
        values: &[Value],
    ) -> Result<Answer> {
        count_command(&query.statement, &self.state.shared.counters);
        let execution = self.execution_of(query, values);
        let single = self.collect(query, place, execution, SingleRow::default).await?;
        let answer = single.assign(targets, self.prepared.types(), &mut self.state.context)?;
        self.affected_rows += u64::try_from(self.state.context.row_count).unwrap_or(0);
        Ok(answer)
    }

    /// Executes the query of a cursor.
    pub(super) async fn open(
        &mut self,
        cursor: usize,
        query: &SqlStatement,
        place: CodePlace,
        values: &[Value],
    ) -> Result<Answer> {
        count_command(&query.statement, &self.state.shared.counters);
        let execution = self.execution_of(query, values);
        let sink = self.collect(query, place, execution, CursorSink::default).await?;
        self.cursors.open(cursor, sink, &self.state.context)
    }
}
