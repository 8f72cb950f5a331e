//! The buffer into which a session encodes its transaction before that has a position in the log.

use super::large_group::LargeGroup;
use crate::checksum::{Shift, crc32};
use crate::codec::PutExt;
use crate::epoch::EpochMark;
use crate::error::Result;
use crate::event::{
    CHECKSUM_LENGTH, END_POSITION_OFFSET, EventBody, EventFlags, EventHeader, EventType, FLAGS_OFFSET,
    GtidFlags, HEADER_LENGTH, IgnorableEvent, QueryEvent, ROW_EVENT_HEAD_LENGTH, RawEvent, RowsFlags,
    RowsKind, TableId, TableMapEvent, XidEvent, end_position, row_event_head,
};
use paceline_types::ServerId;

/// Default of `binlog_row_event_max_size`, in bytes.
pub const ROW_EVENT_SIZE_MAX_DEFAULT: usize = 8192;

/// Length of a version 1 rows event between header and bitmaps, in bytes: table id and flags.
const ROWS_POST_HEADER_LENGTH: usize = 8;

/// Maximum length of the extra part of a Gtid event that is passed on, in bytes.
/// [`CommitGroup::GTID_EVENT_LENGTH_MAX`](super::CommitGroup::GTID_EVENT_LENGTH_MAX) includes it.
const GTID_EXTRA_LENGTH_MAX: usize = 20;

/// Properties that all events of a transaction share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GroupOptions {
    /// The server that first executed the transaction.
    pub server_id: ServerId,
    /// Flags in the header of every event, such as [`EventFlags::SKIP_REPLICATION`].
    pub event_flags: EventFlags,
    /// `binlog_row_event_max_size`: maximum length of a rows event's body, in bytes. A rows event with a single row
    /// may be longer.
    pub row_event_size_max: usize,
}

impl GroupOptions {
    /// Returns the options for a transaction of this server, with MariaDB's defaults.
    pub fn new(server_id: ServerId) -> Self {
        Self {
            server_id,
            event_flags: EventFlags::NONE,
            row_event_size_max: ROW_EVENT_SIZE_MAX_DEFAULT,
        }
    }
}

/// Properties that all events of a statement share.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StatementOptions<'a> {
    /// Start time of the statement, in seconds since 1970.
    pub timestamp: u32,
    /// Text for an Annotate_rows event (`binlog_annotate_row_events`). It is written with the first row; for
    /// [`StatementForm::Text`] only if the text is given up.
    pub annotation: Option<&'a [u8]>,
    /// Flags of the statement's rows events (`foreign_key_checks=0` and the like). The flag for the statement's end
    /// is added.
    pub row_flags: RowsFlags,
    /// Form in which other readers get the statement.
    pub form: StatementForm,
}

/// Form in which the readers of the log other than recovery get a statement's changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum StatementForm {
    /// Table_map and rows events.
    #[default]
    Rows,
    /// Its text: a Query event after the events that state what the text depends on. The row events are beside it, as
    /// records that only recovery reads ([`IgnorableEvent::RowEvent`]). [`EventGroupBuffer::statement_text`] adds the
    /// text.
    Text,
}

/// A table in the form that the log uses: its table map, encoded once for many transactions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoggedTable {
    table_id: TableId,
    map_body: Vec<u8>,
    /// The number of columns (packed) and a bitmap with all of them present.
    columns: Vec<u8>,
    bitmap_length: usize,
}

impl LoggedTable {
    /// Encodes a table map.
    pub fn new(map: &TableMapEvent<'_>) -> Self {
        let mut map_body = Vec::new();
        map.encode_body(&mut map_body);
        let mut columns = Vec::new();
        columns.put_packed(map.columns() as u64);
        let bitmap_length = map.columns().div_ceil(8);
        columns.resize(columns.len() + bitmap_length, 0xFF);
        // The bits after the last column are not set.
        if let (Some(last), used @ 1..) = (columns.last_mut(), map.columns() % 8) {
            *last = (1 << used) - 1;
        }
        Self {
            table_id: map.table_id,
            map_body,
            columns,
            bitmap_length,
        }
    }

