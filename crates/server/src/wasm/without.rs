//! The same without a compiler for modules.

use crate::session::services::SessionServices;
use crate::variables::Globals;
use paceline_catalog::{Catalog, RoutineDefinition, RoutineModule};
use paceline_expression::session::SessionContext;
use paceline_syntax::{Error, Result};
use paceline_txn::Transaction;
use paceline_types::Value;
use paceline_types::error_code::ER_FEATURE_DISABLED;
use std::sync::Arc;

/// No modules.
#[derive(Default)]
pub struct Modules;

impl Modules {
    /// Refuses a new function.
    ///
    /// # Errors
    /// 1289.
    pub fn check(&self, _: &RoutineDefinition, _: &RoutineModule, _: &Globals) -> Result<()> {
        Err(disabled())
    }
}

/// No modules of a statement.
#[derive(Default)]
pub struct StatementModules;

impl StatementModules {
    /// Refuses a call.
    ///
    /// # Errors
    /// 1289.
    #[allow(clippy::too_many_arguments)] // Those of the other build.
    pub fn call(
        &self,
        _: &RoutineDefinition,
        _: &RoutineModule,
        _: &[Value],
        _: &Arc<SessionServices>,
        _: &Catalog,
        _: &mut Transaction,
        _: &SessionContext,
    ) -> Result<Value> {
        Err(disabled())
    }
}

fn disabled() -> Error {
    Error::new(ER_FEATURE_DISABLED, &[&"LANGUAGE WASM", &"the feature wasm"])
}
