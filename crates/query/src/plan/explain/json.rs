//! EXPLAIN FORMAT=JSON: the tree of blocks, nested as in MariaDB. Members that begin with `r_` are measurements.
//!
//! Beside MariaDB's members there is `r_memory`: the maximum memory of an operation that collects rows. Where MariaDB
//! has a member for it (`r_buffer_size` of a sort, `buffer_size` of a join buffer), that one is used.

use std::time::Duration;

use super::line::{
    Block, BlockNotes, BufferNotes, InnerQuery, Line, LineMeasure, Measured, Query, SortNotes, Union,
};
use crate::plan::document::{Members, Node};

/// Times of a statement.
#[derive(Default, Clone, Copy)]
pub(super) struct Times {
    /// Time for planning it.
    pub(super) planning: Option<Duration>,
    /// Time since it is executed, if it still is.
    pub(super) in_progress: Option<Duration>,
}

/// Returns the document of a statement.
pub(super) fn document(query: &Query, times: Times, extent: Measured) -> String {
    let writer = Writer {
        is_measured: extent != Measured::Nothing,
        is_timed: extent == Measured::Times,
    };
    let mut members = vec![];
    if let Some(time) = times.in_progress {
        let time = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        members.push(("r_query_time_in_progress_ms", Node::Number(time)));
    }
    if let Some(time) = times.planning {
        let time = Node::Object(vec![("r_total_time_ms", Node::milliseconds(time))]);
        members.push(("query_optimization", time));
    }
    members.push(("query_block", writer.query(query, None)));
    Node::Object(members).write()
}

struct Writer {
    is_measured: bool,
    is_timed: bool,
}

fn object(name: &'static str, value: Node) -> Node {
    Node::Object(vec![(name, value)])
}

/// Returns a number that is `null` without measurements.
fn measured(number: Option<f64>) -> Node {
    number.map_or(Node::Null, Node::Decimal)
}

impl Writer {
    /// Returns the contents of a `query_block`. `operation`: how it is combined with the blocks before.
    fn query(&self, query: &Query, operation: Option<&'static str>) -> Node {
        match query {
            Query::Block(block) => Node::Object(self.block(block, operation)),
            Query::Union(union) => object("union_result", self.union(union)),
            Query::Recursive(parts) => {
                let sides = parts.iter().enumerate();
                let sides = sides.map(|(place, part)| self.side(part, (place > 0).then_some("UNION")));
                let list = object("query_specifications", Node::List(sides.collect()));
                object("recursive_union", list)
            }
        }
    }

    fn side(&self, query: &Query, operation: Option<&'static str>) -> Node {
        object("query_block", self.query(query, operation))
    }

    fn union(&self, union: &Union) -> Node {
        let sides = union.sides.iter();
        let sides = sides.map(|(operation, side)| self.side(side, *operation));
        let mut members = vec![];
        if let Some(result) = &union.result {
            members.extend(result.table.clone().map(|name| ("table_name", Node::Text(name))));
            members.push(("access_type", Node::text("ALL")));
            if let Some(measure) = result.measure {
                members.push(("r_loops", Node::Number(measure.access.loops)));
                members.push(("r_rows", Node::Decimal(measure.rows())));
            }
        }
        members.extend(union.bytes.map(|bytes| ("r_memory", Node::size(bytes))));
        let list = ("query_specifications", Node::List(sides.collect()));
        match &union.sort {
            Some(sort) => {
                let mut sort = self.sort(sort);
                sort.push(list);
                members.push(("filesort", Node::Object(sort)));
            }
            None => members.push(list),
        }
        Node::Object(members)
    }

    fn block(&self, block: &Block, operation: Option<&'static str>) -> Members {
        let notes = &block.notes;
        let first = &block.lines[0];
        let mut members = vec![];
        members.extend(first.id.map(|id| ("select_id", Node::Number(id.into()))));
        members.extend(operation.map(|operation| ("operation", Node::text(operation))));
        if first.select_type == "INSERT" {
            let name = first.table.clone().unwrap_or_default();
            members.push(("table", object("table_name", Node::Text(name))));
            return members;
        }
        let is_message = block.lines.len() == 1 && first.table.is_none();
        if let Some(measure) = notes.measure.filter(|_| !is_message) {
            if notes.change.is_none() {
                members.push(("r_loops", Node::Number(measure.loops)));
            }
            if self.is_timed {
                members.push(("r_total_time_ms", Node::milliseconds(measure.time)));
            }
        }
        members.extend(notes.aggregate_bytes.map(|bytes| ("r_memory", Node::size(bytes))));
        let condition = |text: &Option<String>| text.clone().map(Node::Text);
        let constant = condition(&notes.const_condition).filter(|_| !is_message);
        members.extend(constant.map(|text| ("const_condition", text)));
        members.extend(condition(&notes.having).map(|text| ("having_condition", text)));
        let mut is_placed = vec![false; block.inner.len()];
        if is_message {
            members.push(("table", object("message", Node::text(first.extra.clone()))));
        } else {
            self.body(block, &mut members);
            for derived in block.lines.iter().filter_map(|line| line.notes.derived) {
                is_placed[derived] = true;
            }
        }
        let others = block
            .inner
            .iter()
            .zip(is_placed)
            .filter(|(_, is_placed)| !is_placed);
        let others: Vec<Node> = others.map(|(inner, _)| self.side(&inner.query, None)).collect();
        if !others.is_empty() {
            members.push(("subqueries", Node::List(others)));
        }
        members
    }

