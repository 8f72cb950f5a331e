//! Privileges for a statement that cannot be planned: an account that may not use a table must not learn from the error
//! which tables and columns exist.
//!
//! A plan knows exactly which tables and columns a statement uses, and [`super::check_plan`] checks those. Without a
//! plan there are only the names in the text. The tables that they name are checked as MariaDB does before it opens
//! them; only then the planner's error is returned.

use crate::accounts::{Authority, PrivilegeSet};
use crate::information_schema::is_for_everybody;
use paceline_catalog::Catalog;
use paceline_expression::session::Privilege;
use paceline_syntax::ast::visit::{for_each_joined_table, for_each_real_table, for_each_table_of_expr};
use paceline_syntax::ast::{JoinedTables, Query, QueryBody, TableFactor, TableName};
use paceline_syntax::{
    AssignedValue, ColumnName, Error, HandlerStatement, InsertKind, InsertSource, Statement,
};
use paceline_types::ErrorCode;
use paceline_types::error_code::*;

/// Errors that MariaDB raises before it checks privileges.
const EARLIER: [ErrorCode; 7] = [
    ER_PARSE_ERROR,
    ER_NO_DB_ERROR,
    ER_NOT_SUPPORTED_YET,
    ER_NONUNIQ_TABLE,
    ER_DERIVED_MUST_HAVE_ALIAS,
    ER_WRONG_USAGE,
    ER_OUTOFMEMORY,
];

/// Need of privileges on a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    /// All of these.
    All(PrivilegeSet),
    /// UPDATE or SELECT, for a table of an UPDATE of several tables.
    UpdateOrSelect,
}

/// A table that a statement names.
#[derive(Debug)]
struct NamedTable {
    name: TableName,
    alias: Option<String>,
    need: Need,
}

impl NamedTable {
    /// Returns the name by which the statement qualifies the table's columns.
    fn shown(&self) -> &str {
        self.alias.as_deref().unwrap_or(&self.name.name)
    }
}

/// Tables that a statement names, in the order in which MariaDB checks them.
#[derive(Debug, Default)]
struct NamedTables {
    tables: Vec<NamedTable>,
}

impl NamedTables {
    fn add_table(&mut self, name: &TableName, alias: Option<&str>, need: Need) {
        self.tables.push(NamedTable {
            name: name.clone(),
            alias: alias.map(str::to_owned),
            need,
        });
    }

    fn read(&mut self, name: &TableName, alias: Option<&str>) {
        self.add_table(name, alias, Need::All(PrivilegeSet::of(&[Privilege::Select])));
    }

    fn read_query(&mut self, query: &Query) {
        let first = self.tables.len();
        for_each_real_table(query, |name, alias| self.read(name, alias));
        // The first table of the outermost query comes before those of subqueries in the text before it.
        if let QueryBody::Select(select) = &query.body
            && let Some(JoinedTables {
                first: TableFactor::Table { name, .. },
                ..
            }) = select.from.first()
            && let Some(place) = self.tables[first..].iter().position(|other| other.name == *name)
        {
            self.tables[first..=first + place].rotate_right(1);
        }
    }

