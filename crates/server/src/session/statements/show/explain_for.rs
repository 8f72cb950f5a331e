//! SHOW EXPLAIN, EXPLAIN FOR CONNECTION, SHOW ANALYZE: the plan of a statement that another session runs
//! ([`crate::running_plan`]).

use crate::accounts::checks::check_explain;
use crate::registry::{SessionHandle, now_micros};
use crate::session::protocol::Output;
use crate::session::services::on_text;
use crate::session::state::SessionState;
use paceline_expression::session::{PlanRequest, Privilege, ServerFunctions};
use paceline_query::plan::{Plan, shown_plan_columns};
use paceline_query::program::evaluate_typed;
use paceline_syntax::ast::{Expr, UnaryOp};
use paceline_syntax::{Error, ExplainFlavour, Result};
use paceline_types::Value;
use paceline_types::error_code::*;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tokio::time::timeout;

/// Maximum time to wait for the measurements of another session, as in MariaDB. It does not answer while it waits.
const ANSWER_AFTER_MAX: Duration = Duration::from_secs(30);

/// Time between two checks whether this session was killed while it waits.
const CHECK_EVERY: Duration = Duration::from_millis(100);

/// Returns the plan of the statement that a session runs.
///
/// # Errors
/// 1204 if the id is not a literal, 1094 if there is no such session, 1227 if it is of another account, 1345 for a view
/// that the account may not see, 1933 if the session executes no statement that EXPLAIN describes, 1205 if it did not
/// answer.
pub(super) async fn plan_of(
    flavour: ExplainFlavour,
    connection: &Expr,
    state: &mut SessionState,
) -> Result<Output> {
    let id = connection_id(connection, state)?;
    let session = u32::try_from(id)
        .ok()
        .and_then(|id| state.server.sessions.get(id));
    let session = session.ok_or_else(|| Error::new(ER_NO_SUCH_THREAD, &[&id]))?;
    let activity = session.activity();
    let sees_all = state
        .services
        .require_any(&[Privilege::Process, Privilege::Super])
        .is_ok();
    if activity.user != state.context.user.user && !sees_all {
        return Err(Error::new(ER_SPECIFIC_ACCESS_DENIED_ERROR, &[&"PROCESS"]));
    }
    if session.id == state.shared.id {
        return Err(no_plan());
    }
    let text_bytes = activity.text.len();
    let authority = state.services.authority(&state.context);
    let described: Option<Result<Described>> = on_text(text_bytes, || {
        session.running_plan.describe(|plan| {
            // Executing a view does not need what seeing its tables needs.
            if !sees_all {
                check_explain(authority, plan)?;
            }
            Ok(describe(plan, flavour, &session))
        })
    });
    let rows = match described.ok_or_else(no_plan)?? {
        Described::Rows(rows) => rows,
        Described::Nothing => return Err(no_plan()),
        Described::IsMeasured => measured_rows(flavour, &session, state).await?,
    };
    let text = String::from_utf8_lossy(&activity.text).into_owned();
    state.context.diagnostics.note(ER_YES, text);
    Ok(Output::of_rows(shown_plan_columns(flavour), rows))
}

fn no_plan() -> Error {
    Error::new(ER_TARGET_NOT_EXPLAINABLE, &[])
}

/// Returns the id of a session, which must be a literal.
fn connection_id(expr: &Expr, state: &mut SessionState) -> Result<u64> {
    let literal = match expr {
        Expr::Unary {
            op: UnaryOp::Minus,
            operand,
        } => operand,
        expr => expr,
    };
    if !matches!(literal, Expr::Literal(_) | Expr::Introduced { .. }) {
        return Err(Error::new(ER_SET_CONSTANTS_ONLY, &[]));
    }
    Ok(match evaluate_typed(expr, &[], &mut state.context)?.0 {
        Value::Int(id) => id.cast_unsigned(),
        Value::UInt(id) => id,
        Value::Text(text) => {
            let digits = text.trim_start();
            let end = digits
                .find(|byte: char| !byte.is_ascii_digit())
                .unwrap_or(digits.len());
            digits[..end].parse().unwrap_or(0)
        }
        Value::Decimal(number) => number
            .to_string()
            .parse::<f64>()
            .map_or(0, |number| number.round() as u64),
        Value::Double(number) => number.round() as u64,
        _ => 0,
    })
}

enum Described {
    Rows(Vec<Vec<Value>>),
    /// The statement has no plan in EXPLAIN's terms.
    Nothing,
    /// The session itself has the rows.
    IsMeasured,
}

fn describe(plan: &Plan, flavour: ExplainFlavour, session: &SessionHandle) -> Described {
    if plan.is_measured() && flavour.is_analyzed() {
        return Described::IsMeasured;
    }
    let micros = now_micros() - session.activity().since_micros;
    let time = Duration::from_micros(u64::try_from(micros).unwrap_or(0));
    match plan.explanation() {
        Some(explanation) => Described::Rows(explanation.rows_while_running(flavour, time)),
        None => Described::Nothing,
    }
}

/// Asks a session for the plan of its statement with the measurements so far.
async fn measured_rows(
    flavour: ExplainFlavour,
    session: &Arc<SessionHandle>,
    state: &SessionState,
) -> Result<Vec<Vec<Value>>> {
    let (sender, mut rows) = oneshot::channel();
    session.running_plan.ask(PlanRequest {
        flavour,
        answer: Box::new(move |rows| {
            // This session may have been killed.
            let _ = sender.send(rows);
        }),
    });
    let started = Instant::now();
    while started.elapsed() < ANSWER_AFTER_MAX {
        if let Ok(answer) = timeout(CHECK_EVERY, &mut rows).await {
            // The sender is dropped when the statement has ended.
            return answer.map_err(|_| no_plan());
        }
        state.services.check_interrupt(&state.context)?;
        // It may have ended just before it was asked.
        if session.running_plan.describe(Plan::is_measured) != Some(true) {
            return Err(no_plan());
        }
    }
    Err(Error::new(ER_LOCK_WAIT_TIMEOUT, &[]))
}
