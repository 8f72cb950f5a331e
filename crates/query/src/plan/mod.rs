//! From a parsed statement to a plan: names bound, access paths chosen.
//!
//! ```text
//!   Statement ──bind──▶ blocks of bound expressions ──optimize──▶ Plan ──▶ execute
//!               catalog,      (conditions split at AND,   statistics
//!               session        outer joins turned inner)
//! ```
//!
//! * [`tree`] is what a plan consists of, and the row layout that binding and execution share.
//! * [`block`] is one query block while it is bound, [`scope`] what names mean in it; [`from`] binds its tables,
//!   [`select`] the rest of it, [`set_operation`] UNION and its like.
//! * [`conditions`] takes conditions apart, [`keys`] finds what an index can serve, [`range`] turns conditions into
//!   ranges of an index when the statement runs, [`join_order`] picks the cheapest order of tables and each one's
//!   access path.
//! * [`index_order`] uses the order of an index, [`covering`] reads indexes without rows, [`loose_scan`] skips through
//!   them; [`known_values`] is what planning knows of values.
//! * [`schema_names`] tells databases and tables apart by case where `information_schema` is asked for one.
//! * [`dml`] plans INSERT, UPDATE and DELETE, [`defaults`] what a table gives its rows, [`source_columns`] what ON
//!   DUPLICATE KEY UPDATE reads of a SELECT, [`load`] LOAD DATA; [`explain`] tells what was chosen, [`trace`] what each
//!   pass has changed.
//!
//! A plan holds no values of the session's data: ranges and lookups are expressions, computed when the plan is
//! executed, so that a prepared statement's plan serves any parameters. It is valid as long as [`Plan::is_current`]
//! says so.

mod block;
mod buffered;
mod common_table;
mod conditions;
mod covering;
mod defaults;
mod dml;
mod early_conditions;
mod equalities;
mod estimates;
mod explain;
mod explain_json;
mod from;
mod index_order;
mod join_order;
mod keys;
pub(crate) mod known_values;
mod load;
mod loose_scan;
pub(crate) mod range;
mod result_column;
mod schema_names;
mod scope;
mod select;
mod semi_join;
mod set_operation;
mod source_columns;
mod statistics;
mod trace;
pub(crate) mod tree;
mod unread_columns;
mod view;
mod volatile;
mod window;

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub use load::{RowFormat, has_odd_separators};
pub use result_column::{ColumnOrigin, ResultColumn, Through};
pub use statistics::{Statistics, StatisticsSource};

pub(crate) use dml::{
    AssignmentPlan, CheckPlan, DefaultPlan, DeletePlan, InsertPlan, InsertRows, UpdatePlan, UpdateTarget,
};

pub(crate) use load::{LoadPlan, LoadTarget};

use paceline_types::ErrorCode;

use crate::error::{Error, Result};
use paceline_catalog::foreign_key::{Changes, ForeignKeys};
use paceline_catalog::{Catalog, NumberSeries, SYSTEM_DATABASE, TableDefinition, ViewDefinition};
use paceline_expression::session::SessionContext;
use paceline_expression::{Expr, ExprType};
use paceline_syntax::Statement;

/// What planning needs to know.
#[derive(Clone, Copy)]
pub struct PlanContext<'a> {
    /// The catalog under which the plan is made; the statement's metadata locks are taken after and
    /// [`Plan::is_current`] asked again.
    pub catalog: &'a Arc<Catalog>,
    /// The session: its database, SQL mode, variables.
    pub session: &'a SessionContext,
    /// What is known about the tables' sizes.
    pub statistics: &'a Statistics,
    /// The values of `?`, where the plan is made to be executed with them; it serves others, too.
    pub parameters: &'a [paceline_types::Value],
}

/// A statement ready to run, as often as one likes.
#[derive(Debug)]
pub struct Plan {
    pub(crate) kind: PlanKind,
    columns: Vec<ResultColumn>,
    parameters: usize,
    tables: Vec<TableUse>,
    pub(crate) foreign_keys: Option<Arc<ForeignKeys>>,
    values: PlannedValues,
    expected_rows: f64,
    /// What there is to say of the statement each time that it is executed.
    warnings: Vec<(ErrorCode, String)>,
}