    /// Returns the id that rows events use.
    pub fn table_id(&self) -> TableId {
        self.table_id
    }

    fn bitmap(&self) -> &[u8] {
        &self.columns[self.columns.len() - self.bitmap_length..]
    }
}

/// A finished event in the buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct FinishedEvent {
    /// Where the event ends in the buffer. It starts where the one before it ends.
    pub end: usize,
    /// Effect of the end position on the event's checksum.
    pub shift: Shift,
}

/// A rows event to which further rows can be added.
#[derive(Clone, Copy, Debug)]
struct OpenRows {
    table_id: TableId,
    kind: RowsKind,
    /// Start of the event in the buffer.
    start: usize,
}

/// A place in the buffer to roll back to: the start of a statement or a savepoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BufferMark {
    /// Total number of bytes, including those in a file.
    bytes: u64,
    events: usize,
}

/// Part of a large transaction's events that is in a file of its own.
#[derive(Debug)]
struct SpilledEvents {
    group: LargeGroup,
    /// Number of events in the file.
    events: usize,
}

/// The events of a transaction except the Gtid event, each with end position 0 and the checksum for that.
///
/// ```
/// use paceline_binlog::event::{TableId, TableMapEvent};
/// use paceline_binlog::group::*;
/// use paceline_types::ServerId;
///
/// let table = LoggedTable::new(&TableMapEvent {
///     table_id: TableId(18),
///     flags: TableMapEvent::FLAG_BIT_LENGTH_EXACT,
///     database: b"test",
///     table: b"t",
///     column_types: &[3], // MYSQL_TYPE_LONG
///     metadata: &[],
///     nullable: &[0],
///     optional_metadata: &[],
/// });
/// let mut buffer = EventGroupBuffer::new(GroupOptions::new(ServerId(1)));
/// let statement = StatementOptions { annotation: Some(b"INSERT INTO t VALUES (1)"), ..Default::default() };
/// buffer.begin_statement(&statement);
/// buffer.write_row(&table, &[0xFE, 1, 0, 0, 0]);
/// buffer.end_statement();
/// buffer.commit(7);
/// assert_eq!(buffer.event_count(), 4);
/// ```
#[derive(Debug)]
pub struct EventGroupBuffer {
    pub(super) bytes: Vec<u8>,
    pub(super) events: Vec<FinishedEvent>,
    options: GroupOptions,
    gtid_flags: GtidFlags,
    gtid_event_flags: EventFlags,
    gtid_extra: Vec<u8>,
    timestamp: u32,
    row_flags: RowsFlags,
    form: StatementForm,
    annotation: Vec<u8>,
    annotation_is_due: bool,
    open: Option<OpenRows>,
    /// Ids of the tables that the statement has mapped so far.
    mapped: Vec<TableId>,
    /// Whether the statement has rows events after its table maps.
    has_rows: bool,
    spilled: Option<Box<SpilledEvents>>,
}

impl EventGroupBuffer {
    /// Creates an empty buffer. It allocates nothing before the first event.
    pub fn new(options: GroupOptions) -> Self {
        Self {
            bytes: Vec::new(),
            events: Vec::new(),
            options,
            gtid_flags: GtidFlags::TRANSACTIONAL.with(GtidFlags::ALLOW_PARALLEL),
            gtid_event_flags: EventFlags::NONE,
            gtid_extra: Vec::new(),
            timestamp: 0,
            row_flags: RowsFlags(0),
            form: StatementForm::Rows,
            annotation: Vec::new(),
            annotation_is_due: false,
            open: None,
            mapped: Vec::new(),
            has_rows: false,
            spilled: None,
        }
    }

