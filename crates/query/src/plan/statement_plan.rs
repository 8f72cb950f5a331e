//! Plan of a statement, ready to run, and the tables that it uses.

use std::sync::Arc;

use paceline_types::ErrorCode;

use super::change_plan::{DeletePlan, InsertPlan, LoadPlan, UpdatePlan};
use super::result_column::ResultColumn;
use super::tree;
use paceline_catalog::foreign_key::ForeignKeys;
use paceline_catalog::{Catalog, TableDefinition, ViewDefinition};
use paceline_expression::Expr;

/// A statement ready to run, as often as one likes.
#[derive(Debug)]
pub struct Plan {
    pub(crate) kind: PlanKind,
    pub(super) columns: Vec<ResultColumn>,
    pub(super) parameters: usize,
    pub(super) tables: Vec<TableUse>,
    pub(crate) foreign_keys: Option<Arc<ForeignKeys>>,
    /// Plans of the subqueries in expressions, by [`SubqueryId`].
    pub(crate) subqueries: Vec<Arc<tree::QueryPlan>>,
    pub(super) values: PlannedValues,
    pub(super) expected_rows: f64,
    /// What there is to say of the statement each time that it is executed.
    pub(super) warnings: Vec<(ErrorCode, String)>,
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
    Insert(Box<InsertPlan>),
    /// UPDATE.
    Update(Box<UpdatePlan>),
    /// DELETE.
    Delete(Box<DeletePlan>),
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
    pub(super) fn is_same(&self, other: &Access) -> bool {
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
