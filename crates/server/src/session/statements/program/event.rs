//! The body of an event, as a program without parameters.

use super::run;
use crate::session::execution::Execution;
use crate::session::protocol::Connection;
use crate::session::state::SessionState;
use crate::session::statements::dispatcher::Dispatcher;
use paceline_catalog::EventDefinition;
use paceline_query::program::{enter_routine, leave_routine};
use paceline_syntax::Result;

/// Runs the body of an event in a session of its definer.
///
/// # Errors
/// The error for which there was no handler; 1457 for a body that this version cannot parse.
pub async fn run_event(
    event: &EventDefinition,
    state: &mut SessionState,
    connection: &mut Connection,
    execution: Execution<'_>,
    dispatcher: impl Dispatcher,
) -> Result<()> {
    let code = event.compiled()?;
    let saved = enter_routine(
        &event.environment.settings(),
        &event.database,
        None,
        &mut state.context,
    )?;
    let done = match state.take_program(&code) {
        Ok(mut prepared) => {
            let name = format!("{}.{}", event.database, event.name);
            run(
                &mut prepared,
                Vec::new(),
                &name,
                state,
                connection,
                execution,
                dispatcher,
            )
            .await
            .map(|_| ())
        }
        Err(error) => Err(error),
    };
    leave_routine(saved, &mut state.context);
    done
}
