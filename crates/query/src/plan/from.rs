//! FROM: tables, derived tables and joins.
//!
//! Joins become a tree of [`FromNode`]s. A RIGHT JOIN is a LEFT JOIN with its sides swapped. USING and NATURAL become
//! conditions, and hide one of each pair of columns from unqualified names and `*`. The join order is chosen later.

use std::ops::Range;
use std::sync::Arc;

use paceline_types::DataType;
use paceline_types::data_type::{IntegerType, column_flags};
use paceline_types::error_code::{
    ER_BAD_FIELD_ERROR, ER_DUP_FIELDNAME, ER_NON_UNIQ_ERROR, ER_NONUNIQ_TABLE, ER_WITH_COL_WRONG_LIST,
    ER_WRONG_COLUMN_NAME,
};

use super::block::{BindMode, Block, OnScope, VisibleColumn};
use super::common_table::CommonTableKind;
use super::conditions::table_set;
use super::result_column::{ColumnOrigin, Through};
use super::table_ref::{TableColumn, TableRef};
use super::trace::{Level, Names};
use super::tree::TableSource;
use super::{ResultColumn, TableUsage, unique_id};
use crate::error::{Error, Result};
use paceline_catalog::{NumberSeries, TableDefinition, no_such_table, same_name};
use paceline_expression::{Clause, Expr, ExprType};
use paceline_syntax::ast::{self, TableName};

/// A part of FROM.
#[derive(Debug)]
pub(crate) enum FromNode {
    /// A table, by its index in the block.
    Table(usize),
    /// An inner join.
    Inner {
        /// Joined parts, in the order of the text.
        parts: Vec<FromNode>,
        /// Conditions.
        on: Vec<Expr>,
        /// STRAIGHT_JOIN: the order is fixed.
        straight: bool,
    },
    /// A left join.
    Left {
        /// Outer side: all its rows are in the result.
        left: Box<FromNode>,
        /// Inner side: its columns are NULL without a match.
        right: Box<FromNode>,
        /// Conditions of a match.
        on: Vec<Expr>,
    },
}

/// Whether an outer join may replace a part of FROM by NULLs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// It does not.
    Whole,
    /// It may.
    Nullable,
}

/// A bound part of FROM with its names.
pub(crate) struct BoundFrom {
    pub node: FromNode,
    pub visible: Vec<VisibleColumn>,
    pub tables: Range<usize>,
}

/// Describes a block's tables and conditions for the trace.
pub(super) fn describe_from<'e>(
    from: Option<&FromNode>,
    conditions: impl Iterator<Item = &'e Expr>,
    names: &Names,
) -> Vec<String> {
    let mut level = Level::default();
    if let Some(node) = from {
        node.describe(&mut level, names);
    }
    level.add_conditions(conditions, names);
    level.lines()
}

impl FromNode {
    fn describe(&self, level: &mut Level, names: &Names) {
        match self {
            FromNode::Table(table) => level.tables.push(names.table(*table).to_owned()),
            FromNode::Inner { parts, on, .. } => {
                parts.iter().for_each(|part| part.describe(level, names));
                level.add_conditions(on.iter(), names);
            }
            FromNode::Left { left, right, on } => {
                left.describe(level, names);
                let mut inner = Level::default();
                inner.add_conditions(on.iter(), names);
                right.describe(&mut inner, names);
                level.outer_joins.push(inner.as_outer_join());
            }
        }
    }
}

impl Block<'_, '_> {
    /// Binds FROM. After it the block's names are known.
    pub fn bind_from(&mut self, from: &[ast::JoinedTables], usage: TableUsage) -> Result<Option<FromNode>> {
        let mut parts = self.bind_items(from, usage, Side::Whole)?;
        Ok(match parts.len() {
            0 => None,
            1 => parts.pop(),
            _ => Some(FromNode::Inner {
                parts,
                on: Vec::new(),
                straight: false,
            }),
        })
    }

