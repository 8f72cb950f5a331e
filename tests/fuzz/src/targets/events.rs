//! Any event: a decoded event can be encoded, and decodes to the same event again.

use super::Target;
use paceline_binlog::event::{Event, EventBody, EventHeader, FormatDescription, RawEvent};

pub(super) const TARGET: Target = Target {
    name: "decode_event",
    run,
    samples,
    words: &[b"def", b"test", b"\x00\x00\x00\x00"],
};

fn run(bytes: &[u8]) {
    let format = FormatDescription::new("", 0);
    let _ = RawEvent::new(bytes, format.checksum).map(|event| event.decode(&format));
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
    let mut samples = Vec::new();
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
