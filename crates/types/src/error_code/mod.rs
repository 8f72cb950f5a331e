//! MariaDB's error numbers with their SQLSTATEs and message formats, in one table for all crates.
//!
//! A number is an [`ErrorCode`]; the constants have MariaDB's symbolic names (`ER_DUP_ENTRY`). Messages use MariaDB's
//! own format strings, so clients (and web searches) find the familiar texts:
//!
//! ```
//! use paceline_types::error_code::ER_NO_SUCH_TABLE;
//! assert_eq!(ER_NO_SUCH_TABLE.number(), 1146);
//! assert_eq!(ER_NO_SUCH_TABLE.sqlstate(), "42S02");
//! assert_eq!(ER_NO_SUCH_TABLE.message(&[&"shop", &"orders"]), "Table 'shop.orders' doesn't exist");
//! ```

use std::fmt::{self, Display, Write};

/// Defines one constant for each error, and the table of all errors.
macro_rules! error_codes {
    ($($number:literal $sqlstate:literal $name:ident $format:literal;)*) => {
        use super::{Entry, ErrorCode};
        $(
            #[doc = concat!("`", $format, "`")]
            pub const $name: ErrorCode = ErrorCode($number);
        )*
        /// All errors, in ascending order of their numbers.
        pub(super) static TABLE: &[Entry] = &[
            $(Entry { number: $number, sqlstate: $sqlstate, name: stringify!($name), format: $format },)*
        ];
    };
}
use error_codes;

mod table;
pub use table::*;

/// Entry of the table for one error.
struct Entry {
    number: u16,
    sqlstate: &'static str,
    name: &'static str,
    format: &'static str,
}

/// An error number of MariaDB.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ErrorCode(u16);

impl ErrorCode {
    /// Returns the error with this number, even if the table does not contain it (`SIGNAL` may use any number).
    pub const fn from_number(number: u16) -> Self {
        ErrorCode(number)
    }

    /// Returns the number that clients see.
    pub const fn number(self) -> u16 {
        self.0
    }

    fn entry(self) -> Option<&'static Entry> {
        let found = TABLE.binary_search_by_key(&self.0, |entry| entry.number).ok()?;
        Some(&TABLE[found])
    }

    /// Returns the five characters of the SQLSTATE; `HY000` for a number that the table does not contain.
    pub fn sqlstate(self) -> &'static str {
        match (self.entry(), self.number()) {
            (Some(entry), _) => entry.sqlstate,
            // HA_ERR_AUTOINC_ERANGE, an error of the storage engine.
            (None, 167) => "22003",
            (None, _) => "HY000",
        }
    }

    /// Returns MariaDB's symbolic name, such as `ER_DUP_ENTRY`.
    pub fn name(self) -> &'static str {
        self.entry().map_or("ER_UNKNOWN_ERROR", |entry| entry.name)
    }

    /// Returns MariaDB's format string, in the style of C's `printf`.
    pub fn format(self) -> &'static str {
        self.entry().map_or("Unknown error", |entry| entry.format)
    }

    /// Returns the message: MariaDB's format string with its placeholders replaced by the arguments, in order.
    ///
    /// A precision limits the argument (`%-.192s`, in characters), a backtick quotes it as an identifier (`` %`s ``),
    /// and `%M` expects an operating system's error number. A missing argument leaves its placeholder empty; surplus
    /// arguments are ignored.
    pub fn message(self, arguments: &[&dyn Display]) -> String {
        fill(self.format(), arguments)
    }
}

impl Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.name(), self.0)
    }
}

/// A `%…` placeholder of a format string.
struct Place {
    precision: Option<usize>,
    quoted: bool,
    conversion: u8,
    /// Offset in the format after the placeholder.
    end: usize,
}

/// Reads the placeholder that starts after the `%` at `start - 1`.
fn place(format: &[u8], start: usize) -> Option<Place> {
    let mut at = start;
    let mut found = Place {
        precision: None,
        quoted: false,
        conversion: 0,
        end: 0,
    };
    while let Some(&byte) = format.get(at) {
        at += 1;
        match byte {
            b'-' | b'0' | b'l' | b'z' => {}
            b'`' => found.quoted = true,
            b'1'..=b'9' => {}
            b'.' => {
                let digits = format[at..].iter().take_while(|b| b.is_ascii_digit()).count();
                found.precision = std::str::from_utf8(&format[at..at + digits]).ok()?.parse().ok();
                at += digits;
            }
            // In C the precision is a separate argument; here the next argument is not limited.
            b'*' | b'$' => {}
            _ => {
                found.conversion = byte;
                found.end = at;
                return Some(found);
            }
        }
    }
    None
}

