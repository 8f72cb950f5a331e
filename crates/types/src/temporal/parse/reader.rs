//! Reader for the text of a temporal value: numbers, punctuation, blanks, and a fraction.

/// Reader that consumes bytes from the left.
pub(super) struct Reader<'a> {
    pub bytes: &'a [u8],
    /// Number of numbers that were read.
    pub fields: usize,
}

/// Signal to stop parsing: a part is missing although the text continues.
pub(super) struct Stop;

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { bytes, fields: 0 }
    }

    pub fn peek(&self) -> Option<u8> {
        self.bytes.first().copied()
    }

    pub fn peek_is_digit(&self, at: usize) -> bool {
        self.bytes.get(at).is_some_and(u8::is_ascii_digit)
    }

    pub fn advance(&mut self) {
        self.bytes = &self.bytes[1..];
    }

    pub fn skip_spaces(&mut self) {
        let spaces = self.bytes.iter().take_while(|b| is_space(**b)).count();
        self.bytes = &self.bytes[spaces..];
    }

    /// Reads the next digits, at most `most`. Large numbers saturate. Also returns the number of digits.
    pub fn digits(&mut self, most: usize) -> (u64, usize) {
        let count = self
            .bytes
            .iter()
            .take(most)
            .take_while(|b| b.is_ascii_digit())
            .count();
        let number = self.bytes[..count].iter().fold(0u64, |number, digit| {
            number.saturating_mul(10).saturating_add(u64::from(digit - b'0'))
        });
        self.bytes = &self.bytes[count..];
        (number, count)
    }

    /// Reads a number of at most `most` digits. At the end of the text it leaves `into` unchanged.
    pub fn number(&mut self, into: &mut u32, most: usize) -> Result<(), Stop> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        let (number, count) = self.digits(most);
        if count == 0 {
            return Err(Stop);
        }
        *into = u32::try_from(number).unwrap_or(u32::MAX);
        self.fields += 1;
        Ok(())
    }

    pub fn punctuation(&mut self) -> Result<(), Stop> {
        match self.peek() {
            None => Ok(()),
            Some(byte) if byte.is_ascii_punctuation() => {
                self.advance();
                Ok(())
            }
            Some(_) => Err(Stop),
        }
    }

    /// Reads the separator of date and time: a `T`, spaces, or any punctuation, unless the text may be a time.
    pub fn separator(&mut self, accept: Accept) -> Result<(), Stop> {
        match self.peek() {
            None => Ok(()),
            Some(b'T') => {
                self.advance();
                Ok(())
            }
            Some(byte) if byte.is_ascii_punctuation() => {
                if accept == Accept::DateTimeInTime {
                    self.fields = 0;
                    return Err(Stop);
                }
                self.advance();
                Ok(())
            }
            Some(byte) if is_space(byte) => {
                self.skip_spaces();
                Ok(())
            }
            Some(_) => Err(Stop),
        }
    }

    /// Reads the digits after a point.
    pub fn fraction(&mut self) -> Fraction {
        let (number, count) = self.digits(6);
        let micros = (count..6).fold(number as u32, |number, _| number * 10);
        let garbage = count == 0 && !self.bytes.is_empty();
        let next_is_half = matches!(self.peek(), Some(b'5'..=b'9'));
        let (_, more) = self.digits(usize::MAX);
        Fraction {
            micros,
            decimals: count as u8,
            cut: more > 0,
            rest_is_half: more > 0 && next_is_half,
            garbage,
        }
    }
}

/// A fraction of a second.
#[derive(Clone, Copy, Default)]
pub(super) struct Fraction {
    /// Microseconds.
    pub micros: u32,
    /// Number of digits, at most 6.
    pub decimals: u8,
    /// There were more than 6 digits.
    pub cut: bool,
    /// The digits after the sixth are half a microsecond or more.
    pub rest_is_half: bool,
    /// A character after the point was not a digit.
    pub garbage: bool,
}

pub(super) fn is_space(byte: u8) -> bool {
    byte == b' ' || (9..=13).contains(&byte)
}

/// Purpose of parsing a datetime.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Accept {
    /// To get a date or datetime.
    Any,
    /// To find out whether a text for a time is a datetime.
    DateTimeInTime,
}

/// A text without blanks, its sign, and anything after the last digit or punctuation.
pub(super) struct Body<'a> {
    pub negative: bool,
    pub bytes: &'a [u8],
    /// More than blanks was removed.
    pub truncated: bool,
}

/// Finds the temporal value in a text. Returns `None` if the text does not begin with a digit.
pub(super) fn find_body(text: &str) -> Option<Body<'_>> {
    let mut reader = Reader::new(text.as_bytes());
    reader.skip_spaces();
    let sign = reader.peek();
    if matches!(sign, Some(b'-' | b'+')) {
        reader.advance();
    }
    reader.skip_spaces();
    let mut bytes = reader.bytes;
    let mut truncated = false;
    while let [rest @ .., last] = bytes {
        // A `T` after the date is significant even without a time.
        let is_separator = *last == b'T' && rest.last().is_some_and(u8::is_ascii_digit);
        if last.is_ascii_digit() || last.is_ascii_punctuation() || is_separator {
            break;
        }
        truncated |= !is_space(*last);
        bytes = rest;
    }
    bytes.first()?.is_ascii_digit().then_some(Body {
        negative: sign == Some(b'-'),
        bytes,
        truncated,
    })
}
