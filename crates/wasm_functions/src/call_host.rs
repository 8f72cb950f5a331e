//! The statement for which a function runs.

use crate::error::HostError;

/// Decides while a function runs whether it may go on, and pays for its memory.
pub trait CallHost: Send {
    /// Returns the reason why the statement has to end, if there is one.
    fn interruption(&self) -> Option<HostError>;

    /// Charges the instance's memory, which has this size from now on.
    ///
    /// # Errors
    /// The statement may not have so much; it ends.
    fn charge(&mut self, bytes: usize) -> Result<(), HostError>;
}
