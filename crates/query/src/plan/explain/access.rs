//! Line of a table: how it is read, in MariaDB's terms.

use super::line::{BufferNotes, Line};
use crate::plan::trace::Names;
use crate::plan::tree::{
    AccessPath, GroupEnds, HashKey, JoinKind, JoinStep, SelectPlan, StepSource, TableAccess, TableSource,
};
use paceline_catalog::{IndexDefinition, IndexKind, TableDefinition};
use paceline_expression::{Expr, ExprKind};
use paceline_types::{Collation, DataType};

/// Returns an estimated number of rows for a line.
pub(super) fn rows(estimate: f64) -> u64 {
    estimate.round().max(1.0) as u64
}

/// Returns the line of a table. The first one of a block also has the remarks about the block.
pub(super) fn access_line(
    (select, names): (&SelectPlan, &Names),
    step: &JoinStep,
    access: &TableAccess,
    select_type: &'static str,
    block_extra: &mut Vec<&'static str>,
) -> Line {
    let table = &select.tables[access.table];
    let definition = match &table.source {
        TableSource::Base(definition) => Some(definition),
        _ => None,
    };
    let name = match &table.source {
        TableSource::Derived(plan) if !table.distinct => format!("<derived{}>", plan.first_select_number()),
        _ => table.alias.to_string(),
    };
    let mut line = Line {
        id: Some(select.number),
        select_type,
        table: Some(name),
        ..Line::default()
    };
    let mut extra: Vec<String> = Vec::new();
    let mut used = 0;
    let mut joined_by = None;
    match &access.path {
        AccessPath::All => {
            line.access = Some(if access.key_only { "index" } else { "ALL" });
            if access.key_only
                && let Some(definition) = definition
                && let paceline_storage::RowPlacement::Key(index) = definition.schema().clustered()
            {
                set_key(
                    &mut line,
                    definition,
                    index,
                    definition.indexes()[index].parts.len(),
                );
            } else if access.key_only {
                line.access = Some("ALL");
            }
            line.rows = Some(rows(access.rows));
        }
        AccessPath::Index { index } => {
            line.access = Some("index");
            line.rows = Some(rows(access.rows));
            if let Some(definition) = definition {
                set_key(
                    &mut line,
                    definition,
                    *index,
                    definition.indexes()[*index].parts.len(),
                );
            }
        }
        AccessPath::Lookup { index, key, unique } => {
            let constant = key.iter().all(|part| part.value.is_constant_during_execution());
            line.access = Some(match (*unique, constant) {
                (true, true) => "const",
                (true, false) => "eq_ref",
                (false, _) => "ref",
            });
            line.rows = Some(rows(access.rows));
            used = key.len();
            if let Some(definition) = definition {
                set_key(&mut line, definition, *index, key.len());
            }
            let references: Vec<String> = key
                .iter()
                .map(|part| reference_name(select, &part.value))
                .collect();
            line.reference = Some(references.join(","));
        }
        AccessPath::Range { index, condition } => {
            line.access = Some("range");
            line.rows = Some(rows(access.rows));
            used = usize::MAX;
            if let Some(definition) = definition {
                let parts = &definition.indexes()[*index].parts;
                let count = parts
                    .iter()
                    .take_while(|part| condition.restricts(part.column))
                    .count();
                set_key(&mut line, definition, *index, count.max(1));
            }
        }
        AccessPath::Union { parts } => {
            line.access = Some("index_merge");
            line.rows = Some(rows(access.rows));
            if let Some(definition) = definition {
                let mut keys: Vec<&str> = Vec::new();
                let mut lengths: Vec<String> = Vec::new();
                for (index, condition) in parts {
                    let index = &definition.indexes()[*index];
                    let count = index
                        .parts
                        .iter()
                        .take_while(|part| condition.restricts(part.column))
                        .count();
                    keys.push(&index.name);
                    lengths.push(key_length(definition, index, count.max(1)).to_string());
                    let columns = column_names(definition, index, count.max(1));
                    line.notes.merged_keys.push((index.name.clone(), columns));
                }
                extra.push(format!("Using union({})", keys.join(",")));
                line.key = Some(keys.join(","));
                line.key_len = Some(lengths.join(","));
            }
        }
        AccessPath::Hash { keys, source } if keys.is_empty() => {
            if let StepSource::Table(kept) = &source.source {
                let plain = access_line((select, names), source, kept, select_type, &mut Vec::new());
                line.access = plain.access;
                (line.key, line.key_len) = (plain.key, plain.key_len);
                (line.reference, line.rows) = (plain.reference, plain.rows);
                line.notes.key_parts = plain.notes.key_parts;
            }
            used = usize::MAX;
            if !source.filter.is_empty() && step.on.len() + step.filter.len() == 0 {
                extra.push("Using where".to_owned());
            }
            joined_by = Some("Using join buffer (flat, BNL join)");
        }
        AccessPath::Hash { keys, .. } => {
            line.access = Some("hash_ALL");
            line.key = Some("#hash#$hj".to_owned());
            line.rows = Some(rows(table.row_estimate));
            joined_by = Some("Using join buffer (flat, BNLH join)");
            let references: Vec<String> = keys
                .iter()
                .map(|key| reference_name(select, &key.outer))
                .collect();
            line.reference = Some(references.join(","));
        }
    }
    if let (Some(loose), Some(definition), Some(index)) = (access.loose, definition, access.path.index()) {
        line.access = Some("range");
        line.rows = Some(rows(access.rows));
        let parts = loose.parts + usize::from(loose.ends != GroupEnds::One);
        set_key(&mut line, definition, index, parts);
    }
    if let Some(definition) = definition
        && !access.possible.is_empty()
    {
        let possible: Vec<&str> = access
            .possible
            .iter()
            .map(|&index| definition.indexes()[index].name.as_str())
            .collect();
        line.possible_keys = Some(possible.join(","));
    }
    let conditions = step.on.len() + step.filter.len();
    let has_conditions = conditions > used || (used == usize::MAX && conditions > 0);
    if matches!(table.source, TableSource::Json(_)) {
        extra.push("Table function: json_table".to_owned());
        line.notes.table_function = Some("json_table");
    }
    if has_conditions {
        extra.push("Using where".to_owned());
    }
    let checked = || step.on.iter().chain(&step.filter).map(|expr| names.term(expr));
    match &access.path {
        AccessPath::Hash { keys, source } => {
            let equal = |key: &HashKey| format!("{} = {}", names.text(&key.inner), names.text(&key.outer));
            line.notes.condition = conjunction(source.filter.iter().map(|expr| names.term(expr)));
            line.notes.buffer = Some(BufferNotes {
                join_type: if keys.is_empty() { "BNL" } else { "BNLH" },
                condition: conjunction(keys.iter().map(equal).chain(checked())),
                bytes: None,
                measure: None,
            });
        }
        _ if has_conditions => line.notes.condition = conjunction(checked()),
        _ => {}
    }
    line.notes.loose = access.loose.is_some();
    line.notes.index_only = access.key_only || access.covering.is_some();
    line.notes.first_match = step.kind == JoinKind::Semi;
    if access.loose.is_some() {
        extra.push("Using index for group-by".to_owned());
    } else if access.key_only || access.covering.is_some() {
        extra.push("Using index".to_owned());
    }
    if step.kind == JoinKind::Semi {
        extra.push("FirstMatch".to_owned());
    }
    extra.extend(block_extra.drain(..).map(str::to_owned));
    extra.extend(joined_by.map(str::to_owned));
    line.extra = extra.join("; ");
    line
}

