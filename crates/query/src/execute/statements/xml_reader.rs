//! Reader of the rows of an XML file for LOAD XML.
//!
//! An element with the row's tag is a row. It has its fields in three notations, which may be mixed:
//!
//! ```text
//!   <row a="1" b="x"/>
//!   <row><a>1</a><b>x</b></row>
//!   <row><field name="a">1</field><field name="b">x</field></row>
//! ```
//! As in MariaDB this is no XML parser: a file that is not well formed gives the rows that can be seen in it. Fields of
//! the elements around a row belong to it too, unless it has its own. A text counts only directly after its tag. Only
//! the five named entities are decoded. A field that is missing or empty is NULL.

use super::input_bytes::{InputBytes, VALUE_LENGTH_MAX};
use crate::error::{Error, Result};
use crate::execute::interface::LoadInput;
use paceline_types::error_code::ER_NET_PACKET_TOO_LARGE;

/// Reader of rows.
pub(super) struct XmlReader<'r> {
    bytes: InputBytes<'r>,
    row_tag: &'r [u8],
    /// Number of elements around the current place.
    level: usize,
    /// Fields of the open elements, and of the last row.
    fields: Vec<XmlField>,
    /// Bytes in `fields`.
    length: usize,
}

struct XmlField {
    level: usize,
    name: Vec<u8>,
    value: Vec<u8>,
}

/// Whether a start tag has content after it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tag {
    Open,
    /// `<tag/>`.
    Empty,
}

impl<'r> XmlReader<'r> {
    pub fn new(input: &'r mut dyn LoadInput, row_tag: &'r [u8]) -> Self {
        XmlReader {
            bytes: InputBytes::new(input),
            row_tag,
            level: 0,
            fields: Vec::new(),
            length: 0,
        }
    }

    /// Reads to the end of the next row. Returns false if there is none.
    pub fn next_row(&mut self) -> Result<bool> {
        loop {
            match self.bytes.take()? {
                None => return Ok(false),
                Some(b'<') => {}
                Some(_) => continue,
            }
            let ends_row = if self.bytes.accept(b"!--")? {
                self.skip_past(b"-->")?;
                false
            } else if matches!(self.bytes.peek(0)?, Some(b'!' | b'?')) {
                self.skip_past(b">")?;
                false
            } else if self.bytes.accept(b"/")? {
                let name = self.name()?;
                self.skip_past(b">")?;
                self.level = self.level.saturating_sub(1);
                name == self.row_tag
            } else {
                self.start_tag()?
            };
            if ends_row {
                return Ok(true);
            }
        }
    }

    /// Returns the value of a field of the row.
    pub fn value(&self, name: &str) -> Option<&[u8]> {
        let mut fields = self.fields.iter().rev();
        let field = fields.find(|field| field.name == name.as_bytes())?;
        Some(&field.value)
    }

    /// Reads a start tag and the text after it. Returns whether it is a row without content.
    fn start_tag(&mut self) -> Result<bool> {
        let name = self.name()?;
        self.level += 1;
        let is_row = name == self.row_tag;
        if is_row {
            let level = self.level;
            self.fields.retain(|field| field.level < level);
            let lengths = self
                .fields
                .iter()
                .map(|field| field.name.len() + field.value.len());
            self.length = lengths.sum();
        }
        let mut field_name = None;
        let tag = loop {
            self.skip_blanks()?;
            match self.bytes.peek(0)? {
                None => return Ok(false),
                Some(b'>') => {
                    self.bytes.take()?;
                    break Tag::Open;
                }
                Some(b'/' | b'?') => {
                    self.bytes.take()?;
                    if self.bytes.accept(b">")? {
                        break Tag::Empty;
                    }
                }
                Some(_) => {
                    let attribute = self.name()?;
                    self.skip_blanks()?;
                    if !self.bytes.accept(b"=")? {
                        // No attribute: whatever it is, it is passed over.
                        if attribute.is_empty() {
                            self.bytes.take()?;
                        }
                        continue;
                    }
                    let value = self.attribute_value()?;
                    match name == b"field" && attribute == b"name" {
                        true => field_name = Some(value),
                        false => self.add(attribute, value)?,
                    }
                }
            }
        };
        if tag == Tag::Empty {
            self.level -= 1;
            return Ok(is_row);
        }
        let text = self.text(|byte| byte == b'<')?;
        self.add(field_name.unwrap_or(name), text)?;
        Ok(false)
    }

    /// Adds a field, unless it is empty.
    fn add(&mut self, name: Vec<u8>, value: Vec<u8>) -> Result<()> {
        if value.is_empty() {
            return Ok(());
        }
        self.length += name.len() + value.len();
        if self.length > VALUE_LENGTH_MAX {
            return Err(Error::new(ER_NET_PACKET_TOO_LARGE, &[]));
        }
        self.fields.push(XmlField {
            level: self.level,
            name,
            value,
        });
        Ok(())
    }

