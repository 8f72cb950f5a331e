//! Turns one event group into a write set or a DDL statement.

use std::cmp::Ordering;
use std::sync::Arc;

use paceline_binlog::EventGroup;
use paceline_binlog::event::{
    Event, FormatDescription, GtidFlags, IgnorableEvent, QueryEvent, RowsEvent, RowsKind, TableId,
    TableMapEvent,
};
use paceline_storage::{
    Change, Cursor, Direction, Error as StorageError, KeyRange, Row, RowReader, Storage, StorageSnapshot,
    StoredValue, TableSchema, VERSION_LENGTH, WriteSet,
};
use paceline_types::Version;

use crate::definitions::{Definitions, LoggedDdl, ReplayTable};
use crate::error::{Error, Problem, Result};

/// How rows of MEMORY tables are treated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemoryTables {
    /// Written like the rows of other tables. Used on a replica.
    Apply,
    /// Skipped. Used after a restart: it empties these tables, and the server logs that before the first session
    /// starts.
    Skip,
}

/// How rows of tables that no longer exist are treated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum MissingTables {
    /// As an error: the log and the tables do not fit each other.
    Refuse,
    /// Skipped: no session can read the table.
    Skip,
}

/// Contents of an event group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GroupContents {
    /// Number of row changes that are now in the write set; may be 0.
    Rows(u64),
    /// The group is DDL. [`GroupApplier::ddl`] returns the statement.
    Ddl,
}

/// Access to the newest state. Tables without a primary key need it to find their rows.
pub trait CurrentRows {
    /// Returns the engines after everything before this group is applied.
    ///
    /// # Errors
    /// Fails if an earlier group could not be applied.
    fn flushed(&mut self) -> Result<&Storage>;
}

/// Turns event groups into write sets, in log order. Caches table maps from one group to the next.
pub struct GroupApplier {
    memory_tables: MemoryTables,
    missing_tables: MissingTables,
    /// Table maps of the current statement.
    mapped: Vec<(TableId, Target)>,
    /// Body and target of the last table map. The next table map is most often the same.
    last_map: Option<(Vec<u8>, Target)>,
}

/// Destination of a table's rows.
#[derive(Clone)]
enum Target {
    Table(Arc<TableSchema>),
    /// The events belong to an older table of the same name, or are not wanted.
    Skip,
}

impl GroupApplier {
    /// Creates an applier with an empty cache.
    pub fn new(memory_tables: MemoryTables) -> Self {
        GroupApplier {
            memory_tables,
            missing_tables: MissingTables::Refuse,
            mapped: Vec::new(),
            last_map: None,
        }
    }

    /// Creates an applier for a single group that is older than the tables.
    pub(crate) fn for_undo() -> Self {
        GroupApplier {
            missing_tables: MissingTables::Skip,
            ..GroupApplier::new(MemoryTables::Apply)
        }
    }

    /// Adds a group's changes to an empty write set. `format` is that of the file that contains the group.
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
    ) -> Result<GroupContents> {
        debug_assert!(writes.is_empty());
        self.changes(group, format, definitions, |schema, before, after| {
            change_row(schema, before, after, current, writes)?;
            Ok(writes.write_spilled()?)
        })
    }

    /// Calls `change` with the images before and after of each row change, in order.
    ///
    /// # Errors
    /// Those of [`rows`](Self::rows), and those that `change` returns.
    pub(crate) fn changes<D: Definitions>(
        &mut self,
        group: &EventGroup,
        format: &FormatDescription,
        definitions: &D,
        mut change: impl FnMut(&Arc<TableSchema>, Option<&[u8]>, Option<&[u8]>) -> Result<(), RowError>,
    ) -> Result<GroupContents> {
        self.mapped.clear();
        let fail = |problem| at_group(group, problem);
        let mut rows = 0;
        let mut text_follows = false;
        let events = group.events();
        for event in events.skip(1) {
            let decoded = event.decode(format);
            let body = match &decoded {
                Ok(Event::Ignorable(IgnorableEvent::RowEvent { body, .. })) => body,
                _ => event.body(),
            };
            let decoded = decoded.and_then(|decoded| decoded.out_of_record(event.header(), format));
            match decoded.map_err(|error| fail(Problem::Malformed(error)))? {
                Event::TableMap(map) => {
                    self.map_table(&map, body, group.end(), definitions)
                        .map_err(fail)?;
                }
                Event::Rows(event) => rows += self.rows_event(group, &event, &mut change)?,
                Event::Query(query) => match kind_of(&query) {
                    QueryKind::Frame => {}
                    // The text of a statement whose row events are here as records.
                    QueryKind::Other if std::mem::take(&mut text_follows) => {}
                    QueryKind::Other if is_standalone(group)? => {
                        // The log knows where epochs start; the tables do not.
                        if group.epoch_mark().is_some() {
                            return Ok(GroupContents::Rows(0));
                        }
                        self.last_map = None;
                        return Ok(GroupContents::Ddl);
                    }
                    // A primary's CREATE TABLE … SELECT. An earlier group of our own log has created the table.
                    QueryKind::Other if is_create_table(&query) => {}
                    QueryKind::Other => {
                        return Err(fail(Problem::Statement(
                            String::from_utf8_lossy(&query.sql).into_owned(),
                        )));
                    }
                },
                Event::Ignorable(IgnorableEvent::Text) => text_follows = true,
                Event::Xid(_)
                | Event::AnnotateRows(_)
                | Event::Ignorable(_)
                | Event::Intvar(_)
                | Event::Rand(_)
                | Event::UserVar(_) => {}
                _ => return Err(fail(Problem::UnexpectedEvent(event.event_type().name()))),
            }
        }
        Ok(GroupContents::Rows(rows))
    }

    /// Calls `run` with the DDL statement of a group for which [`rows`](Self::rows) returned [`GroupContents::Ddl`].
    ///
    /// # Errors
    /// [`Error::Group`] if the group cannot be decoded or `run` fails.
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
        let in_memory = schema.clustered_id().engine().is_emptied_by_restart();
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
            return Ok(0); // an event that only marks the end of a statement
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

