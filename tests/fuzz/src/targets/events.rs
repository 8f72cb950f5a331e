//! Any event: a decoded event can be encoded, and decodes to the same event again.

use super::Target;
use crate::sample_log;
use paceline_binlog::event::{Event, EventBody, EventHeader, FormatDescription, RawEvent, set_end_position};

pub(super) const TARGET: Target = Target {
    name: "decode_event",
    run,
    samples,
    words: &[b"def", b"test", b"\x00\x00\x00\x00"],
};

/// A compressed Query event, changed and cut, at which the decoder once panicked.
const FOUND: &[u8] =
    b"\xed\x33\x00\x6b\xa5\x03\x00\x00\x00\x83\x00\x00\x00\x11\x02\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\
    \x00\x00\x02\x00\x00\x1a\x00\x00\x00\x00\x00\xb5\x01\x00\x00\x20\x54\x00\x00\x00\x00\x06\x03\x73\x74\
    \x64\x04\x2d\x00\x85\x00\x08\x00\x64\x31\x00\x81\x7e\x52";

fn run(bytes: &[u8]) {
    let format = FormatDescription::new("", 0);
    let _ = RawEvent::new(bytes, format.checksum).map(|event| event.decode(&format));
    if bytes.len() >= 23 {
        let mut valid = bytes.to_vec();
        set_end_position(&mut valid, 7);
        let _ = RawEvent::new(&valid, format.checksum).map(|event| event.decode(&format));
    }
    // Without the checksum, which a fuzzer cannot guess.
    let Some(header) = EventHeader::decode(bytes) else {
        return;
    };
    if let Ok(event) = Event::decode(&header, &bytes[19..], &format) {
        let mut encoded = Vec::new();
        event.encode_body(&mut encoded);
        assert_eq!(Event::decode(&header, &encoded, &format).unwrap(), event);
    }
}

fn samples() -> Vec<Vec<u8>> {
    let mut samples = sample_log::events();
    samples.push(FOUND.to_vec());
    // The same without their checksums.
    let bodies: Vec<Vec<u8>> = samples
        .iter()
        .map(|event| event[..event.len() - 4].to_vec())
        .collect();
    samples.extend(bodies);
    // Events of each type with a body of zeros and one of counted bytes.
    for event_type in 0..=170u8 {
        for length in [0usize, 13, 40] {
            let mut event = vec![0; 19 + length];
            event[4] = event_type;
            event[5] = 1;
            event[9..13].copy_from_slice(&(19 + length as u32).to_le_bytes());
            event[13] = 200;
            for (at, byte) in event[19..].iter_mut().enumerate() {
                *byte = if length == 13 { 0 } else { at as u8 };
            }
            samples.push(event);
        }
    }
    samples
}
