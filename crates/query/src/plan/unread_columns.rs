//! Columns of derived tables that the outer query does not read.
//!
//! MariaDB merges a derived table that is one SELECT without grouping and the like into the outer query. So an
//! expression that is not read is never computed and cannot fail. Here the rows of such a table are computed first,
//! with NULL in the columns that are not read.

use std::sync::Arc;

use super::table_ref::TableRef;
use super::tree::{QueryBody, QueryPlan, SortKey, TableSource};
use super::unique_id;
use paceline_expression::{Expr, ExprKind};

/// Replaces the expressions of a derived table that are not read by NULL.
pub(crate) fn leave_out(table: &mut TableRef) {
    let TableSource::Derived(plan) = &table.source else {
        return;
    };
    let QueryBody::Select(select) = &plan.body else {
        return;
    };
    if !select.is_mergeable() {
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
    // Other references to a common table expression may read these columns: they keep their plan.
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

fn computes(expr: &Expr) -> bool {
    !matches!(expr.kind, ExprKind::Column(_) | ExprKind::Literal(_))
}
