//! `IN (SELECT …)` as a join with the subquery's distinct rows.
//!
//! An uncorrelated subquery of IN that is a conjunct of WHERE becomes another table of FROM, whose distinct rows are
//! computed once. Then the optimizer decides whether it is the first table of the join (its values are searched in an
//! index of the other table) or is probed as a hash table.

use std::sync::Arc;

use paceline_types::DataType;

use super::Planner;
use super::block::Block;
use super::from::FromNode;
use super::table_ref::{TableColumn, TableRef};
use super::tree::{QueryPlan, TableSource};
use crate::error::Result;
use paceline_expression::{Class, CompareOp, Comparison, Correlation, Expr, ExprKind, ExprType, Quantifier};

/// Converts the conditions that allow it to tables.
pub(crate) fn convert(
    block: &mut Block<'_, '_>,
    from: &mut Option<FromNode>,
    conditions: &mut Vec<Expr>,
) -> Result<()> {
    if from.is_none() {
        return Ok(());
    }
    let mut number = 0;
    while number < conditions.len() {
        match candidate(&conditions[number], block.planner) {
            Some(plan) if block.tables.len() < super::table_ref::TABLES_MAX => {
                let condition = conditions.remove(number);
                add(block, from, conditions, condition, plan);
            }
            _ => number += 1,
        }
    }
    Ok(())
}

/// Returns the plan of a condition's subquery; `None` if the condition cannot be converted.
fn candidate(condition: &Expr, planner: &Planner<'_>) -> Option<Arc<QueryPlan>> {
    let ExprKind::Quantified {
        op: CompareOp::Eq,
        by,
        quantifier: Quantifier::Any,
        left,
        subquery,
    } = &condition.kind
    else {
        return None;
    };
    if subquery.correlation != Correlation::Uncorrelated {
        return None;
    }
    // A constant on the left needs no join.
    let mut columns = 0;
    left.visit(&mut |node| {
        columns += usize::from(matches!(node.kind, ExprKind::Column(_)));
    });
    if columns == 0 || left.any(&mut |node| matches!(node.kind, ExprKind::ScalarSubquery(_))) {
        return None;
    }
    let plan = planner.subquery(subquery.id);
    let rules: &[Comparison] = match &by[..] {
        [Comparison::Row(rules)] => rules,
        rules => rules,
    };
    if rules.len() != plan.types.len()
        || !rules
            .iter()
            .zip(&plan.types)
            .all(|(rule, ty)| distinct_means_distinct(rule, ty))
    {
        return None;
    }
    Some(plan)
}

/// Returns whether different values of this type never equal the same value by this rule.
fn distinct_means_distinct(rule: &Comparison, ty: &ExprType) -> bool {
    match rule {
        Comparison::Int => ty.class() == Class::Int,
        Comparison::Decimal => matches!(ty.class(), Class::Int | Class::Decimal),
        Comparison::Double => ty.class() == Class::Double,
        Comparison::Text(collation) => {
            ty.data_type.is_text()
                && !matches!(ty.data_type, DataType::Json)
                && ty.data_type.collation() == *collation
        }
        Comparison::Bytes => ty.data_type.is_binary_string(),
        Comparison::DateTime => matches!(ty.class(), Class::Date | Class::DateTime),
        Comparison::Time => ty.class() == Class::Time,
        Comparison::FixedBinary(t) => ty.class() == Class::FixedBinary(*t),
        Comparison::FixedDouble(_) | Comparison::Dynamic { .. } | Comparison::Row(_) => false,
    }
}

fn add(
    block: &mut Block<'_, '_>,
    from: &mut Option<FromNode>,
    conditions: &mut Vec<Expr>,
    condition: Expr,
    plan: Arc<QueryPlan>,
) {
    let ExprKind::Quantified { by, left, .. } = condition.kind else {
        unreachable!("it was a candidate")
    };
    let table = block.tables.len();
    let alias: Arc<str> = format!("<subquery{}>", plan.first_select_number()).into();
    let columns: Vec<TableColumn> = plan
        .columns
        .iter()
        .zip(&plan.types)
        .map(|(column, ty)| TableColumn {
            result: column.clone(),
            ty: ty.clone(),
            invisible: true,
        })
        .collect();
    let base = block.allocate(columns.len());
    let used = vec![true; columns.len()];
    let types = plan.types.clone();
    block.tables.push(TableRef {
        alias,
        database: Arc::from(""),
        base,
        columns,
        source: TableSource::Derived(plan),
        used,
        nullable: false,
        hints: Vec::new(),
        distinct: true,
        owner: block.owner,
        access: block.planner.access(),
        view: None,
        merged: None,
        number: None,
    });
    let rules: Vec<Comparison> = match <[Comparison; 1]>::try_from(by) {
        Ok([Comparison::Row(rules)]) => rules,
        Ok([rule]) => vec![rule],
        Err(rules) => rules,
    };
    let lefts = match left.kind {
        ExprKind::Row(parts) => parts,
        kind => vec![Expr { kind, ty: left.ty }],
    };
    for (column, ((left, by), ty)) in lefts.into_iter().zip(rules).zip(types).enumerate() {
        let right = Expr::column(base + column, ty);
        let kind = ExprKind::Compare {
            op: CompareOp::Eq,
            by,
            operands: Box::new([left, right]),
        };
        conditions.push(Expr {
            kind,
            ty: ExprType::boolean().nullable(),
        });
    }
    let known = from.take().into_iter();
    let parts = known.chain(std::iter::once(FromNode::Table(table))).collect();
    *from = Some(FromNode::Inner {
        parts,
        on: Vec::new(),
        straight: false,
    });
}
