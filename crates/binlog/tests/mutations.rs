//! The decoder returns an event or an error for any bytes. A short form of the fuzz target under /fuzz that runs in
//! each test.
#![allow(missing_docs)]

use paceline_binlog::event::{
    Event, EventBody, EventHeader, EventType, FormatDescription, RawEvent, set_end_position,
};
use proptest::prelude::*;
use std::sync::OnceLock;

/// Returns all events of the samples.
fn samples() -> &'static [Vec<u8>] {
    static SAMPLES: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    SAMPLES.get_or_init(|| {
        let mut events = Vec::new();
        for number in 1..=3 {
            let bytes = std::fs::read(format!("tests/samples/mariadb.00000{number}")).unwrap();
            let mut at = 4;
            while at < bytes.len() {
                let length = EventHeader::decode(&bytes[at..]).unwrap().length as usize;
                events.push(bytes[at..at + length].to_vec());
                at += length;
            }
        }
        events
    })
}

/// Checks that a decoded event can be encoded, and decodes to the same event again.
fn check(header: &EventHeader, body: &[u8]) {
    let format = FormatDescription::new("", 0);
    if let Ok(event) = Event::decode(header, body, &format) {
        let mut encoded = Vec::new();
        event.encode_body(&mut encoded);
        let header = EventHeader {
            event_type: event.event_type(),
            ..*header
        };
        assert_eq!(Event::decode(&header, &encoded, &format).unwrap(), event);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn mutated_events_cause_no_panic(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..5),
        cut in prop::option::of(any::<prop::sample::Index>()),
        more in prop::collection::vec(any::<u8>(), 0..10),
    ) {
        let mut event = samples()[which.index(samples().len())].clone();
        let header = EventHeader::decode(&event).unwrap();
        for (at, byte) in changes {
            let at = at.index(event.len());
            event[at] = byte;
        }
        if let Some(cut) = cut {
            event.truncate(cut.index(event.len()));
        }
        event.extend(more);
        // Unchanged: the checksum is wrong, unless nothing was mutated.
        let format = FormatDescription::new("", 0);
        let _ = RawEvent::new(&event, format.checksum).map(|event| event.decode(&format));
        // With a corrected checksum.
        set_end_position(&mut event, 7);
        let _ = RawEvent::new(&event, format.checksum).map(|event| event.decode(&format));
        if event.len() > 23 {
            check(&header, &event[19..event.len() - 4]);
        }
    }

    #[test]
    fn random_bodies_cause_no_panic(event_type: u8, server_id: u32, body in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut header = EventHeader::decode(&samples()[0]).unwrap();
        header.event_type = EventType(event_type);
        header.server_id.0 = server_id;
        check(&header, &body);
    }
}
