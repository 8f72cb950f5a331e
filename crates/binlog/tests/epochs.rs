//! The starts of epochs in the log: they are known after everything that happens to a log, without reading more of it.
#![allow(missing_docs)]

mod support;

use paceline_binlog::event::{GtidEvent, GtidFlags, QueryCompression, QueryEvent};
use paceline_binlog::group::{CommitGroup, EventGroup, EventGroupBuffer, GroupOptions, GroupSize};
use paceline_binlog::log::{ClosedLog, LogConfig, OpenRequest, PurgeTarget, SyncMode};
use paceline_binlog::{EpochHistory, EpochMark, EpochStart, LOCAL_DOMAIN, Log};
use paceline_simulated_disk::SimulatedDisk;
use paceline_types::{Gtid, LogIndex, LogPosition, ServerId};
use std::path::Path;
use std::sync::Arc;
use support::*;

fn config() -> LogConfig {
    LogConfig {
        prepare_step: 8192,
        ..support::config(Path::new("/log"))
    }
}

fn open(disk: &SimulatedDisk) -> Log {
    open_on(Arc::new(disk.clone()), config()).unwrap().0
}

fn start_of(epoch: u64, index: u64) -> EpochStart {
    EpochStart {
        epoch,
        primary: 3,
        index: LogIndex(index),
    }
}

fn history(starts: &[(u64, u64)]) -> EpochHistory {
    starts
        .iter()
        .map(|(epoch, index)| start_of(*epoch, *index))
        .collect()
}

fn epoch_buffer(epoch: u64) -> EventGroupBuffer {
    let mut buffer = EventGroupBuffer::new(GroupOptions::new(ServerId(1)));
    buffer.start_epoch(NOW, EpochMark { epoch, primary: 3 });
    buffer
}

/// Appends groups with one write.
fn append_buffers(log: &Log, buffers: Vec<(EventGroupBuffer, Gtid)>) {
    let length = buffers
        .iter()
        .map(|(buffer, _)| buffer.len() + CommitGroup::GTID_EVENT_LENGTH_MAX);
    let start = log.reserve(length.sum()).unwrap();
    let mut group = CommitGroup::new();
    group.begin(
        start,
        match buffers.len() {
            1 => GroupSize::Single,
            _ => GroupSize::Several,
        },
    );
    for (mut buffer, id) in buffers {
        group.add(&mut buffer, id);
    }
    log.append(&group).unwrap();
}

fn start_epoch(log: &Log, epoch: u64, id: Gtid) {
    append_buffers(log, vec![(epoch_buffer(epoch), id)]);
    log.sync().unwrap();
}

/// Returns the event groups of a log.
fn groups(log: &Log) -> Vec<EventGroup> {
    let mut reader = log.reader(LogPosition::ZERO, log.written()).unwrap();
    std::iter::from_fn(|| reader.next_group().unwrap()).collect()
}

#[test]
fn a_log_knows_its_epochs_with_the_index_before_each() {
    let log = open(&SimulatedDisk::new());
    assert!(log.epochs().is_empty());
    start_epoch(&log, 1, gtid(0, 1, 1));
    commit(&log, &[(gtid(0, 1, 2), 1), (gtid(5, 1, 10), 1)]).unwrap();
    // In one write with other groups, and after a number was left out.
    append_buffers(
        &log,
        vec![
            (transaction(2), gtid(0, 1, 4)),
            (epoch_buffer(7), gtid(0, 1, 5)),
            (transaction(1), gtid(0, 1, 6)),
        ],
    );
    log.sync().unwrap();
    assert_eq!(log.epochs(), history(&[(1, 0), (7, 14)]));
    assert_eq!(log.durable_index(), LogIndex(16));
    let marks: Vec<_> = groups(&log).iter().map(EventGroup::epoch_mark).collect();
    let mark = |epoch| Some(EpochMark { epoch, primary: 3 });
    assert_eq!(marks, [mark(1), None, None, None, mark(7), None]);
}

