//! `VALUES (…), (…)`: a list of rows.

use super::arrangement::{Arrangement, arranged};
use super::outer_row::row_with_outer;
use crate::error::Result;
use crate::execute::context::{Consumer, Execution};
use crate::plan::tree::ValuesPlan;
use paceline_expression::ExprType;

/// Executes a list of rows. `outer` is the row of the query around it.
pub(crate) fn run(
    exec: &mut Execution<'_, '_>,
    plan: &ValuesPlan,
    types: &[ExprType],
    outer: &[paceline_types::Value],
    consumer: Consumer<'_>,
) -> Result<Option<u64>> {
    let row = row_with_outer(plan.slot_count, &plan.outer, outer);
    let arrangement = Arrangement {
        order: &plan.order,
        limit: &plan.limit,
        counts_found_rows: false,
    };
    arranged(exec, &arrangement, types, consumer, &mut |exec, consumer| {
        for values in &plan.rows {
            let mut output = Vec::with_capacity(values.len());
            for value in values {
                output.push(exec.eval(value, &row)?);
            }
            if consumer(exec, &output)?.is_break() {
                break;
            }
        }
        Ok(())
    })
}
