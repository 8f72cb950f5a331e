//! Names of foreign keys, which are unique within a database.
//!
//! A plan sees the published names. Two statements about different tables could choose the same name
//! concurrently, and the log could then not be replayed. Therefore a statement locks the names that it may
//! assign until it is published. All names generated from one table's name (`t_ibfk_1`) are one lock.

use std::collections::BTreeSet;

use crate::Catalog;
use paceline_syntax::definition::{AlterAction, CreateTableBody, ForeignKeySpec, TableConstraint};
use paceline_syntax::{DdlStatement, TableName};

/// Returns the foreign keys that a statement defines.
pub(in crate::ddl) fn new_keys(statement: &DdlStatement) -> Vec<&ForeignKeySpec> {
    match statement {
        DdlStatement::CreateTable(create) => match &create.body {
            CreateTableBody::Like(_) => Vec::new(),
            CreateTableBody::Definition {
                columns, constraints, ..
            } => {
                let of_columns = columns.iter().filter_map(|column| column.references.as_ref());
                let of_table = constraints.iter().filter_map(TableConstraint::foreign_key);
                of_columns.chain(of_table).collect()
            }
        },
        DdlStatement::AlterTable(alter) => {
            let keys = alter.actions.iter().filter_map(|action| match action {
                AlterAction::AddConstraint(constraint) => constraint.foreign_key(),
                AlterAction::AddColumn { column, .. }
                | AlterAction::ModifyColumn { column, .. }
                | AlterAction::ChangeColumn { column, .. } => column.references.as_ref(),
                _ => None,
            });
            keys.collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the foreign key names that a statement must lock before it is prepared, and after it has locked
/// the [`ddl_objects`](crate::ddl::ddl_objects). Each one is a database with a name that the statement may
/// assign to a foreign key there, or with the common prefix of such names. They are sorted, so that
/// statements cannot deadlock.
pub fn foreign_key_names(
    statement: &DdlStatement,
    catalog: &Catalog,
    database: Option<&str>,
) -> Vec<(String, String)> {
    let new = new_keys(statement);
    // The tables whose keys get names, with the names of the tables after the statement.
    let tables: Vec<(&TableName, TableName)> = match statement {
        DdlStatement::CreateTable(create) if !new.is_empty() => vec![(&create.name, create.name.clone())],
        DdlStatement::AlterTable(alter) => {
            let renamed = alter.actions.iter().find_map(|action| match action {
                AlterAction::RenameTable(to) => Some(TableName {
                    database: to.database.clone().or(alter.table.database.clone()),
                    name: to.name.clone(),
                }),
                _ => None,
            });
            match renamed {
                None if new.is_empty() => Vec::new(),
                renamed => vec![(&alter.table, renamed.unwrap_or_else(|| alter.table.clone()))],
            }
        }
        DdlStatement::RenameTables { renames, .. } => {
            renames.iter().map(|(from, to)| (from, to.clone())).collect()
        }
        _ => Vec::new(),
    };
    let (mut databases, mut names) = (BTreeSet::new(), BTreeSet::new());
    names.extend(
        new.iter()
            .filter_map(|key| key.name())
            .map(|name| locked_name(name)),
    );
    for (from, to) in &tables {
        for table in [*from, to] {
            names.insert(generated_prefix(&table.name));
            databases.extend(table.database.as_deref().or(database));
        }
        let Some(database) = from.database.as_deref().or(database) else {
            continue;
        };
        if let Some(table) = catalog.ordinary_table(database, &from.name) {
            names.extend(table.foreign_keys.iter().map(|key| locked_name(&key.name)));
        }
    }
    let pairs = databases.into_iter().flat_map(|database: &str| {
        let of_database = names.iter().map(|name| (database.to_owned(), name.clone()));
        of_database.collect::<Vec<_>>()
    });
    pairs.collect()
}

/// Returns the prefix of all names generated for a table.
fn generated_prefix(table: &str) -> String {
    format!("{}_ibfk_", table.to_lowercase())
}

/// Returns the lock for a name in any case: for a generated name, its prefix.
fn locked_name(name: &str) -> String {
    match name.to_lowercase().rsplit_once("_ibfk_") {
        Some((table, number)) if number.parse::<u64>().is_ok() => generated_prefix(table),
        _ => name.to_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_syntax::{ParseOptions, Statement, parse_first};

    fn names(text: &str) -> Vec<String> {
        match parse_first(text.as_bytes(), &ParseOptions::default())
            .expect(text)
            .statement
        {
            Statement::Ddl(statement) => foreign_key_names(&statement, &Catalog::new(), Some("d"))
                .into_iter()
                .map(|(database, name)| format!("{database}.{name}"))
                .collect(),
            other => panic!("{other:?} is no definition"),
        }
    }

    #[test]
    fn names_that_may_be_equal_have_the_same_lock() {
        assert_eq!(
            names("alter table c add constraint Fk foreign key (a) references p (id)"),
            ["d.c_ibfk_", "d.fk"]
        );
        // An explicit name can be one that is generated for another table.
        assert_eq!(
            names("create table e.c (a int, constraint t_ibfk_7 foreign key (a) references p (id))"),
            ["e.c_ibfk_", "e.t_ibfk_"]
        );
        assert_eq!(
            names("rename table t to e.u"),
            ["d.t_ibfk_", "d.u_ibfk_", "e.t_ibfk_", "e.u_ibfk_"]
        );
        assert_eq!(names("alter table t rename to u"), ["d.t_ibfk_", "d.u_ibfk_"]);
        for without in [
            "alter table c add index (a)",
            "create table c (a int)",
            "drop table c",
        ] {
            assert!(names(without).is_empty(), "{without}");
        }
    }
}
