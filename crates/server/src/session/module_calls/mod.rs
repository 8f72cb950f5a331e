//! Calls of functions in WebAssembly within a statement.
//!
//! ```text
//!   ProgramHost::call_module ─▶ StatementModules ─▶ Instance, one for each function and statement
//!                                                      │ reads
//!                                                      ▼
//!                                                  LentTables: rows in the statement's transaction
//! ```
//! A module reads tables with the privileges of the function's definer, or of its caller with SQL SECURITY INVOKER.

#[cfg(feature = "wasm")]
mod lent_tables;
#[cfg(feature = "wasm")]
mod statement_modules;
#[cfg(not(feature = "wasm"))]
mod without;

#[cfg(feature = "wasm")]
pub use statement_modules::StatementModules;
#[cfg(not(feature = "wasm"))]
pub use without::StatementModules;
