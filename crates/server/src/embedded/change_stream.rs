//! Following the log within the process: the committed transactions from a GTID position on, without a socket.
//!
//! ```text
//!   position ─▶ Log::locate_start ─▶ LogReader ─▶ event groups ─▶ ChangedTransaction ─▶ ChangeRef, ChangeRef, …
//!                                       ▲
//!                 wait until more of the log is published: nothing is shown that a reader could not see yet
//! ```
//! The rules of a position are those of a replica: in each domain that it names, what follows its transaction; of other
//! domains everything. A lease keeps the files that the stream still needs.
//!
//! # Types of the rows
//! A table map in the log has the types of its time. If the table's definition is older than the transaction and has
//! these types, the definition's are used: names, signs, character sets and labels are known. After an ALTER TABLE that
//! the stream has not reached yet, the table map must do: with `binlog_row_metadata=FULL` it has all of that, without
//! it columns have no names, integers are signed and text is bytes. [`RowChange::columns`] tells which.

use super::EmbeddedServer;
use paceline_binlog::event::{
    Event, FormatDescription, GtidFlags, IgnorableEvent, RowsEvent, RowsKind, TableId, TableMapEvent,
};
use paceline_binlog::log::LogReader;
use paceline_binlog::{EventGroup, GtidPosition, LOCAL_DOMAIN};
use paceline_catalog::TableDefinition;
use paceline_txn::{LogLease, SendLimit};
use paceline_types::row_image::RowLayout;
use paceline_types::table_map_metadata::{are_mapped_as, column_names, decode_columns};
use paceline_types::{DomainId, Gtid, LogPosition, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Name of a stream as the holder of a lease on the log.
const HOLDER: &str = "a change stream of the program";

/// The committed transactions from a position on.
pub struct ChangeStream {
    server: Arc<EmbeddedServer>,
    reader: LogReader,
    lease: LogLease,
    sendable: Arc<SendLimit>,
    /// End of the part of the log that may be shown.
    limit: LogPosition,
    /// Last transactions that the program has, of domains whose stream has not reached them yet.
    not_reached: BTreeMap<DomainId, Gtid>,
    position: GtidPosition,
}

impl ChangeStream {
    /// Begins after a position.
    ///
    /// # Errors
    /// A message: the position is not in the log, or what follows it has been purged.
    pub fn new(server: &Arc<EmbeddedServer>, position: GtidPosition) -> Result<ChangeStream, String> {
        let transactions = &server.server().transactions;
        let log = transactions.log();
        let state = log.state();
        for gtid in position.iter() {
            let last = state.last_of(gtid.domain_id, gtid.server_id);
            if last.is_none_or(|last| last.sequence < gtid.sequence) {
                return Err(format!("the log does not contain {gtid}"));
            }
        }
        // Taken before the place is known, so that nothing is purged in between.
        let lease = transactions.lease(LogPosition::ZERO, HOLDER);
        let start = log.locate_start(&position).map_err(|error| error.to_string())?;
        lease.advance(start.from);
        let reader = log.reader(start.from, start.from);
        let not_reached = position.iter().filter(|gtid| {
            let last = start.state.last_of(gtid.domain_id, gtid.server_id);
            last.is_none_or(|last| last.sequence < gtid.sequence)
        });
        Ok(ChangeStream {
            server: server.clone(),
            reader: reader.map_err(|error| error.to_string())?,
            lease,
            sendable: transactions.sendable_handle(),
            limit: start.from,
            not_reached: not_reached.map(|gtid| (gtid.domain_id, gtid)).collect(),
            position,
        })
    }

    /// Returns the server.
    pub fn server(&self) -> &Arc<EmbeddedServer> {
        &self.server
    }

    /// Returns the position after the last transaction that was returned. A later stream continues there.
    pub fn position(&self) -> &GtidPosition {
        &self.position
    }

    /// Returns the next transaction; waits until there is one. Dropping the future loses nothing.
    ///
    /// # Errors
    /// A message: the log is damaged.
    pub async fn next(&mut self) -> Result<ChangedTransaction, String> {
        loop {
            while let Some(group) = self.reader.next_group().map_err(|error| error.to_string())? {
                self.lease.advance(group.end());
                if self.is_wanted(group.gtid()) {
                    self.position.set(group.gtid());
                    return Ok(ChangedTransaction {
                        format: self.reader.format().clone(),
                        server: self.server.clone(),
                        group,
                    });
                }
            }
            self.sendable.past(self.limit).await;
            let durable = self.sendable.position();
            self.server.server().transactions.published_up_to(durable).await;
            self.limit = durable;
            self.reader.set_limit(durable);
        }
    }

    fn is_wanted(&mut self, gtid: Gtid) -> bool {
        if gtid.domain_id == LOCAL_DOMAIN {
            return false;
        }
        match self.not_reached.get(&gtid.domain_id) {
            None => true,
            Some(last) => {
                let is_last = gtid.server_id == last.server_id && gtid.sequence >= last.sequence;
                let is_after = is_last && gtid.sequence > last.sequence;
                if is_last {
                    self.not_reached.remove(&gtid.domain_id);
                }
                is_after
            }
        }
    }
}

/// A committed transaction.
pub struct ChangedTransaction {
    group: EventGroup,
    format: FormatDescription,
    server: Arc<EmbeddedServer>,
}

/// A change of a transaction.
#[derive(Debug)]
pub enum ChangeRef<'c> {
    /// Of a row.
    Row(RowChange<'c>),
    /// A statement that is logged as text: CREATE TABLE and others.
    Statement {
        /// Default database of its session; may be empty.
        database: &'c str,
        /// The text.
        text: &'c str,
    },
}

/// A change of a row.
#[derive(Debug)]
pub struct RowChange<'c> {
    /// Database of the table.
    pub database: &'c str,
    /// The table.
    pub table: &'c str,
    /// Names of the columns; empty if they are not known.
    pub columns: &'c [String],
    /// The row before; `None` for an INSERT.
    pub before: Option<&'c [Value]>,
    /// The row after; `None` for a DELETE.
    pub after: Option<&'c [Value]>,
}

