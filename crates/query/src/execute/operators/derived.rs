//! Derived tables: queries in FROM, whose rows are computed once per statement.

use std::ops::ControlFlow;
use std::rc::Rc;

use crate::error::Result;
use crate::execute::collections::derived_rows::Rows;
use crate::execute::collections::distinct::Distinct;
use crate::execute::collections::memory::row_bytes;
use crate::execute::context::Execution;
use crate::plan::measurements::Collection;
use crate::plan::tree::QueryPlan;

/// Returns all rows of a query without outer references, executed once per statement.
pub(crate) fn rows_of(exec: &mut Execution<'_, '_>, plan: &QueryPlan, distinct: bool) -> Result<Rows> {
    if let Some(rows) = exec.state.derived.get(plan.id, distinct) {
        return Ok(rows);
    }
    let mut rows = Vec::new();
    let mut seen = distinct.then(|| Distinct::new(&plan.types, exec.state.reserve(plan, Collection::Rows)));
    exec.run_query(plan, &[], &mut |exec, row| {
        if let Some(seen) = &mut seen
            && !seen.is_new(row)?
        {
            return Ok(ControlFlow::Continue(()));
        }
        exec.state.charge(plan, Collection::Rows, row_bytes(row))?;
        rows.push(row.to_vec());
        Ok(ControlFlow::Continue(()))
    })?;
    exec.session.counts.count_temporary(rows.len() as u64);
    let rows = Rc::new(rows);
    exec.state.derived.insert(plan.id, distinct, rows.clone());
    Ok(rows)
}
