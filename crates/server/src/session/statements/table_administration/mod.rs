//! Administration of tables: ANALYZE, CHECK, OPTIMIZE, REPAIR and CHECKSUM TABLE.

mod check;
mod checksum;

pub use checksum::execute as checksum;

use crate::accounts::checks::check_maintenance;
use crate::errors::of_transaction;
use crate::session::protocol::{Output, Reply};
use crate::session::state::SessionState;
use check::{check_table, check_view};
use paceline_syntax::{Error, Result, TableMaintenance, TableName, WriteToBinlog};
use paceline_txn::{MetadataGuard, MetadataMode, MetadataObject};
use paceline_types::Value;
use paceline_types::error_code::*;

/// Executes ANALYZE, CHECK, OPTIMIZE and REPAIR TABLE. OPTIMIZE and REPAIR have nothing to do here, and report so as
/// in MariaDB.
///
/// # Errors
/// 1142; 1223 under the session's own global read lock; the errors of KILL. Problems of a table are lines of the
/// result.
pub async fn execute(
    operation: TableMaintenance,
    tables: &[TableName],
    write_to_binlog: WriteToBinlog,
    state: &mut SessionState,
    statement_text: &[u8],
) -> Result<Reply> {
    let name = match operation {
        TableMaintenance::Analyze | TableMaintenance::AnalyzePersistent => "analyze",
        TableMaintenance::Check => "check",
        TableMaintenance::Optimize => "optimize",
        TableMaintenance::Repair => "repair",
    };
    state.commit().await?;
    for table in tables {
        let (database, table) = state.qualified(table)?;
        if state.temporary.catalog().table(&database, &table).is_none() {
            let authority = state.services.authority(&state.context);
            check_maintenance(authority, operation, &database, &table)?;
        }
    }
    let is_logged = write_to_binlog == WriteToBinlog::Yes && operation != TableMaintenance::Check;
    if is_logged && state.table_locks.is_globally_locked() {
        return Err(Error::new(ER_CANT_UPDATE_WITH_READLOCK, &[]));
    }
    let mut output = Output::new();
    output
        .text("Table", 128)
        .text("Op", 10)
        .text("Msg_type", 10)
        .text("Msg_text", 393_216);
    let catalog = state.catalog();
    for table in tables {
        let (database, table) = state.qualified(table)?;
        let full = format!("{database}.{table}");
        let mut line = |kind: &str, message: &str| {
            output.row(vec![text(&full), text(name), text(kind), text(message)]);
        };
        if catalog.view(&database, &table).is_some() {
            match operation {
                TableMaintenance::Check => {
                    let view = catalog.view(&database, &table).cloned();
                    let lines = view.map(|view| check_view(&view, state));
                    lines
                        .iter()
                        .flatten()
                        .for_each(|(kind, message)| line(kind, message));
                }
                _ => {
                    line(
                        "Error",
                        &ER_WRONG_OBJECT.message(&[&database, &table, &"BASE TABLE"]),
                    );
                    line("status", "Operation failed");
                }
            }
            continue;
        }
        let _lock = match lock_to_maintain(operation, &database, &table, state) {
            Ok(guard) => guard,
            Err(paceline_txn::Error::LockWaitTimeout) => {
                line("Error", &ER_LOCK_WAIT_TIMEOUT.message(&[]));
                line("status", "Operation failed");
                continue;
            }
            Err(error) => return Err(of_transaction(&error)),
        };
        let catalog = state.catalog();
        let Some(definition) = catalog.table(&database, &table) else {
            if operation == TableMaintenance::Check
                && crate::virtual_tables::virtual_columns(&database, &table).is_some()
            {
                match database == crate::mysql_columns::DATABASE {
                    true => line("status", "OK"),
                    false => line("note", check::NO_CHECK),
                }
                continue;
            }
            line("Error", &ER_NO_SUCH_TABLE.message(&[&database, &table]));
            line("status", "Operation failed");
            continue;
        };
        match operation {
            _ if definition.is_sequence() || !definition.schema().stores_rows() => {
                if operation == TableMaintenance::AnalyzePersistent {
                    line("status", "Engine-independent statistics collected");
                }
                let unsupported = match operation {
                    TableMaintenance::Analyze | TableMaintenance::AnalyzePersistent => "analyze",
                    TableMaintenance::Optimize => "optimize",
                    TableMaintenance::Check => "check",
                    TableMaintenance::Repair => "repair",
                };
                line(
                    "note",
                    &format!("The storage engine for the table doesn't support {unsupported}"),
                );
            }
            TableMaintenance::Analyze | TableMaintenance::AnalyzePersistent => {
                state.server.statistics.analyze(definition);
                if operation == TableMaintenance::AnalyzePersistent {
                    line("status", "Engine-independent statistics collected");
                }
                line("status", "OK");
            }
            TableMaintenance::Optimize => {
                line(
                    "note",
                    "Table does not support optimize, doing recreate + analyze instead",
                );
                line("status", "OK");
            }
            TableMaintenance::Check => {
                let lines = check_table(definition, state)?;
                lines.iter().for_each(|(kind, message)| line(kind, message));
            }
            TableMaintenance::Repair => {
                line("note", "The storage engine for the table doesn't support repair")
            }
        }
    }
    if is_logged {
        let timeout = state.context.settings.metadata_lock_wait_timeout;
        state.log_for_replicas(statement_text, timeout).await?;
    }
    Ok(Reply::Rows(output))
}

/// Locks a table for its maintenance. Other sessions may read it meanwhile, and may write it if it is only inspected. A
/// temporary table needs no lock.
pub fn lock_to_maintain(
    operation: TableMaintenance,
    database: &str,
    table: &str,
    state: &SessionState,
) -> paceline_txn::Result<Option<MetadataGuard>> {
    if state.temporary.catalog().table(database, table).is_some() {
        return Ok(None);
    }
    let mode = match operation {
        TableMaintenance::Check | TableMaintenance::Analyze | TableMaintenance::AnalyzePersistent => {
            MetadataMode::Read
        }
        TableMaintenance::Optimize | TableMaintenance::Repair => MetadataMode::Exclusive,
    };
    let timeout = state.context.settings.metadata_lock_wait_timeout;
    let object = MetadataObject::Table { database, table };
    state
        .services
        .locks
        .lock_metadata(object, mode, timeout)
        .map(Some)
}

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}
