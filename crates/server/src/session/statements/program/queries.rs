//! Queries and changes of rows in a program: cached plans, INTO, cursors.

use super::Driver;
use crate::session::execution::Execution;
use crate::session::planning::{ATTEMPTS_MAX, needs_new_plan};
use crate::session::protocol::CursorSink;
use crate::session::replies::ReplyWriter;
use crate::session::statements::query::{collect, run_plan};
use paceline_expression::ExprType;
use paceline_expression::session::{MemoryCharge, UserVariable};
use paceline_program::Answer;
use paceline_query::execute::{RowSink, StoredRows};
use paceline_query::plan::{Plan, ResultColumn};
use paceline_syntax::{Error, Result, SqlStatement, Statement, Target};
use paceline_types::Value;
use paceline_types::error_code::*;
use std::collections::HashMap;
use std::sync::Arc;

/// Plans of a program's statements, by the statement's address in the program's code, which does not move.
#[derive(Default)]
pub struct KeptPlans {
    plans: HashMap<usize, KeptPlan>,
}

struct KeptPlan {
    plan: Arc<Plan>,
    /// Number of rows that the last execution read.
    rows_read: u64,
}

impl KeptPlans {
    /// Returns whether a statement is of a kind that has a plan.
    pub fn keeps(statement: &Statement) -> bool {
        match statement {
            Statement::Query(query) => query.into.is_none(),
            Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) | Statement::Do(_) => true,
            _ => false,
        }
    }
}

fn key_of(sql: &SqlStatement) -> usize {
    std::ptr::from_ref(sql).addr()
}

/// Rows of a program's cursors, by number.
pub struct Cursors {
    cursors: Vec<Option<OpenCursor>>,
}

struct OpenCursor {
    columns: Vec<ResultColumn>,
    rows: StoredRows,
    _memory: MemoryCharge,
}

impl Cursors {
    /// Creates closed cursors.
    pub fn new(count: usize) -> Cursors {
        Cursors {
            cursors: (0..count).map(|_| None).collect(),
        }
    }

    /// Removes a cursor's rows.
    pub fn close(&mut self, cursor: usize) {
        self.cursors[cursor] = None;
    }
}

/// Sink for the single row of a query with INTO.
#[derive(Default)]
struct SingleRow {
    columns: Vec<ResultColumn>,
    row: Option<Vec<Value>>,
}

impl RowSink for SingleRow {
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<()> {
        self.columns = columns.to_vec();
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        match self.row {
            Some(_) => Err(Error::new(ER_TOO_MANY_ROWS, &[])),
            None => {
                self.row = Some(row.to_vec());
                Ok(())
            }
        }
    }
}

