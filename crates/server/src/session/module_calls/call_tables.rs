//! Tables that a function reads: within its statement's transaction, with the privileges of its call.
//!
//! A table's definition is locked in the transaction when it is opened, as by a statement. Reads are those of a SELECT:
//! the transaction's snapshot, its own changes included.
//! A scan has the transaction only while it moves, so a function may have several.
//!
//! A function often scans one index many times: the newest message of each of a hundred friends. From the second scan
//! on, a cursor over the whole index is moved from one part to the next: opening one costs several times as much as
//! moving it. The first scan has a cursor of its own part, which reads no further than that part's end.

use super::CallContext;
use crate::errors::of_transaction;
use paceline_expression::session::{MemoryCharge, Privilege, PrivilegeTarget, SessionContext};
use paceline_storage::Direction as ScanDirection;
use paceline_syntax::{Error, Result};
use paceline_table_access::{IndexBounds, IndexCursor, IndexParts, ReadMode, RowRef, TableView};
use paceline_txn::{MetadataMode, MetadataObject};
use paceline_types::convert::ConvertContext;
use paceline_types::error_code::*;
use paceline_types::{Value, ValueRef, convert, text};
use paceline_wasm_functions::{CURSORS_MAX, CursorId, Direction, HostError, KeyValue, Tables};
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum number of tables of a call.
const TABLES_MAX: usize = 64;

/// The tables of one call.
pub(super) struct CallTables<'c> {
    context: CallContext<'c>,
    database: &'c str,
    tables: Vec<Arc<TableView>>,
    cursors: HashMap<u32, TableCursor>,
    last_cursor: u32,
    /// Indexes that were scanned, each with a cursor that can be moved, unless it is in use.
    scanned: HashMap<ScannedIndex, Option<IndexCursor>>,
}

/// Index that is scanned, and the direction.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct ScannedIndex {
    table: u32,
    index: usize,
    direction: ScanDirection,
}

enum TableCursor {
    /// A row that was found by its key. `next` leads to the end.
    Row {
        table: u32,
        image: Option<Vec<u8>>,
        _memory: MemoryCharge,
    },
    Scan(IndexCursor),
    /// A scan whose cursor is moved to the next one.
    MovedScan(ScannedIndex, IndexCursor),
}

impl<'c> CallTables<'c> {
    pub(super) fn new(context: CallContext<'c>, database: &'c str) -> Self {
        CallTables {
            context,
            database,
            tables: Vec::new(),
            cursors: HashMap::new(),
            last_cursor: 0,
            scanned: HashMap::new(),
        }
    }

    fn view(&self, table: u32) -> Result<Arc<TableView>> {
        let view = self.tables.get(table as usize).cloned();
        view.ok_or_else(|| misuse("no table has this number"))
    }

    fn index_of(&self, view: &TableView, index: u32) -> Result<usize> {
        let index = index as usize;
        match index < view.definition().indexes().len() {
            true => Ok(index),
            false => Err(misuse("no index has this number")),
        }
    }

    fn open(&mut self, name: &str) -> Result<u32> {
        if self.tables.len() >= TABLES_MAX {
            return Err(misuse("too many tables are open"));
        }
        let (database, name) = name.split_once('.').unwrap_or((self.database, name));
        let target = PrivilegeTarget::Table {
            database,
            table: name,
        };
        self.context
            .session
            .services
            .privileges
            .check(self.context.session, Privilege::Select, target)?;
        let Some(definition) = self.context.catalog.table(database, name).cloned() else {
            return Err(match self.context.catalog.view(database, name) {
                Some(_) => Error::new(ER_WRONG_OBJECT, &[&database, &name, &"BASE TABLE"]),
                None => Error::new(ER_NO_SUCH_TABLE, &[&database, &name]),
            });
        };
        if !definition.is_temporary() {
            let object = MetadataObject::Table {
                database,
                table: name,
            };
            let locked = self.context.transaction.lock_metadata(object, MetadataMode::Read);
            locked.map_err(|error| of_transaction(&error))?;
            // It may have been altered while the lock was waited for.
            let now = self.context.services.server.catalog.load();
            let is_current = now
                .table(database, name)
                .is_some_and(|now| now.version() == definition.version());
            let snapshot = self.context.transaction.snapshot_version();
            if !is_current || snapshot.is_some_and(|snapshot| definition.version() > snapshot) {
                return Err(Error::new(ER_TABLE_DEF_CHANGED, &[]));
            }
        }
        self.tables.push(Arc::new(TableView::of_all(definition)));
        Ok(self.tables.len() as u32 - 1)
    }

