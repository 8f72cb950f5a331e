//! The experiments, a module each.

pub mod fsyncs;
pub mod hot_row;
pub mod linking;
pub mod mutex;
pub mod scheduling;
pub mod thread_state;
pub mod wakeup;
