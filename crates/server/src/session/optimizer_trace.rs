//! Trace of the session's latest planned statement: `information_schema.OPTIMIZER_TRACE`.
//!
//! A statement is traced when it is planned: by its client's text, at PREPARE, when a prepared statement is planned
//! again, and within a program. A trace is kept until the next one, also when `optimizer_trace` is off by then.
//!
//! # Privileges
//! The trace shows names, conditions and numbers of rows of all tables, so it needs what executing the statement needs,
//! and for views also what EXPLAIN needs. Without that the row says INSUFFICIENT_PRIVILEGES, and has no trace. Which
//! tables a statement names that could not be planned is not known, so its trace has no steps.
//!
//! # Limits
//! `optimizer_trace_max_mem_size`, and at most [`TRACE_BYTES_MAX`]. The text is charged to the session. Where it may
//! have no more memory, the whole trace is missing.

use super::services::StatementTrace;
use super::state::SessionState;
use crate::accounts::checks::{check_explain, check_plan};
use paceline_expression::session::MemoryCharge;
use paceline_query::Error;
use paceline_query::plan::{Plan, PlanContext, TracedPlan, plan_with_optimizer_trace};
use paceline_syntax::Statement;

/// Maximum length of a trace in bytes, whatever the session asks for.
const TRACE_BYTES_MAX: usize = 16 << 20;

/// Trace of a statement that could not be planned.
const EMPTY: &str = "{\n  \"steps\": []\n}";

impl SessionState {
    /// Plans a statement, and keeps the trace.
    #[cold]
    pub(super) fn plan_traced(
        &self,
        statement: &Statement,
        context: &PlanContext<'_>,
    ) -> Result<Plan, Error> {
        let bytes_max = self
            .context
            .settings
            .optimizer_trace
            .bytes_max
            .min(TRACE_BYTES_MAX);
        let TracedPlan {
            planned,
            mut trace,
            mut missing_bytes,
        } = plan_with_optimizer_trace(statement, context, bytes_max);
        if planned.as_ref().is_ok_and(reads_traces) {
            return planned;
        }
        let authority = self.services.authority(&self.context);
        let may_see = |plan: &Plan| {
            check_plan(authority, plan)
                .and_then(|()| check_explain(authority, plan))
                .is_ok()
        };
        let is_denied = match &planned {
            Ok(plan) => !may_see(plan),
            Err(_) => false,
        };
        if is_denied || planned.is_err() {
            trace.clear();
            missing_bytes = 0;
        }
        if planned.is_err() {
            trace.push_str(EMPTY);
        }
        let query = String::from_utf8_lossy(&self.shared.activity().text).into_owned();
        let mut memory = MemoryCharge::new(&self.context.memory);
        if memory.set(trace.len() + query.len()).is_err() {
            missing_bytes += trace.len();
            trace.clear();
        }
        *self.services.optimizer_trace.lock() = Some(StatementTrace {
            query,
            trace,
            missing_bytes,
            is_denied,
            _memory: memory,
        });
        planned
    }
}

/// Returns whether a statement reads the trace of the one before, which it must not replace.
fn reads_traces(plan: &Plan) -> bool {
    plan.tables().iter().any(|table| {
        table
            .database
            .eq_ignore_ascii_case(crate::information_schema::DATABASE)
            && table.name.eq_ignore_ascii_case("OPTIMIZER_TRACE")
    })
}
