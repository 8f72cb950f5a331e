//! How the host ends a running call.

use crate::error::HostError;

/// Asked while a function runs whether it may go on.
pub trait Interrupt: Send {
    /// Returns the reason why the statement has to end, if there is one.
    fn raised(&self) -> Option<HostError>;
}