impl RowChange<'_> {
    /// Returns a column's values before and after.
    pub fn column(&self, name: &str) -> Option<(Option<&Value>, Option<&Value>)> {
        let place = (self.columns.iter()).position(|column| column.eq_ignore_ascii_case(name))?;
        Some((
            self.before.and_then(|row| row.get(place)),
            self.after.and_then(|row| row.get(place)),
        ))
    }
}

/// A table that the events of a transaction refer to.
struct MappedTable {
    database: String,
    table: String,
    layout: RowLayout,
    columns: Vec<String>,
}

impl ChangedTransaction {
    /// Returns its GTID.
    pub fn gtid(&self) -> Gtid {
        self.group.gtid()
    }

    /// Returns the time when it was logged, in seconds since 1970.
    pub fn seconds(&self) -> u32 {
        (self.group.events().next()).map_or(0, |event| event.header().timestamp)
    }

    /// Calls `visit` with each change, in order. A large transaction stays in its file: one row at a time is in memory.
    ///
    /// # Errors
    /// A message: an event cannot be decoded. The errors of `visit`.
    pub fn for_each<E: From<String>>(
        &self,
        mut visit: impl FnMut(ChangeRef<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let failed = |error: &dyn std::fmt::Display| E::from(format!("{}: {error}", self.gtid()));
        let mut mapped: Vec<(TableId, MappedTable)> = Vec::new();
        let is_statement = self.group.gtid_event().map_err(|error| failed(&error))?;
        let is_statement = is_statement.flags.contains(GtidFlags::STANDALONE);
        let mut text_follows = false;
        for event in self.group.events().skip(1) {
            let decoded = event.decode(&self.format);
            let decoded = decoded.and_then(|decoded| decoded.out_of_record(event.header(), &self.format));
            match decoded.map_err(|error| failed(&error))? {
                Event::TableMap(map) => {
                    let table = self.mapped_table(&map).map_err(|error| failed(&error))?;
                    mapped.retain(|(id, _)| *id != map.table_id);
                    mapped.push((map.table_id, table));
                }
                Event::Rows(rows) => {
                    if rows.rows.is_empty() {
                        continue;
                    }
                    let table = mapped.iter().find(|(id, _)| *id == rows.table_id);
                    let (_, table) = table.ok_or_else(|| failed(&"rows of an unknown table"))?;
                    visit_rows(table, &rows, &failed, &mut visit)?;
                }
                Event::Ignorable(IgnorableEvent::Text) => text_follows = true,
                Event::Query(query) => {
                    // The text of a statement whose rows are here, too, and the frame of the transaction.
                    let is_of_rows = std::mem::take(&mut text_follows);
                    if !is_of_rows && (is_statement || !query.is_frame()) && self.group.epoch_mark().is_none()
                    {
                        let text = String::from_utf8_lossy(&query.sql);
                        let database = String::from_utf8_lossy(query.database);
                        visit(ChangeRef::Statement {
                            database: &database,
                            text: &text,
                        })?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn mapped_table(&self, map: &TableMapEvent<'_>) -> Result<MappedTable, paceline_types::Error> {
        let database = String::from_utf8_lossy(map.database).into_owned();
        let table = String::from_utf8_lossy(map.table).into_owned();
        let catalog = self.server.server().catalog.load();
        let definition = catalog.table(&database, &table);
        let definition = definition.filter(|definition| self.is_of_definition(definition, map));
        let (layout, columns) = match definition {
            Some(definition) => (
                definition.schema().layout().clone(),
                definition
                    .columns()
                    .iter()
                    .map(|column| column.name.clone())
                    .collect(),
            ),
            None => {
                let types = decode_columns(map.column_types, map.metadata, map.optional_metadata)?;
                (RowLayout::new(types), column_names(map.optional_metadata)?)
            }
        };
        Ok(MappedTable {
            database,
            table,
            layout,
            columns,
        })
    }

    /// Returns whether the rows were logged with this definition, or with one of the same types.
    fn is_of_definition(&self, definition: &TableDefinition, map: &TableMapEvent<'_>) -> bool {
        let types = definition.columns().iter().map(|column| &column.data_type);
        definition.version() < self.group.end() && are_mapped_as(types, map.column_types, map.metadata)
    }
}

fn visit_rows<E>(
    table: &MappedTable,
    event: &RowsEvent<'_>,
    failed: &impl Fn(&dyn std::fmt::Display) -> E,
    visit: &mut impl FnMut(ChangeRef<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let layout = &table.layout;
    if event.columns != layout.columns() {
        return Err(failed(&"rows with another number of columns"));
    }
    let mut rest: &[u8] = &event.rows;
    let (mut before, mut after) = (Vec::new(), Vec::new());
    while !rest.is_empty() {
        let mut next = |values: &mut Vec<Value>| {
            let (image, behind) = layout.split(rest).map_err(|error| failed(&error))?;
            rest = behind;
            *values = image.to_values().map_err(|error| failed(&error))?;
            Ok::<(), E>(())
        };
        let (has_before, has_after) = match event.kind {
            RowsKind::Write => (false, true),
            RowsKind::Update => (true, true),
            RowsKind::Delete => (true, false),
        };
        if has_before {
            next(&mut before)?;
        }
        if has_after {
            next(&mut after)?;
        }
        visit(ChangeRef::Row(RowChange {
            database: &table.database,
            table: &table.table,
            columns: &table.columns,
            before: has_before.then_some(&before[..]),
            after: has_after.then_some(&after[..]),
        }))?;
    }
    Ok(())
}
