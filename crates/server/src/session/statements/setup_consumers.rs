//! `UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE …`: what is collected.
//!
//! The condition is evaluated by a query of the same table. Consumers of events that do not exist here stay off, with a
//! warning.

use super::query::collect;
use crate::performance_schema::DATABASE;
use crate::running_plan::PlanToRun;
use crate::session::execution::Execution;
use crate::session::planning::CONSUMERS_TABLE as TABLE;
use crate::session::protocol::{Reply, RowCollector};
use crate::session::state::SessionState;
use crate::statement_history::Consumer;
use paceline_expression::session::Privilege;
use paceline_syntax::ast::{Expr, Literal, QueryBody};
use paceline_syntax::{AssignedValue, Error, ParseOptions, Result, Statement, Update, parse_first};
use paceline_types::Value;
use paceline_types::error_code::*;

/// Executes the statement.
///
/// # Errors
/// 1142 without the privilege UPDATE; 1683 for another column; 1265 for a value other than YES and NO; 1235 for ORDER
/// BY and LIMIT; those of the condition.
pub async fn execute(update: &Update, state: &mut SessionState, execution: Execution<'_>) -> Result<Reply> {
    let authority = state.services.authority(&state.context);
    authority.check_table(&[Privilege::Update], DATABASE, TABLE)?;
    let is_on = assigned(update)?;
    if !update.order_by.is_empty() || update.limit.is_some() {
        return Err(Error::unsupported("ORDER BY and LIMIT for setup_consumers"));
    }
    let text = format!("SELECT NAME, ENABLED FROM {DATABASE}.{TABLE}");
    let mut query = parse_first(text.as_bytes(), &ParseOptions::default())?.statement;
    if let Statement::Query(query) = &mut query
        && let QueryBody::Select(select) = &mut query.query.body
    {
        select.from.clone_from(&update.tables);
        select.condition.clone_from(&update.selection);
    }
    let plan = state.plan(&query)?;
    let collected = collect(
        PlanToRun::Private(&plan),
        state,
        execution,
        RowCollector::default(),
    )
    .await?;
    let Some((rows, _)) = collected else {
        return Err(Error::new(ER_TABLE_DEF_CHANGED, &[]));
    };
    let (mut matched, mut changed) = (0_u64, 0);
    for row in &rows.rows {
        let [Value::Text(name), Value::Enum(enabled)] = &row[..] else {
            continue;
        };
        matched += 1;
        match Consumer::of_name(name) {
            Some(consumer) => {
                changed += u64::from((enabled.label() == "YES") != is_on);
                state.server.statement_history.consumers.set(consumer, is_on);
            }
            None if is_on => state
                .context
                .diagnostics
                .warn(ER_NOT_SUPPORTED_YET, ER_NOT_SUPPORTED_YET.message(&[name])),
            None => {}
        }
    }
    let warnings = state.context.diagnostics.warning_count_u16();
    Ok(Reply::Ok {
        affected_rows: changed,
        last_insert_id: 0,
        info: format!("Rows matched: {matched}  Changed: {changed}  Warnings: {warnings}"),
    })
}

/// Returns the value that is assigned to ENABLED.
fn assigned(update: &Update) -> Result<bool> {
    let [assignment] = &update.assignments[..] else {
        return Err(Error::new(ER_WRONG_PERFSCHEMA_USAGE, &[]));
    };
    if !assignment.column.name.eq_ignore_ascii_case("enabled") {
        return Err(Error::new(ER_WRONG_PERFSCHEMA_USAGE, &[]));
    }
    if let AssignedValue::Expr(Expr::Literal(Literal::Text(value))) = &assignment.value {
        if value.eq_ignore_ascii_case("YES") {
            return Ok(true);
        }
        if value.eq_ignore_ascii_case("NO") {
            return Ok(false);
        }
    }
    Err(Error::new(WARN_DATA_TRUNCATED, &[&"ENABLED", &1]))
}
