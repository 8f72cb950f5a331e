//! One event group becomes a write set, or a DDL statement.

use std::cmp::Ordering;
use std::sync::Arc;

use paceline_binlog::EventGroup;
use paceline_binlog::event::{
    Event, FormatDescription, GtidFlags, QueryEvent, RowsEvent, RowsKind, TableId, TableMapEvent,
};
use paceline_storage::{
    Change, Cursor, Direction, EngineKind, Error as StorageError, KeyRange, Row, RowReader, Storage,
    StorageSnapshot, StoredValue, TableSchema, VERSION_LENGTH, WriteSet,
};
use paceline_types::Version;

use crate::definitions::{Definitions, LoggedDdl, ReplayTable};
use crate::error::{Error, Problem, Result};

/// What happens to rows of MEMORY tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemoryTables {
    /// They are written like others: on a replica.
    Apply,
    /// They are passed over: after a restart, which empties these tables, and logs that, before anyone reads them.
    Skip,
}

/// What rows of tables that are not there any more mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum MissingTables {
    /// That log and tables do not fit each other.
    Refuse,
    /// Nothing: nobody can read the table.
    Skip,
}

/// What an event group turned out to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Applied {
    /// Changes of so many rows, which are in the write set now; perhaps none.
    Rows(u64),
    /// DDL, which [`GroupApplier::ddl`] gives.
    Ddl,
}

/// The newest state, for tables without a primary key.
pub trait CurrentRows {
    /// The engines, with everything before this group applied.
    ///
    /// # Errors
    /// If what is before could not be applied.
    fn settled(&mut self) -> Result<&Storage>;
}

/// Turns event groups into write sets, in the log's order. Keeps what it learned of tables from group to group.
pub struct GroupApplier {
    memory_tables: MemoryTables,
    missing_tables: MissingTables,
    /// Tables of the statement that is being read.
    mapped: Vec<(TableId, Target)>,
    /// The last table map: the next one is most often the same.
    last_map: Option<(Vec<u8>, Target)>,
}

/// Where a table's rows go.
#[derive(Clone)]
enum Target {
    Table(Arc<TableSchema>),
    /// The events are older than the table of that name, or not wanted.
    Skip,
}

impl GroupApplier {
    /// An applier that has seen nothing.
    pub fn new(memory_tables: MemoryTables) -> Self {
        GroupApplier {
            memory_tables,
            missing_tables: MissingTables::Refuse,
            mapped: Vec::new(),
            last_map: None,
        }
    }

    /// One for a single group that lies in the past of the tables.
    pub(crate) fn looking_back() -> Self {
        GroupApplier {
            missing_tables: MissingTables::Skip,
            ..GroupApplier::new(MemoryTables::Apply)
        }
    }

    /// Adds a group's changes to an empty write set. `format` is that of the file that the group was read from.
    ///
    /// # Errors
    /// [`Error::Group`] if the group does not fit the tables.
    pub fn rows<D: Definitions>(
        &mut self,
        group: &EventGroup,
        format: &FormatDescription,
        definitions: &D,
        current: &mut impl CurrentRows,
        writes: &mut WriteSet,
    ) -> Result<Applied> {
        debug_assert!(writes.is_empty());
        self.changes(group, format, definitions, |schema, before, after| {
            change_row(schema, before, after, current, writes)?;
            Ok(writes.write_spilled()?)
        })
    }

    /// Gives the changes of a group's rows, in their order: the images before and after.
    ///
    /// # Errors
    /// As [`rows`](Self::rows); what `change` returns.
    pub(crate) fn changes<D: Definitions>(
        &mut self,
        group: &EventGroup,
        format: &FormatDescription,
        definitions: &D,
        mut change: impl FnMut(&Arc<TableSchema>, Option<&[u8]>, Option<&[u8]>) -> Result<(), RowError>,
    ) -> Result<Applied> {
        self.mapped.clear();
        let fail = |problem| at_group(group, problem);
        let mut rows = 0;
        let events = group.events();
        for event in events.skip(1) {
            match event
                .decode(format)
                .map_err(|error| fail(Problem::Malformed(error)))?
            {
                Event::TableMap(map) => {
                    self.map_table(&map, event.body(), group.end(), definitions)
                        .map_err(fail)?;
                }
                Event::Rows(event) => rows += self.rows_event(group, &event, &mut change)?,
                Event::Query(query) => match kind_of(&query) {
                    QueryKind::Frame => {}
                    QueryKind::Other if is_standalone(group)? => {
                        self.last_map = None;
                        return Ok(Applied::Ddl);
                    }
                    // CREATE TABLE … SELECT of a primary: a group of our own before it has made the table.
                    QueryKind::Other if makes_table(&query) => {}
                    QueryKind::Other => {
                        return Err(fail(Problem::Statement(
                            String::from_utf8_lossy(&query.sql).into_owned(),
                        )));
                    }
                },
                Event::Xid(_)
                | Event::AnnotateRows(_)
                | Event::Ignorable(_)
                | Event::Intvar(_)
                | Event::Rand(_)
                | Event::UserVar(_) => {}
                _ => return Err(fail(Problem::UnexpectedEvent(event.event_type().name()))),
            }
        }
        Ok(Applied::Rows(rows))
    }

