//! Replay of the log at startup.

use crate::accounts::InitialAccounts;
use crate::accounts::records::{
    WrittenRecords, changed_records, recorded_accounts, records_without_routines,
};
use crate::accounts::statements::{AccountContext, MissingAccounts, apply};
use paceline_apply::CatalogDefinitions;
use paceline_binlog::event::Predecessor;
use paceline_binlog::log::Log;
use paceline_catalog::ddl::ReplayHost;
use paceline_catalog::{Catalog, CatalogChange, CatalogHandle};
use paceline_expression::session::{SessionContext, VirtualColumn, VirtualTables, WantedRows};
use paceline_storage::Storage;
use paceline_syntax::AccountStatement;
use paceline_types::{LogPosition, ServerId, Value};
use std::sync::Arc;

/// Servers whose events remain enabled when the log is replayed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EventOrigins {
    /// This one: those of a primary run there.
    Only(ServerId),
    /// All: the log of a cluster, whose members are one server in this respect.
    All,
}

/// Applies what the tables do not contain yet, and reads the catalog.
///
/// # Errors
/// A message.
pub fn recover(
    storage: &Arc<Storage>,
    log: &Log,
    start: LogPosition,
    initial_accounts: &InitialAccounts,
    events: EventOrigins,
) -> Result<Arc<CatalogHandle>, String> {
    follow_reset(storage, log, start)?;
    let catalog =
        Catalog::load(&storage.snapshot()).map_err(|error| format!("cannot read the catalog: {error}"))?;
    let catalog = Arc::new(CatalogHandle::new(catalog));
    let host = ServerHost {
        initial_accounts,
        events,
    };
    let mut definitions = CatalogDefinitions::new(catalog.clone(), &host);
    paceline_apply::recover(log, storage, &mut definitions)
        .map_err(|error| format!("the binary log cannot be applied to the tables: {error}"))?;
    Ok(catalog)
}

/// Handles a crash in RESET MASTER or SET GLOBAL gtid_binlog_state. They flush the tables before they begin a new log;
/// after a crash the tables' position is in the previous log. If the first file of the log says that it follows the
/// tables, or is the beginning of its history, the log was begun in this way, and nothing is missing between the two.
fn follow_reset(storage: &Storage, log: &Log, start: LogPosition) -> Result<(), String> {
    let position = storage.position();
    if position == LogPosition::ZERO || position >= start {
        return Ok(());
    }
    let state = log
        .state_at(start)
        .map_err(|error| format!("the binary log cannot be read: {error}"))?;
    if log.follows() != Predecessor::Tables && !state.is_empty() {
        return Err(format!(
            "the tables are at {position}, but the binary log begins at {start}: files that recovery needs are gone"
        ));
    }
    tracing::info!("the binary log was reset: the tables go on from {position} at {start}");
    storage
        .apply(&[], start)
        .map_err(|error| format!("the tables cannot be written: {error}"))
}

/// Virtual tables without a session: only their columns are known.
#[derive(Debug)]
struct DeclaredTables;

impl VirtualTables for DeclaredTables {
    fn columns(&self, database: &str, table: &str) -> Option<Vec<VirtualColumn>> {
        crate::virtual_tables::virtual_columns(database, table).map(<[VirtualColumn]>::to_vec)
    }

    fn rows(
        &self,
        _: &SessionContext,
        _: &str,
        _: &str,
        _: &WantedRows,
    ) -> paceline_syntax::Result<Vec<Vec<Value>>> {
        Err(paceline_syntax::Error::unsupported("reading this table here"))
    }
}

/// This server, as the host of replayed statements.
pub struct ServerHost<'a> {
    /// Accounts before the first statement about them.
    pub initial_accounts: &'a InitialAccounts,
    /// Servers whose events remain enabled.
    pub events: EventOrigins,
}

