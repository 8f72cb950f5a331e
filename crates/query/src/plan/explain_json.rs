//! EXPLAIN FORMAT=JSON: the lines of EXPLAIN, nested as in MariaDB.

use std::fmt::Write;
use std::time::Duration;

use super::explain_line::Line;

/// A value in the document.
enum Node {
    Text(String),
    Number(u64),
    Decimal(f64),
    True,
    /// Strings that are written on one line.
    Names(Vec<String>),
    Object(Vec<(&'static str, Node)>),
    List(Vec<Node>),
}

/// Lines of one SELECT, or the message that replaces them.
struct QueryBlock<'l> {
    lines: Vec<&'l Line>,
}

/// Returns the document of a statement.
pub(super) fn document(lines: &[Line]) -> String {
    let mut blocks: Vec<QueryBlock<'_>> = Vec::new();
    for line in lines {
        match blocks.last_mut() {
            Some(block) if block.is_of(line) => block.lines.push(line),
            _ => blocks.push(QueryBlock { lines: vec![line] }),
        }
    }
    let union = blocks
        .iter()
        .position(|block| block.select_type() == "UNION RESULT");
    let root = match union {
        Some(at) if blocks[0].select_type() == "PRIMARY" => {
            let result = blocks.remove(at);
            vec![("query_block", union_result(result.lines[0], &blocks))]
        }
        _ => {
            let (first, others) = blocks.split_first().expect("a statement has a line");
            vec![("query_block", query_block(first, others))]
        }
    };
    let mut text = String::new();
    write_node(&Node::Object(root), 0, &mut text);
    text
}

impl QueryBlock<'_> {
    fn is_of(&self, line: &Line) -> bool {
        let first = self.lines[0];
        first.id == line.id && first.select_type == line.select_type
    }

    fn select_type(&self) -> &'static str {
        self.lines[0].select_type
    }
}

fn union_result(result: &Line, sides: &[QueryBlock<'_>]) -> Node {
    let sides = sides
        .iter()
        .map(|side| Node::Object(vec![("query_block", query_block(side, &[]))]));
    let mut members = vec![];
    members.extend(result.table.clone().map(|name| ("table_name", Node::Text(name))));
    members.push(("access_type", Node::Text("ALL".to_owned())));
    if let Some(measure) = result.measure {
        members.push(("r_loops", Node::Number(measure.access.loops)));
        members.push(("r_rows", Node::Decimal(measure.rows())));
    }
    members.push(("query_specifications", Node::List(sides.collect())));
    Node::Object(vec![("union_result", Node::Object(members))])
}

/// Returns a block, with the blocks that run for it.
fn query_block(block: &QueryBlock<'_>, others: &[QueryBlock<'_>]) -> Node {
    let mut members = vec![];
    members.extend(block.lines[0].id.map(|id| ("select_id", Node::Number(id.into()))));
    if let Some(measure) = block.lines[0].block {
        members.push(("r_loops", Node::Number(measure.loops)));
        members.push(("r_total_time_ms", milliseconds(measure.time)));
    }
    if block.select_type() == "UNION" {
        members.push(("operation", Node::Text("UNION".to_owned())));
    }
    let is_message = block.lines.len() == 1 && block.lines[0].table.is_none();
    if is_message {
        let message = Node::Text(block.lines[0].extra.clone());
        members.push(("table", Node::Object(vec![("message", message)])));
    } else {
        let mut rest = others.iter();
        let tables = block
            .lines
            .iter()
            .map(|line| Node::Object(vec![("table", table(line, &mut rest))]));
        let mut body = ("nested_loop", Node::List(tables.collect()));
        let does = |what: &str| block.lines.iter().any(|line| line.extra.contains(what));
        if does("Using temporary") {
            body = ("temporary_table", Node::Object(vec![body]));
        }
        if does("Using filesort") {
            body = ("filesort", Node::Object(vec![body]));
        }
        members.push(body);
        let subqueries: Vec<Node> = rest
            .map(|other| Node::Object(vec![("query_block", query_block(other, &[]))]))
            .collect();
        if !subqueries.is_empty() {
            members.push(("subqueries", Node::List(subqueries)));
        }
    }
    Node::Object(members)
}

/// Returns a table. The block of a derived table is taken from the following blocks.
fn table<'b, 'l: 'b>(line: &Line, others: &mut impl Iterator<Item = &'b QueryBlock<'l>>) -> Node {
    let names = |list: &str| list.split(',').map(str::to_owned).collect();
    let text = |text: &String| Node::Text(text.clone());
    let mut members = vec![];
    members.extend(line.table.as_ref().map(|name| ("table_name", text(name))));
    members.extend(
        line.access
            .map(|access| ("access_type", Node::Text(access.to_owned()))),
    );
    let possible = line.possible_keys.as_ref();
    members.extend(possible.map(|keys| ("possible_keys", Node::Names(names(keys)))));
    members.extend(line.key.as_ref().map(|key| ("key", text(key))));
    members.extend(line.key_len.as_ref().map(|length| ("key_length", text(length))));
    let reference = line.reference.as_ref();
    members.extend(reference.map(|reference| ("ref", Node::Names(names(reference)))));
    members.extend(
        line.measure
            .map(|measure| ("r_loops", Node::Number(measure.access.loops))),
    );
    members.extend(line.rows.map(|rows| ("rows", Node::Number(rows))));
    if let Some(measure) = line.measure {
        members.push(("r_rows", Node::Decimal(measure.rows())));
        members.push(("r_table_time_ms", milliseconds(measure.access.read_time)));
        members.push(("r_other_time_ms", milliseconds(measure.access.check_time())));
    }
    members.extend(line.rows.map(|_| ("filtered", Node::Number(100))));
    members.extend(
        line.measure
            .map(|measure| ("r_filtered", Node::Decimal(measure.filtered()))),
    );
    if line.extra.contains("Using index") {
        members.push(("using_index", Node::True));
    }
    let is_derived = line
        .table
        .as_ref()
        .is_some_and(|name| name.starts_with("<derived"));
    if is_derived && let Some(block) = others.next() {
        let block = Node::Object(vec![("query_block", query_block(block, &[]))]);
        members.push(("materialized", block));
    }
    Node::Object(members)
}

fn milliseconds(time: Duration) -> Node {
    Node::Decimal(time.as_secs_f64() * 1000.0)
}

fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\n' => out.push_str("\\n"),
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
        Node::Text(text) => write_string(text, out),
        Node::Number(number) => {
            let _ = write!(out, "{number}");
        }
        Node::Decimal(number) => {
            let _ = write!(out, "{number}");
        }
        Node::True => out.push_str("true"),
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
