//! The event group that starts an epoch.

use paceline_binlog::event::{
    ChecksumAlgorithm, EventFlags, EventStamp, GtidEvent, GtidFlags, QueryEvent, RawEvent, encode_event,
};
use paceline_binlog::{EpochMark, EventGroup};
use paceline_types::{Gtid, LogPosition};

/// Returns the group of an epoch's start with this GTID.
pub fn epoch_group(mark: EpochMark, gtid: Gtid, timestamp: u32) -> EventGroup {
    let stamp = EventStamp {
        timestamp,
        server_id: gtid.server_id,
        flags: EventFlags::NONE,
    };
    let text = mark.to_string();
    let (mut first, mut query) = (Vec::new(), Vec::new());
    // The same as those of `EventGroupBuffer::start_epoch`. Positions are set when the group is placed.
    encode_event(
        &mut first,
        &stamp,
        4,
        &GtidEvent::new(gtid, GtidFlags::STANDALONE),
    );
    encode_event(&mut query, &stamp, 4, &QueryEvent::new(b"", text.as_bytes()));
    let events = [&first, &query]
        .map(|bytes| RawEvent::new(bytes, ChecksumAlgorithm::Crc32).expect("what was encoded is an event"));
    EventGroup::from_events(LogPosition::ZERO, events).expect("it begins with a GTID")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_knows_the_group_as_the_start_of_an_epoch() {
        let mark = EpochMark { epoch: 7, primary: 3 };
        let group = epoch_group(mark, "0-5-12".parse().unwrap(), 1);
        assert_eq!(group.epoch_mark(), Some(mark));
        assert_eq!(group.gtid().to_string(), "0-5-12");
    }
}
