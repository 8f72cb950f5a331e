//! Rows of primaries with other images or tables: missing columns, other types, fewer or more columns, compressed,
//! partly rolled back.

mod support;

use paceline_apply::replicated::{
    MappedTable, MappedTables, ReplicatedRows, RowOptions, TouchedKeys, TypeConversions, touched_keys,
};
use paceline_binlog::EventGroup;
use paceline_binlog::event::{
    ChecksumAlgorithm, Event, EventBody, EventFlags, EventStamp, FormatDescription, GtidEvent, GtidFlags,
    QueryEvent, RawEvent, RowsCompression, RowsEvent, RowsFlags, RowsKind, RowsVersion, TableId,
    TableMapEvent, XidEvent, encode_event,
};
use paceline_replication::apply::{ApplierOptions, ApplierState, ApplierStatus, SharedRowOptions};
use paceline_replication::received::{ReceivedGroup, ReceivedItem, SourcePosition};
use paceline_txn::{Config, SequenceSource};
use paceline_types::row_image::RowLayout;
use paceline_types::{
    DataType, Gtid, IntegerType, IntegerWidth, LogPosition, SequenceNumber, ServerId, Sign, Value,
};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};
use support::TestServer;

const TABLE_ID: TableId = TableId(77);
const LONG: u8 = 3;
const VARCHAR: u8 = 15;

fn int(width: IntegerWidth) -> DataType {
    DataType::Integer(IntegerType::new(width, Sign::Signed))
}

/// Returns the type of a VARCHAR of a primary, as far as images are concerned.
fn varchar(bytes: u32) -> DataType {
    DataType::VarBinary { length: bytes }
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn bytes(text: &str) -> Value {
    Value::Bytes(text.as_bytes().to_vec())
}

fn map<'a>(table: &'a str, codes: &'a [u8], metadata: &'a [u8]) -> TableMapEvent<'a> {
    TableMapEvent {
        table_id: TABLE_ID,
        flags: TableMapEvent::FLAG_BIT_LENGTH_EXACT,
        database: b"test",
        table: table.as_bytes(),
        column_types: codes,
        metadata,
        nullable: &[0xff],
        optional_metadata: &[],
    }
}

/// A table of a primary and its log.
struct Primary {
    table: &'static str,
    types: Vec<DataType>,
    codes: Vec<u8>,
    metadata: Vec<u8>,
    sequence: u64,
}

impl Primary {
    /// Appends an image of the columns that have a value.
    fn image(&self, row: &[Option<Value>], out: &mut Vec<u8>) -> u8 {
        let mut held = 0;
        let (mut types, mut values) = (Vec::new(), Vec::new());
        for (number, value) in row.iter().enumerate() {
            if let Some(value) = value {
                held |= 1 << number;
                types.push(self.types[number].clone());
                values.push(value.clone());
            }
        }
        RowLayout::new(types).encode(&values, out).unwrap();
        held
    }

    fn group(&mut self, bodies: &[&dyn EventBody]) -> ReceivedItem {
        self.sequence += 1;
        let gtid = Gtid::new(0.into(), ServerId(1), SequenceNumber(self.sequence + 100));
        let stamp = EventStamp {
            timestamp: 1_700_000_000,
            server_id: gtid.server_id,
            flags: EventFlags::NONE,
        };
        let head = GtidEvent::new(gtid, GtidFlags::TRANSACTIONAL);
        let mut events: Vec<Vec<u8>> = Vec::new();
        let mut place = 1000 * self.sequence;
        let end = XidEvent { xid: 1 };
        let first: &dyn EventBody = &head;
        let last: &dyn EventBody = &end;
        for body in std::iter::once(first)
            .chain(bodies.iter().copied())
            .chain(std::iter::once(last))
        {
            let mut event = Vec::new();
            encode_event(&mut event, &stamp, place, body);
            place += event.len() as u64;
            events.push(event);
        }
        let raw = events
            .iter()
            .map(|event| RawEvent::new(event, ChecksumAlgorithm::Crc32).unwrap());
        ReceivedItem::Group(ReceivedGroup {
            group: EventGroup::from_events(LogPosition::ZERO, raw).unwrap(),
            format: Arc::new(FormatDescription::new("10.11.6-MariaDB", 0)),
            source_end: SourcePosition {
                file: "primary-bin.000001".into(),
                offset: place,
            },
            received_at: Instant::now(),
            executed: None,
            numbers: SequenceSource::Primary,
        })
    }

    fn rows(
        &self,
        kind: RowsKind,
        before: &[Option<Value>],
        after: &[Option<Value>],
        compression: RowsCompression,
    ) -> OwnedRows {
        let mut images = Vec::new();
        let held = self.image(before, &mut images);
        let held_after = match kind {
            RowsKind::Update => vec![self.image(after, &mut images)],
            RowsKind::Write | RowsKind::Delete => vec![],
        };
        OwnedRows {
            kind,
            compression,
            columns: self.types.len(),
            held: vec![held],
            held_after,
            images,
        }
    }

