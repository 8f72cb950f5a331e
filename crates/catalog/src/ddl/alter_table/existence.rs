//! Actions on objects that do not exist, or that exist already.

use paceline_types::error_code::{
    ER_BAD_FIELD_ERROR, ER_CANT_DROP_FIELD_OR_KEY, ER_DUP_CONSTRAINT_NAME, ER_DUP_FIELDNAME, ER_DUP_KEYNAME,
    ER_KEY_DOES_NOT_EXISTS,
};

use crate::ddl::index::PRIMARY;
use crate::error::Error;
use crate::{TableDefinition, same_name};
use paceline_syntax::definition::{AlterAction, AlterOrigin, TableConstraint};

/// Outcome of an action on an object that does not exist, or that exists already. IF EXISTS and IF NOT EXISTS
/// decide between the two.
pub(super) enum ExistenceConflict {
    Note(Error),
    Fail(Error),
}

/// Returns the conflict of an action whose object does not exist or exists already.
pub(super) fn void_action(
    action: &AlterAction,
    origin: AlterOrigin,
    old: &TableDefinition,
) -> Option<ExistenceConflict> {
    let by = |if_exists: bool, error: Error| {
        Some(if if_exists {
            ExistenceConflict::Note(error)
        } else {
            ExistenceConflict::Fail(error)
        })
    };
    let unknown_column = |name: &str| Error::new(ER_BAD_FIELD_ERROR, &[&name, &old.name()]);
    let cannot_drop = |kind: &str, name: &str| Error::new(ER_CANT_DROP_FIELD_OR_KEY, &[&kind, &name]);
    let has_key = |name: &str| old.foreign_keys.iter().any(|key| same_name(&key.name, name));
    let unknown_key = |name: &str| Error::new(ER_KEY_DOES_NOT_EXISTS, &[&name, &old.name()]);
    match action {
        AlterAction::AddColumn {
            if_not_exists: true,
            column,
            ..
        } if old.column(&column.name).is_some() => by(true, Error::new(ER_DUP_FIELDNAME, &[&column.name])),
        AlterAction::AddConstraint(TableConstraint::Index(index))
            if index.if_not_exists && origin != AlterOrigin::CreateOrReplaceIndex =>
        {
            let name = index
                .name
                .as_deref()
                .or(index.parts.first().map(|part| part.column.as_str()))?;
            old.index(name)
                .and_then(|_| by(true, Error::new(ER_DUP_KEYNAME, &[&name])))
        }
        AlterAction::AddConstraint(TableConstraint::Check(check)) if check.if_not_exists => {
            let name = check.name.as_deref()?;
            let known = old.checks().iter().any(|old| same_name(&old.name, name));
            known
                .then(|| by(true, Error::new(ER_DUP_CONSTRAINT_NAME, &[&"CHECK", &name])))
                .flatten()
        }
        AlterAction::DropColumn { if_exists, name } if old.column(name).is_none() => {
            by(*if_exists, cannot_drop("COLUMN", name))
        }
        AlterAction::DropIndex { if_exists, name } if old.index(name).is_none() => {
            by(*if_exists, cannot_drop("INDEX", name))
        }
        AlterAction::DropPrimaryKey { if_exists } if old.index(PRIMARY).is_none() => {
            by(*if_exists, cannot_drop("INDEX", PRIMARY))
        }
        AlterAction::AddConstraint(TableConstraint::ForeignKey(key)) if key.if_not_exists => {
            let name = key.constraint_name.as_deref().or(key.index_name.as_deref())?;
            let known = has_key(name);
            known
                .then(|| by(true, Error::new(ER_DUP_KEYNAME, &[&name])))
                .flatten()
        }
        AlterAction::DropForeignKey { name, .. } if has_key(name) => None,
        AlterAction::DropForeignKey { if_exists, name } => by(*if_exists, cannot_drop("FOREIGN KEY", name)),
        AlterAction::DropConstraint { if_exists, name } => {
            let known = has_key(name)
                || old.checks().iter().any(|check| same_name(&check.name, name))
                || old
                    .index(name)
                    .is_some_and(|index| old.indexes()[index].kind.is_unique());
            if known {
                None
            } else {
                by(*if_exists, cannot_drop("CONSTRAINT", name))
            }
        }
        AlterAction::ModifyColumn {
            if_exists, column, ..
        } if old.column(&column.name).is_none() => by(*if_exists, unknown_column(&column.name)),
        AlterAction::ChangeColumn {
            if_exists, old_name, ..
        }
        | AlterAction::RenameColumn {
            if_exists, old_name, ..
        } if old.column(old_name).is_none() => by(*if_exists, unknown_column(old_name)),
        AlterAction::SetDefault {
            if_exists, column, ..
        } if old.column(column).is_none() => by(*if_exists, unknown_column(column)),
        AlterAction::RenameIndex {
            if_exists, old_name, ..
        } if old.index(old_name).is_none() => by(*if_exists, unknown_key(old_name)),
        AlterAction::AlterIndex { if_exists, name, .. } if old.index(name).is_none() => {
            by(*if_exists, unknown_key(name))
        }
        _ => None,
    }
}
