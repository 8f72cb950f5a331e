//! Executable plan of a statement, and the tables that it uses.

use std::sync::{Arc, OnceLock};

use paceline_types::ErrorCode;

use super::change_plan::{DeletePlan, InsertPlan, LoadPlan, UpdatePlan};
use super::handler_plan::HandlerPlan;
use super::result_column::ResultColumn;
use super::scan_counts::ScanCounts;
use super::text_dependence::{TextDependence, UnsafeReasons};
use super::tree;
use paceline_catalog::foreign_key::ForeignKeys;
use paceline_catalog::{Catalog, RoutineDefinition, TableDefinition, ViewDefinition};
use paceline_expression::Expr;
use paceline_syntax::ExplainFlavour;

/// A statement that can be executed any number of times.
#[derive(Debug)]
pub struct Plan {
    pub(crate) kind: PlanKind,
    pub(super) columns: Vec<ResultColumn>,
    pub(super) parameters: usize,
    pub(super) tables: Vec<TableUse>,
    pub(crate) foreign_keys: Option<Arc<ForeignKeys>>,
    /// Plans of the subqueries in expressions, by [`SubqueryId`].
    pub(crate) subqueries: Vec<Arc<tree::QueryPlan>>,
    /// Stored functions in expressions, by [`FunctionId`].
    pub(crate) functions: Vec<Arc<RoutineDefinition>>,
    pub(super) dependence: TextDependence,
    /// [`Plan::unsafe_reasons`], once they were asked for.
    pub(super) unsafe_reasons: OnceLock<UnsafeReasons>,
    pub(super) values: PlannedValues,
    pub(super) expected_rows: f64,
    pub(super) joined_rows: f64,
    pub(super) window_blocks: u64,
    pub(crate) scans: ScanCounts,
    /// Warnings of each execution.
    pub(super) warnings: Vec<(ErrorCode, String)>,
    /// Notes of each execution.
    pub(super) notes: Vec<(ErrorCode, String)>,
}

/// Values of parameters for which a plan was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlannedValues {
    /// Any: the plan does not depend on values.
    Any,
    /// The given values. Another plan may be better for others.
    Given,
    /// Only the given values: a parameter is the position of a column in ORDER BY or GROUP BY.
    Only,
    /// None: the parameters were unknown. A plan for the actual values may be better.
    Unknown,
}

/// Number of expected rows from which the rows that each step reads are counted. Reading so many takes some tens of
/// milliseconds, beside which the counting is not seen, and what is shorter has ended before anybody asks.
const LONG_FROM_ROWS: f64 = 100_000.0;

/// Number of expected rows from which execution is much more expensive than planning.
const WORTH_PLANNING_ROWS: f64 = 1_000.0;

/// Returns whether a statement with a cached plan should be planned again for the parameters of this execution. This
/// requires that the plan depends on parameters, and that it was made without values, is expected to be expensive, or
/// has been. A plan that reads few rows is executed unchanged.
pub fn is_to_be_planned_again(plan: &Plan, rows_read: u64) -> bool {
    let expected = plan.expected_rows();
    match plan.values() {
        PlannedValues::Any => false,
        PlannedValues::Unknown | PlannedValues::Only => true,
        PlannedValues::Given => {
            expected > WORTH_PLANNING_ROWS || rows_read as f64 > 4.0 * expected + WORTH_PLANNING_ROWS
        }
    }
}

/// Contents of a plan by the kind of statement.
#[derive(Debug)]
pub(crate) enum PlanKind {
    /// SELECT.
    Query(QueryStatementPlan),
    /// INSERT, REPLACE.
    Insert(Box<InsertPlan>),
    /// UPDATE.
    Update(Box<UpdatePlan>),
    /// DELETE.
    Delete(Box<DeletePlan>),
    /// LOAD DATA.
    Load(Box<LoadPlan>),
    /// DO.
    Do(Vec<Expr>),
    /// HANDLER.
    Handler(HandlerPlan),
    /// EXPLAIN: its rows.
    Explain(Vec<Vec<paceline_types::Value>>),
    /// ANALYZE of a statement, which is executed.
    Analyze(Box<AnalyzePlan>),
}

/// ANALYZE: the analyzed statement, and the form of its result.
#[derive(Debug)]
pub(crate) struct AnalyzePlan {
    pub statement: PlanKind,
    pub flavour: ExplainFlavour,
    pub planning_time: std::time::Duration,
}

