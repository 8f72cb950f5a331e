//! The memory of the process: purposes, and the division of its limit. What measures a server is in
//! [`memory_control`](crate::memory_control).

mod division;
mod machine;
mod purpose;

pub use division::{MemoryDivision, Shares, Sizes};
pub use machine::{machine_bytes, resident};
pub use purpose::{MemoryPart, Purpose};
