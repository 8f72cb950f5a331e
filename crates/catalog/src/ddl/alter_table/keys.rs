//! Foreign keys: dropped ones, renamed columns in those that stay, and the check of existing rows against new
//! ones.

use std::sync::Arc;

use paceline_types::error_code::*;

use super::Alteration;
use super::compatibility::renamed_columns;
use crate::ddl::foreign_key::{Alter, check_dependents};
use crate::ddl::plan::Planner;
use crate::ddl::table_build::{BuildKind, Misfits, TableBuild, TestedKey, TestedRows};
use crate::error::{Error, Result};
use crate::{ForeignKey, TableDefinition, TableDescription, same_name};
use paceline_syntax::definition::AlterAction;

impl Planner<'_> {
    /// # Errors
    /// 1846 if keys are to be added without checking the existing rows.
    pub(super) fn alter_keys(&mut self, alteration: &mut Alteration, actions: &[AlterAction]) -> Result<()> {
        for action in actions {
            if let AlterAction::DropForeignKey { name, .. } = action {
                alteration.keys.retain(|key| !same_name(&key.name, name));
            }
        }
        let in_place = ["INPLACE", "NOCOPY", "INSTANT"];
        if !alteration.new_keys.is_empty()
            && self.session.settings.foreign_key_checks
            && let Some(word) = alteration
                .algorithm
                .as_deref()
                .filter(|word| in_place.contains(word))
        {
            let why = ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_FK_CHECK.message(&[]);
            return Err(Error::new(
                ER_ALTER_OPERATION_NOT_SUPPORTED_REASON,
                &[&format!("ALGORITHM={word}"), &why, &"ALGORITHM=COPY"],
            ));
        }
        Ok(())
    }

    /// Renames the columns in the keys that the table keeps, and in keys of other tables that refer to it.
    pub(super) fn keep_keys(
        &mut self,
        old: &TableDefinition,
        description: &mut TableDescription,
        sources: &[Option<usize>],
        kept: Vec<ForeignKey>,
    ) -> Result<()> {
        if description.engine != old.engine
            && !(old.foreign_keys.is_empty()
                && self.catalog.referring_keys(old.database(), old.name()).is_empty())
        {
            return Err(Error::new(ER_ROW_IS_REFERENCED, &[]));
        }
        let before = kept.clone();
        let renamed = renamed_columns(old, &description.columns, sources);
        let rename = |names: &mut Vec<String>| {
            for name in names {
                if let Some((_, now)) = renamed.iter().find(|(before, _)| same_name(before, name)) {
                    name.clone_from(now);
                }
            }
        };
        let is_own = |key: &ForeignKey| {
            (key.referenced_database.as_str(), key.referenced_table.as_str()) == (old.database(), old.name())
        };
        description.foreign_keys = kept;
        for key in &mut description.foreign_keys {
            rename(&mut key.columns);
            if is_own(key) {
                rename(&mut key.referenced_columns);
            }
        }
        let alter = Alter {
            old,
            new: description,
            sources,
            catalog: &self.catalog,
        };
        alter.check(&description.foreign_keys, &before)?;
        for key in &description.foreign_keys {
            check_dependents(description, &key.columns, [key.on_delete, key.on_update])?;
        }
        if renamed.is_empty() {
            return Ok(());
        }
        self.change_referring(old, |key| rename(&mut key.referenced_columns))
    }

    /// Requires that existing rows have their parents, unless `foreign_key_checks` is off.
    pub(super) fn test_new_keys(
        &mut self,
        old: &Arc<TableDefinition>,
        description: &TableDescription,
        added: &[ForeignKey],
    ) -> Result<()> {
        if added.is_empty() || !self.session.settings.foreign_key_checks {
            return Ok(());
        }
        let mut tested = Vec::with_capacity(added.len());
        for key in added {
            let is_own = (&key.referenced_database, &key.referenced_table)
                == (&description.database, &description.name);
            let parent = match is_own {
                true => Some(old),
                false => self
                    .catalog
                    .ordinary_table(&key.referenced_database, &key.referenced_table),
            };
            // Parents are looked up in the table as it was before the statement.
            let found = parent.and_then(|parent| TestedKey::new(key, description, parent));
            tested.push(found.ok_or_else(|| {
                Error::unsupported("FOREIGN KEY to a column or index that the same ALTER TABLE makes")
            })?);
        }
        let build = self.plan.build.get_or_insert_with(|| TableBuild {
            source: old.clone(),
            target: description.clone(),
            kind: BuildKind::Indexes(Vec::new()),
            tested: TestedRows::None,
            tested_keys: Vec::new(),
            misfits: Misfits::Refused,
            drops_duplicates: false,
        });
        build.tested_keys = tested;
        Ok(())
    }
}
