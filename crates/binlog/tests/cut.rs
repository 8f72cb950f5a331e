//! A member of a cluster that starts: its log is cut after an index, and continues without the tables, with power
//! failures at every step.
#![allow(missing_docs)]

mod support;

use paceline_binlog::group::{CommitGroup, EventGroup, GroupSize};
use paceline_binlog::log::{ClosedLog, LogConfig, OpenRequest, SyncMode};
use paceline_binlog::{Error, LOCAL_DOMAIN, Log, Recovery, Result};
use paceline_simulated_disk::SimulatedDisk;
use paceline_types::{Gtid, LogIndex, LogPosition};
use std::path::Path;
use std::sync::Arc;
use support::*;

fn config() -> LogConfig {
    LogConfig {
        prepare_step: 8192,
        file_size_max: 6000,
        ..support::config(Path::new("/log"))
    }
}

/// Opens the log of a server whose tables are at a position, as a holder that appends what it receives.
fn hold(disk: &SimulatedDisk, engine_position: LogPosition) -> Result<(Log, Recovery)> {
    let config = LogConfig {
        sync_mode: SyncMode::Deferred,
        ..config()
    };
    let request = OpenRequest {
        engine_position,
        ..OpenRequest::new(NOW)
    };
    Log::open(Arc::new(disk.clone()), config, request)
}

fn open(disk: &SimulatedDisk) -> Log {
    open_on(Arc::new(disk.clone()), config()).unwrap().0
}

fn closed(disk: &SimulatedDisk, engine_position: LogPosition) -> Result<ClosedLog> {
    let request = OpenRequest {
        engine_position,
        ..OpenRequest::new(NOW)
    };
    ClosedLog::open(Arc::new(disk.clone()), &config(), &request)
}

/// Transactions of the killed server, with the log index after each. One is for this server only.
fn transactions() -> Vec<(Gtid, u64)> {
    let local = gtid(LOCAL_DOMAIN.0, 1, 1);
    vec![
        (gtid(0, 1, 1), 1),
        (gtid(0, 1, 2), 2),
        (local, 2),
        (gtid(5, 1, 1), 3),
        // Numbers were left out.
        (gtid(0, 1, 7), 8),
        (gtid(0, 2, 8), 9),
    ]
}

/// Returns the disk of a killed server with these transactions in three files, and the end of each.
fn killed_server() -> (SimulatedDisk, Vec<LogPosition>) {
    let disk = SimulatedDisk::new();
    let log = open(&disk);
    let mut ends = Vec::new();
    for (number, (id, _)) in transactions().into_iter().enumerate() {
        if [1, 4].contains(&number) {
            log.rotate(NOW).unwrap();
        }
        ends.push(commit(&log, &[(id, 3)]).unwrap()[0].1);
    }
    drop(log);
    (disk.after_process_death(), ends)
}

/// Returns the transactions up to an index.
fn up_to(index: u64) -> Vec<Gtid> {
    let all = transactions().into_iter();
    all.take_while(|(_, after)| *after <= index)
        .map(|(id, _)| id)
        .collect()
}

#[test]
fn a_log_is_cut_where_a_transaction_ends() {
    let (killed, _) = killed_server();
    for index in [0, 1, 2, 3, 8, 9] {
        let disk = killed.after_process_death();
        let log = closed(&disk, LogPosition::ZERO).unwrap();
        let first = log.cut_after(LogIndex(index)).unwrap();
        assert_eq!(first.is_none(), index == 9);
        let log = open(&disk);
        assert_eq!(all_gtids(&log).unwrap(), up_to(index), "index {index}");
        assert_eq!(log.durable_index(), LogIndex(index));
        // Again, after the log has continued.
        drop(log);
        let log = closed(&disk.after_process_death(), LogPosition::ZERO).unwrap();
        assert_eq!(log.cut_after(LogIndex(index)).unwrap(), None);
    }
}

#[test]
fn an_index_where_no_transaction_ends_is_refused() {
    let (killed, _) = killed_server();
    for index in [4, 7, 10, 100] {
        let disk = killed.after_process_death();
        let log = closed(&disk, LogPosition::ZERO).unwrap();
        let refused = log.cut_after(LogIndex(index));
        assert!(
            matches!(refused, Err(Error::UnknownIndex { .. })),
            "{index}: {refused:?}"
        );
        assert_eq!(all_gtids(&open(&disk)).unwrap(), up_to(9));
    }
    // Before the oldest file.
    let log = open(&killed);
    let second = log.files()[1].name.clone();
    log.write_checkpoint(log.written(), NOW).unwrap();
    log.purge(&paceline_binlog::log::PurgeTarget::File(second), &|_| None)
        .unwrap();
    drop(log);
    let log = closed(&killed, LogPosition::ZERO).unwrap();
    assert!(matches!(
        log.first_after(LogIndex(0)),
        Err(Error::UnknownIndex { .. })
    ));
    assert_eq!(log.first_after(LogIndex(1)).unwrap().unwrap().gtid, gtid(0, 1, 2));
}

