//! LOCK TABLES and UNLOCK TABLES.

use crate::errors::of_transaction;
use crate::session::protocol::Reply;
use crate::session::state::SessionState;
use crate::session::table_locks::{LockedTable, TableLocks};
use crate::virtual_tables::{virtual_columns, virtual_database};
use paceline_catalog::ddl::names_read;
use paceline_catalog::{Catalog, ViewDefinition};
use paceline_expression::session::{Privilege, PrivilegeTarget};
use paceline_syntax::{Error, LockTable, Result};
use paceline_txn::{MetadataMode, MetadataObject};
use paceline_types::error_code::*;

/// Executes LOCK TABLES.
///
/// # Errors
/// 1146, 1142, 1044 for a table; 1205 if one is not free in time; 1223 under the session's own global read lock.
pub async fn lock(tables: &[LockTable], state: &mut SessionState) -> Result<Reply> {
    if state.table_locks.is_globally_locked() && tables.iter().any(|table| table.write) {
        return Err(Error::new(ER_CANT_UPDATE_WITH_READLOCK, &[]));
    }
    state.commit().await?;
    state.table_locks.release_tables();
    let mut wanted = vec![];
    for table in tables {
        let (database, name) = state.qualified(&table.table)?;
        if state.temporary.catalog().table(&database, &name).is_some() {
            // A temporary table is visible only to this session.
            continue;
        }
        let authority = state.services.authority(&state.context);
        authority.check(Privilege::LockTables, PrivilegeTarget::Database(&database))?;
        authority.check_any_column(&[Privilege::Select], &database, &name)?;
        let is_virtual = virtual_database(&database).is_some() || virtual_columns(&database, &name).is_some();
        if !is_virtual {
            let catalog = state.server.catalog.load();
            if let Some(view) = catalog.view(&database, &name) {
                // The tables and views that the view reads are locked too.
                for (database, name) in relations_of(view, &catalog) {
                    wanted.push((database, name, table.write, None));
                }
            } else if catalog.table(&database, &name).is_none() {
                return Err(Error::new(ER_NO_SUCH_TABLE, &[&database, &name]));
            }
            let alias = table.alias.as_ref().unwrap_or(&name).clone();
            wanted.push((database, name, table.write, Some(alias)));
        }
    }
    // The order is fixed, so that two LOCK TABLES never deadlock.
    wanted.sort();
    wanted.dedup();
    let timeout = state.context.settings.metadata_lock_wait_timeout;
    let mut locked: Vec<LockedTable> = vec![];
    let catalog = state.server.catalog.load();
    for (database, name, write, alias) in wanted {
        let is_view = catalog.view(&database, &name).is_some();
        if locked
            .last()
            .is_some_and(|last| last.is(&database, &name) && last.write == write)
        {
            locked.push(LockedTable {
                database,
                name,
                write,
                is_view,
                alias,
                _guard: None,
            });
            continue;
        }
        let mode = if write {
            MetadataMode::Exclusive
        } else {
            MetadataMode::ReadOnly
        };
        let object = MetadataObject::Table {
            database: &database,
            table: &name,
        };
        let guard = state
            .services
            .locks
            .lock_metadata(object, mode, timeout)
            .map_err(|error| of_transaction(&error))?;
        locked.push(LockedTable {
            database,
            name,
            write,
            is_view,
            alias,
            _guard: Some(guard),
        });
    }
    state.table_locks.tables = locked;
    state.table_locks.holds = true;
    Ok(Reply::ok())
}

/// Executes UNLOCK TABLES.
///
/// # Errors
/// The errors of the commit that it implies.
pub async fn unlock(state: &mut SessionState) -> Result<Reply> {
    if state.table_locks.has_tables() {
        state.commit().await?;
    }
    state.table_locks = TableLocks::default();
    Ok(Reply::ok())
}

/// Returns the tables and views that a view reads, directly or through other views.
fn relations_of(view: &ViewDefinition, catalog: &Catalog) -> Vec<(String, String)> {
    let names = names_read(view.parsed(), catalog, None).into_iter();
    names
        .filter_map(|name| Some((name.database?, name.name)))
        .filter(|(database, name)| {
            catalog.table(database, name).is_some() || catalog.view(database, name).is_some()
        })
        .collect()
}