#[test]
fn what_is_durable_has_its_own_end() {
    let disk = SimulatedDisk::new();
    let config = LogConfig {
        sync_mode: SyncMode::Deferred,
        ..config()
    };
    let (log, _) = open_on(Arc::new(disk), config).unwrap();
    start_epoch(&log, 1, gtid(0, 1, 1));
    commit(&log, &[(gtid(0, 1, 2), 1)]).unwrap();
    append(&log, &[(gtid(0, 1, 3), 1)]).unwrap();
    let before = log.durable_end();
    assert_eq!(before.index, LogIndex(2));
    append_buffers(&log, vec![(epoch_buffer(2), gtid(0, 1, 4))]);
    assert_eq!(log.epochs(), history(&[(1, 0), (2, 3)]));
    assert_eq!(log.durable_end(), before);
    assert_eq!(before.epochs, history(&[(1, 0)]));
    log.sync().unwrap();
    let after = log.durable_end();
    assert_eq!((after.position, after.index), (log.written(), LogIndex(4)));
    assert_eq!(after.epochs, log.epochs());
    // A rotation makes everything durable, a record changes no index.
    append(&log, &[(gtid(0, 1, 5), 1)]).unwrap();
    log.rotate(NOW).unwrap();
    assert_eq!(log.durable_index(), LogIndex(5));
    append(&log, &[(gtid(0, 1, 6), 1)]).unwrap();
    log.write_checkpoint(log.written(), NOW).unwrap();
    let end = log.durable_end();
    assert_eq!((end.position, end.index), (log.written(), LogIndex(6)));
}

#[test]
fn epochs_survive_restarts_rotations_and_purges() {
    let disk = SimulatedDisk::new();
    let log = open(&disk);
    start_epoch(&log, 1, gtid(0, 1, 1));
    log.rotate(NOW).unwrap();
    commit(&log, &[(gtid(0, 1, 2), 1)]).unwrap();
    start_epoch(&log, 2, gtid(0, 2, 3));
    commit_large(&log, gtid(0, 2, 4), 400).unwrap();
    log.rotate(NOW).unwrap();
    let expected = history(&[(1, 0), (2, 2)]);
    assert_eq!(log.epochs(), expected);
    log.write_checkpoint(log.written(), NOW).unwrap();
    let active = log.files().last().unwrap().name.clone();
    log.purge(&PurgeTarget::File(active), &|_| None).unwrap();
    drop(log);
    for seed in 0..3 {
        let log = open(&disk.after_power_failure(seed));
        assert_eq!(log.epochs(), expected);
        assert_eq!(log.durable_index(), LogIndex(4));
        start_epoch(&log, 3, gtid(0, 1, 5));
        drop(log);
    }
    let log = open(&disk);
    start_epoch(&log, 9, gtid(0, 1, 5));
    // The server dies: it is found in the file's tail.
    drop(log);
    let disk = disk.after_process_death();
    let log = open(&disk);
    assert_eq!(log.epochs(), history(&[(1, 0), (2, 2), (9, 4)]));
    log.reset(None, NOW).unwrap();
    assert!(log.epochs().is_empty());
    assert_eq!(log.durable_index(), LogIndex(0));
    let state = "0-1-7,1-1-3".parse().unwrap();
    let copied = history(&[(4, 2)]);
    log.reset_to(None, &state, &copied, NOW).unwrap();
    let end = log.durable_end();
    assert_eq!((end.index, end.epochs), (LogIndex(10), copied.clone()));
    log.close(NOW).unwrap();
    drop(log);
    assert_eq!(open(&disk).epochs(), copied);
}

#[test]
fn the_oldest_of_many_epochs_are_forgotten() {
    let disk = SimulatedDisk::new();
    let log = open(&disk);
    for epoch in 1..=100 {
        start_epoch(&log, epoch, gtid(0, 1, epoch));
    }
    let starts: Vec<(u64, u64)> = (37..=100).map(|epoch| (epoch, epoch - 1)).collect();
    assert_eq!(log.epochs(), history(&starts));
    log.rotate(NOW).unwrap();
    drop(log);
    assert_eq!(open(&disk.after_process_death()).epochs(), history(&starts));
}