    fn conversion(session: &SessionContext) -> ConvertContext<'_> {
        let settings = &session.settings;
        ConvertContext {
            date_modes: settings.date_modes(),
            time_zone: &settings.time_zone,
            now: settings.time_zone.to_local(session.statement.start_seconds()),
        }
    }

    fn add(&mut self, cursor: TableCursor) -> Result<CursorId> {
        if self.cursors.len() >= CURSORS_MAX {
            return Err(misuse("too many cursors are open"));
        }
        self.last_cursor += 1;
        self.cursors.insert(self.last_cursor, cursor);
        Ok(CursorId(self.last_cursor))
    }

    fn find(&mut self, table: u32, index: u32, key: &[KeyValue]) -> Result<Option<CursorId>> {
        let view = self.view(table)?;
        let index = self.index_of(&view, index)?;
        let key: Vec<_> = key.iter().map(value_of).collect();
        let conversion = Self::conversion(self.context.session);
        let row = view.get(
            self.context.transaction,
            index,
            &key,
            ReadMode::Snapshot,
            &conversion,
        )?;
        let Some(image) = row.map(|row| row.image().to_vec()) else {
            return Ok(None);
        };
        let mut memory = MemoryCharge::new(&self.context.session.memory);
        memory.grow(image.len())?;
        let row = TableCursor::Row {
            table,
            image: Some(image),
            _memory: memory,
        };
        self.add(row).map(Some)
    }

    fn begin_scan(
        &mut self,
        table: u32,
        index: u32,
        key: &[KeyValue],
        direction: Direction,
    ) -> Result<CursorId> {
        let view = self.view(table)?;
        let key: Vec<_> = key.iter().map(value_of).collect();
        let bounds = IndexBounds::all().prefix(key);
        let scanned = ScannedIndex {
            table,
            index: self.index_of(&view, index)?,
            direction: match direction {
                Direction::Forward => ScanDirection::Forward,
                Direction::Backward => ScanDirection::Backward,
            },
        };
        let conversion = Self::conversion(self.context.session);
        let transaction = &mut *self.context.transaction;
        let is_full = self.scanned.len() >= CURSORS_MAX;
        let moved = match self.scanned.get_mut(&scanned) {
            None => {
                if !is_full {
                    self.scanned.insert(scanned, None);
                }
                None
            }
            Some(unused) => match unused.take() {
                None => view.open_moving_cursor(transaction, scanned.index, scanned.direction)?,
                cursor => cursor,
            },
        };
        let cursor = match moved {
            Some(mut cursor) => {
                cursor.move_to(&bounds, u64::MAX, &conversion)?;
                TableCursor::MovedScan(scanned, cursor)
            }
            None => {
                let parts = IndexParts {
                    index: scanned.index,
                    bounds: std::slice::from_ref(&bounds),
                    direction: scanned.direction,
                    limit: u64::MAX,
                };
                let cursor = view.open_cursor(transaction, &parts, ReadMode::Snapshot, &conversion)?;
                TableCursor::Scan(cursor)
            }
        };
        self.add(cursor)
    }

    fn advance(&mut self, id: CursorId) -> Result<bool> {
        match self.cursors.get_mut(&id.0).ok_or_else(no_cursor)? {
            TableCursor::Scan(cursor) | TableCursor::MovedScan(_, cursor) => {
                cursor.advance(self.context.transaction)
            }
            TableCursor::Row { image, .. } => {
                *image = None;
                Ok(false)
            }
        }
    }

    /// Passes a column's value to `read`.
    fn read<R>(&self, id: CursorId, column: u32, read: impl FnOnce(ValueRef<'_>) -> Result<R>) -> Result<R> {
        let row = match self.cursors.get(&id.0).ok_or_else(no_cursor)? {
            TableCursor::Scan(cursor) | TableCursor::MovedScan(_, cursor) => cursor.row(),
            TableCursor::Row { table, image, .. } => {
                let view = &self.tables[*table as usize];
                image.as_deref().map(|image| RowRef::of_image(view, image))
            }
        };
        let row = row.ok_or_else(|| misuse("the cursor is on no row"))?;
        read(row.value(column as usize)?)
    }
}

