//! Whole tables: DROP, TRUNCATE, RENAME.

use std::fmt::Write;
use std::sync::Arc;

use paceline_types::error_code::*;

use super::normal_form::quote_identifier;
use super::plan::{LoggedStatement, Planner};
use crate::error::{Error, Result};
use crate::{CatalogChange, TableDefinition};
use paceline_syntax::TableName;

impl Planner<'_> {
    /// Drops a table with its data.
    pub(super) fn drop_table(&mut self, table: &Arc<TableDefinition>) -> Result<()> {
        self.refuse_system(table)?;
        self.plan.dropped.extend(table.schema().index_ids());
        self.plan.dropped.extend(table.schema().counter_id());
        self.drop_triggers(table)?;
        self.forget_name(table)
    }

    /// Removes a table's name from the catalog.
    pub(super) fn forget_name(&mut self, table: &TableDefinition) -> Result<()> {
        let (database, name) = (table.database().to_owned(), table.name().to_owned());
        self.change(match table.is_temporary() {
            true => CatalogChange::DropTemporary { database, name },
            false => CatalogChange::DropTable { database, name },
        })
    }

    pub(super) fn drop_tables(
        &mut self,
        temporary: bool,
        if_exists: bool,
        tables: &[TableName],
    ) -> Result<()> {
        let (mut missing, mut views) = (Vec::new(), Vec::new());
        let mut dropped = Vec::new();
        for (n, name) in tables.iter().enumerate() {
            let (database, table) = self.qualified(name)?;
            self.refuse_virtual(&database)?;
            let same = |other: &TableName| {
                self.qualified(other)
                    .is_ok_and(|other| other == (database.clone(), table.clone()))
            };
            if tables[..n].iter().any(same) {
                return Err(Error::new(ER_NONUNIQ_TABLE, &[&table]));
            }
        }
        // Dropping temporary tables is not logged.
        let mut is_rewritten = temporary;
        let mut referenced = None;
        for name in tables {
            let (database, table) = self.qualified(name)?;
            let known = self.catalog.table(&database, &table).cloned();
            match known.filter(|known| known.is_temporary() || !temporary) {
                Some(definition) => {
                    self.refuse_system(&definition)?;
                    if let Err(error) = self.refuse_referenced(&definition, None) {
                        referenced = Some(error);
                        continue;
                    }
                    self.drop_table(&definition)?;
                    match definition.is_temporary() {
                        true => is_rewritten = true,
                        false => dropped.push((database, table)),
                    }
                }
                None if !temporary && self.catalog.view(&database, &table).is_some() => {
                    views.push(format!("{database}.{table}"));
                }
                None => missing.push(format!("{database}.{table}")),
            }
        }
        if !missing.is_empty() {
            let error = Error::new(ER_BAD_TABLE_ERROR, &[&missing.join(",")]);
            match if_exists {
                true => self.session.diagnostics.note(error.code(), error.message()),
                false => {
                    // Existing tables are dropped in spite of the error. The logged statement omits the names
                    // that would fail.
                    self.plan.failure = Some(error);
                    is_rewritten = true;
                }
            }
        }
        for view in views {
            let error = Error::new(ER_IT_IS_A_VIEW, &[&view]);
            match if_exists {
                true => self.session.diagnostics.note(error.code(), error.message()),
                false => {
                    self.plan.failure = self.plan.failure.take().or(Some(error));
                    is_rewritten = true;
                }
            }
        }
        if referenced.is_some() {
            // The other tables are dropped in spite of the error.
            self.plan.failure = referenced;
            is_rewritten = true;
        }
        if is_rewritten {
            self.plan.logged = match dropped.is_empty() {
                true => LoggedStatement::Nothing,
                false => LoggedStatement::Rewritten(drop_text(&dropped)),
            };
        }
        Ok(())
    }

    pub(super) fn truncate_table(&mut self, name: &TableName) -> Result<()> {
        let (database, table) = self.qualified(name)?;
        if self.catalog.view(&database, &table).is_some() {
            return Err(Error::new(ER_NO_SUCH_TABLE, &[&database, &table]));
        }
        let table = self.table(name)?;
        if table.is_sequence() {
            return Err(Error::new(
                ER_ILLEGAL_HA,
                &[&"SEQUENCE", &table.database(), &table.name()],
            ));
        }
        if table.is_temporary() {
            self.make_temporary()?;
        }
        self.refuse_truncate(&table)?;
        self.plan.dropped.extend(table.schema().index_ids());
        let mut description = table.description().clone();
        description.auto_increment_start = 1;
        let (database, name) = (description.database.clone(), description.name.clone());
        // The definition gets a new version: older snapshots must not see an empty table, and older row
        // events do not fit it.
        self.change(CatalogChange::PutTable(Box::new(description)))?;
        self.change(CatalogChange::ForgetAutoIncrement { database, name })
    }

    pub(super) fn rename_tables(
        &mut self,
        if_exists: bool,
        renames: &[(TableName, TableName)],
    ) -> Result<()> {
        let mut ordinary = Vec::new();
        let mut any_temporary = false;
        for (from, to) in renames {
            let (database, name) = self.qualified(to)?;
            let source = self.qualified(from)?;
            let is_there = self.catalog.table(&source.0, &source.1).is_some()
                || self.catalog.view(&source.0, &source.1).is_some();
            if !is_there && if_exists {
                let error = Error::new(ER_NO_SUCH_TABLE, &[&source.0, &source.1]);
                self.session.diagnostics.note(error.code(), error.message());
                continue;
            }
            if let Some(view) = self.catalog.view(&source.0, &source.1).cloned() {
                check_table_name(&name)?;
                self.rename_view(&view, &database, &name)?;
                ordinary.push((source, (database, name)));
                continue;
            }
            let table = self.table(from)?;
            check_table_name(&name)?;
            self.rename_table(&table, &database, &name)?;
            match table.is_temporary() {
                true => any_temporary = true,
                false => ordinary.push((source, (database, name))),
            }
        }
        if any_temporary {
            self.plan.logged = match ordinary.is_empty() {
                true => LoggedStatement::Nothing,
                false => LoggedStatement::Rewritten(rename_text(&ordinary)),
            };
        }
        Ok(())
    }

    /// Changes the name of a table.
    fn rename_table(&mut self, table: &TableDefinition, database: &str, name: &str) -> Result<()> {
        self.refuse_virtual(database)?;
        self.check_new_name(table, database, name, true)?;
        let mut description = table.description().clone();
        description.database = database.to_owned();
        description.name = name.to_owned();
        self.rename_in_keys(table, &mut description)?;
        self.check_forward_references(&description)?;
        // Put the new name first: the counter is found by the table's number.
        self.change(CatalogChange::PutTable(Box::new(description)))?;
        self.move_triggers(table, database, name)?;
        self.forget_name(table)
    }

    /// Checks that a table can get this name. `only_rename` says that the statement has no other change.
    ///
    /// # Errors
    /// 1050 if a table of the same kind has the name; 1025 or 1049 if the database does not exist, which a
    /// temporary table does not need.
    pub(super) fn check_new_name(
        &self,
        table: &TableDefinition,
        database: &str,
        name: &str,
        only_rename: bool,
    ) -> Result<()> {
        let taken = match table.is_temporary() {
            true => {
                self.refuse_virtual(database)?;
                self.catalog.temporary_table(database, name)
            }
            false => {
                if only_rename && self.catalog.database(database).is_none() {
                    return Err(no_database_for(table, database, name));
                }
                self.database(database)?;
                self.catalog.ordinary_table(database, name)
            }
        };
        match taken {
            Some(_) => Err(Error::new(ER_TABLE_EXISTS_ERROR, &[&name])),
            None if table.is_temporary() => Ok(()),
            None => self.refuse_taken(database, name),
        }
    }

    /// Handles DROP SERVER. There are no servers.
    pub(super) fn drop_server(&mut self, if_exists: bool, name: &str) -> Result<()> {
        self.plan.logged = LoggedStatement::Nothing;
        let error = Error::new(ER_FOREIGN_SERVER_DOESNT_EXIST, &[&name]);
        self.note_or_fail(if_exists.into(), error)
    }
}

