//! Columns: first those that stay in place, changed or not, then those with a new position.

use paceline_types::error_code::*;
use paceline_types::{BlobSize, Collation, DataType};

use super::compatibility::kept_column;
use super::{Alteration, Draft};
use crate::ddl::column::{give_old_timestamp_defaults, resolve_column, resolve_default};
use crate::ddl::index::DraftIndex;
use crate::ddl::plan::Planner;
use crate::error::{Error, Result};
use crate::{ColumnDefinition, same_name};
use paceline_syntax::definition::{AlterAction, ColumnPosition};

impl Planner<'_> {
    pub(super) fn alter_columns(
        &mut self,
        alteration: &mut Alteration,
        actions: &[AlterAction],
    ) -> Result<()> {
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
                    let mut column = kept_column(column, &alteration.renames);
                    if convert {
                        convert_column(&mut column, collation);
                    }
                    self.alter_column(&mut column, actions)?;
                    Draft {
                        column,
                        source: Some(number),
                        is_defined: false,
                    }
                }
                // The first definition has consumed the old column.
                [_, _, ..] => {
                    return Err(Error::new(ER_BAD_FIELD_ERROR, &[&column.name, &old.name()]));
                }
                [(spec, position)] => {
                    let column = resolve_column(spec, collation, self.session)?;
                    alteration.drafts.extend(DraftIndex::of_column(spec));
                    alteration.new_keys.extend(spec.references.clone());
                    let draft = Draft {
                        column,
                        source: Some(number),
                        is_defined: true,
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

    /// Applies new defaults and names to a column that is not redefined.
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
                        // DROP DEFAULT leaves NULL where it is allowed, as if no default had been declared.
                        None => resolve_default(column, None, self.session)?,
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
            let draft = Draft {
                column,
                source: None,
                is_defined: true,
            };
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
        let drafts = alteration.columns.iter_mut();
        give_old_timestamp_defaults(
            drafts.map(|draft| (&mut draft.column, draft.is_defined)),
            self.session,
        )
    }
}

/// Applies `CONVERT TO CHARACTER SET`: text columns get the table's collation.
fn convert_column(column: &mut ColumnDefinition, collation: Collation) {
    let longer = |size: BlobSize, from: Collation| {
        let grows = collation.charset().max_bytes_per_character() > from.charset().max_bytes_per_character();
        match (size, grows) {
            (BlobSize::Tiny, true) => BlobSize::Normal,
            (BlobSize::Normal, true) => BlobSize::Medium,
            (BlobSize::Medium, true) => BlobSize::Long,
            (size, _) => size,
        }
    };
    if collation == Collation::Binary {
        column.data_type = match &column.data_type {
            DataType::Char { length, .. } => DataType::Binary { length: *length },
            DataType::VarChar { length, .. } => DataType::VarBinary { length: *length },
            DataType::Text { size, .. } => DataType::Blob { size: *size },
            other => other.clone(),
        };
    }
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
