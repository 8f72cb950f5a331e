//! Placing an event group by patching results in the same bytes as encoding it at its position.
#![allow(missing_docs)]

use paceline_binlog::event::{
    EventFlags, EventHeader, EventStamp, FormatDescription, GtidEvent, GtidFlags, QueryEvent, RawEvent,
    RowsFlags, StatusVar, TableId, TableMapEvent, checksum_is_right, encode_event,
};
use paceline_binlog::group::{
    CommitGroup, EventGroupBuffer, GroupOptions, GroupSize, LoggedTable, StatementOptions,
};
use paceline_types::{DomainId, Gtid, LogPosition, SequenceNumber, ServerId};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Statement {
        annotation: Option<Vec<u8>>,
        rows: Vec<(u8, u8, Vec<u8>)>,
    },
    Query(Vec<u8>),
    RolledBack(Vec<Vec<u8>>),
}

fn table(id: u8) -> LoggedTable {
    LoggedTable::new(&TableMapEvent {
        table_id: TableId(u64::from(id) + 100),
        flags: TableMapEvent::FLAG_BIT_LENGTH_EXACT,
        database: b"test",
        table: &[b'a' + id],
        column_types: &vec![3; usize::from(id) * 7 + 1],
        metadata: &[],
        nullable: &vec![0; (usize::from(id) * 7 + 1).div_ceil(8)],
        optional_metadata: &[],
    })
}

fn fill(buffer: &mut EventGroupBuffer, steps: &[Step]) {
    for (number, step) in steps.iter().enumerate() {
        let timestamp = 1000 + number as u32;
        match step {
            Step::Statement { annotation, rows } => {
                let annotation = annotation.as_deref();
                buffer.begin_statement(&StatementOptions {
                    timestamp,
                    annotation,
                    row_flags: RowsFlags(2),
                    ..StatementOptions::default()
                });
                for (id, kind, row) in rows {
                    let table = table(*id);
                    match kind {
                        0 => buffer.write_row(&table, row),
                        1 => buffer.update_row(&table, row, row),
                        _ => buffer.delete_row(&table, row),
                    }
                }
                buffer.end_statement();
            }
            Step::Query(sql) => {
                let mut query = QueryEvent::new(b"test", sql);
                query.status_vars = vec![StatusVar::Flags2(1), StatusVar::Xid(9)];
                buffer.query(timestamp, EventFlags::SUPPRESS_USE, &query);
            }
            Step::RolledBack(rows) => {
                let mark = buffer.mark();
                buffer.begin_statement(&StatementOptions {
                    timestamp,
                    ..Default::default()
                });
                rows.iter().for_each(|row| buffer.write_row(&table(0), row));
                buffer.roll_back_to(mark);
            }
        }
    }
    buffer.commit(77);
}

/// Splits a part of a log into its events.
fn events(mut bytes: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let header = EventHeader::decode(bytes).unwrap();
        let (event, rest) = bytes.split_at(header.length as usize);
        found.push(event);
        bytes = rest;
    }
    found
}

fn step() -> impl Strategy<Value = Step> {
    let row = prop::collection::vec(any::<u8>(), 1..3000);
    prop_oneof![
        (
            prop::option::of(prop::collection::vec(any::<u8>(), 0..200)),
            prop::collection::vec((0u8..3, 0u8..3, row.clone()), 0..12)
        )
            .prop_map(|(annotation, rows)| Step::Statement { annotation, rows }),
        prop::collection::vec(any::<u8>(), 0..300).prop_map(Step::Query),
        prop::collection::vec(row, 0..4).prop_map(Step::RolledBack),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_patched_group_equals_one_encoded_at_its_position(
        transactions in prop::collection::vec(prop::collection::vec(step(), 1..5), 1..4),
        start in prop_oneof![4u64..100_000, (1u64 << 32) - 5000..(1u64 << 32) + 5000],
        row_event_size_max in 200usize..9000,
    ) {
        let format = FormatDescription::new("", 0);
        let options = GroupOptions { row_event_size_max, ..GroupOptions::new(ServerId(5)) };
        let mut group = CommitGroup::new();
        let size = if transactions.len() > 1 { GroupSize::Several } else { GroupSize::Single };
        group.begin(LogPosition::new(3, start), size);
        let mut expected_gtids = Vec::new();
        let mut expected_end = start;
        let mut unplaced = Vec::new();
        for (number, steps) in transactions.iter().enumerate() {
            let mut buffer = EventGroupBuffer::new(options);
            fill(&mut buffer, steps);
            let gtid = Gtid::new(DomainId(1), ServerId(5), SequenceNumber(number as u64 + 1));
            let length = buffer.len();
            let events = buffer.event_count();
            let placed = group.add(&mut buffer, gtid);
            prop_assert_eq!(placed.start.offset(), expected_end);
            prop_assert!(placed.end.offset() - placed.start.offset() <= length + CommitGroup::GTID_EVENT_LENGTH_MAX);
            expected_gtids.push((gtid, expected_end));
            expected_end = placed.end.offset();
            unplaced.push(events);
        }
        let bytes: Vec<u8> = group.slices().flat_map(|piece| piece.to_vec()).collect();
        prop_assert_eq!(group.end(), LogPosition::new(3, start + bytes.len() as u64));
        prop_assert_eq!(group.transactions().collect::<Vec<_>>(), expected_gtids);

        let mut at = start;
        let events = events(&bytes);
        prop_assert_eq!(events.len(), unplaced.iter().sum::<usize>() + transactions.len());
        for event in events {
            prop_assert!(checksum_is_right(event));
            let raw = RawEvent::new(event, format.checksum).unwrap();
            let header = *raw.header();
            let decoded = raw.decode(&format).unwrap();
            let stamp = EventStamp { timestamp: header.timestamp, server_id: header.server_id, flags: header.flags };
            let mut anew = Vec::new();
            encode_event(&mut anew, &stamp, at, &decoded);
            prop_assert!(anew == event, "{decoded:?}");
            if let paceline_binlog::event::Event::Gtid(GtidEvent { commit_id, flags, .. }) = decoded {
                prop_assert_eq!(commit_id.is_some(), transactions.len() > 1);
                prop_assert_eq!(flags.contains(GtidFlags::GROUP_COMMIT_ID), transactions.len() > 1);
                prop_assert!(commit_id.is_none_or(|id| id.start() == LogPosition::new(3, start)));
            }
            at += event.len() as u64;
        }
    }
}
