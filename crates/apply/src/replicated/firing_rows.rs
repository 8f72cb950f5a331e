//! Rows that fire this server's triggers: `slave_run_triggers_for_rbr`.
//!
//! A trigger needs a session, which this crate does not know. So the rows of a table whose triggers fire are decoded
//! here, and a session executes a statement for each. The primary's transaction then has all of its rows from that
//! session.

use super::ExecMode;
use super::change::{missing, passes_over_missing};
use super::events::{AfterImages, RowMapping};
use super::failure::{Failure, HandlerError};
use super::partial_rows::ImageColumns;
use super::table::MappedTable;
use paceline_binlog::event::{Event, RawEvent, RowsEvent, RowsFlags, RowsKind};
use paceline_catalog::TableDefinition;
use paceline_storage::RowPlacement;
use paceline_types::Value;
use std::sync::Arc;

/// Values of our columns; `None` for columns that the image does not contain.
pub type RowValues = Vec<Option<Value>>;

/// A changed row. An image that the change does not have is empty.
#[derive(Debug)]
pub struct FiringRow {
    /// The row before the change.
    pub before: RowValues,
    /// The row after the change.
    pub after: RowValues,
}

/// Rows of one event, whose changes fire triggers.
pub struct FiringRows {
    table: Arc<MappedTable>,
    /// Kind of change.
    pub kind: RowsKind,
    /// The rows.
    pub rows: Vec<FiringRow>,
    /// Whether foreign keys are checked and their actions run.
    pub checks_foreign_keys: bool,
    event: &'static str,
    end_position: u32,
}

impl FiringRows {
    /// Decodes a rows event. `None`: it is another event, or one for a table whose triggers do not fire.
    ///
    /// # Errors
    /// If the event is malformed, or has values that cannot be converted.
    pub fn decode(event: &RawEvent<'_>, mapping: RowMapping<'_>) -> Result<Option<FiringRows>, Failure> {
        if !event.event_type().is_rows() {
            return Ok(None);
        }
        let Event::Rows(decoded) = event.decode(mapping.format)? else {
            return Ok(None);
        };
        let table = mapping.shared_table(decoded.table_id)?;
        let Some(table) = table.filter(|table| table.fires_triggers()) else {
            return Ok(None);
        };
        Ok(Some(FiringRows {
            rows: rows_of(&decoded, table)?,
            kind: decoded.kind,
            checks_foreign_keys: decoded.flags.0 & RowsFlags::NO_FOREIGN_KEY_CHECKS == 0,
            event: event.event_type().name(),
            end_position: event.header().end_position,
            table: table.clone(),
        }))
    }

    /// Returns our table.
    pub fn definition(&self) -> &Arc<TableDefinition> {
        self.table.definition()
    }

    /// Returns whether a row replaces one that has its key, and a missing one is no error: `slave_exec_mode`.
    pub fn is_idempotent(&self) -> bool {
        self.table.exec_mode() == ExecMode::Idempotent
    }

    /// Checks that a row which is to be changed was found.
    ///
    /// # Errors
    /// 1032 if it was not, and must be there.
    pub fn check_found(&self, is_found: bool) -> Result<(), Failure> {
        if is_found || passes_over_missing(&self.table) {
            return Ok(());
        }
        let error = match self.table.definition().schema().clustered() {
            RowPlacement::Key(_) | RowPlacement::Single(_) => HandlerError::KeyNotFound,
            RowPlacement::RowId(_) => HandlerError::EndOfFile,
        };
        Err(self.at(missing(&self.table, error)))
    }

    /// Adds this event to a failure of one of its rows.
    pub fn at(&self, failure: Failure) -> Failure {
        let definition = self.definition();
        Failure {
            event: Some(self.event),
            table: Some((definition.database().to_owned(), definition.name().to_owned())),
            end_log_pos: self.end_position,
            ..failure
        }
    }
}

fn rows_of(event: &RowsEvent<'_>, table: &MappedTable) -> Result<Vec<FiringRow>, Failure> {
    let held = ImageColumns::new(event, event.columns_present, table)?;
    let held_after = match event.kind {
        RowsKind::Update => Some(ImageColumns::of_after(event, AfterImages::Values, table)?),
        RowsKind::Write | RowsKind::Delete => None,
    };
    let mut rest: &[u8] = &event.rows;
    let mut rows = Vec::new();
    while !rest.is_empty() {
        let first = held.take(&mut rest, table)?;
        rows.push(match (event.kind, &held_after) {
            (RowsKind::Write, _) => FiringRow {
                before: Vec::new(),
                after: first,
            },
            (_, Some(held_after)) => FiringRow {
                before: first,
                after: held_after.take(&mut rest, table)?,
            },
            (_, None) => FiringRow {
                before: first,
                after: Vec::new(),
            },
        });
    }
    Ok(rows)
}
