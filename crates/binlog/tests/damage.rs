//! Damage is found and named, and never taken for a torn write if the damaged part was durable. Disks that fail or
//! are full.
#![allow(missing_docs)]

mod support;

use paceline_binlog::log::{LogConfig, OpenRequest, SyncMode};
use paceline_binlog::{Error, Log, Recovery, Result};
use paceline_simulated_disk::SimulatedDisk;
use paceline_types::{Gtid, LogPosition};
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;
use support::watched_disk::WatchedDisk;
use support::*;

fn small() -> LogConfig {
    LogConfig {
        prepare_step: 16 * 1024,
        file_size_max: 1 << 20,
        ..config(Path::new("/log"))
    }
}

fn open(disk: &SimulatedDisk) -> Result<(Log, Recovery)> {
    open_on(Arc::new(disk.clone()), small())
}

fn file(number: u32) -> std::path::PathBuf {
    Path::new("/log").join(format!("bin.{number:06}"))
}

/// Writes three single transactions, a group of three, and two more; each write is synced. Returns the start and the
/// end of each transaction.
fn six_writes(disk: &SimulatedDisk) -> Vec<(Gtid, LogPosition, LogPosition)> {
    let (log, _) = open(disk).unwrap();
    let mut places = Vec::new();
    for group in [&[1][..], &[2], &[3], &[4, 5, 6], &[7], &[8]] {
        let transactions: Vec<(Gtid, usize)> = group.iter().map(|number| (gtid(0, 1, *number), 2)).collect();
        let placed = commit(&log, &transactions).unwrap();
        places.extend(
            transactions
                .iter()
                .zip(placed)
                .map(|((gtid, _), (start, end))| (*gtid, start, end)),
        );
    }
    places
}

/// Flips each byte of the log in turn. Before the last write this must be reported as corruption. In the last write
/// it is a torn write, unless the engine holds that transaction.
#[test]
fn durable_transactions_are_never_cut_off() {
    let original = SimulatedDisk::new();
    let places = six_writes(&original);
    let (_, first, _) = places[0];
    let (_, last_start, end) = places[7];
    for offset in first.offset()..end.offset() {
        let disk = original.after_process_death();
        disk.damage(&file(1), |content| content[offset as usize] ^= 0x10);
        let before = disk.content(&file(1)).unwrap();
        let opened = open(&disk);
        if offset < last_start.offset() {
            let (damaged, _, _) = *places.iter().find(|(_, _, end)| offset < end.offset()).unwrap();
            match opened {
                Err(Error::Gap {
                    file,
                    offset: at,
                    witness,
                    found_at,
                }) => {
                    assert_eq!(file, "bin.000001");
                    assert!(at <= offset && at >= first.offset(), "{at} for {offset}");
                    assert!(found_at > at);
                    // The first later write that cannot have been torn together with the damaged one.
                    let expected = match damaged.sequence.0 {
                        number @ 1..=2 => number + 1,
                        3 => 4,
                        4..=6 => 7,
                        _ => 8,
                    };
                    assert_eq!(witness, format!("transaction 0-1-{expected}"), "{offset}");
                }
                other => panic!("byte {offset}: {other:?}"),
            }
            assert_eq!(
                disk.content(&file(1)).unwrap(),
                before,
                "a log that is refused is not changed"
            );
        } else {
            let (log, recovery) = opened.unwrap();
            assert_eq!(recovery.cut.unwrap().offset, last_start.offset());
            assert_eq!(all_gtids(&log).unwrap().len(), 7);
            // If an engine already holds the last transaction, the log is refused.
            let disk = original.after_process_death();
            disk.damage(&file(1), |content| content[offset as usize] ^= 0x10);
            let request = OpenRequest {
                engine_position: end,
                ..OpenRequest::new(NOW)
            };
            let error = Log::open(Arc::new(disk), small(), request).unwrap_err();
            assert!(matches!(error, Error::EndLost { .. }), "{error}");
        }
    }
}

/// Flips each byte of a closed file: a reader gets an error, and no wrong data.
#[test]
fn damage_in_a_closed_file_is_found_by_readers() {
    let original = SimulatedDisk::new();
    let places = six_writes(&original);
    open(&original).unwrap();
    let length = original.content(&file(1)).unwrap().len();
    let whole: Vec<Gtid> = places.iter().map(|(gtid, _, _)| *gtid).collect();
    for offset in 0..length {
        let disk = original.after_process_death();
        disk.damage(&file(1), |content| content[offset] ^= 0x04);
        let read = open(&disk).and_then(|(log, _)| all_gtids(&log));
        match read {
            Err(Error::Damaged { file, .. }) => assert_eq!(file, "bin.000001"),
            Err(error) => panic!("byte {offset}: {error}"),
            Ok(gtids) => panic!("byte {offset}: nobody noticed, {gtids:?} of {whole:?}"),
        }
    }
}