    /// Binds the items of FROM, and makes their columns visible.
    pub fn bind_items(
        &mut self,
        from: &[ast::JoinedTables],
        usage: TableUsage,
        side: Side,
    ) -> Result<Vec<FromNode>> {
        let mut parts = Vec::with_capacity(from.len());
        let mut visible = Vec::new();
        for item in from {
            let bound = self.bind_joins(item, usage, side)?;
            self.bind_documents()?;
            if from.len() > 1 {
                self.preceding.add(bound.tables.clone(), &bound.visible);
            }
            visible.extend(bound.visible);
            parts.push(bound.node);
        }
        self.visible = visible;
        self.preceding = OnScope::default();
        Ok(parts)
    }

    fn bind_joins(&mut self, item: &ast::JoinedTables, usage: TableUsage, side: Side) -> Result<BoundFrom> {
        // A RIGHT JOIN may replace everything before it by NULLs.
        let before = |number: usize| match item.joins[number..]
            .iter()
            .any(|join| join.kind == ast::JoinKind::Right)
        {
            true => Side::Nullable,
            false => side,
        };
        let mut left = self.bind_factor(&item.first, usage, before(0))?;
        for (number, join) in item.joins.iter().enumerate() {
            let own = match join.kind == ast::JoinKind::Left {
                true => Side::Nullable,
                false => before(number + 1),
            };
            let is_right = join.kind == ast::JoinKind::Right;
            let right = match !is_right && join.table.has_json_table() {
                true => {
                    let outer = self.preceding.clone();
                    self.preceding.add(left.tables.clone(), &left.visible);
                    let right = self.bind_factor(&join.table, usage, own)?;
                    self.preceding = outer;
                    right
                }
                false => self.bind_factor(&join.table, usage, own)?,
            };
            if is_right {
                // After the swap it comes before these.
                for document in &mut self.unbound_documents {
                    if left.tables.contains(&document.table) {
                        document.scope.add(right.tables.clone(), &right.visible);
                    }
                }
            }
            left = self.bind_join(left, right, join)?;
        }
        Ok(left)
    }

    fn bind_join(&mut self, left: BoundFrom, right: BoundFrom, join: &ast::Join) -> Result<BoundFrom> {
        use ast::JoinKind;
        let tables = left.tables.start..right.tables.end;
        // Names are in the order of the sides after the swap.
        let (first, second) = if join.kind == JoinKind::Right {
            (right, left)
        } else {
            (left, right)
        };
        let mut on = Vec::new();
        let mut visible;
        match &join.constraint {
            ast::JoinConstraint::None | ast::JoinConstraint::On(_) => {
                visible = first.visible.clone();
                visible.extend(second.visible.iter().copied());
                if join.kind == JoinKind::Right {
                    // `*` and unqualified names use the order of the text.
                    visible = second.visible.clone();
                    visible.extend(first.visible.iter().copied());
                }
                if let ast::JoinConstraint::On(condition) = &join.constraint {
                    let outer_scope = self.on_scope.replace(OnScope {
                        tables: table_set(tables.clone()),
                        visible: visible.clone(),
                    });
                    let bound = self.bind_condition(condition, BindMode::condition(Clause::On));
                    self.on_scope = outer_scope;
                    super::conditions::split_and(bound?, &mut on);
                }
            }
            ast::JoinConstraint::Natural => {
                let names = self.common_names(&first.visible, &second.visible);
                visible = self.using(&first.visible, &second.visible, &names, &mut on)?;
            }
            ast::JoinConstraint::Using(columns) => {
                visible = self.using(&first.visible, &second.visible, columns, &mut on)?;
            }
        }
        let node = match join.kind {
            JoinKind::Inner | JoinKind::Straight => {
                self.note_view_conditions(&on);
                let straight = join.kind == JoinKind::Straight;
                FromNode::Inner {
                    parts: vec![first.node, second.node],
                    on,
                    straight,
                }
            }
            JoinKind::Left | JoinKind::Right => {
                for table in second.tables.clone() {
                    self.tables[table].nullable = true;
                }
                FromNode::Left {
                    left: Box::new(first.node),
                    right: Box::new(second.node),
                    on,
                }
            }
        };
        Ok(BoundFrom {
            node,
            visible,
            tables,
        })
    }

