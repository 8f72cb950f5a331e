//! Cutting back a log that no server has open, with power failures at every step.
#![allow(missing_docs)]

mod support;

use paceline_binlog::log::{ClosedLog, Disk, LogConfig, OpenRequest};
use paceline_binlog::{Error, GtidState, LOCAL_DOMAIN, PositionChange, ReplicaRecord, Result};
use paceline_simulated_disk::SimulatedDisk;
use paceline_types::{Gtid, LogPosition};
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

fn open(disk: &SimulatedDisk) -> Result<paceline_binlog::Log> {
    open_on(Arc::new(disk.clone()), config()).map(|(log, _)| log)
}

fn closed(disk: &SimulatedDisk, engine_position: LogPosition) -> Result<ClosedLog> {
    let request = OpenRequest {
        engine_position,
        ..OpenRequest::new(NOW)
    };
    ClosedLog::open(Arc::new(disk.clone()), &config(), &request)
}

/// Returns the disk of a killed server. Its log has files of one, three and two transactions and an active file of
/// two, in two domains. Also returns the transactions.
fn killed_server() -> (SimulatedDisk, Vec<Gtid>) {
    let disk = SimulatedDisk::new();
    let log = open(&disk).unwrap();
    let all: Vec<Gtid> = (1..=8)
        .map(|sequence| gtid(sequence % 2, 1, sequence.into()))
        .collect();
    for (sequence, id) in all.iter().enumerate() {
        if [1, 4, 6].contains(&sequence) {
            log.rotate(NOW).unwrap();
        }
        commit(&log, &[(*id, 3)]).unwrap();
    }
    log.prepare_ahead().unwrap();
    drop(log);
    (disk.after_process_death(), all)
}

/// Returns the GTID state of a server that has exactly these transactions.
fn state_of(first: &[Gtid]) -> GtidState {
    first.iter().copied().collect()
}

#[test]
fn missing_transactions_are_found_and_cut_off_at_any_place() {
    let (disk, all) = killed_server();
    for has in 0..all.len() {
        let disk = disk.clone().after_process_death();
        let before = open(&disk.after_process_death()).unwrap();
        let log = closed(&disk, LogPosition::ZERO).unwrap();
        let missing = log.missing_from(&state_of(&all[..has])).unwrap();
        let found: Vec<Gtid> = missing.groups.iter().map(|place| place.gtid).collect();
        assert_eq!((found.as_slice(), missing.more_were_purged), (&all[has..], false));
        let first = missing.groups[0];
        assert_eq!(missing.before, state_of(&all[..has]));
        let begun = [1, 4, 6].iter().filter(|from| **from <= has).count();
        assert_eq!(log.files_from(&first).count(), 4 - begun);
        log.rewind(&first).unwrap();
        // The next opening continues above all numbers and ordinals that were in use.
        let log = open(&disk).unwrap();
        assert_eq!(all_gtids(&log).unwrap(), &all[..has]);
        assert_eq!(log.state(), state_of(&all[..has]));
        assert!(log.written().ordinal() >= before.written().ordinal());
        assert!(log.files().last().unwrap().name >= before.files().last().unwrap().name);
        let other = gtid(0, 2, 100);
        commit(&log, &[(other, 1)]).unwrap();
        drop(log);
        let log = open(&disk.after_power_failure(has as u64)).unwrap();
        assert_eq!(all_gtids(&log).unwrap(), [&all[..has], &[other]].concat());
    }
}

#[test]
fn unreplicated_transactions_after_the_cut_are_listed() {
    let disk = SimulatedDisk::new();
    let log = open(&disk).unwrap();
    let local = |sequence| gtid(LOCAL_DOMAIN.0, 1, sequence);
    let all = [
        gtid(0, 1, 1),
        local(1),
        gtid(0, 1, 2),
        local(2),
        gtid(0, 1, 3),
        local(3),
    ];
    for (sequence, id) in all.iter().enumerate() {
        if sequence == 4 {
            log.rotate(NOW).unwrap();
        }
        commit(&log, &[(*id, 1)]).unwrap();
    }
    drop(log);
    let log = closed(&disk.after_process_death(), LogPosition::ZERO).unwrap();
    let local_behind = |first: &[Gtid]| -> Vec<Gtid> {
        let missing = log.missing_from(&state_of(first)).unwrap();
        missing.local.iter().map(|place| place.gtid).collect()
    };
    assert_eq!(local_behind(&[]), [local(1), local(2), local(3)]);
    assert_eq!(local_behind(&all[..1]), [local(2), local(3)]);
    assert_eq!(local_behind(&all[2..3]), [local(3)]);
    assert!(local_behind(&all[4..5]).is_empty());
}

