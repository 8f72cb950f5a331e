//! JSON text as a tree that keeps numbers and strings as they are written, and where each value stands in the text: MariaDB's
//! JSON functions cut from the text and never change what they do not touch.

use std::ops::Range;

/// A JSON value with its place in the text it was read from.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub kind: Kind,
    pub span: Range<usize>,
}

/// What a value is. Strings and keys keep their escapes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Null,
    Boolean(bool),
    Number(String),
    String(String),
    Array(Vec<Node>),
    Object(Vec<(String, Node)>),
}

/// Why a text is no JSON, and the byte where that showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// 4037: the text ends too early.
    End,
    /// 4038: something else was expected.
    Syntax(usize),
    /// 4040: nested deeper than [`DEPTH_MAX`].
    Depth(usize),
}

/// As deep as MariaDB reads (`JSON_DEPTH_LIMIT`).
pub(super) const DEPTH_MAX: usize = 32;

impl Node {
    pub fn new(kind: Kind) -> Node {
        Node { kind, span: 0..0 }
    }

    /// A string from text without escapes.
    pub fn string(text: &str) -> Node {
        Node::new(Kind::String(escape(text)))
    }

    /// Reads one value that is all of the text.
    pub fn parse(text: &str) -> Result<Node, Fault> {
        let mut parser = Parser {
            text: text.as_bytes(),
            at: 0,
        };
        let node = parser.value(text, 0)?;
        parser.skip_blanks();
        if parser.at < parser.text.len() {
            Err(Fault::Syntax(parser.at))
        } else {
            Ok(node)
        }
    }

    /// Appends it as MariaDB prints changed documents: a space behind commas and colons.
    pub fn write_loose(&self, out: &mut String) {
        match &self.kind {
            Kind::Null => out.push_str("null"),
            Kind::Boolean(truth) => out.push_str(if *truth { "true" } else { "false" }),
            Kind::Number(text) => out.push_str(text),
            Kind::String(text) => quoted(text, out),
            Kind::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push_str(", ");
                    }
                    item.write_loose(out);
                }
                out.push(']');
            }
            Kind::Object(members) => {
                out.push('{');
                for (index, (key, value)) in members.iter().enumerate() {
                    if index > 0 {
                        out.push_str(", ");
                    }
                    quoted(key, out);
                    out.push_str(": ");
                    value.write_loose(out);
                }
                out.push('}');
            }
        }
    }

    /// Appends it without a single blank.
    pub fn write_compact(&self, out: &mut String) {
        match &self.kind {
            Kind::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    item.write_compact(out);
                }
                out.push(']');
            }
            Kind::Object(members) => {
                out.push('{');
                for (index, (key, value)) in members.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    quoted(key, out);
                    out.push(':');
                    value.write_compact(out);
                }
                out.push('}');
            }
            _ => self.write_loose(out),
        }
    }

    /// Appends it in the form that all documents of equal contents have: keys in the order of their bytes, numbers with one digit in front of the point.
    pub fn write_normalized(&self, out: &mut String) {
        match &self.kind {
            Kind::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    item.write_normalized(out);
                }
                out.push(']');
            }
            Kind::Object(members) => {
                let mut sorted: Vec<_> = members.iter().collect();
                sorted.sort_by(|(one, _), (other, _)| one.cmp(other));
                out.push('{');
                for (index, (key, value)) in sorted.into_iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    quoted(key, out);
                    out.push(':');
                    value.write_normalized(out);
                }
                out.push('}');
            }
            Kind::Number(text) => out.push_str(&normalized_number(text)),
            _ => self.write_loose(out),
        }
    }

    /// Appends it over several lines, indented by `indent` spaces a level.
    pub fn write_detailed(&self, indent: usize, level: usize, out: &mut String) {
        let line = |level: usize, out: &mut String| {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent * level));
        };
        match &self.kind {
            Kind::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    line(level + 1, out);
                    item.write_detailed(indent, level + 1, out);
                }
                line(level, out);
                out.push(']');
            }
            Kind::Object(members) => {
                out.push('{');
                for (index, (key, value)) in members.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    line(level + 1, out);
                    quoted(key, out);
                    out.push_str(": ");
                    if matches!(&value.kind, Kind::Array(_) | Kind::Object(_)) {
                        line(level + 1, out);
                    }
                    value.write_detailed(indent, level + 1, out);
                }
                line(level, out);
                out.push('}');
            }
            _ => self.write_loose(out),
        }
    }

    /// How deep it nests: 1 for a scalar.
    pub fn depth(&self) -> usize {
        match &self.kind {
            Kind::Array(items) => 1 + items.iter().map(Node::depth).max().unwrap_or(0),
            Kind::Object(members) => 1 + members.iter().map(|(_, value)| value.depth()).max().unwrap_or(0),
            _ => 1,
        }
    }

    /// Whether both are the same value, whatever the order of keys.
    pub fn equals(&self, other: &Node) -> bool {
        match (&self.kind, &other.kind) {
            (Kind::Array(a), Kind::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.equals(b))
            }
            (Kind::Object(a), Kind::Object(b)) => {
                a.len() == b.len()
                    && a.iter().all(|(key, value)| {
                        let key = unescape(key);
                        b.iter()
                            .any(|(other, found)| unescape(other) == key && value.equals(found))
                    })
            }
            (Kind::Number(a), Kind::Number(b)) => a == b || a.parse::<f64>().ok() == b.parse::<f64>().ok(),
            (Kind::String(a), Kind::String(b)) => unescape(a) == unescape(b),
            (a, b) => a == b,
        }
    }

    /// A scalar's text: a string without quotes and escapes.
    pub fn scalar_text(&self) -> Option<String> {
        Some(match &self.kind {
            Kind::Null => "null".to_owned(),
            Kind::Boolean(truth) => truth.to_string(),
            Kind::Number(text) => text.clone(),
            Kind::String(text) => unescape(text),
            Kind::Array(_) | Kind::Object(_) => return None,
        })
    }
}

