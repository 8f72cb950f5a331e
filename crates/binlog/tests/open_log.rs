//! Arbitrary events as the tail of a log's last file: opening rejects or accepts them, and what it accepts
//! can be read. A short form of the fuzz target under /fuzz that runs in each test. The events come from real
//! files.
#![allow(missing_docs)]

mod support;

use paceline_binlog::event::{
    EventFlags, EventHeader, EventStamp, HEADER_LENGTH, IgnorableEvent, MAGIC, encode_event, set_end_position,
};
use paceline_binlog::log::{LogFile, PurgeTarget, SyncMode};
use paceline_binlog::{GtidPosition, LogConfig};
use paceline_simulated_disk::SimulatedDisk;
use paceline_types::{LogPosition, ServerId};
use proptest::prelude::*;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use support::{config, open_on};

/// Returns the events of MariaDB's sample files and of files of our own, and our records, in the order of the files.
fn events() -> &'static [Vec<u8>] {
    static EVENTS: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    EVENTS.get_or_init(|| {
        let mut events = Vec::new();
        let mut take = |bytes: &[u8]| {
            let mut at = MAGIC.len();
            while let Some(header) = bytes.get(at..).and_then(EventHeader::decode) {
                let length = header.length as usize;
                if length < HEADER_LENGTH || at + length > bytes.len() {
                    break;
                }
                events.push(bytes[at..at + length].to_vec());
                at += length;
            }
        };
        let samples = Path::new("tests/samples");
        for number in 1..=3 {
            take(&std::fs::read(samples.join(format!("mariadb.00000{number}"))).unwrap());
        }
        let directory = tempfile::tempdir().unwrap();
        let (log, _) = support::open(directory.path()).unwrap();
        for sequence in 1..20 {
            let size = sequence as usize % 3 + 1;
            support::commit(&log, &[(support::gtid(0, 1, sequence), size)]).unwrap();
        }
        support::commit_large(&log, support::gtid(0, 1, 20), 300).unwrap();
        support::commit(&log, &[(support::gtid(0, 1, 21), 1)]).unwrap();
        log.rotate(support::NOW).unwrap();
        for name in ["bin.000001", "bin.000002"] {
            take(&std::fs::read(directory.path().join(name)).unwrap());
        }
        let stamp = EventStamp {
            timestamp: 1,
            server_id: ServerId(1),
            flags: EventFlags::IGNORABLE,
        };
        for offset in [0, 300, 1000, 1 << 30] {
            let mut event = Vec::new();
            let record = IgnorableEvent::Durable {
                durable: LogPosition::new(1, offset),
                sync_mode: SyncMode::Deferred,
            };
            encode_event(&mut event, &stamp, 0, &record);
            events.push(event);
        }
        events
    })
}

#[derive(Clone, Debug)]
struct Run {
    /// Number of the first event; after the last event the numbers start again.
    from: usize,
    length: usize,
    changes: Vec<(prop::sample::Index, u8)>,
}

fn run() -> impl Strategy<Value = Run> {
    let changes = prop_oneof![
        3 => Just(Vec::new()),
        1 => prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ];
    (any::<usize>(), 1..14usize, changes).prop_map(|(from, length, changes)| Run {
        from,
        length,
        changes,
    })
}

/// Opens a log whose file ends with these events. Returns whether opening has accepted an event group.
fn open_with(runs: &[Run], cut: Option<prop::sample::Index>) -> bool {
    let disk = SimulatedDisk::new();
    let config = LogConfig {
        prepare_step: 8192,
        ..config(Path::new("/log"))
    };
    let (log, _) = open_on(Arc::new(disk.clone()), config.clone()).unwrap();
    let end = log.written().offset() as usize;
    drop(log);
    let mut tail = Vec::new();
    for run in runs {
        let from = run.from % events().len();
        let mut bytes = Vec::new();
        for event in events().iter().skip(from).take(run.length) {
            let start = bytes.len();
            bytes.extend_from_slice(event);
            let end = (end + tail.len() + bytes.len()) as u32;
            set_end_position(&mut bytes[start..], end);
        }
        for (at, byte) in &run.changes {
            // The checksum is corrected, so that the changed content itself is examined.
            let mut at = at.index(bytes.len());
            let mut start = 0;
            while let Some(header) = bytes.get(start..).and_then(EventHeader::decode) {
                let length = header.length as usize;
                if length < HEADER_LENGTH + 4 || start + length > bytes.len() {
                    break;
                }
                if (start..start + length).contains(&at) {
                    at = at.max(start + HEADER_LENGTH).min(start + length - 5);
                    bytes[at] = *byte;
                    let end = (end + tail.len() + start + length) as u32;
                    set_end_position(&mut bytes[start..start + length], end);
                    break;
                }
                start += length;
            }
        }
        tail.extend(bytes);
    }
    if let Some(cut) = cut {
        tail.truncate(cut.index(tail.len()));
    }
    disk.damage(Path::new("/log/bin.000001"), |content| {
        content.truncate(end);
        content.extend(&tail);
        content.resize(content.len() + 100, 0);
    });
    let Ok((log, _)) = open_on(Arc::new(disk), config) else {
        return false;
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
    last.is_some()
}

/// Ensures that both outcomes occur.
#[test]
fn whole_files_are_accepted_and_halves_of_groups_cut() {
    let accepts = |from: usize, length| {
        let run = Run {
            from,
            length,
            changes: Vec::new(),
        };
        open_with(&[run], None)
    };
    let accepted = (0..events().len()).filter(|from| accepts(*from, 8)).count();
    assert!(accepted > 10, "{accepted}");
    assert!(accepted < events().len(), "{accepted}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn arbitrary_tails_cause_no_panic(runs in prop::collection::vec(run(), 1..5), cut in prop::option::of(any::<prop::sample::Index>())) {
        open_with(&runs, cut);
    }
}
