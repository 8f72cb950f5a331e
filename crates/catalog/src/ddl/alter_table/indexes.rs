//! Indexes: those that stay, with their remaining columns, and new ones.

use paceline_types::DataType;
use paceline_types::error_code::*;

use super::{Alteration, Draft, is_check};
use crate::column_type::key_bytes;
use crate::ddl::create_table::add_constraint;
use crate::ddl::foreign_key::own_index;
use crate::ddl::index::{DraftIndex, PRIMARY, longest_prefix};
use crate::ddl::plan::Planner;
use crate::error::{Error, Result};
use crate::{ColumnDefinition, IndexDefinition, IndexKind, same_name};
use paceline_syntax::definition::{AlterAction, TableConstraint};

impl Planner<'_> {
    pub(super) fn alter_indexes(
        &mut self,
        alteration: &mut Alteration,
        actions: &[AlterAction],
    ) -> Result<()> {
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
            kept.extend(kept_index(index, alteration, actions)?);
        }
        kept.append(&mut alteration.drafts);
        alteration.drafts = kept;
        for key in &alteration.new_keys {
            alteration.drafts.push(own_index(key)?);
        }
        for action in actions {
            let (AlterAction::AddConstraint(constraint), false) = (action, is_check(action)) else {
                continue;
            };
            add_constraint(constraint, &mut alteration.drafts, &mut Vec::new(), self.session)?;
            if let TableConstraint::ForeignKey(key) = constraint {
                alteration.new_keys.push(key.clone());
            }
        }
        Ok(())
    }
}

/// Returns the new form of an index of the old table; `None` if all its columns are dropped. A column that the
/// statement drops and adds again stays in the index.
///
/// # Errors
/// 1089 if the part of a column that was indexed is longer than the column of that name that replaces it.
/// 1072 for a unique index that loses a column, 1280 for an invalid new name, 4174 for a primary key with
/// IGNORED.
fn kept_index(
    index: &IndexDefinition,
    alteration: &Alteration,
    actions: &[AlterAction],
) -> Result<Option<DraftIndex>> {
    let old = &alteration.old;
    let mut draft = DraftIndex::of_existing(index, old.description());
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
    let columns = alteration.columns.iter();
    let mut lost = None;
    draft.parts.clear();
    for part in &index.parts {
        let Some(Draft { column, .. }) = columns.clone().find(|draft| draft.source == Some(part.column))
        else {
            let before = &old.columns()[part.column];
            let is_successor =
                |draft: &&Draft| draft.source.is_none() && same_name(&draft.column.name, &before.name);
            match columns.clone().find(is_successor) {
                Some(successor) => {
                    let length = successor_prefix(before, part.prefix_length, &successor.column)?;
                    draft
                        .parts
                        .push((successor.column.name.clone(), length, part.descending));
                    // The values change, so the index is rebuilt.
                    draft.id = None;
                }
                None => lost = lost.or(Some(part.column)),
            }
            continue;
        };
        // A prefix that is at least as long as the new column becomes the whole column. TEXT and BLOB keep a
        // prefix of their whole length, because they cannot be in an index without a prefix.
        let longest = longest_prefix(&column.data_type);
        let whole_is_prefix = matches!(column.data_type, DataType::Text { .. } | DataType::Blob { .. });
        let length = part.prefix_length.map(u64::from);
        let length = length.filter(|length| {
            longest.is_some_and(|longest| *length < longest || (whole_is_prefix && *length == longest))
        });
        draft.parts.push((column.name.clone(), length, part.descending));
    }
    if draft.parts.is_empty() {
        return Ok(None);
    }
    if let Some(lost) = lost {
        if index.kind.is_unique() {
            let name = &old.columns()[lost].name;
            return Err(Error::new(ER_KEY_COLUMN_DOES_NOT_EXIST, &[name]));
        }
        // The keys change, so the index is rebuilt.
        draft.id = None;
    }
    Ok(Some(draft))
}

/// Returns the length of the prefix of a column that replaces an indexed one of the same name: as many characters as
/// were indexed, or `None` if that is the whole column.
fn successor_prefix(
    before: &ColumnDefinition,
    prefix: Option<u32>,
    after: &ColumnDefinition,
) -> Result<Option<u64>> {
    let Some(longest) = longest_prefix(&after.data_type) else {
        return Ok(None);
    };
    let length = match prefix {
        Some(length) => u64::from(length),
        None => match longest_prefix(&before.data_type) {
            Some(length) => length,
            None => key_bytes(&before.data_type).map_or(longest, u64::from),
        },
    };
    if length > longest {
        return Err(Error::new(ER_WRONG_SUB_KEY, &[]));
    }
    let is_whole =
        length == longest && !matches!(after.data_type, DataType::Text { .. } | DataType::Blob { .. });
    Ok((!is_whole).then_some(length))
}
