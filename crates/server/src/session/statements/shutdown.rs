//! SHUTDOWN.

use crate::server::Hosting;
use crate::session::protocol::Reply;
use crate::session::services::SessionServices;
use paceline_expression::session::{Privilege, SessionContext};
use paceline_syntax::{Error, Result};
use paceline_types::error_code::ER_NOT_SUPPORTED_YET;

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
/// 1227; 1235 within another program, which closes its server itself, as in MariaDB's embedded server.
pub fn shut_down(services: &SessionServices, context: &SessionContext) -> Result<()> {
    services.require_any(&[Privilege::Shutdown])?;
    if services.server.hosting == Hosting::OtherProgram {
        return Err(Error::new(ER_NOT_SUPPORTED_YET, &[&"embedded server"]));
    }
    tracing::info!("shutdown asked for by {}", context.user);
    services.server.request_shutdown();
    Ok(())
}
