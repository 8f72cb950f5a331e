//! What a plan consists of: a tree of query blocks, each with its tables in join order.
//!
//! One query block (one SELECT) works on one flat row of *slots*. Slots are given out while binding: the columns of
//! every table of FROM, then whatever binding meets besides: columns of queries around the block (*outer references*:
//! copied in before the block runs), finished aggregates, results of window functions. So all expressions of a block
//! read the same row at every stage:
//!
//! ```text
//!   slots    t.id  t.a  t.b │ u.id  u.c │ outer x.y │ SUM(t.a)  COUNT(*)
//!            └── join fills ──────────┘   └ caller ┘   └─ grouping fills ┘
//! ```
//!
//! Grouping keeps the slots of a group's first row and puts the aggregates beside them, so HAVING, the select list and
//! ORDER BY are evaluated on a row of the same shape as WHERE.

use std::ops::Range;
use std::sync::Arc;

use paceline_storage::EntryReader;
use paceline_txn::IsolationLevel;
use paceline_types::DataType;

use super::range::RangeCondition;
use super::result_column::ResultColumn;
use paceline_catalog::{NumberSeries, TableDefinition};
use paceline_expression::{Aggregate, Expr, ExprKind, ExprType, Frame, SortOrder, WindowFunction};

/// A query: one block or several under set operations, with what holds for the whole.
#[derive(Debug)]
pub struct QueryPlan {
    /// Tells it from every other query of the process; keys what is materialised of it during an execution.
    pub id: u64,
    /// What makes the rows.
    pub body: QueryBody,
    /// Its columns.
    pub columns: Vec<ResultColumn>,
    /// The columns' types.
    pub types: Vec<ExprType>,
    /// Whether it reads rows of a query around it.
    pub correlated: bool,
}

impl QueryPlan {
    /// The LIMIT of the whole.
    pub fn limit(&self) -> Option<&Limit> {
        match &self.body {
            QueryBody::Select(select) => Some(&select.limit),
            QueryBody::Set(set) => Some(&set.limit),
            QueryBody::Values(values) => Some(&values.limit),
            QueryBody::Recursive(_) => None,
        }
    }

    /// Returns the slots of the row around it that a subquery reads, each once.
    pub fn outer_slots(&self) -> Vec<usize> {
        fn collect(plan: &QueryPlan, slots: &mut Vec<usize>) {
            match &plan.body {
                QueryBody::Select(select) => slots.extend(select.outer.iter().map(|outer| outer.from)),
                QueryBody::Set(set) => set.sides.iter().for_each(|side| collect(side, slots)),
                QueryBody::Values(values) => slots.extend(values.outer.iter().map(|outer| outer.from)),
                // It is not given the row around it.
                QueryBody::Recursive(_) => {}
            }
        }
        let mut slots = Vec::new();
        collect(self, &mut slots);
        slots.sort_unstable();
        slots.dedup();
        slots
    }

    /// The number of the first SELECT.
    pub fn first_select_number(&self) -> u32 {
        match &self.body {
            QueryBody::Select(select) => select.number,
            QueryBody::Set(set) => set.sides[0].first_select_number(),
            QueryBody::Values(_) => 0,
            QueryBody::Recursive(recursive) => recursive.anchor.first_select_number(),
        }
    }

    /// Whether MariaDB would merge a derived table of this query.
    pub fn is_mergeable(&self) -> bool {
        matches!(&self.body, QueryBody::Select(select) if select.is_mergeable())
    }

    /// Whether SQL_CALC_FOUND_ROWS asks how many rows there would be without LIMIT.
    pub fn counts_found_rows(&self) -> bool {
        match &self.body {
            QueryBody::Select(select) => select.count_found_rows,
            QueryBody::Set(set) => set.sides.first().is_some_and(Self::counts_found_rows),
            _ => false,
        }
    }
}

/// What makes a query's rows.
#[derive(Debug)]
pub enum QueryBody {
    /// One SELECT.
    Select(Box<SelectPlan>),
    /// UNION, EXCEPT, INTERSECT.
    Set(Box<SetPlan>),
    /// `VALUES (…), (…)`: a list of rows.
    Values(Box<ValuesPlan>),
    /// A reference to the recursive table inside its own definition: the rows of the last round.
    Recursive(Box<RecursivePlan>),
}

