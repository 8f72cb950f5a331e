//! Large transactions, whose file becomes the log's next file.
#![allow(missing_docs)]

mod support;

use paceline_binlog::event::Event;
use paceline_binlog::group::{EventGroupBuffer, GroupOptions, StatementOptions};
use paceline_binlog::replica_state::{RecordScope, ReplicaRecord, SourcePosition};
use paceline_binlog::{Disk, Error, Log, RealDisk, Result};
use paceline_simulated_disk::SimulatedDisk;
use paceline_types::{Gtid, LogPosition, ServerId};
use std::path::Path;
use std::sync::Arc;
use support::*;

/// Returns the rows of the group that starts at `start`.
fn rows_at(log: &Log, start: LogPosition) -> Vec<u32> {
    let mut reader = log.reader(start, log.written()).unwrap();
    let group = reader.next_group().unwrap().unwrap();
    assert_eq!(group.start(), start);
    let mut rows = Vec::new();
    for event in group.decoded(reader.format()) {
        if let Event::Rows(event) = event.unwrap() {
            rows.extend(
                event
                    .rows
                    .chunks(5)
                    .map(|row| u32::from_le_bytes(row[1..5].try_into().unwrap())),
            );
        }
    }
    rows
}

#[test]
fn a_large_transaction_becomes_the_next_file() {
    let directory = tempfile::tempdir().unwrap();
    let (log, _) = open(directory.path()).unwrap();
    commit(&log, &[(gtid(0, 1, 1), 3)]).unwrap();
    // A prepared file of zeros under the next name does not matter.
    log.set_file_size_max(1);
    log.prepare_ahead().unwrap();
    log.set_file_size_max(1 << 30);
    let before = log.written();
    let source = SourcePosition {
        file: "primary.000007".into(),
        offset: 4711,
    };
    let record = ReplicaRecord::of_source(RecordScope::WithNextGroup, "east".into(), Some(source.clone()));
    let mut buffer = large_transaction(&log, 2000).unwrap();
    let place = log.reserve_large_commit(&buffer, Some(record), NOW).unwrap();
    let placed = place.commit(&mut buffer, gtid(0, 1, 2)).unwrap();
    assert_eq!(placed.start.ordinal(), before.ordinal() + 1);
    assert_eq!(log.written(), placed.end);
    assert_eq!(log.durable(), placed.end);
    assert_eq!(rows_at(&log, placed.start), (0..2000).collect::<Vec<_>>());
    // The next transactions follow it in the same file.
    let after = commit(&log, &[(gtid(0, 1, 3), 3), (gtid(0, 1, 4), 1)]).unwrap();
    assert_eq!(after[0].0, placed.end);
    let all: Vec<Gtid> = (1..=4).map(|sequence| gtid(0, 1, sequence)).collect();
    assert_eq!(all_gtids(&log).unwrap(), all);
    assert_eq!(log.state().to_string(), "0-1-4");
    assert_eq!(log.state_at(placed.start).unwrap().to_string(), "0-1-1");
    log.rotate(NOW).unwrap();
    log.close(NOW).unwrap();
    drop(log);
    let names: Vec<String> = RealDisk.list(directory.path()).unwrap();
    assert!(!names.iter().any(|name| name.contains("large")), "{names:?}");
    let printed = mariadb_binlog(&directory.path().join("bin.000002"));
    assert_eq!(printed.matches("GTID 0-1-2 ").count(), 1);
    assert_eq!(printed.matches("### INSERT INTO `test`.`t`").count(), 2004);

    let (log, recovery) = open(directory.path()).unwrap();
    assert_eq!(all_gtids(&log).unwrap(), all);
    assert_eq!(recovery.replica.sources.get("east"), Some(&source));
}

