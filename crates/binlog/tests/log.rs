//! The log on a real disk: append, read, rotate, reopen, find, purge, reset.
#![allow(missing_docs)]

mod support;

use paceline_binlog::log::{LogFile, OpenRequest, PurgeTarget, Shutdown};
use paceline_binlog::{EpochHistory, Error, GtidPosition, GtidState, Log, RealDisk};
use paceline_types::LogPosition;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use support::*;

fn no_reader(_: &LogFile) -> Option<String> {
    None
}

fn names(log: &Log) -> Vec<String> {
    log.files().into_iter().map(|file| file.name).collect()
}

#[test]
fn appended_transactions_are_read_and_survive_restarts() {
    let directory = tempfile::tempdir().unwrap();
    let (log, recovery) = open(directory.path()).unwrap();
    assert_eq!(recovery.shutdown, Shutdown::New);
    commit(&log, &[(gtid(0, 1, 1), 1)]).unwrap();
    commit(
        &log,
        &[
            (gtid(0, 1, 2), 1),
            (gtid(0, 1, 3), 2000),
            (gtid(1, 1, 1), 100_000),
        ],
    )
    .unwrap();
    let expected = vec![gtid(0, 1, 1), gtid(0, 1, 2), gtid(0, 1, 3), gtid(1, 1, 1)];
    assert_eq!(all_gtids(&log).unwrap(), expected);
    assert_eq!(log.durable(), log.written());
    let end = log.written();
    log.close(NOW).unwrap();
    assert!(matches!(log.reserve(1), Err(Error::Closed)));

    let (log, recovery) = open(directory.path()).unwrap();
    assert_eq!(recovery.shutdown, Shutdown::Clean);
    assert_eq!(recovery.state.to_string(), "0-1-3,1-1-1");
    assert!(
        recovery.end > end && recovery.end.ordinal() == end.ordinal(),
        "the Stop event follows"
    );
    assert_eq!(recovery.cut, None);
    assert_eq!(all_gtids(&log).unwrap(), expected);
    commit(&log, &[(gtid(0, 1, 4), 1)]).unwrap();
    let end = log.written();
    drop(log);

    let (log, recovery) = open(directory.path()).unwrap();
    assert_eq!(recovery.shutdown, Shutdown::Crash);
    assert_eq!(recovery.end, end);
    assert_eq!(
        all_gtids(&log).unwrap(),
        [&expected[..], &[gtid(0, 1, 4)]].concat()
    );
    assert_eq!(names(&log), ["bin.000001", "bin.000002", "bin.000003"]);
}

#[test]
fn mariadb_binlog_reads_every_closed_file() {
    let directory = tempfile::tempdir().unwrap();
    let (log, _) = open(directory.path()).unwrap();
    commit(&log, &[(gtid(0, 1, 1), 1)]).unwrap();
    commit(&log, &[(gtid(0, 1, 2), 1), (gtid(0, 1, 3), 2000)]).unwrap();
    log.rotate(NOW).unwrap();
    commit(&log, &[(gtid(0, 1, 4), 1)]).unwrap();
    log.close(NOW).unwrap();
    let first = mariadb_binlog(&directory.path().join("bin.000001"));
    for expected in [
        "GTID 0-1-1 trans",
        "GTID 0-1-2 cid=",
        "INSERT INTO `test`.`t`",
        "Rotate to bin.000002",
        "@1=1999",
    ] {
        assert!(first.contains(expected), "{expected} is not in\n{first}");
    }
    let second = mariadb_binlog(&directory.path().join("bin.000002"));
    assert!(
        second.contains("Gtid list [0-1-3]") && second.contains("Stop"),
        "{second}"
    );
}

