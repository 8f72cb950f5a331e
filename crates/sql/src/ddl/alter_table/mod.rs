//! ALTER TABLE, CREATE INDEX, DROP INDEX: a new description from the old one, and the cheapest way from the one to the other.
//!
//! Everything in a statement refers to the table as it was before: columns and indexes go first, then columns are changed where they
//! stand, then those with a new place and new ones are put where they belong (`mysql_prepare_alter_table`, `sql/sql_table.cc`).
//!
//! Three ways, in this order:
//! * *instant*: only the record changes (names, defaults, comments, a VARCHAR that grows within its length bytes, labels added);
//! * *indexes only*: rows stay where they are; new indexes are built aside, old ones are range deletes;
//! * *rebuild*: all rows are read, converted and written aside under new numbers; the old ones are range deletes.

mod kept;
mod void;

use std::sync::Arc;

use paceline_storage::IndexId;
use paceline_types::error_code::*;
use paceline_types::{Collation, DataType};

use kept::{clustered_stays, rename_in_expressions, renamed_columns, renames, stored_alike};
use void::{Void, void_action};

use crate::catalog::{
    CatalogChange, CheckConstraint, ColumnDefault, ColumnDefinition, ForeignKey, IndexKind, TableDefinition,
    TableDescription, same_name,
};
use crate::ddl::build::{BuildKind, ColumnSource, TableBuild, TestedKey, TestedRows};
use crate::ddl::column::{resolve_column, resolve_default};
use crate::ddl::column_type::resolve_collation;
use crate::ddl::create_table::{add_constraint, checked_table_comment, row_format};
use crate::ddl::foreign_key::{Alter, KeyStatement, check_dependents, malformed};
use crate::ddl::index::{DraftIndex, PRIMARY};
use crate::ddl::normal_form::normal_form;
use crate::ddl::plan::Planner;
use crate::ddl::table::check_table_name;
use crate::error::{Error, Result};
use crate::parse::definition::{
    AlterAction, AlterOrigin, AlterTable, ColumnPosition, ForeignKeySpec, IndexSpec, TableConstraint,
    TableOptions,
};

/// A column on its way from the old table to the new one.
struct Draft {
    column: ColumnDefinition,
    /// Its place in the old table; `None` for a new column.
    source: Option<usize>,
}

/// What the statement makes of the table.
struct Alteration {
    old: Arc<TableDefinition>,
    description: TableDescription,
    columns: Vec<Draft>,
    /// Columns to be put somewhere: added, or changed with a new place. In the statement's order.
    placed: Vec<(Draft, ColumnPosition)>,
    drafts: Vec<DraftIndex>,
    checks: Vec<CheckConstraint>,
    /// Foreign keys that the table has and keeps.
    keys: Vec<ForeignKey>,
    /// Foreign keys that it gets.
    new_keys: Vec<ForeignKeySpec>,
    rename: Option<(String, String)>,
    /// Nothing else is to be done.
    only_rename: bool,
    /// The table gets checks that its rows must pass.
    new_checks: bool,
    forget_auto_increment: bool,
    /// `FORCE`, or an engine named: the table is rebuilt whatever changes.
    force_rebuild: bool,
    /// `ALGORITHM=`.
    algorithm: Option<String>,
}

