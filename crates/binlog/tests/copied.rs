//! Copied files: checks whether one file continues where the other ends.
#![allow(missing_docs)]

mod support;

use paceline_binlog::log::{DetachedFile, FileEnd};
use paceline_binlog::{LOCAL_DOMAIN, Log};
use paceline_simulated_disk::SimulatedDisk;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use support::*;

fn path(number: u32) -> PathBuf {
    Path::new("/log").join(format!("bin.{number:06}"))
}

fn open(disk: &SimulatedDisk) -> Log {
    open_on(Arc::new(disk.clone()), config(Path::new("/log")))
        .unwrap()
        .0
}

fn file(disk: &SimulatedDisk, number: u32) -> DetachedFile {
    DetachedFile::open_on(disk, &path(number)).unwrap()
}

fn end(disk: &SimulatedDisk, number: u32) -> FileEnd {
    file(disk, number).end().unwrap()
}

#[test]
fn missing_transactions_between_two_files_are_detected() {
    let disk = SimulatedDisk::new();
    let log = open(&disk);
    commit(&log, &[(gtid(0, 1, 1), 2)]).unwrap();
    log.rotate(NOW).unwrap();
    commit(&log, &[(gtid(0, 1, 2), 2)]).unwrap();
    // This transaction is in no GTID state.
    let [(local, _)] = commit(&log, &[(gtid(LOCAL_DOMAIN.0, 1, 1), 2)]).unwrap()[..] else {
        panic!("it is one transaction");
    };
    log.rotate(NOW).unwrap();
    commit(&log, &[(gtid(0, 1, 3), 2)]).unwrap();
    drop(log);
    // The server is killed: the third file has no end event, and the next start begins the fourth file.
    let disk = disk.after_process_death();
    drop(open(&disk));
    for number in 2..=4 {
        let before = end(&disk, number - 1);
        assert_eq!(before.is_rotated(), number < 4);
        file(&disk, number).check_follows(&before).unwrap();
        file(&disk, number).check_rotated(&before).unwrap();
    }

    let missing = "what is between them is missing";
    let error = file(&disk, 3).check_follows(&end(&disk, 1)).unwrap_err();
    assert!(error.to_string().contains(missing), "{error}");
    let error = file(&disk, 3).check_rotated(&end(&disk, 1)).unwrap_err();
    assert!(error.to_string().contains(missing), "{error}");
    let error = file(&disk, 2).check_follows(&end(&disk, 3)).unwrap_err();
    assert!(
        error.to_string().contains("it does not follow 'bin.000003'"),
        "{error}"
    );

    disk.damage(&path(2), |content| content.truncate(local.offset() as usize + 5));
    let short = end(&disk, 2);
    assert!(short.position <= local);
    file(&disk, 3).check_follows(&short).unwrap();
    let error = file(&disk, 3).check_rotated(&short).unwrap_err();
    assert!(error.to_string().contains(missing), "{error}");
}
