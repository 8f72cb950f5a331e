//! `RESET MASTER`: which numbers it takes.
#![allow(missing_docs)]

mod support;

use paceline_binlog::Error;
use paceline_binlog::log::SimulatedDisk;
use std::path::Path;
use std::sync::Arc;
use support::*;

/// At the highest number there is no rotation any more, and no start, which begins a file.
#[test]
fn numbers_that_leave_no_room_are_refused() {
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
