//! Structure of a plan: a tree of query blocks, each with its tables in join order.
//!
//! One query block (one SELECT) works on one flat row of *slots*. Binding allocates the slots: one for each column of
//! every table of FROM, then those for columns of enclosing queries (*outer references*, copied in before the block
//! runs), finished aggregates, and results of window functions. All expressions of a block therefore read the same row
//! at every stage:
//!
//! ```text
//!   slots    t.id  t.a  t.b │ u.id  u.c │ outer x.y │ SUM(t.a)  COUNT(*)
//!            └── join fills ──────────┘   └ caller ┘   └─ grouping fills ┘
//! ```
//!
//! Grouping keeps the slots of a group's first row and adds the aggregates. HAVING, the select list and ORDER BY are
//! therefore evaluated on a row of the same form as WHERE.

use std::ops::Range;
use std::sync::Arc;

use paceline_storage::EntryReader;
use paceline_txn::IsolationLevel;
use paceline_types::DataType;

use super::range::RangeCondition;
use super::result_column::ResultColumn;
use paceline_catalog::{NumberSeries, TableDefinition};
use paceline_expression::{Aggregate, Expr, ExprKind, ExprType, Frame, SortOrder, WindowFunction};
use paceline_syntax::ast::Ties;

/// A query: one block, or several blocks under set operations, with the clauses that apply to the whole.
#[derive(Debug)]
pub struct QueryPlan {
    /// Identifies the query in the process. It is the key of its materialized rows during an execution.
    pub id: u64,
    /// Source of the rows.
    pub body: QueryBody,
    /// Columns of the result.
    pub columns: Vec<ResultColumn>,
    /// Types of the columns.
    pub types: Vec<ExprType>,
    /// Whether it reads rows of an enclosing query.
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

