//! Names of the slots of a block's rows, in the form of error 1690: `` `db`.`t`.`a` ``.
//!
//! A column has the table's name in the query. A column of a derived table that MariaDB would merge is printed as the
//! expression that it stands for, a column of an outer query under its name there, and an aggregate as a function, or
//! as `tmp_field` if MariaDB keeps the groups in a temporary table.

use super::result_column::ResultColumn;
use super::tree::{GroupStrategy, QueryBody, SelectPlan, TableInstance, TableSource};
use paceline_expression::{Expr, SlotNames, append_aggregate, append_expression, append_quoted};
use paceline_types::Value;

/// Names of a block's slots, from its plan.
pub(crate) struct BlockNames<'p> {
    select: &'p SelectPlan,
    /// Columns of the result; empty for rows that a statement changes.
    columns: &'p [ResultColumn],
    outer: Option<&'p dyn SlotNames>,
}

impl<'p> BlockNames<'p> {
    /// Returns the names of a block within the block of `outer`.
    pub fn new(select: &'p SelectPlan, outer: Option<&'p dyn SlotNames>) -> Self {
        BlockNames {
            select,
            columns: &[],
            outer,
        }
    }

    /// Adds the columns of the result.
    pub fn with_columns(self, columns: &'p [ResultColumn]) -> Self {
        BlockNames { columns, ..self }
    }
}

impl SlotNames for BlockNames<'_> {
    fn append_slot(&self, slot: usize, parameters: &[Value], out: &mut String) {
        let is_of = |table: &&TableInstance| table.slots.contains(&slot);
        if let Some(table) = self.select.tables.iter().find(is_of) {
            return append_column(table, slot - table.slots.start, parameters, out);
        }
        if let Some(reference) = self.select.outer.iter().find(|outer| outer.to == slot) {
            if let Some(outer) = self.outer {
                outer.append_slot(reference.from, parameters, out);
            }
            return;
        }
        let Some(aggregation) = &self.select.aggregation else {
            return;
        };
        if let Some((aggregate, _)) = aggregation.aggregates.iter().find(|(_, result)| *result == slot) {
            match aggregation.strategy {
                GroupStrategy::Hash => append_quoted("tmp_field", out),
                _ => append_aggregate(aggregate, self, parameters, out),
            }
        }
    }

    fn item_name(&self, place: usize) -> Option<&str> {
        let is_there = |item: &Expr| std::ptr::from_ref(item).addr() == place;
        let item = self.select.projection.iter().position(is_there)?;
        Some(&self.columns.get(item)?.name)
    }

    fn append_column(&self, slot: usize, out: &mut String) -> bool {
        let is_of = |table: &&TableInstance| table.slots.contains(&slot);
        if let Some(table) = self.select.tables.iter().find(is_of) {
            let TableSource::Base(definition) = &table.source else {
                return false;
            };
            return definition
                .description()
                .append_column(slot - table.slots.start, out);
        }
        let reference = self.select.outer.iter().find(|outer| outer.to == slot);
        match (reference, self.outer) {
            (Some(reference), Some(outer)) => outer.append_column(reference.from, out),
            _ => false,
        }
    }
}

fn append_column(table: &TableInstance, column: usize, parameters: &[Value], out: &mut String) {
    let name = match &table.source {
        TableSource::Base(definition) => {
            append_quoted(&table.database, out);
            out.push('.');
            definition.columns()[column].name.as_str()
        }
        TableSource::Derived(plan) => {
            if let QueryBody::Select(select) = &plan.body
                && plan.is_mergeable()
            {
                let names = BlockNames::new(select, None);
                return append_expression(&select.projection[column], &names, parameters, out);
            }
            plan.columns[column].name.as_ref()
        }
        TableSource::Series(_) => "seq",
        TableSource::Json(json) => json.column_name(column),
        // Their definitions are not part of the plan.
        TableSource::MergedView | TableSource::Recursive(_) | TableSource::Virtual { .. } => {
            return append_quoted(&table.alias, out);
        }
    };
    append_quoted(&table.alias, out);
    out.push('.');
    append_quoted(name, out);
}