    /// Empties the buffer for another transaction and keeps its memory.
    pub fn reset(&mut self, options: GroupOptions) {
        self.bytes.clear();
        self.events.clear();
        self.options = options;
        self.gtid_flags = GtidFlags::TRANSACTIONAL.with(GtidFlags::ALLOW_PARALLEL);
        self.gtid_event_flags = EventFlags::NONE;
        self.gtid_extra.clear();
        self.annotation_is_due = false;
        self.form = StatementForm::Rows;
        self.open = None;
        self.mapped.clear();
        self.has_rows = false;
        self.spilled = None;
    }

    /// Sets the flags of the Gtid event. Initially they are: transactional, parallel apply allowed.
    pub fn set_gtid_flags(&mut self, flags: GtidFlags) {
        self.gtid_flags = flags;
    }

    /// Returns the flags of the Gtid event.
    pub fn gtid_flags(&self) -> GtidFlags {
        self.gtid_flags
    }

    /// Sets the flags of the Gtid event's header, in addition to those of all events: [`EventFlags::REPLICATED`].
    pub fn set_gtid_event_flags(&mut self, flags: EventFlags) {
        self.gtid_event_flags = flags;
    }

    pub(super) fn gtid_event_flags(&self) -> EventFlags {
        self.gtid_event_flags
    }

    /// Sets the Gtid event's extra flags and their fields, as received from a primary
    /// ([`crate::event::GtidEvent::extra`]). Drops them if they are longer than those of any known server: they are
    /// only hints.
    pub fn set_gtid_extra(&mut self, extra: &[u8]) {
        self.gtid_extra.clear();
        if extra.len() <= GTID_EXTRA_LENGTH_MAX {
            self.gtid_extra.extend_from_slice(extra);
        }
    }

    pub(super) fn gtid_extra(&self) -> &[u8] {
        &self.gtid_extra
    }

    /// Returns the properties that all events share.
    pub fn options(&self) -> &GroupOptions {
        &self.options
    }

    /// Returns the start time of the last statement, in seconds since 1970.
    pub fn timestamp(&self) -> u32 {
        self.timestamp
    }

    /// Returns the length of everything encoded, in memory and in the file, in bytes.
    pub fn len(&self) -> u64 {
        self.spilled_bytes() + self.bytes.len() as u64
    }

    /// Returns how many encoded bytes are in memory.
    pub fn memory_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Returns whether nothing was logged yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of finished events.
    pub fn event_count(&self) -> usize {
        self.spilled.as_ref().map_or(0, |spilled| spilled.events) + self.events.len()
    }

    fn spilled_bytes(&self) -> u64 {
        self.spilled.as_ref().map_or(0, |spilled| spilled.group.length())
    }

    /// Returns whether the transaction has a file of its own. It is then committed by
    /// [`Log::reserve_large_commit`](crate::Log::reserve_large_commit).
    pub fn is_large(&self) -> bool {
        self.spilled.is_some()
    }

    /// Continues in a file: moves the finished events there now, and later ones with [`Self::spill`].
    ///
    /// # Errors
    /// As for [`Self::spill`].
    ///
    /// # Panics
    /// If the buffer has a file already.
    /// If it has a file already.
    pub fn spill_to(&mut self, group: LargeGroup) -> Result<()> {
        assert!(!self.is_large(), "a transaction's events are in one file");
        self.spilled = Some(Box::new(SpilledEvents { group, events: 0 }));
        self.spill()
    }

    /// Moves the finished events to the file, if there is one.
    ///
    /// # Errors
    /// [`crate::Error::NoSpace`], and others of writing. The buffer loses nothing; the transaction should be rolled
    /// back.
    pub fn spill(&mut self) -> Result<()> {
        let (Some(spilled), Some(last)) = (&mut self.spilled, self.events.last()) else {
            return Ok(());
        };
        let end = last.end;
        // In a copy: events that cannot be written keep position 0.
        let mut placed = self.bytes[..end].to_vec();
        place(&mut placed, &self.events, spilled.group.next_event_at());
        spilled.group.append(&placed)?;
        spilled.events += self.events.len();
        self.events.clear();
        self.bytes.drain(..end);
        if let Some(open) = &mut self.open {
            open.start -= end;
        }
        Ok(())
    }

