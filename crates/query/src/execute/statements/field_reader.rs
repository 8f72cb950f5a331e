//! Reader of the fields and lines of a text file for LOAD DATA.
//!
//! The rules and special cases are those of `sql/sql_load.cc`: a line that ends early has fewer fields; the rest of a
//! line after its last field is skipped; a quoted field only ends if a separator or the end of the file follows its
//! quote; `\N` alone is NULL.

use super::input_bytes::{InputBytes, VALUE_LENGTH_MAX};
use crate::error::{Error, Result};
use crate::execute::interface::LoadInput;
use crate::plan::RowFormat;
use paceline_types::error_code::ER_NET_PACKET_TOO_LARGE;

/// A field of a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Field<'r> {
    /// Bytes of the field without quotes and escapes.
    pub bytes: &'r [u8],
    /// Notation of the field.
    pub kind: FieldKind,
}

/// Notation of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldKind {
    /// Without quotes.
    Plain,
    /// In quotes.
    Quoted,
    /// NULL.
    Null,
}

/// Whether another line follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NextLine {
    /// It does, or may.
    Follows,
    /// The same, and the current line has more fields than were read.
    FollowsCutLine,
    /// No, the file has ended.
    End,
}

/// Reader of fields.
pub(super) struct FieldReader<'r> {
    bytes: InputBytes<'r>,
    format: &'r RowFormat,
    /// Whether the current line has ended.
    line_ended: bool,
    /// Whether the file has ended.
    file_ended: bool,
    /// Whether the start of the line must still be found.
    before_line_start: bool,
    field: Vec<u8>,
}

impl<'r> FieldReader<'r> {
    pub fn new(input: &'r mut dyn LoadInput, format: &'r RowFormat) -> Self {
        FieldReader {
            bytes: InputBytes::new(input),
            format,
            line_ended: false,
            file_ended: false,
            before_line_start: !format.line_start.is_empty(),
            field: Vec::new(),
        }
    }

    /// Consumes a separator, if it is next.
    fn accept(&mut self, separator: impl Fn(&RowFormat) -> &[u8]) -> Result<bool> {
        let separator = separator(self.format);
        Ok(!separator.is_empty() && self.bytes.accept(separator)?)
    }

    fn push(&mut self, byte: u8) -> Result<()> {
        if self.field.len() >= VALUE_LENGTH_MAX {
            return Err(Error::new(ER_NET_PACKET_TOO_LARGE, &[]));
        }
        self.field.push(byte);
        Ok(())
    }

    /// Searches the start of the line. Returns false if the file ends before.
    fn find_line_start(&mut self) -> Result<bool> {
        self.before_line_start = false;
        while !self.accept(|format| &format.line_start)? {
            if self.bytes.take()?.is_none() {
                (self.line_ended, self.file_ended) = (true, true);
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the next field of the line, or `None` at the end of the line.
    pub fn field(&mut self) -> Result<Option<Field<'_>>> {
        if self.line_ended || (self.before_line_start && !self.find_line_start()?) {
            return Ok(None);
        }
        let Some(first) = self.bytes.peek(0)? else {
            (self.line_ended, self.file_ended) = (true, true);
            return Ok(None);
        };
        let (quote, escape) = (self.format.quote, self.format.escape);
        self.field.clear();
        let quoted = Some(first) == quote;
        self.bytes.skip(usize::from(quoted));
        let mut null_escape = false;
        loop {
            let Some(byte) = self.bytes.peek(0)? else {
                return self.last_field(quoted, null_escape).map(Some);
            };
            if Some(byte) == escape {
                let Some(escaped) = self.bytes.peek(1)? else {
                    self.bytes.skip(1);
                    self.push(byte)?;
                    return self.last_field(quoted, null_escape).map(Some);
                };
                // If escape and quote are the same character, it only escapes itself.
                if escape != quote || escaped == byte {
                    self.bytes.skip(2);
                    null_escape |= escaped == b'N';
                    self.push(unescaped(escaped))?;
                    continue;
                }
            }
            if !quoted {
                if self.accept(|format| &format.line_end)? {
                    self.line_ended = true;
                    break;
                }
                if self.accept(|format| &format.field_end)? {
                    break;
                }
            }
            self.bytes.skip(1);
            if quoted && Some(byte) == quote {
                let next = self.bytes.peek(0)?;
                if next == quote {
                    self.bytes.skip(1);
                } else if next.is_none() || self.accept(|format| &format.line_end)? {
                    self.line_ended = true;
                    return Ok(Some(self.finished(FieldKind::Quoted, null_escape)));
                } else if self.accept(|format| &format.field_end)? {
                    return Ok(Some(self.finished(FieldKind::Quoted, null_escape)));
                }
            }
            self.push(byte)?;
        }
        Ok(Some(self.finished(FieldKind::Plain, null_escape)))
    }

    /// Ends a field at the end of the file. An open quote is part of the field.
    fn last_field(&mut self, quoted: bool, null_escape: bool) -> Result<Field<'_>> {
        (self.line_ended, self.file_ended) = (true, true);
        if let (true, Some(quote)) = (quoted, self.format.quote) {
            self.field.insert(0, quote);
        }
        Ok(self.finished(FieldKind::Plain, null_escape))
    }

    fn finished(&self, kind: FieldKind, null_escape: bool) -> Field<'_> {
        let is_null_word = kind == FieldKind::Plain && self.format.quote.is_some() && self.field == b"NULL";
        Field {
            bytes: &self.field,
            kind: match is_null_word || (null_escape && self.field.len() == 1) {
                true => FieldKind::Null,
                false => kind,
            },
        }
    }