fn value_of(value: &KeyValue) -> Value {
    match value {
        KeyValue::Null => Value::Null,
        KeyValue::Integer(number) => Value::Int(*number),
        KeyValue::Real(number) => Value::Double(*number),
        KeyValue::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Value::Text(text.to_owned()),
            Err(_) => Value::Bytes(bytes.clone()),
        },
    }
}

fn misuse(reason: &str) -> Error {
    Error::with_message(ER_UNKNOWN_ERROR, reason.to_owned())
}

fn no_cursor() -> Error {
    misuse("no cursor has this number")
}

impl Tables for CallTables<'_> {
    fn table(&mut self, name: &str) -> Result<u32, HostError> {
        Ok(self.open(name)?)
    }

    fn column(&mut self, table: u32, name: &str) -> Result<u32, HostError> {
        let view = self.view(table)?;
        let place = view
            .columns()
            .position(|column| column.eq_ignore_ascii_case(name));
        let unknown = || Error::new(ER_BAD_FIELD_ERROR, &[&name, &view.definition().name()]);
        Ok(place.ok_or_else(unknown)? as u32)
    }

    fn index(&mut self, table: u32, name: &str) -> Result<u32, HostError> {
        Ok(self.view(table)?.index(name)? as u32)
    }

    fn get(&mut self, table: u32, index: u32, key: &[KeyValue]) -> Result<Option<CursorId>, HostError> {
        Ok(self.find(table, index, key)?)
    }

    fn scan(
        &mut self,
        table: u32,
        index: u32,
        key: &[KeyValue],
        direction: Direction,
    ) -> Result<CursorId, HostError> {
        Ok(self.begin_scan(table, index, key, direction)?)
    }

    fn next(&mut self, cursor: CursorId) -> Result<bool, HostError> {
        Ok(self.advance(cursor)?)
    }

    fn is_null(&mut self, cursor: CursorId, column: u32) -> Result<bool, HostError> {
        Ok(self.read(cursor, column, |value| Ok(value.is_null()))?)
    }

    fn integer(&mut self, cursor: CursorId, column: u32) -> Result<i64, HostError> {
        let zone = &self.context.session.settings.time_zone;
        Ok(self.read(cursor, column, |value| {
            Ok(match value {
                ValueRef::Null => 0,
                ValueRef::Int(number) => number,
                ValueRef::UInt(number) => number as i64,
                ValueRef::Year(year) => i64::from(year),
                ValueRef::Bit(bits) => bits.bits as i64,
                other => {
                    let number = convert::to_double(&other.into_owned(), zone);
                    number.map_or(0, |(number, _)| number.round() as i64)
                }
            })
        })?)
    }

    fn real(&mut self, cursor: CursorId, column: u32) -> Result<f64, HostError> {
        let zone = &self.context.session.settings.time_zone;
        Ok(self.read(cursor, column, |value| {
            Ok(match value {
                ValueRef::Null => 0.0,
                ValueRef::Int(number) => number as f64,
                ValueRef::UInt(number) => number as f64,
                other => convert::to_double(&other.into_owned(), zone).map_or(0.0, |(number, _)| number),
            })
        })?)
    }

    fn text(&mut self, cursor: CursorId, column: u32, read: &mut dyn FnMut(&[u8])) -> Result<(), HostError> {
        let zone = &self.context.session.settings.time_zone;
        Ok(self.read(cursor, column, |value| {
            match value {
                ValueRef::Null => read(&[]),
                ValueRef::Text(text) => read(text.as_bytes()),
                ValueRef::Bytes(bytes) => read(&bytes),
                other => {
                    let mut bytes = Vec::new();
                    text::append_value(&other, zone, &mut bytes);
                    read(&bytes);
                }
            }
            Ok(())
        })?)
    }

    fn close(&mut self, cursor: CursorId) {
        if let Some(TableCursor::MovedScan(scanned, cursor)) = self.cursors.remove(&cursor.0) {
            self.scanned.insert(scanned, Some(cursor));
        }
    }
}
