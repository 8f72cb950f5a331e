//! DER, the encoding of certificates: a tag, a length, a value, which may hold others. Definite lengths only.

/// SEQUENCE.
pub const SEQUENCE: u8 = 0x30;
/// SET.
pub const SET: u8 = 0x31;
/// BOOLEAN.
pub const BOOLEAN: u8 = 0x01;
/// INTEGER.
pub const INTEGER: u8 = 0x02;
/// BIT STRING.
pub const BIT_STRING: u8 = 0x03;
/// OCTET STRING.
pub const OCTET_STRING: u8 = 0x04;
/// OBJECT IDENTIFIER.
pub const OBJECT_IDENTIFIER: u8 = 0x06;
/// UTF8String.
pub const UTF8_STRING: u8 = 0x0C;
/// UTCTime: two digits of the year.
pub const UTC_TIME: u8 = 0x17;
/// GeneralizedTime: four digits of the year.
pub const GENERALIZED_TIME: u8 = 0x18;
/// `[n]`, with others inside of it.
pub const fn context(number: u8) -> u8 {
    0xA0 | number
}

/// One value with its tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element<'a> {
    /// What it is.
    pub tag: u8,
    /// Its content.
    pub content: &'a [u8],
    /// Tag, length and content.
    pub whole: &'a [u8],
}

/// Reads one value after the other; `None` where the encoding is not what was expected.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Reads what stands in `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { rest: bytes }
    }

    /// Whether all has been read.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next value, whatever it is.
    pub fn any(&mut self) -> Option<Element<'a>> {
        let (&tag, after) = self.rest.split_first()?;
        let (&first, after) = after.split_first()?;
        let (length, content) = match first {
            0..=0x7F => (usize::from(first), after),
            0x81..=0x84 => {
                let (bytes, content) = after.split_at_checked(usize::from(first & 0x7F))?;
                let length = bytes
                    .iter()
                    .fold(0usize, |length, byte| (length << 8) | usize::from(*byte));
                (length, content)
            }
            _ => return None,
        };
        let (content, rest) = content.split_at_checked(length)?;
        let whole = &self.rest[..self.rest.len() - rest.len()];
        self.rest = rest;
        Some(Element { tag, content, whole })
    }

    /// The next value, which has to be a `tag`.
    pub fn expect(&mut self, tag: u8) -> Option<Element<'a>> {
        self.any().filter(|element| element.tag == tag)
    }

    /// The next value, if it is a `tag`; nothing is read otherwise.
    pub fn optional(&mut self, tag: u8) -> Option<Element<'a>> {
        match self.rest.first() {
            Some(next) if *next == tag => self.any(),
            _ => None,
        }
    }
}

impl<'a> Element<'a> {
    /// Reads what stands inside.
    pub fn reader(&self) -> Reader<'a> {
        Reader::new(self.content)
    }
}

/// A value with its tag and length.
pub fn encode(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    let length = content.len();
    match length {
        0..=0x7F => out.push(length as u8),
        0x80..=0xFF => out.extend_from_slice(&[0x81, length as u8]),
        0x100..=0xFFFF => out.extend_from_slice(&[0x82, (length >> 8) as u8, length as u8]),
        _ => {
            out.push(0x84);
            out.extend_from_slice(&(length as u32).to_be_bytes());
        }
    }
    out.extend_from_slice(content);
    out
}

/// Several values inside of one.
pub fn encode_all(tag: u8, parts: &[Vec<u8>]) -> Vec<u8> {
    encode(tag, &parts.concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_cut_off_is_nothing() {
        let whole = encode_all(
            SEQUENCE,
            &[encode(INTEGER, &[5]), encode(OCTET_STRING, &[7; 300])],
        );
        let mut reader = Reader::new(&whole);
        let sequence = reader.expect(SEQUENCE).unwrap();
        assert!(reader.is_empty());
        assert_eq!(sequence.whole, whole);
        let mut inside = sequence.reader();
        assert_eq!(inside.expect(INTEGER).unwrap().content, [5]);
        assert!(inside.optional(INTEGER).is_none());
        assert_eq!(inside.expect(OCTET_STRING).unwrap().content, [7; 300]);
        for length in 0..whole.len() {
            assert!(Reader::new(&whole[..length]).any().is_none());
        }
        // An indefinite length, and one of eight bytes.
        assert!(Reader::new(&[SEQUENCE, 0x80, 0, 0]).any().is_none());
        assert!(
            Reader::new(&[SEQUENCE, 0x88, 0, 0, 0, 0, 0, 0, 0, 0])
                .any()
                .is_none()
        );
    }

    proptest! {
        #[test]
        fn every_length_round_trips(content in proptest::collection::vec(any::<u8>(), 0..70_000)) {
            let whole = encode(OCTET_STRING, &content);
            prop_assert_eq!(Reader::new(&whole).expect(OCTET_STRING).unwrap().content, &content[..]);
        }
    }
}
