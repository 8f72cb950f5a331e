//! Names of tables and columns, as statements give them.

use std::fmt;

use sqlparser::ast::{Ident, TableAlias, TableWithJoins};

/// The name of a table, with or without its database.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TableName {
    /// The database, where it was named.
    pub database: Option<String>,
    /// The table.
    pub name: String,
}

impl TableName {
    /// A name without a database.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            database: None,
            name: name.into(),
        }
    }

    /// A name with its database.
    pub fn qualified(database: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            database: Some(database.into()),
            name: name.into(),
        }
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(database) = &self.database {
            write!(f, "{database}.")?;
        }
        f.write_str(&self.name)
    }
}

/// A column as the target of an assignment, with what was written in front of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ColumnName {
    /// The database, where it was named.
    pub database: Option<String>,
    /// The table or alias, where it was named.
    pub table: Option<String>,
    /// The column.
    pub name: String,
}

impl ColumnName {
    /// A column without qualification.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            database: None,
            table: None,
            name: name.into(),
        }
    }
}

impl fmt::Display for ColumnName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in [&self.database, &self.table].into_iter().flatten() {
            write!(f, "{part}.")?;
        }
        f.write_str(&self.name)
    }
}

/// A table of a simple `UPDATE` or `DELETE`, taken out of its tree.
///
/// # Returns
/// `None` if this is a join, a derived table or several tables.
pub fn single_table(from: &[TableWithJoins]) -> Option<(TableName, Option<&TableAlias>)> {
    use sqlparser::ast::TableFactor;
    match from {
        [
            TableWithJoins {
                relation: TableFactor::Table { name, alias, .. },
                joins,
            },
        ] if joins.is_empty() => Some((table_name(name)?, alias.as_ref())),
        _ => None,
    }
}

/// The name of a table in a query's tree.
///
/// # Returns
/// `None` for a name of more than two parts.
pub fn table_name(name: &sqlparser::ast::ObjectName) -> Option<TableName> {
    let mut parts = name.0.iter().map(|part| part.as_ident());
    let first: &Ident = parts.next()??;
    let result = match parts.next() {
        None => TableName::new(first.value.clone()),
        Some(second) => TableName::qualified(first.value.clone(), second?.value.clone()),
    };
    parts.next().is_none().then_some(result)
}
