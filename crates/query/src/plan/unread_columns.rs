//! Columns of derived tables that the query around does not read.
//!
//! MariaDB merges a derived table that is one SELECT about single rows into the query around it, so that an expression
//! which nothing reads is never computed, and cannot fail. Here such a table's rows are made first; what is not read is
//! NULL in them.

use std::sync::Arc;

use super::block::TableRef;
use super::tree::{QueryBody, QueryPlan, SelectPlan, SortKey, TableSource};
use super::unique_id;
use paceline_expression::{Expr, ExprKind};

/// Leaves out what nothing reads of a derived table.
pub(crate) fn leave_out(table: &mut TableRef) {
    let TableSource::Derived(plan) = &table.source else {
        return;
    };
    let QueryBody::Select(select) = &plan.body else {
        return;
    };
    if !is_mergeable(select) {
        return;
    }
    let is_sorted_by = |column: usize| {
        let mut keys = select.order.iter();
        keys.any(|item| matches!(item.key, SortKey::Output(output) if output == column))
    };
    let is_unread = |column: usize| {
        let expr = &select.projection[column];
        !table.used[column] && !is_sorted_by(column) && computes(expr)
    };
    let unread: Vec<usize> = (0..select.projection.len())
        .filter(|column| is_unread(*column))
        .collect();
    if unread.is_empty() {
        return;
    }
    // Other references to a common table expression may read it: they keep the plan that they have.
    let mut select = select.clone();
    for column in &unread {
        select.projection[*column] = Expr::null();
        if let Some(otherwise) = &mut select.otherwise {
            otherwise.select.projection[*column] = Expr::null();
        }
    }
    table.source = TableSource::Derived(Arc::new(QueryPlan {
        id: unique_id(),
        body: QueryBody::Select(select),
        columns: plan.columns.clone(),
        types: plan.types.clone(),
        correlated: plan.correlated,
    }));
}

/// Whether MariaDB would merge a derived table.
pub(crate) fn is_merged(plan: &QueryPlan) -> bool {
    matches!(&plan.body, QueryBody::Select(select) if is_mergeable(select))
}

fn is_mergeable(select: &SelectPlan) -> bool {
    !select.tables.is_empty()
        && select.aggregation.is_none()
        && select.having.is_empty()
        && select.windows.is_none()
        && !select.distinct
        && select.limit.count.is_none()
        && select.limit.offset.is_none()
        && select.projection.iter().all(|expr| !assigns(expr))
}

fn computes(expr: &Expr) -> bool {
    !matches!(expr.kind, ExprKind::Column(_) | ExprKind::Literal(_))
}

fn assigns(expr: &Expr) -> bool {
    expr.any(&mut |node| matches!(node.kind, ExprKind::AssignUserVariable { .. }))
}
