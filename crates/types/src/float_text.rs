//! Text of FLOAT and DOUBLE as MariaDB prints it: the fewest digits that read back as the same number (FLOAT: rounded
//! to 6 significant digits), and an exponent below 1e-15 and for integers from 1e15 on.

use crate::temporal::append_padded;
use std::fmt::Write;

/// Significant digits of a number and the position of its point: `0.digits × 10^point`.
struct Digits {
    negative: bool,
    digits: [u8; 20],
    length: usize,
    point: i32,
}

impl Digits {
    /// Parses Rust's form `1.234e5`.
    fn from_scientific(text: &[u8]) -> Digits {
        let mut out = Digits {
            negative: false,
            digits: [0; 20],
            length: 0,
            point: 0,
        };
        let mut exponent: Option<(bool, i32)> = None;
        for &byte in text {
            match (byte, &mut exponent) {
                (b'-', None) => out.negative = true,
                (b'-', Some((negative, _))) => *negative = true,
                (b'e', None) => exponent = Some((false, 0)),
                (b'0'..=b'9', Some((_, value))) => *value = *value * 10 + i32::from(byte - b'0'),
                (b'0'..=b'9', None) if out.length < out.digits.len() => {
                    out.digits[out.length] = byte;
                    out.length += 1;
                }
                _ => {}
            }
        }
        while out.length > 1 && out.digits[out.length - 1] == b'0' {
            out.length -= 1;
        }
        let (negative, value) = exponent.unwrap_or_default();
        out.point = if negative { -value } else { value } + 1;
        out
    }

    /// Returns whether MariaDB prints the number without an exponent if there is enough room (`my_gcvt`).
    fn is_plain(&self) -> bool {
        self.point >= -14 && (self.point <= 15 || self.length as i32 > self.point)
    }

    /// Appends the number in MariaDB's form.
    fn append(&self, out: &mut Vec<u8>) {
        self.append_as(self.is_plain(), out);
    }

    /// Appends the number with or without an exponent.
    fn append_as(&self, plain: bool, out: &mut Vec<u8>) {
        let digits = &self.digits[..self.length];
        // MariaDB prints no negative zero.
        if digits == b"0" {
            out.push(b'0');
            return;
        }
        if self.negative {
            out.push(b'-');
        }
        if !plain {
            out.push(digits[0]);
            if digits.len() > 1 {
                out.push(b'.');
                out.extend_from_slice(&digits[1..]);
            }
            let exponent = self.point - 1;
            out.extend_from_slice(if exponent < 0 { b"e-" } else { b"e" });
            append_padded(exponent.unsigned_abs(), 1, out);
        } else if self.point <= 0 {
            out.extend_from_slice(b"0.");
            out.resize(out.len() + self.point.unsigned_abs() as usize, b'0');
            out.extend_from_slice(digits);
        } else {
            let point = self.point.unsigned_abs() as usize;
            if digits.len() <= point {
                out.extend_from_slice(digits);
                out.resize(out.len() + point - digits.len(), b'0');
            } else {
                out.extend_from_slice(&digits[..point]);
                out.push(b'.');
                out.extend_from_slice(&digits[point..]);
            }
        }
    }
}

/// Buffer on the stack for formatted text.
struct Buffer {
    bytes: [u8; 40],
    length: usize,
}

impl Buffer {
    fn scientific(arguments: std::fmt::Arguments<'_>) -> Digits {
        let mut buffer = Buffer {
            bytes: [0; 40],
            length: 0,
        };
        let written = buffer.write_fmt(arguments);
        debug_assert!(written.is_ok());
        Digits::from_scientific(&buffer.bytes[..buffer.length])
    }
}

impl Write for Buffer {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let end = self.length + text.len();
        self.bytes
            .get_mut(self.length..end)
            .ok_or(std::fmt::Error)?
            .copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

/// Appends a DOUBLE: `0.1`, `1e20`.
pub fn append_double(number: f64, out: &mut Vec<u8>) {
    if number.is_finite() {
        shortest(number).append(out);
    } else {
        out.push(b'0');
    }
}

/// Returns the fewest digits that read back as the number. Of two equally near candidates MariaDB takes the even one,
/// Rust the greater one.
fn shortest(number: f64) -> Digits {
    let mut digits = Buffer::scientific(format_args!("{number:e}"));
    // The number is odd × 2^-halvings, so it has `halvings` decimals.
    let (bits, biased) = (number.to_bits(), (number.to_bits() >> 52 & 0x7ff) as i32);
    let significand = bits & ((1 << 52) - 1) | 1 << 52;
    let halvings = 1075 - biased - significand.trailing_zeros() as i32;
    if biased > 0 && halvings > 1 && digits.length as i32 - digits.point == halvings - 1 {
        let exact = Buffer::scientific(format_args!("{number:.*e}", digits.length));
        let last = digits.length - 1;
        if exact.digits[last].is_multiple_of(2) && exact.digits[..last] == digits.digits[..last] {
            digits.digits[last] = exact.digits[last];
        }
    }
    digits
}

/// Appends as many digits of a DOUBLE as fit in `width` characters, as a CHAR column of that length stores it:
/// 20240131.5 in 5 characters is `2e7`. Appends nothing and returns false if not even one digit fits.
pub fn append_double_within(number: f64, width: usize, out: &mut Vec<u8>) -> bool {
    if !number.is_finite() {
        return false;
    }
    let start = out.len();
    for digits in (1..=17).rev() {
        let digits = match digits {
            17 => shortest(number),
            digits => Buffer::scientific(format_args!("{number:.*e}", digits - 1)),
        };
        let plain_allowed = digits.is_plain();
        for plain in [true, false] {
            if plain && !plain_allowed {
                continue;
            }
            digits.append_as(plain, out);
            if out.len() - start <= width {
                return true;
            }
            out.truncate(start);
        }
    }
    false
}

/// Appends a FLOAT with 6 significant digits.
pub fn append_float(number: f32, out: &mut Vec<u8>) {
    if number.is_finite() {
        Buffer::scientific(format_args!("{number:.5e}")).append(out);
    } else {
        out.push(b'0');
    }
}

/// Appends a number with a fixed number of decimals (`DOUBLE(10,2)`, ROUND).
pub fn append_fixed(number: f64, decimals: u8, out: &mut Vec<u8>) {
    let start = out.len();
    let decimals = usize::from(decimals);
    // No more digits than tell it from its neighbours: zeros stand for the others.
    let written = write!(Bytes(out), "{number}");
    let fraction = match out[start..].iter().position(|byte| *byte == b'.') {
        Some(point) => out.len() - start - point - 1,
        None => 0,
    };
    let written = written.and_then(|()| match fraction {
        _ if fraction > decimals => {
            out.truncate(start);
            write!(Bytes(out), "{number:.decimals$}")
        }
        0 if decimals > 0 => write!(Bytes(out), ".{:0>decimals$}", ""),
        _ => write!(Bytes(out), "{:0>width$}", "", width = decimals - fraction),
    });
    debug_assert!(written.is_ok());
    if out[start..].starts_with(b"-") && !out[start..].iter().any(|byte| (b'1'..=b'9').contains(byte)) {
        out.remove(start);
    }
}

/// Writer that appends to a byte vector.
struct Bytes<'a>(&'a mut Vec<u8>);

