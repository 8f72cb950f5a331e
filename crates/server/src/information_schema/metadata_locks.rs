//! Metadata locks: METADATA_LOCK_INFO, which MariaDB has as a plugin, and `performance_schema.metadata_locks`.

use super::database::CATALOG;
use super::sources::Sources;
use crate::cells::{Row, number, text};
use paceline_txn::{MetadataKind, MetadataLock, MetadataMode};
use paceline_types::Value;

/// Returns MariaDB's name of the lock's mode.
fn mode(lock: &MetadataLock) -> &'static str {
    let is_backup = matches!(lock.kind, MetadataKind::Global | MetadataKind::Commit);
    match lock.mode {
        MetadataMode::Read => "MDL_SHARED_READ",
        MetadataMode::Write if is_backup => "MDL_BACKUP_DML",
        MetadataMode::Write => "MDL_SHARED_WRITE",
        MetadataMode::ReadOnly if lock.kind == MetadataKind::Global => "MDL_BACKUP_FTWRL1",
        MetadataMode::ReadOnly if lock.kind == MetadataKind::Commit => "MDL_BACKUP_FTWRL2",
        MetadataMode::ReadOnly => "MDL_SHARED_READ_ONLY",
        MetadataMode::Exclusive if lock.kind == MetadataKind::UserLevel => "MDL_SHARED_NO_WRITE",
        MetadataMode::Exclusive => "MDL_EXCLUSIVE",
    }
}

/// Returns MariaDB's name of the kind of lock.
fn lock_type(kind: MetadataKind) -> &'static str {
    match kind {
        MetadataKind::Global | MetadataKind::Commit => "Backup lock",
        MetadataKind::Database => "Schema metadata lock",
        MetadataKind::Table | MetadataKind::ForeignKeyName => "Table metadata lock",
        MetadataKind::Routine => "Stored function metadata lock",
        MetadataKind::Event => "Event metadata lock",
        MetadataKind::UserLevel => "User lock",
    }
}

/// Returns the names in the columns of the database and of the table. MariaDB shows a user lock's in the first.
fn names(lock: &MetadataLock) -> (&str, &str) {
    match lock.kind {
        MetadataKind::UserLevel => (&lock.name, ""),
        _ => (&lock.database, &lock.name),
    }
}

/// Returns the rows of METADATA_LOCK_INFO: locks that are held.
pub(super) fn info(sources: &dyn Sources) -> Vec<Row> {
    let held = sources
        .metadata_locks()
        .into_iter()
        .filter(|(_, lock)| lock.is_held);
    held.map(|(connection, lock)| {
        let (database, name) = names(&lock);
        vec![
            number(connection),
            text(mode(&lock)),
            Value::Null,
            Value::Null,
            text(lock_type(lock.kind)),
            text(CATALOG),
            text(database),
            text(name),
        ]
    })
    .collect()
}

/// Returns the rows of `performance_schema.metadata_locks`: locks that are held or requested.
pub(crate) fn rows(sources: &dyn Sources) -> Vec<Row> {
    let row = |(connection, lock): (u64, MetadataLock)| {
        let object = match lock.kind {
            MetadataKind::Global | MetadataKind::Commit => "BACKUP",
            MetadataKind::Database => "SCHEMA",
            MetadataKind::Table | MetadataKind::ForeignKeyName => "TABLE",
            MetadataKind::Routine => "FUNCTION",
            MetadataKind::Event => "EVENT",
            MetadataKind::UserLevel => "USER LEVEL LOCK",
        };
        let (database, name) = names(&lock);
        let named = |name: &str| match name.is_empty() {
            true => Value::Null,
            false => text(name),
        };
        vec![
            text(object),
            named(database),
            named(name),
            number(0),
            text(mode(&lock).trim_start_matches("MDL_")),
            text("TRANSACTION"),
            text(if lock.is_held { "GRANTED" } else { "PENDING" }),
            Value::Null,
            number(connection),
            Value::Null,
        ]
    };
    sources.metadata_locks().into_iter().map(row).collect()
}
