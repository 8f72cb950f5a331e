//! JSON documents in MariaDB's layout: of EXPLAIN FORMAT=JSON and of the optimizer trace.

use std::fmt::Write;
use std::time::Duration;

use paceline_types::float_text::append_double_within;

/// A value in a document.
#[derive(Clone)]
pub(super) enum Node {
    Null,
    Text(String),
    Number(u64),
    Decimal(f64),
    Bool(bool),
    /// Strings that are written on one line.
    Names(Vec<String>),
    Object(Members),
    List(Vec<Node>),
}

/// Members of an object.
pub(super) type Members = Vec<(&'static str, Node)>;

/// Number of characters in which MariaDB prints a number with a fraction.
const DECIMAL_WIDTH: usize = 11;

impl Node {
    /// Returns a string.
    pub(super) fn text(text: impl Into<String>) -> Self {
        Node::Text(text.into())
    }

    /// Returns a duration in milliseconds.
    pub(super) fn milliseconds(time: Duration) -> Self {
        Node::Decimal(time.as_secs_f64() * 1000.0)
    }

    /// Returns a size in bytes as text with a unit. From 16 MiB on it is in MiB.
    pub(super) fn size(bytes: usize) -> Self {
        Node::Text(match bytes {
            0..1024 => bytes.to_string(),
            1024..0x100_0000 => format!("{}KiB", bytes >> 10),
            _ => format!("{}MiB", bytes >> 20),
        })
    }

    /// Returns the text of a document.
    pub(super) fn write(&self) -> String {
        self.write_within(0)
    }

    /// Returns the text of a value within `depth` others.
    pub(super) fn write_within(&self, depth: usize) -> String {
        let mut text = String::new();
        write_node(self, depth, &mut text);
        text
    }
}

fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if control < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(control));
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}

fn write_node(node: &Node, depth: usize, out: &mut String) {
    let line = |depth: usize, out: &mut String| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth));
    };
    match node {
        Node::Null => out.push_str("null"),
        Node::Text(text) => write_string(text, out),
        Node::Number(number) => {
            let _ = write!(out, "{number}");
        }
        Node::Decimal(number) => {
            let mut bytes = Vec::new();
            append_double_within(*number, DECIMAL_WIDTH, &mut bytes);
            out.push_str(std::str::from_utf8(&bytes).unwrap_or("0"));
        }
        Node::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Node::Names(names) => {
            out.push('[');
            for (place, name) in names.iter().enumerate() {
                out.push_str(if place > 0 { ", " } else { "" });
                write_string(name, out);
            }
            out.push(']');
        }
        Node::Object(members) => {
            out.push('{');
            for (place, (name, value)) in members.iter().enumerate() {
                out.push_str(if place > 0 { "," } else { "" });
                line(depth + 1, out);
                write_string(name, out);
                out.push_str(": ");
                write_node(value, depth + 1, out);
            }
            line(depth, out);
            out.push('}');
        }
        Node::List(items) if items.is_empty() => out.push_str("[]"),
        Node::List(items) => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                out.push_str(if place > 0 { "," } else { "" });
                line(depth + 1, out);
                write_node(item, depth + 1, out);
            }
            line(depth, out);
            out.push(']');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_has_mariadbs_layout() {
        let document = Node::Object(vec![
            ("keys", Node::Names(vec!["a".into(), "b\"\u{1}".into()])),
            (
                "rows",
                Node::List(vec![Node::Decimal(33.333_333_333_3), Node::Null]),
            ),
            ("none", Node::List(vec![])),
            (
                "sizes",
                Node::List(vec![Node::size(229), Node::size(7_200), Node::size(70 << 20)]),
            ),
        ]);
        let expected = "{\n  \"keys\": [\"a\", \"b\\\"\\u0001\"],\n  \"rows\": [\n    33.33333333,\n    null\n  ],\n  \
            \"none\": [],\n  \"sizes\": [\n    \"229\",\n    \"7KiB\",\n    \"70MiB\"\n  ]\n}";
        assert_eq!(document.write(), expected);
    }
}