    /// Returns a transaction that changes one row.
    fn change(&mut self, kind: RowsKind, before: &[Option<Value>], after: &[Option<Value>]) -> ReceivedItem {
        let rows = self.rows(kind, before, after, RowsCompression::Plain);
        let (codes, metadata) = (self.codes.clone(), self.metadata.clone());
        let map = map(self.table, &codes, &metadata);
        self.group(&[&map, &rows.event()])
    }
}

struct OwnedRows {
    kind: RowsKind,
    compression: RowsCompression,
    columns: usize,
    held: Vec<u8>,
    held_after: Vec<u8>,
    images: Vec<u8>,
}

impl OwnedRows {
    fn event(&self) -> RowsEvent<'_> {
        RowsEvent {
            kind: self.kind,
            version: RowsVersion::V1,
            compression: self.compression,
            table_id: TABLE_ID,
            flags: RowsFlags(RowsFlags::STATEMENT_END),
            extra_data: &[],
            columns: self.columns,
            columns_present: &self.held,
            columns_present_after: &self.held_after,
            rows: Cow::Borrowed(&self.images),
        }
    }
}

fn replica(ddl: &[&str]) -> (tempfile::TempDir, TestServer) {
    let directory = tempfile::tempdir().unwrap();
    let server = TestServer::open(directory.path(), 2, Config::default());
    server.ddl("CREATE DATABASE test");
    ddl.iter().for_each(|sql| server.ddl(sql));
    (directory, server)
}

fn apply(server: &TestServer, conversions: TypeConversions, received: Vec<ReceivedItem>) -> ApplierStatus {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let applier = server.applier(ApplierOptions {
            workers: 2,
            rows: Arc::new(SharedRowOptions::new(RowOptions {
                conversions,
                ..RowOptions::default()
            })),
            ..ApplierOptions::default()
        });
        for one in received {
            if applier.push(one).await.is_err() {
                break;
            }
        }
        let start = Instant::now();
        while applier.status().state == ApplierState::Applying {
            assert!(
                start.elapsed() < Duration::from_secs(60),
                "{:?}",
                applier.status()
            );
            // The pause of a loop that waits.
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        let status = applier.status();
        applier.stop().await;
        status
    })
}

fn assert_applied(status: &ApplierStatus) {
    assert!(status.error.is_none(), "{:?}", status.error);
}

fn notes() -> Primary {
    Primary {
        table: "note",
        types: vec![int(IntegerWidth::Int), int(IntegerWidth::Int), varchar(240)],
        codes: vec![LONG, LONG, VARCHAR],
        metadata: vec![240, 0],
        sequence: 0,
    }
}

const NOTES: &str = "CREATE TABLE note (id INT PRIMARY KEY, tag INT, text VARCHAR(60) NOT NULL DEFAULT 'none', UNIQUE KEY (tag))";

fn note(id: i64, tag: i64, words: &str) -> Vec<Value> {
    vec![Value::Int(id), Value::Int(tag), text(words)]
}

#[test]
fn minimal_images_are_completed_from_our_row_and_logged_whole() {
    let (_directory, server) = replica(&[NOTES]);
    let mut primary = notes();
    let id = |id| Some(Value::Int(id));
    let received = vec![
        primary.change(RowsKind::Write, &[id(1), id(10), Some(bytes("a"))], &[]),
        primary.change(RowsKind::Write, &[id(2), id(20), None], &[]),
        primary.change(
            RowsKind::Update,
            &[id(1), None, None],
            &[None, None, Some(bytes("b"))],
        ),
        primary.change(RowsKind::Update, &[id(2), None, None], &[id(3), id(30), None]),
        primary.change(RowsKind::Write, &[id(4), id(40), Some(bytes("d"))], &[]),
        primary.change(RowsKind::Delete, &[id(4), None, None], &[]),
    ];
    let from = server.manager.positions().published;
    assert_applied(&apply(&server, TypeConversions::NONE, received));
    assert_eq!(server.rows("note"), [note(1, 10, "b"), note(3, 30, "none")]);
    assert_eq!(server.entries("note"), [2, 2]);
    // The local log has whole images, and their replay has the same result.
    let (groups, _) = server.groups(from);
    let format = FormatDescription::new("10.11.6-MariaDB", 0);
    let mut events = 0;
    for event in groups.iter().flat_map(EventGroup::events) {
        if let Event::Rows(rows) = event.decode(&format).unwrap() {
            assert_eq!(rows.columns_present, [0b111]);
            events += 1;
        }
    }
    assert_eq!(events, 6);
    // A missing row is reported.
    let missing = primary.change(RowsKind::Delete, &[id(4), None, None], &[]);
    let error = apply(&server, TypeConversions::NONE, vec![missing])
        .error
        .unwrap();
    assert_eq!(error.code.number(), 1032);
    assert!(error.text.contains("HA_ERR_KEY_NOT_FOUND"), "{}", error.text);
}