impl ReplayHost for ServerHost<'_> {
    fn virtual_tables(&self) -> Option<Arc<dyn VirtualTables>> {
        Some(Arc::new(DeclaredTables))
    }

    fn server_id(&self) -> Option<ServerId> {
        match self.events {
            EventOrigins::Only(own) => Some(own),
            EventOrigins::All => None,
        }
    }

    fn accounts_without(&self, dropped: &[CatalogChange], catalog: &Catalog) -> Vec<CatalogChange> {
        let accounts = recorded_accounts(catalog, self.initial_accounts);
        records_without_routines(dropped, &accounts, WrittenRecords::of_catalog(catalog))
    }

    fn replay_accounts(
        &self,
        statement: &AccountStatement,
        catalog: &Catalog,
        session: &SessionContext,
    ) -> paceline_syntax::Result<Vec<CatalogChange>> {
        let before = recorded_accounts(catalog, self.initial_accounts);
        let current = (
            session.current_user.user.as_str(),
            session.current_user.host.as_str(),
        );
        let context = AccountContext {
            accounts: &before,
            current,
            // A statement that names CURRENT_ROLE is logged as that of the role.
            current_role: current.1.is_empty().then_some(current.0),
            catalog,
            virtual_tables: &*session.services.virtual_tables,
            database: session.database.as_deref(),
            missing_accounts: MissingAccounts::of_sql_mode(session.settings.sql_mode),
            sql_mode: session.settings.sql_mode,
            now_seconds: session.statement.start_seconds(),
        };
        let applied = apply(statement, context)?;
        let written = WrittenRecords::of_catalog(catalog);
        Ok(changed_records(&before, &applied.accounts, written))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_binlog::GtidState;
    use paceline_binlog::log::{LogConfig, OpenRequest, RealDisk};
    use paceline_storage::StorageConfig;
    use paceline_types::ServerId;
    use std::path::Path;

    fn open(directory: &Path) -> (Arc<Storage>, Log, LogPosition) {
        let storage = Arc::new(Storage::open(&StorageConfig::new(directory.join("tables"))).unwrap());
        let request = OpenRequest {
            engine_position: storage.position(),
            ..OpenRequest::new(1)
        };
        let config = LogConfig::new(directory, "binlog", ServerId(1));
        let (log, recovery) = Log::open(Arc::new(RealDisk), config, request).unwrap();
        (storage, log, recovery.start)
    }

    fn recover_tables(storage: &Arc<Storage>, log: &Log, start: LogPosition) {
        let accounts = InitialAccounts::WithoutPassword;
        recover(storage, log, start, &accounts, EventOrigins::Only(ServerId(1))).unwrap();
    }

    /// Returns the position of the new log after a crash: the log has begun, and the tables have not followed.
    fn killed_after_reset(directory: &Path, state: &GtidState) -> LogPosition {
        let (storage, log, start) = open(directory);
        recover_tables(&storage, &log, start);
        storage.apply(&[], log.written()).unwrap();
        storage.flush().unwrap();
        log.reset_to(None, state, &paceline_binlog::EpochHistory::default(), 1)
            .unwrap()
    }

    #[test]
    fn a_crash_between_the_new_log_and_the_tables() {
        for state in ["", "0-1-7,3-2-9"] {
            let directory = tempfile::tempdir().unwrap();
            let state: GtidState = state.parse().unwrap();
            let begun = killed_after_reset(directory.path(), &state);
            let (storage, log, start) = open(directory.path());
            assert!(storage.position() < start && start <= begun);
            recover_tables(&storage, &log, start);
            assert!(storage.position() >= start);
            assert_eq!(log.state(), state);
        }
    }

    #[test]
    fn missing_log_files_are_detected() {
        let directory = tempfile::tempdir().unwrap();
        let state: GtidState = "0-1-7".parse().unwrap();
        killed_after_reset(directory.path(), &state);
        let (storage, log, start) = open(directory.path());
        recover_tables(&storage, &log, start);
        storage.flush().unwrap();
        drop((storage, log));
        // The tables are older than they should be: the part of the log that they need is missing.
        let elsewhere = tempfile::tempdir().unwrap();
        killed_after_reset(elsewhere.path(), &state);
        let (_, log, _) = open(directory.path());
        log.rotate(1).unwrap();
        let oldest = log.files()[0].clone();
        drop(log);
        std::fs::remove_file(directory.path().join(&oldest.name)).unwrap();
        let index = std::fs::read_to_string(directory.path().join("binlog.index")).unwrap();
        let rest: Vec<&str> = index.lines().skip(1).collect();
        std::fs::write(directory.path().join("binlog.index"), rest.join("\n") + "\n").unwrap();
        std::fs::remove_dir_all(directory.path().join("tables")).unwrap();
        std::fs::rename(elsewhere.path().join("tables"), directory.path().join("tables")).unwrap();
        let (storage, log, start) = open(directory.path());
        let refused = recover(
            &storage,
            &log,
            start,
            &InitialAccounts::WithoutPassword,
            EventOrigins::Only(ServerId(1)),
        )
        .unwrap_err();
        assert!(
            refused.contains("files that recovery needs are gone"),
            "{refused}"
        );
    }
}