/// Which values a plan was made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlannedValues {
    /// All: values would not have changed it.
    Any,
    /// Those given, as one of all may be better for others.
    Given,
    /// None: parameters were not known. One made for the actual ones may be better.
    Unknown,
}

/// What a plan does.
#[derive(Debug)]
pub(crate) enum PlanKind {
    /// SELECT.
    Query(QueryStatementPlan),
    /// INSERT, REPLACE.
    Insert(Box<dml::InsertPlan>),
    /// UPDATE.
    Update(Box<dml::UpdatePlan>),
    /// DELETE.
    Delete(Box<dml::DeletePlan>),
    /// LOAD DATA.
    Load(Box<LoadPlan>),
    /// DO.
    Do(Vec<Expr>),
    /// EXPLAIN: rows that are known already.
    Explain(Vec<Vec<paceline_types::Value>>),
}

/// SELECT with what surrounds it.
#[derive(Debug)]
pub(crate) struct QueryStatementPlan {
    pub query: Arc<tree::QueryPlan>,
    /// `INTO @a, @b`.
    pub into: Option<Vec<String>>,
    /// Where it is a read of one row by the key that rows live under.
    pub point: Option<PointRead>,
}

/// A read of one row by the whole clustered key, of which plain columns are shown.
#[derive(Debug)]
pub(crate) struct PointRead {
    pub definition: Arc<TableDefinition>,
    /// One value for each column of the key.
    pub key: Vec<tree::LookupPart>,
    /// The key's columns.
    pub key_columns: Vec<usize>,
    /// The columns shown.
    pub columns: Vec<usize>,
}

impl PointRead {
    /// Whether a query is one.
    fn of(query: &tree::QueryPlan) -> Option<PointRead> {
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
        // Conditions beyond the key are for the long way.
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
    /// Its database.
    pub database: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// The definition the plan was made with; `None` for tables that the server makes on demand.
    pub definition: Option<Arc<TableDefinition>>,
    /// What is done with it.
    pub usage: TableUsage,
    /// The view that it is.
    pub view: Option<Arc<ViewDefinition>>,
    /// With whose privileges it is used.
    pub access: Access,
    /// The names under which the statement has it: LOCK TABLES asks for each.
    pub aliases: Vec<Arc<str>>,
}

impl TableUse {
    /// Whether it is a temporary table of the session.
    pub fn is_temporary(&self) -> bool {
        self.definition
            .as_ref()
            .is_some_and(|definition| definition.is_temporary())
    }
}

/// With whose privileges a table is used.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// The definer of a view with SQL SECURITY DEFINER; `None`: whoever runs the statement.
    pub definer: Option<Arc<(String, String)>>,
    /// The view that the statement names, through which it comes to the table.
    pub through: Option<Arc<ViewDefinition>>,
}

impl Access {
    fn is_same(&self, other: &Access) -> bool {
        let view = |access: &Access| access.through.as_ref().map(Arc::as_ptr);
        self.definer == other.definer && view(self) == view(other)
    }
}

/// What a statement does with a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TableUsage {
    /// It is read.
    pub select: bool,
    /// Rows are inserted.
    pub insert: bool,
    /// Rows are updated.
    pub update: bool,
    /// Rows are deleted.
    pub delete: bool,
    /// Rows are locked (FOR UPDATE, LOCK IN SHARE MODE).
    pub lock: bool,
    /// They are locked exclusively (FOR UPDATE): not under another's LOCK TABLES … READ.
    pub exclusive: bool,
    /// Rows may be changed by actions of foreign keys.
    pub action: bool,
}

impl TableUsage {
    /// Whether rows of it are written.
    pub fn writes(self) -> bool {
        self.insert || self.update || self.delete
    }

    /// Whether the statement itself uses it. If not, foreign keys do, for which no privilege is needed.
    pub fn is_named(self) -> bool {
        self.select || self.lock || self.writes()
    }
}

