//! CREATE VIEW, ALTER VIEW, DROP VIEW.
//!
//! ```text
//!   query as written ──resolve──▶ query without * and unqualified names ──text──▶ stored, and shown by SHOW CREATE VIEW
//! ```
//! The statement is logged as in MariaDB: with an explicit definer, and with the query as written, which a
//! replica resolves itself. Replay needs only the catalog for this. The query is known to be executable,
//! because the session has planned it before.

mod from;
mod json_table;
mod names;
mod resolve;
mod rewrite;
mod scope;
mod text;
mod updatable;

use paceline_types::Version;
use paceline_types::error_code::*;

use self::resolve::Resolver;
use self::scope::Surroundings;
use super::normal_form::{ViewStyle, quote_identifier, write_definer};
use super::plan::{LoggedStatement, Planner};
use super::table::check_table_name;
use crate::error::{Error, Result};
use crate::{CatalogChange, ViewAlgorithm, ViewCheck, ViewDefinition, ViewDescription};
use paceline_syntax::TableName;
use paceline_syntax::definition::{CreateView, ViewMode};

pub use names::names_read;
pub use updatable::{is_updatable, is_writable, reads_in_subquery};

impl Planner<'_> {
    pub(super) fn create_view(&mut self, view: &CreateView) -> Result<()> {
        let (database, name) = self.qualified(&view.name)?;
        self.database(&database)?;
        check_table_name(&name)?;
        let old = self.catalog.ordinary_view(&database, &name).cloned();
        let is_table = self.catalog.ordinary_table(&database, &name).is_some()
            || self.is_made_on_demand(&database, &name);
        let not_a_view = || Error::new(ER_WRONG_OBJECT, &[&database, &name, &"VIEW"]);
        match (view.mode, &old) {
            (ViewMode::Create, Some(_)) => return self.there_already(view, &name),
            (ViewMode::Create, None) if is_table => return self.there_already(view, &name),
            (ViewMode::CreateOrReplace | ViewMode::Alter, None) if is_table => return Err(not_a_view()),
            (ViewMode::Alter, None) => return Err(Error::new(ER_NO_SUCH_TABLE, &[&database, &name])),
            _ => {}
        }
        let mut description = self.resolved_view(view, &database, &name)?;
        if view.mode == ViewMode::Alter
            && let Some(old) = &old
        {
            // ALTER keeps options that it does not name.
            if view.algorithm.is_none() {
                description.algorithm = old.algorithm;
            }
            if view.security.is_none() {
                description.security = old.security;
            }
            if view.definer.is_none() {
                description.definer.clone_from(&old.definer);
            }
        }
        self.plan.logged = LoggedStatement::Rewritten(self.logged_text(view, &description));
        let definition = ViewDefinition::new(description.clone(), Version::ZERO)?;
        if view.check != ViewCheck::None && !is_writable(&definition, &self.catalog) {
            return Err(Error::new(ER_VIEW_NONUPD_CHECK, &[&database, &name]));
        }
        if description.algorithm == ViewAlgorithm::Merge && !definition.is_of_rows() {
            let message = ER_WARN_VIEW_MERGE.message(&[]);
            self.session.diagnostics.warn(ER_WARN_VIEW_MERGE, message);
            description.algorithm = ViewAlgorithm::Undefined;
        }
        self.change(CatalogChange::PutView(Box::new(description)))
    }

    /// Returns whether the server itself provides a table of this name: a view must not hide `mysql.user`.
    pub(super) fn is_made_on_demand(&self, database: &str, name: &str) -> bool {
        let tables = &self.session.services.virtual_tables;
        tables.columns(database, name).is_some()
    }

    /// Handles CREATE VIEW for a name that exists.
    fn there_already(&mut self, view: &CreateView, name: &str) -> Result<()> {
        self.note_or_fail(
            view.if_not_exists.into(),
            Error::new(ER_TABLE_EXISTS_ERROR, &[&name]),
        )?;
        let (database, name) = self.qualified(&view.name)?;
        let description = self.resolved_view(view, &database, &name)?;
        self.plan.logged = LoggedStatement::Rewritten(self.logged_text(view, &description));
        Ok(())
    }

    /// Returns the view in the form that the catalog stores.
    fn resolved_view(&self, view: &CreateView, database: &str, name: &str) -> Result<ViewDescription> {
        let mut query = view.query.query.clone();
        let mut resolver = Resolver {
            catalog: &self.catalog,
            session: self.session,
            depth: 0,
        };
        let found = resolver.query(&mut query, &Surroundings::default())?;
        let columns = names::final_names(&mut query, found, &view.columns)?;
        if names::uses_view(&query, &self.catalog, (database, name)) {
            return Err(Error::new(ER_NO_SUCH_TABLE, &[&database, &name]));
        }
        let style = ViewStyle {
            omitted_database: None,
            omitted_of_columns: None,
            introducers: true,
        };
        let enclosure = text::Enclosure::of_text(&view.select_text);
        let text = text::query_text(&query, enclosure, style)?;
        let shown = text::query_text(
            &query,
            enclosure,
            ViewStyle {
                introducers: false,
                ..style
            },
        )?;
        let settings = &self.session.settings;
        Ok(ViewDescription {
            database: database.to_owned(),
            name: name.to_owned(),
            algorithm: view.algorithm.unwrap_or_default(),
            definer: self.definer(view.definer.as_ref())?,
            security: view.security.unwrap_or_default(),
            check: view.check,
            shown_query: (shown != text).then_some(shown),
            query: text,
            columns,
            character_set_client: settings.character_set_client.name().to_owned(),
            collation_connection: settings.collation_connection.name().to_owned(),
            created_seconds: self.session.statement.start_micros / 1_000_000,
        })
    }

    /// Returns the statement in the form that MariaDB logs.
    fn logged_text(&self, view: &CreateView, description: &ViewDescription) -> String {
        let mut text = match view.mode {
            ViewMode::Create => "CREATE ",
            ViewMode::CreateOrReplace => "CREATE OR REPLACE ",
            ViewMode::Alter => "ALTER ",
        }
        .to_owned();
        write_options(description, &mut text);
        text.push_str("VIEW ");
        if view.if_not_exists {
            text.push_str("IF NOT EXISTS ");
        }
        if self.session.database.as_deref() != Some(description.database.as_str()) {
            quote_identifier(&description.database, &mut text);
            text.push('.');
        }
        quote_identifier(&description.name, &mut text);
        for (n, column) in view.columns.iter().enumerate() {
            text.push_str(if n == 0 { "(" } else { ", " });
            quote_identifier(column, &mut text);
        }
        if !view.columns.is_empty() {
            text.push(')');
        }
        text.push_str(" AS ");
        text.push_str(&view.select_text);
        text
    }

    /// Plans DROP VIEW. Existing views are dropped even if others do not exist.
    pub(super) fn drop_views(&mut self, if_exists: bool, views: &[TableName]) -> Result<()> {
        let mut missing = Vec::new();
        let mut dropped = 0;
        for view in views {
            let (database, name) = self.qualified(view)?;
            if self.catalog.ordinary_view(&database, &name).is_some() {
                self.change(CatalogChange::DropView { database, name })?;
                dropped += 1;
                continue;
            }
            if self.catalog.ordinary_table(&database, &name).is_some() {
                let message = ER_WRONG_OBJECT.message(&[&database, &name, &"VIEW"]);
                self.session.diagnostics.warn(ER_WRONG_OBJECT, message);
            }
            missing.push(format!("{database}.{name}"));
        }
        if missing.is_empty() {
            return Ok(());
        }
        let error = Error::new(ER_UNKNOWN_VIEW, &[&missing.join(",")]);
        match (if_exists, dropped) {
            (true, _) => self.session.diagnostics.note(error.code(), error.message()),
            (false, 0) => return Err(error),
            (false, _) => self.plan.failure = Some(error),
        }
        Ok(())
    }

    /// Changes the name of a view within its database.
    pub(super) fn rename_view(&mut self, view: &ViewDefinition, database: &str, name: &str) -> Result<()> {
        if database != view.database {
            return Err(Error::new(ER_FORBID_SCHEMA_CHANGE, &[&view.database, &database]));
        }
        self.refuse_taken(database, name)?;
        let mut description = view.description().clone();
        name.clone_into(&mut description.name);
        let (database, old) = (database.to_owned(), view.name.clone());
        self.change(CatalogChange::DropView { database, name: old })?;
        self.change(CatalogChange::PutView(Box::new(description)))
    }

    /// # Errors
    /// 1050 if a table or a view has the name.
    pub(super) fn refuse_taken(&self, database: &str, name: &str) -> Result<()> {
        let is_taken = self.catalog.ordinary_table(database, name).is_some()
            || self.catalog.ordinary_view(database, name).is_some();
        match is_taken {
            true => Err(Error::new(ER_TABLE_EXISTS_ERROR, &[&name])),
            false => Ok(()),
        }
    }

    /// # Errors
    /// 1347 if a view has the name and no temporary table hides it.
    pub(super) fn refuse_view(&self, database: &str, name: &str) -> Result<()> {
        match self.catalog.view(database, name) {
            Some(_) => Err(Error::new(ER_WRONG_OBJECT, &[&database, &name, &"BASE TABLE"])),
            None => Ok(()),
        }
    }
}