    /// Calls `run` with the DDL statement of a group that [`rows`](Self::rows) has found to be one.
    ///
    /// # Errors
    /// [`Error::Group`] if it cannot be decoded, or `run` fails.
    pub fn ddl<T>(
        &self,
        group: &EventGroup,
        format: &FormatDescription,
        run: impl FnOnce(&LoggedDdl<'_>) -> Result<T, Box<dyn std::error::Error + Send + Sync>>,
    ) -> Result<T> {
        for event in group.events().skip(1) {
            let decoded = event
                .decode(format)
                .map_err(|error| at_group(group, Problem::Malformed(error)))?;
            if let Event::Query(query) = decoded {
                let ddl = LoggedDdl {
                    query: &query,
                    event_flags: event.header().flags,
                    timestamp_seconds: event.header().timestamp,
                    gtid: group.gtid(),
                    version: group.end(),
                };
                return run(&ddl).map_err(|source| {
                    let statement = String::from_utf8_lossy(&query.sql).into_owned();
                    at_group(group, Problem::Ddl { statement, source })
                });
            }
        }
        Err(at_group(
            group,
            Problem::UnexpectedEvent("DDL group without a Query"),
        ))
    }

    fn map_table<D: Definitions>(
        &mut self,
        map: &TableMapEvent<'_>,
        body: &[u8],
        version: Version,
        definitions: &D,
    ) -> Result<(), Problem> {
        let target = match &self.last_map {
            Some((last, target)) if last == body => target.clone(),
            _ => {
                let target = self.find_table(map, version, definitions)?;
                self.last_map = Some((body.to_vec(), target.clone()));
                target
            }
        };
        match self.mapped.iter_mut().find(|(id, _)| *id == map.table_id) {
            Some(mapped) => mapped.1 = target,
            None => self.mapped.push((map.table_id, target)),
        }
        Ok(())
    }

    fn find_table<D: Definitions>(
        &self,
        map: &TableMapEvent<'_>,
        version: Version,
        definitions: &D,
    ) -> Result<Target, Problem> {
        let (database, table) = (
            String::from_utf8_lossy(map.database),
            String::from_utf8_lossy(map.table),
        );
        let Some(ReplayTable { schema, defined_at }) = definitions.table(&database, &table) else {
            if self.missing_tables == MissingTables::Skip {
                return Ok(Target::Skip);
            }
            return Err(Problem::NoSuchTable {
                database: database.into_owned(),
                table: table.into_owned(),
            });
        };
        if version <= defined_at {
            return Ok(Target::Skip);
        }
        let (has, logged) = (schema.columns().len(), map.columns());
        if has != logged {
            return Err(Problem::ColumnCount {
                database: database.into_owned(),
                table: table.into_owned(),
                has,
                logged,
            });
        }
        let in_memory = schema.clustered_id().engine() == EngineKind::Memory;
        Ok(match self.memory_tables {
            MemoryTables::Skip if in_memory => Target::Skip,
            MemoryTables::Skip | MemoryTables::Apply => Target::Table(schema),
        })
    }

    fn rows_event(
        &self,
        group: &EventGroup,
        event: &RowsEvent<'_>,
        change: &mut impl FnMut(&Arc<TableSchema>, Option<&[u8]>, Option<&[u8]>) -> Result<(), RowError>,
    ) -> Result<u64> {
        let fail = |problem| at_group(group, problem);
        if event.rows.is_empty() {
            return Ok(0); // the mark of a statement's end
        }
        let schema = match self.mapped.iter().find(|(id, _)| *id == event.table_id) {
            Some((_, Target::Table(schema))) => schema,
            Some((_, Target::Skip)) => return Ok(0),
            None => return Err(fail(Problem::UnmappedTable(event.table_id.0))),
        };
        let columns = schema.columns().len();
        if event.columns != columns
            || !holds_all(event.columns_present, columns)
            || (event.kind == RowsKind::Update && !holds_all(event.columns_present_after, columns))
        {
            return Err(fail(Problem::PartialImage));
        }
        let mut rest: &[u8] = &event.rows;
        let mut rows = 0;
        while !rest.is_empty() {
            let mut next_image = || {
                let (image, behind) = schema.layout().split(rest).map_err(|error| fail(error.into()))?;
                rest = behind;
                Ok::<_, Error>(image.bytes())
            };
            let (before, after) = match event.kind {
                RowsKind::Write => (None, Some(next_image()?)),
                RowsKind::Update => (Some(next_image()?), Some(next_image()?)),
                RowsKind::Delete => (Some(next_image()?), None),
            };
            change(schema, before, after).map_err(|error| match error {
                RowError::Problem(problem) => fail(problem),
                RowError::Other(error) => error,
            })?;
            rows += 1;
        }
        Ok(rows)
    }
}

/// Why a row cannot be changed.
pub(crate) enum RowError {
    Problem(Problem),
    Other(Error),
}

impl From<StorageError> for RowError {
    fn from(error: StorageError) -> Self {
        RowError::Problem(Problem::Row(error))
    }
}

fn change_row(
    schema: &TableSchema,
    before: Option<&[u8]>,
    after: Option<&[u8]>,
    current: &mut impl CurrentRows,
    writes: &mut WriteSet,
) -> Result<(), RowError> {
    let finds_by_image = before.is_some_and(|image| schema.hash_range(image).is_some());
    let below = match finds_by_image {
        true => Below::Newest(current.settled().map_err(RowError::Other)?),
        false => Below::Nothing,
    };
    change_row_over(&below, schema, before, after, writes)
}

/// Changes a row of what is below with the write set on top.
pub(crate) fn change_row_over(
    below: &Below<'_>,
    schema: &TableSchema,
    before: Option<&[u8]>,
    after: Option<&[u8]>,
    writes: &mut WriteSet,
) -> Result<(), RowError> {
    let mut key = None;
    if let Some(image) = before
        && schema.hash_range(image).is_some()
    {
        let mut reader = Merged { below, writes };
        key = Some(
            schema
                .find_row(image, &mut reader)?
                .ok_or(StorageError::MissingRow)?,
        );
    }
    let before = before.map(|image| Row {
        image,
        key: key.as_deref(),
    });
    Ok(schema.row_change(before, after, writes)?)
}

/// What a row without a key is looked for in.
pub(crate) enum Below<'a> {
    /// Nothing: it has a key.
    Nothing,
    /// The engines, as they are.
    Newest(&'a Storage),
    /// What is published at a place.
    Snapshot(&'a StorageSnapshot),
}

impl Below<'_> {
    fn scan(&self, range: KeyRange) -> Option<Cursor> {
        match self {
            Below::Nothing => None,
            Below::Newest(storage) => Some(storage.scan_newest(range, Direction::Forward)),
            Below::Snapshot(snapshot) => Some(snapshot.scan(range, Direction::Forward)),
        }
    }

    fn get(&self, key: &[u8]) -> Result<Option<StoredValue<'_>>, StorageError> {
        match self {
            Below::Nothing => Ok(None),
            Below::Newest(storage) => storage.get_newest(key),
            Below::Snapshot(snapshot) => snapshot.get(key),
        }
    }
}