    /// Adds the tables of a block, within the operations on their rows.
    fn body(&self, block: &Block, members: &mut Members) {
        let notes = &block.notes;
        if let (Some(change), [line]) = (notes.change, &block.lines[..]) {
            let mut table = vec![(change, Node::Number(1))];
            self.table(line, &block.inner, &mut table);
            table.retain(|(name, _)| !matches!(*name, "r_loops" | "filtered"));
            let mut body = ("table", Node::Object(table));
            if let Some(sort) = &notes.sort {
                let mut sort = self.sort(sort);
                sort.push(body);
                body = ("filesort", Node::Object(sort));
            } else if let Some(bytes) = notes.found_bytes {
                let memory = ("r_memory", Node::size(bytes));
                body = ("buffer", Node::Object(vec![memory, body]));
            }
            members.push(body);
            return;
        }
        let mut tables = Vec::with_capacity(block.lines.len());
        let mut previous = "";
        for line in &block.lines {
            tables.push(self.joined_table(line, previous, &block.inner));
            previous = line.table.as_deref().unwrap_or_default();
        }
        let is_sorted_table = notes.temporary.is_none() && notes.windows.is_none() && tables.len() == 1;
        let mut sort = notes.sort.as_ref();
        if is_sorted_table
            && let Some(notes) = sort
            && let Some(Node::Object(table)) = tables.pop()
        {
            tables.push(self.sorted_table(notes, table));
            sort = None;
        }
        let mut body = ("nested_loop", Node::List(tables));
        if let Some(temporary) = &notes.temporary {
            let memory = temporary.bytes.map(|bytes| ("r_memory", Node::size(bytes)));
            body = (
                "temporary_table",
                Node::Object(memory.into_iter().chain([body]).collect()),
            );
        }
        if let Some(windows) = &notes.windows {
            body = self.windows(notes, &windows.sorts, windows.bytes, body);
        }
        if let Some(sort) = sort {
            let mut sort = self.sort(sort);
            sort.push(body);
            body = ("filesort", Node::Object(sort));
        }
        members.push(body);
    }