    /// Moves everything to the file and makes it durable. Called when the transaction is complete, before it queues.
    ///
    /// # Errors
    /// As for [`Self::spill`].
    ///
    /// # Panics
    /// If the buffer has no file.
    pub fn seal(&mut self) -> Result<()> {
        self.end_statement();
        self.spill()?;
        self.spilled
            .as_mut()
            .expect("only a large transaction is sealed")
            .group
            .seal()
    }

    pub(crate) fn large_group(&self) -> Option<&LargeGroup> {
        self.spilled.as_ref().map(|spilled| &spilled.group)
    }

    pub(crate) fn take_large_group(&mut self) -> Option<LargeGroup> {
        self.spilled.take().map(|spilled| spilled.group)
    }

    /// Begins a statement. Nothing is encoded before its first row.
    pub fn begin_statement(&mut self, statement: &StatementOptions<'_>) {
        self.end_statement();
        self.timestamp = statement.timestamp;
        self.row_flags = statement.row_flags;
        self.form = statement.form;
        self.annotation.clear();
        self.annotation_is_due = false;
        if let Some(text) = statement.annotation {
            self.annotation.extend_from_slice(text);
            self.annotation_is_due = true;
        }
    }

    /// Adds flags for the statement's rows events that are not begun yet.
    pub fn add_row_flags(&mut self, flags: RowsFlags) {
        self.row_flags = RowsFlags(self.row_flags.0 | flags.0);
    }

    /// Announces that the statement will change rows of this table. A statement that changes several tables calls
    /// this for each of them before its first row, because a replica opens all tables of a statement with its first
    /// rows event. The first row of a table calls it otherwise.
    pub fn map_table(&mut self, table: &LoggedTable) {
        if self.mapped.contains(&table.table_id) {
            return;
        }
        if self.has_rows {
            // Too late for the tables of this statement: for the replica, what follows is another statement.
            self.end_statement();
        }
        // A statement with text has it only if the text is given up.
        if self.annotation_is_due && self.form == StatementForm::Rows {
            self.annotation_is_due = false;
            let annotation = std::mem::take(&mut self.annotation);
            self.push_event(EventType::ANNOTATE_ROWS, |out| out.extend_from_slice(&annotation));
            self.annotation = annotation;
        }
        let start = self.begin_row_event(EventType::TABLE_MAP);
        self.bytes.extend_from_slice(&table.map_body);
        self.finish_event(start);
        self.mapped.push(table.table_id);
    }

    /// Adds an inserted row.
    pub fn write_row(&mut self, table: &LoggedTable, after: &[u8]) {
        self.row(table, RowsKind::Write, after, &[]);
    }

    /// Adds an updated row.
    pub fn update_row(&mut self, table: &LoggedTable, before: &[u8], after: &[u8]) {
        self.row(table, RowsKind::Update, before, after);
    }

    /// Adds a deleted row.
    pub fn delete_row(&mut self, table: &LoggedTable, before: &[u8]) {
        self.row(table, RowsKind::Delete, before, &[]);
    }

    fn row(&mut self, table: &LoggedTable, kind: RowsKind, first: &[u8], second: &[u8]) {
        let length = first.len() + second.len();
        let fixed = HEADER_LENGTH + self.row_event_head_length();
        let fits = self.open.is_some_and(|open| {
            open.table_id == table.table_id
                && open.kind == kind
                && self.bytes.len() - open.start - fixed + length <= self.options.row_event_size_max
        });
        if !fits {
            self.map_table(table);
            self.finish_rows(RowsFlags(0));
            self.open_rows(table, kind, length);
        }
        self.bytes.extend_from_slice(first);
        self.bytes.extend_from_slice(second);
    }

