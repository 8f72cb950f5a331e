//! FLUSH.

use super::binary_log::{delete_domains, flush_binary_logs};
use super::lock_tables;
use super::table_administration::lock_to_maintain;
use crate::errors::of_transaction;
use crate::server::Server;
use crate::session::protocol::Reply;
use crate::session::state::SessionState;
use crate::user_statistics::StatisticsOf;
use paceline_catalog::TableDefinition;
use paceline_expression::session::Privilege;
use paceline_syntax::{
    Error, FlushTablesLock, FlushTarget, LockTable, Result, TableMaintenance, TableName, WriteToBinlog,
};
use paceline_types::error_code::*;
use std::time::Duration;

/// Executes FLUSH.
///
/// # Errors
/// 1227 without RELOAD; 1205 if a lock is not free in time; the errors of the log.
pub async fn execute(
    targets: &[FlushTarget],
    write_to_binlog: WriteToBinlog,
    state: &mut SessionState,
    text: &[u8],
) -> Result<Reply> {
    state.commit().await?;
    state.services.require_any(&[Privilege::Reload])?;
    for target in targets {
        if let FlushTarget::Tables { lock, .. } = target
            && *lock != FlushTablesLock::None
            && state.table_locks.has_tables()
        {
            return Err(Error::new(ER_LOCK_OR_ACTIVE_TRANSACTION, &[]));
        }
        match target {
            FlushTarget::Tables {
                lock: FlushTablesLock::None,
                tables,
            } => {
                let names = tables.iter().map(|table| state.qualified(table));
                state
                    .table_locks
                    .check_flush(&names.collect::<Result<Vec<_>>>()?)?;
                wait_for_users(tables, state)?;
                forget_sequences(tables, state);
            }
            FlushTarget::Tables {
                tables,
                lock: FlushTablesLock::ReadLock | FlushTablesLock::ReadLockDisableCheckpoint,
            } if tables.is_empty() => {
                if !state.table_locks.is_globally_locked() {
                    let timeout = state.context.settings.metadata_lock_wait_timeout;
                    state
                        .shared
                        .update(|activity| activity.state = "Waiting for global read lock");
                    let lock = state
                        .services
                        .locks
                        .global_read_lock(timeout)
                        .map_err(|error| of_transaction(&error))?;
                    state.table_locks.global = Some(lock);
                }
            }
            FlushTarget::Tables { tables, .. } => {
                let locks: Vec<LockTable> = tables
                    .iter()
                    .map(|table| LockTable {
                        table: table.clone(),
                        alias: None,
                        write: false,
                    })
                    .collect();
                return lock_tables::lock(&locks, state).await;
            }
            FlushTarget::Logs(kind @ ("" | "BINARY" | "GENERAL" | "SLOW")) => {
                if *kind != "BINARY" {
                    reopen_statement_logs(&state.server);
                }
                if matches!(*kind, "" | "BINARY") {
                    flush_binary_logs(&state.server)?;
                }
            }
            FlushTarget::DeleteDomains(domains) => {
                delete_domains(domains, &state.server, &mut state.context.diagnostics)?
            }
            FlushTarget::Logs(_) => {}
            FlushTarget::Other("STATUS") => {
                state.server.sessions.settle(&state.shared);
                state.server.primary.semi_sync().reset_counters();
            }
            FlushTarget::Other("HOSTS") => state.server.host_errors.forgive_all(),
            FlushTarget::Other("USER_RESOURCES") => state.server.accounts.hourly_uses().reset(),
            FlushTarget::Other("PRIVILEGES") => {
                // The first of the tables that MariaDB reads for it.
                if state.table_locks.has_tables() {
                    return Err(Error::new(ER_TABLE_NOT_LOCKED, &[&"db"]));
                }
                state.server.accounts.heed();
            }
            FlushTarget::Other("SSL") => state.server.tls.reload(&state.server.globals)?,
            FlushTarget::Other("USER_STATISTICS") => state.server.user_statistics.clear(StatisticsOf::Users),
            FlushTarget::Other("CLIENT_STATISTICS") => {
                state.server.user_statistics.clear(StatisticsOf::Clients);
            }
            FlushTarget::Other("TABLE_STATISTICS") => {
                for_each_table(state, TableDefinition::clear_user_row_counts);
            }
            FlushTarget::Other("INDEX_STATISTICS") => {
                for_each_table(state, TableDefinition::clear_user_index_counts);
            }
            FlushTarget::Other(_) => {}
        }
    }
    // As in MariaDB, replicas do not rotate their logs together with their primary.
    let is_local = |target: &FlushTarget| {
        !matches!(
            target,
            FlushTarget::Other(_)
                | FlushTarget::Logs("ERROR" | "SLOW" | "GENERAL" | "ENGINE")
                | FlushTarget::Tables {
                    lock: FlushTablesLock::None,
                    ..
                }
        )
    };
    let is_logged = write_to_binlog == WriteToBinlog::Yes && !targets.iter().any(is_local);
    if is_logged && !state.table_locks.is_globally_locked() {
        // Another session's global read lock does not block FLUSH. The statement is then not replicated.
        match state.log_for_replicas(text, Duration::ZERO).await {
            Err(error) if error.code() == ER_LOCK_WAIT_TIMEOUT => {
                tracing::info!("FLUSH under another session's global read lock is not logged");
            }
            logged => logged?,
        }
    }
    Ok(Reply::ok())
}

fn for_each_table(state: &SessionState, act: fn(&TableDefinition)) {
    let catalog = state.server.catalog.load();
    let tables = catalog.databases().flat_map(|database| database.tables());
    tables.for_each(|table| act(table));
}

/// Forgets the reserved values of sequences: of these, or of all. As in MariaDB they are not given out any more.
fn forget_sequences(tables: &[TableName], state: &SessionState) {
    let catalog = state.catalog();
    let is_meant = |database: &str, name: &str| {
        let is_one = |table: &TableName| {
            let own = table.database.as_deref().or(state.context.database.as_deref());
            own == Some(database) && table.name == name
        };
        tables.is_empty() || tables.iter().any(is_one)
    };
    let sequences = catalog.databases().flat_map(|database| database.tables());
    for sequence in sequences.filter(|table| table.is_sequence()) {
        if is_meant(sequence.database(), sequence.name()) {
            sequence.sequence_cache().forget();
        }
    }
}

/// Executes FLUSH TABLES with names. There is nothing to flush, but as in MariaDB it waits until nothing uses the
/// tables.
fn wait_for_users(tables: &[TableName], state: &SessionState) -> Result<()> {
    for table in tables {
        let (database, table) = state.qualified(table)?;
        lock_to_maintain(TableMaintenance::Repair, &database, &table, state)
            .map_err(|error| of_transaction(&error))?;
    }
    Ok(())
}

/// Reopens the statement logs. Failures are reported in the error log.
fn reopen_statement_logs(server: &Server) {
    if let Err(error) = server.statement_logs.reopen(&server.globals) {
        tracing::error!("a log of statements cannot be opened: {error}");
    }
}
