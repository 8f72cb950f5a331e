//! `sql_safe_updates`: error 1175 for an UPDATE or DELETE that would read all rows of a table.
//!
//! On a single table MariaDB requires a condition that an index can serve, or LIMIT; a DELETE must have a condition on
//! the rows in any case. With several tables, each must be read through an index, and a DELETE must have a WHERE.

use paceline_types::error_code::ER_UPDATE_WITHOUT_KEY_IN_SAFE_MODE;

use crate::error::{Error, Result};
use crate::plan::tree::{AccessPath, JoinStep, SelectPlan, StepSource, TableAccess, TableSource};
use crate::plan::{DeletePlan, UpdatePlan};
use paceline_expression::session::Settings;

/// Checks an UPDATE.
pub(super) fn check_update(settings: &Settings, plan: &UpdatePlan) -> Result<()> {
    if !settings.safe_updates || reads_by_key(&plan.select) {
        return Ok(());
    }
    Err(Error::new(ER_UPDATE_WITHOUT_KEY_IN_SAFE_MODE, &[]))
}

/// Checks a DELETE.
pub(super) fn check_delete(settings: &Settings, plan: &DeletePlan) -> Result<()> {
    let select = &*plan.select;
    let has_condition = || match single(select) {
        Some((step, access)) => {
            let reads_all = matches!(access.path, AccessPath::All | AccessPath::Index { .. });
            !reads_all || !step.filter.is_empty()
        }
        None => plan.has_where,
    };
    if !settings.safe_updates || (has_condition() && reads_by_key(select)) {
        return Ok(());
    }
    Err(Error::new(ER_UPDATE_WITHOUT_KEY_IN_SAFE_MODE, &[]))
}

/// Returns the only table that is read.
fn single(select: &SelectPlan) -> Option<(&JoinStep, &TableAccess)> {
    match &select.steps[..] {
        [
            step @ JoinStep {
                source: StepSource::Table(access),
                ..
            },
        ] => Some((step, access)),
        _ => None,
    }
}

fn reads_by_key(select: &SelectPlan) -> bool {
    if select.impossible.is_some() {
        return true;
    }
    if let Some((_, access)) = single(select) {
        return !access.possible.is_empty() || select.limit.count.is_some();
    }
    let mut all = true;
    for step in &select.steps {
        step.source.for_each_access(&mut |access| {
            let is_stored = matches!(select.tables[access.table].source, TableSource::Base(_));
            all &= match access.path {
                AccessPath::All => false,
                // MariaDB creates an index on a derived table.
                AccessPath::Hash { .. } => !is_stored,
                _ => true,
            };
        });
    }
    all
}
