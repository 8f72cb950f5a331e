//! Statements that other readers get as text: their row events are records beside it.
#![allow(missing_docs)]

mod support;

use paceline_binlog::event::{Event, EventFlags, IgnorableEvent, IntvarEvent, IntvarKind, QueryEvent};
use paceline_binlog::group::{
    BufferMark, CommitGroup, EventGroupBuffer, GroupOptions, GroupSize, StatementForm, StatementOptions,
};
use paceline_binlog::{EventGroup, Log};
use paceline_types::ServerId;
use support::*;

/// Returns a transaction with a statement that has changed 101 rows, and where the statement begins.
fn statement(form: StatementForm) -> (EventGroupBuffer, BufferMark) {
    annotated_statement(form, None)
}

/// Statement that is longer than what a row event is shorter than its record.
const ANNOTATION: &[u8] = b"INSERT INTO t SELECT seq FROM seq_0_to_99";

fn annotated_statement(form: StatementForm, annotation: Option<&[u8]>) -> (EventGroupBuffer, BufferMark) {
    let mut buffer = EventGroupBuffer::new(GroupOptions {
        row_event_size_max: 64,
        ..GroupOptions::new(ServerId(1))
    });
    buffer.begin_statement(&StatementOptions {
        timestamp: NOW,
        ..StatementOptions::default()
    });
    buffer.write_row(&table(), &[0xFE, 9, 9, 9, 9]);
    buffer.begin_statement(&StatementOptions {
        timestamp: NOW,
        form,
        annotation,
        ..StatementOptions::default()
    });
    let begin = buffer.mark();
    for row in 0..100u32 {
        let [a, b, c, d] = row.to_le_bytes();
        buffer.write_row(&table(), &[0xFE, a, b, c, d]);
    }
    buffer.delete_row(&table(), &[0xFE, 1, 0, 0, 0]);
    (buffer, begin)
}

/// Writes the transaction to a log and reads it again.
fn logged(log: &Log, mut buffer: EventGroupBuffer, sequence: u64) -> EventGroup {
    let start = log
        .reserve(buffer.len() + CommitGroup::GTID_EVENT_LENGTH_MAX)
        .unwrap();
    let mut group = CommitGroup::new();
    group.begin(start, GroupSize::Single);
    let placed = group.add(&mut buffer, gtid(0, 1, sequence));
    log.append(&group).unwrap();
    log.sync().unwrap();
    let mut reader = log.reader(placed.start, log.durable()).unwrap();
    reader.next_group().unwrap().unwrap()
}

#[test]
fn records_contain_the_same_row_events_and_precede_the_text() {
    let directory = tempfile::tempdir().unwrap();
    let (log, _) = open(directory.path()).unwrap();
    let (mut rows, _) = statement(StatementForm::Rows);
    rows.commit(1);
    let (mut text, _) = statement(StatementForm::Text);
    let intvar = IntvarEvent {
        kind: IntvarKind::InsertId,
        value: 7,
    };
    let query = QueryEvent::new(b"test", b"INSERT INTO t VALUES (...)");
    text.statement_text(&[&intvar], EventFlags::NONE, &query);
    text.commit(1);
    let (rows, text) = (logged(&log, rows, 1), logged(&log, text, 2));
    let reader = log.reader(rows.start(), log.durable()).unwrap();
    let format = reader.format();
    let expected: Vec<Event<'_>> = rows
        .decoded(format)
        .map(Result::unwrap)
        .filter(|event| matches!(event, Event::TableMap(_) | Event::Rows(_)))
        .collect();
    let headers = text.events().map(|event| *event.header());
    let decoded: Vec<Event<'_>> = text.decoded(format).map(Result::unwrap).collect();
    let found: Vec<Event<'_>> = headers
        .zip(&decoded)
        .map(|(header, event)| event.clone().out_of_record(&header, format).unwrap())
        .filter(|event| matches!(event, Event::TableMap(_) | Event::Rows(_)))
        .collect();
    assert!(expected.len() > 10);
    assert_eq!(found, expected);
    let [.., mark, context, said, Event::Xid(_)] = &decoded[..] else {
        panic!("{decoded:?}");
    };
    assert_eq!(*mark, Event::Ignorable(IgnorableEvent::Text));
    assert_eq!((context, said), (&Event::Intvar(intvar), &Event::Query(query)));
    log.rotate(NOW).unwrap();
    let printed = mariadb_binlog(&directory.path().join("bin.000001"));
    assert!(printed.contains("SET INSERT_ID=7") && printed.contains("INSERT INTO t VALUES (...)"));
}

#[test]
fn a_text_that_is_given_up_leaves_the_events_of_its_rows() {
    let directory = tempfile::tempdir().unwrap();
    let (log, _) = open(directory.path()).unwrap();
    let (mut rows, _) = annotated_statement(StatementForm::Rows, Some(ANNOTATION));
    rows.commit(1);
    let (mut text, begin) = annotated_statement(StatementForm::Text, Some(ANNOTATION));
    assert!(text.rows_instead_of_text(begin));
    text.commit(1);
    let (rows, text) = (logged(&log, rows, 1), logged(&log, text, 2));
    let reader = log.reader(rows.start(), log.durable()).unwrap();
    let decoded =
        |group: &EventGroup| format!("{:?}", group.decoded(reader.format()).skip(1).collect::<Vec<_>>());
    assert!(decoded(&rows).contains("AnnotateRows"));
    assert_eq!(decoded(&rows), decoded(&text));
}

#[test]
fn a_text_is_not_given_up_when_its_rows_are_in_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let (log, _) = open(directory.path()).unwrap();
    let (mut text, begin) = statement(StatementForm::Text);
    text.spill_to(log.begin_large_group().unwrap()).unwrap();
    assert!(!text.rows_instead_of_text(begin));
}
