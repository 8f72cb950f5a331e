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

/// Returns the conflict of an action with another one of the statement: an object can be dropped once, and one that is
/// dropped, redefined or renamed by another action cannot be changed. `place` is the index of the action.
pub(super) fn repeated_action(
    actions: &[AlterAction],
    place: usize,
    old: &TableDefinition,
) -> Option<ExistenceConflict> {
    let action = &actions[place];
    let names = |found: Option<&String>, name: &str| found.is_some_and(|found| same_name(found, name));
    let is_earlier = |of: fn(&AlterAction) -> Option<&String>, name: &str| {
        actions[..place].iter().any(|action| names(of(action), name))
    };
    let is_any = |of: fn(&AlterAction) -> Option<&String>, name: &str| {
        actions.iter().any(|action| names(of(action), name))
    };
    if let AlterAction::DropColumn { if_exists, name }
    | AlterAction::DropIndex { if_exists, name }
    | AlterAction::DropConstraint { if_exists, name } = action
    {
        let (of, kind): (fn(&AlterAction) -> Option<&String>, _) = match action {
            AlterAction::DropColumn { .. } => (dropped_column, "COLUMN"),
            AlterAction::DropIndex { .. } => (dropped_index, "INDEX"),
            _ => (dropped_constraint, "CONSTRAINT"),
        };
        let error = || Error::new(ER_CANT_DROP_FIELD_OR_KEY, &[&kind, name]);
        return is_earlier(of, name).then(|| match if_exists {
            true => ExistenceConflict::Note(error()),
            false => ExistenceConflict::Fail(error()),
        });
    }
    let unknown = if let Some(name) = defined_column(action) {
        is_any(dropped_column, name).then_some((ER_BAD_FIELD_ERROR, name))
    } else if let Some(name) = altered_column(action) {
        let is_taken =
            is_any(dropped_column, name) || is_any(defined_column, name) || is_earlier(altered_column, name);
        is_taken.then_some((ER_BAD_FIELD_ERROR, name))
    } else {
        let is_dropped = |name: &str| is_any(dropped_index, name) || is_any(dropped_constraint, name);
        match action {
            AlterAction::RenameIndex { old_name: name, .. } => (is_dropped(name)
                || is_earlier(renamed_index, name))
            .then_some((ER_KEY_DOES_NOT_EXISTS, name)),
            AlterAction::AlterIndex { name, .. } => {
                (is_dropped(name) || is_any(renamed_index, name)).then_some((ER_KEY_DOES_NOT_EXISTS, name))
            }
            _ => None,
        }
    };
    unknown.map(|(code, name)| ExistenceConflict::Fail(Error::new(code, &[name, &old.name()])))
}

fn dropped_column(action: &AlterAction) -> Option<&String> {
    match action {
        AlterAction::DropColumn { name, .. } => Some(name),
        _ => None,
    }
}

fn dropped_index(action: &AlterAction) -> Option<&String> {
    match action {
        AlterAction::DropIndex { name, .. } => Some(name),
        _ => None,
    }
}

fn dropped_constraint(action: &AlterAction) -> Option<&String> {
    match action {
        AlterAction::DropConstraint { name, .. } => Some(name),
        _ => None,
    }
}

fn defined_column(action: &AlterAction) -> Option<&String> {
    match action {
        AlterAction::ModifyColumn { column, .. } => Some(&column.name),
        AlterAction::ChangeColumn { old_name, .. } => Some(old_name),
        _ => None,
    }
}

fn altered_column(action: &AlterAction) -> Option<&String> {
    match action {
        AlterAction::RenameColumn { old_name, .. } => Some(old_name),
        AlterAction::SetDefault { column, .. } => Some(column),
        _ => None,
    }
}

fn renamed_index(action: &AlterAction) -> Option<&String> {
    match action {
        AlterAction::RenameIndex { old_name, .. } => Some(old_name),
        _ => None,
    }
}
