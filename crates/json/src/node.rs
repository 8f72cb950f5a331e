//! The tree of a JSON text. It keeps the spelling of numbers and strings, and the range of each value in the
//! text, because MariaDB's JSON functions cut out parts of the text and never change the rest of it.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

use crate::escape::{escape, unescape};

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub struct Node<'t> {
    /// The value itself.
    pub kind: Kind<'t>,
    /// Byte range of the value in the parsed text. Empty for a value that was not parsed.
    pub span: Range<usize>,
}

/// Kind of a value. Strings and keys keep their escapes.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind<'t> {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean(bool),
    /// A number as written.
    Number(String),
    /// A string without its quotes.
    String(String),
    /// The elements of an array.
    Array(Vec<Node<'t>>),
    /// The members of an object. A parsed object has them in the order of the text, with repeated keys.
    Object(Vec<(String, Node<'t>)>),
    /// Text of a value that has not been parsed. Only [`Node::unparsed`] makes it, never [`Node::parse`].
    Unparsed(Cow<'t, str>),
}

/// Layout of a value in one line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Loose,
    Compact,
    Normalized,
}

impl<'t> Node<'t> {
    /// Creates a value that is not part of a text.
    pub fn new(kind: Kind<'t>) -> Node<'t> {
        Node { kind, span: 0..0 }
    }

    /// Creates a string from text without escapes.
    pub fn string(text: &str) -> Node<'t> {
        Node::new(Kind::String(escape(text)))
    }

    /// Creates a value that is kept as text and parsed only where a change leads into it. A large document that is
    /// changed in one place is not parsed elsewhere, and is written there as it was.
    pub fn unparsed(text: impl Into<Cow<'t, str>>) -> Node<'t> {
        Node::new(Kind::Unparsed(text.into()))
    }

    /// Appends the value as MariaDB prints changed documents: with a space after commas and colons.
    pub fn write_loose(&self, out: &mut String) {
        self.write(Style::Loose, out);
    }

    /// Appends the value without white space.
    pub fn write_compact(&self, out: &mut String) {
        self.write(Style::Compact, out);
    }

    /// Appends the value in the normalized form, which is the same for all documents with equal contents:
    /// keys in the order of their bytes, numbers with one digit before the point.
    pub fn write_normalized(&self, out: &mut String) {
        self.write(Style::Normalized, out);
    }

    fn write(&self, style: Style, out: &mut String) {
        let (comma, colon) = match style {
            Style::Loose => (", ", ": "),
            Style::Compact | Style::Normalized => (",", ":"),
        };
        match &self.kind {
            Kind::Null => out.push_str("null"),
            Kind::Boolean(truth) => out.push_str(if *truth { "true" } else { "false" }),
            Kind::Number(text) if style == Style::Normalized => out.push_str(&normalized_number(text)),
            Kind::Number(text) => out.push_str(text),
            Kind::Unparsed(text) => out.push_str(text),
            Kind::String(text) => append_quoted(text, out),
            Kind::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push_str(comma);
                    }
                    item.write(style, out);
                }
                out.push(']');
            }
            Kind::Object(members) => {
                let mut members: Vec<_> = members.iter().collect();
                if style == Style::Normalized {
                    members.sort_by(|(one, value), (other, other_value)| {
                        one.cmp(other).then_with(|| value.normal_order(other_value))
                    });
                }
                out.push('{');
                for (index, (key, value)) in members.into_iter().enumerate() {
                    if index > 0 {
                        out.push_str(comma);
                    }
                    append_quoted(key, out);
                    out.push_str(colon);
                    value.write(style, out);
                }
                out.push('}');
            }
        }
    }

    /// Appends the value in several lines, indented by `indent` spaces per level.
    pub fn write_detailed(&self, indent: usize, level: usize, out: &mut String) {
        let line = |level: usize, out: &mut String| {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent * level));
        };
        match &self.kind {
            // An array of at most one scalar is on one line.
            Kind::Array(items)
                if items.len() < 2
                    && !items
                        .iter()
                        .any(|item| matches!(item.kind, Kind::Array(_) | Kind::Object(_))) =>
            {
                self.write_loose(out);
            }
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
                    append_quoted(key, out);
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

    /// Returns the place of a value's kind in the normal order.
    fn normal_rank(&self) -> u8 {
        match &self.kind {
            Kind::Object(_) => 0,
            Kind::Array(_) => 1,
            Kind::String(_) => 2,
            Kind::Number(_) => 3,
            Kind::Boolean(true) => 4,
            Kind::Boolean(false) => 5,
            Kind::Null => 6,
            Kind::Unparsed(_) => 7,
        }
    }

    /// Compares values of equal keys in the normal form: by kind, by number of members or elements, by these.
    fn normal_order(&self, other: &Node<'_>) -> Ordering {
        match (&self.kind, &other.kind) {
            (Kind::Object(one), Kind::Object(two)) => {
                let sorted = |members: &[(String, Node<'_>)]| {
                    let mut places: Vec<usize> = (0..members.len()).collect();
                    places.sort_by(|&a, &b| {
                        let ((key, value), (other_key, other_value)) = (&members[a], &members[b]);
                        key.cmp(other_key).then_with(|| value.normal_order(other_value))
                    });
                    places
                };
                let pairs = sorted(one).into_iter().zip(sorted(two));
                let by_member = |(a, b): (usize, usize)| {
                    let ((key, value), (other_key, other_value)) = (&one[a], &two[b]);
                    key.cmp(other_key).then_with(|| value.normal_order(other_value))
                };
                let by_members = pairs.map(by_member).find(|order| order.is_ne());
                one.len()
                    .cmp(&two.len())
                    .then(by_members.unwrap_or(Ordering::Equal))
            }
            (Kind::Array(one), Kind::Array(two)) => {
                let elements = one.iter().zip(two).map(|(a, b)| a.normal_order(b));
                let by_elements = { elements }.find(|order| order.is_ne());
                one.len()
                    .cmp(&two.len())
                    .then(by_elements.unwrap_or(Ordering::Equal))
            }
            (Kind::String(one), Kind::String(two)) => one.cmp(two),
            (Kind::Number(one), Kind::Number(two)) => normalized_number(one).cmp(&normalized_number(two)),
            _ => self.normal_rank().cmp(&other.normal_rank()),
        }
    }

    /// Returns the nesting depth: 1 for a scalar.
    pub fn depth(&self) -> usize {
        match &self.kind {
            Kind::Array(items) => 1 + items.iter().map(Node::depth).max().unwrap_or(0),
            Kind::Object(members) => 1 + members.iter().map(|(_, value)| value.depth()).max().unwrap_or(0),
            _ => 1,
        }
    }

    /// Returns whether both are the same value. The order of keys does not matter.
    pub fn equals(&self, other: &Node<'_>) -> bool {
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

    /// Returns the text of a scalar: for a string, without quotes and escapes.
    pub fn scalar_text(&self) -> Option<Cow<'_, str>> {
        Some(match &self.kind {
            Kind::Null => Cow::Borrowed("null"),
            Kind::Boolean(true) => Cow::Borrowed("true"),
            Kind::Boolean(false) => Cow::Borrowed("false"),
            Kind::Number(text) => Cow::Borrowed(text),
            Kind::String(text) => unescape(text),
            Kind::Array(_) | Kind::Object(_) | Kind::Unparsed(_) => return None,
        })
    }
}

/// Returns a number as one digit, a point, more digits and the power of ten: 100 becomes 1.0E2, and zero
/// 0.0E0.
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

fn append_quoted(escaped: &str, out: &mut String) {
    out.push('"');
    out.push_str(escaped);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_strings_keep_their_spelling() {
        let mut out = String::new();
        let node = Node::parse(r#" {"a":1.50, "b" : [1,2 ,"x\u0041"]} "#).unwrap();
        node.write_loose(&mut out);
        assert_eq!(out, r#"{"a": 1.50, "b": [1, 2, "x\u0041"]}"#);
    }

    #[test]
    fn spans_are_ranges_of_the_text() {
        let text = r#" [ "a" , {"b":-1.5} ]"#;
        let root = Node::parse(text).unwrap();
        let Kind::Array(items) = &root.kind else {
            panic!("an array")
        };
        assert_eq!(&text[root.span.clone()], r#"[ "a" , {"b":-1.5} ]"#);
        assert_eq!(&text[items[1].span.clone()], r#"{"b":-1.5}"#);
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
}
