//! Trace of the planner's passes, for golden scripts (`testscripts/passes`) and the optimizer trace ([`optimizer`]).
//!
//! A block begins as a set of tables and conditions and becomes steps of a join. After each pass its parts are written
//! as lines. The trace contains the lines that a pass has removed (`-`) and added (`+`). A pass that changed nothing is
//! omitted.
//!
//! ```text
//!   SELECT 1                                                block, by EXPLAIN's number
//!     binding                                               pass
//!       + from t, u
//!       + where t.id = u.tid
//!       + where u.tid = 3
//!     equalities
//!       + where t.id = 3
//! ```
//!
//! Without a trace, a statement pays for one comparison per pass.

mod access;
mod difference;
mod expression;
pub(super) mod optimizer;

use std::cell::RefCell;
use std::fmt::Write;

pub(super) use access::{Physical, describe_alone};
pub(super) use expression::Names;

use super::document::Node;
use super::tree::{QueryBody, TableInstance, TableSource};
use difference::difference;
use optimizer::{OptimizerBlock, OptimizerDocument};
use paceline_expression::Expr;

/// Trace of one statement; off unless requested.
#[derive(Default)]
pub(super) struct Trace(Option<Output>);

enum Output {
    /// Lines, for golden scripts.
    Passes(RefCell<String>),
    Optimizer(RefCell<OptimizerDocument>),
}

impl Trace {
    /// Returns a trace of the passes as lines.
    pub fn on() -> Self {
        Trace(Some(Output::Passes(RefCell::default())))
    }

    /// Returns an optimizer trace of at most this length.
    pub fn of_optimizer(bytes_max: usize) -> Self {
        let document = OptimizerDocument::new(bytes_max);
        Trace(Some(Output::Optimizer(RefCell::new(document))))
    }

    /// Returns whether the trace is on.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Returns the text of the trace, and the number of bytes that it lacks.
    pub fn into_text(self) -> (String, usize) {
        match self.0 {
            None => (String::new(), 0),
            Some(Output::Passes(text)) => (text.into_inner(), 0),
            Some(Output::Optimizer(document)) => document.into_inner().finish(),
        }
    }

    /// Begins a block.
    pub fn block(&self, number: u32, names: impl FnOnce() -> Names) -> BlockTrace<'_> {
        BlockTrace(self.0.as_ref().map(|output| {
            let output = match output {
                Output::Passes(text) => {
                    let _ = writeln!(text.borrow_mut(), "SELECT {number}");
                    BlockOutput::Passes(text)
                }
                Output::Optimizer(document) => BlockOutput::Optimizer(OptimizerBlock::new(document, number)),
            };
            ActiveTrace {
                output,
                names: RefCell::new(names()),
                known: RefCell::default(),
            }
        }))
    }
}

/// Trace of one block.
#[derive(Default)]
pub(crate) struct BlockTrace<'t>(Option<ActiveTrace<'t>>);

enum BlockOutput<'t> {
    Passes(&'t RefCell<String>),
    Optimizer(OptimizerBlock<'t>),
}

struct ActiveTrace<'t> {
    output: BlockOutput<'t>,
    names: RefCell<Names>,
    /// Lines of the block after the last pass.
    known: RefCell<Vec<String>>,
}

