//! Limits of modules and calls.

use crate::ticker::TICK;

/// Maximum number of bytes of a module.
pub const MODULE_BYTES_MAX: usize = 4 << 20;
/// Bytes of the stack of a module's code.
pub const STACK_BYTES: usize = 512 << 10;

/// Limits of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum memory of an instance, in bytes.
    pub memory_bytes: usize,
    /// Maximum time of a call, in milliseconds; it ends at most two ticks later.
    pub call_ms: u64,
}

impl Limits {
    /// Returns the number of ticks of the maximum time.
    pub(crate) fn ticks(&self) -> u64 {
        (self.call_ms / TICK.as_millis() as u64).saturating_add(1)
    }
}
