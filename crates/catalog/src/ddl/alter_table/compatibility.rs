//! Compatibility of the old and the new table: bytes of the rows, clustered index, meaning of expressions.

use paceline_types::{DataType, Labels};

use crate::column_type::key_bytes;
use crate::ddl::normal_form::quote_identifier;
use crate::error::{Error, Result};
use crate::table::schema_of;
use crate::{CheckConstraint, ColumnDefault, ColumnDefinition, TableDefinition, TableDescription, same_name};
use paceline_syntax::ast::Expr;
use paceline_syntax::ast::visit::for_each_expr;
use paceline_syntax::definition::AlterAction;
use paceline_types::error_code::ER_BAD_FIELD_ERROR;

/// Returns old and new names of the renamed columns, except for changes of case.
pub(super) fn renames(old: &TableDefinition, actions: &[AlterAction]) -> Vec<(String, String)> {
    let renames = actions.iter().filter_map(|action| match action {
        AlterAction::ChangeColumn { old_name, column, .. } => Some((old_name, &column.name)),
        AlterAction::RenameColumn {
            old_name, new_name, ..
        } => Some((old_name, new_name)),
        _ => None,
    });
    let is_rename =
        |(before, after): &(&String, &String)| old.column(before).is_some() && !same_name(before, after);
    renames
        .filter(is_rename)
        .map(|(before, after)| (before.clone(), after.clone()))
        .collect()
}

/// Returns old and new names of the renamed columns.
pub(super) fn renamed_columns(
    old: &TableDefinition,
    columns: &[ColumnDefinition],
    sources: &[Option<usize>],
) -> Vec<(String, String)> {
    sources
        .iter()
        .enumerate()
        .filter_map(|(n, source)| {
            let (before, after) = (&old.columns()[(*source)?].name, &columns[n].name);
            (before != after).then(|| (before.clone(), after.clone()))
        })
        .collect()
}

/// Returns a column that the statement does not redefine, with the new names in its expressions.
pub(super) fn kept_column(column: &ColumnDefinition, renames: &[(String, String)]) -> ColumnDefinition {
    let mut column = column.clone();
    let rename = |text: &mut String| *text = renamed(text, renames);
    column.check.as_mut().map(rename);
    if let ColumnDefault::Expression(text) = &mut column.default {
        rename(text);
    }
    if let Some(generated) = &mut column.generated {
        rename(&mut generated.expression);
    }
    column
}

/// Returns the table's checks that stay, with the new names of columns. A check is dropped with the last of its
/// columns; as in MariaDB, the drop of any column also drops the checks that name no column.
///
/// # Errors
/// 1054 if a check names a column that is dropped and one that stays.
pub(super) fn kept_checks(
    old: &TableDefinition,
    actions: &[AlterAction],
    renames: &[(String, String)],
) -> Result<Vec<CheckConstraint>> {
    let dropped = { actions.iter() }.filter_map(|action| match action {
        AlterAction::DropColumn { name, .. } => Some(name.as_str()),
        _ => None,
    });
    let dropped: Vec<&str> = dropped.collect();
    let is_dropped_itself = |check: &CheckConstraint| {
        { actions.iter() }.any(
            |action| matches!(action, AlterAction::DropConstraint { name, .. } if same_name(&check.name, name)),
        )
    };
    let mut kept = Vec::with_capacity(old.checks().len());
    for check in old.checks().iter().filter(|check| !is_dropped_itself(check)) {
        if !dropped.is_empty() {
            let (mut lacks, mut stays) = (None, false);
            for_each_expr(&paceline_syntax::parse_expression(&check.expression)?, |expr| {
                if let Expr::Column(column) = expr {
                    match dropped.iter().any(|name| same_name(name, &column.name)) {
                        true => _ = lacks.get_or_insert_with(|| column.name.clone()),
                        false => stays = true,
                    }
                }
            });
            match lacks {
                _ if !stays => continue,
                Some(name) => return Err(Error::new(ER_BAD_FIELD_ERROR, &[&name, &"CHECK"])),
                None => {}
            }
        }
        kept.push(CheckConstraint {
            name: check.name.clone(),
            expression: renamed(&check.expression, renames),
        });
    }
    Ok(kept)
}

