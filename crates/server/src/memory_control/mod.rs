//! The memory of a server: what it is used for, and how it is kept within its limit.

mod limit;
mod usage;

pub use limit::{divide_memory, fit_to_limit, keep_within_limit};
pub use usage::memory_usage;