/// Database and name.
type FullName = (String, String);

fn drop_text(tables: &[FullName]) -> String {
    let tables: Vec<String> = tables.iter().map(quoted).collect();
    format!(
        "DROP TABLE IF EXISTS {} /* generated by server */",
        tables.join(",")
    )
}

fn rename_text(renames: &[(FullName, FullName)]) -> String {
    let renames: Vec<String> = renames
        .iter()
        .map(|(from, to)| format!("{} TO {}", quoted(from), quoted(to)))
        .collect();
    format!("RENAME TABLE {} /* generated by server */", renames.join(","))
}

pub(super) fn quoted((database, table): &FullName) -> String {
    let mut text = String::new();
    quote_identifier(database, &mut text);
    text.push('.');
    quote_identifier(table, &mut text);
    text
}

/// Error number that an engine returns to MariaDB for a rename into a database that does not exist.
const HA_ERR_GENERIC: u32 = 168;

/// Returns 1025 for a rename into a database that does not exist.
fn no_database_for(table: &TableDefinition, database: &str, name: &str) -> Error {
    let path = |database: &str, name: &str| format!("./{}/{}", file_name(database), file_name(name));
    Error::new(
        ER_ERROR_ON_RENAME,
        &[
            &path(table.database(), table.name()),
            &path(database, name),
            &HA_ERR_GENERIC,
        ],
    )
}

/// Returns a name in the form of file names in MariaDB's data directory.
fn file_name(name: &str) -> String {
    let mut file = String::new();
    for character in name.chars() {
        if character.is_ascii_alphanumeric() || character == '_' {
            file.push(character);
        } else {
            let _ = write!(file, "@{:04x}", u32::from(character));
        }
    }
    file
}

/// # Errors
/// 1103.
pub(super) fn check_table_name(name: &str) -> Result<()> {
    if name.is_empty() || name.ends_with(' ') || name.chars().count() > 64 {
        return Err(Error::new(ER_WRONG_TABLE_NAME, &[&name]));
    }
    Ok(())
}