#[test]
fn rotated_files_are_complete_and_in_the_index() {
    let directory = tempfile::tempdir().unwrap();
    let mut config = config(directory.path());
    config.file_size_max = 20_000;
    let (log, _) = open_on(Arc::new(RealDisk), config).unwrap();
    for number in 1..=200 {
        commit(&log, &[(gtid(0, 1, number), 10)]).unwrap();
        if log.wants_preparation() {
            log.prepare_ahead().unwrap();
        }
        if log.rotation_due() {
            log.rotate(NOW).unwrap();
        }
    }
    let files = log.files();
    assert!(files.len() > 2, "{files:?}");
    for file in &files[..files.len() - 1] {
        assert_eq!(
            fs::metadata(directory.path().join(&file.name)).unwrap().len(),
            file.length
        );
    }
    assert_eq!(
        all_gtids(&log).unwrap(),
        (1..=200).map(|number| gtid(0, 1, number)).collect::<Vec<_>>()
    );
    let index = fs::read_to_string(directory.path().join("bin.index")).unwrap();
    assert_eq!(index.lines().count(), files.len());
    assert!(index.starts_with("./bin.000001\n./bin.000002\n"));
}

#[test]
fn transactions_and_positions_are_found_with_and_without_gtid_indexes() {
    let directory = tempfile::tempdir().unwrap();
    let (log, _) = open(directory.path()).unwrap();
    let mut starts = Vec::new();
    for number in 1..=300 {
        let domain = number as u32 % 3;
        starts.push((
            gtid(domain, 1, number),
            commit(&log, &[(gtid(domain, 1, number), 300)]).unwrap()[0],
        ));
        if number % 120 == 0 {
            log.rotate(NOW).unwrap();
        }
    }
    for reopened in [false, true] {
        let log = if reopened {
            // Without usable GTID indexes, which are rebuilt.
            fs::remove_file(directory.path().join("bin.000001.idx")).unwrap();
            fs::write(directory.path().join("bin.000002.idx"), b"damaged").unwrap();
            open(directory.path()).unwrap().0
        } else {
            log.clone()
        };
        let mut position = GtidPosition::new();
        for (at, (gtid, (start, end))) in starts.iter().enumerate() {
            assert_eq!(log.find(*gtid).unwrap(), Some(*start), "{gtid}");
            assert_eq!(log.state_at(*start).unwrap().position(), position);
            position.set(*gtid);
            assert_eq!(log.state_at(*end).unwrap().position(), position);
            // A replica that has everything up to here starts after it (or earlier, if it has nothing of some domain).
            let located = log.locate(&position).unwrap();
            if at >= 2 {
                let next = starts.get(at + 1).map_or(log.written(), |(_, (start, _))| *start);
                assert!(located <= next, "{position}: {located} and not {next}");
                assert_eq!(gtids_from(&log, located).unwrap().len(), starts.len() - at - 1);
            } else {
                assert_eq!(located, starts[at + 1].1.0);
            }
        }
        assert_eq!(log.find(support::gtid(0, 1, 1)).unwrap(), None);
        assert_eq!(log.find(support::gtid(0, 1, 1000)).unwrap(), None);
        assert_eq!(log.find(support::gtid(7, 1, 1)).unwrap(), None);
        // The position of one domain is old.
        let behind: GtidPosition = "0-1-300,1-1-298,2-1-5".parse().unwrap();
        assert_eq!(
            log.locate(&behind).unwrap(),
            log.find(support::gtid(2, 1, 8)).unwrap().unwrap()
        );
    }
}

