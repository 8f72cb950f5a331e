//! The plan of a query: a tree of query blocks, each with its tables in join order.
//!
//! One query block (one SELECT) works on one flat row of *slots*. Binding allocates the slots: first for the columns of
//! every table of FROM, then for everything else that an expression reads: columns of outer queries (*outer
//! references*, copied before the block runs), finished aggregates, results of window functions. So all expressions of
//! a block read the same row at every stage:
//!
//! ```text
//!   slots    t.id  t.a  t.b │ u.id  u.c │ outer x.y │ SUM(t.a)  COUNT(*)
//!            └── join fills ──────────┘   └ caller ┘   └─ grouping fills ┘
//! ```
//!
//! Grouping keeps the slots of a group's first row and stores the aggregates beside them, so HAVING, the select list
//! and ORDER BY are evaluated on a row of the same shape as WHERE.

use std::ops::Range;
use std::sync::Arc;

use paceline_storage::EntryReader;
use paceline_txn::IsolationLevel;
use paceline_types::DataType;

use super::json_table_plan::JsonTablePlan;
use super::range::RangeCondition;
use super::result_column::ResultColumn;
use paceline_catalog::{NumberSeries, TableDefinition};
use paceline_expression::{Aggregate, Expr, ExprKind, ExprType, Frame, SortOrder, WindowFunction};
use paceline_syntax::ast::Ties;

/// A query: one block, or several under set operations.
#[derive(Debug)]
pub struct QueryPlan {
    /// Number that no other query of the process has: the key of its materialized rows during an execution.
    pub id: u64,
    /// Source of the rows.
    pub body: QueryBody,
    /// Columns of the result.
    pub columns: Vec<ResultColumn>,
    /// Types of the columns.
    pub types: Vec<ExprType>,
    /// Whether it reads rows of an outer query.
    pub correlated: bool,
}

impl QueryPlan {
    /// Returns the LIMIT of the whole query.
    pub fn limit(&self) -> Option<&Limit> {
        match &self.body {
            QueryBody::Select(select) => Some(&select.limit),
            QueryBody::Set(set) => Some(&set.limit),
            QueryBody::Values(values) => Some(&values.limit),
            QueryBody::Recursive(_) => None,
        }
    }

    /// Returns the slots of the outer row that a subquery reads, each once.
    pub fn outer_slots(&self) -> Vec<usize> {
        fn collect(plan: &QueryPlan, slots: &mut Vec<usize>) {
            match &plan.body {
                QueryBody::Select(select) => slots.extend(select.outer.iter().map(|outer| outer.from)),
                QueryBody::Set(set) => set.sides.iter().for_each(|side| collect(side, slots)),
                QueryBody::Values(values) => slots.extend(values.outer.iter().map(|outer| outer.from)),
                // It runs without an outer row.
                QueryBody::Recursive(_) => {}
            }
        }
        let mut slots = Vec::new();
        collect(self, &mut slots);
        slots.sort_unstable();
        slots.dedup();
        slots
    }

    /// Returns the number of the first SELECT.
    pub fn first_select_number(&self) -> u32 {
        match &self.body {
            QueryBody::Select(select) => select.number,
            QueryBody::Set(set) => set.sides[0].first_select_number(),
            QueryBody::Values(_) => 0,
            QueryBody::Recursive(recursive) => recursive.anchor.first_select_number(),
        }
    }

    /// Returns whether MariaDB would merge a derived table of this query.
    pub fn is_mergeable(&self) -> bool {
        matches!(&self.body, QueryBody::Select(select) if select.is_mergeable())
    }

    /// Returns whether SQL_CALC_FOUND_ROWS requests the number of rows without LIMIT.
    pub fn counts_found_rows(&self) -> bool {
        match &self.body {
            QueryBody::Select(select) => select.count_found_rows,
            QueryBody::Set(set) => set.sides.first().is_some_and(Self::counts_found_rows),
            _ => false,
        }
    }
}

