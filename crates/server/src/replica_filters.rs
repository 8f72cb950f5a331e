//! Replication filters of each connection to a primary: `replicate_do_db` and related variables.

use crate::variables::{Globals, Variable};
use paceline_log_stream::source::filter::{BadRule, FilterKind, Filters};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// Variables that are filters.
const FILTERS: [(Variable, FilterKind); 7] = [
    (Variable::ReplicateDoDb, FilterKind::DoDb),
    (Variable::ReplicateIgnoreDb, FilterKind::IgnoreDb),
    (Variable::ReplicateDoTable, FilterKind::DoTable),
    (Variable::ReplicateIgnoreTable, FilterKind::IgnoreTable),
    (Variable::ReplicateWildDoTable, FilterKind::WildDoTable),
    (Variable::ReplicateWildIgnoreTable, FilterKind::WildIgnoreTable),
    (Variable::ReplicateRewriteDb, FilterKind::RewriteDb),
];

/// Returns the kind of filter that a variable sets.
pub fn filter_kind(variable: Variable) -> Option<FilterKind> {
    FILTERS
        .iter()
        .find(|(known, _)| *known == variable)
        .map(|(_, kind)| *kind)
}

/// Filters of the connections. A connection without its own filters has those of the server's startup.
#[derive(Debug, Default)]
pub struct ReplicaFilters {
    own: Mutex<HashMap<String, Arc<Filters>>>,
}

impl ReplicaFilters {
    /// Returns a connection's filters.
    pub fn of(&self, connection: &str, globals: &Globals) -> Arc<Filters> {
        if let Some(own) = self.own.lock().get(&connection.to_lowercase()) {
            return own.clone();
        }
        let mut filters = Filters::default();
        for (variable, kind) in FILTERS {
            if let Err(error) = filters.set(kind, globals.get(variable).as_str()) {
                tracing::error!("{}: {error}", variable.definition().name);
            }
        }
        Arc::new(filters)
    }

    /// Changes a connection's filters of one kind.
    ///
    /// # Errors
    /// If the list is invalid for this kind.
    pub fn set(
        &self,
        connection: &str,
        globals: &Globals,
        kind: FilterKind,
        list: &str,
    ) -> Result<(), BadRule> {
        let mut filters = (*self.of(connection, globals)).clone();
        filters.set(kind, list)?;
        self.own
            .lock()
            .insert(connection.to_lowercase(), Arc::new(filters));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_without_filters_has_those_of_the_startup() {
        let globals = Globals::default();
        globals.set_text(Variable::ReplicateDoDb, "a,b");
        let filters = ReplicaFilters::default();
        filters.set("East", &globals, FilterKind::IgnoreDb, "x").unwrap();
        globals.set_text(Variable::ReplicateDoDb, "");
        assert_eq!(filters.of("east", &globals).show(FilterKind::DoDb), "a,b");
        assert!(filters.of("", &globals).is_empty());
        assert!(filters.set("", &globals, FilterKind::DoTable, "t").is_err());
    }
}
