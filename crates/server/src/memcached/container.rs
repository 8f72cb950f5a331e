//! Containers: which table, and which of its columns, the keys of a prefix mean.

use crate::sql_text::identifier;
use paceline_catalog::{Catalog, ColumnDefinition, IndexDefinition};
use paceline_types::DataType;

/// A row of the table of containers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ContainerRow {
    pub prefix: Vec<u8>,
    pub database: String,
    pub table: String,
    pub key_column: String,
    /// Names, separated by commas.
    pub value_columns: String,
    pub separator: Vec<u8>,
    pub flags_column: Option<String>,
    pub cas_column: Option<String>,
    pub expiry_column: Option<String>,
    pub allow_flush: bool,
    /// Whether a set is answered when it is durable, rather than before it is committed.
    pub sync: bool,
}

/// Use of bytes as a value of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ColumnUse {
    /// Any bytes.
    Bytes,
    /// UTF-8.
    Text,
    /// A signed or unsigned number.
    Integer,
    /// The text of a value.
    Other,
}

impl ColumnUse {
    fn of(data_type: &DataType) -> ColumnUse {
        match data_type {
            DataType::Integer(_) => ColumnUse::Integer,
            other if other.is_binary_string() => ColumnUse::Bytes,
            other if other.is_text() => ColumnUse::Text,
            _ => ColumnUse::Other,
        }
    }
}

/// A container whose table and columns exist.
#[derive(PartialEq, Eq, Debug)]
pub struct Container {
    pub row: ContainerRow,
    pub key: ColumnUse,
    /// Uses of the columns with parts of the value.
    pub values: Vec<ColumnUse>,
    /// Whether the key is the table's only unique index. Then a single statement can insert or update.
    pub is_only_key: bool,
    value_columns: Vec<String>,
}