/// Source of a query's rows.
#[derive(Debug)]
pub enum QueryBody {
    /// One SELECT.
    Select(Box<SelectPlan>),
    /// UNION, EXCEPT, INTERSECT.
    Set(Box<SetPlan>),
    /// `VALUES (…), (…)`: a list of rows.
    Values(Box<ValuesPlan>),
    /// A recursive common table expression.
    Recursive(Box<RecursivePlan>),
}

/// Plan of `VALUES (…), (…)`.
#[derive(Debug)]
pub struct ValuesPlan {
    /// The rows, as expressions.
    pub rows: Vec<Vec<Expr>>,
    /// Number of slots of its row: outer references only.
    pub slot_count: usize,
    /// Slots copied from the outer row.
    pub outer: Vec<OuterReference>,
    /// ORDER BY over the columns.
    pub order: Vec<SortItem>,
    /// LIMIT.
    pub limit: Limit,
}

/// Plan of `WITH RECURSIVE name AS (anchor UNION [ALL] recursive)`.
#[derive(Debug)]
pub struct RecursivePlan {
    /// Number of the recursive table: the key of the rows of the last round.
    pub table: u64,
    /// Part without the recursion.
    pub anchor: QueryPlan,
    /// Part that reads the rows of the last round.
    pub step: QueryPlan,
    /// Derived tables within that part that read these rows, and are computed again for each round.
    pub readers: Vec<u64>,
    /// Whether equal rows are kept (UNION ALL).
    pub keep_duplicates: bool,
    /// Columns that decide whether rows are equal (CYCLE); empty if all do.
    pub cycle: Vec<usize>,
    /// Conversions of both parts' values to the common types.
    pub conversions: [Vec<Expr>; 2],
}

/// Plan of a set operation: UNION of any number of queries, EXCEPT and INTERSECT of two.
#[derive(Debug)]
pub struct SetPlan {
    /// The operation.
    pub operation: SetOperation,
    /// Sides from left to right. A single one if an outer ORDER BY or LIMIT applies to one query with its own LIMIT.
    pub sides: Vec<QueryPlan>,
    /// Conversions of each side's values to the common types: expressions over the side's row. `None` if the values
    /// have these types already.
    pub conversions: Vec<Option<Vec<Expr>>>,
    /// ORDER BY of the whole, over the columns of the result.
    pub order: Vec<SortItem>,
    /// LIMIT of the whole.
    pub limit: Limit,
}

impl SetPlan {
    /// Returns whether rows are passed on as they come: nothing is collected.
    pub fn passes_rows_on(&self) -> bool {
        self.operation == SetOperation::UnionAll && self.order.is_empty()
    }
}

/// A set operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetOperation {
    /// UNION ALL.
    UnionAll,
    /// UNION.
    Union,
    /// EXCEPT ALL.
    ExceptAll,
    /// EXCEPT.
    Except,
    /// INTERSECT ALL.
    IntersectAll,
    /// INTERSECT.
    Intersect,
}

/// LIMIT and OFFSET. They are evaluated when the query starts.
#[derive(Debug, Default, Clone)]
pub struct Limit {
    /// Maximum number of rows.
    pub count: Option<Expr>,
    /// Number of rows to skip first.
    pub offset: Option<Expr>,
    /// Treatment of rows that the order does not distinguish from the last one.
    pub ties: Ties,
}

impl Limit {
    /// Returns whether there is no limit.
    pub fn is_absent(&self) -> bool {
        self.count.is_none() && self.offset.is_none()
    }
}

/// A column of the outer query that a block reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OuterReference {
    /// Slot in the outer row.
    pub from: usize,
    /// Slot in the block's row.
    pub to: usize,
}

