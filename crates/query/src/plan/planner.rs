//! State that all blocks of a statement share while it is planned.

use std::cell::{Cell, Ref, RefCell};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use paceline_types::{ErrorCode, Value};

use super::change_plan::InsertRows;
use super::known_values::KnownValues;
use super::result_column::ResultColumn;
use super::scan_counts::ScanCounts;
use super::statement_plan::{
    Access, ColumnUsage, ColumnUse, Plan, PlanKind, PlannedValues, TableUsage, TableUse,
};
use super::statistics::Statistics;
use super::text_dependence::TextDependences;
use super::trace::Trace;
use super::tree;
use super::volatile::Variables;
use crate::error::{Error, Result};
use paceline_catalog::foreign_key::{Changes, ForeignKeys};
use paceline_catalog::{
    Catalog, NumberSeries, RoutineDefinition, SYSTEM_DATABASE, TableDefinition, ViewDefinition,
};
use paceline_expression::session::SessionContext;
use paceline_expression::{ExprType, FunctionId, SubqueryId};
use paceline_syntax::ast;

/// Context for planning a statement.
#[derive(Clone, Copy)]
pub struct PlanContext<'a> {
    /// Catalog for which the plan is made. The statement takes its metadata locks later, and calls
    /// [`Plan::is_current`] then.
    pub catalog: &'a Arc<Catalog>,
    /// Session: database, SQL mode, variables.
    pub session: &'a SessionContext,
    /// Statistics of the tables.
    pub statistics: &'a Statistics,
    /// Values of `?`, if the plan is made for an execution with them. The plan is correct for other values too.
    pub parameters: &'a [paceline_types::Value],
}

/// Merging of views.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Merging {
    /// Views are merged if possible.
    #[default]
    Possible,
    /// Merging has failed: the statement must be planned again without it.
    Refused,
    /// No view is merged.
    Never,
}

/// State that all blocks of a statement share while it is planned.
pub(crate) struct Planner<'a> {
    pub context: PlanContext<'a>,
    parameters: Cell<usize>,
    pub(super) tables: RefCell<Vec<TableUse>>,
    select_number: Cell<u32>,
    depth: Cell<u32>,
    pub(super) merging: Cell<Merging>,
    /// Views that are being bound, outermost first.
    pub(super) views: RefCell<Vec<Arc<ViewDefinition>>>,
    pub(super) access: RefCell<Access>,
    /// Read mode of queries without a locking clause.
    pub(super) reads: Cell<tree::ReadMode>,
    pub variables: Variables,
    /// Whether a choice depended on values that are not literals.
    rested: Cell<bool>,
    /// Whether a parameter is the position of a column in ORDER BY or GROUP BY.
    positional: Cell<bool>,
    /// Copy of the session for evaluating expressions.
    scratch: RefCell<Option<SessionContext>>,
    /// Estimated number of rows that the largest access reads.
    expected_rows: Cell<f64>,
    /// Estimated number of rows of the largest join.
    joined_rows: Cell<f64>,
    /// Number of blocks with window functions.
    window_blocks: Cell<u64>,
    warnings: RefCell<Vec<(ErrorCode, String)>>,
    notes: RefCell<Vec<(ErrorCode, String)>>,
    /// Plans of the subqueries in expressions, by [`SubqueryId`].
    subqueries: RefCell<Vec<Arc<tree::QueryPlan>>>,
    /// Stored functions in expressions, by [`FunctionId`].
    functions: RefCell<Vec<Arc<RoutineDefinition>>>,
    /// Dependences of the statement's text.
    pub(super) dependences: TextDependences,
    pub(super) trace: Trace,
}

/// Maximum depth of nested queries.
const NESTING_MAX: u32 = 64;

