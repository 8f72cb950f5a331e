//! Parts of a table that ALTER TABLE must not change, because foreign keys of this table or of others need
//! them.

use paceline_types::error_code::*;

use super::{Fit, find_column, fit, is_table};
use crate::error::{Error, Result};
use crate::foreign_key::serving_index;
use crate::{
    Catalog, ForeignKey, IndexKind, ReferentialAction, TableDefinition, TableDescription, same_name,
};

/// An ALTER TABLE from the view of foreign keys.
pub(in crate::ddl) struct Alter<'a> {
    pub old: &'a TableDefinition,
    pub new: &'a TableDescription,
    /// For each new column, its index in the old table.
    pub sources: &'a [Option<usize>],
    pub catalog: &'a Catalog,
}

impl Alter<'_> {
    /// Checks that the keys that stay, and those of other tables that refer to this one, still fit.
    ///
    /// # Errors
    /// 1553, 1025, 1828, 1829, 1830, 1832, 1833.
    pub(in crate::ddl) fn check(&self, kept: &[ForeignKey], own_before: &[ForeignKey]) -> Result<()> {
        for (key, before) in kept.iter().zip(own_before) {
            self.check_side(&before.columns, &key.name, None)?;
            let sets_null = [key.on_delete, key.on_update].contains(&ReferentialAction::SetNull);
            for name in &key.columns {
                if sets_null && find_column(self.new, name).is_some_and(|column| !column.nullable) {
                    return Err(Error::new(ER_FK_COLUMN_NOT_NULL, &[name, &key.name]));
                }
            }
        }
        for (child, key) in self.catalog.referring_keys(self.old.database(), self.old.name()) {
            // This statement may drop a key of this table.
            if is_table(&child, self.old) && !own_before.iter().any(|before| before.name == key.name) {
                continue;
            }
            self.check_side(&key.referenced_columns, &key.name, Some(&child))?;
        }
        Ok(())
    }

    /// Checks one side of a key, with its columns by their old names. `child` is the referencing table if it
    /// is a different one.
    fn check_side(&self, columns: &[String], key: &str, child: Option<&TableDefinition>) -> Result<()> {
        let mut renamed = Vec::with_capacity(columns.len());
        let mut dropped = None;
        for name in columns {
            let Some(place) = self.old.column(name) else {
                continue;
            };
            match self.sources.iter().position(|source| *source == Some(place)) {
                Some(now) => renamed.push((place, now)),
                None => dropped = Some(name),
            }
        }
        let names: Vec<String> = renamed
            .iter()
            .map(|(_, now)| self.new.columns[*now].name.clone())
            .collect();
        if dropped.is_some() || serving_index(self.new, &names).is_none() {
            let index = serving_index(self.old, columns).map(|index| &self.old.indexes()[index]);
            if let Some(index) = index
                && !self
                    .new
                    .indexes
                    .iter()
                    .any(|other| same_name(&other.name, &index.name))
            {
                if index.kind == IndexKind::Primary && dropped.is_none() {
                    let (database, name) = (self.old.database(), self.old.name());
                    let paths = (format!("./{database}/#sql-alter"), format!("./{database}/{name}"));
                    let message = format!(
                        "Error on rename of '{}' to '{}' (errno: 150 \"Foreign key constraint is incorrectly formed\")",
                        paths.0, paths.1
                    );
                    return Err(Error::with_message(ER_ERROR_ON_RENAME, message));
                }
                return Err(Error::new(ER_DROP_INDEX_FK, &[&index.name]));
            }
            let index = index.map_or("", |index| index.name.as_str());
            return Err(match (dropped, child) {
                (Some(column), None) => Error::new(ER_FK_COLUMN_CANNOT_DROP, &[column, &key]),
                (Some(column), Some(child)) => {
                    let table = format!("{}.{}", child.database(), child.name());
                    Error::new(ER_FK_COLUMN_CANNOT_DROP_CHILD, &[column, &key, &table])
                }
                (None, _) => Error::new(ER_DROP_INDEX_FK, &[&index]),
            });
        }
        for (before, now) in renamed {
            let (before, now) = (&self.old.columns()[before], &self.new.columns[now]);
            if matches!(fit(&before.data_type, &now.data_type), Fit::Fits)
                && before.data_type.max_characters() == now.data_type.max_characters()
            {
                continue;
            }
            return Err(match child {
                None => Error::new(ER_FK_COLUMN_CANNOT_CHANGE, &[&before.name, &key]),
                Some(child) => {
                    let table = format!("{}.{}", child.database(), child.name());
                    Error::new(ER_FK_COLUMN_CANNOT_CHANGE_CHILD, &[&before.name, &key, &table])
                }
            });
        }
        Ok(())
    }
}
