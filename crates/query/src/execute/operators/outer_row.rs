//! Outer references: a block's row begins with values of the row of the query around it.

use paceline_types::Value;

use crate::plan::tree::OuterReference;

/// Returns a row of `slot_count` slots: NULL, except for those that take values of the outer row.
pub(crate) fn row_with_outer(
    slot_count: usize,
    references: &[OuterReference],
    outer: &[Value],
) -> Vec<Value> {
    let mut row = vec![Value::Null; slot_count];
    for reference in references {
        row[reference.to] = outer[reference.from].clone();
    }
    row
}
