//! Rows that fire this server's triggers: `slave_run_triggers_for_rbr`.
//!
//! A trigger needs a session, which this crate does not know. So the rows of a table whose triggers fire are decoded
//! here, and a session executes a statement for each. The primary's transaction then has all of its rows from that
//! session.

use super::ExecMode;
use super::change::{not_found, passes_over_missing};
use super::events::AfterImages;
use super::failure::{Failure, HandlerError};
use super::partial_rows::{ImageColumns, PartialRow};
use super::table::MappedTable;
use paceline_binlog::event::{EventType, RawEvent, RowsEvent, RowsFlags, RowsKind};
use paceline_catalog::TableDefinition;
use paceline_types::error_code::{ER_DUP_ENTRY, ER_LOCK_DEADLOCK, ER_LOCK_WAIT_TIMEOUT};
use std::sync::Arc;

/// A changed row: values of our columns, and `None` for columns that an image does not contain.
#[derive(Debug)]
pub enum FiringRow {
    /// A new row.
    Insert {
        /// Image after the change.
        after: PartialRow,
    },
    /// A changed row.
    Update {
        /// Image before the change.
        before: PartialRow,
        /// Image after the change.
        after: PartialRow,
    },
    /// A deleted row.
    Delete {
        /// Image before the change.
        before: PartialRow,
    },
}

/// Rows of one event, whose changes fire triggers.
pub struct FiringRows {
    table: Arc<MappedTable>,
    /// The rows. All of them have the same kind of change and the same columns.
    pub rows: Vec<FiringRow>,
    /// Whether foreign keys are checked and their actions run.
    pub checks_foreign_keys: bool,
    /// Text of the primary's statement.
    pub annotation: Option<Vec<u8>>,
    /// Start of the primary's statement in seconds since 1970.
    pub timestamp_seconds: u32,
    event_type: EventType,
    end_position: u32,
}

impl FiringRows {
    pub(super) fn new(
        event: &RawEvent<'_>,
        decoded: &RowsEvent<'_>,
        after: AfterImages,
        table: &Arc<MappedTable>,
        annotation: Option<&[u8]>,
    ) -> Result<FiringRows, Failure> {
        let rows = match after {
            AfterImages::Values => rows_of(decoded, table),
            AfterImages::Changes => Err(Failure::fatal(
                "changes of JSON documents (binlog_row_value_options of the primary) cannot fire triggers \
                 (slave_run_triggers_for_rbr)",
            )),
        };
        let (event_type, header) = (event.event_type(), event.header());
        Ok(FiringRows {
            rows: rows.map_err(|failure| failure.on_rows(event_type, table.definition()))?,
            checks_foreign_keys: decoded.flags.0 & RowsFlags::NO_FOREIGN_KEY_CHECKS == 0,
            annotation: annotation.map(<[u8]>::to_vec),
            timestamp_seconds: header.timestamp,
            event_type,
            end_position: header.end_position,
            table: table.clone(),
        })
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
        match is_found || passes_over_missing(&self.table) {
            true => Ok(()),
            false => Err(self.at(not_found(&self.table))),
        }
    }

    /// Adds this event to a failure of one of its rows. MariaDB has no number of its own interface for the errors of
    /// triggers.
    pub fn at(&self, failure: Failure) -> Failure {
        let handler_error = match failure.code {
            ER_LOCK_DEADLOCK | ER_LOCK_WAIT_TIMEOUT => None,
            ER_DUP_ENTRY => Some(HandlerError::DuplicateKey),
            _ => Some(HandlerError::Generic),
        };
        Failure {
            handler_error: failure.handler_error.or(handler_error),
            end_log_pos: self.end_position,
            ..failure.on_rows(self.event_type, self.definition())
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
            (RowsKind::Write, _) => FiringRow::Insert { after: first },
            (_, Some(held_after)) => FiringRow::Update {
                before: first,
                after: held_after.take(&mut rest, table)?,
            },
            (_, None) => FiringRow::Delete { before: first },
        });
    }
    Ok(rows)
}
