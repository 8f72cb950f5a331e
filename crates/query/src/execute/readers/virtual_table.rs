//! Reader of virtual tables, whose rows the server computes: it gets the tests that the conditions imply.

use paceline_types::{Collation, Value};

use crate::error::Result;
use crate::execute::context::Execution;
use crate::plan::tree::TableInstance;
use paceline_expression::session::{NameTest, VirtualColumn, WantedRows};
use paceline_expression::{CompareOp, Comparison, Escape, Expr, ExprKind};

/// Returns the rows of a virtual table for which the conditions may hold. `row` is the row of the tables before it.
pub(crate) fn rows(
    exec: &mut Execution<'_, '_>,
    instance: &TableInstance,
    (database, table): (&str, &str),
    conditions: &[Expr],
    row: &[Value],
) -> Result<Vec<Vec<Value>>> {
    let tables = exec.session.services.virtual_tables.clone();
    let columns = tables.columns(database, table).unwrap_or_default();
    let used = instance.used.iter().filter_map(|&column| columns.get(column));
    let mut wanted = WantedRows::all().with_columns(used.map(|column| column.name.clone()).collect());
    for condition in conditions {
        if let Some((column, test)) = test(exec, instance, &columns, condition, row)? {
            wanted = wanted.with_test(&column, test);
        }
    }
    tables.rows(exec.session, database, table, &wanted)
}

/// Returns the test that a condition implies for one column.
fn test(
    exec: &mut Execution<'_, '_>,
    instance: &TableInstance,
    columns: &[VirtualColumn],
    condition: &Expr,
    row: &[Value],
) -> Result<Option<(String, NameTest)>> {
    let own = |expr: &Expr| match expr.kind {
        ExprKind::Column(slot) => instance.slots.contains(&slot),
        _ => false,
    };
    let named = |expr: &Expr| match expr.kind {
        ExprKind::Column(slot) => columns
            .get(slot.checked_sub(instance.slots.start)?)
            .map(|column| column.name.clone()),
        _ => None,
    };
    let known = |expr: &Expr| {
        expr.is_stable()
            && !expr.any(&mut |node| {
                own(node)
                    || matches!(
                        node.kind,
                        ExprKind::ScalarSubquery(_) | ExprKind::Exists { .. } | ExprKind::Quantified { .. }
                    )
            })
    };
    let collation = |by: &Comparison| match by {
        Comparison::Text(collation) => Some(*collation),
        // Whatever collation it will be, it distinguishes no more than this one.
        Comparison::Dynamic { .. } => Some(Collation::Utf8mb4GeneralCi),
        _ => None,
    };
    match &condition.kind {
        ExprKind::Compare {
            op: CompareOp::Eq | CompareOp::NullSafeEq,
            by,
            operands,
        } => {
            let [left, right] = &**operands;
            let (subject, value) = if own(left) { (left, right) } else { (right, left) };
            let (Some(column), Some(collation)) = (named(subject), collation(by)) else {
                return Ok(None);
            };
            if !own(subject) || !known(value) {
                return Ok(None);
            }
            Ok(match exec.eval(value, row)? {
                Value::Text(name) => Some((
                    column,
                    NameTest::OneOf {
                        names: vec![name],
                        collation,
                    },
                )),
                _ => None,
            })
        }
        ExprKind::InList {
            by,
            negated: false,
            needle,
            list,
            ..
        } => {
            let Some(column) = named(needle).filter(|_| own(needle)) else {
                return Ok(None);
            };
            let first = by.first();
            let Some(collation) = first.and_then(collation) else {
                return Ok(None);
            };
            if by.iter().any(|by| Some(by) != first) || !list.iter().all(known) {
                return Ok(None);
            }
            let mut names = Vec::with_capacity(list.len());
            for value in list {
                match exec.eval(value, row)? {
                    Value::Text(name) => names.push(name),
                    Value::Null => {}
                    _ => return Ok(None),
                }
            }
            Ok(Some((column, NameTest::OneOf { names, collation })))
        }
        ExprKind::Like {
            negated: false,
            collation,
            escape: Escape::Character(escape),
            operands,
        } => {
            let [subject, pattern] = &**operands;
            let Some(column) = named(subject).filter(|_| own(subject)) else {
                return Ok(None);
            };
            if !known(pattern) {
                return Ok(None);
            }
            Ok(match exec.eval(pattern, row)? {
                Value::Text(pattern) => Some((
                    column,
                    NameTest::Like {
                        pattern,
                        escape: *escape,
                        collation: *collation,
                    },
                )),
                _ => None,
            })
        }
        _ => Ok(None),
    }
}
