//! State that all blocks of a statement share while it is planned.

use std::cell::{Cell, Ref, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use paceline_types::ErrorCode;

use super::known_values::KnownValues;
use super::result_column::ResultColumn;
use super::statement_plan::{Access, Plan, PlanKind, PlannedValues, TableUsage, TableUse};
use super::statistics::Statistics;
use super::tree;
use super::volatile::Variables;
use crate::error::{Error, Result};
use paceline_catalog::foreign_key::{Changes, ForeignKeys};
use paceline_catalog::{Catalog, NumberSeries, SYSTEM_DATABASE, TableDefinition, ViewDefinition};
use paceline_expression::session::SessionContext;
use paceline_expression::{ExprType, SubqueryId};

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

/// Whether views are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Merging {
    /// Where they can be.
    #[default]
    Possible,
    /// Not again: the statement has to be planned without.
    Refused,
    /// None.
    Never,
}

/// What all blocks of a statement share while it is planned.
pub(crate) struct Planner<'a> {
    pub context: PlanContext<'a>,
    parameters: Cell<usize>,
    pub(super) tables: RefCell<Vec<TableUse>>,
    select_number: Cell<u32>,
    depth: Cell<u32>,
    pub(super) merging: Cell<Merging>,
    /// The views that are being bound, outermost first.
    pub(super) views: RefCell<Vec<Arc<ViewDefinition>>>,
    pub(super) access: RefCell<Access>,
    /// How queries without a locking clause of their own read.
    pub(super) reads: Cell<tree::ReadMode>,
    pub variables: Variables,
    /// Whether a choice depended on other values than literals.
    rested: Cell<bool>,
    /// A copy of the session to evaluate expressions with.
    scratch: RefCell<Option<SessionContext>>,
    /// How many rows the largest access reads, about.
    expected_rows: Cell<f64>,
    warnings: RefCell<Vec<(ErrorCode, String)>>,
    /// Plans of the subqueries in expressions, by [`SubqueryId`].
    subqueries: RefCell<Vec<Arc<tree::QueryPlan>>>,
}

/// Queries may be nested this deep.
const NESTING_MAX: u32 = 64;

impl<'a> Planner<'a> {
    /// Begins a statement.
    pub(super) fn new(context: PlanContext<'a>) -> Self {
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
            scratch: RefCell::default(),
            expected_rows: Cell::new(0.0),
            warnings: RefCell::default(),
            subqueries: RefCell::default(),
        }
    }

    /// Returns the plan of the statement, which does `kind`.
    pub(super) fn finish(self, kind: PlanKind, columns: Vec<ResultColumn>) -> Plan {
        let foreign_keys = self.foreign_keys();
        let values = match self.rested.get() {
            false => PlannedValues::Any,
            true if self.context.parameters.len() < self.parameters.get() => PlannedValues::Unknown,
            true => PlannedValues::Given,
        };
        Plan {
            foreign_keys,
            values,
            subqueries: self.subqueries.take(),
            expected_rows: self.expected_rows.get(),
            warnings: self.warnings.take(),
            kind,
            columns,
            parameters: self.parameters.get(),
            tables: self.tables.into_inner(),
        }
    }

    /// Adds the plan of a subquery in an expression. Returns its name.
    pub fn add_subquery(&self, plan: tree::QueryPlan) -> SubqueryId {
        let mut subqueries = self.subqueries.borrow_mut();
        subqueries.push(Arc::new(plan));
        SubqueryId::new(subqueries.len() - 1)
    }

    /// Returns the plans of the subqueries in expressions, by [`SubqueryId`].
    pub fn subqueries(&self) -> Ref<'_, Vec<Arc<tree::QueryPlan>>> {
        self.subqueries.borrow()
    }

    /// Returns the plan of a subquery in an expression.
    pub fn subquery(&self, id: SubqueryId) -> Arc<tree::QueryPlan> {
        self.subqueries.borrow()[id.index()].clone()
    }

    /// What is known of values.
    pub fn known_values(&self) -> KnownValues<'_> {
        let context = &self.context;
        KnownValues::new(context.session, context.parameters, &self.scratch, &self.rested)
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

    /// Whether a query in the statement reads a table that the statement changes, itself or by actions of foreign keys.
    /// For when the tables that it changes are noted as changed, and not yet as read by the statement itself.
    pub(super) fn reads_changed(&self) -> bool {
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
    pub(super) fn reads(&self, definition: &Arc<TableDefinition>) -> bool {
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
