//! Stored programs: what their execution needs of a session.
//!
//! The crate `program` says what a program needs next. Who executes it depends on the program: a procedure can commit
//! and send rows, so the server runs it; functions and triggers run within one statement, and [`crate::execute`] runs
//! them.
//! Both use this module.
//!
//! | module | subject |
//! |---|---|
//! | [`variables`] | types of variables; conversion of their values |
//! | [`prepared`] | a program with its bound expressions and plans |
//! | [`cache`] | prepared programs that a session keeps |
//! | [`arguments`] | arguments of CALL; limits of recursion |
//! | [`frame`] | the settings that a stored program runs with |
//! | [`conditions`] | errors and warnings in the form in which handlers are found |
//! | [`signal`], [`diagnostics`], [`evaluate`] | SIGNAL, GET DIAGNOSTICS, expressions without tables |

mod arguments;
mod cache;
mod conditions;
mod diagnostics;
mod evaluate;
mod frame;
mod prepared;
mod row_assignment;
mod signal;
mod variables;

pub use arguments::{check_recursion, output_targets};
pub use cache::ProgramCache;
pub use conditions::{Handling, error_of, raised_of, warnings};
pub use diagnostics::{diagnostics_values, get_diagnostics, set_typed_user_variable, set_user_variable};
pub use evaluate::{evaluate_typed, needs_plan, setting_value};
pub use frame::{CallerSettings, enter_routine, leave_routine};
pub use prepared::{Evaluation, PreparedProgram};
pub use row_assignment::RowAssignment;
pub use signal::signal;
pub use variables::{VariableTypes, convert_returned, is_true};