/// What is below with the group's own writes on top.
struct Merged<'a> {
    below: &'a Below<'a>,
    writes: &'a WriteSet,
}

impl RowReader for Merged<'_> {
    type Error = StorageError;

    fn visit_keys(
        &mut self,
        range: KeyRange,
        visit: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<(), StorageError> {
        let mut own = self.writes.range(&range).peekable();
        let mut cursor = self.below.scan(range);
        let mut stored = match &mut cursor {
            Some(cursor) => cursor.advance()?,
            None => false,
        };
        loop {
            let stored_key = match &cursor {
                Some(cursor) if stored => cursor.entry().map(|(key, _)| key),
                _ => None,
            };
            let order = match (stored_key, own.peek()) {
                (None, None) => return Ok(()),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(stored), Some((own, _))) => stored.cmp(own),
            };
            let goes_on = match order {
                Ordering::Less => visit(stored_key.unwrap_or_default()),
                Ordering::Equal | Ordering::Greater => match own.next() {
                    Some((key, Change::Put(_))) => visit(key),
                    Some((_, Change::Delete)) | None => true,
                },
            };
            if !goes_on {
                return Ok(());
            }
            if order.is_le()
                && let Some(cursor) = &mut cursor
            {
                stored = cursor.advance()?;
            }
        }
    }

    fn get(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, StorageError> {
        value.clear();
        match self.writes.get(key) {
            Some(Change::Put(own)) => value.extend_from_slice(own),
            Some(Change::Delete) => return Ok(false),
            None => match self.below.get(key)? {
                Some(stored) => value.extend_from_slice(&stored),
                None => return Ok(false),
            },
        }
        debug_assert!(value.len() >= VERSION_LENGTH);
        Ok(true)
    }
}