#[test]
fn an_uncommitted_large_transaction_leaves_no_file() {
    let directory = tempfile::tempdir().unwrap();
    let (log, _) = open(directory.path()).unwrap();
    commit(&log, &[(gtid(0, 1, 1), 3)]).unwrap();
    let buffer = large_transaction(&log, 1000).unwrap();
    // A reservation that is released.
    drop(log.reserve_large_commit(&buffer, None, NOW).unwrap());
    let left = |wanted: usize| {
        let names = RealDisk.list(directory.path()).unwrap();
        let found = names.iter().filter(|name| name.contains(".large.")).count();
        assert_eq!(found, wanted, "{names:?}");
    };
    left(1);
    drop(buffer);
    left(0);
    // A crash during a large transaction.
    let buffer = large_transaction(&log, 1000).unwrap();
    std::mem::forget(buffer);
    left(1);
    drop(log);
    let (log, _) = open(directory.path()).unwrap();
    left(0);
    assert_eq!(all_gtids(&log).unwrap(), [gtid(0, 1, 1)]);
}

#[test]
fn damage_within_a_large_transaction_is_not_taken_for_a_torn_write() {
    let directory = tempfile::tempdir().unwrap();
    let (log, _) = open(directory.path()).unwrap();
    let (_, end) = commit_large(&log, gtid(0, 1, 1), 2000).unwrap();
    std::mem::forget(log);
    let path = directory.path().join("bin.000002");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[end.offset() as usize - 500] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    assert!(matches!(open(directory.path()), Err(Error::Gap { .. })));
}

/// A restore to the point before a large transaction cuts its file there, whether it is closed or not.
#[test]
fn a_large_transactions_file_may_be_cut_before_the_transaction() {
    const IN_USE_FLAG_AT: usize = 4 + 17;
    for is_closed in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let (log, _) = open(directory.path()).unwrap();
        commit(&log, &[(gtid(0, 1, 1), 3)]).unwrap();
        let (start, end) = commit_large(&log, gtid(0, 1, 2), 2000).unwrap();
        commit(&log, &[(gtid(0, 1, 3), 3)]).unwrap();
        std::mem::forget(log);
        let path = directory.path().join("bin.000002");
        let whole = std::fs::read(&path).unwrap();
        assert!(whole.len() as u64 > end.offset());
        let mut cut = whole[..start.offset() as usize].to_vec();
        if is_closed {
            cut[IN_USE_FLAG_AT] = 0;
        }
        std::fs::write(&path, &cut).unwrap();
        let (log, recovery) = open(directory.path()).unwrap();
        assert_eq!(all_gtids(&log).unwrap(), [gtid(0, 1, 1)]);
        assert_eq!(recovery.state.to_string(), "0-1-1");
        commit_large(&log, gtid(0, 1, 2), 600).unwrap();
        assert_eq!(all_gtids(&log).unwrap(), [gtid(0, 1, 1), gtid(0, 1, 2)]);
    }
}

/// Guarantees that the log had given when the power failed.
#[derive(Default)]
struct Promises {
    written: Vec<Gtid>,
    durable: usize,
}

fn live(log: &Log, promises: &mut Promises) -> Result<()> {
    let mut next = 0;
    for _ in 0..2 {
        for rows in [1, 0, 2, 0, 0] {
            next += 1;
            promises.written.push(gtid(0, 1, next));
            match rows {
                0 => drop(commit_large(log, gtid(0, 1, next), 600)?),
                rows => drop(commit(log, &[(gtid(0, 1, next), rows)])?),
            }
            promises.durable = promises.written.len();
        }
        log.rotate(NOW)?;
    }
    Ok(())
}

