use paceline_types::error_code::*;

use super::plan::Planner;
use crate::column_type::resolve_collation;
use crate::error::{Error, Result};
use crate::{CatalogChange, DatabaseDefinition, SYSTEM_DATABASE};
use paceline_syntax::definition::DatabaseOptions;

impl Planner<'_> {
    pub(super) fn create_database(
        &mut self,
        or_replace: bool,
        if_not_exists: bool,
        name: &str,
        options: &DatabaseOptions,
    ) -> Result<()> {
        check_database_name(name)?;
        self.refuse_virtual(name)?;
        let is_replaced = self.catalog.database(name).is_some();
        if is_replaced {
            if !or_replace {
                return self.note_or_fail(if_not_exists.into(), Error::new(ER_DB_CREATE_EXISTS, &[&name]));
            }
            self.drop_database(false, name)?;
        }
        let default = self.session.settings.collation_server;
        let collation = resolve_collation(options.charset.as_ref(), options.collation.as_deref(), default)?
            .unwrap_or(default);
        let comment = checked_comment(options)?.unwrap_or_default();
        self.plan.affected_rows = if is_replaced { 2 } else { 1 };
        self.change(CatalogChange::PutDatabase(DatabaseDefinition {
            name: name.to_owned(),
            collation,
            comment,
        }))
    }

    pub(super) fn alter_database(&mut self, name: Option<&str>, options: &DatabaseOptions) -> Result<()> {
        let name = match name {
            Some(name) => name.to_owned(),
            None => self
                .session
                .database
                .clone()
                .ok_or_else(|| Error::new(ER_NO_DB_ERROR, &[]))?,
        };
        let mut definition = self.database(&name)?.definition().clone();
        if name == SYSTEM_DATABASE {
            return Err(Error::unsupported("ALTER DATABASE of a system database"));
        }
        let default = self.session.settings.collation_server;
        if let Some(collation) =
            resolve_collation(options.charset.as_ref(), options.collation.as_deref(), default)?
        {
            definition.collation = collation;
        }
        if let Some(comment) = checked_comment(options)? {
            definition.comment = comment;
        }
        self.plan.affected_rows = 1;
        self.change(CatalogChange::PutDatabase(definition))
    }

    pub(super) fn drop_database(&mut self, if_exists: bool, name: &str) -> Result<()> {
        check_database_name(name)?;
        self.refuse_virtual(name)?;
        let Some(database) = self.catalog.database(name).cloned() else {
            return self.note_or_fail(if_exists.into(), Error::new(ER_DB_DROP_EXISTS, &[&name]));
        };
        if name == SYSTEM_DATABASE {
            return Err(Error::unsupported("DROP DATABASE of a system database"));
        }
        // If another database refers to one of the tables, all of them stay. MariaDB drops the others.
        for table in database.tables() {
            self.refuse_referenced(table, Some(name))?;
        }
        for table in database.tables() {
            self.plan.affected_rows += 1;
            self.drop_table(table)?;
        }
        for view in database.views() {
            self.plan.affected_rows += 1;
            let (database, name) = (view.database.clone(), view.name.clone());
            self.change(CatalogChange::DropView { database, name })?;
        }
        self.drop_routines(name)?;
        self.drop_events(name)?;
        self.change(CatalogChange::DropDatabase(name.to_owned()))
    }
}

fn checked_comment(options: &DatabaseOptions) -> Result<Option<String>> {
    if let Some(comment) = &options.comment
        && comment.chars().count() > 1024
    {
        return Err(Error::new(ER_TOO_LONG_DATABASE_COMMENT, &[comment, &1024]));
    }
    Ok(options.comment.clone())
}

/// # Errors
/// 1102.
fn check_database_name(name: &str) -> Result<()> {
    if name.is_empty() || name.ends_with(' ') || name.chars().count() > 64 {
        return Err(Error::new(ER_WRONG_DB_NAME, &[&name]));
    }
    Ok(())
}