impl Write for Bytes<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn double(number: f64) -> String {
        let mut out = Vec::new();
        append_double(number, &mut out);
        String::from_utf8(out).unwrap()
    }

    /// Texts from `SELECT` in MariaDB 10.11.
    #[test]
    fn doubles_as_mariadb() {
        for (number, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1e14, "100000000000000"),
            (1e15, "1e15"),
            (1.5e15, "1.5e15"),
            (1e15 + 0.3, "1000000000000000.2"),
            (1e15 + 0.125, "1000000000000000.1"),
            (1e15 + 0.75, "1000000000000000.8"),
            (-1e15 - 0.3, "-1000000000000000.2"),
            (1e14 + 0.125, "100000000000000.12"),
            (1e14 + 0.375, "100000000000000.38"),
            (1234567890123456.0 + 0.75, "1234567890123456.8"),
            (1000000000000001.0, "1.000000000000001e15"),
            (4503599627370498.0, "4.503599627370498e15"),
            (562949953421312.0 + 0.375, "562949953421312.4"),
            (0.25, "0.25"),
            (1500000014041088.0, "1.500000014041088e15"),
            (999999986991104.0, "999999986991104"),
            (123456789012345678.0, "1.2345678901234568e17"),
            (1e-5, "0.00001"),
            (1e-15, "0.000000000000001"),
            (1.5e-15, "0.0000000000000015"),
            (1e-16, "1e-16"),
            (1.234e-16, "1.234e-16"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1.7976931348623157e308, "1.7976931348623157e308"),
            (5e-324, "5e-324"),
            (1e22, "1e22"),
            (-1e-7, "-0.0000001"),
            (123456789.12345679, "123456789.12345679"),
            (2.0 / 3.0 * 1e10, "6666666666.666666"),
        ] {
            assert_eq!(double(number), text);
        }
    }

    /// Texts from a FLOAT column in MariaDB 10.11.
    #[test]
    fn floats_as_mariadb() {
        for (number, text) in [
            (1.1f32, "1.1"),
            (1234567.0, "1234570"),
            (123456789.0, "123457000"),
            (1.5e14, "150000000000000"),
            (1e15, "1e15"),
            (3.4028234e38, "3.40282e38"),
            (1.234567e-5, "0.0000123457"),
            (1e-15, "0.000000000000001"),
            (1e-16, "1e-16"),
            (1.4e-45, "1.4013e-45"),
            (-1.0 / 3.0, "-0.333333"),
            (16777217.0, "16777200"),
            (999999.5, "1000000"),
            (9999995.0, "10000000"),
        ] {
            let mut out = Vec::new();
            append_float(number, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
    }

    #[test]
    fn fixed_decimals_round_and_never_use_an_exponent() {
        for (number, decimals, text) in [
            (1.005, 2, "1.00"),
            (12345679.0, 2, "12345679.00"),
            (1e20, 2, "100000000000000000000.00"),
            (-0.001, 2, "0.00"),
            (1.5, 3, "1.500"),
        ] {
            let mut out = Vec::new();
            append_fixed(number, decimals, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
    }

    /// Texts from a CHAR column of that length in MariaDB 10.11.
    #[test]
    fn doubles_within_a_width() {
        for (number, width, text) in [
            (20240131.5, 5, "2e7"),
            (3.5e38, 5, "4e38"),
            (1e-5, 5, "1e-5"),
            (123.456, 5, "123.5"),
            (123.456, 7, "123.456"),
            (0.1, 10, "0.1"),
        ] {
            let mut out = Vec::new();
            assert!(append_double_within(number, width, &mut out));
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
        assert!(!append_double_within(1e300, 3, &mut Vec::new()));
    }

    proptest! {
        #[test]
        fn doubles_read_back(number in any::<f64>()) {
            prop_assume!(number.is_finite());
            prop_assert_eq!(double(number).parse::<f64>().unwrap(), number);
        }
    }
}
