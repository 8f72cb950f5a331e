//! Stored programs: what their execution needs of a session.
//!
//! The crate `program` says what a program needs next. Who executes it depends on the program: a procedure can commit and
//! send rows, so the server runs it; functions and triggers run within one statement, and
//! [`crate::execute`] runs them. Both use this module: [`VariableTypes`] convert values for variables, a
//! [`RoutineFrame`] gives the session the settings of a routine while it runs.

mod frame;
mod variables;

pub use frame::{CallerSettings, enter_routine, leave_routine};
pub use variables::{VariableTypes, is_true};