    fn common_names(&self, first: &[VisibleColumn], second: &[VisibleColumn]) -> Vec<String> {
        let name = |column: &VisibleColumn| self.tables[column.table].columns[column.column].name();
        let mut names = Vec::new();
        for column in first {
            if self.tables[column.table].columns[column.column].invisible {
                continue;
            }
            if second.iter().any(|other| same_name(name(column), name(other))) {
                names.push(name(column).to_owned());
            }
        }
        names
    }

    /// Equates the columns with these names. Returns the visible columns: the common ones, then the other columns of
    /// the first side, then those of the second.
    fn using(
        &mut self,
        first: &[VisibleColumn],
        second: &[VisibleColumn],
        names: &[String],
        on: &mut Vec<Expr>,
    ) -> Result<Vec<VisibleColumn>> {
        let mut common = Vec::with_capacity(names.len());
        let mut hidden = Vec::with_capacity(names.len());
        for name in names {
            let left = self.find_visible(first, name)?;
            let right = self.find_visible(second, name)?;
            // As in MariaDB, this needs no privilege on the columns.
            let (left_expr, right_expr) = (
                self.unnamed_column(left.table, left.column),
                self.unnamed_column(right.table, right.column),
            );
            on.push(self.bind_equality(left_expr, right_expr)?);
            common.push(left);
            hidden.push(right);
        }
        let mut visible = common.clone();
        visible.extend(first.iter().filter(|column| !common.contains(column)));
        visible.extend(second.iter().filter(|column| !hidden.contains(column)));
        Ok(visible)
    }

    fn find_visible(&self, columns: &[VisibleColumn], name: &str) -> Result<VisibleColumn> {
        let mut found = None;
        for column in columns {
            if same_name(self.tables[column.table].columns[column.column].name(), name) {
                if found.is_some() {
                    return Err(Error::new(ER_NON_UNIQ_ERROR, &[&name, &"FROM"]));
                }
                found = Some(*column);
            }
        }
        found.ok_or_else(|| Error::new(ER_BAD_FIELD_ERROR, &[&name, &"FROM"]))
    }

    fn bind_factor(&mut self, factor: &ast::TableFactor, usage: TableUsage, side: Side) -> Result<BoundFrom> {
        match factor {
            ast::TableFactor::Table {
                name,
                alias,
                hints,
                partitions,
            } => {
                if !partitions.is_empty() {
                    return Err(Error::unsupported("partitions"));
                }
                let alias = alias.as_deref().unwrap_or(&name.name);
                if let Some(view) = self.named_view(name)? {
                    return self.bind_view(&view, alias, usage, side);
                }
                let table = self.bind_table(name, alias, hints, usage)?;
                Ok(self.bound_table(table))
            }
            ast::TableFactor::Derived {
                query,
                alias,
                columns,
            } => {
                let plan = self.planner.plan_subquery(query, None, self.common.clone())?;
                if !columns.is_empty() && columns.len() != plan.columns.len() {
                    return Err(Error::new(ER_WITH_COL_WRONG_LIST, &[]));
                }
                let plan = Arc::new(plan);
                let table = self.add_derived(
                    alias,
                    TableSource::Derived(plan.clone()),
                    &plan.columns,
                    &plan.types,
                    columns,
                )?;
                Ok(self.bound_table(table))
            }
            ast::TableFactor::JsonTable(table) => {
                let table = self.bind_json_table(table)?;
                Ok(self.bound_table(table))
            }
            ast::TableFactor::Nested(tables) => self.bind_joins(tables, usage, side),
        }
    }

    pub fn bound_table(&self, table: usize) -> BoundFrom {
        let visible = (0..self.tables[table].columns.len())
            .map(|column| VisibleColumn { table, column })
            .collect();
        BoundFrom {
            node: FromNode::Table(table),
            visible,
            tables: table..table + 1,
        }
    }

