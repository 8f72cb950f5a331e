//! Whether rows could be changed through a view, as `information_schema.VIEWS` tells it: it is one SELECT of single rows, and a column of it is one
//! of a table's.

use sqlparser::ast::{Expr, SelectItem, SetExpr, TableFactor, TableWithJoins};

use crate::catalog::{Catalog, ViewAlgorithm, ViewDefinition, same_name};
use crate::parse::{TableName, table_name};

/// Views of views go this deep.
const DEPTH_MAX: u32 = 63;

/// Whether a view is updatable.
pub fn is_updatable(view: &ViewDefinition, catalog: &Catalog) -> bool {
    (0..view.columns.len()).any(|column| is_column(view, column, catalog, 0))
}

/// Whether a view's column is one of a table's.
fn is_column(view: &ViewDefinition, column: usize, catalog: &Catalog, depth: u32) -> bool {
    let SetExpr::Select(select) = &*view.parsed().body else {
        return false;
    };
    if !view.is_of_rows() || view.algorithm == ViewAlgorithm::TempTable || depth > DEPTH_MAX {
        return false;
    }
    let Some(SelectItem::ExprWithAlias { expr, .. }) = select.projection.get(column) else {
        return false;
    };
    let expr = match expr {
        Expr::Collate { expr, .. } => expr,
        expr => expr,
    };
    let Expr::CompoundIdentifier(parts) = expr else {
        return false;
    };
    let [.., table, name] = parts.as_slice() else {
        return false;
    };
    let Some(source) = select.from.iter().find_map(|item| named(item, &table.value)) else {
        // A derived table, which MariaDB counts, too.
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
                .position(|column| same_name(column, &name.value));
            place.is_some_and(|place| is_column(inner, place, catalog, depth + 1))
        })
}

/// The table that FROM calls so.
fn named(item: &TableWithJoins, called: &str) -> Option<TableName> {
    let joined = item.joins.iter().map(|join| &join.relation);
    std::iter::once(&item.relation)
        .chain(joined)
        .find_map(|factor| match factor {
            TableFactor::Table { name, alias, .. } => {
                let name = table_name(name)?;
                let alias = alias
                    .as_ref()
                    .map_or(name.name.as_str(), |alias| &alias.name.value);
                (alias == called).then_some(name)
            }
            TableFactor::NestedJoin { table_with_joins, .. } => named(table_with_joins, called),
            _ => None,
        })
}