/// One SELECT.
#[derive(Debug, Clone)]
pub struct SelectPlan {
    /// Number in EXPLAIN: 1 for the outermost.
    pub number: u32,
    /// Number of slots of its row.
    pub slot_count: usize,
    /// Columns copied from the outer row.
    pub outer: Vec<OuterReference>,
    /// Slot of the number of the row, from 1, for `ROWNUM()`.
    pub row_number: Option<usize>,
    /// Tables in the order of FROM.
    pub tables: Vec<TableInstance>,
    /// Steps of the join; empty without FROM.
    pub steps: Vec<JoinStep>,
    /// Conditions without tables. They hold for all rows or for none: if one is not true, there are no rows.
    pub constant_conditions: Vec<Expr>,
    /// Set if planning found that there are no rows: the reason in EXPLAIN.
    pub impossible: Option<&'static str>,
    /// GROUP BY and aggregates.
    pub aggregation: Option<Aggregation>,
    /// Items of the select list that are evaluated before HAVING, each with its slot.
    pub once: Vec<(Expr, usize)>,
    /// HAVING.
    pub having: Vec<Expr>,
    /// Window functions, computed on the rows that pass HAVING.
    pub windows: Option<WindowPlan>,
    /// The select list.
    pub projection: Vec<Expr>,
    /// Whether quotients keep all their digits: an INSERT stores them in other types.
    pub unrounded: bool,
    /// DISTINCT.
    pub distinct: bool,
    /// ORDER BY; empty if the rows are read in that order.
    pub order: Vec<SortItem>,
    /// LIMIT.
    pub limit: Limit,
    /// SQL_CALC_FOUND_ROWS.
    pub count_found_rows: bool,
    /// Mode of reading rows.
    pub read: ReadMode,
    /// Whether the executor keeps key and image of each table's row, for a statement that changes rows.
    pub keep_row_handles: bool,
    /// Other facts for EXPLAIN: "Using filesort", …
    pub notes: PlanNotes,
    /// Plan to run instead, if the values have other kinds than the order of the rows relies on.
    pub otherwise: Option<Otherwise>,
    /// Estimated number of rows without LIMIT.
    pub row_estimate: f64,
}

impl SelectPlan {
    /// Returns the documents of its JSON_TABLEs.
    pub fn documents(&self) -> impl Iterator<Item = &Expr> {
        self.tables.iter().filter_map(|table| match &table.source {
            TableSource::Json(json) => Some(json.document()),
            _ => None,
        })
    }

    /// Returns whether it reads one table. Merged views do not count.
    pub fn is_of_one_table(&self) -> bool {
        let is_read = |table: &&TableInstance| !matches!(table.source, TableSource::MergedView);
        self.tables.iter().filter(is_read).nth(1).is_none()
    }

    /// Returns whether MariaDB would merge a derived table of this SELECT.
    pub fn is_mergeable(&self) -> bool {
        let assigns =
            |expr: &Expr| expr.any(&mut |node| matches!(node.kind, ExprKind::AssignUserVariable { .. }));
        !self.tables.is_empty()
            && self.aggregation.is_none()
            && self.having.is_empty()
            && self.windows.is_none()
            && !self.distinct
            && self.limit.count.is_none()
            && self.limit.offset.is_none()
            && !self.projection.iter().any(assigns)
    }
}

/// Alternative to a plan that relies on the order of an index: one that does not.
#[derive(Debug, Clone)]
pub struct Otherwise {
    /// Assumptions of the plan that relies on the order: each equality must select a single value of its column.
    pub assumed: Vec<AssumedEquality>,
    /// The alternative.
    pub select: Box<SelectPlan>,
}

/// `column = value`, whose comparison depends on the value: 1 equals `'1'`, `'01'` and `'1a'` of a text column.
#[derive(Debug, Clone)]
pub struct AssumedEquality {
    /// Type of the column.
    pub data_type: DataType,
    /// Value with which the column is compared.
    pub value: Expr,
    /// Rule of the comparison.
    pub by: paceline_expression::Comparison,
}

/// Facts for EXPLAIN only.
#[derive(Debug, Default, Clone)]
pub struct PlanNotes {
    /// Whether an ORDER BY needs sorting.
    pub filesort: bool,
    /// Whether rows are collected in memory first.
    pub temporary: bool,
}