fn set_key(line: &mut Line, definition: &TableDefinition, index: usize, parts: usize) {
    let index = &definition.indexes()[index];
    line.key = Some(index.name.clone());
    line.key_len = Some(key_length(definition, index, parts).to_string());
    line.notes.key_parts = column_names(definition, index, parts);
}

/// Returns the names of the first columns of an index.
fn column_names(definition: &TableDefinition, index: &IndexDefinition, parts: usize) -> Vec<String> {
    let parts = index.parts.iter().take(parts);
    parts
        .map(|part| definition.columns()[part.column].name.clone())
        .collect()
}

/// Returns conditions as one text; `None` if there are none.
pub(super) fn conjunction(conditions: impl Iterator<Item = String>) -> Option<String> {
    let conditions: Vec<String> = conditions.collect();
    (!conditions.is_empty()).then(|| conditions.join(" and "))
}

/// Returns the length in bytes of the first parts of an index in MariaDB's key format.
fn key_length(definition: &TableDefinition, index: &IndexDefinition, parts: usize) -> usize {
    index
        .parts
        .iter()
        .take(parts)
        .map(|part| {
            let column = &definition.columns()[part.column];
            let null = usize::from(column.nullable && index.kind != IndexKind::Primary);
            let characters = |length: u32, collation: Collation| {
                let length = part.prefix_length.map_or(length, |prefix| prefix.min(length));
                (length * collation.charset().max_bytes_per_character()) as usize
            };
            null + match &column.data_type {
                DataType::Integer(integer) => integer.width.bytes(),
                DataType::Decimal(decimal) => {
                    paceline_types::Decimal::binary_length(decimal.precision, decimal.scale)
                }
                DataType::Float(_) => 4,
                DataType::Double(_) => 8,
                DataType::Bit { length } => usize::from(length.div_ceil(8)),
                DataType::Char { length, collation } => characters(u32::from(*length), *collation),
                DataType::VarChar { length, collation } => 2 + characters(*length, *collation),
                DataType::Text { collation, .. } => 2 + characters(u32::MAX / 8, *collation),
                DataType::Binary { length } => usize::from(*length),
                DataType::VarBinary { length } => 2 + part.prefix_length.unwrap_or(*length) as usize,
                DataType::Blob { .. } => 2 + part.prefix_length.unwrap_or(0) as usize,
                DataType::Json => 2 + characters(u32::MAX / 8, Collation::Utf8mb4Bin),
                DataType::Date => 3,
                DataType::Time { decimals } => 3 + usize::from(decimals.div_ceil(2)),
                DataType::DateTime { decimals } => 5 + usize::from(decimals.div_ceil(2)),
                DataType::Timestamp { decimals } => 4 + usize::from(decimals.div_ceil(2)),
                DataType::Year => 1,
                DataType::Enum { labels, .. } => {
                    if labels.len() < 256 {
                        1
                    } else {
                        2
                    }
                }
                DataType::Set { labels, .. } => labels.len().div_ceil(8).next_power_of_two().min(8),
                DataType::FixedBinary(t) => t.bytes(),
            }
        })
        .sum()
}

/// Returns the description of a lookup's value: a column of another table, or a constant.
fn reference_name(select: &SelectPlan, expr: &Expr) -> String {
    if let ExprKind::Column(slot) = expr.kind {
        for table in &select.tables {
            if table.slots.contains(&slot) {
                let column = slot - table.slots.start;
                let name = match &table.source {
                    TableSource::Base(definition) => definition.columns()[column].name.clone(),
                    TableSource::Derived(plan) => plan.columns[column].name.to_string(),
                    TableSource::Series(_) => "seq".to_owned(),
                    TableSource::Json(json) => json.column_name(column).to_owned(),
                    TableSource::Recursive(_) | TableSource::Virtual { .. } | TableSource::MergedView => {
                        String::new()
                    }
                };
                return if table.database.is_empty() {
                    format!("{}.{name}", table.alias)
                } else {
                    format!("{}.{}.{name}", table.database, table.alias)
                };
            }
        }
    }
    let mut columns = 0;
    expr.visit(&mut |node| columns += usize::from(matches!(node.kind, ExprKind::Column(_))));
    if columns == 0 {
        "const".to_owned()
    } else {
        "func".to_owned()
    }
}