/// SELECT as a statement.
#[derive(Debug)]
pub(crate) struct QueryStatementPlan {
    pub query: Arc<tree::QueryPlan>,
    /// `INTO @a, @b`.
    pub into: Option<Vec<String>>,
    /// Set if the statement reads one row by its clustered key.
    pub point: Option<PointRead>,
}

/// Read of plain columns of one row by the whole clustered key.
#[derive(Debug)]
pub(crate) struct PointRead {
    pub definition: Arc<TableDefinition>,
    /// Offset of the clustered index in the definition.
    pub index: usize,
    /// Values of the key's columns.
    pub key: Vec<tree::LookupPart>,
    /// Columns of the key.
    pub key_columns: Vec<usize>,
    /// Columns of the result.
    pub columns: Vec<usize>,
}

impl PointRead {
    /// Returns the point read of a query; `None` if it is another query.
    pub(super) fn of(query: &tree::QueryPlan) -> Option<PointRead> {
        let tree::QueryBody::Select(select) = &query.body else {
            return None;
        };
        let [step] = &select.steps[..] else { return None };
        let tree::StepSource::Table(access) = &step.source else {
            return None;
        };
        let tree::AccessPath::Lookup {
            index,
            key,
            unique: true,
        } = &access.path
        else {
            return None;
        };
        let table = &select.tables[access.table];
        let tree::TableSource::Base(definition) = &table.source else {
            return None;
        };
        let plain = select.aggregation.is_none()
            && select.having.is_empty()
            && select.windows.is_none()
            && select.order.is_empty()
            && select.constant_conditions.is_empty()
            && select.impossible.is_none()
            && select.outer.is_empty()
            && select.limit.count.is_none()
            && select.limit.offset.is_none()
            && !select.count_found_rows
            && select.read == tree::ReadMode::Snapshot
            && table.padding.is_empty()
            && step.kind == tree::JoinKind::Inner
            && step.on.is_empty();
        // Other conditions than those on the key need the general executor.
        let covered =
            step.filter.len() == key.len() && key.iter().all(|part| !part.null_safe && simple(&part.value));
        let clustered = definition.schema().clustered() == paceline_storage::RowPlacement::Key(*index);
        if !plain || !covered || !clustered {
            return None;
        }
        let columns: Option<Vec<usize>> = select
            .projection
            .iter()
            .map(|expr| match expr.kind {
                paceline_expression::ExprKind::Column(slot) => slot
                    .checked_sub(table.slots.start)
                    .filter(|c| *c < table.slots.len()),
                _ => None,
            })
            .collect();
        let key_columns = definition.indexes()[*index]
            .parts
            .iter()
            .map(|part| part.column)
            .collect();
        Some(PointRead {
            definition: definition.clone(),
            index: *index,
            key: key.clone(),
            key_columns,
            columns: columns?,
        })
    }
}

fn simple(expr: &Expr) -> bool {
    use paceline_expression::ExprKind;
    matches!(
        expr.kind,
        ExprKind::Literal(_) | ExprKind::Parameter(_) | ExprKind::UserVariable(_)
    )
}

/// A table that a statement uses, for metadata locks and privileges.
#[derive(Debug, Clone)]
pub struct TableUse {
    /// Database of the table.
    pub database: Arc<str>,
    /// Name of the table.
    pub name: Arc<str>,
    /// Definition for which the plan was made; `None` for virtual tables and views.
    pub definition: Option<Arc<TableDefinition>>,
    /// Use of the table.
    pub usage: TableUsage,
    /// The view, if it is one.
    pub view: Option<Arc<ViewDefinition>>,
    /// Account whose privileges are checked.
    pub access: Access,
    /// Aliases in the statement. LOCK TABLES requires a lock for each.
    pub aliases: Vec<Arc<str>>,
    /// Columns that the statement names, in the order in which it was bound. A column may be listed several times.
    pub columns: Vec<ColumnUse>,
}

/// A column that a statement names, for its privilege.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnUse {
    /// Number of the column in its table or view.
    pub column: usize,
    /// Use of the column.
    pub usage: ColumnUsage,
}

/// Use of a column by a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnUsage {
    /// Reads it.
    Read,
    /// Reads it because of `*`.
    ReadAll,
    /// Inserts it.
    Insert,
    /// Inserts it because all columns are inserted.
    InsertAll,
    /// Updates it.
    Update,
}

