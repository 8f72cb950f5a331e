//! Start-up's replay of the log.

use crate::accounts::statements::{StatementContext, apply};
use crate::server::accounts_of;
use crate::session::account::changes;
use paceline_apply::CatalogDefinitions;
use paceline_binlog::log::Log;
use paceline_sql::catalog::{Catalog, CatalogChange, CatalogHandle};
use paceline_sql::ddl::AccountStatements;
use paceline_sql::parse::AccountStatement;
use paceline_sql::session::SessionContext;
use paceline_storage::Storage;
use paceline_types::LogPosition;
use std::sync::Arc;

/// Applies what the tables do not hold yet, and reads the catalog.
///
/// # Errors
/// For people.
pub fn recover(storage: &Arc<Storage>, log: &Log, start: LogPosition) -> Result<Arc<CatalogHandle>, String> {
    follow_reset(storage, log, start)?;
    let catalog =
        Catalog::load(&storage.snapshot()).map_err(|error| format!("cannot read the catalog: {error}"))?;
    let catalog = Arc::new(CatalogHandle::new(catalog));
    let mut definitions = CatalogDefinitions::new(catalog.clone(), &ReplayedAccounts);
    paceline_apply::recover(log, storage, &mut definitions)
        .map_err(|error| format!("the binary log cannot be applied to the tables: {error}"))?;
    Ok(catalog)
}

/// RESET MASTER flushes the tables before it begins a new log; a server that is killed then finds them at a place in the log before.
/// A log that begins with an empty GTID state, where the tables have come further than nothing, was reset: nothing is missing between the two.
fn follow_reset(storage: &Storage, log: &Log, start: LogPosition) -> Result<(), String> {
    let position = storage.position();
    if position == LogPosition::ZERO || position >= start {
        return Ok(());
    }
    let state = log
        .state_at(start)
        .map_err(|error| format!("the binary log cannot be read: {error}"))?;
    if !state.is_empty() {
        return Err(format!(
            "the tables are at {position}, but the binary log begins at {start}: files that recovery needs are gone"
        ));
    }
    tracing::info!("the binary log was reset: the tables go on from {position} at {start}");
    storage
        .apply(&[], start)
        .map_err(|error| format!("the tables cannot be written: {error}"))
}

/// Statements about accounts, replayed.
pub struct ReplayedAccounts;

impl AccountStatements for ReplayedAccounts {
    fn replay(
        &self,
        statement: &AccountStatement,
        catalog: &Catalog,
        session: &SessionContext,
    ) -> paceline_sql::Result<Vec<CatalogChange>> {
        let before = accounts_of(catalog);
        let current = (
            session.current_user.user.as_str(),
            session.current_user.host.as_str(),
        );
        let context = StatementContext {
            accounts: &before,
            current,
            database: session.database.as_deref(),
        };
        let applied = apply(statement, context)?;
        Ok(changes(
            &before,
            &applied.accounts,
            catalog.accounts().next().is_none(),
        ))
    }
}
