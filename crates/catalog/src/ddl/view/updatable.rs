//! Updatability of views.
//!
//! MariaDB knows two kinds. `information_schema.VIEWS` shows whether a view is one SELECT without grouping with a
//! column that is a column of a table ([`is_updatable`]). A statement may write through a view if it is one SELECT
//! without grouping and outer joins, of stored tables and such views ([`is_writable`]): the changed table, and whether
//! each named column is a column of that table, follows from the statement.

use super::names::names_read;
use crate::{Catalog, ViewAlgorithm, ViewDefinition, same_name};
use paceline_syntax::ast::visit::for_each_table;
use paceline_syntax::ast::{
    Expr, JoinKind, JoinedTables, Query, QueryBody, SelectItem, TableFactor, TableName,
};

/// Maximum nesting of views.
const DEPTH_MAX: u32 = 63;

/// Returns whether a view is updatable, as `information_schema.VIEWS` shows it.
pub fn is_updatable(view: &ViewDefinition, catalog: &Catalog) -> bool {
    (0..view.columns.len()).any(|column| is_column(view, column, catalog, 0))
}

/// Returns whether a statement may write through a view.
pub fn is_writable(view: &ViewDefinition, catalog: &Catalog) -> bool {
    is_writable_at(view, catalog, 0)
}

fn is_writable_at(view: &ViewDefinition, catalog: &Catalog, depth: u32) -> bool {
    let QueryBody::Select(select) = &view.parsed().body else {
        return false;
    };
    view.is_of_rows()
        && view.algorithm != ViewAlgorithm::TempTable
        && depth <= DEPTH_MAX
        && (select.from.iter()).all(|tables| is_writable_join(tables, catalog, depth))
}

fn is_writable_join(tables: &JoinedTables, catalog: &Catalog, depth: u32) -> bool {
    let mut kinds = tables.joins.iter().map(|join| join.kind);
    if kinds.any(|kind| matches!(kind, JoinKind::Left | JoinKind::Right)) {
        return false;
    }
    tables.factors().all(|factor| match factor {
        TableFactor::Table { name, .. } => {
            let Some(database) = name.database.as_deref() else {
                // A common table expression.
                return true;
            };
            match catalog.ordinary_view(database, &name.name) {
                Some(inner) => is_writable_at(inner, catalog, depth + 1),
                None => catalog.ordinary_table(database, &name.name).is_some(),
            }
        }
        TableFactor::Derived { .. } | TableFactor::JsonTable(_) => true,
        TableFactor::Nested(tables) => is_writable_join(tables, catalog, depth),
    })
}

/// Returns whether a view, or one in its FROM, reads a table in a subquery or in a derived table.
pub fn reads_in_subquery(view: &ViewDefinition, catalog: &Catalog, table: (&str, &str)) -> bool {
    reads_in_subquery_at(view, catalog, table, 0)
}

fn reads_in_subquery_at(view: &ViewDefinition, catalog: &Catalog, table: (&str, &str), depth: u32) -> bool {
    let is_it = |read: &TableName| read.database.as_deref() == Some(table.0) && read.name == table.1;
    let view_of = |read: &TableName| catalog.ordinary_view(read.database.as_deref()?, &read.name);
    let joined = joined_names(view.parsed());
    let mut nested = Vec::new();
    for_each_table(view.parsed(), |read| nested.push(read.clone()));
    for read in &joined {
        if let Some(place) = nested.iter().position(|known| known == *read) {
            nested.swap_remove(place);
        }
    }
    let reads = |read: &TableName| {
        let through = view_of(read).map(|inner| names_read(inner.parsed(), catalog, None));
        is_it(read) || through.is_some_and(|names| names.iter().any(is_it))
    };
    if nested.iter().any(reads) {
        return true;
    }
    let mut inner = joined.into_iter().filter_map(view_of);
    depth <= DEPTH_MAX && inner.any(|inner| reads_in_subquery_at(inner, catalog, table, depth + 1))
}

/// Returns the names in the FROM of a query that is one SELECT.
fn joined_names(query: &Query) -> Vec<&TableName> {
    fn collect<'q>(tables: &'q JoinedTables, names: &mut Vec<&'q TableName>) {
        for factor in tables.factors() {
            match factor {
                TableFactor::Table { name, .. } => names.push(name),
                TableFactor::Derived { .. } | TableFactor::JsonTable(_) => {}
                TableFactor::Nested(tables) => collect(tables, names),
            }
        }
    }
    let mut names = Vec::new();
    if let QueryBody::Select(select) = &query.body {
        let from = select.from.iter();
        from.for_each(|tables| collect(tables, &mut names));
    }
    names
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
            // The columns of a table in which a view's rows are stored count as well.
            if !inner.is_of_rows() || inner.algorithm == ViewAlgorithm::TempTable {
                return true;
            }
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
        TableFactor::Derived { .. } | TableFactor::JsonTable(_) => None,
        TableFactor::Nested(tables) => named(tables, called),
    })
}
