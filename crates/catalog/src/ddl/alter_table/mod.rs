//! ALTER TABLE, CREATE INDEX, DROP INDEX: derives a new description from the old one, and finds the cheapest
//! way to get there.
//!
//! All names in a statement refer to the table before it. Dropped columns and indexes are removed first; then
//! columns are changed in place; then columns with a new position and new columns are inserted
//! (`mysql_prepare_alter_table`, `sql/sql_table.cc`).
//!
//! ```text
//!   algorithm      which values of ALGORITHM= are rejected
//!   existence      which actions have no effect because of IF EXISTS   columns   the new columns and their sources
//!   compatibility  what of the old table stays, under which name       indexes   the indexes on them
//!   strategy       choice and plan of the way                          keys      the foreign keys
//!   instant        what leaves the rows as they are
//! ```
//!
//! Three ways, in this order:
//! * *instant*: only the record changes (names, defaults, comments; columns that are added, dropped, moved, widened:
//!   `instant`);
//! * *indexes only*: rows stay in place; new indexes are built aside, old ones are range deletes;
//! * *rebuild*: all rows are read, converted and written aside under new numbers; the old ones are range
//!   deletes.

mod algorithm;
mod columns;
mod compatibility;
mod existence;
mod indexes;
mod instant;
mod keys;
mod strategy;

use std::sync::Arc;

use paceline_types::error_code::*;

use compatibility::{kept_checks, renames};
use existence::{ExistenceConflict, repeated_action, void_action};

use crate::column_type::resolve_collation;
use crate::ddl::create_table::{add_constraint, checked_table_comment};
use crate::ddl::index::DraftIndex;
use crate::ddl::normal_form::normal_form;
use crate::ddl::plan::Planner;
use crate::ddl::table::check_table_name;
use crate::ddl::table_build::Misfits;
use crate::ddl::table_options::OptionStatement;
use crate::error::{Error, Result};
use crate::{
    CheckConstraint, ColumnDefinition, ForeignKey, IndexKind, SYSTEM_DATABASE, TableDefinition,
    TableDescription, TableEngine, same_name,
};
use paceline_expression::session::{Level, SessionContext};
use paceline_syntax::definition::{
    AlterAction, AlterOrigin, AlterTable, ColumnPosition, ForeignKeySpec, IndexSpec, TableConstraint,
    TableOptions,
};

/// Returns whether an action drops a part of the table.
fn is_drop(action: &AlterAction) -> bool {
    matches!(
        action,
        AlterAction::DropColumn { .. }
            | AlterAction::DropIndex { .. }
            | AlterAction::DropPrimaryKey { .. }
            | AlterAction::DropForeignKey { .. }
            | AlterAction::DropConstraint { .. }
    )
}

/// A column during the change from the old table to the new one.
struct Draft {
    column: ColumnDefinition,
    /// Index in the old table; `None` for a new column.
    source: Option<usize>,
    /// Whether the statement defines the column.
    is_defined: bool,
}

/// The new state of the table.
struct Alteration {
    old: Arc<TableDefinition>,
    description: TableDescription,
    columns: Vec<Draft>,
    /// Columns with a position: added, or moved. In the order of the statement.
    placed: Vec<(Draft, ColumnPosition)>,
    drafts: Vec<DraftIndex>,
    checks: Vec<CheckConstraint>,
    /// Old and new names of columns. Definitions in the statement refer to columns by their new names.
    renames: Vec<(String, String)>,
    /// Existing foreign keys that stay.
    keys: Vec<ForeignKey>,
    new_keys: Vec<ForeignKeySpec>,
    rename: Option<(String, String)>,
    /// Set if the table is only renamed.
    only_rename: bool,
    /// Set if there are new checks that the rows must pass.
    new_checks: bool,
    forget_auto_increment: bool,
    /// `FORCE`, or an explicit engine: the table is rebuilt in any case.
    force_rebuild: bool,
    algorithm: Option<String>,
    /// `LOCK=NONE`.
    without_lock: bool,
    /// `IGNORE`.
    misfits: Misfits,
}

