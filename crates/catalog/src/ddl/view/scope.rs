//! Scopes of names in a view's query: the tables of each SELECT, and the visible common table expressions.

use crate::same_name;
use paceline_syntax::ast::{ColumnName, Expr};

/// A table with its columns.
#[derive(Debug, Clone)]
pub(super) struct Table {
    /// Database, for a table of the catalog.
    pub database: Option<String>,
    /// Alias or name.
    pub name: String,
    /// Whether its columns are written with the database.
    pub is_qualified: bool,
    pub columns: Vec<Column>,
}

#[derive(Debug, Clone)]
pub(super) struct Column {
    pub name: String,
    pub invisible: bool,
}

/// A column of [`Scope::tables`]: number of the table, number of the column.
pub(super) type Place = (usize, usize);

/// Names of one SELECT.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope {
    pub tables: Vec<Table>,
    /// Columns that unqualified names and `*` can refer to.
    pub visible: Vec<Place>,
}

/// A common table expression.
#[derive(Debug, Clone)]
pub(super) struct Common {
    pub name: String,
    pub columns: Vec<String>,
}

/// Surroundings of a query: the SELECTs around it, innermost last, and the visible common table expressions.
#[derive(Debug, Clone, Default)]
pub(super) struct Surroundings {
    pub scopes: Vec<Scope>,
    pub common: Vec<Common>,
}

impl Table {
    pub fn reference(&self, column: usize) -> Expr {
        Expr::Column(ColumnName {
            database: self.database.clone().filter(|_| self.is_qualified),
            table: Some(self.name.clone()),
            name: self.columns[column].name.clone(),
        })
    }

    pub fn find(&self, column: &str) -> Option<usize> {
        self.columns
            .iter()
            .position(|known| same_name(&known.name, column))
    }
}

impl Scope {
    /// Returns the column of this name.
    pub fn find(&self, name: &ColumnName) -> Option<Expr> {
        let Some(table_name) = &name.table else {
            let is_column =
                |&(table, column): &Place| same_name(&self.tables[table].columns[column].name, &name.name);
            let (table, column) = self.visible.iter().copied().find(is_column)?;
            return Some(self.tables[table].reference(column));
        };
        self.tables.iter().find_map(|table| {
            let is_table =
                table.name == *table_name && (name.database.is_none() || table.database == name.database);
            let column = is_table.then(|| table.find(&name.name)).flatten()?;
            Some(table.reference(column))
        })
    }
}

pub(super) fn visible_column(name: String) -> Column {
    Column {
        name,
        invisible: false,
    }
}
