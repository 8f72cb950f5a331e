//! Events built by hand for a table of three columns: INT, JSON, JSON.

use super::*;
use paceline_binlog::event::{EventBody, RowsFlags, RowsKind, TableId, TableMapEvent};

const TABLE: TableId = TableId(7);

fn translator() -> RowTranslator {
    let mut map = Vec::new();
    TableMapEvent {
        table_id: TABLE,
        flags: 1,
        database: b"d",
        table: b"t",
        column_types: &[3, 245, 245],
        metadata: &[4, 4],
        nullable: &[6],
        optional_metadata: &[],
    }
    .encode_body(&mut map);
    let mut translator = RowTranslator::default();
    translator.table_map(&map).unwrap();
    translator
}

/// Encodes an event whose images contain the columns of the bitmaps.
fn event(before: u8, after: u8, rows: &[&[u8]]) -> Vec<u8> {
    let mut body = Vec::new();
    PartialUpdateRowsEvent(RowsEvent {
        kind: RowsKind::Update,
        version: RowsVersion::V2,
        compression: RowsCompression::Plain,
        table_id: TABLE,
        flags: RowsFlags(RowsFlags::STATEMENT_END),
        extra_data: &[],
        columns: 3,
        columns_present: &[before],
        columns_present_after: &[after],
        rows: Cow::Owned(rows.concat()),
    })
    .encode_body(&mut body);
    body
}

/// Encodes an INT.
fn id(number: u8) -> Vec<u8> {
    vec![number, 0, 0, 0]
}

/// Encodes a document or its changes with its length.
fn json(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u32).to_le_bytes(), bytes].concat()
}

/// The document `{"a": 1}`.
const OBJECT: &[u8] = &[0, 1, 0, 12, 0, 11, 0, 1, 0, 5, 1, 0, b'a'];
/// The document `[]`.
const EMPTY: &[u8] = &[2, 0, 0, 4, 0];
/// Replaces `$.a` by true.
const REPLACED: &[u8] = b"\x00\x03$.a\x02\x04\x01";
/// Inserts null at the front.
const INSERTED: &[u8] = b"\x01\x04$[0]\x02\x04\x00";

/// Returns two rows with whole images: in the first both documents change, in the second none, with and without the
/// option.
fn whole() -> Vec<u8> {
    event(
        7,
        7,
        &[
            &[0],
            &id(1),
            &json(OBJECT),
            &json(EMPTY),
            &[1, 3, 0],
            &id(1),
            &json(REPLACED),
            &json(INSERTED),
            &[4],
            &id(2),
            &json(EMPTY),
            &[1, 0, 4],
            &id(3),
            &json(OBJECT),
            &[0],
            &id(4),
            &json(OBJECT),
            &json(OBJECT),
            &[0, 0],
            &id(4),
            &json(EMPTY),
            &json(OBJECT),
            &[0],
            &id(5),
            &json(OBJECT),
            &json(EMPTY),
            &[1, 2, 0],
            &id(5),
            &json(EMPTY),
            &json(b""),
        ],
    )
}

/// Returns a row whose before image contains only the first column. The second column is a change, the third a whole
/// document.
fn minimal() -> Vec<u8> {
    event(1, 6, &[&[0], &id(1), &[1, 1, 0], &json(REPLACED), &json(EMPTY)])
}

