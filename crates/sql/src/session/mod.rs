//! What statements read of a session.

mod sql_mode;

pub use sql_mode::SqlMode;