/// `VALUES (…), (…)`.
#[derive(Debug)]
pub struct ValuesPlan {
    /// The rows.
    pub rows: Vec<Vec<Expr>>,
    /// Slots of its row: outer references only.
    pub slot_count: usize,
    /// Which slots are copied in.
    pub outer: Vec<OuterReference>,
    /// ORDER BY, over the columns.
    pub order: Vec<SortItem>,
    /// LIMIT.
    pub limit: Limit,
}

/// `WITH RECURSIVE name AS (anchor UNION [ALL] recursive)`.
#[derive(Debug)]
pub struct RecursivePlan {
    /// The number under which the rows of the last round are found.
    pub table: u64,
    /// The part without the recursion.
    pub anchor: QueryPlan,
    /// The part that reads the rows of the last round.
    pub step: QueryPlan,
    /// The derived tables within that part that read them, and are made anew for each round.
    pub readers: Vec<u64>,
    /// UNION ALL keeps equal rows.
    pub keep_duplicates: bool,
    /// How each value becomes one of the common type, for both parts.
    pub conversions: [Vec<Expr>; 2],
}

/// UNION of queries; EXCEPT and INTERSECT of two.
#[derive(Debug)]
pub struct SetPlan {
    /// Which.
    pub operation: SetOperation,
    /// From left to right; a single one where what is arranged anew is one query with a limit of its own.
    pub sides: Vec<QueryPlan>,
    /// How each side's values become those of the common types: expressions over the side's row; `None` if they are
    /// that already.
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

/// LIMIT and OFFSET, evaluated when the query starts.
#[derive(Debug, Default, Clone)]
pub struct Limit {
    /// How many rows at most.
    pub count: Option<Expr>,
    /// How many to leave out first.
    pub offset: Option<Expr>,
}

/// A column of the query around a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OuterReference {
    /// The slot in the row around.
    pub from: usize,
    /// The slot in the block's own row.
    pub to: usize,
}

/// One SELECT.
#[derive(Debug, Clone)]
pub struct SelectPlan {
    /// The number that EXPLAIN gives it: 1 for the outermost.
    pub number: u32,
    /// How many slots its row has.
    pub slot_count: usize,
    /// What is copied from the row around.
    pub outer: Vec<OuterReference>,
    /// The tables, as FROM names them.
    pub tables: Vec<TableInstance>,
    /// How they are joined; empty without FROM.
    pub steps: Vec<JoinStep>,
    /// Conditions without tables, which hold for all rows or for none: when one is not true, there are no rows.
    pub constant_conditions: Vec<Expr>,
    /// Known while planning to have no rows: the reason that EXPLAIN tells.
    pub impossible: Option<&'static str>,
    /// GROUP BY and aggregates.
    pub aggregation: Option<Aggregation>,
    /// HAVING.
    pub having: Vec<Expr>,
    /// Window functions, computed on the rows that HAVING leaves.
    pub windows: Option<WindowPlan>,
    /// The select list.
    pub projection: Vec<Expr>,
    /// Whether quotients keep all their digits: an INSERT stores them in types of its own.
    pub unrounded: bool,
    /// DISTINCT.
    pub distinct: bool,
    /// ORDER BY, where the rows do not come in that order.
    pub order: Vec<SortItem>,
    /// LIMIT.
    pub limit: Limit,
    /// SQL_CALC_FOUND_ROWS.
    pub count_found_rows: bool,
    /// How rows are read.
    pub read: ReadMode,
    /// Whether the executor keeps each table's key and image for the statement that changes them.
    pub keep_row_handles: bool,
    /// What EXPLAIN says besides: "Using filesort", …
    pub notes: PlanNotes,
    /// What runs instead where the values are not of the kind that the order of its rows relies on.
    pub otherwise: Option<Otherwise>,
    /// About how many rows there are without LIMIT.
    pub row_estimate: f64,
}

