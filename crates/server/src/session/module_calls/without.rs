//! Calls without a compiler for modules.

use crate::modules::disabled;
use crate::session::services::SessionServices;
use paceline_catalog::{Catalog, RoutineDefinition, RoutineModule};
use paceline_expression::session::SessionContext;
use paceline_syntax::Result;
use paceline_txn::Transaction;
use paceline_types::Value;
use std::sync::Arc;

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
