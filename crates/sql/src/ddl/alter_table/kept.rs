//! What of a table an ALTER leaves as it is: its rows' bytes, its key, the meaning of its expressions.

use paceline_types::DataType;

use crate::catalog::{
    ColumnDefault, ColumnDefinition, TableDefinition, TableDescription, same_name, schema_of,
};
use crate::ddl::column_type::key_bytes;
use crate::error::Result;

/// Old and new names of the columns that get another, in backticks.
pub(super) fn renames(
    old: &TableDefinition,
    columns: &[ColumnDefinition],
    sources: &[Option<usize>],
) -> Vec<(String, String)> {
    renamed_columns(old, columns, sources)
        .iter()
        .filter(|(before, after)| !same_name(before, after))
        .map(|(before, after)| (quoted(before), quoted(after)))
        .collect()
}

/// Old and new names of the columns that get another.
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

/// A column's new name in the expressions that are kept as text.
pub(super) fn rename_in_expressions(
    old: &TableDefinition,
    description: &mut TableDescription,
    sources: &[Option<usize>],
) {
    let renames = renames(old, &description.columns, sources);
    if renames.is_empty() {
        return;
    }
    let rename = |text: &mut String| *text = renamed(text, &renames);
    for column in &mut description.columns {
        column.check.as_mut().map(rename);
        if let ColumnDefault::Expression(text) = &mut column.default {
            rename(text);
        }
        if let Some(generated) = &mut column.generated {
            rename(&mut generated.expression);
        }
    }
    description
        .checks
        .iter_mut()
        .for_each(|check| rename(&mut check.expression));
}

/// A kept text with the columns' new names. All in one pass: they may trade their names.
fn renamed(text: &str, renames: &[(String, String)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        match renames
            .iter()
            .find(|(before, _)| rest.starts_with(before.as_str()))
        {
            Some((before, after)) => {
                out.push_str(after);
                rest = &rest[before.len()..];
            }
            None => {
                out.push(character);
                rest = &rest[character.len_utf8()..];
            }
        }
    }
    out
}

fn quoted(name: &str) -> String {
    let mut out = String::new();
    crate::ddl::normal_form::quote_identifier(name, &mut out);
    out
}

/// Whether values of the old column are stored, compared and logged just as those of the new one.
pub(super) fn stored_alike(
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
    if old.nullable != new.nullable || remade {
        return false;
    }
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
        ) => {
            c == d
                && a.len() <= b.len()
                && a.iter().zip(b.iter()).all(|(a, b)| a == b)
                && key_bytes(&old.data_type) == key_bytes(&new.data_type)
        }
        _ => false,
    }
}

fn same_length_bytes(old: &DataType, new: &DataType) -> bool {
    let long = |data_type| key_bytes(data_type).is_some_and(|bytes| bytes > 255);
    long(old) == long(new)
}

/// Whether the rows live under the same key as before.
pub(super) fn clustered_stays(old: &TableDefinition, description: &TableDescription) -> Result<bool> {
    let schema = schema_of(description)?;
    Ok(schema.clustered_id() == old.schema().clustered_id())
}
