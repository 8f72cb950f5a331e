//! Effects of assigned variables beyond the session's values: on the connection, the statement logs and the client's
//! copies.

use super::protocol::Connection;
use super::state::SessionState;
use crate::variables::{Scope, Variable};
use paceline_wire::session_state::StateChange;

/// Applies the variables that concern the connection and the statement logs.
pub fn heed_variables(state: &mut SessionState, connection: &mut Connection) {
    let services = state.services.clone();
    let values = services.values.lock();
    connection.heed(&values);
    state.heed_log_settings(&values);
    state.tracking.heed(&values);
}

/// Reports a changed variable to the client, if the client tracks it.
pub fn track(variable: Variable, state: &mut SessionState) {
    state.tracking.note_state_change();
    if state.services.tracks(variable) {
        let value = state
            .services
            .show(&state.context, variable, Scope::Both)
            .unwrap_or_default();
        state.changes.add(&StateChange::SystemVariable {
            name: variable.definition().name.into(),
            value,
        });
    }
}

/// Applies the assignments of programs within the client's statement to the connection and the statement logs, and
/// reports them to the client.
pub fn heed_programs(state: &mut SessionState, connection: &mut Connection) {
    let next = std::mem::take(&mut *state.services.next_by_programs.lock());
    state.transaction.set_next(next.isolation, next.access);
    let changed = std::mem::take(&mut *state.services.set_by_programs.lock());
    if changed.is_empty() {
        return;
    }
    for variable in changed {
        track(variable, state);
    }
    heed_variables(state, connection);
}