fn fill(format: &str, arguments: &[&dyn Display]) -> String {
    let bytes = format.as_bytes();
    let mut out = String::with_capacity(format.len() + 32);
    let mut arguments = arguments.iter();
    let mut copied = 0;
    while let Some(percent) = bytes[copied..]
        .iter()
        .position(|&b| b == b'%')
        .map(|i| copied + i)
    {
        out.push_str(&format[copied..percent]);
        let Some(place) = place(bytes, percent + 1) else {
            out.push('%');
            copied = percent + 1;
            continue;
        };
        copied = place.end;
        match place.conversion {
            b'%' => out.push('%'),
            b's' | b'T' | b'd' | b'u' | b'i' | b'x' | b'c' | b'p' | b'g' => {
                let Some(argument) = arguments.next() else {
                    continue;
                };
                if place.quoted {
                    out.push('`');
                }
                let from = out.len();
                let _ = write!(out, "{argument}");
                if let Some(limit) = place.precision {
                    cut(&mut out, from, limit, place.conversion == b'T');
                }
                if place.quoted {
                    let doubled = out[from..].replace('`', "``");
                    out.truncate(from);
                    out.push_str(&doubled);
                    out.push('`');
                }
            }
            b'M' => {
                let Some(argument) = arguments.next() else {
                    continue;
                };
                let number = argument.to_string();
                match number.parse::<i32>() {
                    // Storage engine errors; only this one is ever shown.
                    Ok(errno @ 168) => {
                        let _ = write!(out, "{errno} \"Unknown (generic) error from engine\"");
                    }
                    Ok(errno) => {
                        let text = std::io::Error::from_raw_os_error(errno).to_string();
                        let text = text.split(" (os error").next().unwrap_or_default();
                        let _ = write!(out, "{errno} \"{text}\"");
                    }
                    Err(_) => out.push_str(&number),
                }
            }
            // Not a placeholder: a percent sign in the text.
            _ => out.push_str(&format[percent..place.end]),
        }
    }
    out.push_str(&format[copied..]);
    out
}

/// Limits the text from `from` on to `limit` bytes of whole characters. `%T` marks a cut with an ellipsis.
fn cut(out: &mut String, from: usize, limit: usize, ellipsis: bool) {
    if out.len() - from <= limit {
        return;
    }
    let has_ellipsis = ellipsis && limit > 3;
    let kept = limit - if has_ellipsis { 3 } else { 0 };
    let boundary = (from..=from + kept).rev().find(|&end| out.is_char_boundary(end));
    out.truncate(boundary.unwrap_or(from));
    if has_ellipsis {
        out.push_str("...");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_sorted_and_states_have_five_characters() {
        assert!(TABLE.windows(2).all(|pair| pair[0].number < pair[1].number));
        assert!(
            TABLE
                .iter()
                .all(|entry| entry.sqlstate.len() == 5 && entry.sqlstate.is_ascii())
        );
    }

    #[test]
    fn errors_have_mariadbs_numbers_and_sqlstates() {
        for (code, number, sqlstate) in [
            (ER_DUP_ENTRY, 1062, "23000"),
            (ER_PARSE_ERROR, 1064, "42000"),
            (ER_CHECKREAD, 1020, "HY000"),
            (ER_CON_COUNT_ERROR, 1040, "08004"),
            (ER_LOCK_DEADLOCK, 1213, "40001"),
            (ER_LOCK_WAIT_TIMEOUT, 1205, "HY000"),
            (ER_NET_PACKET_TOO_LARGE, 1153, "08S01"),
            (ER_QUERY_INTERRUPTED, 1317, "70100"),
            (ER_CONNECTION_KILLED, 1927, "70100"),
            (ER_DATA_TOO_LONG, 1406, "22001"),
            (ER_TABLE_DEF_CHANGED, 1412, "HY000"),
            (ER_TRANS_CACHE_FULL, 1197, "HY000"),
        ] {
            assert_eq!((code.number(), code.sqlstate()), (number, sqlstate), "{code:?}");
        }
        assert_eq!(ErrorCode::from_number(9999).sqlstate(), "HY000");
    }

    #[test]
    fn a_message_has_its_arguments_in_place() {
        assert_eq!(
            ER_DUP_ENTRY_WITH_KEY_NAME.message(&[&"1", &"PRIMARY"]),
            "Duplicate entry '1' for key 'PRIMARY'"
        );
        assert_eq!(
            ER_WARN_DATA_OUT_OF_RANGE.message(&[&"a", &3]),
            "Out of range value for column 'a' at row 3"
        );
        assert_eq!(
            ER_CONSTRAINT_FAILED.message(&[&"c", &"d", &"t`x"]),
            "CONSTRAINT `c` failed for `d`.`t``x`"
        );
        assert_eq!(
            fill("100% of %.3s and %-.10T", &[&"abcdef", &"0123456789ab"]),
            "100% of abc and 0123456..."
        );
        assert_eq!(fill("errno: %M", &[&2]), "errno: 2 \"No such file or directory\"");
        assert_eq!(fill("%s %s", &[&1]), "1 ");
    }
}