#[test]
fn purging_keeps_files_that_recovery_or_a_reader_needs() {
    let directory = tempfile::tempdir().unwrap();
    let (log, _) = open(directory.path()).unwrap();
    for number in 1..=5 {
        commit(&log, &[(gtid(0, 1, number), 1)]).unwrap();
        log.rotate(NOW).unwrap();
    }
    let target = PurgeTarget::File("bin.000004".into());
    let blocked = log.purge(&target, &no_reader).unwrap();
    assert_eq!(blocked.removed, []);
    assert_eq!(blocked.blocked.unwrap().needed_by, "crash recovery");
    log.write_checkpoint(log.written(), NOW).unwrap();
    let reader_needs = |file: &LogFile| (file.name == "bin.000003").then(|| "replica 7".to_owned());
    let outcome = log.purge(&target, &reader_needs).unwrap();
    assert_eq!(outcome.removed.len(), 2);
    assert_eq!(outcome.blocked.unwrap().needed_by, "replica 7");
    assert!(matches!(
        log.purge(&PurgeTarget::File("bin.000001".into()), &no_reader),
        Err(Error::UnknownFile(_))
    ));
    assert!(matches!(
        log.reader(LogPosition::new(1, 4), log.written()),
        Err(Error::Purged)
    ));
    assert!(matches!(log.locate(&GtidPosition::new()), Err(Error::Purged)));
    assert_eq!(
        names(&log),
        ["bin.000003", "bin.000004", "bin.000005", "bin.000006"]
    );
    assert!(
        !directory.path().join("bin.000001").exists() && !directory.path().join("bin.000001.idx").exists()
    );
    drop(log);
    let (log, recovery) = open(directory.path()).unwrap();
    assert_eq!(recovery.start, LogPosition::new(3, 4));
    assert_eq!(recovery.checkpoint.ordinal(), 6);
    assert_eq!(recovery.state.to_string(), "0-1-5");
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(100);
    assert_eq!(log.expire(later, 1000, &no_reader).unwrap().removed, []);
    assert_eq!(log.expire(later, 50, &no_reader).unwrap().removed.len(), 3);
}

#[test]
fn reset_can_continue_the_gtid_state_of_another_log() {
    let directory = tempfile::tempdir().unwrap();
    let (log, _) = open(directory.path()).unwrap();
    commit(&log, &[(gtid(0, 1, 1), 1)]).unwrap();
    assert!(log.closed_state().is_empty());
    let state: GtidState = "0-3-90,0-7-100,5-7-2".parse().unwrap();
    log.reset_to(None, &state, &EpochHistory::default(), NOW).unwrap();
    assert_eq!((log.state(), log.oldest_state()), (state.clone(), state.clone()));
    commit(&log, &[(gtid(0, 1, 101), 1)]).unwrap();
    assert_eq!(log.closed_state(), state);
    log.rotate(NOW).unwrap();
    assert_eq!(log.closed_state(), log.state());
    drop(log);
    let (log, recovery) = open(directory.path()).unwrap();
    assert_eq!(recovery.state.to_string(), "0-3-90,0-7-100,0-1-101,5-7-2");
    assert_eq!(all_gtids(&log).unwrap(), [gtid(0, 1, 101)]);
}

#[test]
fn reset_restarts_names_and_gtids_but_not_positions() {
    let directory = tempfile::tempdir().unwrap();
    let (log, _) = open(directory.path()).unwrap();
    for number in 1..=3 {
        commit(&log, &[(gtid(0, 1, number), 1)]).unwrap();
        log.rotate(NOW).unwrap();
    }
    let before = log.written();
    let after = log.reset(None, NOW).unwrap();
    assert!(after > before);
    // A checkpoint that was already planned has no effect any more.
    log.write_checkpoint(before, NOW).unwrap();
    assert_eq!(names(&log), ["bin.000001"]);
    assert_eq!(log.state().to_string(), "");
    assert_eq!(log.coordinates(after).unwrap().0, "bin.000001");
    commit(&log, &[(gtid(0, 1, 1), 1)]).unwrap();
    log.rotate(NOW).unwrap();
    commit(&log, &[(gtid(0, 1, 2), 1)]).unwrap();
    drop(log);
    let (log, recovery) = open(directory.path()).unwrap();
    assert_eq!(recovery.state.to_string(), "0-1-2");
    assert_eq!(all_gtids(&log).unwrap(), [gtid(0, 1, 1), gtid(0, 1, 2)]);
    assert!(log.written() > after);
    assert_eq!(names(&log), ["bin.000001", "bin.000002", "bin.000003"]);
}