/// Mode in which a block reads rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadMode {
    /// Reads the transaction's snapshot. Under SERIALIZABLE it takes shared next-key locks instead.
    Snapshot,
    /// Rows that a statement reads besides those that it changes: INSERT … SELECT, subqueries of UPDATE and DELETE. As
    /// in InnoDB these are the newest rows, locked shared, so that the rows read and the rows written are of the same
    /// moment. Below REPEATABLE READ most statements read a snapshot instead.
    Source(SourceLocks),
    /// Reads the newest rows and locks them.
    Locking {
        /// Strength of the locks.
        strength: LockStrength,
        /// Reaction to a lock of another transaction.
        wait: LockPatience,
    },
}

/// Isolation levels at which the sources of a change are locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceLocks {
    /// REPEATABLE READ and above: INSERT … SELECT, REPLACE … SELECT, CREATE TABLE … SELECT, UPDATE.
    FromRepeatableRead,
    /// All levels: INSERT … VALUES with subqueries, DELETE, DO.
    Always,
}

impl ReadMode {
    /// Returns whether the query itself requests locks.
    pub fn is_locking(self) -> bool {
        matches!(self, ReadMode::Locking { .. })
    }

    /// Returns the mode at an isolation level: [`ReadMode::Snapshot`] or [`ReadMode::Locking`].
    pub fn at(self, isolation: IsolationLevel) -> ReadMode {
        match self {
            ReadMode::Source(SourceLocks::FromRepeatableRead)
                if isolation <= IsolationLevel::ReadCommitted =>
            {
                ReadMode::Snapshot
            }
            ReadMode::Source(_) => ReadMode::Locking {
                strength: LockStrength::Shared,
                wait: LockPatience::Default,
            },
            mode => mode,
        }
    }
}

/// Strength of the locks of a locking read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockStrength {
    /// LOCK IN SHARE MODE.
    Shared,
    /// FOR UPDATE, UPDATE, DELETE.
    Exclusive,
}

/// Reaction of a locking read to a lock of another transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockPatience {
    /// Waits for `innodb_lock_wait_timeout`.
    Default,
    /// Returns 1205 immediately.
    NoWait,
    /// Skips the row.
    SkipLocked,
    /// Waits this number of seconds.
    Seconds(u64),
}

/// A table of FROM.
#[derive(Debug, Clone)]
pub struct TableInstance {
    /// Name in the query.
    pub alias: Arc<str>,
    /// Database of a base table.
    pub database: Arc<str>,
    /// Slots in the block's row.
    pub slots: Range<usize>,
    /// Source of the rows.
    pub source: TableSource,
    /// Columns that the query uses, as ascending offsets in the table. Only these are decoded.
    pub used: Vec<usize>,
    /// Used columns that are read with trailing blanks (`PAD_CHAR_TO_FULL_LENGTH`), with their length in characters.
    pub padding: Vec<(usize, usize)>,
    /// Estimated number of rows.
    pub row_estimate: f64,
    /// Whether equal rows count once: for a subquery of IN that was converted to a join.
    pub distinct: bool,
}

impl TableInstance {
    /// Adds the trailing blanks of CHAR values in the table's slots, for the columns of [`Self::padding`].
    pub(crate) fn pad(&self, slots: &mut [paceline_types::Value]) {
        pad(slots, &self.padding);
    }
}

/// Gives the texts in these slots their trailing blanks, up to so many characters.
pub(crate) fn pad(row: &mut [paceline_types::Value], padding: &[(usize, usize)]) {
    for (slot, length) in padding {
        if let paceline_types::Value::Text(text) = &mut row[*slot] {
            let missing = length.saturating_sub(text.chars().count());
            text.extend(std::iter::repeat_n(' ', missing));
        }
    }
}