impl Planner<'_> {
    pub(in crate::ddl) fn alter_table(&mut self, alter: &AlterTable) -> Result<()> {
        let (database, name) = self.qualified(&alter.table)?;
        if alter.if_exists && self.catalog.table(&database, &name).is_none() {
            let error = Error::new(ER_NO_SUCH_TABLE, &[&database, &name]);
            return self.note_or_fail(alter.if_exists.into(), error);
        }
        let old = self.table(&alter.table)?;
        if old.is_temporary() {
            self.make_temporary()?;
        }
        let mut alteration = Alteration {
            description: old.description().clone(),
            columns: Vec::new(),
            placed: Vec::new(),
            drafts: Vec::new(),
            checks: old.checks().to_vec(),
            keys: old.foreign_keys.clone(),
            new_keys: Vec::new(),
            rename: None,
            only_rename: false,
            new_checks: false,
            forget_auto_increment: false,
            force_rebuild: false,
            algorithm: None,
            old: old.clone(),
        };
        let actions = self.effective_actions(alter, &old)?;
        self.alter_options(&mut alteration, &actions)?;
        self.alter_columns(&mut alteration, &actions)?;
        self.alter_indexes(&mut alteration, &actions)?;
        alter_checks(&mut alteration, &actions)?;
        self.alter_keys(&mut alteration, &actions)?;
        self.finish_alter(alteration)
    }

    /// The actions, without those that IF EXISTS and its like make void.
    fn effective_actions(&mut self, alter: &AlterTable, old: &TableDefinition) -> Result<Vec<AlterAction>> {
        // MariaDB looks for what is void kind by kind; notes come in this order.
        let kind = |action: &AlterAction| match action {
            AlterAction::AddColumn { .. } => 0,
            AlterAction::DropColumn { .. } => 1,
            AlterAction::DropIndex { .. } | AlterAction::DropConstraint { .. } => 3,
            AlterAction::AddConstraint(_) => 4,
            _ => 2,
        };
        let mut by_kind: Vec<&AlterAction> = alter.actions.iter().collect();
        by_kind.sort_by_key(|action| kind(action));
        let mut actions = Vec::with_capacity(alter.actions.len());
        for action in by_kind {
            if let Some(error) = void_action(action, alter.origin, old) {
                match error {
                    Void::Note(error) => {
                        self.session.diagnostics.note(error.code(), error.message());
                        continue;
                    }
                    Void::Fail(error) => return Err(error),
                }
            }
            // A foreign key comes before an index or a check of its name.
            if let AlterAction::DropConstraint { if_exists, name } = action
                && old.foreign_keys.iter().any(|key| same_name(&key.name, name))
            {
                actions.push(AlterAction::DropForeignKey {
                    if_exists: *if_exists,
                    name: name.clone(),
                });
                continue;
            }
            // CREATE OR REPLACE INDEX drops the old one.
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
            // ENGINE=InnoDB on an InnoDB table rebuilds it, as it does in MariaDB.
            alteration.force_rebuild = true;
        }
        let default = self.default_collation(&alteration.description.database)?;
        if let Some(collation) =
            resolve_collation(options.charset.as_ref(), options.collation.as_deref(), default)?
        {
            alteration.description.collation = collation;
        }
        if let Some(comment) = checked_table_comment(options)? {
            alteration.description.comment = comment;
        }
        if let Some(start) = options.auto_increment {
            alteration.description.auto_increment_start = start.max(1);
            alteration.forget_auto_increment = true;
        }
        if options.row_format.is_some() {
            alteration.description.row_format = row_format(options);
        }
        for (name, value) in &options.other {
            alteration.description.options.retain(|(known, _)| known != name);
            alteration.description.options.push((name.clone(), value.clone()));
        }
        Ok(())
    }

    fn alter_columns(&mut self, alteration: &mut Alteration, actions: &[AlterAction]) -> Result<()> {
        let old = alteration.old.clone();
        let collation = alteration.description.collation;
        let convert = actions
            .iter()
            .any(|action| matches!(action, AlterAction::ConvertCharset { .. }));
        for (number, column) in old.columns().iter().enumerate() {
            let named = |name: &str| same_name(name, &column.name);
            if actions
                .iter()
                .any(|action| matches!(action, AlterAction::DropColumn { name, .. } if named(name)))
            {
                continue;
            }
            let changes: Vec<_> = actions
                .iter()
                .filter_map(|action| match action {
                    AlterAction::ModifyColumn { column, position, .. } if named(&column.name) => {
                        Some((column, position))
                    }
                    AlterAction::ChangeColumn {
                        old_name,
                        column,
                        position,
                        ..
                    } if named(old_name) => Some((column, position)),
                    _ => None,
                })
                .collect();
            let draft = match changes.as_slice() {
                [] => {
                    let mut column = column.clone();
                    if convert {
                        convert_column(&mut column, collation);
                    }
                    self.alter_column(&mut column, actions)?;
                    Draft {
                        column,
                        source: Some(number),
                    }
                }
                [(spec, position), ..] => {
                    let column = resolve_column(spec, collation, self.session)?;
                    alteration.drafts.extend(DraftIndex::of_column(spec));
                    alteration.new_keys.extend(spec.references.clone());
                    let draft = Draft {
                        column,
                        source: Some(number),
                    };
                    if **position != ColumnPosition::Unspecified {
                        alteration.placed.push((draft, (*position).clone()));
                        continue;
                    }
                    draft
                }
            };
            alteration.columns.push(draft);
        }
        self.add_columns(alteration, actions)?;
        self.place_columns(alteration)
    }

    /// New defaults and names of a column that is not redefined.
    fn alter_column(&mut self, column: &mut ColumnDefinition, actions: &[AlterAction]) -> Result<()> {
        let old_name = column.name.clone();
        for action in actions {
            match action {
                AlterAction::SetDefault {
                    column: name,
                    default,
                    ..
                } if same_name(name, &old_name) => {
                    column.default = match default {
                        None => ColumnDefault::None,
                        Some(_) if column.auto_increment => {
                            return Err(Error::new(ER_INVALID_DEFAULT, &[&column.name]));
                        }
                        some => resolve_default(column, some.as_ref(), self.session)?,
                    };
                }
                AlterAction::RenameColumn {
                    old_name: name,
                    new_name,
                    ..
                } if same_name(name, &old_name) => {
                    if new_name.is_empty() || new_name.ends_with(' ') {
                        return Err(Error::new(ER_WRONG_COLUMN_NAME, &[new_name]));
                    }
                    column.name = new_name.clone();
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn add_columns(&mut self, alteration: &mut Alteration, actions: &[AlterAction]) -> Result<()> {
        for action in actions {
            let AlterAction::AddColumn {
                column: spec,
                position,
                ..
            } = action
            else {
                continue;
            };
            let column = resolve_column(spec, alteration.description.collation, self.session)?;
            alteration.drafts.extend(DraftIndex::of_column(spec));
            alteration.new_keys.extend(spec.references.clone());
            let draft = Draft { column, source: None };
            alteration.placed.push((draft, position.clone()));
        }
        Ok(())
    }

    fn place_columns(&mut self, alteration: &mut Alteration) -> Result<()> {
        for (draft, position) in std::mem::take(&mut alteration.placed) {
            let place = match position {
                ColumnPosition::Unspecified => alteration.columns.len(),
                ColumnPosition::First => 0,
                ColumnPosition::After(name) => {
                    let found = alteration
                        .columns
                        .iter()
                        .position(|other| same_name(&other.column.name, &name));
                    let table = &alteration.old.name();
                    found.ok_or_else(|| Error::new(ER_BAD_FIELD_ERROR, &[&name, table]))? + 1
                }
            };
            alteration.columns.insert(place, draft);
        }
        if alteration.columns.is_empty() {
            return Err(Error::new(ER_CANT_REMOVE_ALL_FIELDS, &[]));
        }
        Ok(())
    }

    fn alter_indexes(&mut self, alteration: &mut Alteration, actions: &[AlterAction]) -> Result<()> {
        let old = alteration.old.clone();
        let mut kept = Vec::new();
        for index in old.indexes() {
            let dropped = actions.iter().any(|action| match action {
                AlterAction::DropPrimaryKey { .. } => index.kind == IndexKind::Primary,
                AlterAction::DropIndex { name, .. } | AlterAction::DropConstraint { name, .. } => {
                    same_name(name, &index.name)
                }
                _ => false,
            });
            if dropped {
                continue;
            }
            let mut draft = DraftIndex::of_existing(index, old.columns());
            for action in actions {
                match action {
                    AlterAction::RenameIndex {
                        old_name, new_name, ..
                    } if same_name(old_name, &index.name) => {
                        if new_name.eq_ignore_ascii_case(PRIMARY) || new_name.is_empty() {
                            return Err(Error::new(ER_WRONG_NAME_FOR_INDEX, &[new_name]));
                        }
                        draft.name = Some(new_name.clone());
                    }
                    AlterAction::AlterIndex { name, ignored, .. } if same_name(name, &index.name) => {
                        if index.kind == IndexKind::Primary && *ignored {
                            return Err(Error::new(ER_PK_INDEX_CANT_BE_IGNORED, &[]));
                        }
                        draft.ignored = *ignored;
                    }
                    _ => {}
                }
            }
            draft.parts.clear();
            for part in &index.parts {
                let Some(column) = alteration
                    .columns
                    .iter()
                    .find(|draft| draft.source == Some(part.column))
                else {
                    continue;
                };
                // A prefix that is no prefix of the new column any more.
                let length = part.prefix_length.map(u64::from).filter(|length| {
                    let column = &column.column;
                    let is_string = column.data_type.is_text() || column.data_type.is_binary_string();
                    is_string
                        && column
                            .data_type
                            .max_characters()
                            .is_some_and(|longest| *length < longest)
                });
                draft
                    .parts
                    .push((column.column.name.clone(), length, part.descending));
            }
            let lost = draft.parts.len() < index.parts.len();
            if draft.parts.is_empty() {
                continue;
            }
            if lost && index.kind.is_unique() {
                let gone = index
                    .parts
                    .iter()
                    .find(|part| {
                        !alteration
                            .columns
                            .iter()
                            .any(|draft| draft.source == Some(part.column))
                    })
                    .expect("a column of the index is gone");
                return Err(Error::new(
                    ER_KEY_COLUMN_DOES_NOT_EXIST,
                    &[&old.columns()[gone.column].name],
                ));
            }
            if lost {
                // Other keys than before: it is built again.
                draft.id = None;
            }
            kept.push(draft);
        }
        kept.append(&mut alteration.drafts);
        alteration.drafts = kept;
        for key in &alteration.new_keys {
            alteration.drafts.push(key.index()?);
        }
        for action in actions {
            let (AlterAction::AddConstraint(constraint), false) = (action, is_check(action)) else {
                continue;
            };
            add_constraint(constraint, &mut alteration.drafts, &mut Vec::new())?;
            if let TableConstraint::ForeignKey(key) = constraint {
                alteration.new_keys.push(key.clone());
            }
        }
        Ok(())
    }

    /// # Errors
    /// 1846 for keys that are to be added without a look at the rows there.
    fn alter_keys(&mut self, alteration: &mut Alteration, actions: &[AlterAction]) -> Result<()> {
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

    /// The keys that the table keeps, under the new names of their columns, and those of other tables with them.
    fn keep_keys(
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

    /// Chooses the way, and plans it.
    fn finish_alter(&mut self, alteration: Alteration) -> Result<()> {
        let Alteration {
            old,
            mut description,
            columns,
            drafts,
            checks,
            rename,
            only_rename,
            new_checks,
            keys,
            new_keys,
            ..
        } = alteration;
        let sources: Vec<Option<usize>> = columns.iter().map(|draft| draft.source).collect();
        description.columns = columns.into_iter().map(|draft| draft.column).collect();
        description.checks = checks;
        let renamed = renames(&old, &description.columns, &sources);
        rename_in_expressions(&old, &mut description, &sources);
        self.complete(&mut description, drafts)?;
        if old.is_temporary() && !new_keys.is_empty() {
            return Err(malformed(&description));
        }
        self.keep_keys(&old, &mut description, &sources, keys)?;
        let added = self.add_foreign_keys(&mut description, &new_keys, KeyStatement::Alter)?;
        if !description.columns.iter().any(|column| column.auto_increment) {
            // Without such a column MariaDB forgets the number.
            description.auto_increment_start = 1;
        }
        let engine_changes = description.engine != old.engine;
        // MariaDB copies a temporary table whatever changes in it.
        let copies = old.is_temporary() && !only_rename;
        let rows_stay = !alteration.force_rebuild
            && !copies
            && !engine_changes
            && sources.len() == old.columns().len()
            && sources.iter().enumerate().all(|(n, source)| {
                *source == Some(n) && stored_alike(&old.columns()[n], &description.columns[n], &renamed)
            })
            && clustered_stays(&old, &description)?;
        if let Some(word) = &alteration.algorithm
            && !rows_stay
            && matches!(word.as_str(), "INSTANT" | "NOCOPY")
        {
            let what = format!("ALGORITHM={word}");
            return Err(Error::new(
                ER_ALTER_OPERATION_NOT_SUPPORTED,
                &[&what, &"ALGORITHM=COPY"],
            ));
        }
        if rows_stay {
            self.change_indexes(&old, &description, new_checks);
        } else {
            self.rebuild(&old, &mut description, &sources, new_checks)?;
        }
        let (database, name) = match rename {
            Some(target) if target != (old.database().to_owned(), old.name().to_owned()) => target,
            _ => (old.database().to_owned(), old.name().to_owned()),
        };
        let renamed = (database.as_str(), name.as_str()) != (old.database(), old.name());
        if renamed {
            self.check_new_name(&old, &database, &name, only_rename)?;
            description.database = database.clone();
            description.name = name.clone();
            self.rename_in_keys(&old, &mut description)?;
            self.check_forward_references(&description)?;
        }
        self.test_new_keys(&old, &description, &added)?;
        if let Some(build) = &mut self.plan.build {
            build.target.database.clone_from(&description.database);
            build.target.name.clone_from(&description.name);
        }
        self.change(CatalogChange::PutTable(Box::new(description)))?;
        if renamed {
            self.forget_name(&old)?;
        }
        if alteration.forget_auto_increment || self.plan.build.is_some() {
            self.change(CatalogChange::ForgetAutoIncrement { database, name })?;
        }
        Ok(())
    }

    /// Rows that are there must have their parents, unless `foreign_key_checks` is off.
    fn test_new_keys(
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
            // The parent is looked up as it is before the statement.
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
        });
        build.tested_keys = tested;
        Ok(())
    }

    /// Rows stay: only indexes come and go.
    fn change_indexes(
        &mut self,
        old: &Arc<TableDefinition>,
        description: &TableDescription,
        new_checks: bool,
    ) {
        let is_kept = |id: u32| description.indexes.iter().any(|index| index.id == id);
        for index in old.indexes().iter().filter(|index| !is_kept(index.id)) {
            self.plan.dropped.push(IndexId::new(index.id));
        }
        let known = |id: u32| old.indexes().iter().any(|index| index.id == id);
        let new: Vec<usize> = (0..description.indexes.len())
            .filter(|&place| !known(description.indexes[place].id))
            .collect();
        if !new.is_empty() || new_checks {
            self.plan.build = Some(TableBuild {
                source: old.clone(),
                target: description.clone(),
                kind: BuildKind::Indexes(new),
                tested: match new_checks {
                    true => TestedRows::All,
                    false => TestedRows::None,
                },
                tested_keys: Vec::new(),
            });
        }
    }

    /// All rows are written anew, under new numbers.
    fn rebuild(
        &mut self,
        old: &Arc<TableDefinition>,
        description: &mut TableDescription,
        sources: &[Option<usize>],
        new_checks: bool,
    ) -> Result<()> {
        self.plan.dropped.extend(old.schema().index_ids());
        let engine = description.engine;
        description.hidden = [self.new_id(engine)?, self.new_id(engine)?];
        for place in 0..description.indexes.len() {
            description.indexes[place].id = self.new_id(engine)?;
        }
        let columns: Vec<ColumnSource> = sources
            .iter()
            .enumerate()
            .map(|(n, source)| match source {
                Some(place) => {
                    let (before, after) = (&old.columns()[*place], &description.columns[n]);
                    if before.data_type == after.data_type && (!before.nullable || after.nullable) {
                        ColumnSource::Copy(*place)
                    } else {
                        ColumnSource::Convert(*place)
                    }
                }
                None => ColumnSource::Default,
            })
            .collect();
        let tested = match new_checks
            || columns
                .iter()
                .any(|source| matches!(source, ColumnSource::Convert(_)))
        {
            true => TestedRows::All,
            false => TestedRows::None,
        };
        self.plan.build = Some(TableBuild {
            source: old.clone(),
            target: description.clone(),
            kind: BuildKind::Rebuild(columns),
            tested,
            tested_keys: Vec::new(),
        });
        Ok(())
    }
}

/// `CONVERT TO CHARACTER SET`: text columns take the table's collation.
fn convert_column(column: &mut ColumnDefinition, collation: Collation) {
    let longer = |size: paceline_types::BlobSize, from: Collation| {
        use paceline_types::BlobSize;
        let grows = collation.charset().max_bytes_per_character() > from.charset().max_bytes_per_character();
        match (size, grows) {
            (BlobSize::Tiny, true) => BlobSize::Normal,
            (BlobSize::Normal, true) => BlobSize::Medium,
            (BlobSize::Medium, true) => BlobSize::Long,
            (size, _) => size,
        }
    };
    match &mut column.data_type {
        DataType::Char { collation: own, .. }
        | DataType::VarChar { collation: own, .. }
        | DataType::Enum { collation: own, .. }
        | DataType::Set { collation: own, .. } => *own = collation,
        DataType::Text { size, collation: own } => {
            *size = longer(*size, *own);
            *own = collation;
        }
        _ => {}
    }
}

fn is_check(action: &AlterAction) -> bool {
    matches!(action, AlterAction::AddConstraint(TableConstraint::Check(_)))
}

fn alter_checks(alteration: &mut Alteration, actions: &[AlterAction]) -> Result<()> {
    for action in actions {
        match action {
            AlterAction::DropConstraint { name, .. } => {
                alteration.checks.retain(|check| !same_name(&check.name, name));
            }
            AlterAction::AddConstraint(constraint @ TableConstraint::Check(check)) => {
                normal_form(&check.expr, "CHECK", check.name.as_deref().unwrap_or_default())?;
                alteration.new_checks = true;
                add_constraint(constraint, &mut Vec::new(), &mut alteration.checks)?;
            }
            _ => {}
        }
    }
    Ok(())
}
