//! Aggregates of libraries over frames. Rows that leave a frame are removed if the function can do that; otherwise the
//! frame's rows are added again.

use std::ops::Range;

use paceline_types::{Decimal, Value};

use super::frame::Frames;
use crate::error::Result;
use crate::execute::context::Execution;
use paceline_expression::{Aggregate, Class, GroupCall};

/// Appends the results for a partition. `args` are the values of each argument for all rows.
pub(super) fn over_frames(
    exec: &mut Execution<'_, '_>,
    aggregate: &Aggregate,
    args: &[Vec<Value>],
    mut frames: Frames<'_>,
    partition: Range<usize>,
    results: &mut Vec<Value>,
) -> Result<()> {
    let can_remove = GroupCall::can_remove(aggregate);
    let values = |row: usize| args.iter().map(|values| values[row].clone()).collect::<Vec<_>>();
    let mut group = GroupCall::new();
    let mut added = partition.start..partition.start;
    for row in partition {
        exec.tick()?;
        let frame = frames.of(row);
        if frame.start != added.start && !can_remove {
            group.clear();
            added = frame.start..frame.start;
        }
        for entering in added.end..frame.end {
            exec.tick()?;
            group.add(aggregate, values(entering), &mut exec.context())?;
        }
        for leaving in added.start..frame.start {
            exec.tick()?;
            group.remove(aggregate, &values(leaving), &mut exec.context())?;
        }
        added = frame;
        let value = group.value(aggregate, &mut exec.context())?;
        results.push(match value {
            // MariaDB keeps the values in a table, whose column is NOT NULL.
            Value::Null if !aggregate.ty.nullable => zero_of(aggregate.ty.class()),
            value => value,
        });
    }
    group.end(aggregate, &mut exec.context());
    Ok(())
}

/// Returns the value that a column that is NOT NULL has instead of NULL.
fn zero_of(class: Class) -> Value {
    match class {
        Class::Double => Value::Double(0.0),
        Class::Decimal => Value::Decimal(Decimal::ZERO),
        Class::Int => Value::Int(0),
        _ => Value::Bytes(Vec::new()),
    }
}