enum QueryKind {
    /// BEGIN, COMMIT, SAVEPOINT: nothing to do.
    Frame,
    Other,
}

fn kind_of(query: &QueryEvent<'_>) -> QueryKind {
    let sql = query.sql.trim_ascii();
    let begins = |word: &[u8]| sql.len() >= word.len() && sql[..word.len()].eq_ignore_ascii_case(word);
    if query.ends_group()
        || sql.eq_ignore_ascii_case(b"BEGIN")
        || begins(b"SAVEPOINT ")
        || begins(b"ROLLBACK TO ")
    {
        QueryKind::Frame
    } else {
        QueryKind::Other
    }
}

/// Whether a statement in front of rows is the definition of the table that they fill, as a primary in row format logs CREATE TABLE … SELECT.
pub fn makes_table(query: &QueryEvent<'_>) -> bool {
    let sql = query.sql.trim_ascii_start();
    let begins = |words: &[u8]| {
        sql.get(..words.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(words))
    };
    begins(b"CREATE TABLE ") || begins(b"CREATE OR REPLACE TABLE ")
}

fn is_standalone(group: &EventGroup) -> Result<bool> {
    Ok(group.gtid_event()?.flags.contains(GtidFlags::STANDALONE))
}

/// Whether a bitmap of columns has them all. What is behind the last column does not matter.
fn holds_all(present: &[u8], columns: usize) -> bool {
    present.iter().enumerate().all(|(at, byte)| {
        let here = (columns - at * 8).min(8);
        let wanted = (0xffu16 >> (8 - here)) as u8;
        byte & wanted == wanted
    })
}

pub(crate) fn at_group(group: &EventGroup, problem: Problem) -> Error {
    Error::Group {
        gtid: group.gtid(),
        position: group.start(),
        problem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_made_in_front_of_its_rows() {
        let makes = |sql: &str| makes_table(&QueryEvent::new(b"", sql.as_bytes()));
        assert!(
            makes("CREATE TABLE `t` (\n  `a` int)") && makes("CREATE OR REPLACE TABLE `t` (\n  `a` int)")
        );
        assert!(!makes("CREATE OR REPLACE TEMPORARY TABLE `t` (a int)") && !makes("DROP TABLE `t`"));
    }

    #[test]
    fn only_full_images_have_all_columns() {
        assert!(holds_all(&[0xff, 0x01], 9));
        assert!(holds_all(&[0xff, 0xff], 9));
        assert!(!holds_all(&[0xff, 0xfe], 9));
        assert!(!holds_all(&[0x7f], 8));
        assert!(holds_all(&[0x7f], 7));
    }

    #[test]
    fn frames_of_a_transaction_are_no_statements() {
        let kind = |sql: &[u8]| matches!(kind_of(&QueryEvent::new(b"", sql)), QueryKind::Frame);
        assert!(kind(b"BEGIN") && kind(b"commit") && kind(b"SAVEPOINT `a`") && kind(b"ROLLBACK TO `a`"));
        assert!(!kind(b"CREATE TABLE t (a INT)") && !kind(b"BEGIN WORK; DROP TABLE t"));
    }
}
