//! The optimizer trace: a document in MariaDB's outline.
//!
//! ```text
//!   steps                                  of the statement: the blocks, inner ones first
//!    ├─ join_preparation
//!    └─ join_optimization
//!        └─ steps
//!            ├─ condition_processing       what the passes made of WHERE
//!            ├─ table_dependencies         which tables of an outer join must precede which
//!            ├─ rows_estimation            the paths of each table alone
//!            ├─ considered_execution_plans the orders that the search has compared
//!            ├─ best_join_order
//!            ├─ attaching_conditions_to_tables
//!            └─ reconsidering_access_paths_for_index_ordering, access_path_changes
//! ```
//!
//! It contains what this planner does. Steps that it does not have are left out, and members that MariaDB does not have
//! are named in its style. A block writes its part when it ends, so that blocks never mix.

use std::cell::{Cell, RefCell};

use super::super::document::{Members, Node};
use super::super::tree::{JoinStep, SelectPlan, StepSource};
use super::difference::difference;
use super::expression::Names;

/// Text up to a maximum length.
#[derive(Default)]
pub(in super::super) struct LimitedText {
    text: String,
    bytes_max: usize,
    /// Number of bytes beyond the maximum.
    missing: usize,
}

impl LimitedText {
    /// Creates an empty text.
    pub fn new(bytes_max: usize) -> Self {
        LimitedText {
            bytes_max,
            ..LimitedText::default()
        }
    }

    fn push(&mut self, text: &str) {
        let space = self.bytes_max.saturating_sub(self.text.len());
        let taken = if self.missing > 0 {
            0
        } else {
            let space = space.min(text.len());
            (0..=space)
                .rev()
                .find(|end| text.is_char_boundary(*end))
                .unwrap_or(0)
        };
        self.text.push_str(&text[..taken]);
        self.missing += text.len() - taken;
    }

    fn append(&mut self, other: LimitedText) {
        self.push(&other.text);
        self.missing += other.missing;
    }
}

/// Trace of one statement.
pub(in super::super) struct OptimizerDocument {
    steps: LimitedText,
    is_empty: bool,
}

impl OptimizerDocument {
    /// Creates a trace without steps.
    pub fn new(bytes_max: usize) -> Self {
        let mut steps = LimitedText::new(bytes_max);
        steps.push("{\n  \"steps\": [");
        OptimizerDocument {
            steps,
            is_empty: true,
        }
    }

    fn add(&mut self, number: u32, block: LimitedText) {
        let id = ("select_id", Node::Number(number.into()));
        let preparation = Node::Object(vec![id, ("steps", Node::List(vec![]))]);
        let preparation = Node::Object(vec![("join_preparation", preparation)]).write_within(2);
        self.steps.push(if self.is_empty { "\n    " } else { ",\n    " });
        self.is_empty = false;
        self.steps.push(&preparation);
        self.steps.push(&format!(
            ",\n    {{\n      \"join_optimization\": {{\n        \"select_id\": {number},\n        \"steps\": ["
        ));
        let is_empty = block.text.is_empty();
        self.steps.append(block);
        self.steps.push(if is_empty { "]" } else { "\n        ]" });
        self.steps.push("\n      }\n    }");
    }

    /// Returns the text of the trace, and the number of bytes that it lacks.
    pub fn finish(mut self) -> (String, usize) {
        self.steps.push(if self.is_empty { "]\n}" } else { "\n  ]\n}" });
        (self.steps.text, self.steps.missing)
    }
}

/// Trace of one block.
pub(super) struct OptimizerBlock<'t> {
    document: &'t RefCell<OptimizerDocument>,
    number: u32,
    steps: RefCell<LimitedText>,
    original_condition: RefCell<Option<String>>,
    /// Conditions after each pass.
    transformations: RefCell<Vec<Node>>,
    /// Whether the passes are about access paths.
    pub(super) is_physical: Cell<bool>,
}

impl<'t> OptimizerBlock<'t> {
    /// Begins a block, by its number in EXPLAIN.
    pub fn new(document: &'t RefCell<OptimizerDocument>, number: u32) -> Self {
        let bytes_max = document.borrow().steps.bytes_max;
        OptimizerBlock {
            document,
            number,
            steps: RefCell::new(LimitedText::new(bytes_max)),
            original_condition: RefCell::default(),
            transformations: RefCell::default(),
            is_physical: Cell::new(false),
        }
    }

    /// Adds a step.
    pub fn step(&self, name: &'static str, value: Node) {
        self.end_conditions();
        self.push(name, value);
    }

    fn push(&self, name: &'static str, value: Node) {
        let mut steps = self.steps.borrow_mut();
        let is_first = steps.text.is_empty();
        steps.push(if is_first { "\n          " } else { ",\n          " });
        steps.push(&Node::Object(vec![(name, value)]).write_within(5));
    }