    fn read_exprs<'e>(&mut self, exprs: impl IntoIterator<Item = &'e paceline_syntax::ast::Expr>) {
        for expr in exprs {
            for_each_table_of_expr(expr, |name, alias| self.read(name, alias));
        }
    }

    fn read_values<'v>(&mut self, values: impl IntoIterator<Item = &'v AssignedValue>) {
        let exprs = values.into_iter().filter_map(|value| match value {
            AssignedValue::Expr(expr) => Some(expr),
            AssignedValue::Default => None,
        });
        self.read_exprs(exprs);
    }

    fn of(statement: &Statement) -> NamedTables {
        let mut named = NamedTables::default();
        named.add(statement);
        named
    }

    fn add(&mut self, statement: &Statement) {
        match statement {
            Statement::Query(query) => self.read_query(&query.query),
            Statement::Explain(explain) => self.add(&explain.statement),
            Statement::SetStatement { statement, .. } => self.add(statement),
            Statement::Do(exprs) => self.read_exprs(exprs),
            Statement::Handler(handler) => {
                if let HandlerStatement::Open { table, .. } = &**handler {
                    self.read(table, None);
                }
            }
            Statement::Insert(insert) => {
                let mut need = PrivilegeSet::of(&[Privilege::Insert]);
                if insert.kind == InsertKind::Replace {
                    need = need.with(Privilege::Delete);
                }
                if !insert.on_duplicate.is_empty() {
                    need = need.with(Privilege::Update);
                }
                self.add_table(&insert.table, None, Need::All(need));
                match &insert.source {
                    InsertSource::Values(rows) => self.read_values(rows.iter().flatten()),
                    InsertSource::Query(query) => self.read_query(&query.query),
                }
                self.read_values(insert.on_duplicate.iter().map(|assignment| &assignment.value));
            }
            Statement::Update(update) => {
                let need = match update.tables.as_slice() {
                    [one] if one.joins.is_empty() => Need::All(PrivilegeSet::of(&[Privilege::Update])),
                    _ => Need::UpdateOrSelect,
                };
                for tables in &update.tables {
                    for_each_joined_table(tables, |name, alias| self.add_table(name, alias, need));
                }
                self.read_values(update.assignments.iter().map(|assignment| &assignment.value));
                self.read_exprs(&update.selection);
            }
            Statement::Delete(delete) => {
                let select = PrivilegeSet::of(&[Privilege::Select]);
                for tables in &delete.from {
                    for_each_joined_table(tables, |name, alias| {
                        let is_target = |target: &TableName| target == name || is_alias(target, name, alias);
                        let need = match delete.targets.is_empty() {
                            true => PrivilegeSet::of(&[Privilege::Delete]),
                            false if delete.targets.iter().any(is_target) => select.with(Privilege::Delete),
                            false => select,
                        };
                        self.add_table(name, alias, Need::All(need));
                    });
                }
                self.read_exprs(&delete.selection);
            }
            _ => {}
        }
    }
}

/// Returns whether the target of a DELETE is this table, named by its alias or without its database.
fn is_alias(target: &TableName, name: &TableName, alias: Option<&str>) -> bool {
    let shown = alias.unwrap_or(&name.name);
    target.database.is_none() && target.name.eq_ignore_ascii_case(shown)
}

/// Returns the error for the client in place of a planner's error.
pub fn denied_instead(
    authority: Authority<'_>,
    statement: &Statement,
    catalog: &Catalog,
    error: Error,
) -> Error {
    let account = authority.account();
    if account.global.includes(PrivilegeSet::rows()) || EARLIER.contains(&error.code()) {
        return error;
    }
    let named = NamedTables::of(statement);
    let mut only_columns = None;
    for table in &named.tables {
        let name = &table.name;
        let Some(database) = name.database.as_deref().or(authority.database()) else {
            continue;
        };
        let is_temporary = || {
            let table = catalog.table(database, &name.name);
            table.is_some_and(|table| table.is_temporary())
        };
        if is_for_everybody(Privilege::Select, database) || is_temporary() {
            continue;
        }
        let granted = account.on_table(database, &name.name);
        let has = authority.privileges_in(database).union(granted.whole);
        let select = PrivilegeSet::of(&[Privilege::Select]);
        let needed = match table.need {
            Need::All(needed) => needed,
            Need::UpdateOrSelect if has.union(granted.any_column).has(Privilege::Update) => continue,
            Need::UpdateOrSelect => select,
        };
        let missing = needed.minus(has);
        let denied = missing.minus(granted.any_column);
        if !denied.is_empty() {
            return authority.denied(denied, database, &name.name);
        }
        if !missing.is_empty() {
            only_columns = only_columns.or(Some((table, missing)));
        }
    }
    match only_columns {
        Some((table, missing)) => unknown_column(authority, statement, table, missing, error),
        None => error,
    }
}