    fn attribute_value(&mut self) -> Result<Vec<u8>> {
        self.skip_blanks()?;
        let Some(quote @ (b'"' | b'\'')) = self.bytes.peek(0)? else {
            return self.text(|byte| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/'));
        };
        self.bytes.take()?;
        let mut value = self.text(|byte| byte == quote)?;
        self.bytes.take()?;
        for byte in value.iter_mut().filter(|byte| byte.is_ascii_whitespace()) {
            *byte = b' ';
        }
        Ok(value)
    }

    /// Reads a name.
    fn name(&mut self) -> Result<Vec<u8>> {
        let mut name = Vec::new();
        while let Some(byte) = self.bytes.peek(0)?
            && !byte.is_ascii_whitespace()
            && !matches!(byte, b'=' | b'>' | b'/')
        {
            push(&mut name, byte)?;
            self.bytes.take()?;
        }
        Ok(name)
    }

    /// Reads to the end, which is not consumed, and decodes entities.
    fn text(&mut self, is_end: impl Fn(u8) -> bool) -> Result<Vec<u8>> {
        const ENTITIES: [(&[u8], u8); 5] = [
            (b"&lt;", b'<'),
            (b"&gt;", b'>'),
            (b"&amp;", b'&'),
            (b"&quot;", b'"'),
            (b"&apos;", b'\''),
        ];
        let mut text = Vec::new();
        'bytes: while let Some(byte) = self.bytes.peek(0)?
            && !is_end(byte)
        {
            if byte == b'&' {
                for (entity, meaning) in ENTITIES {
                    if self.bytes.accept(entity)? {
                        push(&mut text, meaning)?;
                        continue 'bytes;
                    }
                }
            }
            push(&mut text, byte)?;
            self.bytes.take()?;
        }
        Ok(text)
    }

    fn skip_blanks(&mut self) -> Result<()> {
        while self.bytes.peek(0)?.is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.bytes.take()?;
        }
        Ok(())
    }

    /// Skips the bytes up to a text, and the text.
    fn skip_past(&mut self, end: &[u8]) -> Result<()> {
        while !self.bytes.accept(end)? && self.bytes.take()?.is_some() {}
        Ok(())
    }
}

fn push(value: &mut Vec<u8>, byte: u8) -> Result<()> {
    if value.len() >= VALUE_LENGTH_MAX {
        return Err(Error::new(ER_NET_PACKET_TOO_LARGE, &[]));
    }
    value.push(byte);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file in pieces of one byte.
    struct Bytes(std::collections::VecDeque<u8>);

    impl LoadInput for Bytes {
        fn read(&mut self, buffer: &mut Vec<u8>) -> Result<()> {
            buffer.extend(self.0.pop_front());
            Ok(())
        }
    }

    /// Returns the fields `a` and `b` of each row.
    fn rows(text: &str) -> Vec<(Option<String>, Option<String>)> {
        let mut input = Bytes(text.bytes().collect());
        let mut reader = XmlReader::new(&mut input, b"row");
        let mut rows = Vec::new();
        while reader.next_row().unwrap() {
            let value = |name| {
                let value = reader.value(name);
                value.map(|value| String::from_utf8(value.to_vec()).unwrap())
            };
            rows.push((value("a"), value("b")));
        }
        rows
    }

    fn row(a: &str, b: Option<&str>) -> (Option<String>, Option<String>) {
        (Some(a.to_owned()), b.map(str::to_owned))
    }

    #[test]
    fn the_three_notations_give_the_same_rows() {
        for text in [
            "<row a=\"1\" b='x'/>",
            "<?xml version=\"1.0\"?><!-- <row a=\"9\"/> --><t><row><a>1</a>\n<b>x</b></row></t>",
            "<row>\n <field name=\"a\">1</field><field name='b' >x</field>\n</row>",
            "<row a=\"1\"><b>x</b></row",
            "<row\n\ta=1\nb=x></row>",
        ] {
            assert_eq!(rows(text), [row("1", Some("x"))], "{text}");
        }
    }

    #[test]
    fn a_row_has_only_its_own_fields_and_those_around_it() {
        let text = "<t b=\"outer\"><row a=\"1\"/><row a=\"2\" b=\"own\"/><other a=\"3\"/><row a=\"4\"><b/></row></t>";
        let expected = [
            row("1", Some("outer")),
            row("2", Some("own")),
            row("4", Some("outer")),
        ];
        assert_eq!(rows(text), expected);
    }

    #[test]
    fn only_named_entities_are_decoded() {
        assert_eq!(
            rows("<row a=\"&lt;&amp;\"><b>&quot; &#65; &x</b></row>"),
            [row("<&", Some("\" &#65; &x"))]
        );
        assert_eq!(rows("<row a=\"1\n2\" b=\"\"/>"), [row("1 2", None)]);
    }

    #[test]
    fn a_file_that_is_cut_anywhere_ends() {
        let text = "<?xml?><!-- c --><t><row a=\"1\" b='x'><c>y&lt;</c></row></t>";
        for length in 0..text.len() {
            assert!(rows(&text[..length]).len() <= 1, "{length}");
        }
    }
}
