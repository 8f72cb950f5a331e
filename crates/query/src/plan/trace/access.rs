//! Steps of a join as text: how each table is read, and how its rows are processed.

use super::super::tree::{
    AccessPath, GroupEnds, GroupStrategy, JoinKind, JoinStep, ScanDirection, SelectPlan, SortKey, StepSource,
    TableAccess, TableInstance, TableSource,
};
use super::expression::{Names, column_name};

/// The plan of a block.
pub(in super::super) struct Physical<'s>(pub &'s SelectPlan);

impl Physical<'_> {
    /// Returns its lines: one for each way to read a table, and one for each later operation on the rows.
    pub fn lines(&self, names: &Names) -> Vec<String> {
        let select = self.0;
        let mut lines = Vec::new();
        for condition in &select.constant_conditions {
            lines.push(format!("once: check {}", names.text(condition)));
        }
        if let Some(reason) = select.impossible {
            lines.push(format!("no rows: {reason}"));
        }
        self.steps(&select.steps, names, &mut lines);
        if let Some(aggregation) = &select.aggregation {
            let keys: Vec<String> = aggregation.groups.iter().map(|group| names.text(group)).collect();
            let how = match &aggregation.strategy {
                GroupStrategy::Single => "one group of all rows".to_owned(),
                GroupStrategy::Ordered => format!("groups of {}: rows come in this order", keys.join(", ")),
                GroupStrategy::Hash => format!("groups of {}: in a hash table", keys.join(", ")),
                GroupStrategy::IndexEnds(_) => "one row for each aggregate: an end of an index".to_owned(),
            };
            lines.push(how);
            if let GroupStrategy::IndexEnds(ends) = &aggregation.strategy {
                for (steps, (aggregate, _)) in ends.iter().zip(&aggregation.aggregates) {
                    let mut end = Vec::new();
                    self.steps(steps, names, &mut end);
                    let function = format!("{:?}", aggregate.function).to_lowercase();
                    lines.extend(end.into_iter().map(|line| format!("{function}: {line}")));
                }
            }
        }
        let keys = select.order.iter().map(|item| {
            let expr = match &item.key {
                SortKey::Output(output) => &select.projection[*output],
                SortKey::Expr(expr) => expr,
            };
            let direction = if item.descending { " descending" } else { "" };
            names.text(expr) + direction
        });
        let keys: Vec<String> = keys.collect();
        if !keys.is_empty() {
            lines.push(format!("sort by {}", keys.join(", ")));
        }
        lines
    }

    fn steps(&self, steps: &[JoinStep], names: &Names, lines: &mut Vec<String>) {
        for step in steps {
            match &step.source {
                StepSource::Table(access) => self.step(step, access, names, lines),
                StepSource::Nest(inner) => {
                    lines.push("nest, where no row matches NULLs:".to_owned());
                    let mut nested = Vec::new();
                    self.steps(inner, names, &mut nested);
                    lines.extend(nested.into_iter().map(|line| format!("  {line}")));
                    for condition in &step.filter {
                        lines.push(format!("after the nest: check {}", names.text(condition)));
                    }
                }
            }
        }
    }

    fn step(&self, step: &JoinStep, access: &TableAccess, names: &Names, lines: &mut Vec<String>) {
        let table = &self.0.tables[access.table];
        let alias = &table.alias;
        let mut line = format!("{alias}: {}", path(&access.path, table, names));
        if access.direction == ScanDirection::Backward {
            line += ", from the end";
        }
        line += &about(access.rows);
        line += match step.kind {
            JoinKind::Inner => "",
            JoinKind::Left => "; NULLs where none matches",
            JoinKind::Semi => "; once however many match",
        };
        lines.push(line);
        if let Some(loose) = &access.loose {
            let ends = match loose.ends {
                GroupEnds::One => "one entry",
                GroupEnds::Least => "the least entry",
                GroupEnds::Greatest => "the greatest entry",
                GroupEnds::Both => "the least and the greatest entry",
            };
            let columns = first_columns(table, access.path.index(), loose.parts);
            lines.push(format!("{alias}: {ends} of each {columns}"));
        }
        if access.key_only {
            lines.push(format!("{alias}: the keys alone"));
        }
        if let Some(covering) = &access.covering {
            lines.push(format!("{alias}: entries of the index without their rows"));
            if let Some(rest) = &covering.rest {
                let texts: Vec<String> = rest.iter().map(|expr| names.text(expr)).collect();
                if texts.is_empty() && !step.filter.is_empty() {
                    lines.push(format!("{alias}: the entries pass all conditions"));
                } else if texts.len() < step.filter.len() {
                    lines.push(format!("{alias}: left to check is {}", texts.join(" and ")));
                }
            }
        }
        for condition in &step.on {
            lines.push(format!("{alias}: match {}", names.text(condition)));
        }
        for condition in &step.filter {
            lines.push(format!("{alias}: check {}", names.text(condition)));
        }
        if let Some(early) = &access.early {
            let columns = |columns: &[usize]| {
                let names: Vec<String> = columns.iter().map(|&column| column_name(table, column)).collect();
                names.join(", ")
            };
            lines.push(format!(
                "{alias}: decode {} for the first {}, then {}",
                columns(&early.columns),
                match early.conditions {
                    1 => "condition".to_owned(),
                    count => format!("{count} conditions"),
                },
                columns(&early.later_columns)
            ));
        }
    }
}