/// Returns the privileges that MariaDB names for a column that the table does not have, or nothing if the column cannot
/// be meant to be the table's. `missing` are those that the account lacks on the table.
fn needed_on_column(
    statement: &Statement,
    column: &str,
    missing: PrivilegeSet,
    error: &Error,
) -> Option<PrivilegeSet> {
    let is_column = |name: &ColumnName| name.name.eq_ignore_ascii_case(column);
    match statement {
        Statement::Explain(explain) => needed_on_column(&explain.statement, column, missing, error),
        Statement::SetStatement { statement, .. } => needed_on_column(statement, column, missing, error),
        // MariaDB looks up all names of INSERT with the same privileges, but those of its query.
        Statement::Insert(insert) if missing.has(Privilege::Insert) => {
            let is_own = matches!(insert.source, InsertSource::Values(_))
                || insert.columns.iter().any(is_column)
                || (!insert.on_duplicate.is_empty() && !error.message().ends_with("in 'SELECT'"));
            is_own.then_some(missing)
        }
        Statement::Update(update)
            if missing.has(Privilege::Update)
                && update.assignments.iter().any(|one| is_column(&one.column)) =>
        {
            Some(PrivilegeSet::of(&[Privilege::Update]))
        }
        _ => Some(PrivilegeSet::of(&[Privilege::Select])),
    }
}

/// Returns 1143 instead of 1054 for a table on which the account has privileges on some columns only: whether the table
/// has others is not told.
fn unknown_column(
    authority: Authority<'_>,
    statement: &Statement,
    table: &NamedTable,
    missing: PrivilegeSet,
    error: Error,
) -> Error {
    if error.code() != ER_BAD_FIELD_ERROR {
        return error;
    }
    let name = error.message().split('\'').nth(1).unwrap_or_default();
    let column = match name.rsplit_once('.') {
        None => name,
        Some((qualifier, column)) if qualifier.rsplit('.').next() == Some(table.shown()) => column,
        Some(_) => return error,
    };
    match needed_on_column(statement, column, missing, &error) {
        Some(needed) => authority.column_denied(needed, column, &table.name.name),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_syntax::{ParseOptions, parse_first};

    #[test]
    fn tables_are_named_in_mariadbs_order() {
        for (text, expected) in [
            ("SELECT a FROM t, d.u", "t:SELECT d.u:SELECT"),
            (
                "SELECT (SELECT 1 FROM u) FROM t WHERE a IN (SELECT 1 FROM v)",
                "t:SELECT u:SELECT v:SELECT",
            ),
            ("INSERT INTO t SELECT * FROM u", "t:INSERT u:SELECT"),
            (
                "REPLACE INTO t VALUES ((SELECT 1 FROM u))",
                "t:INSERT, DELETE u:SELECT",
            ),
            (
                "INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = (SELECT 1 FROM u)",
                "t:INSERT, UPDATE u:SELECT",
            ),
            (
                "UPDATE t SET a = (SELECT 1 FROM u) WHERE EXISTS (SELECT 1 FROM v)",
                "t:UPDATE u:SELECT v:SELECT",
            ),
            ("UPDATE t, u SET a = 1", "t:either u:either"),
            ("DELETE FROM t WHERE a IN (SELECT 1 FROM u)", "t:DELETE u:SELECT"),
            ("EXPLAIN SELECT * FROM t", "t:SELECT"),
            ("DO (SELECT 1 FROM t)", "t:SELECT"),
            (
                "SELECT 1 FROM s WHERE 1 IN (WITH s AS (SELECT 1 FROM u) SELECT * FROM S)",
                "s:SELECT u:SELECT",
            ),
            (
                "WITH s AS (SELECT 1 FROM s) SELECT * FROM s, d.s",
                "s:SELECT d.s:SELECT",
            ),
            (
                "WITH RECURSIVE s AS (SELECT 1 UNION SELECT 1 FROM s) SELECT 1 FROM s",
                "",
            ),
            ("DELETE x FROM t x JOIN u", "t:SELECT, DELETE u:SELECT"),
        ] {
            let statement = parse_first(text.as_bytes(), &ParseOptions::default())
                .unwrap()
                .statement;
            let named = NamedTables::of(&statement);
            let shown = named.tables.iter().map(|table| match table.need {
                Need::All(set) => format!("{}:{}", table.name, set.denied()),
                Need::UpdateOrSelect => format!("{}:either", table.name),
            });
            assert_eq!(shown.collect::<Vec<_>>().join(" "), expected, "{text}");
        }
    }
}