/// Replaces column names in a stored expression. All are replaced in one pass, because columns may swap
/// names.
fn renamed(text: &str, renames: &[(String, String)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(['`', '\'']) {
        out.push_str(&rest[..start]);
        let (quoted, after) = rest[start..].split_at(quoted_length(&rest[start..]));
        rest = after;
        let name = quoted
            .strip_prefix('`')
            .and_then(|name| name.strip_suffix('`'))
            .map(|name| name.replace("``", "`"));
        let is_old =
            |(before, _): &&(String, String)| name.as_ref().is_some_and(|name| same_name(name, before));
        match renames.iter().find(is_old) {
            Some((_, after)) => quote_identifier(after, &mut out),
            None => out.push_str(quoted),
        }
    }
    out.push_str(rest);
    out
}

/// Returns the length of the quoted name or string at the start of a text, with its quotes.
fn quoted_length(text: &str) -> usize {
    let quote = text.as_bytes()[0];
    let mut bytes = text.bytes().enumerate().skip(1);
    while let Some((place, byte)) = bytes.next() {
        if byte == b'\\' && quote == b'\'' {
            bytes.next();
        } else if byte == quote {
            match text.as_bytes().get(place + 1) {
                Some(next) if *next == quote => bytes.next(),
                _ => return place + 1,
            };
        }
    }
    text.len()
}

/// Returns whether values of the old and the new column are stored, compared and logged in the same way.
pub(super) fn stored_alike(
    old: &ColumnDefinition,
    new: &ColumnDefinition,
    renames: &[(String, String)],
) -> bool {
    old.nullable == new.nullable && keeps_values(old, new, renames) && same_form(old, new)
}

/// Returns whether a column has the same values in all rows before and after the change, if its type allows that.
pub(super) fn keeps_values(
    old: &ColumnDefinition,
    new: &ColumnDefinition,
    renames: &[(String, String)],
) -> bool {
    // A column that is no longer generated keeps its values.
    let remade = new.generated.as_ref().is_some_and(|new| {
        let before = old
            .generated
            .as_ref()
            .map(|old| renamed(&old.expression, renames));
        before.as_ref() != Some(&new.expression)
    });
    // Rows without a number get one.
    let counts = new.auto_increment && !old.auto_increment;
    !remade && !counts
}

/// Returns whether the types of two columns store, compare and log values in the same way.
pub(super) fn same_form(old: &ColumnDefinition, new: &ColumnDefinition) -> bool {
    match (&old.data_type, &new.data_type) {
        (a, b) if a == b => true,
        (DataType::Integer(a), DataType::Integer(b)) => (a.width, a.sign) == (b.width, b.sign),
        (
            DataType::VarChar {
                length: a,
                collation: c,
            },
            DataType::VarChar {
                length: b,
                collation: d,
            },
        ) => a <= b && c == d && same_length_bytes(&old.data_type, &new.data_type),
        (DataType::VarBinary { length: a }, DataType::VarBinary { length: b }) => {
            a <= b && same_length_bytes(&old.data_type, &new.data_type)
        }
        (
            DataType::Enum {
                labels: a,
                collation: c,
            },
            DataType::Enum {
                labels: b,
                collation: d,
            },
        )
        | (
            DataType::Set {
                labels: a,
                collation: c,
            },
            DataType::Set {
                labels: b,
                collation: d,
            },
        ) => c == d && is_extended_by(a, b) && key_bytes(&old.data_type) == key_bytes(&new.data_type),
        _ => false,
    }
}

/// Returns whether labels are followed by others, and otherwise the same.
pub(super) fn is_extended_by(old: &Labels, new: &Labels) -> bool {
    old.len() <= new.len() && old.iter().zip(new.iter()).all(|(old, new)| old == new)
}

/// Returns whether a VARCHAR or VARBINARY only gets a greater maximal length. InnoDB leaves their values in place.
pub(super) fn text_grows(old: &DataType, new: &DataType) -> bool {
    match (old, new) {
        (
            DataType::VarChar {
                length: before,
                collation: old,
            },
            DataType::VarChar {
                length: after,
                collation: new,
            },
        ) => before <= after && old == new,
        (DataType::VarBinary { length: before }, DataType::VarBinary { length: after }) => before <= after,
        _ => false,
    }
}

fn same_length_bytes(old: &DataType, new: &DataType) -> bool {
    let long = |data_type| key_bytes(data_type).is_some_and(|bytes| bytes > 255);
    long(old) == long(new)
}

/// Returns whether the rows keep their clustered index.
pub(super) fn clustered_stays(old: &TableDefinition, description: &TableDescription) -> Result<bool> {
    let schema = schema_of(description)?;
    Ok(schema.clustered_id() == old.schema().clustered_id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_are_renamed() {
        let renames = [("a", "b"), ("b", "a"), ("c`d", "e")]
            .map(|(before, after)| (before.to_owned(), after.to_owned()));
        for (text, expected) in [
            ("`a` + `b` * `A`", "`b` + `a` * `b`"),
            ("`x` <> '`a`' and `a` = 1", "`x` <> '`a`' and `b` = 1"),
            (r"'it''s \\' <> `a` and '`b`'", r"'it''s \\' <> `b` and '`b`'"),
            ("`c``d` + `x``a`", "`e` + `x``a`"),
            ("1 + 1", "1 + 1"),
        ] {
            assert_eq!(renamed(text, &renames), expected);
        }
    }
}
