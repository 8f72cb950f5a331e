//! Calls of functions in WebAssembly within a statement.
//!
//! ```text
//!   ProgramHost::call_module ─▶ StatementModules ─▶ Instance, one for each function and statement
//!                                                      │ reads
//!                                                      ▼
//!                                                  CallTables: rows in the statement's transaction
//! ```
//! A module reads tables with the privileges of the function's definer, or of its caller with SQL SECURITY INVOKER.

#[cfg(feature = "wasm")]
mod call_tables;
#[cfg(feature = "wasm")]
mod statement_modules;
#[cfg(not(feature = "wasm"))]
mod without;

use super::services::SessionServices;
use paceline_catalog::Catalog;
use paceline_expression::session::SessionContext;
use paceline_txn::Transaction;
use std::sync::Arc;

#[cfg(feature = "wasm")]
pub use statement_modules::StatementModules;
#[cfg(not(feature = "wasm"))]
pub use without::StatementModules;

/// Session, catalog and transaction of a call.
#[cfg_attr(not(feature = "wasm"), allow(dead_code))]
pub struct CallContext<'c> {
    /// Services of the session.
    pub services: &'c Arc<SessionServices>,
    /// Tables by name.
    pub catalog: &'c Catalog,
    /// Transaction in which tables are read.
    pub transaction: &'c mut Transaction,
    /// Settings and account.
    pub session: &'c SessionContext,
}
