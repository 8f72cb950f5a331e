//! Catalog records: contents of the engine under [`IndexId::CATALOG`].
//!
//! ```text
//!   key     IndexId(4) ‖ kind(1) ‖ name ‖ 0x00 ‖ name …
//!   value   version(8, by the engine) ‖ format(1) ‖ JSON
//!           format 2: a table with rows of earlier formats, which older programs would misread; 1: all others
//!
//!   kind 'D'  a database   name                   DatabaseDefinition
//!   kind 'T'  a table      database ‖ 0 ‖ table   TableDescription
//!   kind 'V'  a view       database ‖ 0 ‖ view    ViewDescription
//!   kind 'A'  an account   user ‖ 0 ‖ host        data of the server in the form of mysql.global_priv
//!   kind 'P'  a procedure  database ‖ 0 ‖ name    RoutineDescription; the name in lower case
//!   kind 'F'  a function   database ‖ 0 ‖ name    RoutineDescription; the name in lower case
//!   kind 'G'  a trigger    database ‖ 0 ‖ name    TriggerDescription
//!   kind 'E'  an event     database ‖ 0 ‖ name    EventDescription; the name in lower case
//!   kind 'L'  a loadable function   name           LoadableFunction; the name in lower case
//!   kind 'N'  the next index number; ensures that no number is used twice
//! ```
//!
//! The format is JSON because there are few records, they are read once at startup, new fields have defaults, and
//! people can read them for repairs. Unknown kinds and formats are rejected, because a newer server wrote them.

use paceline_storage::{IndexId, WriteSet};
use paceline_syntax::RoutineType;

use super::added_engine::absent_engine;
use super::definition::{DatabaseDefinition, TableDescription};
use super::event::EventDescription;
use super::loadable::LoadableFunction;
use super::routine::RoutineDescription;
use super::trigger::TriggerDescription;
use super::view::ViewDescription;
use crate::error::{Error, Result};

const FORMAT: u8 = 1;
const FORMAT_OF_EARLIER_ROWS: u8 = 2;

const DATABASE: u8 = b'D';
const TABLE: u8 = b'T';
const VIEW: u8 = b'V';
const ACCOUNT: u8 = b'A';
const PROCEDURE: u8 = b'P';
const FUNCTION: u8 = b'F';
const TRIGGER: u8 = b'G';
const EVENT: u8 = b'E';
const LOADABLE: u8 = b'L';
const NEXT_ID: u8 = b'N';

/// One change of the catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // A field whose name says all needs no comment.
pub enum CatalogChange {
    /// A database is created or changed.
    PutDatabase(DatabaseDefinition),
    /// A database is dropped. Separate changes drop its tables before.
    DropDatabase(String),
    /// A table is created or changed.
    PutTable(Box<TableDescription>),
    /// A table is dropped.
    DropTable { database: String, name: String },
    /// A view is created or changed.
    PutView(Box<ViewDescription>),
    /// A view is dropped.
    DropView { database: String, name: String },
    /// A procedure or function is created or changed.
    PutRoutine(Box<RoutineDescription>),
    /// A procedure or function is dropped.
    DropRoutine {
        kind: RoutineType,
        database: String,
        name: String,
    },
    /// A trigger is created or changed. Its table must exist.
    PutTrigger(Box<TriggerDescription>),
    /// A trigger is dropped.
    DropTrigger { database: String, name: String },
    /// An event is created or changed.
    PutEvent(Box<EventDescription>),
    /// An event is dropped.
    DropEvent { database: String, name: String },
    /// A loadable function is created or replaced.
    PutLoadableFunction(Box<LoadableFunction>),
    /// A loadable function is dropped.
    DropLoadableFunction(String),
    /// A session's temporary table is dropped. It has no record, and neither has a [`CatalogChange::PutTable`] of a
    /// temporary table.
    DropTemporary { database: String, name: String },
    /// A table's AUTO_INCREMENT counter must be initialized from its data again: the table was emptied, the counter was
    /// set, or another column is AUTO_INCREMENT.
    ForgetAutoIncrement { database: String, name: String },
    /// An account is created or changed.
    PutAccount {
        user: String,
        /// Host pattern.
        host: String,
        /// Account data in the server's form.
        record: Vec<u8>,
    },
    /// An account is dropped.
    DropAccount {
        user: String,
        /// Host pattern.
        host: String,
    },
    /// Index numbers below this one are taken.
    NextId(u32),
}

/// Writes changes as records.
pub fn write_changes(changes: &[CatalogChange], writes: &mut WriteSet) {
    for change in changes {
        match change {
            CatalogChange::PutDatabase(database) => {
                put(writes, &key(DATABASE, &[&database.name]), &json(database));
            }
            CatalogChange::DropDatabase(name) => writes.delete(&key(DATABASE, &[name])),
            CatalogChange::PutTable(table) if table.temporary => {}
            CatalogChange::PutTable(table) => {
                let format = match table.earlier_rows.is_empty() {
                    true => FORMAT,
                    false => FORMAT_OF_EARLIER_ROWS,
                };
                let key = key(TABLE, &[&table.database, &table.name]);
                put_in(format, writes, &key, &json(table));
            }
            CatalogChange::DropTable { database, name } => writes.delete(&key(TABLE, &[database, name])),
            CatalogChange::PutView(view) => {
                put(writes, &key(VIEW, &[&view.database, &view.name]), &json(view));
            }
            CatalogChange::DropView { database, name } => writes.delete(&key(VIEW, &[database, name])),
            CatalogChange::PutRoutine(routine) => put(
                writes,
                &routine_key(routine.kind, &routine.database, &routine.name),
                &json(routine),
            ),
            CatalogChange::DropRoutine { kind, database, name } => {
                writes.delete(&routine_key(*kind, database, name));
            }
            CatalogChange::PutTrigger(trigger) => put(
                writes,
                &key(TRIGGER, &[&trigger.database, &trigger.name]),
                &json(trigger),
            ),
            CatalogChange::DropTrigger { database, name } => writes.delete(&key(TRIGGER, &[database, name])),
            CatalogChange::PutEvent(event) => {
                put(writes, &event_key(&event.database, &event.name), &json(event));
            }
            CatalogChange::DropEvent { database, name } => writes.delete(&event_key(database, name)),
            CatalogChange::PutLoadableFunction(function) => {
                put(writes, &loadable_key(&function.name), &json(function));
            }
            CatalogChange::DropLoadableFunction(name) => writes.delete(&loadable_key(name)),
            CatalogChange::ForgetAutoIncrement { .. } | CatalogChange::DropTemporary { .. } => {}
            CatalogChange::PutAccount { user, host, record } => {
                put(writes, &key(ACCOUNT, &[user, host]), record);
            }
            CatalogChange::DropAccount { user, host } => writes.delete(&key(ACCOUNT, &[user, host])),
            CatalogChange::NextId(next) => put(writes, &key(NEXT_ID, &[]), &json(next)),
        }
    }
}

