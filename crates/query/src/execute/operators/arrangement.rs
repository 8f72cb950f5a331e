//! ORDER BY and LIMIT of a set operation or of VALUES.

use std::ops::ControlFlow;

use super::limit::{LimitGate, RowLimit, finish_sorted};
use super::sort_key::append_output_sort_key;
use crate::error::Result;
use crate::execute::collections::sorter::{SortedRows, Sorter};
use crate::execute::context::{Consumer, Execution};
use crate::plan::measurements::Collection;
use crate::plan::tree::{Limit, SortItem};
use paceline_expression::ExprType;
use paceline_syntax::ast::Ties;

/// Whether a query decides about the value of FOUND_ROWS().
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counting {
    /// The query of a statement.
    OfStatement,
    /// A query within another one.
    Never,
}

/// Order and limit of the rows of a set operation or of VALUES.
pub(crate) struct Arrangement<'p> {
    pub order: &'p [SortItem],
    pub limit: &'p Limit,
    /// Whether SQL_CALC_FOUND_ROWS asks how many rows there would be without the limit. What is sorted is counted
    /// anyway, as in MariaDB.
    pub counts_found_rows: bool,
}

/// Sorts the rows of `produce`, if there is a sort order, and applies the limit. Returns the value of FOUND_ROWS() if
/// it differs from the number of rows.
pub(crate) fn arranged(
    exec: &mut Execution<'_, '_>,
    arrangement: &Arrangement<'_>,
    types: &[ExprType],
    consumer: Consumer<'_>,
    produce: &mut dyn FnMut(&mut Execution<'_, '_>, Consumer<'_>) -> Result<()>,
) -> Result<Option<u64>> {
    let &Arrangement {
        order,
        limit,
        counts_found_rows,
    } = arrangement;
    let mut rows = RowLimit::new(exec, limit)?;
    if rows.count == 0 && !counts_found_rows {
        return Ok(None);
    }
    let ties = rows.ties(limit, order);
    let mut gate = LimitGate::new(rows, counts_found_rows);
    let Some(item) = order.first() else {
        produce(exec, &mut |exec, row| {
            if gate.admits() && consumer(exec, row)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            Ok(gate.flow())
        })?;
        return Ok(counts_found_rows.then_some(gate.seen()));
    };
    let first = rows.needed().filter(|_| ties == Ties::Cut);
    let mut sorter = Sorter::new(first, exec.state.reserve(item, Collection::Sort));
    let mut key = Vec::new();
    let mut found = 0;
    produce(exec, &mut |exec, row| {
        found += 1;
        key.clear();
        append_output_sort_key(exec, order, types, row, &mut key)?;
        sorter.push(&key, row.to_vec())?;
        Ok(ControlFlow::Continue(()))
    })?;
    exec.session.counts.count_temporary(found);
    exec.session.counts.count_temporary_read(found, true);
    sorter.count(SortedRows::Temporary, &mut exec.session.counts);
    finish_sorted(exec, sorter, &mut gate, ties, consumer)?;
    Ok(Some(found))
}