#[test]
fn a_torn_group_is_cut_to_its_whole_transactions() {
    for seed in 0..300 {
        let disk = SimulatedDisk::new();
        let (log, _) = open(&disk).unwrap();
        commit(&log, &[(gtid(0, 1, 1), 1)]).unwrap();
        append(
            &log,
            &[
                (gtid(0, 1, 2), 100),
                (gtid(0, 1, 3), 1),
                (gtid(0, 1, 4), 200),
                (gtid(0, 1, 5), 1),
            ],
        )
        .unwrap();
        let (log, _) =
            open(&disk.after_power_failure(seed)).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let found = all_gtids(&log).unwrap();
        let expected: Vec<Gtid> = (1..=found.len() as u64)
            .map(|number| gtid(0, 1, number))
            .collect();
        assert!(!found.is_empty() && found == expected, "seed {seed}: {found:?}");
    }
}

/// Opens a log whose last group consists of transactions with `sizes` rows and lacks a few bytes at the offset that
/// `lost` returns for the group's length. Returns the number of reads. What is found of the group must be its
/// beginning.
fn reads_of_a_torn_group(sizes: &[usize], lost: impl Fn(u64) -> u64) -> u64 {
    let disk = SimulatedDisk::new();
    let (log, _) = open(&disk).unwrap();
    commit(&log, &[(gtid(0, 1, 1), 1)]).unwrap();
    let transactions: Vec<(Gtid, usize)> = sizes
        .iter()
        .zip(2..)
        .map(|(rows, number)| (gtid(0, 1, number), *rows))
        .collect();
    let places = append(&log, &transactions).unwrap();
    drop(log);
    let (start, end) = (places[0].0.offset(), places.last().unwrap().1.offset());
    let lost = (start + lost(end - start)) as usize;
    disk.damage(&file(1), |content| content[lost - 10..lost].fill(0));
    let disk = WatchedDisk::over(disk.after_process_death());
    let (log, recovery) = open_on(Arc::new(disk.clone()), small()).unwrap();
    let reads = disk.reads();
    assert!(recovery.cut.is_some());
    assert!(all_gtids(&log).unwrap().len() <= sizes.len());
    reads
}

/// Rows of small numbers contain many zeros, and thousands of events of small transactions may follow the torn part.
#[test]
fn a_torn_group_is_read_in_a_few_large_pieces() {
    for sizes in [&[200_000][..], &[1; 4000]] {
        let at_the_end = reads_of_a_torn_group(sizes, |length| length);
        let in_the_middle = reads_of_a_torn_group(sizes, |length| length / 2);
        assert!(
            at_the_end < 60 && in_the_middle < 60,
            "{at_the_end} {in_the_middle}"
        );
    }
}

#[test]
fn deferred_syncs_may_lose_a_later_write_without_an_earlier_one() {
    let mut lost_in_the_middle = 0;
    for seed in 0..300 {
        let disk = SimulatedDisk::new();
        let config = LogConfig {
            sync_mode: SyncMode::Deferred,
            ..small()
        };
        let (log, _) = open_on(Arc::new(disk.clone()), config.clone()).unwrap();
        append(&log, &[(gtid(0, 1, 1), 1)]).unwrap();
        log.sync().unwrap();
        for number in 2..10 {
            append(&log, &[(gtid(0, 1, number), 100)]).unwrap();
        }
        let disk = disk.after_power_failure(seed);
        let (log, recovery) =
            open_on(Arc::new(disk), config).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let found = all_gtids(&log).unwrap();
        assert!(!found.is_empty());
        assert_eq!(
            found,
            (1..=found.len() as u64)
                .map(|number| gtid(0, 1, number))
                .collect::<Vec<_>>()
        );
        lost_in_the_middle += u32::from(recovery.cut.is_some_and(|cut| cut.length > 2000));
    }
    assert!(lost_in_the_middle > 10, "{lost_in_the_middle}");
}

