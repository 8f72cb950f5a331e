//! FROM of a view's query: tables with their databases, and joins with explicit conditions.

use paceline_types::error_code::*;

use super::resolve::{Resolver, set_names};
use super::scope::{Column, Place, Scope, Surroundings, Table, visible_column};
use crate::error::{Error, Result};
use crate::{NumberSeries, same_name};
use paceline_syntax::ast::{
    BinaryOp, Expr, JoinConstraint, JoinKind, JoinedTables, JsonColumn, TableFactor, TableName,
};

impl Resolver<'_> {
    /// Resolves a table and its joins, and adds the tables to the scope. Returns the columns that unqualified
    /// names can refer to.
    pub(super) fn joined(
        &mut self,
        item: &mut JoinedTables,
        scope: &mut Scope,
        around: &Surroundings,
    ) -> Result<Vec<Place>> {
        let mut visible = self.factor(&mut item.first, scope, around)?;
        let joins = std::mem::take(&mut item.joins);
        for mut join in joins {
            let second = self.factor(&mut join.table, scope, around)?;
            let is_right = join.kind == JoinKind::Right;
            let constraint = std::mem::replace(&mut join.constraint, JoinConstraint::None);
            (join.constraint, visible) =
                self.constraint(constraint, visible, second, is_right, scope, around)?;
            if is_right {
                // Swap the sides.
                let before = JoinedTables {
                    first: std::mem::replace(&mut item.first, join.table),
                    joins: std::mem::take(&mut item.joins),
                };
                join.kind = JoinKind::Left;
                join.table = match before.joins.is_empty() {
                    true => before.first,
                    false => TableFactor::Nested(Box::new(before)),
                };
            }
            item.joins.push(join);
        }
        Ok(visible)
    }

    fn constraint(
        &mut self,
        constraint: JoinConstraint,
        left: Vec<Place>,
        right: Vec<Place>,
        is_right: bool,
        scope: &Scope,
        around: &Surroundings,
    ) -> Result<(JoinConstraint, Vec<Place>)> {
        let name = |place: &Place| scope.tables[place.0].columns[place.1].name.clone();
        let (first, second) = if is_right {
            (&right, &left)
        } else {
            (&left, &right)
        };
        let names: Vec<String> = match constraint {
            JoinConstraint::None => {
                return Ok((JoinConstraint::None, [left, right].concat()));
            }
            JoinConstraint::On(mut condition) => {
                let visible = [left, right].concat();
                let mut inner = around.clone();
                inner.scopes.push(Scope {
                    tables: scope.tables.clone(),
                    visible: visible.clone(),
                });
                self.condition(&mut condition, &inner)?;
                return Ok((JoinConstraint::On(condition), visible));
            }
            JoinConstraint::Natural => {
                let is_shown = |place: &&Place| !scope.tables[place.0].columns[place.1].invisible;
                let common = first.iter().filter(is_shown).map(name);
                common
                    .filter(|column| second.iter().any(|other| same_name(&name(other), column)))
                    .collect()
            }
            JoinConstraint::Using(columns) => columns,
        };
        let find = |places: &[Place], column: &str| {
            places
                .iter()
                .copied()
                .find(|place| same_name(&name(place), column))
        };
        let mut common = Vec::new();
        let mut hidden = Vec::new();
        let mut condition: Option<Expr> = None;
        for column in &names {
            let (Some(one), Some(other)) = (find(first, column), find(second, column)) else {
                return Err(Error::new(ER_BAD_FIELD_ERROR, &[column, &"FROM"]));
            };
            let (of_left, of_right) = if is_right { (other, one) } else { (one, other) };
            let equal = Expr::binary(
                scope.tables[of_left.0].reference(of_left.1),
                BinaryOp::Equal,
                scope.tables[of_right.0].reference(of_right.1),
            );
            condition = Some(match condition {
                Some(before) => Expr::binary(before, BinaryOp::And, equal),
                None => equal,
            });
            common.push(one);
            hidden.push(other);
        }
        let mut visible = common.clone();
        visible.extend(first.iter().filter(|place| !common.contains(place)));
        visible.extend(second.iter().filter(|place| !hidden.contains(place)));
        Ok((
            condition.map_or(JoinConstraint::None, JoinConstraint::On),
            visible,
        ))
    }

    fn factor(
        &mut self,
        factor: &mut TableFactor,
        scope: &mut Scope,
        around: &Surroundings,
    ) -> Result<Vec<Place>> {
        let table = match factor {
            TableFactor::Table { name, alias, .. } => {
                let mut table = self.named_table(name, around)?;
                if let Some(database) = &table.database {
                    *name = TableName::qualified(database, &table.name);
                }
                if let Some(alias) = alias {
                    table.is_qualified &= *alias == table.name;
                    table.name.clone_from(alias);
                }
                table
            }
            TableFactor::Derived {
                query,
                alias,
                columns,
            } => {
                let inner = Surroundings {
                    scopes: Vec::new(),
                    common: around.common.clone(),
                };
                let mut names = self.query(query, &inner)?;
                if !columns.is_empty() {
                    names.clone_from(columns);
                    set_names(&mut query.body, &names);
                }
                Table {
                    database: None,
                    name: alias.clone(),
                    is_qualified: false,
                    columns: names.into_iter().map(visible_column).collect(),
                }
            }
            TableFactor::JsonTable(table) => {
                // It may name columns of the tables before it.
                let mut inner = around.clone();
                let places = |(table, columns): (usize, &Table)| {
                    let columns = 0..columns.columns.len();
                    columns.map(move |column| (table, column)).collect::<Vec<_>>()
                };
                inner.scopes.push(Scope {
                    visible: scope.tables.iter().enumerate().flat_map(places).collect(),
                    tables: scope.tables.clone(),
                });
                self.expr(&mut table.document, &inner)?;
                let mut columns = Vec::new();
                add_json_columns(&table.columns, &mut columns);
                Table {
                    database: None,
                    name: table.alias.clone(),
                    is_qualified: false,
                    columns,
                }
            }
            TableFactor::Nested(tables) => return self.joined(tables, scope, around),
        };
        let number = scope.tables.len();
        let visible = (0..table.columns.len()).map(|column| (number, column)).collect();
        scope.tables.push(table);
        Ok(visible)
    }

    /// Returns a common table expression, a table, a view or a virtual table.
    fn named_table(&self, name: &TableName, around: &Surroundings) -> Result<Table> {
        if name.database.is_none()
            && let Some(common) = around
                .common
                .iter()
                .rev()
                .find(|common| same_name(&common.name, &name.name))
        {
            return Ok(Table {
                database: None,
                name: name.name.clone(),
                is_qualified: false,
                columns: common.columns.iter().cloned().map(visible_column).collect(),
            });
        }
        let database = name.database.as_deref().or(self.session.database.as_deref());
        let database = database.ok_or_else(|| Error::new(ER_NO_DB_ERROR, &[]))?;
        if self.catalog.temporary_table(database, &name.name).is_some() {
            return Err(Error::new(ER_VIEW_SELECT_TMPTABLE, &[&name.name]));
        }
        let (columns, is_qualified) = if let Some(table) = self.catalog.ordinary_table(database, &name.name) {
            let columns = table.columns().iter().map(|column| Column {
                name: column.name.clone(),
                invisible: column.invisible,
            });
            (columns.collect(), true)
        } else if let Some(view) = self.catalog.ordinary_view(database, &name.name) {
            (view.columns.iter().cloned().map(visible_column).collect(), false)
        } else {
            let made = self.session.services.virtual_tables.columns(database, &name.name);
            let known = made.or_else(|| NumberSeries::of_name(&name.name).map(|_| NumberSeries::columns()));
            let known = known.ok_or_else(|| Error::new(ER_NO_SUCH_TABLE, &[&database, &name.name]))?;
            (
                known
                    .into_iter()
                    .map(|column| visible_column(column.name))
                    .collect(),
                true,
            )
        };
        Ok(Table {
            database: Some(database.to_owned()),
            name: name.name.clone(),
            is_qualified,
            columns,
        })
    }
}

/// Appends the columns of a JSON_TABLE.
fn add_json_columns(items: &[JsonColumn], columns: &mut Vec<Column>) {
    for item in items {
        match item {
            JsonColumn::Ordinality { name }
            | JsonColumn::Value { name, .. }
            | JsonColumn::Exists { name, .. } => columns.push(visible_column(name.clone())),
            JsonColumn::Nested { columns: inner, .. } => add_json_columns(inner, columns),
        }
    }
}
