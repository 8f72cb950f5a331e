//! Names of tables and columns.

use std::fmt;

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

/// The name of a column, with what was written before it.
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