#[test]
fn with_deferred_syncs_durable_transactions_are_never_cut_off() {
    let disk = SimulatedDisk::new();
    let config = LogConfig {
        sync_mode: SyncMode::Deferred,
        ..small()
    };
    let (log, _) = open_on(Arc::new(disk.clone()), config).unwrap();
    let first = append(&log, &[(gtid(0, 1, 1), 1)]).unwrap();
    let second = append(&log, &[(gtid(0, 1, 2), 1)]).unwrap();
    log.sync().unwrap();
    append(&log, &[(gtid(0, 1, 3), 1)]).unwrap();
    drop(log);
    for (start, _) in [first[0], second[0]] {
        let disk = disk.after_process_death();
        disk.damage(&file(1), |content| content[start.offset() as usize + 5] ^= 1);
        match open(&disk) {
            Err(Error::Gap { witness, .. }) => assert_eq!(witness, "a record of what was durable"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn switching_the_sync_mode_is_recorded() {
    let disk = SimulatedDisk::new();
    let (log, _) = open(&disk).unwrap();
    commit(&log, &[(gtid(0, 1, 1), 1)]).unwrap();
    log.set_sync_mode(SyncMode::Deferred).unwrap();
    append(&log, &[(gtid(0, 1, 2), 1)]).unwrap();
    let lost = append(&log, &[(gtid(0, 1, 3), 1)]).unwrap();
    append(&log, &[(gtid(0, 1, 4), 1)]).unwrap();
    {
        let disk = disk.after_process_death();
        disk.damage(&file(1), |content| content[lost[0].0.offset() as usize + 5] ^= 1);
        let (log, _) = open(&disk).unwrap();
        assert_eq!(all_gtids(&log).unwrap(), [gtid(0, 1, 1), gtid(0, 1, 2)]);
    }
    log.set_sync_mode(SyncMode::EachGroup).unwrap();
    commit(&log, &[(gtid(0, 1, 5), 1)]).unwrap();
    disk.damage(&file(1), |content| content[lost[0].0.offset() as usize + 5] ^= 1);
    assert!(matches!(
        open(&disk.after_process_death()),
        Err(Error::Gap { .. })
    ));
}

#[test]
fn after_a_failed_sync_nothing_is_written() {
    let disk = SimulatedDisk::new();
    let (log, _) = open(&disk).unwrap();
    commit(&log, &[(gtid(0, 1, 1), 1)]).unwrap();
    append(&log, &[(gtid(0, 1, 2), 1)]).unwrap();
    disk.fail_sync(1);
    assert!(matches!(
        log.sync(),
        Err(Error::Io {
            operation: "sync",
            ..
        })
    ));
    assert!(log.durable() < log.written());
    assert!(matches!(log.sync(), Err(Error::Poisoned(_))));
    assert!(matches!(log.reserve(1), Err(Error::Poisoned(_))));
    assert!(matches!(log.rotate(NOW), Err(Error::Poisoned(_))));
    assert!(matches!(log.close(NOW), Err(Error::Poisoned(_))));
    assert_eq!(all_gtids(&log).unwrap().len(), 2, "reading goes on");
    // The page cache still shows data that is not on the disk; opening writes what it accepts again.
    let disk = disk.after_process_death();
    let (log, _) = open(&disk).unwrap();
    let found = all_gtids(&log).unwrap();
    assert_eq!(found.len(), 2);
    for seed in 0..20 {
        let (log, _) = open(&disk.after_power_failure(seed)).unwrap();
        assert_eq!(all_gtids(&log).unwrap(), found);
    }
}

#[test]
fn a_full_disk_refuses_and_loses_nothing() {
    let disk = SimulatedDisk::new();
    let (log, _) = open(&disk).unwrap();
    commit(&log, &[(gtid(0, 1, 1), 1)]).unwrap();
    disk.set_capacity(Some(disk.used() + 3000));
    let mut written = 1;
    let error = loop {
        match commit(&log, &[(gtid(0, 1, written + 1), 100)]) {
            Ok(_) => written += 1,
            Err(error) => break error,
        }
    };
    assert!(is_no_space(&error), "{error}");
    assert!(written > 2);
    for _ in 0..3 {
        assert!(is_no_space(&commit(&log, &[(gtid(0, 1, 99), 100)]).unwrap_err()));
        assert!(is_no_space(&log.rotate(NOW).unwrap_err()));
        assert!(is_no_space(&log.reset(None, NOW).unwrap_err()));
        assert!(log.prepare_ahead().is_err_and(|error| is_no_space(&error)));
    }
    assert_eq!(log.files().len(), 1);
    disk.set_capacity(None);
    commit(&log, &[(gtid(0, 1, written + 1), 100)]).unwrap();
    log.rotate(NOW).unwrap();
    commit(&log, &[(gtid(0, 1, written + 2), 100)]).unwrap();
    drop(log);
    let (log, recovery) = open(&disk.after_process_death()).unwrap();
    assert_eq!(recovery.cut, None);
    assert_eq!(all_gtids(&log).unwrap().len() as u64, written + 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Any change of a file's bytes causes no panic, and what is read is a prefix.
    #[test]
    fn a_changed_file_causes_no_panic_and_no_wrong_data(
        cut in prop::option::of(0usize..20_000),
        changes in prop::collection::vec((0usize..20_000, any::<u8>()), 0..6),
        moved in prop::option::of((0usize..3000, 0usize..3000, 0usize..600)),
    ) {
        let disk = SimulatedDisk::new();
        six_writes(&disk);
        disk.damage(&file(1), |content| {
            if let Some((from, to, length)) = moved {
                content.copy_within(from..from + length, to);
            }
            for (at, byte) in &changes {
                if let Some(place) = content.get_mut(*at) {
                    *place = *byte;
                }
            }
            if let Some(cut) = cut {
                content.truncate(cut);
            }
        });
        if let Ok((log, _)) = open(&disk)
            && let Ok(found) = all_gtids(&log)
        {
            let expected: Vec<Gtid> = (1..=found.len() as u64).map(|number| gtid(0, 1, number)).collect();
            prop_assert_eq!(found, expected);
        }
    }

    /// The same for the index file.
    #[test]
    fn a_damaged_index_file_is_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..60), keep in 0usize..40) {
        let disk = SimulatedDisk::new();
        six_writes(&disk);
        disk.damage(&Path::new("/log").join("bin.index"), |content| {
            content.truncate(keep);
            content.extend_from_slice(&bytes);
        });
        if let Ok((log, _)) = open(&disk) {
            all_gtids(&log).unwrap();
        }
    }
}
