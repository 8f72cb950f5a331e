//! `RESET MASTER`: concurrent preparation, and the file numbers that it accepts.
#![allow(missing_docs)]

mod support;

use paceline_binlog::log::{Disk, Preparation};
use paceline_binlog::{Error, Log, Result};
use paceline_simulated_disk::SimulatedDisk;
use parking_lot::Mutex;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;
use support::watched_disk::WatchedDisk;
use support::*;

/// A log that was reset while another thread prepared the file for the next rotation.
struct ResetDuringPreparation {
    disk: SimulatedDisk,
    log: Log,
    /// The disk directly after the rename at which preparation began, as if the process had died then.
    at_rename: SimulatedDisk,
}

/// Resets a log. Preparation begins directly after a file has been renamed to `at`.
fn reset_during_preparation(number: Option<u32>, at: &'static str) -> ResetDuringPreparation {
    let watched = WatchedDisk::default();
    let disk = watched.disk.clone();
    let (log, _) = open_on(Arc::new(watched.clone()), config(Path::new("/log"))).unwrap();
    commit(&log, &[(gtid(0, 1, 1), 1)]).unwrap();
    // Makes a rotation due soon.
    log.set_file_size_max(1);
    type Started = (JoinHandle<Result<Preparation>>, SimulatedDisk);
    let started: Arc<Mutex<Option<Started>>> = Arc::default();
    {
        let (log, disk, started) = (log.clone(), disk.clone(), Arc::clone(&started));
        watched.on_rename(move |to| {
            let mut started = started.lock();
            if started.is_some() || !to.ends_with(at) {
                return;
            }
            let (done, is_done) = mpsc::channel();
            let log = log.clone();
            let thread = std::thread::spawn(move || {
                let prepared = log.prepare_ahead();
                let _ = done.send(());
                prepared
            });
            // It must not finish before the reset does.
            let _ = is_done.recv_timeout(Duration::from_millis(300));
            *started = Some((thread, disk.after_process_death()));
        });
    }
    log.reset(number, NOW).unwrap();
    let (thread, at_rename) = started.lock().take().expect("a file gets that name");
    thread.join().unwrap().unwrap();
    ResetDuringPreparation { disk, log, at_rename }
}

#[test]
fn after_a_crash_in_a_reset_no_file_prepared_for_the_old_log_remains() {
    let reset = reset_during_preparation(None, "bin.000001");
    let (log, _) = open_on(Arc::new(reset.at_rename), config(Path::new("/log"))).unwrap();
    assert_eq!(all_gtids(&log).unwrap(), []);
    commit(&log, &[(gtid(0, 1, 1), 1)]).unwrap();
    assert_eq!(all_gtids(&log).unwrap(), [gtid(0, 1, 1)]);
}

/// The new log's file has the name that the old log's next file would have had.
#[test]
fn the_new_file_is_not_taken_for_a_prepared_one() {
    let ResetDuringPreparation { disk, log, .. } = reset_during_preparation(Some(2), "bin.index");
    commit(&log, &[(gtid(0, 1, 1), 1)]).unwrap();
    log.rotate(NOW).unwrap();
    commit(&log, &[(gtid(0, 1, 2), 1)]).unwrap();
    let names = disk.list(Path::new("/log")).unwrap();
    for file in log.files() {
        assert!(names.contains(&file.name), "{} is gone: {names:?}", file.name);
    }
    drop(log);
    let (log, _) = open_on(Arc::new(disk.after_process_death()), config(Path::new("/log"))).unwrap();
    assert_eq!(all_gtids(&log).unwrap(), [gtid(0, 1, 1), gtid(0, 1, 2)]);
}

/// At the highest number neither a rotation nor a start, which begins a file, would be possible.
#[test]
fn numbers_that_leave_none_for_rotations_are_refused() {
    let disk = SimulatedDisk::new();
    let (log, _) = open_on(Arc::new(disk.clone()), config(Path::new("/log"))).unwrap();
    commit(&log, &[(gtid(0, 1, 1), 1)]).unwrap();
    for number in [2_000_000_001, 0x7FFF_FFFF, u32::MAX] {
        let error = log.reset(Some(number), NOW).unwrap_err();
        assert!(matches!(error, Error::NumberTooHigh { .. }), "{error}");
        assert_eq!(error.code(), 1098);
    }
    assert_eq!(all_gtids(&log).unwrap(), [gtid(0, 1, 1)]);
    commit(&log, &[(gtid(0, 1, 2), 1)]).unwrap();
    log.reset(Some(2_000_000_000), NOW).unwrap();
    commit(&log, &[(gtid(0, 1, 1), 1)]).unwrap();
    log.rotate(NOW).unwrap();
    drop(log);
    let (log, _) = open_on(Arc::new(disk.after_process_death()), config(Path::new("/log"))).unwrap();
    assert_eq!(all_gtids(&log).unwrap(), [gtid(0, 1, 1)]);
    let names: Vec<String> = log.files().into_iter().map(|file| file.name).collect();
    assert_eq!(names, ["bin.2000000000", "bin.2000000001", "bin.2000000002"]);
}
