//! Functions in WebAssembly: their compiled modules.
//!
//! ```text
//!   CREATE FUNCTION … LANGUAGE WASM AS …   checked here; stored and logged like any function, the module in its text
//!   call ─▶ ProgramHost::call_module ─▶ session::module_calls ─▶ Modules: compiled, shared by the sessions
//! ```
//! A call is one of a stored function: privileges, definer, replication (rows) and recursion are those.
//!
//! A build without the compiler (`--no-default-features`) accepts the definitions of other servers, and refuses to
//! create and to call such functions with 1289.

#[cfg(feature = "wasm")]
mod compiled;
#[cfg(not(feature = "wasm"))]
mod without;

#[cfg(feature = "wasm")]
pub use compiled::Modules;
#[cfg(feature = "wasm")]
pub use paceline_wasm_functions::MODULE_BYTES_MAX;
#[cfg(not(feature = "wasm"))]
pub use without::{MODULE_BYTES_MAX, Modules, disabled};
