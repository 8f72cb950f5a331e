//! How a statement reads its tables, for `Select_scan` and its kind. It is known when the plan is made, so an execution
//! adds a few numbers.
//!
//! As in MariaDB a block counts once for a statement, however often it is executed. Its first table that is not read by
//! a constant unique key makes it a scan or a range; each further table can make a full join.

use super::tree::{
    AccessPath, GroupStrategy, JoinStep, QueryBody, QueryPlan, SelectPlan, StepSource, TableAccess,
    TableSource,
};
use paceline_expression::session::StatementCounts;

/// Reads of a statement's tables by their kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ScanCounts {
    scans: u32,
    full_joins: u32,
    ranges: u32,
    full_range_joins: u32,
    /// Reads of the temporary result of a UNION. They use no index, but are not to blame for it.
    results: u32,
    /// Whether UPDATE searches its single table without an index.
    update_scan: bool,
    /// Whether DELETE does.
    delete_scan: bool,
}

/// Kind of a table's read.
enum Read {
    /// By a unique key: of constants, or of the tables before.
    Unique { constant: bool },
    /// By an index that is not unique.
    Lookup,
    /// Ranges of one index or several.
    Range,
    /// All rows.
    All,
}

impl ScanCounts {
    /// Returns whether a table is read without an index.
    pub fn uses_no_index(&self) -> bool {
        self.scans + self.full_joins > 0 || self.update_scan || self.delete_scan
    }

    /// Counts an execution.
    pub fn add_to(&self, counts: &mut StatementCounts) {
        counts.select_scan += u64::from(self.scans + self.results);
        counts.select_full_join += u64::from(self.full_joins);
        counts.select_range += u64::from(self.ranges);
        counts.select_full_range_join += u64::from(self.full_range_joins);
        counts.update_scan += u64::from(self.update_scan);
        counts.delete_scan += u64::from(self.delete_scan);
        counts.no_index_used += u64::from(self.uses_no_index());
    }

    /// Adds the search of an UPDATE.
    pub fn add_update(&mut self, select: &SelectPlan) {
        match select.is_of_one_table() {
            true => {
                self.update_scan = reads_all(select);
                self.derived(select);
            }
            false => self.select(select),
        }
    }

    /// Adds the search of a DELETE.
    pub fn add_delete(&mut self, select: &SelectPlan) {
        match select.is_of_one_table() {
            true => {
                self.delete_scan = reads_all(select);
                self.derived(select);
            }
            false => self.select(select),
        }
    }

    /// Adds a query. Those of its expressions are added by themselves.
    pub fn add_query(&mut self, plan: &QueryPlan) {
        match &plan.body {
            QueryBody::Select(select) => self.select(select),
            QueryBody::Set(set) => {
                set.sides.iter().for_each(|side| self.add_query(side));
                self.results += u32::from(!set.passes_rows_on());
            }
            QueryBody::Values(_) => {}
            QueryBody::Recursive(recursive) => {
                self.add_query(&recursive.anchor);
                self.add_query(&recursive.step);
            }
        }
    }

    /// Counts the queries of derived tables.
    fn derived(&mut self, select: &SelectPlan) {
        for table in &select.tables {
            if let TableSource::Derived(plan) = &table.source {
                self.add_query(plan);
            }
        }
    }

    fn select(&mut self, select: &SelectPlan) {
        self.derived(select);
        let aggregation = select.aggregation.as_ref();
        let only_ends = aggregation.is_some_and(|how| matches!(how.strategy, GroupStrategy::IndexEnds(_)));
        if select.impossible.is_some() || only_ends {
            return;
        }
        let mut is_first = true;
        self.steps(&select.steps, &mut is_first);
    }

    fn steps(&mut self, steps: &[JoinStep], is_first: &mut bool) {
        for step in steps {
            let access = match &step.source {
                StepSource::Nest(inner) => {
                    self.steps(inner, is_first);
                    continue;
                }
                StepSource::Table(access) => access,
            };
            let counter = match (kind_of(access), *is_first) {
                (Read::Unique { constant: true }, _) => continue,
                (Read::Unique { .. } | Read::Lookup, _) => None,
                (Read::Range, true) => Some(&mut self.ranges),
                (Read::Range, false) => Some(&mut self.full_range_joins),
                (Read::All, true) => Some(&mut self.scans),
                (Read::All, false) => Some(&mut self.full_joins),
            };
            if let Some(counter) = counter {
                *counter += 1;
            }
            *is_first = false;
        }
    }
}

fn kind_of(access: &TableAccess) -> Read {
    match &access.path {
        AccessPath::Index { .. } if access.loose.is_some() => Read::Range,
        AccessPath::All | AccessPath::Index { .. } => Read::All,
        AccessPath::Lookup {
            key, unique: true, ..
        } => Read::Unique {
            constant: key.iter().all(|part| part.value.is_constant_during_execution()),
        },
        AccessPath::Lookup { .. } => Read::Lookup,
        AccessPath::Range { .. } | AccessPath::Union { .. } => Read::Range,
        AccessPath::Hash { source, .. } => match &source.source {
            StepSource::Table(kept) => kind_of(kept),
            StepSource::Nest(_) => Read::All,
        },
    }
}

/// Returns whether the rows of a single table are searched without an index.
fn reads_all(select: &SelectPlan) -> bool {
    let [step] = &select.steps[..] else { return false };
    match &step.source {
        StepSource::Table(access) => select.impossible.is_none() && matches!(kind_of(access), Read::All),
        StepSource::Nest(_) => false,
    }
}