impl Driver<'_> {
    /// Executes a statement with a plan. The plan is kept for the next execution.
    pub(super) async fn execute_planned(
        &mut self,
        sql: &SqlStatement,
        execution: Execution<'_>,
    ) -> Result<()> {
        for _ in 0..ATTEMPTS_MAX {
            let plan = self.plan(sql, execution)?;
            let reply = run_plan(&plan, self.state, self.connection, execution, None).await?;
            if let Some(reply) = reply {
                self.note_rows_read(sql);
                return ReplyWriter::new(self.state, self.connection).reply(reply, execution);
            }
            self.plans.plans.remove(&key_of(sql));
        }
        Err(Error::new(ER_TABLE_DEF_CHANGED, &[]))
    }

    fn plan(&mut self, sql: &SqlStatement, execution: Execution<'_>) -> Result<Arc<Plan>> {
        if let Some(kept) = self.plans.plans.get(&key_of(sql))
            && !needs_new_plan(&kept.plan, kept.rows_read)
        {
            return Ok(kept.plan.clone());
        }
        let plan = Arc::new(self.state.plan_for(&sql.statement, execution.parameters)?);
        let kept = KeptPlan {
            plan: plan.clone(),
            rows_read: 0,
        };
        self.plans.plans.insert(key_of(sql), kept);
        Ok(plan)
    }

    fn note_rows_read(&mut self, sql: &SqlStatement) {
        if let Some(kept) = self.plans.plans.get_mut(&key_of(sql)) {
            kept.rows_read = self.state.context.rows_read;
        }
    }

    /// Executes a query and collects its rows.
    async fn collect<S: RowSink + Default>(&mut self, sql: &SqlStatement, values: &[Value]) -> Result<S> {
        let execution = Execution {
            text: sql.text.as_bytes(),
            parameters: values,
            ..self.execution
        };
        for _ in 0..ATTEMPTS_MAX {
            let plan = self.plan(sql, execution)?;
            if let Some((rows, _)) = collect::<S>(&plan, self.state, execution).await? {
                self.note_rows_read(sql);
                return Ok(rows);
            }
            self.plans.plans.remove(&key_of(sql));
        }
        Err(Error::new(ER_TABLE_DEF_CHANGED, &[]))
    }

    /// Executes `SELECT … INTO`.
    ///
    /// # Errors
    /// 1222 for another number of columns than targets; 1172 for more than one row.
    pub(super) async fn select_into(
        &mut self,
        query: &SqlStatement,
        targets: &[Target],
        values: &[Value],
    ) -> Result<Answer> {
        let single = self.collect::<SingleRow>(query, values).await?;
        if single.columns.len() != targets.len() {
            return Err(Error::new(ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT, &[]));
        }
        let Some(row) = single.row else {
            let message = ER_SP_FETCH_NO_DATA.message(&[]);
            self.state.context.diagnostics.warn(ER_SP_FETCH_NO_DATA, message);
            self.state.context.row_count = 0;
            return Ok(Answer::Done);
        };
        self.state.context.row_count = 1;
        self.affected_rows += 1;
        let mut assigned = Vec::new();
        for ((value, column), target) in row.into_iter().zip(&single.columns).zip(targets) {
            match target {
                Target::Variable(variable) => {
                    let value = self.types.convert(*variable, value, &mut self.state.context)?;
                    assigned.push((*variable, value));
                }
                Target::User(name) => {
                    let ty = ExprType::new(column.data_type.clone());
                    let zone = self.state.context.settings.time_zone.clone();
                    let variable = UserVariable::new(&value, ty, &zone);
                    self.state
                        .context
                        .user_variables
                        .set(&name.to_lowercase(), variable)?;
                }
            }
        }
        Ok(Answer::Values(assigned))
    }

    /// Executes the query of a cursor.
    pub(super) async fn open(
        &mut self,
        cursor: usize,
        query: &SqlStatement,
        values: &[Value],
    ) -> Result<Answer> {
        let sink = self.collect::<CursorSink>(query, values).await?;
        let rows = sink.rows.finish()?;
        let mut memory = MemoryCharge::new(&self.state.context.memory);
        memory.grow(rows.memory_bytes())?;
        self.cursors.cursors[cursor] = Some(OpenCursor {
            columns: sink.columns,
            rows,
            _memory: memory,
        });
        Ok(Answer::Done)
    }

    /// Reads the next row of a cursor.
    ///
    /// # Errors
    /// 1328 for another number of columns than variables; 1329 after the last row.
    pub(super) fn fetch(&mut self, cursor: usize, into: &[usize]) -> Result<Answer> {
        let Some(open) = &mut self.cursors.cursors[cursor] else {
            return Err(Error::new(ER_SP_CURSOR_NOT_OPEN, &[]));
        };
        if open.columns.len() != into.len() {
            return Err(Error::new(ER_SP_WRONG_NO_OF_FETCH_ARGS, &[]));
        }
        let Some(row) = open.rows.next_row()? else {
            return Err(Error::new(ER_SP_FETCH_NO_DATA, &[]));
        };
        let mut assigned = Vec::with_capacity(row.len());
        for (value, variable) in row.into_iter().zip(into) {
            let value = self.types.convert(*variable, value, &mut self.state.context)?;
            assigned.push((*variable, value));
        }
        Ok(Answer::Values(assigned))
    }
}