#[test]
fn only_a_standalone_group_of_the_exact_text_starts_an_epoch() {
    let disk = SimulatedDisk::new();
    let log = open(&disk);
    let text = EpochMark { epoch: 5, primary: 3 }.to_string();
    let query = |sql: &str, compression| {
        let mut buffer = EventGroupBuffer::new(GroupOptions::new(ServerId(1)));
        buffer.set_gtid_flags(GtidFlags::STANDALONE);
        let query = QueryEvent {
            compression,
            ..QueryEvent::new(b"test", sql.as_bytes())
        };
        buffer.query(NOW, paceline_binlog::event::EventFlags::NONE, &query);
        buffer
    };
    let plain = QueryCompression::Plain;
    // Within a transaction, with something else after it, with another text, or for this server only.
    let mut within = EventGroupBuffer::new(GroupOptions::new(ServerId(1)));
    let event = QueryEvent::new(b"", text.as_bytes());
    within.query(NOW, paceline_binlog::event::EventFlags::NONE, &event);
    within.commit(1);
    append_buffers_synced(&log, within, gtid(0, 1, 1));
    let other = format!("{text} ");
    append_buffers_synced(&log, query(&other, plain), gtid(0, 1, 2));
    append_buffers_synced(&log, query(&text, plain), gtid(LOCAL_DOMAIN.0, 1, 1));
    assert!(log.epochs().is_empty());
    append_buffers_synced(&log, query(&text, QueryCompression::Compressed), gtid(0, 1, 3));
    assert_eq!(log.epochs(), history(&[(5, 2)]));
    drop(log);
    assert_eq!(open(&disk.after_process_death()).epochs(), history(&[(5, 2)]));
}

fn append_buffers_synced(log: &Log, buffer: EventGroupBuffer, id: Gtid) {
    append_buffers(log, vec![(buffer, id)]);
    log.sync().unwrap();
}

#[test]
fn received_groups_start_epochs_as_well() {
    let primary = open(&SimulatedDisk::new());
    commit(&primary, &[(gtid(0, 1, 1), 1)]).unwrap();
    start_epoch(&primary, 4, gtid(0, 1, 2));
    commit(&primary, &[(gtid(0, 1, 3), 1)]).unwrap();
    let disk = SimulatedDisk::new();
    let config = LogConfig {
        sync_mode: SyncMode::Deferred,
        ..config()
    };
    let (copy, _) = open_on(Arc::new(disk.clone()), config).unwrap();
    let received = groups(&primary);
    let length: usize = received.iter().map(|group| group.bytes().len()).sum();
    let mut group = CommitGroup::new();
    group.begin(copy.reserve(length as u64).unwrap(), GroupSize::Several);
    for one in received {
        group.add_received(one).unwrap();
    }
    copy.append(&group).unwrap();
    copy.sync().unwrap();
    let end = copy.durable_end();
    assert_eq!(end.index, primary.durable_index());
    assert_eq!(end.epochs, primary.epochs());
    assert_eq!(end.epochs, history(&[(4, 1)]));
}

#[test]
fn epochs_that_are_cut_off_are_forgotten() {
    let disk = SimulatedDisk::new();
    let log = open(&disk);
    start_epoch(&log, 1, gtid(0, 1, 1));
    log.rotate(NOW).unwrap();
    start_epoch(&log, 2, gtid(0, 1, 2));
    log.rotate(NOW).unwrap();
    start_epoch(&log, 3, gtid(0, 1, 3));
    drop(log);
    let disk = disk.after_process_death();
    let closed = ClosedLog::open(Arc::new(disk.clone()), &config(), &OpenRequest::new(NOW)).unwrap();
    let has = [gtid(0, 1, 1)].into_iter().collect();
    let missing = closed.missing_from(&has).unwrap();
    closed.rewind(&missing.groups[0]).unwrap();
    assert_eq!(open(&disk).epochs(), history(&[(1, 0)]));
}

#[test]
fn files_of_another_server_are_searched_for_epochs() {
    let directory = tempfile::tempdir().unwrap();
    let (log, _) = support::open(directory.path()).unwrap();
    start_epoch(&log, 1, gtid(0, 1, 1));
    log.rotate(NOW).unwrap();
    commit(&log, &[(gtid(0, 1, 2), 1)]).unwrap();
    start_epoch(&log, 2, gtid(0, 1, 3));
    log.close(NOW).unwrap();
    drop(log);
    let disk = Arc::new(paceline_binlog::RealDisk);
    let (read, _) = Log::open_read_only(disk, directory.path(), "bin").unwrap();
    assert_eq!(read.epochs(), history(&[(1, 0), (2, 2)]));
    assert_eq!(read.durable_index(), LogIndex(3));
    let printed = mariadb_binlog(&directory.path().join("bin.000002"));
    assert!(
        printed.contains("\n# paceline: epoch 2, primary 3\n"),
        "{printed}"
    );
}

#[test]
fn the_gtid_event_of_a_start_lets_nothing_run_beside_it() {
    let log = open(&SimulatedDisk::new());
    start_epoch(&log, 1, gtid(0, 1, 1));
    let group = groups(&log).remove(0);
    let GtidEvent { flags, .. } = group.gtid_event().unwrap();
    assert_eq!(flags, GtidFlags::STANDALONE);
}
