//! Updatability of views, as shown in `information_schema.VIEWS`: a view is updatable if it is one SELECT
//! without grouping, and one of its columns is a column of a table.

use crate::{Catalog, ViewAlgorithm, ViewDefinition, same_name};
use paceline_syntax::ast::{Expr, JoinedTables, QueryBody, SelectItem, TableFactor, TableName};

/// Maximum nesting of views.
const DEPTH_MAX: u32 = 63;

/// Returns whether a view is updatable.
pub fn is_updatable(view: &ViewDefinition, catalog: &Catalog) -> bool {
    (0..view.columns.len()).any(|column| is_column(view, column, catalog, 0))
}

/// Returns whether a view's column is a column of a table.
fn is_column(view: &ViewDefinition, column: usize, catalog: &Catalog, depth: u32) -> bool {
    let QueryBody::Select(select) = &view.parsed().body else {
        return false;
    };
    if !view.is_of_rows() || view.algorithm == ViewAlgorithm::TempTable || depth > DEPTH_MAX {
        return false;
    }
    let Some(expr) = select.items.get(column).and_then(SelectItem::expr) else {
        return false;
    };
    let expr = match expr {
        Expr::Collate { operand, .. } => operand,
        expr => expr,
    };
    let Expr::Column(column) = expr else {
        return false;
    };
    let Some(table) = &column.table else {
        return false;
    };
    let Some(source) = select.from.iter().find_map(|item| named(item, table)) else {
        // A derived table. MariaDB counts it too.
        return true;
    };
    let Some(database) = source.database.as_deref() else {
        // A common table expression.
        return true;
    };
    if catalog.ordinary_table(database, &source.name).is_some() {
        return true;
    }
    catalog
        .ordinary_view(database, &source.name)
        .is_some_and(|inner| {
            let place = inner
                .columns
                .iter()
                .position(|known| same_name(known, &column.name));
            place.is_some_and(|place| is_column(inner, place, catalog, depth + 1))
        })
}

/// Returns the table with this name in FROM.
fn named<'a>(tables: &'a JoinedTables, called: &str) -> Option<&'a TableName> {
    tables.factors().find_map(|factor| match factor {
        TableFactor::Table { name, alias, .. } => {
            (alias.as_ref().unwrap_or(&name.name) == called).then_some(name)
        }
        TableFactor::Derived { .. } => None,
        TableFactor::Nested(tables) => named(tables, called),
    })
}
