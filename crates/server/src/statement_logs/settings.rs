//! A session's settings for the logs, and what the logs need to know of its running statement.

use crate::variables::{SessionValues, Variable};
use paceline_expression::session::{StatementContext, StatementCounts};
use paceline_query::plan::{Plan, PlanOperations};
use paceline_types::Value;
use std::time::{Duration, Instant};

/// Operations of a statement, with the bits of `log_slow_filter`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Operations(u64);

impl Operations {
    /// Nothing yet. Every statement passes a filter with `query_cache_miss`: there is no query cache.
    pub const NONE: Operations = Operations(1 << 8);
    /// A statement about the structure or the state of tables.
    pub const ADMINISTRATION: Operations = Operations(1 << 0);
    /// Sorting.
    pub const SORT: Operations = Operations(1 << 1);
    /// Sorting in files.
    pub const SORT_ON_DISK: Operations = Operations(1 << 2);
    /// Sorting that keeps only the first rows.
    pub const PRIORITY_QUEUE: Operations = Operations(1 << 3);
    /// A join that reads a whole table for each row.
    pub const FULL_JOIN: Operations = Operations(1 << 4);
    /// Reading a whole table.
    pub const FULL_SCAN: Operations = Operations(1 << 5);
    /// Reading a table without an index that narrows the search.
    pub const NO_INDEX: Operations = Operations(1 << 6);
    /// Collecting rows in a temporary table.
    pub const TEMPORARY_TABLE: Operations = Operations(1 << 9);
    /// Collecting rows in a temporary table in a file.
    pub const TEMPORARY_TABLE_ON_DISK: Operations = Operations(1 << 10);
    /// CALL. It is not part of `log_slow_filter`.
    pub const CALL: Operations = Operations(1 << 63);

    /// Returns whether these are among the operations.
    pub fn contains(self, others: Operations) -> bool {
        self.0 & others.0 != 0
    }

    /// Adds operations.
    pub fn add(&mut self, others: Operations) {
        self.0 |= others.0;
    }

    /// Returns whether one of them is shown by `log_slow_verbosity=query_plan`.
    pub fn are_costly(self) -> bool {
        let all = [
            Operations::FULL_SCAN,
            Operations::FULL_JOIN,
            Operations::TEMPORARY_TABLE,
            Operations::SORT,
        ];
        all.into_iter().any(|operation| self.contains(operation))
    }

    fn of_plan(plan: PlanOperations) -> Operations {
        let mut operations = Operations::default();
        for (is_used, operation) in [
            (plan.full_scan, Operations::FULL_SCAN),
            (plan.full_join, Operations::FULL_JOIN),
            (plan.temporary_table, Operations::TEMPORARY_TABLE),
            (plan.sort, Operations::SORT),
            (plan.no_index, Operations::NO_INDEX),
        ] {
            if is_used {
                operations.add(operation);
            }
        }
        operations
    }
}

/// Bits of `log_slow_verbosity`.
const QUERY_PLAN: u64 = 1 << 1;
const EXPLAIN: u64 = 1 << 2;
const WARNINGS: u64 = 1 << 4;
const FULL: u64 = 1 << 5;

/// Bits of `log_slow_disabled_statements`.
const DISABLE_ADMINISTRATION: u64 = 1 << 0;
const DISABLE_CALL: u64 = 1 << 1;