/// Gives the texts in these slots their stored form again, without trailing blanks.
pub(crate) fn unpad(row: &mut [paceline_types::Value], padding: &[(usize, usize)]) {
    for (slot, _) in padding {
        if let paceline_types::Value::Text(text) = &mut row[*slot] {
            text.truncate(text.trim_end_matches(' ').len());
        }
    }
}

/// Source of a table's rows.
#[derive(Debug, Clone)]
pub enum TableSource {
    /// A stored table.
    Base(Arc<TableDefinition>),
    /// A query: a derived table, or a common table expression.
    Derived(Arc<QueryPlan>),
    /// A view whose tables are tables of the block: it has names only, and no rows.
    MergedView,
    /// The rows of the last round of a recursive query.
    Recursive(u64),
    /// Numbers: `seq_1_to_10`.
    Series(NumberSeries),
    /// A JSON_TABLE.
    Json(Arc<JsonTablePlan>),
    /// A table whose rows the server computes.
    Virtual {
        /// Database of the table.
        database: Arc<str>,
        /// Name of the table.
        table: Arc<str>,
    },
}

/// One step of the nested loops: for each earlier row, the matching rows of one table, or of several tables that are
/// joined with each other.
#[derive(Debug, Clone)]
pub struct JoinStep {
    /// Treatment of a row without a match.
    pub kind: JoinKind,
    /// The joined tables.
    pub source: StepSource,
    /// Conditions that decide whether rows match.
    pub on: Vec<Expr>,
    /// Conditions that are checked after that; for an outer join also on rows without a match.
    pub filter: Vec<Expr>,
    /// Number of these conditions that a row must pass before it is locked.
    candidate_count: usize,
}

impl JoinStep {
    /// Creates a step with its conditions.
    pub fn new(kind: JoinKind, source: StepSource, on: Vec<Expr>, filter: Vec<Expr>) -> Self {
        // The conditions after an outer join do not decide whether rows match.
        let filtered = if kind == JoinKind::Left { &[][..] } else { &filter };
        let conditions = on.iter().chain(filtered);
        // A subquery may wait for rows. As in MariaDB the row is locked before, so that a deadlock of two statements
        // that wait for each other is detected.
        let is_candidate = |condition: &&Expr| condition.is_stable() && !condition.has_subquery();
        let candidate_count = conditions.take_while(is_candidate).count();
        JoinStep {
            kind,
            source,
            on,
            filter,
            candidate_count,
        }
    }

    /// Returns the conditions that a row must pass before it is locked. They are evaluated again under the lock, so
    /// they end before the first one that must not be evaluated twice.
    pub fn candidate_conditions(&self) -> impl Iterator<Item = &Expr> {
        self.on.iter().chain(&self.filter).take(self.candidate_count)
    }
}

/// Treatment of a row without a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinKind {
    /// The row is dropped.
    Inner,
    /// It passes with NULLs.
    Left,
    /// It is dropped; a row with any number of matches passes once.
    Semi,
}

/// Tables that a step joins.
#[derive(Debug, Clone)]
pub enum StepSource {
    /// One table.
    Table(TableAccess),
    /// Several tables, joined with each other first: the inner side of an outer join.
    Nest(Vec<JoinStep>),
}

impl StepSource {
    /// Calls `visit` for each table access.
    pub fn for_each_access<'p>(&'p self, visit: &mut dyn FnMut(&'p TableAccess)) {
        match self {
            StepSource::Table(access) => visit(access),
            StepSource::Nest(steps) => steps.iter().for_each(|step| step.source.for_each_access(visit)),
        }
    }
}

/// Access to one table.
#[derive(Debug, Clone)]
pub struct TableAccess {
    /// Index in [`SelectPlan::tables`].
    pub table: usize,
    /// Access path.
    pub path: AccessPath,
    /// Direction of the scan.
    pub direction: ScanDirection,
    /// Estimated number of rows of one read.
    pub rows: f64,
    /// Indexes that could be used, as offsets in the table's definition; for EXPLAIN.
    pub possible: Vec<usize>,
    /// Whether the key is sufficient: no row is fetched.
    pub key_only: bool,
    /// Set if the entries of the path's index are read without their rows.
    pub covering: Option<Box<Covering>>,
    /// Set if some entries of the path's index are skipped.
    pub loose: Option<LooseScan>,
    /// Conditions that are checked before the whole row is decoded.
    pub early: Option<Box<EarlyConditions>>,
}