#[test]
fn nothing_committed_is_lost_when_the_power_fails_at_any_step() {
    let open_simulated = |disk: &SimulatedDisk| {
        let config = paceline_binlog::LogConfig {
            prepare_step: 8192,
            file_size_max: 6000,
            ..config(Path::new("/log"))
        };
        open_on(Arc::new(disk.clone()), config)
    };
    let disk = SimulatedDisk::new();
    let (log, _) = open_simulated(&disk).unwrap();
    let first = disk.operations() + 1;
    live(&log, &mut Promises::default()).unwrap();
    let last = disk.operations();
    assert!(last - first > 150, "{first} to {last}");
    let mut cut_short = 0;
    for operation in first..=last {
        let disk = SimulatedDisk::new();
        let (log, _) = open_simulated(&disk).unwrap();
        disk.fail_power_at(operation);
        let mut promises = Promises::default();
        // This may succeed: a GTID index that cannot be written is not an error.
        let _ = live(&log, &mut promises);
        drop(log);
        for seed in 0..3 {
            let after = disk.after_power_failure(operation * 3 + seed);
            let (log, _) = open_simulated(&after)
                .unwrap_or_else(|error| panic!("power failed at {operation}, seed {seed}: {error}"));
            let found = all_gtids(&log).unwrap();
            assert!(
                promises.written.starts_with(&found),
                "operation {operation}: {found:?}"
            );
            assert!(
                found.len() >= promises.durable,
                "operation {operation}: {found:?}"
            );
            cut_short += usize::from(found.len() < promises.written.len());
            let names = after.list(Path::new("/log")).unwrap();
            assert!(!names.iter().any(|name| name.contains(".large.")), "{names:?}");
            // The log can be written again.
            commit_large(&log, gtid(0, 1, 100), 600).unwrap();
            commit(&log, &[(gtid(0, 1, 101), 1)]).unwrap();
        }
    }
    assert!(cut_short > 100, "{cut_short}");
}

/// The failed sync also lost what an earlier statement had written, and the next sync would not report that.
#[test]
fn after_a_failed_sync_nothing_can_be_written() {
    let insert = |buffer: &mut EventGroupBuffer, rows: u32| {
        buffer.begin_statement(&StatementOptions::default());
        for row in 0..rows {
            let [a, b, c, d] = row.to_le_bytes();
            buffer.write_row(&table(), &[0xFE, a, b, c, d]);
        }
        buffer.end_statement();
    };
    for is_rolled_back in [true, false] {
        let disk = SimulatedDisk::new();
        let (log, _) = open_on(Arc::new(disk.clone()), config(Path::new("/log"))).unwrap();
        let mut buffer = EventGroupBuffer::new(GroupOptions::new(ServerId(1)));
        insert(&mut buffer, 200);
        buffer.spill_to(log.begin_large_group().unwrap()).unwrap();
        let mark = buffer.mark();
        // More than the file takes without a sync.
        insert(&mut buffer, 2_000_000);
        disk.fail_sync(1);
        assert!(buffer.spill().is_err());
        if is_rolled_back {
            buffer.roll_back_to(mark);
            insert(&mut buffer, 200);
        }
        assert!(buffer.spill().is_err());
        assert!(buffer.seal().is_err());
        assert!(buffer.seal().is_err());
    }
}

#[test]
fn a_full_disk_loses_nothing() {
    let disk = SimulatedDisk::new();
    let (log, _) = open_on(Arc::new(disk.clone()), config(Path::new("/log"))).unwrap();
    commit(&log, &[(gtid(0, 1, 1), 3)]).unwrap();
    for room in (0..400_000).step_by(7919) {
        disk.set_capacity(Some(disk.used() + room));
        let mut full = false;
        match large_transaction(&log, 2000) {
            Err(error) => {
                assert!(is_no_space(&error), "{error}");
                full = true;
            }
            Ok(buffer) => match log.reserve_large_commit(&buffer, None, NOW) {
                Err(error) => {
                    assert!(is_no_space(&error), "{error}");
                    full = true;
                }
                Ok(place) => drop(place),
            },
        }
        assert!(full, "there was room with {room} bytes");
        disk.set_capacity(None);
        commit(&log, &[(gtid(0, 1, 2 + room), 1)]).unwrap();
    }
    commit_large(&log, gtid(0, 1, 1_000_000), 2000).unwrap();
    assert_eq!(log.state().to_string(), "0-1-1000000");
}
