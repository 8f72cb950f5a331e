//! Conditions that are checked before the whole row is decoded.
//!
//! Decoding is a large part of the cost of a scan: a DECIMAL takes as long as the step to the next row. If the first
//! conditions of a table read only some of the used columns, the other columns are decoded only for rows that pass. The
//! order of the conditions does not change.

use super::tree::{
    EarlyConditions, JoinKind, JoinStep, ReadMode, SelectPlan, StepSource, TableInstance, TableSource,
};
use paceline_expression::{Expr, ExprKind};

/// Sets [`super::tree::TableAccess::early`] if it saves work. The used columns must be known.
pub(crate) fn check_early(select: &mut SelectPlan) {
    if select.read != ReadMode::Snapshot || select.keep_row_handles {
        return;
    }
    let tables = &select.tables;
    in_steps(&mut select.steps, tables);
}

fn in_steps(steps: &mut [JoinStep], tables: &[TableInstance]) {
    for step in steps {
        let JoinStep {
            kind,
            on,
            filter,
            source,
            ..
        } = step;
        match source {
            StepSource::Nest(inner) => in_steps(inner, tables),
            StepSource::Table(access) => {
                access.early = match (kind, &on[..]) {
                    (JoinKind::Inner | JoinKind::Semi, []) => {
                        early(&tables[access.table], filter).map(Box::new)
                    }
                    _ => None,
                };
            }
        }
    }
}

fn early(table: &TableInstance, conditions: &[Expr]) -> Option<EarlyConditions> {
    if !matches!(table.source, TableSource::Base(_)) || !table.padding.is_empty() {
        return None;
    }
    let mut columns: Vec<usize> = Vec::new();
    let mut number = 0;
    for condition in conditions {
        let read = columns_of(table, condition);
        // A condition that reads no more columns is checked with those before it.
        if number > 0 && read.iter().any(|column| !columns.contains(column)) {
            break;
        }
        columns.extend(read);
        number += 1;
    }
    columns.sort_unstable();
    columns.dedup();
    columns.retain(|column| table.used.contains(column));
    let later_columns: Vec<usize> = (table.used.iter().copied())
        .filter(|column| !columns.contains(column))
        .collect();
    (number > 0 && !later_columns.is_empty()).then_some(EarlyConditions {
        conditions: number,
        columns,
        later_columns,
    })
}

/// Returns the columns of a table that a condition reads.
fn columns_of(table: &TableInstance, condition: &Expr) -> Vec<usize> {
    let mut slots: Vec<usize> = Vec::new();
    condition.visit(&mut |node| match &node.kind {
        ExprKind::Column(slot) => slots.push(*slot),
        ExprKind::ScalarSubquery(subquery)
        | ExprKind::Exists { subquery, .. }
        | ExprKind::Quantified { subquery, .. } => slots.extend(&subquery.outer_slots),
        _ => {}
    });
    slots.retain(|slot| table.slots.contains(slot));
    slots.iter().map(|slot| slot - table.slots.start).collect()
}