impl SelectPlan {
    /// Whether MariaDB would merge a derived table of this SELECT.
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

/// A plan that relies on no order of an index, for one that does.
#[derive(Debug, Clone)]
pub struct Otherwise {
    /// Each must mean one value of its column for the plan that relies on the order.
    pub assumed: Vec<AssumedEquality>,
    /// The plan.
    pub select: Box<SelectPlan>,
}

/// `column = value`, where only the value tells how both are compared: 1 equals `'1'`, `'01'` and `'1a'` of a text
/// column.
#[derive(Debug, Clone)]
pub struct AssumedEquality {
    /// The column's type.
    pub data_type: DataType,
    /// The value.
    pub value: Expr,
    /// By which rule.
    pub by: paceline_expression::Comparison,
}

/// Facts that only EXPLAIN wants.
#[derive(Debug, Default, Clone)]
pub struct PlanNotes {
    /// An ORDER BY was asked for that needs sorting.
    pub filesort: bool,
    /// Rows are collected in memory first.
    pub temporary: bool,
}

/// How a block reads rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadMode {
    /// The transaction's snapshot (shared next-key locks under SERIALIZABLE).
    Snapshot,
    /// What a statement reads beside the rows that it changes: INSERT … SELECT, subqueries of UPDATE and DELETE. As in
    /// InnoDB the newest rows, locked shared, so that what was read and what was written belong to the same moment;
    /// below REPEATABLE READ most statements read a snapshot instead.
    Source(SourceLocks),
    /// The newest rows, locked.
    Locking {
        /// Exclusive or shared.
        strength: LockStrength,
        /// What to do about a lock that another transaction has.
        wait: LockPatience,
    },
}

/// At which isolation levels the sources of a change are locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceLocks {
    /// INSERT … SELECT, REPLACE … SELECT, CREATE TABLE … SELECT, UPDATE: below REPEATABLE READ they lock nothing.
    FromRepeatableRead,
    /// INSERT … VALUES with subqueries, DELETE, DO.
    Always,
}

impl ReadMode {
    /// Whether the query itself asks for locks.
    pub fn is_locking(self) -> bool {
        matches!(self, ReadMode::Locking { .. })
    }

    /// How rows are read at an isolation level: [`ReadMode::Snapshot`] or [`ReadMode::Locking`].
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

/// How strong a locking read locks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockStrength {
    /// LOCK IN SHARE MODE.
    Shared,
    /// FOR UPDATE, UPDATE, DELETE.
    Exclusive,
}

/// What a locking read does about a lock that another transaction has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockPatience {
    /// Waits for `innodb_lock_wait_timeout`.
    Default,
    /// 1205 at once.
    NoWait,
    /// Leaves the row out.
    SkipLocked,
    /// Waits so many seconds.
    Seconds(u64),
}

/// A table of FROM.
#[derive(Debug, Clone)]
pub struct TableInstance {
    /// The name by which the query calls it.
    pub alias: Arc<str>,
    /// Its database, for a base table.
    pub database: Arc<str>,
    /// Its slots in the block's row.
    pub slots: Range<usize>,
    /// Where its rows come from.
    pub source: TableSource,
    /// The columns that the query uses, as offsets in the table, ascending: only they are decoded.
    pub used: Vec<usize>,
    /// Those of them that are read with their trailing blanks (`PAD_CHAR_TO_FULL_LENGTH`), and how many characters they
    /// then have.
    pub padding: Vec<(usize, usize)>,
    /// About how many rows it has.
    pub row_estimate: f64,
    /// Equal rows count once: a subquery of IN that was turned into a join.
    pub distinct: bool,
}