impl TableUse {
    /// Returns whether it is a temporary table of the session.
    pub fn is_temporary(&self) -> bool {
        self.definition
            .as_ref()
            .is_some_and(|definition| definition.is_temporary())
    }
}

/// Account whose privileges are checked for a table.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// Definer of a view with SQL SECURITY DEFINER; `None` for the account of the session.
    pub definer: Option<Arc<(String, String)>>,
    /// View named in the statement through which the table is used.
    pub through: Option<Arc<ViewDefinition>>,
}

impl Access {
    pub(super) fn is_same(&self, other: &Access) -> bool {
        let view = |access: &Access| access.through.as_ref().map(Arc::as_ptr);
        self.definer == other.definer && view(self) == view(other)
    }
}

/// Use of a table by a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TableUsage {
    /// Rows are read.
    pub select: bool,
    /// The statement inserts rows.
    pub insert: bool,
    /// The statement updates rows.
    pub update: bool,
    /// The statement deletes rows.
    pub delete: bool,
    /// The statement locks rows (FOR UPDATE, LOCK IN SHARE MODE).
    pub lock: bool,
    /// Rows are locked exclusively (FOR UPDATE), which another session's LOCK TABLES … READ excludes.
    pub exclusive: bool,
    /// Actions of foreign keys may change rows.
    pub action: bool,
    /// Values of the sequence are taken or set.
    pub sequence: bool,
    /// A query names the table in its FROM, which needs SELECT even if it names no column. The rows that a statement
    /// changes are read without.
    pub queried: bool,
}

impl TableUsage {
    /// Adds another use.
    pub(super) fn add(&mut self, other: TableUsage) {
        self.select |= other.select;
        self.insert |= other.insert;
        self.update |= other.update;
        self.delete |= other.delete;
        self.lock |= other.lock;
        self.exclusive |= other.exclusive;
        self.action |= other.action;
        self.queried |= other.queried;
        self.sequence |= other.sequence;
    }

    /// Returns whether rows are written, or values of a sequence are taken.
    pub fn writes(self) -> bool {
        self.insert || self.update || self.delete || self.sequence
    }

    /// Returns whether the statement itself uses the table. Otherwise foreign keys do, which needs no privilege.
    pub fn is_named(self) -> bool {
        self.select || self.lock || self.writes()
    }
}

/// Kind of statement, for the server's counters and the read-only check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanType {
    /// SELECT, DO, EXPLAIN.
    Query,
    /// INSERT.
    Insert,
    /// REPLACE.
    Replace,
    /// UPDATE.
    Update,
    /// DELETE.
    Delete,
    /// LOAD DATA.
    Load,
}

impl Plan {
    /// Returns the columns of the result; empty without a result.
    pub fn columns(&self) -> &[ResultColumn] {
        &self.columns
    }

    /// Returns whether the statement has a result set, which may be empty.
    pub fn has_result_set(&self) -> bool {
        !self.columns.is_empty()
            && !matches!(
                &self.kind,
                PlanKind::Query(QueryStatementPlan { into: Some(_), .. })
            )
    }

    /// Returns the values for which the plan was made.
    pub fn values(&self) -> PlannedValues {
        self.values
    }

    /// Returns the warnings of each execution.
    pub(crate) fn warnings(&self) -> &[(ErrorCode, String)] {
        &self.warnings
    }

    /// Returns the notes of each execution.
    pub(crate) fn notes(&self) -> &[(ErrorCode, String)] {
        &self.notes
    }

    /// Returns the estimated number of rows that the largest access reads.
    pub fn expected_rows(&self) -> f64 {
        self.expected_rows
    }

    /// Returns the estimated number of rows of the largest join, which `max_join_size` limits.
    pub(crate) fn joined_rows(&self) -> f64 {
        self.joined_rows
    }

    /// Returns whether it reads a table without an index.
    pub fn uses_no_index(&self) -> bool {
        self.scans.uses_no_index()
    }

    /// Returns the number of blocks with window functions.
    pub fn window_blocks(&self) -> u64 {
        self.window_blocks
    }

    /// Returns the number of `?` parameters.
    pub fn parameter_count(&self) -> usize {
        self.parameters
    }