impl Container {
    /// Checks a container.
    ///
    /// # Errors
    /// A message: what does not fit the table.
    pub fn new(row: ContainerRow, catalog: &Catalog) -> Result<Container, String> {
        let of = format!(
            "the container of the prefix '{}' (`{}`.`{}`)",
            row.prefix.escape_ascii(),
            row.database,
            row.table
        );
        let table = catalog
            .ordinary_table(&row.database, &row.table)
            .ok_or_else(|| format!("{of}: there is no such table"))?;
        let column = |name: &str| -> Result<&ColumnDefinition, String> {
            let column = table.column(name).map(|number| &table.columns()[number]);
            let column = column.ok_or_else(|| format!("{of}: the table has no column '{name}'"))?;
            match column.generated.is_some() {
                true => Err(format!("{of}: the column '{name}' is generated")),
                false => Ok(column),
            }
        };
        let key = column(&row.key_column)?;
        if key.nullable {
            return Err(format!("{of}: the key column '{}' may be NULL", key.name));
        }
        let unique: Vec<_> = (table.indexes().iter())
            .filter(|index| index.kind.is_unique())
            .collect();
        let key_number = table.column(&row.key_column);
        let is_of_key = |index: &&IndexDefinition| {
            !index.ignored
                && !index.hashed
                && matches!(&index.parts[..], [part] if Some(part.column) == key_number && part.prefix_length.is_none())
        };
        if !unique.iter().any(is_of_key) {
            return Err(format!(
                "{of}: the key column '{}' alone is no primary key or unique index",
                key.name
            ));
        }
        let value_columns: Vec<String> = (row.value_columns.split(','))
            .map(|name| name.trim().to_owned())
            .collect();
        let values = value_columns
            .iter()
            .map(|name| column(name).map(|column| ColumnUse::of(&column.data_type)));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        if values.len() > 1 && row.separator.is_empty() {
            return Err(format!("{of}: several value columns need a separator"));
        }
        for name in [&row.flags_column, &row.cas_column, &row.expiry_column]
            .into_iter()
            .flatten()
        {
            if !matches!(column(name)?.data_type, DataType::Integer(_)) {
                return Err(format!("{of}: the column '{name}' is no integer"));
            }
        }
        let names = [
            Some(&row.key_column),
            row.flags_column.as_ref(),
            row.cas_column.as_ref(),
            row.expiry_column.as_ref(),
        ];
        let mut names: Vec<_> = (names.into_iter().flatten().chain(&value_columns))
            .map(|name| name.to_lowercase())
            .collect();
        names.sort();
        if names.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(format!("{of}: a column has two uses"));
        }
        if !row.sync && unique.len() != 1 {
            return Err(format!(
                "{of}: sync = 0 needs a table whose only unique index is the key's"
            ));
        }
        Ok(Container {
            key: ColumnUse::of(&key.data_type),
            values,
            is_only_key: unique.len() == 1,
            value_columns,
            row,
        })
    }

    /// Returns the columns of an item besides its key, in the order of all statements: values, flags, CAS, expiry.
    fn columns(&self) -> Vec<String> {
        let others = [
            &self.row.flags_column,
            &self.row.cas_column,
            &self.row.expiry_column,
        ];
        let columns = self.value_columns.iter().chain(others.into_iter().flatten());
        columns.map(|name| identifier(name)).collect()
    }

    fn table(&self) -> String {
        format!(
            "{}.{}",
            identifier(&self.row.database),
            identifier(&self.row.table)
        )
    }

    fn key_column(&self) -> String {
        identifier(&self.row.key_column)
    }

    /// Returns the query of an item by its key.
    pub fn select(&self) -> String {
        let columns = self.columns().join(", ");
        format!(
            "SELECT {columns} FROM {} WHERE {} = ?",
            self.table(),
            self.key_column()
        )
    }

    /// Returns the query that also locks the item, or its place.
    pub fn select_for_update(&self) -> String {
        format!("{} FOR UPDATE", self.select())
    }

    /// Returns the statement that inserts key and columns.
    pub fn insert(&self) -> String {
        let columns = self.columns();
        let marks = vec!["?"; columns.len() + 1].join(", ");
        format!(
            "INSERT INTO {} ({}, {}) VALUES ({marks})",
            self.table(),
            self.key_column(),
            columns.join(", ")
        )
    }

    /// Returns the statement that inserts or replaces an item's columns, for a table whose only unique index is the
    /// key.
    pub fn upsert(&self) -> String {
        let cas = self.row.cas_column.as_deref().map(identifier);
        let assignments = self
            .columns()
            .into_iter()
            .map(|column| match Some(&column) == cas.as_ref() {
                // It ascends in any case, whatever clocks do.
                true => format!("{column} = GREATEST({column} + 1, VALUES({column}))"),
                false => format!("{column} = VALUES({column})"),
            });
        let assignments = assignments.collect::<Vec<_>>().join(", ");
        format!("{} ON DUPLICATE KEY UPDATE {assignments}", self.insert())
    }

    /// Returns the statement that sets all columns, and then takes the key.
    pub fn update(&self) -> String {
        let assignments = self.columns().into_iter().map(|column| format!("{column} = ?"));
        let assignments = assignments.collect::<Vec<_>>().join(", ");
        format!(
            "UPDATE {} SET {assignments} WHERE {} = ?",
            self.table(),
            self.key_column()
        )
    }

    /// Returns the statement that removes an item. With an expiry column it also takes the time.
    pub fn delete(&self) -> String {
        let delete = format!("DELETE FROM {} WHERE {} = ?", self.table(), self.key_column());
        match self.row.expiry_column.as_deref().map(identifier) {
            Some(expiry) => format!("{delete} AND ({expiry} IS NULL OR {expiry} = 0 OR {expiry} > ?)"),
            None => delete,
        }
    }

    /// Returns the statement that removes all items.
    pub fn delete_all(&self) -> String {
        format!("DELETE FROM {}", self.table())
    }
}