#[test]
fn with_whole_images_the_result_is_an_ordinary_update() {
    let mut translator = translator();
    let body = whole();
    let PartialUpdate::Whole(update) = translator.partial_update(&body, 0).unwrap() else {
        panic!("changes are left");
    };
    assert_eq!(update.event_type().name(), "Update_rows_v1");
    assert_eq!(
        (update.columns_present, update.columns_present_after),
        (&[7u8][..], &[7u8][..])
    );
    let wanted: Vec<Vec<u8>> = vec![
        vec![0xF8],
        id(1),
        json(br#"{"a": 1}"#),
        json(b"[]"),
        vec![0xF8],
        id(1),
        json(br#"{"a": true}"#),
        json(b"[null]"),
        vec![0xFC],
        id(2),
        json(b"[]"),
        vec![0xFC],
        id(3),
        json(br#"{"a": 1}"#),
        vec![0xF8],
        id(4),
        json(br#"{"a": 1}"#),
        json(br#"{"a": 1}"#),
        vec![0xF8],
        id(4),
        json(b"[]"),
        json(br#"{"a": 1}"#),
        vec![0xF8],
        id(5),
        json(br#"{"a": 1}"#),
        json(b"[]"),
        vec![0xF8],
        id(5),
        json(b"[]"),
        json(b"[]"),
    ];
    assert_eq!(update.rows.as_ref(), wanted.concat());
}

#[test]
fn without_the_documents_changes_are_passed_on() {
    let mut translator = translator();
    let body = minimal();
    let PartialUpdate::Changes(PartialUpdateRowsEvent(update)) = translator.partial_update(&body, 0).unwrap()
    else {
        panic!("nobody knows what is changed");
    };
    // The bit is that of the first column in the image.
    let wanted: Vec<Vec<u8>> = vec![
        vec![0xFE],
        id(1),
        vec![1],
        vec![0xFC],
        json(REPLACED),
        json(b"[]"),
    ];
    assert_eq!(update.rows.as_ref(), wanted.concat());
    let mut again = Vec::new();
    PartialUpdateRowsEvent(update.clone()).encode_body(&mut again);
    assert_eq!(PartialUpdateRowsEvent::decode(&again).unwrap().0, update);
}

#[test]
fn failed_changes_report_column_and_position() {
    let of = |rows: &[&[u8]]| {
        let body = event(7, 7, rows);
        match translator().partial_update(&body, 4711) {
            Err(error) => (error.shown().0, error.shown().1.to_owned()),
            Ok(_) => panic!("{rows:?}"),
        }
    };
    let (number, text) = of(&[
        &[0],
        &id(1),
        &json(OBJECT),
        &json(EMPTY),
        &[1, 2, 0],
        &id(1),
        &json(EMPTY),
        &json(REPLACED),
    ]);
    assert_eq!(
        (number, text.as_str()),
        (
            3648,
            "Could not apply JSON diff in table d.t, column @3. The event's end_log_pos is 4711"
        )
    );
    // The old value is NULL.
    assert_eq!(
        of(&[
            &[2],
            &id(1),
            &json(EMPTY),
            &[1, 1, 0],
            &id(1),
            &json(REPLACED),
            &json(EMPTY)
        ])
        .0,
        3648
    );
    let (number, text) = of(&[
        &[0],
        &id(1),
        &json(OBJECT),
        &json(EMPTY),
        &[1, 1, 0],
        &id(1),
        &json(b"\x00\x03$.a"),
        &json(EMPTY),
    ]);
    assert_eq!(
        (number, text.as_str()),
        (
            3649,
            "Corrupted JSON diff for table d.t, column @2. The event's end_log_pos is 4711"
        )
    );
    // Unknown options; a missing bitmap.
    assert_eq!(
        of(&[&[0], &id(1), &json(OBJECT), &json(EMPTY), &[2, 1, 0], &id(1)]).0,
        1610
    );
    assert_eq!(of(&[&[0], &id(1), &json(OBJECT), &json(EMPTY), &[1]]).0, 1610);
    assert_eq!(of(&[&[0], &id(1), &json(OBJECT), &json(EMPTY)]).0, 1610);
}

#[test]
fn damaged_events_are_errors() {
    for body in [whole(), minimal()] {
        for length in 0..body.len() {
            let _ = translator().partial_update(&body[..length], 0);
        }
        for at in 0..body.len() {
            for flipped in [0x01, 0x04, 0x80, 0xFF] {
                let mut damaged = body.clone();
                damaged[at] ^= flipped;
                let _ = translator().partial_update(&damaged, 0);
            }
        }
    }
}