#[test]
fn compressed_rows_and_rolled_back_changes() {
    let (_directory, server) = replica(&[NOTES]);
    let mut primary = notes();
    let row = |id| [Some(Value::Int(id)), Some(Value::Int(id)), Some(bytes("x"))];
    let first = primary.rows(RowsKind::Write, &row(1), &[], RowsCompression::Compressed);
    let second = primary.rows(RowsKind::Write, &row(2), &[], RowsCompression::Plain);
    let third = primary.rows(RowsKind::Write, &row(3), &[], RowsCompression::Plain);
    let (codes, metadata) = (primary.codes.clone(), primary.metadata.clone());
    let map = map("note", &codes, &metadata);
    let savepoint = QueryEvent::new(b"test", b"SAVEPOINT `a b`");
    let back = QueryEvent::new(b"test", b"ROLLBACK TO `a b`");
    let rollback = QueryEvent::new(b"test", b"ROLLBACK");
    let received = vec![
        primary.group(&[
            &map,
            &first.event(),
            &savepoint,
            &map,
            &second.event(),
            &back,
            &map,
            &third.event(),
        ]),
        // Everything is rolled back: only the GTID is left.
        primary.group(&[&map, &second.event(), &rollback]),
    ];
    let status = apply(&server, TypeConversions::NONE, received);
    assert_applied(&status);
    assert_eq!(server.rows("note"), [note(1, 1, "x"), note(3, 3, "x")]);
    assert_eq!(server.manager.replicated_position().to_string(), "0-1-102");
}

#[test]
fn wider_columns_need_permission_and_impossible_ones_are_rejected() {
    let (_directory, server) =
        replica(&["CREATE TABLE note (id BIGINT PRIMARY KEY, tag TINYINT, text VARCHAR(60))"]);
    let mut primary = notes();
    let row = [Some(Value::Int(1)), Some(Value::Int(1000)), Some(bytes("x"))];
    let error = apply(
        &server,
        TypeConversions::NONE,
        vec![primary.change(RowsKind::Write, &row, &[])],
    )
    .error
    .unwrap();
    assert_eq!(error.code.number(), 1677);
    assert_eq!(
        error.text,
        "Column 0 of table 'test.note' cannot be converted from type 'int' to type 'bigint(20)'"
    );
    let error = apply(
        &server,
        TypeConversions::ALL_NON_LOSSY,
        vec![primary.change(RowsKind::Write, &row, &[])],
    )
    .error
    .unwrap();
    assert_eq!(
        error.text,
        "Column 1 of table 'test.note' cannot be converted from type 'int' to type 'tinyint(4)'"
    );
    let both = TypeConversions::ALL_NON_LOSSY.with(TypeConversions::ALL_LOSSY);
    let received = vec![
        primary.change(RowsKind::Write, &row, &[]),
        primary.change(
            RowsKind::Write,
            &[Some(Value::Int(2)), Some(Value::Int(5)), Some(bytes("y"))],
            &[],
        ),
        primary.change(
            RowsKind::Update,
            &[Some(Value::Int(2)), Some(Value::Int(5)), Some(bytes("y"))],
            &[Some(Value::Int(3)), Some(Value::Int(6)), Some(bytes("z"))],
        ),
    ];
    assert_applied(&apply(&server, both, received));
    assert_eq!(server.rows("note"), [note(1, 127, "x"), note(3, 6, "z")]);
}

#[test]
fn tables_with_fewer_and_more_columns() {
    let (_directory, server) = replica(&[
        "CREATE TABLE note (id INT PRIMARY KEY, tag INT, text VARCHAR(60), extra INT NOT NULL DEFAULT 7)",
        "CREATE TABLE small (id INT PRIMARY KEY, tag INT)",
    ]);
    let mut primary = notes();
    let row = |id, words| [Some(Value::Int(id)), Some(Value::Int(id)), Some(bytes(words))];
    let received = vec![
        primary.change(RowsKind::Write, &row(1, "a"), &[]),
        primary.change(RowsKind::Update, &row(1, "a"), &row(2, "b")),
    ];
    assert_applied(&apply(&server, TypeConversions::NONE, received));
    let mut expected = note(2, 2, "b");
    expected.push(Value::Int(7));
    assert_eq!(server.rows("note"), [expected]);
    primary.table = "small";
    let received = vec![
        primary.change(RowsKind::Write, &row(1, "a"), &[]),
        primary.change(RowsKind::Write, &row(2, "a"), &[]),
        primary.change(RowsKind::Delete, &row(1, "a"), &[]),
    ];
    assert_applied(&apply(&server, TypeConversions::NONE, received));
    assert_eq!(server.rows("small"), [[Value::Int(2), Value::Int(2)]]);
}