    /// Adds a named table: a common table expression, a stored table, or a virtual table.
    fn bind_table(
        &mut self,
        name: &TableName,
        alias: &str,
        hints: &[ast::IndexHint],
        usage: TableUsage,
    ) -> Result<usize> {
        if name.database.is_none() {
            let common = self.common.clone();
            if let Some(common) = common.find(&name.name) {
                let source = match &common.kind {
                    CommonTableKind::Planned(plan) => TableSource::Derived(plan.clone()),
                    CommonTableKind::Recursive(id) => TableSource::Recursive(*id),
                };
                return self.add_derived(alias, source, &common.columns, &common.types, &[]);
            }
        }
        let database = self
            .planner
            .database_or_current(name.database.as_deref())?
            .to_owned();
        if let Some(definition) = self.planner.context.catalog.table(&database, &name.name) {
            let definition = definition.clone();
            let number = self
                .planner
                .use_table(&database, &name.name, Some(&definition), usage);
            self.planner.name_table(&definition, alias);
            let table = self.add_base(alias, &definition, hints)?;
            self.tables[table].number = Some(number);
            return Ok(table);
        }
        let services = &self.planner.session().services;
        let made = services.virtual_tables.columns(&database, &name.name);
        let series = match made {
            Some(_) => None,
            None => self.planner.number_series(&database, &name.name),
        };
        let Some(columns) = made.or_else(|| series.map(|_| NumberSeries::columns())) else {
            return Err(no_such_table(&database, &name.name));
        };
        let number = self.planner.use_table(&database, &name.name, None, usage);
        let database: Arc<str> = database.into();
        let table: Arc<str> = name.name.as_str().into();
        let alias: Arc<str> = alias.into();
        let columns = columns
            .into_iter()
            .map(|column| {
                let mut result = ResultColumn::of_expression(column.name.as_str(), &column.ty);
                result.database = database.clone();
                result.table = alias.clone();
                result.org_table = table.clone();
                result.org_name = column.name.as_str().into();
                result.become_field();
                result.flags |= column_flags::NO_DEFAULT_VALUE;
                if series.is_some() {
                    result.flags |= column_flags::PRIMARY_KEY | column_flags::PART_KEY;
                }
                TableColumn {
                    result,
                    ty: column.ty,
                    invisible: false,
                }
            })
            .collect();
        let source = match series {
            Some(series) => TableSource::Series(series),
            None => TableSource::Virtual {
                database: database.clone(),
                table,
            },
        };
        let table = self.add_table(alias, database, columns, source, &[])?;
        self.tables[table].number = Some(number);
        Ok(table)
    }

    /// Adds a stored table.
    pub fn add_base(
        &mut self,
        alias: &str,
        definition: &Arc<TableDefinition>,
        hints: &[ast::IndexHint],
    ) -> Result<usize> {
        let database: Arc<str> = definition.database().into();
        let alias: Arc<str> = alias.into();
        let org_table: Arc<str> = definition.name().into();
        let mut columns = Vec::with_capacity(definition.columns().len());
        for (number, column) in definition.columns().iter().enumerate() {
            let ty = ExprType::of_column(column.data_type.clone(), column.nullable);
            let mut result = ResultColumn::of_expression(column.name.as_str(), &ty);
            result.database = database.clone();
            result.table = alias.clone();
            result.org_table = org_table.clone();
            result.org_name = result.name.clone();
            result.origin = Some(ColumnOrigin {
                database: database.clone(),
                table: org_table.clone(),
                column: result.name.clone(),
                through: Through::Nothing,
            });
            result.become_field();
            result.flags = super::result_column::flags_of_column(definition, number);
            if column.data_type.is_text()
                || column.data_type.is_binary_string()
                || is_label(&column.data_type)
            {
                result.decimals = 0;
            }
            columns.push(TableColumn {
                result,
                ty,
                invisible: column.invisible,
            });
        }
        self.add_table(
            alias,
            database,
            columns,
            TableSource::Base(definition.clone()),
            hints,
        )
    }