    /// Returns the slots of the enclosing row that a subquery reads, each once.
    pub fn outer_slots(&self) -> Vec<usize> {
        fn collect(plan: &QueryPlan, slots: &mut Vec<usize>) {
            match &plan.body {
                QueryBody::Select(select) => slots.extend(select.outer.iter().map(|outer| outer.from)),
                QueryBody::Set(set) => set.sides.iter().for_each(|side| collect(side, slots)),
                QueryBody::Values(values) => slots.extend(values.outer.iter().map(|outer| outer.from)),
                // It cannot read the enclosing row.
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
    /// A recursive query: the anchor, then the recursive part in rounds.
    Recursive(Box<RecursivePlan>),
}

/// Plan of `VALUES (…), (…)`.
#[derive(Debug)]
pub struct ValuesPlan {
    /// The rows, as expressions.
    pub rows: Vec<Vec<Expr>>,
    /// Number of slots of its row, which contains only outer references.
    pub slot_count: usize,
    /// Outer references that are copied into its row.
    pub outer: Vec<OuterReference>,
    /// ORDER BY, over the columns.
    pub order: Vec<SortItem>,
    /// LIMIT.
    pub limit: Limit,
}

/// Plan of `WITH RECURSIVE name AS (anchor UNION [ALL] recursive)`.
#[derive(Debug)]
pub struct RecursivePlan {
    /// Number under which the rows of the last round are found.
    pub table: u64,
    /// The part without recursion.
    pub anchor: QueryPlan,
    /// The part that reads the rows of the last round.
    pub step: QueryPlan,
    /// Ids of the derived tables in that part that read these rows. They are materialized again in each round.
    pub readers: Vec<u64>,
    /// Whether equal rows are kept: UNION ALL.
    pub keep_duplicates: bool,
    /// Columns that distinguish rows; empty if all do.
    pub cycle: Vec<usize>,
    /// Conversions of each column to the common type, for both parts.
    pub conversions: [Vec<Expr>; 2],
}

/// Plan of a set operation: UNION of any number of queries, EXCEPT and INTERSECT of two.
#[derive(Debug)]
pub struct SetPlan {
    /// Kind of the operation.
    pub operation: SetOperation,
    /// Queries from left to right. There is a single one if an order or limit is applied to a query with its own limit.
    pub sides: Vec<QueryPlan>,
    /// Conversions of each side's values to the common types: expressions over the side's row, or `None` if none is
    /// needed.
    pub conversions: Vec<Option<Vec<Expr>>>,
    /// ORDER BY of the whole, over the result's columns.
    pub order: Vec<SortItem>,
    /// LIMIT of the whole.
    pub limit: Limit,
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

/// A column of an enclosing query that a block reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OuterReference {
    /// Slot in the enclosing row.
    pub from: usize,
    /// Slot in the block's own row.
    pub to: usize,
}

/// One SELECT.
#[derive(Debug, Clone)]
pub struct SelectPlan {
    /// Number in EXPLAIN: 1 for the outermost SELECT.
    pub number: u32,
    /// Number of slots of its row.
    pub slot_count: usize,
    /// Columns that are copied from the enclosing row.
    pub outer: Vec<OuterReference>,
    /// Slot that contains the number of the row, from 1, for `ROWNUM()`.
    pub row_number: Option<usize>,
    /// Tables in the order of FROM.
    pub tables: Vec<TableInstance>,
    /// Steps of the join; empty without FROM.
    pub steps: Vec<JoinStep>,
    /// Conditions without tables, which hold for all rows or for none. If one is not true, there are no rows.
    pub constant_conditions: Vec<Expr>,
    /// Set if planning has found that there are no rows: the reason in EXPLAIN.
    pub impossible: Option<&'static str>,
    /// GROUP BY and aggregates.
    pub aggregation: Option<Aggregation>,
    /// HAVING.
    pub having: Vec<Expr>,
    /// Window functions. They are computed on the rows that pass HAVING.
    pub windows: Option<WindowPlan>,
    /// The select list.
    pub projection: Vec<Expr>,
    /// Whether quotients keep all their digits. An INSERT converts them to the types of its own columns.
    pub unrounded: bool,
    /// DISTINCT.
    pub distinct: bool,
    /// ORDER BY; empty if the rows already have that order.
    pub order: Vec<SortItem>,
    /// LIMIT.
    pub limit: Limit,
    /// SQL_CALC_FOUND_ROWS.
    pub count_found_rows: bool,
    /// Read mode of the rows.
    pub read: ReadMode,
    /// Whether the executor keeps each table's key and row image for the statement that changes the rows.
    pub keep_row_handles: bool,
    /// Further notes for EXPLAIN: "Using filesort", …
    pub notes: PlanNotes,
    /// Alternative that runs if a value has another kind than the order of the rows relies on.
    pub otherwise: Option<Otherwise>,
    /// Approximate number of rows without LIMIT.
    pub row_estimate: f64,
}

impl SelectPlan {
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

/// Alternative to a plan that relies on the order of an index.
#[derive(Debug, Clone)]
pub struct Otherwise {
    /// Equalities on which the plan with the order relies: each must allow only one value of its column.
    pub assumed: Vec<AssumedEquality>,
    /// A plan that does not rely on the order.
    pub select: Box<SelectPlan>,
}

/// `column = value` whose comparison rule depends on the value: 1 is equal to `'1'`, `'01'` and `'1a'` in a text
/// column.
#[derive(Debug, Clone)]
pub struct AssumedEquality {
    /// Type of the column.
    pub data_type: DataType,
    /// Value with which the column is compared.
    pub value: Expr,
    /// Comparison rule as far as it is known.
    pub by: paceline_expression::Comparison,
}

/// Notes for EXPLAIN.
#[derive(Debug, Default, Clone)]
pub struct PlanNotes {
    /// Whether ORDER BY needs a sort.
    pub filesort: bool,
    /// Whether rows are collected in memory first.
    pub temporary: bool,
}

/// Read mode of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadMode {
    /// Reads the transaction's snapshot. Under SERIALIZABLE it takes shared next-key locks instead.
    Snapshot,
    /// Reads the rows from which a statement computes its changes: INSERT … SELECT, subqueries of UPDATE and DELETE. As
    /// in InnoDB, it reads the newest rows under shared locks, so that reads and writes belong to the same moment.
    /// Below REPEATABLE READ most statements read a snapshot instead.
    Source(SourceLocks),
    /// Reads the newest rows and locks them.
    Locking {
        /// Strength of the locks.
        strength: LockStrength,
        /// Treatment of a lock that another transaction holds.
        wait: LockPatience,
    },
}

/// Isolation levels at which the sources of a change are locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceLocks {
    /// REPEATABLE READ and higher: INSERT … SELECT, REPLACE … SELECT, CREATE TABLE … SELECT, UPDATE.
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

/// Treatment of a lock that another transaction holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockPatience {
    /// Waits for `innodb_lock_wait_timeout`.
    Default,
    /// Fails at once with 1205.
    NoWait,
    /// Skips the row.
    SkipLocked,
    /// Waits up to this number of seconds.
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
    /// Columns that the query uses, as offsets in the table, ascending. Only these are decoded.
    pub used: Vec<usize>,
    /// Those of the used columns that are read with their trailing blanks (`PAD_CHAR_TO_FULL_LENGTH`), each with its
    /// length in characters.
    pub padding: Vec<(usize, usize)>,
    /// Approximate number of rows of the table.
    pub row_estimate: f64,
    /// Whether equal rows count once: a subquery of IN that was converted to a join.
    pub distinct: bool,
}

impl TableInstance {
    /// Adds the trailing blanks to CHAR values in the table's slots, if they are needed.
    pub(crate) fn pad(&self, slots: &mut [paceline_types::Value]) {
        for (column, length) in &self.padding {
            if let paceline_types::Value::Text(text) = &mut slots[*column] {
                let missing = length.saturating_sub(text.chars().count());
                text.extend(std::iter::repeat_n(' ', missing));
            }
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
    /// A view whose tables are among those of the block. It has names only, and no rows of its own.
    MergedView,
    /// The rows of the last round of a recursive query.
    Recursive(u64),
    /// Numbers: `seq_1_to_10`.
    Series(NumberSeries),
    /// A virtual table.
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
    /// Joined table or tables.
    pub source: StepSource,
    /// Conditions for a match.
    pub on: Vec<Expr>,
    /// Conditions that are checked afterwards; for an outer join also on rows without a match.
    pub filter: Vec<Expr>,
    /// Number of conditions that a row must pass before it is locked.
    candidate_count: usize,
}

impl JoinStep {
    /// Creates a step with its conditions.
    pub fn new(kind: JoinKind, source: StepSource, on: Vec<Expr>, filter: Vec<Expr>) -> Self {
        // The filter of an outer join does not decide whether rows match.
        let filtered = if kind == JoinKind::Left { &[][..] } else { &filter };
        let conditions = on.iter().chain(filtered);
        // A subquery may wait for rows. As in MariaDB the row for which it runs is locked first, so that two sessions
        // that wait for each other are found.
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
    /// only the conditions before the first one that must not be evaluated twice are included.
    pub fn candidate_conditions(&self) -> impl Iterator<Item = &Expr> {
        self.on.iter().chain(&self.filter).take(self.candidate_count)
    }
}

/// Treatment of a row without a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinKind {
    /// The row is dropped.
    Inner,
    /// The row continues with NULLs.
    Left,
    /// The row is dropped. With any number of matches it continues once.
    Semi,
}

/// Joined table or tables of a step.
#[derive(Debug, Clone)]
pub enum StepSource {
    /// One table.
    Table(TableAccess),
    /// Several tables that are joined with each other first: the inner side of an outer join.
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
    /// Index of the table in [`SelectPlan::tables`].
    pub table: usize,
    /// Access path.
    pub path: AccessPath,
    /// Direction of the scan.
    pub direction: ScanDirection,
    /// Approximate number of rows of one read.
    pub rows: f64,
    /// Usable indexes, as offsets in the table's definition, for EXPLAIN.
    pub possible: Vec<usize>,
    /// Whether the key alone is sufficient and no row is fetched.
    pub key_only: bool,
    /// Set if the entries of the path's index replace their rows.
    pub covering: Option<Box<Covering>>,
    /// Set if not all entries of the path's index are needed.
    pub loose: Option<LooseScan>,
    /// Conditions that are checked before the whole row is decoded.
    pub early: Option<Box<EarlyConditions>>,
}

/// The first conditions of a step, if they read few of the needed columns. A scan decodes these columns, checks the
/// conditions, and decodes the other columns only of rows that pass. The order of the conditions does not change, so
/// errors and warnings are the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlyConditions {
    /// Number of the step's conditions.
    pub conditions: usize,
    /// Columns of the table that they read, in order.
    pub columns: Vec<usize>,
    /// Other needed columns, in order.
    pub later_columns: Vec<usize>,
}

impl TableAccess {
    /// Creates a forward access by a path.
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

/// Entries of an index that replace their rows.
#[derive(Debug, Clone)]
pub struct Covering {
    /// Reads the needed columns from an entry.
    pub reader: EntryReader,
    /// The step's conditions without those that hold for all entries found; `None` if all are checked as on rows.
    pub rest: Option<Vec<Expr>>,
    /// Equalities on the index's first columns that justify omitting conditions. The index must be able to look up each
    /// of them.
    pub looked_for: Vec<AssumedEquality>,
}

/// A scan that skips: of the entries that share the values of an index's first columns, it needs only some.
#[derive(Debug, Clone, Copy)]
pub struct LooseScan {
    /// Number of shared columns of the index.
    pub parts: usize,
    /// Needed entries of each group.
    pub ends: GroupEnds,
}

/// Entries of a group that a [`LooseScan`] reads. It may read others too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupEnds {
    /// Any entry: only the shared columns matter.
    One,
    /// The entry with the lowest value of the next column that is not NULL, and one more.
    Least,
    /// The entry with the highest value of the next column, and one more.
    Greatest,
    /// The entries of both ends.
    Both,
}

/// Direction of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScanDirection {
    /// Ascending keys.
    Forward,
    /// Descending keys.
    Backward,
}

/// Way to read a table.
#[derive(Debug, Clone)]
pub enum AccessPath {
    /// All rows, in the order of the clustered key if there is one.
    All,
    /// All rows in the order of an index.
    Index {
        /// Index in the table's definition.
        index: usize,
    },
    /// The rows whose index entry begins with these values.
    Lookup {
        /// Index in the table's definition.
        index: usize,
        /// Values of the index's first parts.
        key: Vec<LookupPart>,
        /// Whether at most one row matches.
        unique: bool,
    },
    /// The rows in some ranges of an index.
    Range {
        /// Index in the table's definition.
        index: usize,
        /// Condition from which the ranges are computed at execution.
        condition: RangeCondition,
    },
    /// The rows in some ranges of several indexes, each row once: an OR over different columns.
    Union {
        /// Indexes, each with the condition for its ranges.
        parts: Vec<(usize, RangeCondition)>,
    },
    /// The rows with these values in a hash table, which is filled at first use.
    Hash {
        /// Pairs of an expression over this table's row and one over the earlier rows. Empty for a list whose rows are
        /// all used.
        keys: Vec<HashKey>,
        /// Reads the rows to keep: this table on its own.
        source: Box<JoinStep>,
    },
}

impl AccessPath {
    /// Returns the index that is read, if there is exactly one.
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
    /// Whether NULL is found too: `<=>` or IS NULL.
    pub null_safe: bool,
    /// Comparison rule.
    pub by: paceline_expression::Comparison,
}

/// One equality of a hash join.
#[derive(Debug, Clone)]
pub struct HashKey {
    /// Expression over the hashed table's own row.
    pub inner: Expr,
    /// Expression over the earlier rows.
    pub outer: Expr,
    /// Comparison rule.
    pub by: paceline_expression::Comparison,
}

/// GROUP BY and aggregates.
#[derive(Debug, Clone)]
pub struct Aggregation {
    /// GROUP BY; empty if all rows are one group.
    pub groups: Vec<Expr>,
    /// Whether GROUP BY was written. Without it there is always one group.
    pub explicit: bool,
    /// Aggregates, each with the slot of its result.
    pub aggregates: Vec<(Aggregate, usize)>,
    /// Slots that are kept of a group's first row.
    pub kept: Vec<usize>,
    /// Method that separates groups.
    pub strategy: GroupStrategy,
    /// WITH ROLLUP.
    pub rollup: bool,
    /// With ROLLUP: slots of the group keys, which are NULL in the rows with totals.
    pub group_slots: Vec<usize>,
}

/// Method that separates groups.
#[derive(Debug, Clone)]
pub enum GroupStrategy {
    /// All rows are one group.
    Single,
    /// The rows of a group follow each other.
    Ordered,
    /// A hash table. Its groups are returned in sorted order.
    Hash,
    /// MIN and MAX of indexed columns: one access for each aggregate, of which the first row counts.
    IndexEnds(Vec<Vec<JoinStep>>),
}

/// The window functions of a block.
#[derive(Debug, Clone)]
pub struct WindowPlan {
    /// Slots of a row that are read later or by the functions themselves, ascending.
    pub kept: Vec<usize>,
    /// Sorts that are executed one after the other, at least one.
    pub sorts: Vec<WindowSort>,
}

/// Window functions that share one order of the rows.
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
    /// Expression of the key.
    pub expr: Expr,
    /// Direction of the order.
    pub order: SortOrder,
}

/// A window function.
#[derive(Debug, Clone)]
pub struct PlannedWindow {
    /// Kind of the function.
    pub function: WindowFunction,
    /// Arguments of the function.
    pub args: Vec<Expr>,
    /// Number of the sort's keys that distinguish partitions.
    pub partition: usize,
    /// Number of the sort's keys that peers share; at least `partition`.
    pub peers: usize,
    /// Frame of the function.
    pub frame: Frame,
    /// Slot of the result.
    pub slot: usize,
    /// Slot of the result rounded to a number of digits after the point, if the function stands alone in the select
    /// list. There it is a column of MariaDB's temporary table; within an expression it is not.
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
