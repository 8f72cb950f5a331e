//! Calls without a compiler for modules.

use super::CallContext;
use crate::modules::disabled;
use paceline_catalog::{RoutineDefinition, RoutineModule};
use paceline_syntax::Result;
use paceline_types::Value;

/// No modules of a statement.
#[derive(Default)]
pub struct StatementModules(());

impl StatementModules {
    /// Refuses a call.
    ///
    /// # Errors
    /// 1289.
    pub fn call(
        &self,
        _: &RoutineDefinition,
        _: &RoutineModule,
        _: &[Value],
        _: CallContext<'_>,
    ) -> Result<Value> {
        Err(disabled())
    }
}