    fn windows(
        &self,
        notes: &BlockNotes,
        sorts: &[SortNotes],
        bytes: Option<usize>,
        body: (&'static str, Node),
    ) -> (&'static str, Node) {
        let sorts = sorts
            .iter()
            .map(|sort| object("filesort", Node::Object(self.sort(sort))));
        let mut members = vec![("sorts", Node::List(sorts.collect()))];
        members.extend(bytes.map(|bytes| ("r_memory", Node::size(bytes))));
        members.push(match notes.temporary {
            Some(_) => body,
            None => ("temporary_table", Node::Object(vec![body])),
        });
        ("window_functions_computation", Node::Object(members))
    }

    /// Returns the only table of a block, whose rows are sorted.
    fn sorted_table(&self, notes: &SortNotes, table: Members) -> Node {
        let mut members = vec![];
        if let Some(measure) = &notes.measure {
            let sorts = measure.sorts;
            let rows = (sorts.loops > 0).then(|| sorts.rows_taken as f64 / sorts.loops as f64);
            members.push(("r_rows", measured(rows)));
        }
        let mut sort = self.sort(notes);
        sort.extend(table);
        members.push(("filesort", Node::Object(sort)));
        object("read_sorted_file", Node::Object(members))
    }

    fn sort(&self, notes: &SortNotes) -> Members {
        let mut members = vec![("sort_key", Node::text(notes.key.clone()))];
        let Some(measure) = &notes.measure else {
            return members;
        };
        let sorts = measure.sorts;
        if sorts.loops == 0 {
            for name in ["r_loops", "r_used_priority_queue", "r_output_rows"] {
                members.push((name, Node::Null));
            }
        } else {
            members.push(("r_loops", Node::Number(sorts.loops)));
            if self.is_timed {
                members.push(("r_total_time_ms", Node::milliseconds(measure.time)));
            }
            members.extend(sorts.limit.map(|limit| ("r_limit", Node::Number(limit))));
            members.push((
                "r_used_priority_queue",
                match sorts.heaps {
                    0 => Node::Bool(false),
                    heaps if heaps == sorts.loops => Node::Bool(true),
                    _ => Node::text("(varied across executions)"),
                },
            ));
            let average = |total: u64| Node::Number((total + sorts.loops / 2) / sorts.loops);
            members.push(("r_output_rows", average(sorts.rows)));
            if sorts.runs > 0 {
                members.push(("r_sort_passes", average(sorts.runs)));
            }
            members.extend(measure.bytes.map(|bytes| ("r_buffer_size", Node::size(bytes))));
        }
        members.push(("r_sort_mode", Node::text("sort_key,addon_fields")));
        members
    }

    /// Returns a table of a join. `previous`: the table before it.
    fn joined_table(&self, line: &Line, previous: &str, inner: &[InnerQuery]) -> Node {
        let mut members = vec![];
        self.table(line, inner, &mut members);
        if line.notes.first_match {
            members.push(("first_match", Node::text(previous)));
        }
        let table = ("table", Node::Object(members));
        match &line.notes.buffer {
            None => Node::Object(vec![table]),
            Some(buffer) => object("block-nl-join", self.buffer(buffer, table)),
        }
    }

    fn buffer(&self, buffer: &BufferNotes, table: (&'static str, Node)) -> Node {
        let mut members = vec![table, ("buffer_type", Node::text("flat"))];
        members.extend(buffer.bytes.map(|bytes| ("buffer_size", Node::size(bytes))));
        members.push(("join_type", Node::text(buffer.join_type)));
        members.extend((buffer.condition.clone()).map(|text| ("attached_condition", Node::Text(text))));
        if let Some(measure) = buffer.measure {
            let is_read = measure.loops > 0;
            members.push(("r_loops", Node::Number(measure.loops)));
            members.push(("r_filtered", measured(is_read.then(|| measure.filtered()))));
            if is_read {
                members.push(("r_unpack_time_ms", Node::milliseconds(measure.read_time)));
                members.push(("r_other_time_ms", Node::milliseconds(measure.check_time())));
            }
            let rows = is_read.then(|| measure.rows as f64 / measure.loops as f64);
            members.push(("r_effective_rows", measured(rows)));
        }
        Node::Object(members)
    }

    /// Adds the members of a table.
    fn table(&self, line: &Line, inner: &[InnerQuery], members: &mut Members) {
        let notes = &line.notes;
        let names = |list: &str| list.split(',').map(str::to_owned).collect();
        let text = |text: &String| Node::Text(text.clone());
        members.extend(line.table.as_ref().map(|name| ("table_name", text(name))));
        members.extend(line.access.map(|access| ("access_type", Node::text(access))));
        let possible = line.possible_keys.as_ref();
        members.extend(possible.map(|keys| ("possible_keys", Node::Names(names(keys)))));
        let key = line.key.as_ref().filter(|_| notes.merged_keys.is_empty());
        members.extend(key.map(|key| ("key", text(key))));
        members.extend(line.key_len.as_ref().map(|length| ("key_length", text(length))));
        if !notes.key_parts.is_empty() {
            members.push(("used_key_parts", Node::Names(notes.key_parts.clone())));
        }
        let reference = line.reference.as_ref();
        members.extend(reference.map(|reference| ("ref", Node::Names(names(reference)))));
        if !notes.merged_keys.is_empty() {
            let ranges = notes.merged_keys.iter().map(|(key, parts)| {
                let parts = Node::Names(parts.clone());
                object(
                    "range",
                    Node::Object(vec![("key", text(key)), ("used_key_parts", parts)]),
                )
            });
            members.push(("index_merge", object("union", Node::List(ranges.collect()))));
        }
        if self.is_measured {
            let loops = line.measure.map_or(0, |measure| measure.access.loops);
            members.push(("r_loops", Node::Number(loops)));
        }
        members.extend(line.rows.map(|rows| ("rows", Node::Number(rows))));
        if self.is_measured {
            members.push(("r_rows", measured(line.measure.map(LineMeasure::rows))));
        }
        if let Some(measure) = line.measure.filter(|_| self.is_timed) {
            members.push(("r_table_time_ms", Node::milliseconds(measure.access.read_time)));
            members.push(("r_other_time_ms", Node::milliseconds(measure.access.check_time())));
        }
        members.extend(line.rows.map(|_| ("filtered", Node::Number(100))));
        if self.is_measured {
            members.push(("r_filtered", measured(line.measure.map(LineMeasure::filtered))));
        }
        let function = notes.table_function;
        members.extend(function.map(|name| ("table_function", Node::text(name))));
        members.extend(
            notes
                .condition
                .as_ref()
                .map(|condition| ("attached_condition", text(condition))),
        );
        if notes.loose {
            members.push(("using_index_for_group_by", Node::Bool(true)));
        } else if notes.index_only {
            members.push(("using_index", Node::Bool(true)));
        }
        if let Some(derived) = notes.derived.and_then(|place| inner.get(place)) {
            let mut materialized = vec![];
            if derived.unique {
                materialized.push(("unique", Node::Number(1)));
            }
            materialized.extend(derived.bytes.map(|bytes| ("r_memory", Node::size(bytes))));
            materialized.push(("query_block", self.query(&derived.query, None)));
            members.push(("materialized", Node::Object(materialized)));
        }
    }
}
