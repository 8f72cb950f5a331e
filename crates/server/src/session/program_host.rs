//! Services of the server for functions and triggers that run within a statement.

use super::services::SessionServices;
use super::statements::set::set_within_statement;
use crate::accounts::checks::{check_plan, check_routine};
use crate::variables::Variable;
use paceline_catalog::{Catalog, RoutineDefinition, TemporaryCatalog};
use paceline_expression::session::{Privilege, SessionContext};
use paceline_query::execute::ProgramHost;
use paceline_query::plan::{Plan, Statistics};
use paceline_query::program::check_recursion;
use paceline_syntax::{Result, SetItem};
use paceline_types::Value;
use std::sync::Arc;

/// The server as the functions and triggers of one statement see it.
pub struct SessionProgramHost {
    services: Arc<SessionServices>,
    temporary: Arc<TemporaryCatalog>,
}

impl SessionProgramHost {
    /// Creates it for a statement with the session's temporary tables.
    pub fn new(services: &Arc<SessionServices>, temporary: &Arc<TemporaryCatalog>) -> Self {
        SessionProgramHost {
            services: services.clone(),
            temporary: temporary.clone(),
        }
    }
}

impl ProgramHost for SessionProgramHost {
    fn catalog(&self) -> Arc<Catalog> {
        let catalog = self.services.server.catalog.load();
        match self.temporary.is_empty() {
            true => catalog,
            false => Arc::new(catalog.with_temporary(self.temporary.clone())),
        }
    }

    fn statistics(&self) -> &Statistics {
        &self.services.server.statistics
    }

    fn check(&self, plan: &Plan, session: &SessionContext) -> Result<()> {
        check_plan(self.services.authority(session), plan)?;
        match plan.writes_ordinary() {
            true => self.services.check_writable(),
            false => Ok(()),
        }
    }

    fn check_call(&self, routine: &RoutineDefinition, session: &SessionContext) -> Result<()> {
        let authority = self.services.authority(session);
        check_routine(authority, Privilege::Execute, routine)?;
        let most = self
            .services
            .values
            .lock()
            .get(Variable::MaxSpRecursionDepth)
            .as_u64();
        check_recursion(routine, most, session)
    }

    fn set(&self, item: &SetItem, value: Option<Value>, session: &mut SessionContext) -> Result<()> {
        set_within_statement(item, value, &self.services, session)
    }
}