#[test]
fn connections_to_primaries_are_forgotten() {
    let disk = SimulatedDisk::new();
    let log = open(&disk).unwrap();
    let follows = |definition: Option<Arc<[u8]>>| ReplicaRecord {
        definitions: vec![("".into(), definition)],
        ..ReplicaRecord::of_gtids(PositionChange::To(vec![gtid(3, 9, 5)]))
    };
    log.write_replica_record(&follows(Some(b"{}".as_slice().into())), NOW)
        .unwrap();
    commit(&log, &[(gtid(0, 1, 1), 1)]).unwrap();
    // The server becomes a primary, and dies.
    log.write_replica_record(&follows(None), NOW).unwrap();
    commit(&log, &[(gtid(0, 1, 2), 1)]).unwrap();
    drop(log);
    let disk = disk.after_process_death();
    let log = closed(&disk, LogPosition::ZERO).unwrap();
    let missing = log.missing_from(&GtidState::new()).unwrap();
    log.rewind(&missing.groups[0]).unwrap();
    for _ in 0..2 {
        let (log, recovery) = open_on(Arc::new(disk.clone()), config()).unwrap();
        assert!(recovery.replica.definitions.is_empty());
        assert_eq!(recovery.replica.position.to_string(), "3-9-5");
        drop(log);
    }
}

#[test]
fn a_server_that_has_everything_lacks_nothing() {
    let (disk, all) = killed_server();
    let log = closed(&disk, LogPosition::ZERO).unwrap();
    assert_eq!(log.missing_from(&state_of(&all)).unwrap().groups, []);
    // A server with another history lacks everything, including what was purged.
    drop(log);
    let log = open(&disk).unwrap();
    let second = log.files()[1].name.clone();
    log.write_checkpoint(log.written(), NOW).unwrap();
    log.purge(&paceline_binlog::log::PurgeTarget::File(second), &|_| None)
        .unwrap();
    drop(log);
    let log = closed(&disk, LogPosition::ZERO).unwrap();
    let missing = log.missing_from(&GtidState::new()).unwrap();
    assert_eq!((missing.groups.len(), missing.more_were_purged), (7, true));
    assert!(!log.missing_from(&state_of(&all[..1])).unwrap().more_were_purged);
}

#[test]
fn transactions_that_the_tables_hold_are_not_cut_off() {
    let (disk, all) = killed_server();
    let place = |has: usize, engine| {
        let log = closed(&disk, engine).unwrap();
        let missing = log.missing_from(&state_of(&all[..has])).unwrap();
        (log, missing.groups[0])
    };
    let (_, fifth) = place(4, LogPosition::ZERO);
    let names = || {
        disk.list(Path::new("/log"))
            .unwrap()
            .into_iter()
            .collect::<std::collections::BTreeSet<_>>()
    };
    let before = names();
    let (log, fourth) = place(3, fifth.start);
    assert!(matches!(log.rewind(&fourth), Err(Error::EndLost { .. })));
    assert_eq!(names(), before);
    assert_eq!(
        all_gtids(&open(&disk.after_process_death()).unwrap()).unwrap(),
        all
    );
    let (log, fifth) = place(4, fifth.start);
    log.rewind(&fifth).unwrap();
    assert_eq!(all_gtids(&open(&disk).unwrap()).unwrap(), &all[..4]);
}

#[test]
fn a_power_failure_leaves_a_rewind_undone_or_complete() {
    let (killed_server, all) = killed_server();
    let rewind = |disk: &SimulatedDisk| -> Result<()> {
        let log = closed(disk, LogPosition::ZERO)?;
        let missing = log.missing_from(&state_of(&all[..2]))?;
        match missing.groups.first() {
            Some(first) => log.rewind(first)?,
            None => drop(log),
        }
        open(disk).map(drop)
    };
    let whole = killed_server.after_process_death();
    let before = whole.operations();
    rewind(&whole).unwrap();
    let steps = whole.operations() - before;
    assert!(steps > 15, "{steps}");
    let (mut undecided, mut decided) = (0, 0);
    for step in 1..=steps {
        for seed in 0..20 {
            let disk = killed_server.after_process_death();
            disk.fail_power_at(disk.operations() + step);
            let done = rewind(&disk);
            let disk = disk.after_power_failure(seed);
            // Either nothing has happened, or everything.
            let log = open(&disk).unwrap_or_else(|error| panic!("step {step}, seed {seed}: {error}"));
            let found = all_gtids(&log).unwrap();
            match found.len() {
                2 => decided += 1,
                _ => undecided += 1,
            }
            assert!(
                found == all[..2] || (done.is_err() && found == all),
                "step {step}, seed {seed}: {found:?}"
            );
            drop(log);
            rewind(&disk).unwrap();
            assert_eq!(all_gtids(&open(&disk).unwrap()).unwrap(), &all[..2]);
            let left = disk.list(Path::new("/log")).unwrap();
            assert!(!left.iter().any(|name| name.contains("rewind")), "{left:?}");
        }
    }
    assert!(undecided > 0 && decided > 0);
}

#[test]
fn an_unreadable_decision_is_refused() {
    let (disk, _) = killed_server();
    let file = disk.create(Path::new("/log/bin.rewind")).unwrap();
    file.write_at(&[std::io::IoSlice::new(b"./bin.000009 4")], 0)
        .unwrap();
    assert!(matches!(open(&disk), Err(Error::DamagedIndex { .. })));
    disk.damage(Path::new("/log/bin.rewind"), |content| {
        *content = b"./bin.000077 4 1 1\n".to_vec()
    });
    assert!(matches!(open(&disk), Err(Error::DamagedIndex { .. })));
}