/// Returns the line for a table's best way on its own, before other tables are considered.
pub(in super::super) fn describe_alone(
    path: &AccessPath,
    rows: f64,
    table: &TableInstance,
    names: &Names,
) -> String {
    format!(
        "{}: {}{}",
        table.alias,
        self::path(path, table, names),
        about(rows)
    )
}

fn about(rows: f64) -> String {
    match rows.round() {
        rows if rows <= 1.0 => ", about 1 row".to_owned(),
        rows => format!(", about {rows} rows"),
    }
}

fn first_columns(table: &TableInstance, index: Option<usize>, count: usize) -> String {
    let (TableSource::Base(definition), Some(index)) = (&table.source, index) else {
        return String::new();
    };
    let parts = definition.indexes()[index].parts.iter().take(count);
    let names: Vec<String> = parts.map(|part| column_name(table, part.column)).collect();
    names.join(", ")
}

fn path(path: &AccessPath, table: &TableInstance, names: &Names) -> String {
    let index_name = |index: usize| match &table.source {
        TableSource::Base(definition) => definition.indexes()[index].name.as_str(),
        _ => "",
    };
    match path {
        AccessPath::All => "all rows".to_owned(),
        AccessPath::Index { index } => format!("all of index {}", index_name(*index)),
        AccessPath::Lookup { index, key, unique } => {
            let values: Vec<String> = key.iter().map(|part| names.text(&part.value)).collect();
            let unique = if *unique { ", unique" } else { "" };
            format!("index {} = ({}){unique}", index_name(*index), values.join(", "))
        }
        AccessPath::Range { index, condition } => {
            format!(
                "ranges of index {}: {}",
                index_name(*index),
                names.range(condition, table)
            )
        }
        AccessPath::Union { parts } => {
            let range = |(index, condition): &(usize, _)| {
                format!(
                    "ranges of index {}: {}",
                    index_name(*index),
                    names.range(condition, table)
                )
            };
            let parts: Vec<String> = parts.iter().map(range).collect();
            format!("union of {}", parts.join(" with "))
        }
        AccessPath::Hash { keys, source } => {
            let keys: Vec<String> = keys
                .iter()
                .map(|key| format!("{} = {}", names.text(&key.inner), names.text(&key.outer)))
                .collect();
            let mut text = match keys.is_empty() {
                true => "list".to_owned(),
                false => format!("hash table by {}", keys.join(" and ")),
            };
            if let StepSource::Table(access) = &source.source {
                text += &format!(", filled with {}", self::path(&access.path, table, names));
            }
            let checks: Vec<String> = source.filter.iter().map(|expr| names.text(expr)).collect();
            if !checks.is_empty() {
                text += &format!(" that pass {}", checks.join(" and "));
            }
            text
        }
    }
}