fn put(writes: &mut WriteSet, key: &[u8], body: &[u8]) {
    put_in(FORMAT, writes, key, body);
}

fn put_in(format: u8, writes: &mut WriteSet, key: &[u8], body: &[u8]) {
    let mut payload = Vec::with_capacity(1 + body.len());
    payload.push(format);
    payload.extend_from_slice(body);
    writes.put(key, &payload);
}

fn json(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("a catalog record is plain data")
}

fn key(kind: u8, names: &[&str]) -> Vec<u8> {
    let mut key = IndexId::CATALOG.to_be_bytes().to_vec();
    key.push(kind);
    for (n, name) in names.iter().enumerate() {
        if n > 0 {
            key.push(0);
        }
        key.extend_from_slice(name.as_bytes());
    }
    key
}

fn routine_key(kind: RoutineType, database: &str, name: &str) -> Vec<u8> {
    let kind = match kind {
        RoutineType::Procedure => PROCEDURE,
        RoutineType::Function => FUNCTION,
    };
    key(kind, &[database, &name.to_lowercase()])
}

fn event_key(database: &str, name: &str) -> Vec<u8> {
    key(EVENT, &[database, &name.to_lowercase()])
}

fn loadable_key(name: &str) -> Vec<u8> {
    key(LOADABLE, &[&name.to_lowercase()])
}

/// Decodes a record. `payload` is the value without its version.
///
/// # Errors
/// If this version does not know the record, or it is incomplete.
pub(super) fn read_record(key: &[u8], payload: &[u8]) -> Result<CatalogChange> {
    let malformed = || {
        let name = String::from_utf8_lossy(key.get(IndexId::LENGTH..).unwrap_or_default()).replace('\0', ".");
        Error::with_message(
            paceline_types::error_code::ER_NOT_FORM_FILE,
            format!("Incorrect information in the catalog's record '{name}'"),
        )
    };
    let (kind, name) = key
        .get(IndexId::LENGTH..)
        .and_then(<[u8]>::split_first)
        .ok_or_else(malformed)?;
    let (format, body) = payload.split_first().ok_or_else(malformed)?;
    if *format != FORMAT && (*format, *kind) != (FORMAT_OF_EARLIER_ROWS, TABLE) {
        return Err(malformed());
    }
    let change = match *kind {
        DATABASE => CatalogChange::PutDatabase(serde_json::from_slice(body).map_err(|_| malformed())?),
        TABLE => CatalogChange::PutTable(
            serde_json::from_slice(body).map_err(|_| absent_engine(body).unwrap_or_else(malformed))?,
        ),
        VIEW => CatalogChange::PutView(serde_json::from_slice(body).map_err(|_| malformed())?),
        PROCEDURE | FUNCTION => {
            CatalogChange::PutRoutine(serde_json::from_slice(body).map_err(|_| malformed())?)
        }
        TRIGGER => CatalogChange::PutTrigger(serde_json::from_slice(body).map_err(|_| malformed())?),
        EVENT => CatalogChange::PutEvent(serde_json::from_slice(body).map_err(|_| malformed())?),
        LOADABLE => {
            CatalogChange::PutLoadableFunction(serde_json::from_slice(body).map_err(|_| malformed())?)
        }
        NEXT_ID => CatalogChange::NextId(serde_json::from_slice(body).map_err(|_| malformed())?),
        ACCOUNT => {
            let name = std::str::from_utf8(name).map_err(|_| malformed())?;
            let (user, host) = name.split_once('\0').ok_or_else(malformed)?;
            CatalogChange::PutAccount {
                user: user.to_owned(),
                host: host.to_owned(),
                record: body.to_vec(),
            }
        }
        _ => return Err(malformed()),
    };
    Ok(change)
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_types::Collation;

    #[test]
    fn records_round_trip() {
        let database = DatabaseDefinition {
            name: "shop".into(),
            collation: Collation::Utf8mb4GeneralCi,
            comment: "x".into(),
        };
        let change = CatalogChange::PutDatabase(database.clone());
        let mut payload = vec![FORMAT];
        payload.extend(json(&database));
        assert_eq!(read_record(&key(DATABASE, &["shop"]), &payload).unwrap(), change);
        payload[0] = 2;
        assert!(read_record(&key(DATABASE, &["shop"]), &payload).is_err());
        assert!(read_record(&key(b'?', &["shop"]), &[1]).is_err());
        assert!(read_record(&IndexId::CATALOG.to_be_bytes(), &[1]).is_err());
    }
}
