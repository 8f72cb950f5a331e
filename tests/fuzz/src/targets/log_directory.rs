//! Any bytes as the tail of a log's last file: opening the log rejects or accepts them, and what it accepts can be
//! read. Positions, checksums and impossible lengths of the events are repaired first: otherwise only the first bad
//! event would be reached.

use super::Target;
use crate::sample_log;
use paceline_binlog::event::{EventHeader, HEADER_LENGTH, set_end_position};
use paceline_binlog::log::{LogConfig, LogFile, OpenRequest, PurgeTarget};
use paceline_binlog::{GtidPosition, Log};
use paceline_simulated_disk::SimulatedDisk;
use paceline_types::{LogPosition, ServerId};
use std::path::Path;
use std::sync::Arc;

pub(super) const TARGET: Target = Target {
    name: "open_log",
    run: |bytes| {
        open_with(bytes);
    },
    samples,
    words: &[],
};

/// Shortest event: header and checksum.
const EVENT_LENGTH_MIN: usize = HEADER_LENGTH + 4;
/// Number of events of a sample.
const SAMPLE_EVENTS: usize = 8;

/// What came of a damaged tail.
#[derive(Debug, PartialEq, Eq)]
enum Opened {
    /// The log was refused, or the whole tail cut off.
    WithoutTail,
    /// The log has event groups of the tail.
    WithTail,
}

fn open_with(tail: &[u8]) -> Opened {
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
        content.extend(repaired(tail, end));
        content.resize(content.len() + 100, 0);
    });
    let Ok((log, _)) = Log::open(Arc::new(disk), config, OpenRequest::new(0)) else {
        return Opened::WithoutTail;
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
    match last {
        Some(_) => Opened::WithTail,
        None => Opened::WithoutTail,
    }
}

/// Returns the events with the positions that they have after `start`, and with matching checksums.
fn repaired(tail: &[u8], start: usize) -> Vec<u8> {
    let mut tail = tail.to_vec();
    let mut at = 0;
    while let Some(header) = tail.get(at..).and_then(EventHeader::decode) {
        let rest = tail.len() - at;
        let length = match header.length as usize {
            length if (EVENT_LENGTH_MIN..=rest).contains(&length) => length,
            length => (length % 512).max(EVENT_LENGTH_MIN).min(rest),
        };
        if length < EVENT_LENGTH_MIN {
            break;
        }
        tail[at + 9..at + 13].copy_from_slice(&(length as u32).to_le_bytes());
        set_end_position(&mut tail[at..at + length], (start + at + length) as u32);
        at += length;
    }
    tail
}

/// Returns runs of a real log's events: one that begins at each event.
fn samples() -> Vec<Vec<u8>> {
    let events = sample_log::events();
    (0..events.len())
        .map(|first| {
            events[first..]
                .iter()
                .take(SAMPLE_EVENTS)
                .flatten()
                .copied()
                .collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ensures that the target sees both outcomes.
    #[test]
    fn whole_groups_are_accepted_and_halves_cut() {
        let samples = samples();
        let accepted = samples
            .iter()
            .filter(|sample| open_with(sample) == Opened::WithTail)
            .count();
        assert!(accepted > 10, "{accepted} of {}", samples.len());
        assert!(accepted < samples.len(), "{accepted} of {}", samples.len());
    }
}