impl TableInstance {
    /// Gives CHAR values in the table's slots their trailing blanks, where they are to have them.
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

/// Where a table's rows come from.
#[derive(Debug, Clone)]
pub enum TableSource {
    /// A stored table.
    Base(Arc<TableDefinition>),
    /// A query: a derived table, or a common table expression.
    Derived(Arc<QueryPlan>),
    /// A view whose tables are among those of the block: it has names only, and no rows of its own.
    MergedView,
    /// The rows of the last round of a recursive query.
    Recursive(u64),
    /// Numbers: `seq_1_to_10`.
    Series(NumberSeries),
    /// A table that the server makes on demand.
    Virtual {
        /// Its database.
        database: Arc<str>,
        /// Its name.
        table: Arc<str>,
    },
}

/// One step of the nested loops: for each row so far, the matching rows of one table (or of several joined among
/// themselves).
#[derive(Debug, Clone)]
pub struct JoinStep {
    /// What happens with a row that finds no match.
    pub kind: JoinKind,
    /// What is joined.
    pub source: StepSource,
    /// What decides whether rows match.
    pub on: Vec<Expr>,
    /// What is checked after that; for an outer join also on rows without a match.
    pub filter: Vec<Expr>,
    /// How many of these conditions a row must pass before it is locked.
    candidate_count: usize,
}

impl JoinStep {
    /// A step with its conditions.
    pub fn new(kind: JoinKind, source: StepSource, on: Vec<Expr>, filter: Vec<Expr>) -> Self {
        // Those behind an outer join say nothing about a match.
        let filtered = if kind == JoinKind::Left { &[][..] } else { &filter };
        let conditions = on.iter().chain(filtered);
        // A subquery may wait for rows: the row that asks is locked first, as in MariaDB, so that two who wait for each
        // other are seen.
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

    /// The conditions that a row which is not locked yet must pass. They are evaluated again under the lock: so only
    /// those in front of the first that must not be evaluated twice.
    pub fn candidate_conditions(&self) -> impl Iterator<Item = &Expr> {
        self.on.iter().chain(&self.filter).take(self.candidate_count)
    }
}

/// What happens with a row that finds no match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinKind {
    /// It is dropped.
    Inner,
    /// It goes on with NULLs.
    Left,
    /// It is dropped, and goes on once however many matches it has.
    Semi,
}

/// What a step joins.
#[derive(Debug, Clone)]
pub enum StepSource {
    /// One table.
    Table(TableAccess),
    /// Several, joined among themselves first: the inner side of an outer join.
    Nest(Vec<JoinStep>),
}

impl StepSource {
    /// Calls `visit` for each table access in it.
    pub fn for_each_access<'p>(&'p self, visit: &mut dyn FnMut(&'p TableAccess)) {
        match self {
            StepSource::Table(access) => visit(access),
            StepSource::Nest(steps) => steps.iter().for_each(|step| step.source.for_each_access(visit)),
        }
    }
}

/// How one table is read.
#[derive(Debug, Clone)]
pub struct TableAccess {
    /// Which of [`SelectPlan::tables`].
    pub table: usize,
    /// The way.
    pub path: AccessPath,
    /// Whether rows come from the end.
    pub direction: ScanDirection,
    /// About how many rows one reading gives.
    pub rows: f64,
    /// Indexes that would have served, as offsets in the table's definition; for EXPLAIN.
    pub possible: Vec<usize>,
    /// Whether the key alone answers: no row has to be fetched.
    pub key_only: bool,
    /// How the entries of the path's index answer without their rows, where they do.
    pub covering: Option<Box<Covering>>,
    /// Where not all entries of the path's index are wanted.
    pub loose: Option<LooseScan>,
    /// Conditions that are checked before the whole row is decoded.
    pub early: Option<Box<EarlyConditions>>,
}

/// The first conditions of a step, which read few of the columns that are wanted. A scan decodes these columns, checks
/// the conditions, and decodes the others of rows that pass. The order of the conditions stays, so that errors and
/// warnings are the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlyConditions {
    /// How many of the step's conditions.
    pub conditions: usize,
    /// The table's columns that they read, in order.
    pub columns: Vec<usize>,
    /// The other columns that are wanted, in order.
    pub later_columns: Vec<usize>,
}

impl TableAccess {
    /// Reading a table by a path, forward.
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

/// Entries of an index that answer without the rows that they stand for.
#[derive(Debug, Clone)]
pub struct Covering {
    /// Reads the columns that are wanted.
    pub reader: EntryReader,
    /// The step's conditions but for those that hold for all entries found; `None` where all are checked as they are on
    /// rows.
    pub rest: Option<Vec<Expr>>,
    /// Equalities of the index's first columns on which leaving out conditions rests: each must be one that the index
    /// can look for.
    pub looked_for: Vec<AssumedEquality>,
}

/// A scan that skips: of the entries that share the values of an index's first columns, only some are wanted.
#[derive(Debug, Clone, Copy)]
pub struct LooseScan {
    /// How many columns of the index.
    pub parts: usize,
    /// Which entries.
    pub ends: GroupEnds,
}

/// The entries of a group that a [`LooseScan`] reads; others may be among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupEnds {
    /// Any one: only the shared columns count.
    One,
    /// The least value of the next column that is not NULL, and one besides.
    Least,
    /// The greatest value of the next column, and one besides.
    Greatest,
    /// Both.
    Both,
}

/// Which way a scan goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScanDirection {
    /// In the order of the keys.
    Forward,
    /// Against it.
    Backward,
}

