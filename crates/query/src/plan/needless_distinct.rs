//! DISTINCT of rows that differ anyway: nothing is collected and compared.
//!
//! That is so for the single row of aggregates without GROUP BY, and for rows of one table with all columns of its
//! clustered key. Other unique keys are not considered: they may have NULLs.

use super::keys::TableInfo;
use super::tree::{JoinKind, JoinStep, SelectPlan, StepSource};
use paceline_storage::RowPlacement;

/// Removes a needless DISTINCT.
pub(crate) fn drop_needless_distinct(select: &mut SelectPlan, infos: &[TableInfo<'_>]) {
    if !select.distinct || select.windows.is_some() {
        return;
    }
    let is_needless = match &select.aggregation {
        Some(aggregation) => !aggregation.explicit,
        None => has_key(select, infos),
    };
    select.distinct &= !is_needless;
}

/// Returns whether the rows of a block have the clustered key of its only table.
fn has_key(select: &SelectPlan, infos: &[TableInfo<'_>]) -> bool {
    let [
        JoinStep {
            kind: JoinKind::Inner,
            source: StepSource::Table(access),
            ..
        },
    ] = &select.steps[..]
    else {
        return false;
    };
    let info = &infos[access.table];
    let Some(definition) = &info.definition else {
        return false;
    };
    let RowPlacement::Key(clustered) = definition.schema().clustered() else {
        return false;
    };
    definition.indexes()[clustered].parts.iter().all(|part| {
        let is_it = |expr| info.column_of(expr) == Some(part.column);
        part.prefix_length.is_none() && select.projection.iter().any(is_it)
    })
}