impl BlockTrace<'_> {
    /// Records a finished pass, which has given the block new names.
    pub fn rename(&self, names: impl FnOnce() -> Names) {
        if let Some(active) = &self.0 {
            active.names.replace(names());
        }
    }

    /// Writes the changes that a pass made to the block.
    pub fn pass(&self, name: &str, lines: impl FnOnce(&Names) -> Vec<String>) {
        let Some(active) = &self.0 else { return };
        let lines = lines(&active.names.borrow());
        let known = active.known.replace(lines.clone());
        if let BlockOutput::Optimizer(block) = &active.output {
            return block.pass(name, &known, &lines);
        }
        let removed = difference(&known, &lines).map(|line| format!("- {line}"));
        let added = difference(&lines, &known).map(|line| format!("+ {line}"));
        active.write(name, removed.chain(added));
    }

    /// Writes the block in its next form, whose lines are all new.
    pub fn form(&self, name: &str, lines: impl FnOnce(&Names) -> Vec<String>) {
        let Some(active) = &self.0 else { return };
        let lines = lines(&active.names.borrow());
        active.write(name, lines.iter().map(|line| format!("+ {line}")));
        active.known.replace(lines);
        if let BlockOutput::Optimizer(block) = &active.output {
            block.end_conditions();
            block.is_physical.set(true);
        }
    }

    /// Writes alternatives that a pass has considered.
    pub fn considered(&self, name: &str, lines: impl FnOnce(&Names) -> Vec<String>) {
        let Some(active) = &self.0 else { return };
        if let BlockOutput::Passes(_) = active.output {
            active.write(name, lines(&active.names.borrow()).into_iter());
        }
    }

    /// Returns whether it is an optimizer trace.
    pub fn is_of_optimizer(&self) -> bool {
        matches!(&self.0, Some(active) if matches!(active.output, BlockOutput::Optimizer(_)))
    }

    /// Writes a step of the optimizer trace.
    pub fn step(&self, name: &'static str, value: impl FnOnce(&Names) -> Node) {
        if let Some(active) = &self.0
            && let BlockOutput::Optimizer(block) = &active.output
        {
            block.step(name, value(&active.names.borrow()));
        }
    }
}

impl ActiveTrace<'_> {
    fn write(&self, name: &str, lines: impl Iterator<Item = String>) {
        let BlockOutput::Passes(text) = &self.output else {
            return;
        };
        let mut text = text.borrow_mut();
        let mut is_first = true;
        for line in lines {
            if std::mem::take(&mut is_first) {
                let _ = writeln!(text, "  {name}");
            }
            let _ = writeln!(text, "    {line}");
        }
    }
}

/// Returns a line for each derived table, with its columns.
pub(super) fn derived_lines<'t>(tables: impl Iterator<Item = (&'t str, &'t TableSource)>) -> Vec<String> {
    let line = |(alias, source): (&str, &TableSource)| {
        let TableSource::Derived(plan) = source else {
            return None;
        };
        let QueryBody::Select(select) = &plan.body else {
            return None;
        };
        let names = Names::of_instances(&select.tables);
        let columns: Vec<String> = select.projection.iter().map(|expr| names.text(expr)).collect();
        Some(format!("{alias} gives {}", columns.join(", ")))
    };
    tables.filter_map(line).collect()
}

/// Adds the lines of conditions that are evaluated once, and of derived tables.
pub(super) fn with_once(
    mut lines: Vec<String>,
    constant: &[Expr],
    tables: &[TableInstance],
    names: &Names,
) -> Vec<String> {
    lines.extend(constant.iter().map(|expr| format!("once {}", names.text(expr))));
    lines.extend(derived_lines(
        tables.iter().map(|table| (&*table.alias, &table.source)),
    ));
    lines
}

/// Tables of one level, in parts for its lines. Inner joins are one list of tables, and their conditions are listed
/// with those of WHERE.
#[derive(Default)]
pub(super) struct Level {
    pub tables: Vec<String>,
    pub outer_joins: Vec<String>,
    pub conditions: Vec<String>,
}

impl Level {
    /// Adds conditions.
    pub fn add_conditions<'e>(&mut self, conditions: impl Iterator<Item = &'e Expr>, names: &Names) {
        self.conditions.extend(conditions.map(|expr| names.text(expr)));
    }

    /// Returns the level as text for the inner side of an outer join.
    pub fn as_outer_join(&self) -> String {
        let parts: Vec<&str> = self
            .tables
            .iter()
            .chain(&self.outer_joins)
            .map(String::as_str)
            .collect();
        let tables = match &parts[..] {
            [table] => (*table).to_owned(),
            parts => format!("({})", parts.join(", ")),
        };
        format!("left join {tables} on {}", self.conditions.join(" and "))
    }

    /// Returns the level as lines.
    pub fn lines(self) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.tables.is_empty() {
            lines.push(format!("from {}", self.tables.join(", ")));
        }
        lines.extend(self.outer_joins);
        lines.extend(
            self.conditions
                .into_iter()
                .map(|condition| format!("where {condition}")),
        );
        lines
    }
}