/// A session's settings for the logs.
#[derive(Debug)]
pub struct StatementLogSettings {
    /// `sql_log_off`.
    pub is_silent: bool,
    /// `slow_query_log`, which a session can set.
    pub logs_slow: bool,
    /// `long_query_time`.
    pub slow_after: Duration,
    /// `log_slow_rate_limit`.
    pub rate_limit: u64,
    /// `log_slow_min_examined_row_limit`.
    examined_min: u64,
    verbosity: u64,
    filter: Operations,
    disabled: u64,
    warnings_max: usize,
    /// Whether the plan of a statement must be looked at.
    wants_plan: bool,
    /// Whether the plans of slow statements are kept for the page.
    keeps_plans: bool,
    /// Start of the running statement.
    pub started: Instant,
    /// Number of rows that the session had sent then.
    pub rows_sent_before: u64,
    /// Number of rows that the session had examined then.
    pub rows_examined_before: u64,
    /// Number of bytes that the session had sent before the reply to the statement.
    pub bytes_sent_before: u64,
    /// Operations of the running statement and of its programs.
    operations: Operations,
    /// Its plan, for `log_slow_verbosity=explain` and for the page.
    plan: Option<Vec<Vec<Value>>>,
}

impl Default for StatementLogSettings {
    fn default() -> Self {
        StatementLogSettings {
            is_silent: false,
            logs_slow: true,
            slow_after: Duration::MAX,
            rate_limit: 1,
            examined_min: 0,
            verbosity: 0,
            filter: Operations::default(),
            disabled: 0,
            warnings_max: 0,
            wants_plan: false,
            keeps_plans: false,
            started: Instant::now(),
            rows_sent_before: 0,
            rows_examined_before: 0,
            bytes_sent_before: 0,
            operations: Operations::NONE,
            plan: None,
        }
    }
}

impl StatementLogSettings {
    /// Creates the settings of a session that has no values yet. With `keeps_plans` the plans of slow statements are
    /// kept for the page.
    pub fn new(keeps_plans: bool) -> Self {
        StatementLogSettings {
            keeps_plans,
            ..StatementLogSettings::default()
        }
    }

    /// Applies the session's variables.
    pub fn heed(&mut self, values: &SessionValues) {
        let number = |variable| values.get(variable).as_u64();
        self.is_silent = values.get(Variable::SqlLogOff).as_bool();
        self.logs_slow = values.get(Variable::SlowQueryLog).as_bool();
        self.slow_after = Duration::from_secs_f64(values.get(Variable::LongQueryTime).as_f64());
        self.rate_limit = number(Variable::LogSlowRateLimit).max(1);
        self.examined_min = number(Variable::MinExaminedRowLimit);
        self.verbosity = number(Variable::LogSlowVerbosity);
        self.filter = Operations(number(Variable::LogSlowFilter));
        self.disabled = number(Variable::LogSlowDisabledStatements);
        self.warnings_max = usize::try_from(number(Variable::LogSlowMaxWarnings)).unwrap_or(usize::MAX);
        let filters = self.filter != Operations::default() && !self.filter.contains(Operations::NONE);
        self.wants_plan = filters || self.shows(QUERY_PLAN | EXPLAIN) || self.logs_without_index();
    }

    /// Begins a statement.
    #[inline]
    pub fn begin(&mut self, rows_sent: u64, rows_examined: u64) {
        self.rows_sent_before = rows_sent;
        self.rows_examined_before = rows_examined;
        self.operations = Operations::NONE;
        self.plan = None;
        self.started = Instant::now();
    }

    fn shows(&self, parts: u64) -> bool {
        self.verbosity & (parts | FULL) != 0
    }

    /// Returns whether statements that use no index are logged however fast they are.
    fn logs_without_index(&self) -> bool {
        self.filter.contains(Operations::NO_INDEX)
    }

    /// Adds an operation of the running statement.
    pub fn note(&mut self, operation: Operations) {
        self.operations.add(operation);
    }

    /// Looks at a plan that was executed, if the log needs it. `is_main` is false for statements of programs.
    #[inline]
    pub fn note_plan(&mut self, plan: &Plan, is_main: bool, statement: &mut StatementContext) {
        // A point read has no plan worth to see.
        let is_looked_at = self.wants_plan || (self.keeps_plans && is_main && !plan.is_point_read());
        if is_looked_at && (self.logs_without_index() || self.is_slow(self.started.elapsed())) {
            self.describe(plan, is_main, statement);
        }
    }

