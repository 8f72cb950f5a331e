//! Statements that change a referenced table: which ones foreign keys forbid, and how the others change the
//! keys.

use paceline_types::error_code::*;

use super::{is_referenced, is_table, refers_to, sort_keys};
use crate::ddl::plan::Planner;
use crate::error::{Error, Result};
use crate::foreign_key::constraint_text;
use crate::{CatalogChange, ForeignKey, ReferentialAction, TableDefinition, TableDescription};

impl Planner<'_> {
    /// # Errors
    /// 1451 if other tables refer to the table, except those of the database `within`.
    pub(in crate::ddl) fn refuse_referenced(
        &self,
        table: &TableDefinition,
        within: Option<&str>,
    ) -> Result<()> {
        if table.is_temporary() || !self.session.settings.foreign_key_checks {
            return Ok(());
        }
        let keys = self.catalog.referring_keys(table.database(), table.name());
        let refuses = keys
            .iter()
            .any(|(child, _)| !is_table(child, table) && within != Some(child.database()));
        match refuses {
            true => Err(is_referenced()),
            false => Ok(()),
        }
    }

    /// # Errors
    /// 1701 if other tables refer to the table.
    pub(in crate::ddl) fn refuse_truncate(&self, table: &TableDefinition) -> Result<()> {
        if table.is_temporary() || !self.session.settings.foreign_key_checks {
            return Ok(());
        }
        let keys = self.catalog.referring_keys(table.database(), table.name());
        match keys.iter().find(|(child, _)| !is_table(child, table)) {
            Some((child, key)) => {
                let plain = ForeignKey {
                    on_delete: ReferentialAction::Restrict,
                    on_update: ReferentialAction::Restrict,
                    ..key.clone()
                };
                // Both tables with their databases, without actions.
                let text = format!(
                    "`{}`.`{}`, {}",
                    child.database(),
                    child.name(),
                    constraint_text("", &plain)
                );
                Err(Error::new(ER_TRUNCATE_ILLEGAL_FK, &[&text]))
            }
            None => Ok(()),
        }
    }

    /// Renames a table in the keys that refer to it, and gives its own keys with generated names new ones.
    pub(in crate::ddl) fn rename_in_keys(
        &mut self,
        old: &TableDefinition,
        description: &mut TableDescription,
    ) -> Result<()> {
        if old.is_temporary() {
            return Ok(());
        }
        let prefix = format!("{}_ibfk_", old.name());
        for key in &mut description.foreign_keys {
            if let Some(number) = key.name.strip_prefix(&prefix) {
                key.name = format!("{}_ibfk_{number}", description.name);
            }
            if refers_to(key, old) {
                key.referenced_database.clone_from(&description.database);
                key.referenced_table.clone_from(&description.name);
            }
        }
        sort_keys(&mut description.foreign_keys);
        let (database, name) = (description.database.clone(), description.name.clone());
        self.change_referring(old, |key| {
            key.referenced_database.clone_from(&database);
            key.referenced_table.clone_from(&name);
        })
    }

    /// Changes a table's name or columns in the keys of other tables.
    pub(in crate::ddl) fn change_referring(
        &mut self,
        table: &TableDefinition,
        mut change: impl FnMut(&mut ForeignKey),
    ) -> Result<()> {
        let children: Vec<_> = self
            .catalog
            .referring_tables(table.database(), table.name())
            .filter(|child| !is_table(child, table))
            .cloned()
            .collect();
        for child in children {
            let mut description = child.description().clone();
            for key in description
                .foreign_keys
                .iter_mut()
                .filter(|key| refers_to(key, table))
            {
                change(key);
            }
            if description != *child.description() {
                self.change(CatalogChange::PutTable(Box::new(description)))?;
            }
        }
        Ok(())
    }
}