    pub fn add_derived(
        &mut self,
        alias: &str,
        source: TableSource,
        columns: &[ResultColumn],
        types: &[ExprType],
        names: &[String],
    ) -> Result<usize> {
        let alias: Arc<str> = alias.into();
        // The columns of a merged derived table are those of its tables.
        let is_merged = matches!(&source, TableSource::Derived(plan) if plan.is_mergeable());
        let mut made: Vec<TableColumn> = Vec::with_capacity(columns.len());
        for (number, (column, ty)) in columns.iter().zip(types).enumerate() {
            let mut result = column.clone();
            if let Some(name) = names.get(number) {
                result.name = name.as_str().into();
            }
            if made.iter().any(|other| same_name(other.name(), &result.name)) {
                return Err(Error::new(ER_DUP_FIELDNAME, &[&result.name]));
            }
            // An expression without a name, such as `''`, has no name here either.
            if result.name.is_empty() && !names.is_empty() {
                return Err(Error::new(ER_WRONG_COLUMN_NAME, &[&result.name]));
            }
            result.table = alias.clone();
            result.org_name = result.name.clone();
            let mut ty = ty.clone();
            if ty.nullable && result.is_not_null() {
                become_rollup_key(&mut result, &mut ty);
            }
            match is_merged {
                true => {
                    result.org_table = alias.clone();
                    result.seen_through(Through::Merged);
                }
                false => {
                    result.seen_through(Through::Materialized);
                    result.database = Arc::from("");
                    result.become_field();
                }
            }
            made.push(TableColumn {
                result,
                ty,
                invisible: false,
            });
        }
        self.add_table(alias, Arc::from(""), made, source, &[])
    }

    pub fn add_table(
        &mut self,
        alias: Arc<str>,
        database: Arc<str>,
        columns: Vec<TableColumn>,
        source: TableSource,
        hints: &[ast::IndexHint],
    ) -> Result<usize> {
        if self
            .tables
            .iter()
            .any(|table| table.alias == alias && table.database == database && table.owner == self.owner)
        {
            return Err(Error::new(ER_NONUNIQ_TABLE, &[&alias]));
        }
        if self.tables.len() >= super::table_ref::TABLES_MAX {
            return Err(Error::new(
                paceline_types::error_code::ER_TOO_MANY_TABLES,
                &[&super::table_ref::TABLES_MAX],
            ));
        }
        let base = self.allocate(columns.len());
        let used = vec![false; columns.len()];
        self.tables.push(TableRef {
            alias,
            database,
            base,
            columns,
            source,
            used,
            nullable: false,
            hints: hints.to_vec(),
            distinct: false,
            owner: self.owner,
            access: self.planner.access(),
            view: None,
            merged: None,
            number: None,
        });
        Ok(self.tables.len() - 1)
    }

    /// Returns the columns of `*` or `table.*`.
    pub fn wildcard(&self, qualifier: Option<&TableName>) -> Result<Vec<VisibleColumn>> {
        let shown = |column: &VisibleColumn| !self.tables[column.table].columns[column.column].invisible;
        let Some(qualifier) = qualifier else {
            return Ok(self.visible.iter().copied().filter(shown).collect());
        };
        let found = self.tables.iter().position(|table| {
            *table.alias == *qualifier.name
                && table.owner == self.owner
                && qualifier
                    .database
                    .as_deref()
                    .is_none_or(|database| *table.database == *database)
        });
        let Some(table) = found else {
            let current = self.planner.session().database.as_deref();
            let database = qualifier.database.as_deref().or(current).unwrap_or("");
            let name = format!("{database}.{}", qualifier.name);
            return Err(Error::new(
                paceline_types::error_code::ER_BAD_TABLE_ERROR,
                &[&name],
            ));
        };
        Ok((0..self.tables[table].columns.len())
            .map(|column| VisibleColumn { table, column })
            .filter(shown)
            .collect())
    }
}

fn is_label(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Enum { .. } | DataType::Set { .. })
}

/// Returns a new number for a recursive table.
pub(crate) fn recursive_table_id() -> u64 {
    unique_id()
}

/// Changes the column of a derived table to one that WITH ROLLUP makes NULL. An integer column of a table then has at
/// least the display width of its type.
fn become_rollup_key(result: &mut ResultColumn, ty: &mut ExprType) {
    result.flags &= !column_flags::NOT_NULL;
    if result.origin.is_none() {
        return;
    }
    for data_type in [&mut result.data_type, &mut ty.data_type] {
        if let DataType::Integer(integer) = data_type {
            let usual = IntegerType::new(integer.width, integer.sign).display_width;
            integer.display_width = integer.display_width.max(usual);
            integer.zerofill = false;
        }
    }
}