    #[cold]
    fn describe(&mut self, plan: &Plan, is_main: bool, statement: &mut StatementContext) {
        let Some(explanation) = plan.explanation() else {
            return;
        };
        self.operations.add(Operations::of_plan(explanation.operations()));
        if is_main && (self.keeps_plans || self.shows(EXPLAIN)) {
            let measured = statement.measured_plan.take();
            self.plan = Some(measured.unwrap_or_else(|| explanation.rows()));
        }
    }

    /// Returns whether a statement with this duration is to be considered for the slow query log.
    #[inline]
    pub fn is_slow(&self, duration: Duration) -> bool {
        duration >= self.slow_after || (self.wants_plan && self.is_without_index())
    }

    fn is_without_index(&self) -> bool {
        self.logs_without_index() && self.operations.contains(Operations::NO_INDEX)
    }

    /// Returns whether a slow statement is counted.
    pub fn is_counted(&self, rows_examined: u64) -> bool {
        let is_disabled = |operation, bit| self.operations.contains(operation) && self.disabled & bit != 0;
        rows_examined >= self.examined_min
            && !is_disabled(Operations::ADMINISTRATION, DISABLE_ADMINISTRATION)
            && !is_disabled(Operations::CALL, DISABLE_CALL)
    }

    /// Returns whether the filter lets the statement pass.
    pub fn passes_filter(&self, counts: &StatementCounts) -> bool {
        let mut operations = self.operations;
        for (count, operation) in [
            (counts.sort_merge_passes, Operations::SORT_ON_DISK),
            (counts.sort_priority_queue_sorts, Operations::PRIORITY_QUEUE),
            (
                counts.created_tmp_disk_tables,
                Operations::TEMPORARY_TABLE_ON_DISK,
            ),
        ] {
            if count > 0 {
                operations.add(operation);
            }
        }
        self.filter == Operations::default() || self.filter.contains(operations)
    }

    /// Returns the operations to show.
    pub fn shown_operations(&self) -> Option<Operations> {
        self.shows(QUERY_PLAN).then_some(self.operations)
    }

    /// Returns the plan to show in the log.
    pub fn shown_plan(&self) -> Option<&[Vec<Value>]> {
        self.plan.as_deref().filter(|_| self.shows(EXPLAIN))
    }

    /// Returns the plan to keep for the page.
    pub fn kept_plan(&self) -> &[Vec<Value>] {
        self.plan.as_deref().unwrap_or_default()
    }

    /// Returns the duration from which a statement's plan is shown with the rows that were read.
    pub fn shows_measured_plan_after(&self) -> Option<Duration> {
        let after = match self.logs_without_index() {
            true => Duration::ZERO,
            false => self.slow_after,
        };
        (self.logs_slow && self.shows(EXPLAIN)).then_some(after)
    }

    /// Returns the number of conditions to show.
    pub fn shown_warnings(&self) -> usize {
        match self.shows(WARNINGS) {
            true => self.warnings_max,
            false => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_chooses_among_operations() {
        let mut settings = StatementLogSettings::default();
        assert!(settings.passes_filter(&StatementCounts::default()));
        settings.filter = Operations::FULL_SCAN;
        assert!(!settings.passes_filter(&StatementCounts::default()));
        settings.note(Operations::FULL_SCAN);
        assert!(settings.passes_filter(&StatementCounts::default()));
        settings.filter = Operations::NONE;
        assert!(settings.passes_filter(&StatementCounts::default()));
    }

    #[test]
    fn disabled_statements_and_small_ones_are_not_counted() {
        let mut settings = StatementLogSettings {
            examined_min: 3,
            disabled: DISABLE_ADMINISTRATION,
            ..StatementLogSettings::default()
        };
        assert!(!settings.is_counted(2));
        assert!(settings.is_counted(3));
        settings.note(Operations::ADMINISTRATION);
        assert!(!settings.is_counted(3));
    }
}