/// Which kind of statement a plan is of: what the server counts and the read-only check asks.
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
    /// The columns of its result; empty if it has none.
    pub fn columns(&self) -> &[ResultColumn] {
        &self.columns
    }

    /// Whether it gives rows (also none).
    pub fn has_result_set(&self) -> bool {
        !self.columns.is_empty()
            && !matches!(
                &self.kind,
                PlanKind::Query(QueryStatementPlan { into: Some(_), .. })
            )
    }

    /// Which values it was made for.
    pub fn values(&self) -> PlannedValues {
        self.values
    }

    /// What there is to say of the statement each time that it is executed.
    pub(crate) fn warnings(&self) -> &[(ErrorCode, String)] {
        &self.warnings
    }

    /// About how many rows the largest of its accesses reads.
    pub fn expected_rows(&self) -> f64 {
        self.expected_rows
    }

    /// How many `?` it has.
    pub fn parameter_count(&self) -> usize {
        self.parameters
    }

    /// The tables that it uses, each once.
    pub fn tables(&self) -> &[TableUse] {
        &self.tables
    }

    /// Whether the statement is EXPLAIN or ANALYZE of another: it shows how tables are read.
    pub fn is_explained(&self) -> bool {
        matches!(self.kind, PlanKind::Explain(_))
    }

    /// What kind of statement it is.
    pub fn plan_type(&self) -> PlanType {
        match &self.kind {
            PlanKind::Query(_) | PlanKind::Do(_) | PlanKind::Explain(_) => PlanType::Query,
            PlanKind::Insert(insert) if insert.replace => PlanType::Replace,
            PlanKind::Insert(_) => PlanType::Insert,
            PlanKind::Update(_) => PlanType::Update,
            PlanKind::Delete(_) => PlanType::Delete,
            PlanKind::Load(_) => PlanType::Load,
        }
    }

    /// Whether it changes rows.
    pub fn writes(&self) -> bool {
        self.tables.iter().any(|table| table.usage.writes())
    }

    /// Whether it changes rows of tables that are not temporary: only that is logged, and locked against.
    pub fn writes_ordinary(&self) -> bool {
        self.tables
            .iter()
            .any(|table| table.usage.writes() && !table.is_temporary())
    }

    /// Whether the tables are still those that it was made for. Must be asked under the statement's metadata locks.
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
        self.tables.iter().all(is_same)
            && match &self.foreign_keys {
                Some(keys) => keys.is_current(catalog),
                None => self.tables.iter().all(has_no_keys),
            }
    }
}

/// Plans a statement: [`Statement::Query`], `Insert`, `Update`, `Delete`, `LoadData`, `Do` and `Explain` of those.
///
/// # Errors
/// What MariaDB says of unknown names, wrong column counts and the like (1054, 1146, …), and 1235 for what is not
/// supported.
pub fn plan_statement(statement: &Statement, context: &PlanContext<'_>) -> Result<Plan> {
    Ok(plan_traced(statement, context, trace::Trace::default)?.0)
}

/// Plans a statement. Returns what each pass of the planner has changed, as text.
///
/// # Errors
/// As [`plan_statement`].
pub fn trace_passes(statement: &Statement, context: &PlanContext<'_>) -> Result<String> {
    let (_, trace) = plan_traced(statement, context, trace::Trace::on)?;
    Ok(trace.into_text())
}

fn plan_traced(
    statement: &Statement,
    context: &PlanContext<'_>,
    trace: fn() -> trace::Trace,
) -> Result<(Plan, trace::Trace)> {
    let mut planner = Planner::new(*context, trace());
    let mut planned = planner.plan(statement);
    if planned.is_err() && planner.merging.get() == view::Merging::Refused {
        // What a subquery reads of the query around it must be a column: it is one of a view whose rows are made first.
        planner = Planner::new(*context, trace());
        planner.merging.set(view::Merging::Never);
        planned = planner.plan(statement);
    }
    if planned.is_ok() && planner.variables.are_both() {
        let (merging, variables) = (planner.merging.get(), planner.variables.again());
        planner = Planner::new(*context, trace());
        planner.merging.set(merging);
        planner.variables = variables;
        planned = planner.plan(statement);
    }
    let (kind, columns) = planned?;
    let foreign_keys = planner.foreign_keys();
    let values = match planner.rested.get() {
        false => PlannedValues::Any,
        true if context.parameters.len() < planner.parameters.get() => PlannedValues::Unknown,
        true => PlannedValues::Given,
    };
    let plan = Plan {
        foreign_keys,
        values,
        expected_rows: planner.expected_rows.get(),
        warnings: planner.warnings.take(),
        kind,
        columns,
        parameters: planner.parameters.get(),
        tables: planner.tables.into_inner(),
    };
    Ok((plan, planner.trace))
}

