//! Keys of ORDER BY.

use paceline_types::Value;

use crate::error::Result;
use crate::execute::collections::temporary_key;
use crate::execute::context::Execution;
use crate::plan::tree::{SortItem, SortKey};
use paceline_expression::{Expr, ExprType};

/// Appends the sort key of a row.
pub(crate) fn append_sort_key(
    exec: &mut Execution<'_, '_>,
    order: &[SortItem],
    projection: &[Expr],
    types: &[ExprType],
    row: &[Value],
    key: &mut Vec<u8>,
) -> Result<()> {
    for item in order {
        let (expr, ty) = match &item.key {
            SortKey::Output(output) => (&projection[*output], &types[*output]),
            SortKey::Expr(expr) => (expr, &expr.ty),
        };
        let value = expr.eval_ref(row, &mut exec.context())?;
        append_sort_value(&value, ty, item.descending, key);
    }
    Ok(())
}

fn append_sort_value(value: &Value, ty: &ExprType, descending: bool, key: &mut Vec<u8>) {
    if descending {
        temporary_key::append_descending(value, ty, key);
    } else {
        temporary_key::append(value, ty, key);
    }
}

/// Appends the sort key of a finished row, whose own columns are the keys.
pub(crate) fn append_output_sort_key(
    exec: &mut Execution<'_, '_>,
    order: &[SortItem],
    types: &[ExprType],
    row: &[Value],
    key: &mut Vec<u8>,
) -> Result<()> {
    for item in order {
        match &item.key {
            SortKey::Output(output) => {
                append_sort_value(&row[*output], &types[*output], item.descending, key)
            }
            SortKey::Expr(expr) => {
                let value = exec.eval(expr, row)?;
                append_sort_value(&value, &expr.ty, item.descending, key);
            }
        }
    }
    Ok(())
}