    /// Returns the used tables, each once.
    pub fn tables(&self) -> &[TableUse] {
        &self.tables
    }

    /// Returns the stored functions that expressions call.
    pub fn functions(&self) -> &[Arc<RoutineDefinition>] {
        &self.functions
    }

    /// Returns what the text of the statement depends on.
    pub fn text_dependence(&self) -> &TextDependence {
        &self.dependence
    }

    /// Returns whether the statement runs stored functions or triggers.
    pub fn runs_programs(&self) -> bool {
        let has_triggers = |table: &TableUse| {
            let definition = table.definition.as_ref();
            table.usage.writes()
                && definition.is_some_and(|definition| !definition.triggers().all().is_empty())
        };
        !self.functions.is_empty() || self.tables.iter().any(has_triggers)
    }

    /// Returns whether the statement is EXPLAIN or ANALYZE of another one.
    pub fn is_explained(&self) -> bool {
        matches!(self.kind, PlanKind::Explain(_) | PlanKind::Analyze(_))
    }

    /// Returns the kind of the executed statement: of ANALYZE the analyzed one.
    pub(crate) fn executed_kind(&self) -> &PlanKind {
        match &self.kind {
            PlanKind::Analyze(analyzed) => &analyzed.statement,
            kind => kind,
        }
    }

    /// Returns whether it reads one row by its clustered key, without the general executor.
    pub fn is_point_read(&self) -> bool {
        matches!(&self.kind, PlanKind::Query(query) if query.point.is_some())
    }

    /// Returns whether its execution is measured for other sessions: ANALYZE, with times, and what is expected to take
    /// so long that somebody may ask (SHOW ANALYZE), without.
    pub fn is_measured(&self) -> bool {
        matches!(self.kind, PlanKind::Analyze(_))
            || self.joined_rows.max(self.expected_rows) >= LONG_FROM_ROWS
    }

    /// Returns the kind of statement.
    pub fn plan_type(&self) -> PlanType {
        match self.executed_kind() {
            PlanKind::Query(_)
            | PlanKind::Do(_)
            | PlanKind::Handler(_)
            | PlanKind::Explain(_)
            | PlanKind::Analyze(_) => PlanType::Query,
            PlanKind::Insert(insert) if insert.replace => PlanType::Replace,
            PlanKind::Insert(_) => PlanType::Insert,
            PlanKind::Update(_) => PlanType::Update,
            PlanKind::Delete(_) => PlanType::Delete,
            PlanKind::Load(_) => PlanType::Load,
        }
    }

    /// Returns whether the statement changes rows.
    pub fn writes(&self) -> bool {
        self.tables.iter().any(|table| table.usage.writes())
    }

    /// Returns whether the statement changes rows of tables that are not temporary. Only these changes are logged, and
    /// excluded by a global read lock.
    pub fn writes_ordinary(&self) -> bool {
        self.tables
            .iter()
            .any(|table| table.usage.writes() && !table.is_temporary())
    }

    /// Returns whether the tables are still those for which the plan was made. The caller must hold the statement's
    /// metadata locks.
    pub fn is_current(&self, catalog: &Catalog) -> bool {
        let is_same = |table: &TableUse| match &table.definition {
            None => match &table.view {
                None => true,
                Some(view) => catalog
                    .view(&table.database, &table.name)
                    .is_some_and(|current| Arc::ptr_eq(current, view)),
            },
            Some(definition) if definition.is_temporary() => catalog.has_temporary(definition),
            Some(definition) => {
                let current = match table.usage.is_named() {
                    true => catalog.table(&table.database, &table.name),
                    false => catalog.ordinary_table(&table.database, &table.name),
                };
                current.is_some_and(|current| Arc::ptr_eq(current, definition))
            }
        };
        let has_no_keys = |table: &TableUse| {
            !table.usage.writes()
                || table.is_temporary()
                || catalog.referrers(&table.database, &table.name).is_none()
        };
        let is_same_function = |function: &Arc<RoutineDefinition>| {
            let current = catalog.routine(function.kind, &function.database, &function.name);
            current.is_some_and(|current| Arc::ptr_eq(current, function))
        };
        self.tables.iter().all(is_same)
            && self.functions.iter().all(is_same_function)
            && match &self.foreign_keys {
                Some(keys) => keys.is_current(catalog),
                None => self.tables.iter().all(has_no_keys),
            }
    }
}
