//! Queries and changes of rows in a program: cached plans, INTO, cursors.

use super::Driver;
use crate::session::execution::Execution;
use crate::session::planning::ATTEMPTS_MAX;
use crate::session::replies::ReplyWriter;
use crate::session::statements::query::{collect, run_plan};
use paceline_program::Answer;
use paceline_query::execute::{CursorSink, RowSink, SingleRow};
use paceline_query::plan::{Plan, is_to_be_planned_again};
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
            && !is_to_be_planned_again(&kept.plan, kept.rows_read)
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
        let answer = single.assign(targets, &self.types, &mut self.state.context)?;
        self.affected_rows += u64::try_from(self.state.context.row_count).unwrap_or(0);
        Ok(answer)
    }

    /// Executes the query of a cursor.
    pub(super) async fn open(
        &mut self,
        cursor: usize,
        query: &SqlStatement,
        values: &[Value],
    ) -> Result<Answer> {
        let sink = self.collect::<CursorSink>(query, values).await?;
        self.cursors.open(cursor, sink, &self.state.context)
    }
}
