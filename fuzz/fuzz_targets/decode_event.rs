//! Any event: what decodes can be encoded, and decodes to the same again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use paceline_binlog::event::{Event, EventBody, EventHeader, FormatDescription, RawEvent};

fuzz_target!(|bytes: &[u8]| {
    let format = FormatDescription::new("", 0);
    let _ = RawEvent::new(bytes, format.checksum).map(|event| event.decode(&format));
    // Without the checksum, which a fuzzer does not guess.
    let Some(header) = EventHeader::decode(bytes) else { return };
    if let Ok(event) = Event::decode(&header, &bytes[19..], &format) {
        let mut encoded = Vec::new();
        event.encode_body(&mut encoded);
        assert_eq!(Event::decode(&header, &encoded, &format).unwrap(), event);
    }
});