impl<'a> Planner<'a> {
    /// Begins the planning of a statement.
    pub(super) fn new(context: PlanContext<'a>, trace: Trace) -> Self {
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
            variables: Variables::default(),
            rested: Cell::new(false),
            positional: Cell::new(false),
            scratch: RefCell::default(),
            expected_rows: Cell::new(0.0),
            joined_rows: Cell::new(0.0),
            window_blocks: Cell::new(0),
            warnings: RefCell::default(),
            notes: RefCell::default(),
            subqueries: RefCell::default(),
            functions: RefCell::default(),
            dependences: TextDependences::default(),
            trace,
        }
    }

    /// Returns the finished plan of the statement.
    pub(super) fn finish(self, kind: PlanKind, columns: Vec<ResultColumn>) -> Plan {
        let foreign_keys = self.foreign_keys();
        let is_unknown = self.context.parameters.len() < self.parameters.get();
        let values = match (self.positional.get(), self.rested.get()) {
            (false, false) => PlannedValues::Any,
            _ if is_unknown => PlannedValues::Unknown,
            (true, _) => PlannedValues::Only,
            (false, true) => PlannedValues::Given,
        };
        let subqueries = self.subqueries.take();
        Plan {
            foreign_keys,
            values,
            scans: scans_of(&kind, &subqueries),
            subqueries,
            functions: self.functions.take(),
            dependence: self.dependences.take(),
            unsafe_reasons: OnceLock::new(),
            expected_rows: self.expected_rows.get(),
            joined_rows: self.joined_rows.get(),
            window_blocks: self.window_blocks.get(),
            warnings: self.warnings.take(),
            notes: self.notes.take(),
            kind,
            columns,
            parameters: self.parameters.get(),
            tables: self.tables.into_inner(),
        }
    }

    /// Adds the plan of a subquery in an expression. Returns its id.
    pub fn add_subquery(&self, plan: tree::QueryPlan) -> SubqueryId {
        let mut subqueries = self.subqueries.borrow_mut();
        subqueries.push(Arc::new(plan));
        SubqueryId::new(subqueries.len() - 1)
    }

    /// Adds a stored function. Returns its id.
    pub fn add_function(&self, function: Arc<RoutineDefinition>) -> FunctionId {
        let mut functions = self.functions.borrow_mut();
        let known = functions.iter().position(|known| Arc::ptr_eq(known, &function));
        FunctionId::new(known.unwrap_or_else(|| {
            functions.push(function);
            functions.len() - 1
        }))
    }

    /// Returns the plans of the subqueries in expressions, by [`SubqueryId`].
    pub fn subqueries(&self) -> Ref<'_, Vec<Arc<tree::QueryPlan>>> {
        self.subqueries.borrow()
    }

    /// Returns the plan of a subquery in an expression.
    pub fn subquery(&self, id: SubqueryId) -> Arc<tree::QueryPlan> {
        self.subqueries.borrow()[id.index()].clone()
    }

    /// Returns the position that an integer in ORDER BY or GROUP BY names, or that a parameter with an integer does.
    pub fn position(&self, expr: &ast::Expr) -> Option<i64> {
        let ast::Expr::Parameter(number) = expr else {
            return super::position::position(expr);
        };
        self.positional.set(true);
        match self.context.parameters.get(*number)? {
            Value::Int(place) => Some(*place),
            Value::UInt(place) => Some(i64::try_from(*place).unwrap_or(i64::MAX)),
            _ => None,
        }
    }

    /// Returns the values that are known while planning.
    pub fn known_values(&self) -> KnownValues<'_> {
        let context = &self.context;
        KnownValues::new(context.session, context.parameters, &self.scratch, &self.rested)
    }

    /// Adds a warning, once.
    pub fn warn(&self, code: ErrorCode, message: String) {
        // The warnings of a view were reported when it was created.
        if !self.views.borrow().is_empty() {
            return;
        }
        let mut warnings = self.warnings.borrow_mut();
        // A statement that is planned twice has each warning once.
        if !warnings.iter().any(|(_, known)| *known == message) {
            warnings.push((code, message));
        }
    }

    /// Adds a note.
    pub fn note(&self, code: ErrorCode, message: String) {
        self.notes.borrow_mut().push((code, message));
    }

    /// Records the estimated number of rows that an access reads.
    pub fn expect_rows(&self, rows: f64) {
        self.expected_rows.set(self.expected_rows.get().max(rows));
    }

    /// Counts a block with window functions.
    pub fn count_window_block(&self) {
        self.window_blocks.set(self.window_blocks.get() + 1);
    }

    /// Records the estimated number of rows of a join after one of its tables.
    pub fn expect_joined_rows(&self, rows: f64) {
        self.joined_rows.set(self.joined_rows.get().max(rows));
    }

    /// Returns the session.
    pub fn session(&self) -> &'a SessionContext {
        self.context.session
    }

    /// Returns the type of the `index`th `?`. The plan is correct for any value.
    pub fn parameter(&self, index: usize) -> ExprType {
        self.parameters.set(self.parameters.get().max(index + 1));
        match self.session().program_variables.get(index) {
            Some(declared) => declared.clone(),
            None => ExprType::parameter(),
        }
    }

    /// Returns the number of the next SELECT, for EXPLAIN.
    pub fn next_select_number(&self) -> u32 {
        let number = self.select_number.get() + 1;
        self.select_number.set(number);
        number
    }

    /// Enters a nested query until the guard is dropped.
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

    /// Returns the table to insert into.
    ///
    /// # Errors
    /// 1046 or 1146; 1036 for a virtual table of `mysql`.
    pub fn find_table(&self, database: Option<&str>, name: &str) -> Result<Arc<TableDefinition>> {
        let database = self.database_or_current(database)?;
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

    /// Returns the series of numbers that a name means if there is no table of that name.
    pub fn number_series(&self, database: &str, name: &str) -> Option<NumberSeries> {
        self.context.catalog.database(database)?;
        NumberSeries::of_name(name)
    }

    /// Returns the named database, or the session's; 1046 without either.
    pub fn database_or_current<'s>(&'s self, database: Option<&'s str>) -> Result<&'s str> {
        match database.or(self.session().database.as_deref()) {
            Some(database) => Ok(database),
            None => Err(Error::new(paceline_types::error_code::ER_NO_DB_ERROR, &[])),
        }
    }

    /// Returns the foreign keys of the tables that the statement changes, and records the tables that they concern.
    pub(super) fn foreign_keys(&self) -> Option<Arc<ForeignKeys>> {
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

    /// Returns whether a query in the statement reads a table that the statement changes, directly or by actions of
    /// foreign keys. To be called when the changed tables are recorded as changed, but not yet as read by the statement
    /// itself.
    pub(super) fn reads_changed(&self) -> bool {
        let is_read = |table: &TableUse| table.usage.select || table.usage.lock;
        if !self.tables.borrow().iter().any(is_read) {
            return false;
        }
        // This records the tables that actions change.
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

    /// Returns whether a table is recorded as read.
    pub(super) fn reads(&self, definition: &Arc<TableDefinition>) -> bool {
        let is_same = |known: &TableUse| {
            (known.definition.as_ref()).is_some_and(|known| Arc::ptr_eq(known, definition))
        };
        let tables = self.tables.borrow();
        tables.iter().any(|table| is_same(table) && table.usage.select)
    }

    /// Returns the account whose privileges are checked for the tables that are being bound.
    pub fn access(&self) -> Access {
        self.access.borrow().clone()
    }

    /// Records that the statement uses a table. Returns its number among the used ones.
    pub fn use_table(
        &self,
        database: &str,
        name: &str,
        definition: Option<&Arc<TableDefinition>>,
        usage: TableUsage,
    ) -> usize {
        self.use_table_as(&self.access(), database, name, definition, usage)
    }

    /// Records that the statement uses a table with the privileges of `access`.
    pub fn use_table_as(
        &self,
        access: &Access,
        database: &str,
        name: &str,
        definition: Option<&Arc<TableDefinition>>,
        usage: TableUsage,
    ) -> usize {
        let mut tables = self.tables.borrow_mut();
        // A table that is being filled has the same name as the one that it hides.
        let kind =
            |definition: Option<&Arc<TableDefinition>>| definition.is_some_and(|table| table.is_temporary());
        let found = tables.iter().position(|table| {
            *table.database == *database
                && *table.name == *name
                && table.is_temporary() == kind(definition)
                && table.access.is_same(access)
        });
        match found {
            Some(number) => {
                tables[number].usage.add(usage);
                number
            }
            None => {
                tables.push(TableUse {
                    database: database.into(),
                    name: name.into(),
                    definition: definition.cloned(),
                    usage,
                    view: None,
                    access: access.clone(),
                    aliases: Vec::new(),
                    columns: Vec::new(),
                });
                tables.len() - 1
            }
        }
    }

    /// Records that the statement names a column of the `number`th used table.
    pub fn use_column(&self, number: usize, column: usize, usage: ColumnUsage) {
        const LOOKED_AT: usize = 4;
        let used = ColumnUse { column, usage };
        let columns = &mut self.tables.borrow_mut()[number].columns;
        // Most repetitions follow each other closely; the others do no harm.
        if !columns.iter().rev().take(LOOKED_AT).any(|known| *known == used) {
            columns.push(used);
        }
    }

    /// Records an alias of the `number`th used table.
    pub fn name_used(&self, number: usize, alias: &str) {
        let aliases = &mut self.tables.borrow_mut()[number].aliases;
        if !aliases.iter().any(|known| **known == *alias) {
            aliases.push(alias.into());
        }
    }

    /// Records an alias of a table whose use is recorded.
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

/// Guard of a nested query, which is left when the guard is dropped.
pub(crate) struct DepthGuard<'a>(&'a Cell<u32>);

impl Drop for DepthGuard<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// Returns a number that no other query of this process has.
pub(crate) fn unique_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Returns how a statement reads its tables. `subqueries` are those of all its expressions.
fn scans_of(kind: &PlanKind, subqueries: &[Arc<tree::QueryPlan>]) -> ScanCounts {
    let mut scans = ScanCounts::default();
    match kind {
        // The most frequent statement.
        PlanKind::Query(statement) if statement.point.is_some() => return scans,
        PlanKind::Query(statement) => scans.add_query(&statement.query),
        PlanKind::Insert(insert) => {
            if let InsertRows::Query(query) = &insert.source {
                scans.add_query(query);
            }
        }
        PlanKind::Update(update) => scans.add_update(&update.select),
        PlanKind::Delete(delete) => scans.add_delete(&delete.select),
        PlanKind::Analyze(analyzed) => return scans_of(&analyzed.statement, subqueries),
        PlanKind::Load(_) | PlanKind::Do(_) | PlanKind::Handler(_) => {}
        PlanKind::Explain(_) => return scans,
    }
    subqueries.iter().for_each(|query| scans.add_query(query));
    scans
}