/// First conditions of a step, which read few of the used columns. A scan decodes these columns, checks the conditions,
/// and decodes the other columns of rows that pass. The order of the conditions does not change, so errors and warnings
/// are the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlyConditions {
    /// Number of these conditions.
    pub conditions: usize,
    /// Columns of the table that they read, ascending.
    pub columns: Vec<usize>,
    /// The other used columns, ascending.
    pub later_columns: Vec<usize>,
}

impl TableAccess {
    /// Creates the forward access to a table by a path.
    pub fn new(table: usize, path: AccessPath, rows: f64) -> Self {
        TableAccess {
            table,
            path,
            direction: ScanDirection::Forward,
            rows,
            possible: Vec::new(),
            key_only: false,
            covering: None,
            loose: None,
            early: None,
        }
    }
}

/// Read of index entries without their rows.
#[derive(Debug, Clone)]
pub struct Covering {
    /// Reader of the used columns.
    pub reader: EntryReader,
    /// Conditions of the step without those that hold for all entries of the range; `None` if all are checked as for
    /// rows.
    pub rest: Option<Vec<Expr>>,
    /// Equalities of the index's first columns that allow to omit conditions. The index must be able to search for the
    /// value of each.
    pub looked_for: Vec<AssumedEquality>,
}

/// Scan that skips entries: of those that share the values of an index's first columns, only some are needed.
#[derive(Debug, Clone, Copy)]
pub struct LooseScan {
    /// Number of shared columns.
    pub parts: usize,
    /// Needed entries.
    pub ends: GroupEnds,
}

/// Entries of a group that a [`LooseScan`] reads. It may read others too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupEnds {
    /// Any entry: only the shared columns matter.
    One,
    /// The least value of the next column that is not NULL, and one more entry.
    Least,
    /// The greatest value of the next column, and one more entry.
    Greatest,
    /// The entries of both ends.
    Both,
}

/// Direction of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScanDirection {
    /// Ascending keys.
    Forward,
    /// In the reverse order.
    Backward,
}

/// Access path of a table.
#[derive(Debug, Clone)]
pub enum AccessPath {
    /// All rows, in the order of the primary key (or in no particular order).
    All,
    /// All rows in the order of an index.
    Index {
        /// Offset of the index in the table's definition.
        index: usize,
    },
    /// The rows whose index columns begin with these values.
    Lookup {
        /// Offset of the index in the table's definition.
        index: usize,
        /// One value for each of the first parts of the index.
        key: Vec<LookupPart>,
        /// Whether at most one row matches.
        unique: bool,
    },
    /// The rows in some ranges of an index.
    Range {
        /// Offset of the index in the table's definition.
        index: usize,
        /// Condition from which the ranges are computed when the query runs.
        condition: RangeCondition,
    },
    /// The rows in some ranges of several indexes, each row once: an OR over different columns.
    Union {
        /// Indexes, each with its condition.
        parts: Vec<(usize, RangeCondition)>,
    },
    /// The rows with these values in a hash table, which is filled at the first use.
    Hash {
        /// Equalities between this table's row and the rows of the tables before it. None for a list of rows, all of
        /// which match.
        keys: Vec<HashKey>,
        /// Step that reads the rows of this table alone.
        source: Box<JoinStep>,
    },
}

impl AccessPath {
    /// Returns the index, if a single one is read.
    pub fn index(&self) -> Option<usize> {
        match self {
            AccessPath::Index { index }
            | AccessPath::Lookup { index, .. }
            | AccessPath::Range { index, .. } => Some(*index),
            AccessPath::All | AccessPath::Union { .. } | AccessPath::Hash { .. } => None,
        }
    }
}

