//! The rows events of a transaction: of which tables they are, and what their images hold.

use super::failure::Failure;
use super::table::MappedTable;
use paceline_binlog::EventGroup;
use paceline_binlog::event::{Event, EventType, FormatDescription, RowsEvent, RowsKind, TableId};
use paceline_binlog::mysql::PartialUpdateRowsEvent;
use smallvec::SmallVec;
use std::sync::Arc;

/// The tables that a transaction's table maps name; `None` for those whose rows are passed over.
pub type MappedTables = SmallVec<[(TableId, Option<Arc<MappedTable>>); 2]>;

/// A transaction that consists of rows.
#[derive(Clone, Copy)]
pub struct ReplicatedRows<'a> {
    /// Its events.
    pub group: &'a EventGroup,
    /// The format of the file that it stood in.
    pub format: &'a FormatDescription,
    /// Its tables.
    pub tables: &'a MappedTables,
}

impl<'a> ReplicatedRows<'a> {
    /// How its events are to be read.
    pub fn mapping(&self) -> RowMapping<'a> {
        RowMapping {
            format: self.format,
            tables: self.tables,
        }
    }
}

/// How events with rows are to be read, and for which tables.
#[derive(Clone, Copy)]
pub struct RowMapping<'a> {
    /// The format of the file that they stood in.
    pub format: &'a FormatDescription,
    /// Their tables.
    pub tables: &'a MappedTables,
}

impl<'a> RowMapping<'a> {
    /// The table of a number. `None`: its rows are passed over.
    pub(super) fn table(&self, id: TableId) -> Result<Option<&'a MappedTable>, Failure> {
        let found = self.tables.iter().find(|(known, _)| *known == id);
        match found {
            Some((_, table)) => Ok(table.as_deref()),
            None => Err(Failure::fatal(format_args!(
                "a row event is for table number {}, which no table map names",
                id.0
            ))),
        }
    }
}

/// Whether the images hold all columns. What is behind the last column in the bitmap does not matter.
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

/// What stands in the after images of an update.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AfterImages {
    /// Values.
    Values,
    /// For some columns changes of what the row has: [`PartialUpdateRowsEvent`], as a receiver hands it on.
    Changes,
}

/// Calls `visit` with every rows event that has rows for a table of ours.
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