#[test]
fn rows_without_a_key_are_found_by_the_best_index_or_a_scan() {
    let (_directory, server) = replica(&[
        "CREATE TABLE note (id INT, tag INT, text VARCHAR(60), extra INT DEFAULT 7, KEY (tag), KEY (id, tag))",
    ]);
    let mut primary = notes();
    let row = |id, tag, words| [Some(Value::Int(id)), Some(Value::Int(tag)), Some(bytes(words))];
    let received = vec![
        primary.change(RowsKind::Write, &row(1, 1, "a"), &[]),
        primary.change(RowsKind::Write, &row(1, 1, "b"), &[]),
        primary.change(RowsKind::Write, &row(2, 1, "c"), &[]),
        primary.change(RowsKind::Update, &row(1, 1, "b"), &row(5, 5, "e")),
        primary.change(RowsKind::Delete, &row(2, 1, "c"), &[]),
        // Only the text is known: no index helps.
        primary.change(
            RowsKind::Update,
            &[None, None, Some(bytes("a"))],
            &[None, Some(Value::Int(9)), None],
        ),
    ];
    assert_applied(&apply(&server, TypeConversions::NONE, received));
    let with_extra = |mut row: Vec<Value>| {
        row.push(Value::Int(7));
        row
    };
    assert_eq!(
        server.rows("note"),
        [with_extra(note(1, 9, "a")), with_extra(note(5, 5, "e"))]
    );
    let missing = primary.change(RowsKind::Delete, &row(8, 8, "x"), &[]);
    let error = apply(&server, TypeConversions::NONE, vec![missing])
        .error
        .unwrap();
    assert!(error.text.contains("HA_ERR_END_OF_FILE"), "{}", error.text);
}

/// Returns the keys that a transaction of the primary touches on the replica; `None` means possibly all.
fn keys(primary: &Primary, server: &TestServer, received: &ReceivedItem) -> Option<Vec<u64>> {
    let ReceivedItem::Group(received) = received else {
        panic!("a group")
    };
    let map = map(primary.table, &primary.codes, &primary.metadata);
    let table = MappedTable::new(&map, server.table(primary.table), &RowOptions::default()).unwrap();
    let tables: MappedTables = std::iter::once((TABLE_ID, Some(Arc::new(table)))).collect();
    let rows = ReplicatedRows {
        group: &received.group,
        format: &received.format,
        tables: &tables,
    };
    let mut keys = Vec::new();
    match touched_keys(&rows, &mut keys).unwrap() {
        TouchedKeys::Listed => {
            keys.sort_unstable();
            keys.dedup();
            Some(keys)
        }
        TouchedKeys::Everything => None,
    }
}

#[test]
fn minimal_images_touch_the_same_keys_as_whole_ones() {
    let (_directory, server) = replica(&[
        NOTES,
        "CREATE TABLE plain (id INT PRIMARY KEY, tag INT, text VARCHAR(60), KEY (tag))",
    ]);
    let mut primary = notes();
    primary.table = "plain";
    let id = |id| Some(Value::Int(id));
    let whole = |number| [id(number), id(number), Some(bytes("x"))];
    let minimal = |number| [id(number), None, None];
    let pairs = [
        (
            primary.change(RowsKind::Update, &minimal(5), &[None, id(8), None]),
            primary.change(RowsKind::Update, &whole(5), &[id(5), id(8), Some(bytes("x"))]),
        ),
        (
            primary.change(RowsKind::Update, &minimal(5), &[id(6), None, None]),
            primary.change(RowsKind::Update, &whole(5), &[id(6), id(5), Some(bytes("x"))]),
        ),
        (
            primary.change(RowsKind::Delete, &minimal(7), &[]),
            primary.change(RowsKind::Delete, &whole(7), &[]),
        ),
    ];
    for (minimal, whole) in &pairs {
        let told = keys(&primary, &server, minimal);
        assert!(told.is_some());
        assert_eq!(told, keys(&primary, &server, whole));
    }
    // With another unique key, only updates that do not change it are identified by the primary key.
    primary.table = "note";
    let text_alone = primary.change(RowsKind::Update, &minimal(5), &[None, None, Some(bytes("y"))]);
    assert_eq!(
        keys(&primary, &server, &text_alone).map(|keys| keys.len()),
        Some(1)
    );
    let tag = primary.change(RowsKind::Update, &minimal(5), &[None, id(9), None]);
    assert_eq!(keys(&primary, &server, &tag), None);
    let deleted = primary.change(RowsKind::Delete, &minimal(5), &[]);
    assert_eq!(keys(&primary, &server, &deleted), None);
}
