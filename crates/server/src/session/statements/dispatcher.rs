//! The dispatcher, as the kinds of statements see it that contain others.
//!
//! SET STATEMENT … FOR, EXECUTE and programs execute statements of any kind. They receive the dispatcher as an
//! argument, so that only it depends on the kinds, and no kind on it. It is a type parameter: a statement within
//! another one costs no allocation and no dynamic call for this.

use crate::session::execution::Execution;
use crate::session::protocol::Connection;
use crate::session::state::SessionState;
use paceline_syntax::{Result, Statement};

/// Dispatcher of statements to the functions of their kinds.
pub trait Dispatcher: Copy {
    /// Executes a statement of any kind and writes its reply.
    ///
    /// # Errors
    /// The error to send to the client.
    async fn execute(
        self,
        statement: &Statement,
        state: &mut SessionState,
        connection: &mut Connection,
        execution: Execution<'_>,
    ) -> Result<()>;
}