fn write_options(view: &ViewDescription, text: &mut String) {
    text.push_str("ALGORITHM=");
    text.push_str(view.algorithm.name());
    text.push(' ');
    write_definer(&view.definer, text);
    text.push_str(" SQL SECURITY ");
    text.push_str(view.security.name());
    text.push(' ');
}

/// Whether the names in a view's query still mean something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewValidity {
    /// The query can be executed.
    Valid,
    /// A table, a column or a function is missing.
    Invalid,
}

/// Returns the statement of SHOW CREATE VIEW, for a session whose current database is `database`. As in MariaDB, the
/// columns of an invalid view keep the name of the database.
///
/// # Errors
/// 1235 for expressions that cannot be written. Such a view was never stored.
pub fn show_create_view(
    view: &ViewDefinition,
    catalog: &crate::Catalog,
    database: Option<&str>,
    validity: ViewValidity,
) -> Result<String> {
    let is_here = database == Some(view.database.as_str());
    let omitted_database = database.filter(|here| is_here && names::is_within(view.parsed(), catalog, here));
    let mut text = "CREATE ".to_owned();
    write_options(view, &mut text);
    text.push_str("VIEW ");
    if !is_here {
        quote_identifier(&view.database, &mut text);
        text.push('.');
    }
    quote_identifier(&view.name, &mut text);
    text.push_str(" AS ");
    let style = ViewStyle {
        omitted_database,
        omitted_of_columns: omitted_database.filter(|_| validity == ViewValidity::Valid),
        introducers: true,
    };
    let enclosure = text::Enclosure::of_text(&view.description().query);
    text.push_str(&text::query_text(view.parsed(), enclosure, style)?);
    text.push_str(match view.check {
        ViewCheck::None => "",
        ViewCheck::Local => " WITH LOCAL CHECK OPTION",
        ViewCheck::Cascaded => " WITH CASCADED CHECK OPTION",
    });
    Ok(text)
}