#[test]
fn a_log_that_lost_its_end_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (log, _) = open(directory.path()).unwrap();
    commit(&log, &[(gtid(0, 1, 1), 1)]).unwrap();
    let end = log.written();
    drop(log);
    let request = OpenRequest {
        engine_position: end.advanced_by(1),
        ..OpenRequest::new(NOW)
    };
    let error = Log::open(Arc::new(RealDisk), config(directory.path()), request).unwrap_err();
    assert!(matches!(error, Error::EndLost { .. }), "{error}");
    let request = OpenRequest {
        engine_position: end,
        ..request
    };
    assert!(Log::open(Arc::new(RealDisk), config(directory.path()), request).is_ok());
}

#[test]
fn missing_files_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let (log, _) = open(directory.path()).unwrap();
    commit(&log, &[(gtid(0, 1, 1), 1)]).unwrap();
    log.rotate(NOW).unwrap();
    log.rotate(NOW).unwrap();
    drop(log);
    let aside = directory.path().join("aside");
    fs::rename(directory.path().join("bin.000002"), &aside).unwrap();
    let error = open(directory.path()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "binary log file 'bin.000002' is in the index but not in the directory"
    );
    fs::rename(&aside, directory.path().join("bin.000002")).unwrap();
    fs::remove_file(directory.path().join("bin.index")).unwrap();
    let error = open(directory.path()).unwrap_err();
    assert!(
        error.to_string().contains("'bin.000001' holds transactions"),
        "{error}"
    );
}

/// Readers follow the durable position while the log is written, rotated, prepared and purged.
#[test]
fn readers_follow_a_log_that_is_written_rotated_and_purged() {
    let directory = tempfile::tempdir().unwrap();
    let mut config = config(directory.path());
    config.file_size_max = 50_000;
    let (log, _) = open_on(Arc::new(RealDisk), config).unwrap();
    let total = 1500;
    // The file of the slowest reader, which purging respects.
    let slowest: [AtomicU64; 3] = std::array::from_fn(|_| AtomicU64::new(0));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for (number, at) in slowest.iter().enumerate() {
            let log = log.clone();
            scope.spawn(move || {
                let mut reader = log.reader(LogPosition::ZERO, log.durable()).unwrap();
                let mut expected = 1;
                while expected <= total {
                    while let Some(group) = reader.next_group().unwrap() {
                        assert_eq!(group.gtid(), gtid(0, 1, expected));
                        if expected % 50 == number as u64 {
                            assert_eq!(log.find(group.gtid()).unwrap(), Some(group.start()));
                            assert_eq!(
                                log.state_at(group.end()).unwrap().last(group.gtid().domain_id),
                                Some(group.gtid())
                            );
                            // A second reader that starts in the middle.
                            let mut second = log.reader(group.start(), group.end()).unwrap();
                            assert_eq!(second.next_group().unwrap().unwrap().gtid(), group.gtid());
                        }
                        expected += 1;
                        at.store(u64::from(group.start().ordinal()), Ordering::Release);
                    }
                    reader.set_limit(log.durable());
                }
            });
        }
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                log.prepare_ahead().unwrap();
                let needed = slowest.iter().map(|at| at.load(Ordering::Acquire)).min().unwrap();
                let target = PurgeTarget::File(log.files().last().unwrap().name.clone());
                let guard =
                    |file: &LogFile| (u64::from(file.ordinal) >= needed).then(|| "a reader".to_owned());
                log.purge(&target, &guard).unwrap();
                std::thread::yield_now();
            }
        });
        for number in 1..=total {
            commit(&log, &[(gtid(0, 1, number), 1 + number as usize % 40)]).unwrap();
            if log.rotation_due() {
                log.rotate(NOW).unwrap();
                log.write_checkpoint(log.written(), NOW).unwrap();
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(log.files()[0].name.as_str() > "bin.000001", "nothing was purged");
}