impl Planner<'_> {
    pub(in crate::ddl) fn alter_table(&mut self, alter: &AlterTable) -> Result<()> {
        let (database, name) = self.qualified(&alter.table)?;
        if database == SYSTEM_DATABASE && self.is_made_on_demand(&database, &name) {
            return self.alter_made_on_demand(alter, &name);
        }
        if alter.if_exists && self.catalog.table(&database, &name).is_none() {
            let error = Error::new(ER_NO_SUCH_TABLE, &[&database, &name]);
            // As in MariaDB, it is listed as an error, though the statement succeeds.
            let diagnostics = &mut self.session.diagnostics;
            diagnostics.push(Level::Error, error.code(), error.message());
            return Ok(());
        }
        let old = self.table(&alter.table)?;
        if old.is_temporary() {
            self.make_temporary()?;
        }
        if old.is_sequence() {
            return self.alter_sequence_table(alter, &old);
        }
        let actions = self.effective_actions(alter, &old)?;
        let renames = renames(&old, &actions);
        let mut alteration = Alteration {
            // The list of earlier rows is made when the columns are known.
            description: TableDescription {
                earlier_rows: Vec::new(),
                ..old.description().clone()
            },
            columns: Vec::new(),
            placed: Vec::new(),
            drafts: Vec::new(),
            checks: Vec::new(),
            renames,
            keys: old.foreign_keys.clone(),
            new_keys: Vec::new(),
            rename: None,
            only_rename: false,
            new_checks: false,
            forget_auto_increment: false,
            force_rebuild: false,
            algorithm: None,
            without_lock: false,
            misfits: match alter.ignore {
                true => Misfits::Adjusted,
                false => Misfits::Refused,
            },
            old,
        };
        self.alter_options(&mut alteration, &actions)?;
        self.alter_columns(&mut alteration, &actions)?;
        self.alter_indexes(&mut alteration, &actions)?;
        alter_checks(&mut alteration, &actions, self.session)?;
        self.alter_keys(&mut alteration, &actions)?;
        self.note_keys(&alteration, &actions);
        self.finish_alter(alteration)
    }

    /// Notes 1031 for DISABLE KEYS on a table with an index that is not unique, and for ENABLE KEYS.
    fn note_keys(&mut self, alteration: &Alteration, actions: &[AlterAction]) {
        let has_plain = alteration
            .drafts
            .iter()
            .any(|draft| draft.kind == IndexKind::Plain);
        let is_noted =
            |action: &AlterAction| matches!(action, AlterAction::Keys { enabled } if *enabled || has_plain);
        if actions.iter().any(is_noted) {
            let old = &alteration.old;
            let message = ER_ILLEGAL_HA.message(&[&old.engine.name(), &old.database(), &old.name()]);
            self.session.diagnostics.note(ER_ILLEGAL_HA, message);
        }
    }

    /// Accepts `ALTER TABLE mysql.gtid_slave_pos ENGINE=InnoDB`, which is part of setting up a replica of
    /// MariaDB: the table has no other engine. Rejects all other changes.
    fn alter_made_on_demand(&mut self, alter: &AlterTable, name: &str) -> Result<()> {
        let mut names_engine = false;
        for action in &alter.actions {
            match action {
                AlterAction::Options(options)
                    if *options
                        == (TableOptions {
                            engine: options.engine.clone(),
                            ..TableOptions::default()
                        }) =>
                {
                    if self.table_engine(name, options)? != TableEngine::InnoDb {
                        return Err(Error::new(ER_OPEN_AS_READONLY, &[&name]));
                    }
                    names_engine = true;
                }
                _ => return Err(Error::new(ER_OPEN_AS_READONLY, &[&name])),
            }
        }
        match names_engine {
            true => Ok(()),
            false => Err(Error::new(ER_OPEN_AS_READONLY, &[&name])),
        }
    }

    /// Returns the actions without those that have no effect because of IF EXISTS or IF NOT EXISTS.
    fn effective_actions(&mut self, alter: &AlterTable, old: &TableDefinition) -> Result<Vec<AlterAction>> {
        // MariaDB searches for such actions kind by kind; the notes have this order.
        let kind = |action: &AlterAction| match action {
            AlterAction::AddColumn { .. } => 0,
            AlterAction::DropColumn { .. } => 1,
            AlterAction::DropIndex { .. } | AlterAction::DropConstraint { .. } => 3,
            AlterAction::AddConstraint(_) => 4,
            _ => 2,
        };
        let mut by_kind: Vec<(usize, &AlterAction)> = alter.actions.iter().enumerate().collect();
        by_kind.sort_by_key(|(_, action)| kind(action));
        // Of several errors it reports an unknown column first, then the first object that cannot be dropped.
        let kind_of_error = |action: &AlterAction| match action {
            AlterAction::RenameIndex { .. } | AlterAction::AlterIndex { .. } => 2,
            action if is_drop(action) => 1,
            _ => 0,
        };
        let mut failures = Vec::new();
        let mut actions = Vec::with_capacity(alter.actions.len());
        for (place, action) in by_kind {
            let conflict = void_action(action, alter.origin, old)
                .or_else(|| repeated_action(&alter.actions, place, old));
            match conflict {
                Some(ExistenceConflict::Note(error)) => {
                    self.session.diagnostics.note(error.code(), error.message());
                    continue;
                }
                Some(ExistenceConflict::Fail(error)) => {
                    failures.push(((kind_of_error(action), place), error));
                    continue;
                }
                None => {}
            }
            // A foreign key has precedence over an index or a check of the same name.
            if let AlterAction::DropConstraint { if_exists, name } = action
                && old.foreign_keys.iter().any(|key| same_name(&key.name, name))
            {
                actions.push(AlterAction::DropForeignKey {
                    if_exists: *if_exists,
                    name: name.clone(),
                });
                continue;
            }
            // CREATE OR REPLACE INDEX drops the existing index.
            if alter.origin == AlterOrigin::CreateOrReplaceIndex
                && let AlterAction::AddConstraint(TableConstraint::Index(IndexSpec {
                    name: Some(name), ..
                })) = action
                && old.index(name).is_some()
            {
                actions.push(AlterAction::DropIndex {
                    if_exists: true,
                    name: name.clone(),
                });
            }
            actions.push(action.clone());
        }
        // After the notes, as in MariaDB. Of errors of one kind the first in the text remains.
        if let Some((_, error)) = failures.into_iter().min_by_key(|(order, _)| *order) {
            return Err(error);
        }
        Ok(actions)
    }

    fn alter_options(&mut self, alteration: &mut Alteration, actions: &[AlterAction]) -> Result<()> {
        for action in actions {
            match action {
                AlterAction::Options(options) => self.apply_options(alteration, options)?,
                AlterAction::ConvertCharset { charset, collation } => {
                    let default = self.default_collation(&alteration.description.database)?;
                    let collation = resolve_collation(Some(charset), collation.as_deref(), default)?;
                    alteration.description.collation = collation.unwrap_or(default);
                }
                AlterAction::RenameTable(to) => {
                    let database = to
                        .database
                        .clone()
                        .unwrap_or_else(|| alteration.description.database.clone());
                    check_table_name(&to.name)?;
                    alteration.rename = Some((database, to.name.clone()));
                    alteration.only_rename = actions.len() == 1;
                }
                AlterAction::Force => alteration.force_rebuild = true,
                AlterAction::Algorithm(word) => {
                    if !matches!(
                        word.as_str(),
                        "DEFAULT" | "COPY" | "INPLACE" | "NOCOPY" | "INSTANT"
                    ) {
                        return Err(Error::new(ER_UNKNOWN_ALTER_ALGORITHM, &[&word.to_lowercase()]));
                    }
                    alteration.algorithm = Some(word.clone());
                }
                AlterAction::Lock(word)
                    if !matches!(word.as_str(), "DEFAULT" | "NONE" | "SHARED" | "EXCLUSIVE") =>
                {
                    return Err(Error::new(ER_UNKNOWN_ALTER_LOCK, &[&word.to_lowercase()]));
                }
                AlterAction::Lock(word) => alteration.without_lock = word == "NONE",
                AlterAction::Unsupported(what) => return Err(Error::unsupported(what)),
                _ => {}
            }
        }
        Ok(())
    }

    fn apply_options(&mut self, alteration: &mut Alteration, options: &TableOptions) -> Result<()> {
        if options.engine.is_some() || options.unsupported.is_some() {
            let name = alteration.description.name.clone();
            alteration.description.engine = self.table_engine(&name, options)?;
            // As in MariaDB, ENGINE=InnoDB rebuilds an InnoDB table.
            alteration.force_rebuild = true;
        }
        let default = self.default_collation(&alteration.description.database)?;
        if let Some(collation) =
            resolve_collation(options.charset.as_ref(), options.collation.as_deref(), default)?
        {
            alteration.description.collation = collation;
        }
        let name = &alteration.description.name;
        if let Some(comment) = checked_table_comment(options, name, self.session)? {
            alteration.description.comment = comment;
        }
        if let Some(start) = options.auto_increment {
            alteration.description.auto_increment_start = start.max(1);
            alteration.forget_auto_increment = true;
        }
        self.set_options(&mut alteration.description, options, OptionStatement::Alter)
    }
}

fn is_check(action: &AlterAction) -> bool {
    matches!(action, AlterAction::AddConstraint(TableConstraint::Check(_)))
}

fn alter_checks(
    alteration: &mut Alteration,
    actions: &[AlterAction],
    session: &SessionContext,
) -> Result<()> {
    alteration.checks = kept_checks(&alteration.old, actions, &alteration.renames)?;
    for action in actions {
        if let AlterAction::AddConstraint(constraint @ TableConstraint::Check(check)) = action {
            normal_form(&check.expr, "CHECK", check.name.as_deref().unwrap_or_default())?;
            alteration.new_checks = true;
            add_constraint(constraint, &mut Vec::new(), &mut alteration.checks, session)?;
        }
    }
    Ok(())
}
