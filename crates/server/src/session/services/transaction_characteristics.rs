//! SET SESSION TRANSACTION and SET GLOBAL TRANSACTION: assignments of `tx_isolation` and `tx_read_only`.

use super::SessionServices;
use crate::variables::{Variable, VariableValue, apply_to_session, isolation_setting};
use paceline_expression::session::SessionContext;
use paceline_types::{AccessMode, IsolationLevel};

/// Characteristics of transactions; those that are not named do not change.
#[derive(Debug, Clone, Copy, Default)]
pub struct TransactionCharacteristics {
    pub isolation: Option<IsolationLevel>,
    pub access: Option<AccessMode>,
}

impl TransactionCharacteristics {
    /// Sets them for all later transactions of the session. Returns the variables that were set.
    pub fn assign_session(self, services: &SessionServices, context: &mut SessionContext) -> Vec<Variable> {
        let mut assigned = Vec::new();
        let mut values = services.values.lock();
        for (variable, setting) in self.settings() {
            values.set(variable, setting.clone());
            apply_to_session(context, &mut values, variable, &setting);
            assigned.push(variable);
        }
        assigned
    }

    /// Sets them for future sessions.
    pub fn assign_global(self, services: &SessionServices) {
        for (variable, setting) in self.settings() {
            services.server.globals.set(variable, setting);
        }
    }

    fn settings(self) -> impl Iterator<Item = (Variable, VariableValue)> {
        let isolation = self
            .isolation
            .map(|level| (Variable::TxIsolation, isolation_setting(level)));
        let access = self.access.map(|mode| {
            let is_read_only = mode == AccessMode::ReadOnly;
            (Variable::TxReadOnly, VariableValue::Boolean(is_read_only))
        });
        isolation.into_iter().chain(access)
    }
}