/// What all blocks of a statement share while it is planned.
pub(crate) struct Planner<'a> {
    pub context: PlanContext<'a>,
    parameters: Cell<usize>,
    tables: RefCell<Vec<TableUse>>,
    select_number: Cell<u32>,
    depth: Cell<u32>,
    merging: Cell<view::Merging>,
    /// The views that are being bound, outermost first.
    views: RefCell<Vec<Arc<ViewDefinition>>>,
    access: RefCell<Access>,
    /// How queries without a locking clause of their own read.
    reads: Cell<tree::ReadMode>,
    pub variables: volatile::Variables,
    /// Whether a choice depended on other values than literals.
    rested: Cell<bool>,
    /// A copy of the session to evaluate expressions with.
    scratch: RefCell<Option<SessionContext>>,
    /// How many rows the largest access reads, about.
    expected_rows: Cell<f64>,
    warnings: RefCell<Vec<(ErrorCode, String)>>,
    trace: trace::Trace,
}

/// Queries may be nested this deep.
const NESTING_MAX: u32 = 64;

impl<'a> Planner<'a> {
    fn new(context: PlanContext<'a>, trace: trace::Trace) -> Self {
        Planner {
            context,
            parameters: Cell::new(0),
            tables: RefCell::default(),
            select_number: Cell::new(0),
            depth: Cell::new(0),
            merging: Cell::default(),
            views: RefCell::default(),
            access: RefCell::default(),
            reads: Cell::new(tree::ReadMode::Snapshot),
            variables: volatile::Variables::default(),
            rested: Cell::new(false),
            scratch: RefCell::default(),
            expected_rows: Cell::new(0.0),
            warnings: RefCell::default(),
            trace,
        }
    }