    fn open_rows(&mut self, table: &LoggedTable, kind: RowsKind, length: usize) {
        let fixed = HEADER_LENGTH + ROWS_POST_HEADER_LENGTH + table.columns.len() + table.bitmap_length;
        self.bytes.reserve(fixed + length + CHECKSUM_LENGTH);
        let event_type = match kind {
            RowsKind::Write => EventType::WRITE_ROWS_V1,
            RowsKind::Update => EventType::UPDATE_ROWS_V1,
            RowsKind::Delete => EventType::DELETE_ROWS_V1,
        };
        let start = self.begin_row_event(event_type);
        self.bytes.put_u48(table.table_id.0);
        self.bytes.put_u16(self.row_flags.0);
        self.bytes.extend_from_slice(&table.columns);
        if kind == RowsKind::Update {
            self.bytes.extend_from_slice(table.bitmap());
        }
        self.open = Some(OpenRows {
            table_id: table.table_id,
            kind,
            start,
        });
        self.has_rows = true;
    }

    /// Begins a Table_map or rows event: an event of its own, or a record. Returns its start.
    fn begin_row_event(&mut self, event_type: EventType) -> usize {
        self.finish_rows(RowsFlags(0));
        let start = self.bytes.len();
        match self.form {
            StatementForm::Rows => {
                let header = self.header(event_type, 0);
                self.bytes.extend_from_slice(&header);
            }
            StatementForm::Text => {
                let header = self.record_header();
                self.bytes.extend_from_slice(&header);
                self.bytes.extend_from_slice(&row_event_head(event_type));
            }
        }
        start
    }

    fn row_event_head_length(&self) -> usize {
        match self.form {
            StatementForm::Rows => 0,
            StatementForm::Text => ROW_EVENT_HEAD_LENGTH,
        }
    }

    /// Finishes the open rows event, if there is one, with `flags` added.
    fn finish_rows(&mut self, flags: RowsFlags) {
        if let Some(open) = self.open.take() {
            let at = open.start + HEADER_LENGTH + self.row_event_head_length() + 6;
            self.bytes[at] |= flags.0 as u8;
            self.finish_event(open.start);
        }
    }

    /// Ends the statement.
    pub fn end_statement(&mut self) {
        self.finish_rows(RowsFlags(RowsFlags::STATEMENT_END));
        self.mapped.clear();
        self.has_rows = false;
    }

    /// Adds a statement that is logged as text: DDL (then the only event, with [`GtidFlags::STANDALONE`] set by the
    /// caller) or SAVEPOINT.
    pub fn query(&mut self, timestamp: u32, flags: EventFlags, query: &QueryEvent<'_>) {
        self.end_statement();
        self.timestamp = timestamp;
        let common = self.options.event_flags;
        self.options.event_flags = common.with(flags);
        self.push_event(query.event_type(), |out| query.encode_body(out));
        self.options.event_flags = common;
    }

    /// Ends a statement of the form [`StatementForm::Text`] with its text. `context` are the events that state what the
    /// text depends on; they precede it.
    ///
    /// # Panics
    /// If the statement has another form: its rows would be applied twice.
    pub fn statement_text(&mut self, context: &[&dyn EventBody], flags: EventFlags, query: &QueryEvent<'_>) {
        assert_eq!(self.form, StatementForm::Text, "the rows are in the log already");
        self.end_statement();
        let common = self.options.event_flags;
        let start = self.bytes.len();
        let header = self.record_header();
        self.bytes.extend_from_slice(&header);
        IgnorableEvent::Text.encode_body(&mut self.bytes);
        self.finish_event(start);
        for body in context {
            self.push_event(body.event_type(), |out| body.encode_body(out));
        }
        self.options.event_flags = common.with(flags);
        self.push_event(query.event_type(), |out| query.encode_body(out));
        self.options.event_flags = common;
    }

