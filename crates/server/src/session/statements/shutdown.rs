//! SHUTDOWN.

use crate::session::protocol::Reply;
use crate::session::services::SessionServices;
use paceline_expression::session::{Privilege, SessionContext};
use paceline_syntax::Result;

/// Executes SHUTDOWN.
///
/// # Errors
/// 1227.
pub fn execute(services: &SessionServices, context: &SessionContext) -> Result<Reply> {
    shut_down(services, context)?;
    Ok(Reply::ok())
}

/// Requests the shutdown of the server.
///
/// # Errors
/// 1227.
pub fn shut_down(services: &SessionServices, context: &SessionContext) -> Result<()> {
    services.require_any(&[Privilege::Shutdown])?;
    tracing::info!("shutdown asked for by {}", context.user);
    services.server.request_shutdown();
    Ok(())
}