    /// What is known of values.
    pub fn known_values(&self) -> known_values::KnownValues<'_> {
        let context = &self.context;
        known_values::KnownValues::new(context.session, context.parameters, &self.scratch, &self.rested)
    }

    /// Notes what there is to say of the statement, once.
    pub fn warn(&self, code: ErrorCode, message: String) {
        // What there was to say of a view was said when it was made.
        if !self.views.borrow().is_empty() {
            return;
        }
        let mut warnings = self.warnings.borrow_mut();
        // A statement that is planned twice says it once.
        if !warnings.iter().any(|(_, known)| *known == message) {
            warnings.push((code, message));
        }
    }

    /// Notes how many rows an access reads, about.
    pub fn expect_rows(&self, rows: f64) {
        self.expected_rows.set(self.expected_rows.get().max(rows));
    }

    fn plan(&self, statement: &Statement) -> Result<(PlanKind, Vec<ResultColumn>)> {
        self.reads.set(match statement {
            Statement::Insert(insert) if matches!(insert.source, paceline_syntax::InsertSource::Query(_)) => {
                tree::ReadMode::Source(tree::SourceLocks::FromRepeatableRead)
            }
            Statement::Update(_) => tree::ReadMode::Source(tree::SourceLocks::FromRepeatableRead),
            Statement::Insert(_) | Statement::Delete(_) | Statement::Do(_) => {
                tree::ReadMode::Source(tree::SourceLocks::Always)
            }
            _ => tree::ReadMode::Snapshot,
        });
        match statement {
            Statement::Query(query) => self.plan_query_statement(query),
            Statement::Insert(insert) => self.plan_insert(insert),
            Statement::Update(update) => self.plan_update(update),
            Statement::Delete(delete) => self.plan_delete(delete),
            Statement::LoadData(load) => self.plan_load(load),
            Statement::Do(exprs) => self.plan_do(exprs),
            Statement::Explain(explain) => self.plan_explain(explain),
            _ => Err(Error::unsupported(
                "this command in the prepared statement protocol",
            )),
        }
    }

    fn plan_query_statement(
        &self,
        statement: &paceline_syntax::QueryStatement,
    ) -> Result<(PlanKind, Vec<ResultColumn>)> {
        let into = match &statement.into {
            // Where the rows of a query go is its caller's affair.
            None
            | Some(paceline_syntax::SelectInto::Outfile { .. } | paceline_syntax::SelectInto::Dumpfile(_)) => {
                None
            }
            Some(paceline_syntax::SelectInto::Variables(names)) => Some(names.clone()),
        };
        let query = self.plan_top_query(&statement.query)?;
        if let Some(names) = &into
            && names.len() != query.columns.len()
        {
            return Err(Error::new(
                paceline_types::error_code::ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT,
                &[],
            ));
        }
        let columns = query.columns.clone();
        let point = if into.is_none() {
            PointRead::of(&query)
        } else {
            None
        };
        Ok((
            PlanKind::Query(QueryStatementPlan {
                query: Arc::new(query),
                into,
                point,
            }),
            columns,
        ))
    }

    fn plan_do(&self, exprs: &[paceline_syntax::ast::Expr]) -> Result<(PlanKind, Vec<ResultColumn>)> {
        let mut block = block::Block::new(self, None);
        let mut bound = Vec::with_capacity(exprs.len());
        for expr in exprs {
            bound.push(block.bind(expr, block::BindMode::values())?);
        }
        Ok((PlanKind::Do(bound), Vec::new()))
    }

    /// The session.
    pub fn session(&self) -> &'a SessionContext {
        self.context.session
    }

    /// The `index`th `?`: whatever its value will be, the plan serves it.
    pub fn parameter(&self, index: usize) -> ExprType {
        self.parameters.set(self.parameters.get().max(index + 1));
        ExprType::parameter()
    }

    /// The number of the next SELECT, for EXPLAIN.
    pub fn next_select_number(&self) -> u32 {
        let number = self.select_number.get() + 1;
        self.select_number.set(number);
        number
    }

    /// Goes one query deeper for as long as the guard lives.
    pub fn descend(&self) -> Result<DepthGuard<'_>> {
        let depth = self.depth.get() + 1;
        if depth > NESTING_MAX {
            return Err(Error::new(
                paceline_types::error_code::ER_TOO_HIGH_LEVEL_OF_NESTING_FOR_SELECT,
                &[],
            ));
        }
        self.depth.set(depth);
        Ok(DepthGuard(&self.depth))
    }

    /// Finds a table to insert into, or says 1146 or 1046; 1471 or 1235 for a view, 1036 for a table of `mysql` that
    /// the server makes.
    pub fn find_table(&self, database: Option<&str>, name: &str) -> Result<Arc<TableDefinition>> {
        let database = self.database_or_current(database)?;
        if let Some(view) = self.context.catalog.view(database, name) {
            return Err(
                match paceline_catalog::ddl::is_updatable(view, self.context.catalog) {
                    true => Error::unsupported("INSERT into a view"),
                    false => Error::new(
                        paceline_types::error_code::ER_NON_INSERTABLE_TABLE,
                        &[&name, &"INSERT"],
                    ),
                },
            );
        }
        self.context
            .catalog
            .table(database, name)
            .cloned()
            .ok_or_else(|| {
                use paceline_types::error_code::{ER_ILLEGAL_HA, ER_NO_SUCH_TABLE, ER_OPEN_AS_READONLY};
                if self.number_series(database, name).is_some() {
                    return Error::new(ER_ILLEGAL_HA, &[&"SEQUENCE", &database, &name]);
                }
                let made_on_demand = &self.session().services.virtual_tables;
                match database == SYSTEM_DATABASE && made_on_demand.columns(database, name).is_some() {
                    true => Error::new(ER_OPEN_AS_READONLY, &[&name]),
                    false => Error::new(ER_NO_SUCH_TABLE, &[&database, &name]),
                }
            })
    }

    /// The series of numbers that a name means where there is no table of that name.
    pub fn number_series(&self, database: &str, name: &str) -> Option<NumberSeries> {
        self.context.catalog.database(database)?;
        NumberSeries::of_name(name)
    }

    /// The named database, or the session's; 1046 where there is none.
    pub fn database_or_current<'s>(&'s self, database: Option<&'s str>) -> Result<&'s str> {
        match database.or(self.session().database.as_deref()) {
            Some(database) => Ok(database),
            None => Err(Error::new(paceline_types::error_code::ER_NO_DB_ERROR, &[])),
        }
    }

    /// The foreign keys around the tables that the statement changes; notes the tables that they concern.
    fn foreign_keys(&self) -> Option<Arc<ForeignKeys>> {
        let changed: Vec<(Arc<TableDefinition>, Changes)> = self
            .tables
            .borrow()
            .iter()
            .filter(|table| table.usage.writes())
            .filter_map(|table| {
                let changes = Changes {
                    delete: table.usage.delete,
                    update: table.usage.update,
                };
                Some((table.definition.clone()?, changes))
            })
            .collect();
        let keys = ForeignKeys::new(self.context.catalog, &changed)?;
        for table in keys.related() {
            let definition = &table.definition;
            let usage = TableUsage {
                action: table.is_written,
                ..TableUsage::default()
            };
            self.use_table(definition.database(), definition.name(), Some(definition), usage);
        }
        Some(keys)
    }

    /// Whether a query in the statement reads a table that the statement changes, itself or by actions of foreign keys.
    /// For when the tables that it changes are noted as changed, and not yet as read by the statement itself.
    fn reads_changed(&self) -> bool {
        let is_read = |table: &TableUse| table.usage.select || table.usage.lock;
        if !self.tables.borrow().iter().any(is_read) {
            return false;
        }
        // It notes what actions change.
        let _ = self.foreign_keys();
        let tables = self.tables.borrow();
        let is_changed = |read: &TableUse| {
            tables.iter().any(|table| {
                let is_same = match (&read.definition, &table.definition) {
                    (Some(read), Some(definition)) => Arc::ptr_eq(read, definition),
                    _ => false,
                };
                is_same && (table.usage.writes() || table.usage.action)
            })
        };
        tables.iter().any(|table| is_read(table) && is_changed(table))
    }

    /// Whether a table is noted as read.
    fn reads(&self, definition: &Arc<TableDefinition>) -> bool {
        let is_same = |known: &TableUse| {
            (known.definition.as_ref()).is_some_and(|known| Arc::ptr_eq(known, definition))
        };
        let tables = self.tables.borrow();
        tables.iter().any(|table| is_same(table) && table.usage.select)
    }

    /// Notes that the statement uses a table.
    pub fn use_table(
        &self,
        database: &str,
        name: &str,
        definition: Option<&Arc<TableDefinition>>,
        usage: TableUsage,
    ) {
        let access = self.access.borrow().clone();
        let mut tables = self.tables.borrow_mut();
        // A table that is being filled has the name of the one that it hides.
        let kind =
            |definition: Option<&Arc<TableDefinition>>| definition.is_some_and(|table| table.is_temporary());
        let found = tables.iter_mut().find(|table| {
            *table.database == *database
                && *table.name == *name
                && table.is_temporary() == kind(definition)
                && table.access.is_same(&access)
        });
        match found {
            Some(table) => {
                let known = &mut table.usage;
                known.select |= usage.select;
                known.insert |= usage.insert;
                known.update |= usage.update;
                known.delete |= usage.delete;
                known.lock |= usage.lock;
                known.exclusive |= usage.exclusive;
                known.action |= usage.action;
            }
            None => tables.push(TableUse {
                database: database.into(),
                name: name.into(),
                definition: definition.cloned(),
                usage,
                view: None,
                access,
                aliases: Vec::new(),
            }),
        }
    }

    /// Notes the name under which the statement has a table whose use was noted.
    pub fn name_table(&self, definition: &Arc<TableDefinition>, alias: &str) {
        let access = self.access.borrow();
        let mut tables = self.tables.borrow_mut();
        let named = tables.iter_mut().find(|table| {
            let known = table.definition.as_ref();
            known.is_some_and(|known| Arc::ptr_eq(known, definition)) && table.access.is_same(&access)
        });
        if let Some(table) = named
            && !table.aliases.iter().any(|known| **known == *alias)
        {
            table.aliases.push(alias.into());
        }
    }
}

/// Leaves a nested query when dropped.
pub(crate) struct DepthGuard<'a>(&'a Cell<u32>);

impl Drop for DepthGuard<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// A number that no other query of this process has.
pub(crate) fn unique_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