    /// Adds the changes that a pass made.
    pub fn pass(&self, name: &str, before: &[String], after: &[String]) {
        if name == "binding" {
            *self.original_condition.borrow_mut() = conditions(after);
        } else if before == after {
        } else if self.is_physical.get() {
            let lost = |lines: &[String], others: &[String]| {
                Node::Names(difference(lines, others).cloned().collect())
            };
            let changes = vec![
                ("pass", Node::text(name)),
                ("before", lost(before, after)),
                ("after", lost(after, before)),
            ];
            let is_order = [
                "MIN and MAX by an index",
                "loose scan",
                "groups in index order",
                "rows in index order",
            ]
            .contains(&name);
            let step = match is_order {
                true => "reconsidering_access_paths_for_index_ordering",
                false => "access_path_changes",
            };
            self.step(step, Node::Object(changes));
        } else {
            let name = match name {
                "equalities" => "equality_propagation".to_owned(),
                "constant conditions" => "trivial_condition_removal".to_owned(),
                name => name.replace(' ', "_"),
            };
            let mut members = vec![("transformation", Node::Text(name))];
            members.push((
                "resulting_condition",
                conditions(after).map_or(Node::Null, Node::Text),
            ));
            let tables = tables(after);
            if tables != self::tables(before) {
                members.push(("resulting_tables", Node::Names(tables)));
            }
            self.transformations.borrow_mut().push(Node::Object(members));
        }
    }

    /// Ends the passes over the conditions.
    pub fn end_conditions(&self) {
        let original = self.original_condition.take();
        let steps = self.transformations.take();
        if original.is_none() && steps.is_empty() {
            return;
        }
        let processing: Members = vec![
            ("condition", Node::text("WHERE")),
            ("original_condition", original.map_or(Node::Null, Node::Text)),
            ("steps", Node::List(steps)),
        ];
        self.push("condition_processing", Node::Object(processing));
    }
}

impl Drop for OptimizerBlock<'_> {
    fn drop(&mut self) {
        self.end_conditions();
        self.document.borrow_mut().add(self.number, self.steps.take());
    }
}

/// Returns the conditions among a block's lines.
fn conditions(lines: &[String]) -> Option<String> {
    let of_line = |line: &String| {
        let condition = line.strip_prefix("where ").or_else(|| line.strip_prefix("once "));
        condition.map(str::to_owned)
    };
    let conditions: Vec<String> = lines.iter().filter_map(of_line).collect();
    (!conditions.is_empty()).then(|| conditions.join(" and "))
}

/// Returns the lines of a block that are not conditions.
fn tables(lines: &[String]) -> Vec<String> {
    let is_condition = |line: &&String| line.starts_with("where ") || line.starts_with("once ");
    lines.iter().filter(|line| !is_condition(line)).cloned().collect()
}

/// Returns the order of a plan's tables.
pub(in super::super) fn join_order(select: &SelectPlan) -> Node {
    let mut names = Vec::new();
    for step in &select.steps {
        (step.source)
            .for_each_access(&mut |access| names.push(select.tables[access.table].alias.to_string()));
    }
    Node::Names(names)
}

/// Returns the conditions of a plan's steps.
pub(in super::super) fn attached_conditions(select: &SelectPlan, names: &Names) -> Node {
    let mut summary = Vec::new();
    attached_to(&select.steps, select, names, &mut summary);
    Node::Object(vec![
        ("attached_conditions_computation", Node::List(vec![])),
        ("attached_conditions_summary", Node::List(summary)),
    ])
}

fn attached_to(steps: &[JoinStep], select: &SelectPlan, names: &Names, summary: &mut Vec<Node>) {
    for step in steps {
        match &step.source {
            StepSource::Nest(inner) => attached_to(inner, select, names, summary),
            StepSource::Table(access) => {
                let conditions = step.on.iter().chain(&step.filter);
                let conditions: Vec<String> = conditions.map(|expr| names.term(expr)).collect();
                let attached = match conditions.is_empty() {
                    true => Node::Null,
                    false => Node::Text(conditions.join(" and ")),
                };
                let table = Node::text(&*select.tables[access.table].alias);
                summary.push(Node::Object(vec![("table", table), ("attached", attached)]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_beyond_its_maximum_is_counted() {
        let mut text = LimitedText::new(5);
        text.push("abcä");
        text.push("xy");
        text.push("z");
        assert_eq!((text.text.as_str(), text.missing), ("abcä", 3));
        let mut cut = LimitedText::new(4);
        cut.push("abcä");
        cut.push("d");
        assert_eq!((cut.text.as_str(), cut.missing), ("abc", 3));
    }

    #[test]
    fn blocks_are_steps() {
        let document = RefCell::new(OptimizerDocument::new(10_000));
        {
            let block = OptimizerBlock::new(&document, 1);
            block.pass("binding", &[], &["from t".into(), "where a".into()]);
            block.pass(
                "equalities",
                &["where a".into()],
                &["where a".into(), "where b".into()],
            );
            block.step("best_join_order", Node::Names(vec!["t".into()]));
        }
        drop(OptimizerBlock::new(&document, 2));
        let (text, missing) = document.into_inner().finish();
        assert_eq!(missing, 0);
        assert_eq!(text, include_str!("blocks_are_steps.json").trim_end());
    }
}