#[test]
fn nothing_that_the_tables_hold_is_cut_off() {
    let (killed, ends) = killed_server();
    // The tables hold everything up to index 3.
    let cut = |index| closed(&killed, ends[3]).unwrap().cut_after(LogIndex(index));
    for index in [0, 1, 2] {
        assert!(matches!(cut(index), Err(Error::EndLost { .. })), "{index}");
    }
    assert!(cut(3).unwrap().is_some());
    let (log, recovery) = hold(&killed, ends[3]).unwrap();
    assert!(recovery.end >= ends[3]);
    assert_eq!(all_gtids(&log).unwrap(), up_to(3));
}

/// Returns what the new primary has written after index 3, as it is received.
fn received() -> Vec<EventGroup> {
    let log = open(&SimulatedDisk::new());
    for sequence in 7..=10 {
        commit(&log, &[(gtid(0, 3, sequence), 4)]).unwrap();
    }
    let mut reader = log.reader(LogPosition::ZERO, log.written()).unwrap();
    std::iter::from_fn(|| reader.next_group().unwrap()).collect()
}

/// Appends what a holder lacks of the new primary's log, each group with a write and a sync of its own.
fn follow(log: &Log) -> Result<()> {
    for group in received() {
        if log.has(group.gtid()) {
            continue;
        }
        let length = group.bytes().len() as u64;
        let mut write = CommitGroup::new();
        write.begin(log.reserve(length)?, GroupSize::Single);
        write.add_received(group)?;
        log.append(&write)?;
        log.sync()?;
        if log.rotation_due() {
            log.rotate(NOW)?;
        }
    }
    Ok(())
}

#[test]
fn a_holder_appends_to_the_log_of_a_server_and_the_tables_replay_it_later() {
    let (disk, ends) = killed_server();
    // The tables are in the middle of the part that stays.
    let tables = ends[1];
    closed(&disk, tables).unwrap().cut_after(LogIndex(3)).unwrap();
    let (log, _) = hold(&disk, tables).unwrap();
    follow(&log).unwrap();
    // The server opens its tables with the same log, and syncs each group from then on.
    let expected: Vec<Gtid> = [
        &up_to(3)[2..],
        &(7..=10).map(|n| gtid(0, 3, n)).collect::<Vec<_>>(),
    ]
    .concat();
    assert_eq!(gtids_from(&log, tables).unwrap(), expected);
    log.set_sync_mode(SyncMode::EachGroup).unwrap();
    commit(&log, &[(gtid(0, 1, 11), 1)]).unwrap();
    drop(log);
    // Killed before it has: the next start finds everything that the tables need.
    let disk = disk.after_power_failure(5);
    let (log, recovery) = hold(&disk, tables).unwrap();
    assert!(recovery.checkpoint <= tables);
    assert_eq!(gtids_from(&log, tables).unwrap().len(), expected.len() + 1);
    assert_eq!(log.durable_index(), LogIndex(11 + 1));
}

#[test]
fn a_power_failure_at_any_step_leaves_a_log_that_can_be_cut_and_continued() {
    let (killed, ends) = killed_server();
    let tables = ends[1];
    let start = |disk: &SimulatedDisk| -> Result<()> {
        // The part up to index 3 agrees with the new primary's log.
        let log = closed(disk, tables)?;
        if log
            .first_after(LogIndex(3))?
            .is_some_and(|first| first.gtid.server_id.0 != 3)
        {
            log.cut_after(LogIndex(3))?;
        }
        let (log, _) = hold(disk, tables)?;
        follow(&log)?;
        log.close(NOW)
    };
    let whole = killed.after_process_death();
    let before = whole.operations();
    start(&whole).unwrap();
    let steps = whole.operations() - before;
    assert!(steps > 40, "{steps}");
    let theirs: Vec<Gtid> = (7..=10).map(|sequence| gtid(0, 3, sequence)).collect();
    let expected = [up_to(3), theirs].concat();
    let old = up_to(9);
    for step in 1..=steps {
        for seed in 0..8 {
            let disk = killed.after_process_death();
            disk.fail_power_at(disk.operations() + step);
            let done = start(&disk);
            let disk = disk.after_power_failure(seed);
            let (log, _) = hold(&disk, tables).unwrap_or_else(|error| panic!("{step}, {seed}: {error}"));
            let found = all_gtids(&log).unwrap();
            // The old log, or the new one up to some place, but never a mixture.
            assert!(
                done.is_err() && found == old || found.len() >= 4 && expected.starts_with(&found),
                "{step}, {seed}: {found:?}"
            );
            drop(log);
            start(&disk).unwrap();
            let (log, _) = hold(&disk, tables).unwrap();
            assert_eq!(all_gtids(&log).unwrap(), expected, "{step}, {seed}");
        }
    }
}
