//! Functions in WebAssembly: from a stored function's definition to a call of its module.
//!
//! ```text
//!   CREATE FUNCTION … LANGUAGE WASM AS …   checked here; stored and logged like any function, the module in its text
//!   call ─▶ ProgramHost::call_module ─▶ StatementModules ─▶ Instance, one for each function and statement
//!                                            │
//!                                            └─ Modules: compiled, shared by the sessions
//! ```
//! A call is one of a stored function: privileges, definer, replication (rows) and recursion are those. The module reads
//! tables with the privileges of the function's definer, or of its caller with SQL SECURITY INVOKER, in the statement's
//! transaction ([`lent_tables`]).
//!
//! A build without the compiler (`--no-default-features`) accepts the definitions of other servers, and refuses to
//! create and to call such functions with 1289.

#[cfg(feature = "wasm")]
mod lent_tables;
#[cfg(feature = "wasm")]
mod modules;
#[cfg(feature = "wasm")]
mod statement_modules;
#[cfg(not(feature = "wasm"))]
mod without;

#[cfg(feature = "wasm")]
pub use modules::Modules;
#[cfg(feature = "wasm")]
pub use statement_modules::StatementModules;
#[cfg(not(feature = "wasm"))]
pub use without::{Modules, StatementModules};