/// A way to read a table.
#[derive(Debug, Clone)]
pub enum AccessPath {
    /// All rows, in the order of the primary key (or as they come).
    All,
    /// All rows in the order of an index.
    Index {
        /// Which of the table's indexes.
        index: usize,
    },
    /// The rows whose index begins with these values.
    Lookup {
        /// Which of the table's indexes.
        index: usize,
        /// One value for each of the index's first parts.
        key: Vec<LookupPart>,
        /// Whether there is at most one such row.
        unique: bool,
    },
    /// The rows in some ranges of an index.
    Range {
        /// Which of the table's indexes.
        index: usize,
        /// From which the ranges are computed when the query runs.
        condition: RangeCondition,
    },
    /// The rows in some ranges of several indexes, each row once: OR over different columns.
    Union {
        /// Indexes with what to look for in each.
        parts: Vec<(usize, RangeCondition)>,
    },
    /// Rows are put into a hash table at first use; then the rows with these values.
    Hash {
        /// (expression over this table's row, expression over the rows before): equal by the comparison between them.
        /// None for a list of rows, all of which are taken.
        keys: Vec<HashKey>,
        /// What reads the rows that are put there: this table by itself.
        source: Box<JoinStep>,
    },
}

impl AccessPath {
    /// The one index that is read.
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
    /// The value.
    pub value: Expr,
    /// `<=>` or IS NULL: NULL is found too.
    pub null_safe: bool,
    /// By which rule it is compared.
    pub by: paceline_expression::Comparison,
}

/// One equality of a hash join.
#[derive(Debug, Clone)]
pub struct HashKey {
    /// Over the hashed table's own row.
    pub inner: Expr,
    /// Over the rows before.
    pub outer: Expr,
    /// By which rule both are compared.
    pub by: paceline_expression::Comparison,
}

/// GROUP BY and aggregates.
#[derive(Debug, Clone)]
pub struct Aggregation {
    /// GROUP BY; empty for one group of all rows.
    pub groups: Vec<Expr>,
    /// Whether GROUP BY was written: without it there is always one group.
    pub explicit: bool,
    /// The aggregates with the slot of their result.
    pub aggregates: Vec<(Aggregate, usize)>,
    /// Slots that are kept of a group's first row.
    pub kept: Vec<usize>,
    /// How groups are told apart.
    pub strategy: GroupStrategy,
    /// WITH ROLLUP.
    pub rollup: bool,
    /// With ROLLUP: the slots that hold the group keys, NULL where a line sums them up.
    pub group_slots: Vec<usize>,
}

/// How groups are told apart.
#[derive(Debug, Clone)]
pub enum GroupStrategy {
    /// All rows are one group.
    Single,
    /// Rows of a group come one after the other.
    Ordered,
    /// A hash table; the groups come out sorted.
    Hash,
    /// MIN and MAX of indexed columns: one access for each aggregate, of which the first row counts.
    IndexEnds(Vec<Vec<JoinStep>>),
}

/// The window functions of a block.
#[derive(Debug, Clone)]
pub struct WindowPlan {
    /// The slots of a row that are read afterwards, or by the functions themselves; ascending.
    pub kept: Vec<usize>,
    /// How they are computed: one sort after the other. There is at least one.
    pub sorts: Vec<WindowSort>,
}

/// Window functions that one order of the rows serves.
#[derive(Debug, Clone)]
pub struct WindowSort {
    /// What the rows are sorted by.
    pub keys: Vec<WindowKey>,
    /// The functions.
    pub functions: Vec<PlannedWindow>,
}

/// A key of a [`WindowSort`].
#[derive(Debug, Clone)]
pub struct WindowKey {
    /// What is sorted by.
    pub expr: Expr,
    /// Which way.
    pub order: SortOrder,
}

/// A window function.
#[derive(Debug, Clone)]
pub struct PlannedWindow {
    /// Which.
    pub function: WindowFunction,
    /// Its arguments.
    pub args: Vec<Expr>,
    /// How many of the sort's keys tell partitions from each other.
    pub partition: usize,
    /// How many of the sort's keys two rows must share to be peers; at least as many.
    pub peers: usize,
    /// Its frame.
    pub frame: Frame,
    /// The slot of its result.
    pub slot: usize,
    /// The slot of its result rounded to so many digits behind the point, where it stands alone in the select list: it
    /// is a column of MariaDB's temporary table there, but within an expression it is not.
    pub rounded: Option<(usize, u8)>,
}

/// One key of ORDER BY.
#[derive(Debug, Clone)]
pub struct SortItem {
    /// What is sorted by.
    pub key: SortKey,
    /// DESC.
    pub descending: bool,
}

/// What is sorted by.
#[derive(Debug, Clone)]
pub enum SortKey {
    /// A column of the result.
    Output(usize),
    /// An expression over the block's row.
    Expr(Expr),
}