    /// Skips the rest of the line.
    pub fn next_line(&mut self) -> Result<NextLine> {
        self.before_line_start = !self.format.line_start.is_empty();
        if self.line_ended || self.file_ended {
            self.line_ended = false;
            return Ok(match self.file_ended {
                true => NextLine::End,
                false => NextLine::Follows,
            });
        }
        if self.format.line_end.is_empty() {
            return Ok(NextLine::Follows);
        }
        let mut cut = false;
        while !self.accept(|format| &format.line_end)? {
            let byte = self.bytes.take()?;
            let escaped_end = byte.is_some() && byte == self.format.escape && self.bytes.take()?.is_none();
            if byte.is_none() || escaped_end {
                return Ok(NextLine::End);
            }
            cut = true;
        }
        Ok(match cut {
            true => NextLine::FollowsCutLine,
            false => NextLine::Follows,
        })
    }
}

/// Returns the meaning of a character after an escape.
fn unescaped(byte: u8) -> u8 {
    match byte {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 8,
        b'0' => 0,
        b'Z' => 26,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_expression::session::SqlMode;
    use paceline_syntax::FileFormat;
    use paceline_types::Charset;

    /// Input that returns a text in small pieces.
    struct Pieces<'t>(&'t [u8]);

    impl LoadInput for Pieces<'_> {
        fn read(&mut self, buffer: &mut Vec<u8>) -> Result<()> {
            let (piece, rest) = self.0.split_at(self.0.len().min(2));
            buffer.extend_from_slice(piece);
            self.0 = rest;
            Ok(())
        }
    }

    /// Returns all lines of a text, each with two fields. `~` precedes NULL, `^` follows a line with more fields.
    fn lines(text: &str, format: &FileFormat) -> String {
        let format = RowFormat::new(format, Charset::Utf8mb4, SqlMode::DEFAULT).unwrap();
        let mut input = Pieces(text.as_bytes());
        let mut reader = FieldReader::new(&mut input, &format);
        let mut shown = Vec::new();
        loop {
            let mut line = Vec::new();
            for _ in 0..2 {
                if let Some(field) = reader.field().unwrap() {
                    let mark = if field.kind == FieldKind::Null { "~" } else { "" };
                    line.push(format!("{mark}{}", String::from_utf8_lossy(field.bytes)));
                }
            }
            if line.is_empty() {
                return shown.join("/");
            }
            let next = reader.next_line().unwrap();
            let mark = if next == NextLine::FollowsCutLine { "^" } else { "" };
            shown.push(line.join("|") + mark);
            if next == NextLine::End {
                return shown.join("/");
            }
        }
    }

    #[test]
    fn tabs_and_lines() {
        let plain = FileFormat::default();
        assert_eq!(lines("1\ta\n2\tb\n", &plain), "1|a/2|b");
        assert_eq!(lines("1\ta\n2\tb", &plain), "1|a/2|b");
        assert_eq!(lines("1\n2\tb\tc\td\n\n3\tx", &plain), "1/2|b^//3|x");
        assert_eq!(lines("\\N\tN\n\\\\\t\\t\\\n\\N\\N", &plain), "~N|N/\\|\t\nNN");
        assert_eq!(lines("", &plain), "");
        assert_eq!(lines("1\ta\\", &plain), "1|a\\");
    }

    #[test]
    fn enclosed_fields_keep_separators_and_doubled_quotes() {
        let comma = FileFormat {
            fields_terminated_by: b",".to_vec(),
            fields_enclosed_by: b"\"".to_vec(),
            ..FileFormat::default()
        };
        assert_eq!(
            lines("\"a,b\",\"c\"\"d\"\n\"x\"y\",z\n", &comma),
            "a,b|c\"d/x\"y|z"
        );
        assert_eq!(
            lines("NULL,\"NULL\"\n\"open,1\n", &comma),
            "~NULL|NULL/\"open,1\n"
        );
        let doubled = FileFormat {
            fields_escaped_by: Some(b"\"".to_vec()),
            ..comma
        };
        assert_eq!(lines("\"a\"\"b\",\\N\n", &doubled), "a\"b|\\N");
    }

    #[test]
    fn long_separators_and_line_starts() {
        let format = FileFormat {
            fields_terminated_by: b"<>".to_vec(),
            lines_starting_by: b">> ".to_vec(),
            lines_terminated_by: b"\r\n".to_vec(),
            ..FileFormat::default()
        };
        assert_eq!(
            lines("junk>> 1<><2\r\nnothing\r\n>> 3<>4<>5\r\n>>", &format),
            "1|<2/3|4^"
        );
        let same = FileFormat {
            fields_terminated_by: b",".to_vec(),
            lines_terminated_by: b",".to_vec(),
            ..FileFormat::default()
        };
        assert_eq!(lines("1,2,3,4,5", &same), "1|2/3|4/5");
    }
}