    /// Turns the records of a statement of the form [`StatementForm::Text`] into row events, after the statement's
    /// annotation: readers get its rows. `begin` is where it began. Returns `false`, with nothing changed, if part of
    /// it is in a file.
    #[must_use]
    pub fn rows_instead_of_text(&mut self, begin: BufferMark) -> bool {
        self.end_statement();
        let (in_file, events_in_file) = match &self.spilled {
            Some(spilled) => (spilled.group.length(), spilled.events),
            None => (0, 0),
        };
        if begin.bytes < in_file {
            return false;
        }
        self.events.truncate(begin.events - events_in_file);
        self.form = StatementForm::Rows;
        let mut write = (begin.bytes - in_file) as usize;
        let mut read = write;
        if self.annotation_is_due && read < self.bytes.len() {
            self.annotation_is_due = false;
            let end = self.bytes.len();
            read += HEADER_LENGTH + self.annotation.len() + CHECKSUM_LENGTH;
            self.bytes.reserve_exact(read - write);
            self.bytes.resize(end + read - write, 0);
            self.bytes.copy_within(write..end, read);
            let header = self.header(EventType::ANNOTATE_ROWS, 0);
            let body = write + HEADER_LENGTH;
            self.bytes[write..body].copy_from_slice(&header);
            self.bytes[body..body + self.annotation.len()].copy_from_slice(&self.annotation);
            self.seal_event(write, body + self.annotation.len());
            write = read;
        }
        // A row event is shorter than the record that contains it, so it is written over the record.
        while let Some(record) = EventHeader::decode(&self.bytes[read..]) {
            let end = read + record.length as usize;
            let body = &self.bytes[read + HEADER_LENGTH..end - CHECKSUM_LENGTH];
            let Ok(IgnorableEvent::RowEvent { event_type, body }) = IgnorableEvent::decode(body) else {
                unreachable!("a statement without its text consists of row events");
            };
            let body = end - CHECKSUM_LENGTH - body.len()..end - CHECKSUM_LENGTH;
            let header = self.header(event_type, 0);
            self.bytes[write..write + HEADER_LENGTH].copy_from_slice(&header);
            let event_end = write + HEADER_LENGTH + body.len();
            self.bytes.copy_within(body, write + HEADER_LENGTH);
            self.seal_event(write, event_end);
            write = event_end + CHECKSUM_LENGTH;
            read = end;
        }
        self.bytes.truncate(write);
        true
    }

    /// Fills an empty buffer with the start of an epoch. `timestamp` is in seconds since 1970.
    pub fn start_epoch(&mut self, timestamp: u32, mark: EpochMark) {
        self.gtid_flags = GtidFlags::STANDALONE;
        let text = mark.to_string();
        self.query(
            timestamp,
            EventFlags::NONE,
            &QueryEvent::new(b"", text.as_bytes()),
        );
    }

    /// Returns what the transaction starts, if it is the start of an epoch.
    pub(super) fn epoch_mark(&self) -> Option<EpochMark> {
        if self.events.len() != 1 || self.is_large() {
            return None;
        }
        let event = RawEvent::trusted(&self.bytes)?;
        EpochMark::of_event(event.event_type(), event.body())
    }

    /// Adds any other event, such as one received from a primary.
    pub fn event(&mut self, timestamp: u32, body: &dyn EventBody) {
        self.end_statement();
        self.timestamp = timestamp;
        self.push_event(body.event_type(), |out| body.encode_body(out));
    }

    /// Completes the transaction with its Xid event.
    pub fn commit(&mut self, xid: u64) {
        self.end_statement();
        let body = XidEvent { xid };
        self.push_event(EventType::XID, |out| body.encode_body(out));
    }

