//! The rows events of a transaction: the tables they refer to, and the contents of their images.

use super::failure::Failure;
use super::table::MappedTable;
use paceline_binlog::EventGroup;
use paceline_binlog::event::{Event, EventType, FormatDescription, RowsEvent, RowsKind, TableId};
use paceline_binlog::mysql::PartialUpdateRowsEvent;
use smallvec::SmallVec;
use std::sync::Arc;

/// Tables that the table maps of a transaction name; `None` for tables whose rows are skipped.
pub type MappedTables = SmallVec<[(TableId, Option<Arc<MappedTable>>); 2]>;

/// A transaction that consists of row changes.
#[derive(Clone, Copy)]
pub struct ReplicatedRows<'a> {
    /// Events of the transaction.
    pub group: &'a EventGroup,
    /// Format of the file that contained the events.
    pub format: &'a FormatDescription,
    /// Tables that its table maps name.
    pub tables: &'a MappedTables,
}

impl<'a> ReplicatedRows<'a> {
    /// Returns the information needed to read its events.
    pub fn mapping(&self) -> RowMapping<'a> {
        RowMapping {
            format: self.format,
            tables: self.tables,
        }
    }
}

/// Information needed to read rows events: format and tables.
#[derive(Clone, Copy)]
pub struct RowMapping<'a> {
    /// Format of the file that contained the events.
    pub format: &'a FormatDescription,
    /// Tables that the table maps name.
    pub tables: &'a MappedTables,
}

impl<'a> RowMapping<'a> {
    /// Returns the table with a number; `None` if its rows are skipped.
    pub(super) fn table(&self, id: TableId) -> Result<Option<&'a MappedTable>, Failure> {
        Ok(self.shared_table(id)?.map(Arc::as_ref))
    }

    /// Does as [`table`](Self::table).
    pub(super) fn shared_table(&self, id: TableId) -> Result<Option<&'a Arc<MappedTable>>, Failure> {
        let found = self.tables.iter().find(|(known, _)| *known == id);
        match found {
            Some((_, table)) => Ok(table.as_ref()),
            None => Err(Failure::fatal(format_args!(
                "a row event is for table number {}, which no table map names",
                id.0
            ))),
        }
    }
}

/// Returns whether the images contain all columns. Bits after the last column are ignored.
pub(super) fn all_columns(event: &RowsEvent<'_>) -> bool {
    let holds_all = |present: &[u8]| {
        present.iter().enumerate().all(|(at, byte)| {
            let here = (event.columns - at * 8).min(8);
            let wanted = (0xffu16 >> (8 - here)) as u8;
            byte & wanted == wanted
        })
    };
    holds_all(event.columns_present)
        && (event.kind != RowsKind::Update || holds_all(event.columns_present_after))
}

/// Contents of the after images of an update.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AfterImages {
    Values,
    /// Changes of the present value for some columns: a [`PartialUpdateRowsEvent`], as a receiver passes it on.
    Changes,
}

/// Calls `visit` for every rows event that contains rows of one of our tables.
pub(super) fn each_rows_event(
    rows: &ReplicatedRows<'_>,
    mut visit: impl FnMut(&RowsEvent<'_>, AfterImages, &MappedTable) -> Result<(), Failure>,
) -> Result<(), Failure> {
    for event in rows.group.events().skip(1) {
        let (decoded, after) = match event.event_type() {
            EventType::MYSQL_PARTIAL_UPDATE_ROWS => (
                PartialUpdateRowsEvent::decode(event.body())?.0,
                AfterImages::Changes,
            ),
            event_type if event_type.is_rows() => match event.decode(rows.format)? {
                Event::Rows(decoded) => (decoded, AfterImages::Values),
                _ => continue,
            },
            _ => continue,
        };
        if !decoded.rows.is_empty()
            && let Some(table) = rows.mapping().table(decoded.table_id)?
        {
            visit(&decoded, after, table)?;
        }
    }
    Ok(())
}