/// One value of an index lookup.
#[derive(Debug, Clone)]
pub struct LookupPart {
    /// Value to look up.
    pub value: Expr,
    /// Whether NULL matches NULL: `<=>` or IS NULL.
    pub null_safe: bool,
    /// Rule of the comparison.
    pub by: paceline_expression::Comparison,
}

/// One equality of a hash join.
#[derive(Debug, Clone)]
pub struct HashKey {
    /// Expression over the row of the hashed table.
    pub inner: Expr,
    /// Expression over the rows of the tables before it.
    pub outer: Expr,
    /// Rule of the comparison.
    pub by: paceline_expression::Comparison,
}

/// GROUP BY and aggregates.
#[derive(Debug, Clone)]
pub struct Aggregation {
    /// GROUP BY; empty if all rows are one group.
    pub groups: Vec<Expr>,
    /// Whether the statement has GROUP BY. Without it there is always one group.
    pub explicit: bool,
    /// Aggregates, each with the slot of its result.
    pub aggregates: Vec<(Aggregate, usize)>,
    /// Slots of a group's first row that are kept.
    pub kept: Vec<usize>,
    /// Method of grouping.
    pub strategy: GroupStrategy,
    /// Values of a row that are computed before it is grouped, each with its slot.
    pub per_row: Vec<(Expr, usize)>,
    /// WITH ROLLUP: the directions of the group keys.
    pub rollup: Option<Vec<SortOrder>>,
    /// With ROLLUP: slots of the group keys. A key is NULL in the rows that summarize it.
    pub group_slots: Vec<usize>,
}

/// Method of grouping.
#[derive(Debug, Clone)]
pub enum GroupStrategy {
    /// All rows are one group.
    Single,
    /// The rows of a group are read one after the other.
    Ordered,
    /// A hash table; the groups are returned sorted.
    Hash,
    /// MIN and MAX of indexed columns: one access for each aggregate, of which only the first row is read.
    IndexEnds(Vec<Vec<JoinStep>>),
}

/// The window functions of a block.
#[derive(Debug, Clone)]
pub struct WindowPlan {
    /// Slots of a row that are read later or by the functions; ascending.
    pub kept: Vec<usize>,
    /// Sorts, at least one, in the order of their execution.
    pub sorts: Vec<WindowSort>,
}

/// Window functions that use the same order of rows.
#[derive(Debug, Clone)]
pub struct WindowSort {
    /// Keys of the sort.
    pub keys: Vec<WindowKey>,
    /// Functions that are computed in this order.
    pub functions: Vec<PlannedWindow>,
}

/// A key of a [`WindowSort`].
#[derive(Debug, Clone)]
pub struct WindowKey {
    /// Expression to sort by.
    pub expr: Expr,
    /// Direction.
    pub order: SortOrder,
}

/// A window function.
#[derive(Debug, Clone)]
pub struct PlannedWindow {
    /// Kind of the function.
    pub function: WindowFunction,
    /// Arguments of the function.
    pub args: Vec<Expr>,
    /// Number of leading sort keys that define the partitions.
    pub partition: usize,
    /// Number of leading sort keys that peers share; at least [`Self::partition`].
    pub peers: usize,
    /// Frame of the function.
    pub frame: Frame,
    /// Slot of the result.
    pub slot: usize,
    /// Slot of the result rounded to this number of digits, for a function that is a whole item of the select list.
    /// There MariaDB reads a column of its temporary table, but within an expression it does not.
    pub rounded: Option<(usize, u8)>,
}

/// One key of ORDER BY.
#[derive(Debug, Clone)]
pub struct SortItem {
    /// Value to sort by.
    pub key: SortKey,
    /// Whether the order is descending.
    pub descending: bool,
}

/// Value to sort by.
#[derive(Debug, Clone)]
pub enum SortKey {
    /// A column of the result.
    Output(usize),
    /// An expression over the block's row.
    Expr(Expr),
}
