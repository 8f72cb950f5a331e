//! Event groups of other servers in a log: kept byte for byte, found by GTID, and complete after a crash.
#![allow(missing_docs)]

use paceline_binlog::event::{ChecksumAlgorithm, QueryEvent};
use paceline_binlog::event::{
    CommitId, EventFlags, EventStamp, EventType, GtidEvent, GtidFlags, RawEvent, XidEvent, encode_event,
};
use paceline_binlog::group::{CommitGroup, GroupSize};
use paceline_binlog::log::{LogConfig, OpenRequest, SyncMode};
use paceline_binlog::{EpochHistory, EventGroup, Log, RealDisk};
use paceline_simulated_disk::SimulatedDisk;
use paceline_types::{Gtid, LogPosition, ServerId};
use std::sync::Arc;

/// Returns a transaction as a primary sends it, with a position and a commit id of the primary's log.
fn group(gtid: &str, text: &[u8]) -> EventGroup {
    let gtid: Gtid = gtid.parse().unwrap();
    let stamp = EventStamp {
        timestamp: 1_700_000_000,
        server_id: gtid.server_id,
        flags: EventFlags::NONE,
    };
    let head = GtidEvent {
        commit_id: Some(CommitId(u64::MAX - 7)),
        ..GtidEvent::new(gtid, GtidFlags::TRANSACTIONAL)
    };
    let (mut first, mut query, mut last) = (Vec::new(), Vec::new(), Vec::new());
    encode_event(&mut first, &stamp, 4_000_000_123, &head);
    encode_event(&mut query, &stamp, 4_000_000_200, &QueryEvent::new(b"d", text));
    encode_event(&mut last, &stamp, 77, &XidEvent { xid: 5 });
    let raw = |bytes| RawEvent::new(bytes, ChecksumAlgorithm::Crc32).unwrap();
    let parts = [&first, &query, &last];
    EventGroup::from_events(LogPosition::ZERO, parts.map(|bytes| raw(bytes))).unwrap()
}

fn open(disk: &SimulatedDisk) -> (Log, paceline_binlog::Recovery) {
    let config = LogConfig {
        sync_mode: SyncMode::Deferred,
        ..LogConfig::new("/log", "bin", ServerId(9))
    };
    Log::open(Arc::new(disk.clone()), config, OpenRequest::new(1)).unwrap()
}

fn write(log: &Log, groups: Vec<EventGroup>) {
    let length = groups.iter().map(|group| group.bytes().len() as u64).sum();
    let start = log.reserve(length).unwrap();
    let mut write = CommitGroup::new();
    write.begin(start, GroupSize::Single);
    for group in groups {
        write.add_received(group).unwrap();
    }
    assert_eq!(log.append(&write).unwrap(), write.end());
    log.sync().unwrap();
}

/// Returns the parts of an event that do not depend on its position.
fn without_place(event: &RawEvent<'_>) -> (EventType, u32, Vec<u8>) {
    (
        event.event_type(),
        event.header().timestamp,
        event.body().to_vec(),
    )
}

#[test]
fn received_groups_are_logged_as_they_were_sent() {
    let disk = SimulatedDisk::new();
    let (log, recovery) = open(&disk);
    let sent = || {
        vec![
            group("0-1-1", b"short"),
            // A long group, which is written from the receiver's buffer.
            group("0-1-2", &vec![b'x'; 200_000]),
            group("7-3-9", b"another domain"),
        ]
    };
    write(&log, sent());
    write(&log, vec![group("0-2-3", b"after a failover")]);
    assert_eq!(log.state().to_string(), "0-1-2,0-2-3,7-3-9");
    let mut reader = log.reader(recovery.end, log.durable()).unwrap();
    for expected in sent() {
        let found = reader.next_group().unwrap().unwrap();
        assert_eq!(found.gtid(), expected.gtid());
        let places = |group: &EventGroup| {
            group
                .events()
                .map(|event| without_place(&event))
                .collect::<Vec<_>>()
        };
        assert_eq!(places(&found), places(&expected));
        assert_eq!(
            found.gtid_event().unwrap().commit_id,
            Some(CommitId(u64::MAX - 7)),
            "the primary's"
        );
    }
    assert!(log.find("7-3-9".parse().unwrap()).unwrap().is_some());
}

#[test]
fn a_group_that_was_damaged_in_transit_stays_damaged() {
    let disk = SimulatedDisk::new();
    let (log, recovery) = open(&disk);
    let whole = group("0-1-1", b"text");
    let mut bytes: Vec<Vec<u8>> = whole.events().map(|event| event.bytes().to_vec()).collect();
    bytes[1][30] ^= 1;
    let events = bytes.iter().map(|bytes| RawEvent::trusted(bytes).unwrap());
    write(
        &log,
        vec![EventGroup::from_events(LogPosition::ZERO, events).unwrap()],
    );
    let mut reader = log.reader(recovery.end, log.durable()).unwrap();
    assert!(reader.next_group().is_err());
}

#[test]
fn recovery_ignores_commit_ids_of_other_servers() {
    let disk = SimulatedDisk::new();
    let (log, _) = open(&disk);
    for number in 1..=50 {
        write(&log, vec![group(&format!("0-1-{number}"), b"x")]);
    }
    drop(log);
    // The log was not closed.
    let (log, recovery) = open(&disk);
    assert_eq!(recovery.state.to_string(), "0-1-50");
    write(&log, vec![group("0-1-51", b"y")]);
    assert_eq!(log.state().to_string(), "0-1-51");
}

#[test]
fn a_log_may_continue_another_logs_gtid_state() {
    let disk = SimulatedDisk::new();
    let (log, _) = open(&disk);
    let state = "0-1-100,1-2-7".parse().unwrap();
    log.reset_to(None, &state, &EpochHistory::default(), 2).unwrap();
    assert_eq!(log.state(), state);
    write(&log, vec![group("0-1-101", b"x")]);
    drop(log);
    let (log, recovery) = open(&disk);
    assert_eq!(recovery.state.to_string(), "0-1-101,1-2-7");
    assert_eq!(log.oldest_state(), state);
    let position = "0-1-99,1-2-7".parse().unwrap();
    assert!(matches!(
        log.locate_start(&position),
        Err(paceline_binlog::Error::Purged)
    ));
}

#[test]
fn a_file_can_be_prepared_while_a_rotation_begins_it() {
    // Regression: a rotation to a file that was not prepared yet could collide with its preparation and fail fatally.
    let directory = tempfile::tempdir().unwrap();
    let config = LogConfig {
        sync_mode: SyncMode::Deferred,
        file_size_max: 4096,
        prepare_step: 8192,
        ..LogConfig::new(directory.path(), "bin", ServerId(9))
    };
    let (log, _) = Log::open(Arc::new(RealDisk), config, OpenRequest::new(1)).unwrap();
    let prepared = log.clone();
    let preparing = std::thread::spawn(move || {
        while prepared.files().len() < 80 {
            prepared.prepare_ahead().unwrap();
        }
    });
    for number in 1..=80 {
        write(&log, vec![group(&format!("0-1-{number}"), &[b'x'; 5000])]);
        log.rotate(1).unwrap();
    }
    preparing.join().unwrap();
    assert_eq!(log.files().len(), 81);
    log.close(1).unwrap();
    drop(log);
    // No prepared file remains.
    let names = std::fs::read_dir(directory.path()).unwrap();
    let paths = names.map(|name| name.unwrap().path());
    let files = paths
        .filter(|path| path.extension().is_none_or(|it| it != "idx"))
        .count();
    assert_eq!(files, 82, "the files and the index");
}