/// A number as one digit, a point, more digits and the power of ten: 100 is 1.0E2, and zero 0.0E0.
fn normalized_number(text: &str) -> String {
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text),
    };
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let digits = all.trim_start_matches('0');
    let leading_zeros = all.len() - digits.len();
    let digits = digits.trim_end_matches('0');
    let Some(first) = digits.get(..1) else {
        return "0.0E0".to_owned();
    };
    let power = exponent.parse::<i64>().unwrap_or(0) + whole.len() as i64 - 1 - leading_zeros as i64;
    let rest = match &digits[1..] {
        "" => "0",
        rest => rest,
    };
    format!("{sign}{first}.{rest}E{power}")
}

fn quoted(escaped: &str, out: &mut String) {
    out.push('"');
    out.push_str(escaped);
    out.push('"');
}

/// Escapes what may not stand in a JSON string.
pub(super) fn escape(text: &str) -> String {
    use std::fmt::Write;
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            control if u32::from(control) < 0x20 => {
                let _ = write!(out, "\\u{:04X}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out
}

/// The text that an escaped string stands for.
pub(super) fn unescape(escaped: &str) -> String {
    if !escaped.contains('\\') {
        return escaped.to_owned();
    }
    let mut out = String::with_capacity(escaped.len());
    let mut rest = escaped.chars();
    let hex = |rest: &mut std::str::Chars<'_>| {
        let digits: String = rest.by_ref().take(4).collect();
        u32::from_str_radix(&digits, 16).unwrap_or(0xFFFD)
    };
    while let Some(character) = rest.next() {
        if character != '\\' {
            out.push(character);
            continue;
        }
        match rest.next() {
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('u') => {
                let mut code = hex(&mut rest);
                if (0xD800..0xDC00).contains(&code) {
                    let mut ahead = rest.clone();
                    if ahead.next() == Some('\\') && ahead.next() == Some('u') {
                        let low = hex(&mut ahead);
                        if (0xDC00..0xE000).contains(&low) {
                            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
                            rest = ahead;
                        }
                    }
                }
                out.push(char::from_u32(code).unwrap_or('\u{FFFD}'));
            }
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}

struct Parser<'t> {
    text: &'t [u8],
    at: usize,
}

impl Parser<'_> {
    fn skip_blanks(&mut self) {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Result<u8, Fault> {
        self.text.get(self.at).copied().ok_or(Fault::End)
    }

    fn expect(&mut self, byte: u8) -> Result<(), Fault> {
        if self.peek()? == byte {
            self.at += 1;
            Ok(())
        } else {
            Err(Fault::Syntax(self.at))
        }
    }

    fn value(&mut self, source: &str, depth: usize) -> Result<Node, Fault> {
        if depth >= DEPTH_MAX {
            return Err(Fault::Depth(self.at));
        }
        self.skip_blanks();
        let start = self.at;
        let kind = match self.peek()? {
            b'{' => self.object(source, depth)?,
            b'[' => self.array(source, depth)?,
            b'"' => Kind::String(self.string(source)?),
            b'-' | b'0'..=b'9' => self.number(source)?,
            b't' => self.word("true", Kind::Boolean(true))?,
            b'f' => self.word("false", Kind::Boolean(false))?,
            b'n' => self.word("null", Kind::Null)?,
            _ => return Err(Fault::Syntax(self.at)),
        };
        Ok(Node {
            kind,
            span: start..self.at,
        })
    }

    fn word(&mut self, word: &str, kind: Kind) -> Result<Kind, Fault> {
        for byte in word.bytes() {
            self.expect(byte)?;
        }
        Ok(kind)
    }

    fn number(&mut self, source: &str) -> Result<Kind, Fault> {
        let start = self.at;
        let digits = |parser: &mut Self| {
            let from = parser.at;
            while matches!(parser.text.get(parser.at), Some(b'0'..=b'9')) {
                parser.at += 1;
            }
            parser.at > from
        };
        if self.peek()? == b'-' {
            self.at += 1;
        }
        let leading_zero = self.text.get(self.at) == Some(&b'0');
        let integer_start = self.at;
        if !digits(self) || (leading_zero && self.at - integer_start > 1) {
            return Err(Fault::Syntax(self.at.min(self.text.len())));
        }
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            if !digits(self) {
                return Err(if self.at >= self.text.len() {
                    Fault::End
                } else {
                    Fault::Syntax(self.at)
                });
            }
        }
        if matches!(self.text.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.text.get(self.at), Some(b'+' | b'-')) {
                self.at += 1;
            }
            if !digits(self) {
                return Err(if self.at >= self.text.len() {
                    Fault::End
                } else {
                    Fault::Syntax(self.at)
                });
            }
        }
        Ok(Kind::Number(source[start..self.at].to_owned()))
    }

    fn string(&mut self, source: &str) -> Result<String, Fault> {
        self.expect(b'"')?;
        let start = self.at;
        loop {
            match self.peek()? {
                b'"' => break,
                b'\\' => {
                    self.at += 1;
                    match self.peek()? {
                        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 1,
                        b'u' => {
                            self.at += 1;
                            for _ in 0..4 {
                                if !self.peek()?.is_ascii_hexdigit() {
                                    return Err(Fault::Syntax(self.at));
                                }
                                self.at += 1;
                            }
                        }
                        _ => return Err(Fault::Syntax(self.at)),
                    }
                }
                0..0x20 => return Err(Fault::Syntax(self.at)),
                _ => self.at += 1,
            }
        }
        let text = source[start..self.at].to_owned();
        self.at += 1;
        Ok(text)
    }

    fn array(&mut self, source: &str, depth: usize) -> Result<Kind, Fault> {
        self.at += 1;
        let mut items = Vec::new();
        self.skip_blanks();
        if self.peek()? == b']' {
            self.at += 1;
            return Ok(Kind::Array(items));
        }
        loop {
            items.push(self.value(source, depth + 1)?);
            self.skip_blanks();
            match self.peek()? {
                b',' => self.at += 1,
                b']' => {
                    self.at += 1;
                    return Ok(Kind::Array(items));
                }
                _ => return Err(Fault::Syntax(self.at)),
            }
        }
    }

    fn object(&mut self, source: &str, depth: usize) -> Result<Kind, Fault> {
        self.at += 1;
        let mut members = Vec::new();
        self.skip_blanks();
        if self.peek()? == b'}' {
            self.at += 1;
            return Ok(Kind::Object(members));
        }
        loop {
            self.skip_blanks();
            let key = self.string(source)?;
            self.skip_blanks();
            self.expect(b':')?;
            members.push((key, self.value(source, depth + 1)?));
            self.skip_blanks();
            match self.peek()? {
                b',' => self.at += 1,
                b'}' => {
                    self.at += 1;
                    return Ok(Kind::Object(members));
                }
                _ => return Err(Fault::Syntax(self.at)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loose(text: &str) -> String {
        let mut out = String::new();
        Node::parse(text).unwrap().write_loose(&mut out);
        out
    }

    #[test]
    fn keeps_what_is_written() {
        assert_eq!(
            loose(r#" {"a":1.50, "b" : [1,2 ,"x\u0041"]} "#),
            r#"{"a": 1.50, "b": [1, 2, "x\u0041"]}"#
        );
        assert_eq!(Node::parse(r#"{"a":1"#), Err(Fault::End));
        assert_eq!(Node::parse("[1,]"), Err(Fault::Syntax(3)));
        assert_eq!(Node::parse("01"), Err(Fault::Syntax(2)));
    }

    #[test]
    fn numbers_are_normalized() {
        let given = [
            "1",
            "2.50",
            "-0.00",
            "1e3",
            "-1.5e-7",
            "0.001",
            "100",
            "0.10",
            "12345678901234567890123",
        ];
        let normalized = given.map(normalized_number);
        let expected = [
            "1.0E0",
            "2.5E0",
            "0.0E0",
            "1.0E3",
            "-1.5E-7",
            "1.0E-3",
            "1.0E2",
            "1.0E-1",
            "1.2345678901234567890123E22",
        ];
        assert_eq!(normalized, expected);
    }

    #[test]
    fn escapes_come_back() {
        let text = "tab\t \"quote\" \\ \u{1} ü 😀";
        assert_eq!(unescape(&escape(text)), text);
        assert_eq!(unescape(r"\ud83d\ude00"), "😀");
    }
}
