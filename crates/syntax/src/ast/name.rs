//! Names of tables and columns.

use std::fmt;

/// MariaDB's alias for the column that identifies a table's rows.
pub const ROW_ID: &str = "_rowid";

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TableName {
    /// The database, if one was written.
    pub database: Option<String>,
    pub name: String,
}

impl TableName {
    /// Returns a name without a database.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            database: None,
            name: name.into(),
        }
    }

    /// Returns a name with its database.
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

/// The name of a column, with its qualification as written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ColumnName {
    /// The database, if one was written.
    pub database: Option<String>,
    /// The table or alias, if one was written.
    pub table: Option<String>,
    pub name: String,
}

impl ColumnName {
    /// Returns a column without qualification.
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
