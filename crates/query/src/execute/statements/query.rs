//! SELECT: to the sink, or into user variables.

use std::ops::ControlFlow;

use paceline_types::Value;
use paceline_types::error_code::{ER_SP_FETCH_NO_DATA, ER_TOO_MANY_ROWS};

use crate::error::{Error, Result};
use crate::execute::context::Execution;
use crate::execute::interface::{Outcome, RowSink};
use crate::execute::operators::query::run_statement;
use crate::plan::tree::QueryPlan;
use crate::plan::{QueryStatementPlan, ResultColumn};
use paceline_expression::session::UserVariable;

/// Executes a SELECT. Without its own LIMIT it returns at most `rows_max` rows.
pub(super) fn execute(
    exec: &mut Execution<'_, '_>,
    plan: &QueryStatementPlan,
    rows_max: u64,
    columns: &[ResultColumn],
    sink: &mut dyn RowSink,
) -> Result<Outcome> {
    if let Some(names) = &plan.into {
        return select_into(exec, &plan.query, rows_max, names);
    }
    sink.columns(columns)?;
    let mut sent = 0;
    let found = run_statement(exec, &plan.query, rows_max, &mut |_, row| {
        sent += 1;
        sink.row(row)?;
        Ok(ControlFlow::Continue(()))
    })?;
    exec.session.found_rows = found.unwrap_or(sent);
    Ok(Outcome {
        result_set: true,
        rows_sent: sent,
        ..Outcome::default()
    })
}

/// Executes `SELECT … INTO @a, @b`.
fn select_into(
    exec: &mut Execution<'_, '_>,
    query: &QueryPlan,
    rows_max: u64,
    names: &[String],
) -> Result<Outcome> {
    let mut found: Option<Vec<Value>> = None;
    run_statement(exec, query, rows_max, &mut |_, row| {
        if found.is_some() {
            return Err(Error::new(ER_TOO_MANY_ROWS, &[]));
        }
        found = Some(row.to_vec());
        Ok(ControlFlow::Continue(()))
    })?;
    match found {
        Some(row) => {
            for ((name, value), ty) in names.iter().zip(row).zip(&query.types) {
                let variable = UserVariable::new(&value, ty.clone(), &exec.session.settings.time_zone);
                exec.session.user_variables.set(&name.to_lowercase(), variable)?;
            }
            Ok(Outcome {
                affected_rows: 1,
                ..Outcome::default()
            })
        }
        None => {
            exec.session.diagnostics.warn(
                ER_SP_FETCH_NO_DATA,
                "No data - zero rows fetched, selected, or processed",
            );
            Ok(Outcome::default())
        }
    }
}
