//! Names of a view's columns, and of the tables that it reads.

use paceline_types::error_code::*;

use super::resolve::set_names;
use crate::error::{Error, Result};
use crate::{Catalog, same_name};
use paceline_syntax::ast::visit::for_each_table;
use paceline_syntax::ast::{
    Expr, ItemName, JoinedTables, Query, QueryBody, SelectItem, TableFactor, TableName,
};

/// Maximum length of a column's name, in characters.
const NAME_LENGTH_MAX: usize = 64;

/// Returns the tables and views that a query reads, directly or through views, without duplicates. A name
/// without a database is one in `database`, if that is given. Names of common table expressions are included.
pub fn names_read(query: &Query, catalog: &Catalog, database: Option<&str>) -> Vec<TableName> {
    let mut names = direct_names(query);
    for name in &mut names {
        name.database = name.database.take().or_else(|| database.map(str::to_owned));
    }
    let mut next = 0;
    while let Some(name) = names.get(next) {
        next += 1;
        let database = name.database.as_deref();
        let Some(view) = database.and_then(|database| catalog.ordinary_view(database, &name.name)) else {
            continue;
        };
        for name in direct_names(view.parsed()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// Returns the names in the query itself, possibly with duplicates.
fn direct_names(query: &Query) -> Vec<TableName> {
    let mut names = Vec::new();
    for_each_table(query, |name| names.push(name.clone()));
    names
}

/// Determines the view's column names, which are distinct: the given ones, or those of the query. They also
/// become the names of the query's columns.
///
/// # Errors
/// 1353 for too many or too few, 1060 for a duplicate, 1166 for an invalid name.
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
        let twin = (0..place).find(|&other| same_name(&names[other], &names[place]));
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

/// Returns a name that no other column has.
fn unique(names: &[String], place: usize) -> String {
    let base = &names[place];
    let mut attempt = 0;
    loop {
        let name = match attempt {
            0 => format!("My_exp_{base}"),
            attempt => format!("My_exp_{attempt}_{base}"),
        };
        let name: String = name.chars().take(NAME_LENGTH_MAX).collect();
        if !names.iter().any(|known| same_name(known, &name)) {
            return name;
        }
        attempt += 1;
    }
}

/// Returns for each item of a query's first SELECT whether its name is its text.
fn generated_names(body: &QueryBody) -> Vec<bool> {
    match body {
        QueryBody::Select(select) => select
            .items
            .iter()
            .map(|item| match item {
                SelectItem::Expr { expr, name } => {
                    matches!(name, ItemName::Text(_)) && !matches!(expr, Expr::Column(_))
                }
                SelectItem::Wildcard | SelectItem::TableWildcard(_) => false,
            })
            .collect(),
        QueryBody::Query(query) => generated_names(&query.body),
        QueryBody::SetOperation { left, .. } => generated_names(left),
        QueryBody::Values(_) => Vec::new(),
    }
}

/// Returns whether a query reads a view, directly or through other views.
pub(super) fn uses_view(query: &Query, catalog: &Catalog, view: (&str, &str)) -> bool {
    names_read(query, catalog, None)
        .iter()
        .any(|name| name.database.as_deref() == Some(view.0) && name.name == view.1)
}

fn has_json_table(body: &QueryBody) -> bool {
    match body {
        QueryBody::Select(select) => {
            let mut factors = select.from.iter().flat_map(JoinedTables::factors);
            factors.any(TableFactor::has_json_table)
        }
        QueryBody::Query(query) => has_json_table(&query.body),
        QueryBody::SetOperation { left, right, .. } => has_json_table(left) || has_json_table(right),
        QueryBody::Values(_) => false,
    }
}

/// Returns whether everything that a query reads, directly or through views, is in one database.
pub(super) fn is_within(query: &Query, catalog: &Catalog, database: &str) -> bool {
    // As in MariaDB a JSON_TABLE is in no database.
    !has_json_table(&query.body)
        && names_read(query, catalog, None)
            .iter()
            .all(|name| name.database.as_deref().is_none_or(|known| known == database))
}
