//! Any bytes as the tail of a log's last file: opening the log rejects or accepts them, and what it accepts
//! can be read. Lengths and checksums of the events are repaired first: otherwise only the first bad event
//! would be reached.

use super::Target;
use paceline_binlog::event::{EventHeader, HEADER_LENGTH, set_end_position};
use paceline_binlog::log::{LogConfig, LogFile, OpenRequest, PurgeTarget};
use paceline_binlog::{GtidPosition, Log};
use paceline_simulated_disk::SimulatedDisk;
use paceline_types::{LogPosition, ServerId};
use std::path::Path;
use std::sync::Arc;

pub(super) const TARGET: Target = Target {
    name: "open_log",
    run,
    samples,
    words: &[],
};

fn run(bytes: &[u8]) {
    let disk = SimulatedDisk::new();
    let config = LogConfig {
        prepare_step: 8192,
        ..LogConfig::new("/log", "bin", ServerId(1))
    };
    let (log, _) = Log::open(Arc::new(disk.clone()), config.clone(), OpenRequest::new(0)).unwrap();
    let end = log.written().offset() as usize;
    drop(log);
    disk.damage(Path::new("/log/bin.000001"), |content| {
        content.truncate(end);
        let mut rest = bytes.to_vec();
        let mut at = 0;
        while let Some(header) = rest.get(at..).and_then(EventHeader::decode) {
            let length = (header.length as usize % 512)
                .max(HEADER_LENGTH + 4)
                .min(rest.len() - at);
            if length < HEADER_LENGTH + 4 {
                break;
            }
            rest[at + 9..at + 13].copy_from_slice(&(length as u32).to_le_bytes());
            set_end_position(&mut rest[at..at + length], (end + at + length) as u32);
            at += length;
        }
        content.extend(rest);
        content.resize(content.len() + 100, 0);
    });
    let Ok((log, _)) = Log::open(Arc::new(disk), config, OpenRequest::new(0)) else {
        return;
    };
    let mut reader = log.reader(LogPosition::ZERO, log.written()).unwrap();
    let mut last = None;
    while let Some(group) = reader.next_group().unwrap() {
        last = Some((group.gtid(), group.start()));
    }
    if let Some((gtid, start)) = last {
        log.state_at(start).unwrap();
        let _ = log.find(gtid).unwrap();
    }
    let _ = log.locate(&GtidPosition::new());
    let _ = log.locate(&log.state().position());
    log.rotate(0).unwrap();
    log.purge(&PurgeTarget::File("bin.000002".into()), &|_: &LogFile| None)
        .unwrap();
}

fn samples() -> Vec<Vec<u8>> {
    let event = |event_type: u8, body: &[u8]| {
        let mut event = vec![0; 19];
        event[4] = event_type;
        event[5] = 1;
        event[9..13].copy_from_slice(&(23 + body.len() as u32).to_le_bytes());
        event.extend_from_slice(body);
        event.extend_from_slice(&[0; 4]);
        event
    };
    let gtid = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0];
    let xid = [5, 0, 0, 0, 0, 0, 0, 0];
    vec![
        [event(162, &gtid), event(16, &xid)].concat(),
        [
            event(162, &gtid),
            event(2, b"\0\0\0\0\0\0\0\0\0\0\0\0\0BEGIN"),
            event(16, &xid),
        ]
        .concat(),
        event(161, &[5, 0, 0, 0, b'b', b'i', b'n']),
    ]
}
