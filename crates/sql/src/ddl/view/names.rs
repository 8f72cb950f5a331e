//! The names of a view's columns, and of what it reads.

use sqlparser::ast::{Expr, Query, Select, SelectItem, SetExpr};

use paceline_types::error_code::*;

use super::for_each_table;
use super::resolve::set_names;
use crate::catalog::Catalog;
use crate::error::{Error, Result};
use crate::parse::{GENERATED_NAME, TableName, for_each_expr};

/// The most characters of a column's name.
const NAME_LENGTH_MAX: usize = 64;

/// What a view reads, each once.
pub type ViewNames = Vec<TableName>;

/// The tables and views that a query reads by name.
pub fn view_names(query: &Query) -> ViewNames {
    let mut names = Vec::new();
    for_each_table(query, &mut |name| {
        if !names.contains(name) {
            names.push(name.clone());
        }
    });
    names
}

/// The names of the view's columns: those that are given, or those of the query, none twice. They become those of the query.
///
/// # Errors
/// 1353 for too many or too few, 1060 for one that is there twice, 1166 for one that no column can have.
pub(super) fn final_names(query: &mut Query, found: Vec<String>, given: &[String]) -> Result<Vec<String>> {
    if !given.is_empty() && given.len() != found.len() {
        return Err(Error::new(ER_VIEW_WRONG_LIST, &[]));
    }
    let generated = generated_names(&query.body);
    let is_generated = |place: usize| given.is_empty() && generated.get(place).copied().unwrap_or(false);
    let mut names: Vec<String> = if given.is_empty() { found } else { given.to_vec() };
    for (place, name) in names.iter_mut().enumerate() {
        let is_wrong = name.is_empty() || name.ends_with(' ') || name.chars().count() > NAME_LENGTH_MAX;
        if is_wrong && is_generated(place) {
            *name = format!("Name_exp_{}", place + 1);
        } else if name.is_empty() || name.chars().count() > NAME_LENGTH_MAX {
            return Err(Error::new(ER_WRONG_COLUMN_NAME, &[&*name]));
        }
    }
    for place in 0..names.len() {
        let twin = (0..place).find(|&other| names[other].to_lowercase() == names[place].to_lowercase());
        let Some(twin) = twin else { continue };
        let renamed = [place, twin].into_iter().find(|&place| is_generated(place));
        match renamed {
            Some(renamed) => names[renamed] = unique(&names, renamed),
            None => return Err(Error::new(ER_DUP_FIELDNAME, &[&names[place]])),
        }
    }
    set_names(&mut query.body, &names);
    Ok(names)
}

/// A name that no other column has.
fn unique(names: &[String], place: usize) -> String {
    let base = &names[place];
    let mut attempt = 0;
    loop {
        let name = match attempt {
            0 => format!("My_exp_{base}"),
            attempt => format!("My_exp_{attempt}_{base}"),
        };
        let name: String = name.chars().take(NAME_LENGTH_MAX).collect();
        if !names
            .iter()
            .any(|known| known.to_lowercase() == name.to_lowercase())
        {
            return name;
        }
        attempt += 1;
    }
}

/// For each item of a query's first SELECT, whether its name is its text.
fn generated_names(body: &SetExpr) -> Vec<bool> {
    match body {
        SetExpr::Select(select) => select
            .projection
            .iter()
            .map(|item| match item {
                SelectItem::ExprWithAlias { expr, alias } => {
                    alias.quote_style == Some(GENERATED_NAME)
                        && !matches!(expr, Expr::CompoundIdentifier(_) | Expr::Identifier(_))
                }
                _ => false,
            })
            .collect(),
        SetExpr::Query(query) => generated_names(&query.body),
        SetExpr::SetOperation { left, .. } => generated_names(left),
        _ => Vec::new(),
    }
}

/// Whether a query reads a view, itself or through other views.
pub(super) fn uses_view(query: &Query, catalog: &Catalog, view: (&str, &str)) -> bool {
    let mut seen = Vec::new();
    reads(query, catalog, &mut seen);
    seen.iter()
        .any(|name| name.database.as_deref() == Some(view.0) && name.name == view.1)
}

/// Collects what a query reads, and what the views that it reads do.
fn reads(query: &Query, catalog: &Catalog, seen: &mut Vec<TableName>) {
    for name in view_names(query) {
        if seen.contains(&name) {
            continue;
        }
        let view = name
            .database
            .as_deref()
            .and_then(|database| catalog.ordinary_view(database, &name.name));
        seen.push(name.clone());
        if let Some(view) = view {
            reads(view.parsed(), catalog, seen);
        }
    }
}

/// Whether all that a query reads, itself or through views, is in one database.
pub(super) fn is_within(query: &Query, catalog: &Catalog, database: &str) -> bool {
    let mut seen = Vec::new();
    reads(query, catalog, &mut seen);
    seen.iter()
        .all(|name| name.database.as_deref().is_none_or(|known| known == database))
}

/// Calls `visit` for each query within the expressions of a SELECT.
pub(super) fn for_each_subquery(select: &Select, visit: &mut dyn FnMut(&Query)) {
    for item in &select.projection {
        if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = item {
            in_expr(expr, visit);
        }
    }
    for expr in [&select.selection, &select.having].into_iter().flatten() {
        in_expr(expr, visit);
    }
    if let sqlparser::ast::GroupByExpr::Expressions(exprs, _) = &select.group_by {
        exprs.iter().for_each(|expr| in_expr(expr, visit));
    }
    for item in &select.from {
        in_joins(item, visit);
    }
}

fn in_joins(item: &sqlparser::ast::TableWithJoins, visit: &mut dyn FnMut(&Query)) {
    use sqlparser::ast::{JoinConstraint, JoinOperator, TableFactor};
    if let TableFactor::NestedJoin { table_with_joins, .. } = &item.relation {
        in_joins(table_with_joins, visit);
    }
    for join in &item.joins {
        if let JoinOperator::Join(JoinConstraint::On(expr))
        | JoinOperator::LeftOuter(JoinConstraint::On(expr))
        | JoinOperator::StraightJoin(JoinConstraint::On(expr)) = &join.join_operator
        {
            in_expr(expr, visit);
        }
        if let TableFactor::NestedJoin { table_with_joins, .. } = &join.relation {
            in_joins(table_with_joins, visit);
        }
    }
}

fn in_expr(expr: &Expr, visit: &mut dyn FnMut(&Query)) {
    for_each_expr(expr, &mut |node| match node {
        Expr::Subquery(query)
        | Expr::Exists { subquery: query, .. }
        | Expr::InSubquery { subquery: query, .. } => visit(query),
        _ => {}
    });
}