/// Reason why a row cannot be changed.
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
    let base = match finds_by_image {
        true => BaseState::Newest(current.flushed().map_err(RowError::Other)?),
        false => BaseState::Nothing,
    };
    change_row_on(&base, schema, before, after, writes)
}

/// Applies one row change to the state that `base` and the write set on top of it form.
pub(crate) fn change_row_on(
    base: &BaseState<'_>,
    schema: &TableSchema,
    before: Option<&[u8]>,
    after: Option<&[u8]>,
    writes: &mut WriteSet,
) -> Result<(), RowError> {
    if !schema.stores_rows() {
        return Ok(());
    }
    let mut key = None;
    if let Some(image) = before
        && schema.hash_range(image).is_some()
    {
        let mut reader = LayeredRows { base, writes };
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

/// State below the write set, in which rows without a primary key are searched.
pub(crate) enum BaseState<'a> {
    /// None: the row has a primary key, and no search is needed.
    Nothing,
    /// The newest state of the engines.
    Newest(&'a Storage),
    /// The state that is published at a log position.
    Snapshot(&'a StorageSnapshot),
}

impl BaseState<'_> {
    fn scan(&self, range: KeyRange) -> Option<Cursor> {
        match self {
            BaseState::Nothing => None,
            BaseState::Newest(storage) => Some(storage.scan_newest(range, Direction::Forward)),
            BaseState::Snapshot(snapshot) => Some(snapshot.scan(range, Direction::Forward)),
        }
    }

    fn get(&self, key: &[u8]) -> Result<Option<StoredValue<'_>>, StorageError> {
        match self {
            BaseState::Nothing => Ok(None),
            BaseState::Newest(storage) => storage.get_newest(key),
            BaseState::Snapshot(snapshot) => snapshot.get(key),
        }
    }
}

/// The base state, with the group's own writes on top.
struct LayeredRows<'a> {
    base: &'a BaseState<'a>,
    writes: &'a WriteSet,
}

impl RowReader for LayeredRows<'_> {
    type Error = StorageError;

    fn visit_keys(
        &mut self,
        range: KeyRange,
        visit: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<(), StorageError> {
        let mut own = self.writes.range(&range).peekable();
        let mut cursor = self.base.scan(range);
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
            None => match self.base.get(key)? {
                Some(stored) => value.extend_from_slice(&stored),
                None => return Ok(false),
            },
        }
        debug_assert!(value.len() >= VERSION_LENGTH);
        Ok(true)
    }
}

enum QueryKind {
    /// BEGIN, COMMIT or a savepoint statement: no effect on rows.
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

/// Returns whether a statement in front of rows creates the table that they fill. A primary in row format logs CREATE
/// TABLE … SELECT this way.
pub fn is_create_table(query: &QueryEvent<'_>) -> bool {
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

/// Returns whether a bitmap of columns contains them all. Bits after the last column are ignored.
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
    fn create_table_statements_in_front_of_rows_are_recognized() {
        let makes = |sql: &str| is_create_table(&QueryEvent::new(b"", sql.as_bytes()));
        assert!(
            makes("CREATE TABLE `t` (\n  `a` int)") && makes("CREATE OR REPLACE TABLE `t` (\n  `a` int)")
        );
        assert!(!makes("CREATE OR REPLACE TEMPORARY TABLE `t` (a int)") && !makes("DROP TABLE `t`"));
    }

    #[test]
    fn a_column_bitmap_is_full_if_every_column_bit_is_set() {
        assert!(holds_all(&[0xff, 0x01], 9));
        assert!(holds_all(&[0xff, 0xff], 9));
        assert!(!holds_all(&[0xff, 0xfe], 9));
        assert!(!holds_all(&[0x7f], 8));
        assert!(holds_all(&[0x7f], 7));
    }

    #[test]
    fn begin_commit_and_savepoint_queries_are_frames() {
        let kind = |sql: &[u8]| matches!(kind_of(&QueryEvent::new(b"", sql)), QueryKind::Frame);
        assert!(kind(b"BEGIN") && kind(b"commit") && kind(b"SAVEPOINT `a`") && kind(b"ROLLBACK TO `a`"));
        assert!(!kind(b"CREATE TABLE t (a INT)") && !kind(b"BEGIN WORK; DROP TABLE t"));
    }
}
