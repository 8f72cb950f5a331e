//! A statement that is being prepared, by COM_STMT_PREPARE, PREPARE or EXECUTE IMMEDIATE.

use super::parsing::{ClientStatement, syntax_error_near};
use super::planning::switches_consumers;
use super::state::SessionState;
use crate::accounts::checks::check_plan;
use paceline_expression::session::MemoryCharge;
use paceline_query::plan::Plan;
use paceline_syntax::{Error, QueryStatement, Result, SelectInto, Statement};
use paceline_types::error_code::*;
use std::sync::Arc;

/// A parsed statement that is being prepared.
pub struct Preparation {
    /// The statement.
    pub statement: Arc<Statement>,
    /// Its text, without passwords.
    pub text: Vec<u8>,
    /// Number of its parameters.
    pub parameters: usize,
    /// Memory of the statement.
    pub memory: MemoryCharge,
}

/// Memory of a prepared statement besides its text and tree, in bytes.
const PREPARED_BYTES: usize = 1024;

/// Parses a text that must be a single statement of a kind that can be prepared.
///
/// # Errors
/// 1064 for several statements; 1295 for a kind that cannot be prepared; 1390 for too many parameters; the errors of
/// the parser.
pub fn parse_to_prepare(text: Vec<u8>, state: &mut SessionState) -> Result<Preparation> {
    let ClientStatement { parsed, mut memory } = state.parse(&text)?;
    // The statement is kept, so its memory counts even if it is small.
    memory.set(parsed.memory_bytes + PREPARED_BYTES)?;
    if let Some(next) = parsed.next {
        return Err(syntax_error_near(&String::from_utf8_lossy(&text[next..])));
    }
    if matches!(
        parsed.statement,
        Statement::Prepare { .. }
            | Statement::Execute { .. }
            | Statement::ExecuteImmediate { .. }
            | Statement::Deallocate(_)
    ) {
        return Err(Error::new(ER_UNSUPPORTED_PS, &[]));
    }
    if parsed.parameters > usize::from(u16::MAX) {
        return Err(Error::new(ER_PS_MANY_PARAM, &[]));
    }
    state.warn_of_syntax(&parsed);
    let text = state.shown_text(&parsed, &text).into_owned();
    Ok(Preparation {
        statement: Arc::new(parsed.statement),
        text,
        parameters: parsed.parameters,
        memory,
    })
}

/// Plans a statement that is being prepared. Returns `None` for a kind that is not planned.
///
/// # Errors
/// The errors of the planner and of the privilege checks.
pub fn plan_to_prepare(statement: &Statement, state: &mut SessionState) -> Result<Option<Arc<Plan>>> {
    if matches!(statement, Statement::Update(update) if switches_consumers(update, state)) {
        return Ok(None);
    }
    if matches!(statement, Statement::Ddl(_)) {
        state.context.diagnostics.forget_earlier();
    }
    if !matches!(
        statement,
        Statement::Query(_)
            | Statement::Insert(_)
            | Statement::Update(_)
            | Statement::Delete(_)
            | Statement::Do(_)
    ) {
        return Ok(None);
    }
    let plan = state.plan_for(statement, &[])?;
    if !plan.tables().is_empty() {
        state.context.diagnostics.forget_earlier();
    }
    // The columns are sent before anything is executed.
    check_plan(state.services.authority(&state.context), &plan)?;
    Ok(match statement {
        // The rows are not sent to the client.
        Statement::Query(query) if writes_file(query) => None,
        _ => Some(Arc::new(plan)),
    })
}

fn writes_file(query: &QueryStatement) -> bool {
    matches!(
        query.into,
        Some(SelectInto::Outfile { .. } | SelectInto::Dumpfile(_))
    )
}