    /// Returns a mark for the current place, for a rollback of what follows. Ends the current statement.
    pub fn mark(&mut self) -> BufferMark {
        self.end_statement();
        BufferMark {
            bytes: self.len(),
            events: self.event_count(),
        }
    }

    /// Discards everything that was added after the mark was taken.
    ///
    /// # Panics
    /// If the buffer has been rolled back to a place before the mark.
    pub fn roll_back_to(&mut self, mark: BufferMark) {
        assert!(
            mark.bytes <= self.len() && mark.events <= self.event_count(),
            "a mark of what is no longer there"
        );
        self.open = None;
        self.mapped.clear();
        self.has_rows = false;
        let (mut bytes, mut events) = (mark.bytes, mark.events);
        if let Some(spilled) = &mut self.spilled {
            spilled.group.truncate(bytes);
            spilled.events = spilled.events.min(events);
            bytes -= spilled.group.length();
            events -= spilled.events;
        }
        self.bytes.truncate(bytes as usize);
        self.events.truncate(events);
    }

    fn header(&self, event_type: EventType, length: u32) -> [u8; HEADER_LENGTH] {
        EventHeader {
            timestamp: self.timestamp,
            event_type,
            server_id: self.options.server_id,
            length,
            end_position: 0,
            flags: self.options.event_flags,
        }
        .encode()
    }

    fn record_header(&self) -> [u8; HEADER_LENGTH] {
        EventHeader {
            timestamp: self.timestamp,
            event_type: EventType::IGNORABLE,
            server_id: self.options.server_id,
            length: 0,
            end_position: 0,
            flags: self.options.event_flags.with(EventFlags::IGNORABLE),
        }
        .encode()
    }

    fn push_event(&mut self, event_type: EventType, body: impl FnOnce(&mut Vec<u8>)) {
        self.finish_rows(RowsFlags(0));
        let start = self.bytes.len();
        let header = self.header(event_type, 0);
        self.bytes.extend_from_slice(&header);
        body(&mut self.bytes);
        self.finish_event(start);
    }

    /// Completes the event from `start` to the end of the buffer.
    fn finish_event(&mut self, start: usize) {
        let end = self.bytes.len();
        self.bytes.extend_from_slice(&[0; CHECKSUM_LENGTH]);
        self.seal_event(start, end);
    }

    /// Writes the length of an event into its header, and its checksum to `end`, the end of its body.
    fn seal_event(&mut self, start: usize, end: usize) {
        const { assert!(END_POSITION_OFFSET + 4 == FLAGS_OFFSET) };
        let length = end - start + CHECKSUM_LENGTH;
        let field =
            u32::try_from(length).expect("an event is shorter than 4 GiB: packets have a lower limit");
        self.bytes[start + 9..start + 13].copy_from_slice(&field.to_le_bytes());
        let checksum = crc32(&self.bytes[start..end]);
        self.bytes[end..end + CHECKSUM_LENGTH].copy_from_slice(&checksum.to_le_bytes());
        let after_end_position = length - CHECKSUM_LENGTH - END_POSITION_OFFSET - 4;
        let shift = Shift::for_bytes_after(after_end_position);
        self.events.push(FinishedEvent {
            end: end + CHECKSUM_LENGTH,
            shift,
        });
    }
}

/// Sets the end position of every event of a group. `base` is the offset of the first event in the file.
pub(super) fn place(bytes: &mut [u8], events: &[FinishedEvent], base: u64) {
    let mut start = 0;
    for event in events {
        let end = end_position(base, event.end as u64);
        let this = &mut bytes[start..event.end];
        this[END_POSITION_OFFSET..END_POSITION_OFFSET + 4].copy_from_slice(&end.to_le_bytes());
        let checksum = this
            .last_chunk_mut::<CHECKSUM_LENGTH>()
            .expect("a finished event has a checksum");
        *checksum = (u32::from_le_bytes(*checksum) ^ event.shift.apply(end)).to_le_bytes();
        start = event.end;
    }
}
