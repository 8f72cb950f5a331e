//! Transaction_payload: the compressed events of a transaction (`binlog_transaction_compression`).
//!
//! ```text
//!   fields: type (packed) | length (packed) | value …    until type 0
//!     1  length of the payload       2  compression: 0 = zstd, 255 = none       3  uncompressed length
//!   payload
//! ```
//! This is MySQL's `Transaction_payload_event`. Events are read one by one, so that only one event of a large
//! transaction is in memory at a time.

use crate::codec::Cursor;
use crate::error::{Error, Result};
use crate::event::{EventHeader, HEADER_LENGTH};
use std::io::{self, Read};

/// Maximum length of an event: MySQL's `MAX_MAX_ALLOWED_PACKET` plus a header.
const EVENT_LENGTH_MAX: usize = (1 << 30) + 1024;

const EVENT: &str = "Transaction_payload";

mod field {
    pub const END: u64 = 0;
    pub const LENGTH: u64 = 1;
    pub const COMPRESSION: u64 = 2;
}

const COMPRESSION_ZSTD: u64 = 0;
const COMPRESSION_NONE: u64 = 255;

/// Reader of the events in a payload.
pub struct PayloadEvents<'a> {
    reader: Reader<'a>,
    event: Vec<u8>,
}

enum Reader<'a> {
    Plain(&'a [u8]),
    Zstd(Box<zstd::Decoder<'static, &'a [u8]>>),
}

impl Read for Reader<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Reader::Plain(rest) => rest.read(out),
            Reader::Zstd(decoder) => decoder.read(out),
        }
    }
}

fn malformed(problem: &'static str) -> Error {
    Error::Malformed {
        event: EVENT,
        problem,
    }
}

impl<'a> PayloadEvents<'a> {
    /// Creates a reader of the payload in an event's body.
    ///
    /// # Errors
    /// [`Error::Malformed`], also for an unknown compression.
    pub fn new(body: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new(EVENT, body);
        let (mut length, mut compression) = (None, COMPRESSION_NONE);
        loop {
            let field = cursor.packed()?;
            if field == field::END {
                break;
            }
            let bytes = usize::try_from(cursor.packed()?).unwrap_or(usize::MAX);
            let mut value = Cursor::new(EVENT, cursor.bytes(bytes)?);
            match field {
                field::LENGTH => length = Some(value.packed()?),
                field::COMPRESSION => compression = value.packed()?,
                _ => {}
            }
        }
        let payload = match length {
            Some(length) => cursor.bytes(usize::try_from(length).unwrap_or(usize::MAX))?,
            None => cursor.rest(),
        };
        let reader = match compression {
            COMPRESSION_NONE => Reader::Plain(payload),
            COMPRESSION_ZSTD => {
                let decoder = zstd::Decoder::with_buffer(payload)
                    .map_err(|_| malformed("its compressed part is damaged"))?;
                Reader::Zstd(Box::new(decoder))
            }
            _ => return Err(malformed("its compression is not known")),
        };
        Ok(PayloadEvents {
            reader,
            event: Vec::new(),
        })
    }

    /// Returns the next event: header and body, without checksum. `None` at the end.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn next_event(&mut self) -> Result<Option<&[u8]>> {
        let mut header = [0; HEADER_LENGTH];
        let mut read = 0;
        while read < HEADER_LENGTH {
            match self.reader.read(&mut header[read..]) {
                Ok(0) if read == 0 => return Ok(None),
                Ok(0) => return Err(malformed("it ends within an event")),
                Ok(count) => read += count,
                Err(_) => return Err(malformed("its compressed part is damaged")),
            }
        }
        let length = EventHeader::decode(&header).map_or(0, |header| header.length as usize);
        if !(HEADER_LENGTH..=EVENT_LENGTH_MAX).contains(&length) {
            return Err(malformed("an event in it has no possible length"));
        }
        self.event.clear();
        self.event.extend_from_slice(&header);
        // The claimed length is not allocated in advance.
        let body = (length - HEADER_LENGTH) as u64;
        match (&mut self.reader).take(body).read_to_end(&mut self.event) {
            Ok(_) if self.event.len() == length => Ok(Some(&self.event)),
            Ok(_) => Err(malformed("it ends within an event")),
            Err(_) => Err(malformed("its compressed part is damaged")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: u8, body: &[u8]) -> Vec<u8> {
        let mut event = vec![0; HEADER_LENGTH];
        event[4] = kind;
        event[9..13].copy_from_slice(&((HEADER_LENGTH + body.len()) as u32).to_le_bytes());
        event.extend_from_slice(body);
        event
    }

    fn events(body: &[u8]) -> Result<Vec<Vec<u8>>> {
        let mut reader = PayloadEvents::new(body)?;
        let mut events = Vec::new();
        while let Some(event) = reader.next_event()? {
            events.push(event.to_vec());
        }
        Ok(events)
    }

    #[test]
    fn events_are_read_from_compressed_and_plain_payloads() {
        let wanted = vec![event(2, b"BEGIN"), event(30, &[7; 5000]), event(16, &[1; 8])];
        let plain: Vec<u8> = wanted.concat();
        let mut body = vec![field::COMPRESSION as u8, 3, 252, 255, 0, 0];
        body.extend_from_slice(&plain);
        assert_eq!(events(&body).unwrap(), wanted);

        let packed = zstd::encode_all(plain.as_slice(), 3).unwrap();
        let mut body = vec![2, 1, 0, 9, 2, 1, 1, field::LENGTH as u8, 3, 252];
        body.extend_from_slice(&(packed.len() as u16).to_le_bytes());
        body.push(0);
        body.extend_from_slice(&packed);
        assert_eq!(events(&body).unwrap(), wanted);
        for length in 0..body.len() {
            assert!(events(&body[..length]).is_err());
        }
        // An event that claims to be shorter than its header, and an unknown compression.
        let mut short = event(2, b"");
        short[9] = 18;
        short.splice(0..0, [0]);
        assert!(events(&short).is_err());
        assert!(events(&[2, 1, 7, 0]).is_err());
    }
}
