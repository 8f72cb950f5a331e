//! The memory of the process: purposes, and the division of its limit. What measures a server is in
//! [`memory_control`](crate::memory_control).

mod division;
mod machine;
mod purpose;
mod session_use;

pub use division::{MemoryDivision, Shares, Sizes};
pub use machine::{machine_bytes, resident};
pub use purpose::{MemoryPart, Purpose};
pub use session_use::{CONNECTION_BYTES, SessionUse};
