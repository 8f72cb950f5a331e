//! Reader of a series of numbers (`seq_1_to_10`), which are made as they are read.

use std::ops::ControlFlow;

use paceline_types::Value;

use crate::error::Result;
use crate::execute::context::{Execution, Visit};
use paceline_catalog::NumberSeries;

/// Calls `visit` for each number, in `slot` of the row, and counts them.
pub(crate) fn read(
    exec: &mut Execution<'_, '_>,
    series: &NumberSeries,
    slot: usize,
    row: &mut [Value],
    visit: Visit<'_>,
    rows: &mut u64,
) -> Result<ControlFlow<()>> {
    for number in series.numbers() {
        exec.row_fetched()?;
        *rows += 1;
        row[slot] = Value::UInt(number);
        if visit(exec, row)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}
