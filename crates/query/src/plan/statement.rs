//! Entry point of the planner: planning of a statement.

use std::sync::Arc;

use super::block::{BindMode, Block};
use super::planner::{Merging, PlanContext, Planner};
use super::result_column::ResultColumn;
use super::statement_plan::{Plan, PlanKind, PointRead, QueryStatementPlan};
use super::trace::Trace;
use super::tree;
use crate::error::{Error, Result};
use paceline_syntax::Statement;

/// Plans a statement: [`Statement::Query`], `Insert`, `Update`, `Delete`, `LoadData`, `Do` and `Explain` of those.
///
/// # Errors
/// MariaDB's errors for unknown names, wrong column counts and the like (1054, 1146, …), and 1235 for unsupported
/// features.
pub fn plan_statement(statement: &Statement, context: &PlanContext<'_>) -> Result<Plan> {
    plan_traced(statement, context, Trace::default).0
}

/// Plans a statement. Returns what each pass of the planner has changed, as text.
///
/// # Errors
/// As [`plan_statement`].
pub fn trace_passes(statement: &Statement, context: &PlanContext<'_>) -> Result<String> {
    let (planned, trace) = plan_traced(statement, context, Trace::on);
    planned?;
    Ok(trace.into_text().0)
}

/// Plan of a statement with the optimizer trace.
pub struct TracedPlan {
    /// The plan, or the error that ended the planning.
    pub planned: Result<Plan>,
    /// The trace as JSON.
    pub trace: String,
    /// Number of bytes that the trace lacks.
    pub missing_bytes: usize,
}

/// Plans a statement like [`plan_statement`]. Returns what the planner has considered, in at most `bytes_max` bytes.
pub fn plan_with_optimizer_trace(
    statement: &Statement,
    context: &PlanContext<'_>,
    bytes_max: usize,
) -> TracedPlan {
    let (planned, trace) = plan_traced(statement, context, || Trace::of_optimizer(bytes_max));
    let (trace, missing_bytes) = trace.into_text();
    TracedPlan {
        planned,
        trace,
        missing_bytes,
    }
}

fn plan_traced(
    statement: &Statement,
    context: &PlanContext<'_>,
    trace: impl Fn() -> Trace,
) -> (Result<Plan>, Trace) {
    let mut planner = Planner::new(*context, trace());
    let mut planned = planner.plan(statement);
    if planned.is_err() && planner.merging.get() == Merging::Refused {
        // A subquery can read only columns of the outer query. A view whose rows are computed first has columns.
        planner = Planner::new(*context, trace());
        planner.merging.set(Merging::Never);
        planned = planner.plan(statement);
    }
    if planned.is_ok() && planner.variables.are_both() {
        let (merging, variables) = (planner.merging.get(), planner.variables.again());
        planner = Planner::new(*context, trace());
        planner.merging.set(merging);
        planner.variables = variables;
        planned = planner.plan(statement);
    }
    let trace = std::mem::take(&mut planner.trace);
    let plan = planned.map(|(kind, columns)| planner.finish(kind, columns));
    (plan, trace)
}

impl Planner<'_> {
    pub fn plan(&self, statement: &Statement) -> Result<(PlanKind, Vec<ResultColumn>)> {
        self.reads.set(match statement {
            Statement::Insert(insert) if matches!(insert.source, paceline_syntax::InsertSource::Query(_)) => {
                tree::ReadMode::Source(tree::SourceLocks::FromRepeatableRead)
            }
            Statement::Update(_) => tree::ReadMode::Source(tree::SourceLocks::FromRepeatableRead),
            Statement::Insert(_) | Statement::Delete(_) | Statement::Do(_) => {
                tree::ReadMode::Source(tree::SourceLocks::Always)
            }
            _ => tree::ReadMode::Snapshot,
        });
        match statement {
            Statement::Query(query) => self.plan_query_statement(query),
            Statement::Insert(insert) => self.plan_insert(insert),
            Statement::Update(update) => self.plan_update(update),
            Statement::Delete(delete) => self.plan_delete(delete),
            Statement::LoadData(load) => self.plan_load(load),
            Statement::Do(exprs) => self.plan_do(exprs),
            Statement::Handler(handler) => self.plan_handler(handler),
            Statement::Explain(explain) => self.plan_explain(explain),
            _ => Err(Error::unsupported(
                "this command in the prepared statement protocol",
            )),
        }
    }

    fn plan_query_statement(
        &self,
        statement: &paceline_syntax::QueryStatement,
    ) -> Result<(PlanKind, Vec<ResultColumn>)> {
        let into = match &statement.into {
            // The caller writes the file.
            None
            | Some(paceline_syntax::SelectInto::Outfile { .. } | paceline_syntax::SelectInto::Dumpfile(_)) => {
                None
            }
            Some(paceline_syntax::SelectInto::Variables(targets)) => Some(
                (targets.iter())
                    .map(|target| match target {
                        paceline_syntax::Target::User(name) => Ok(name.clone()),
                        // A stored program executes such a query without INTO.
                        paceline_syntax::Target::Variable(_) => {
                            Err(Error::unsupported("INTO a variable here"))
                        }
                    })
                    .collect::<Result<Vec<_>>>()?,
            ),
        };
        let query = self.plan_top_query(&statement.query)?;
        if let Some(names) = &into
            && names.len() != query.columns.len()
        {
            return Err(Error::new(
                paceline_types::error_code::ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT,
                &[],
            ));
        }
        let columns = query.columns.clone();
        let point = if into.is_none() {
            PointRead::of(&query)
        } else {
            None
        };
        Ok((
            PlanKind::Query(QueryStatementPlan {
                query: Arc::new(query),
                into,
                point,
            }),
            columns,
        ))
    }

    fn plan_do(&self, exprs: &[paceline_syntax::ast::Expr]) -> Result<(PlanKind, Vec<ResultColumn>)> {
        let mut block = Block::new(self, None);
        let mut bound = Vec::with_capacity(exprs.len());
        for expr in exprs {
            let mode = BindMode {
                clause_name: "DO",
                ..BindMode::values()
            };
            bound.push(block.bind(expr, mode)?);
        }
        Ok((PlanKind::Do(bound), Vec::new()))
    }
}
