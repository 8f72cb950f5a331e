//! Resolution of indexes: names, columns, order.

use paceline_types::error_code::*;
use paceline_types::{BlobSize, Charset, DataType};

use crate::column_type::key_bytes;
use crate::error::{Error, Result};
use crate::{ColumnDefinition, IndexDefinition, IndexKind, IndexPart, TableDescription, same_name};
use paceline_expression::session::SessionContext;
use paceline_syntax::definition::{ColumnSpec, IndexKind as SpecKind, IndexSpec};

/// Name of the primary key.
pub const PRIMARY: &str = "PRIMARY";

/// Stands for the number of an index that has none yet.
pub(crate) const NO_NUMBER: u32 = 0;

/// Maximum length of a key, and of a part of one, in bytes.
const KEY_BYTES_MAX: u64 = 3072;
/// Maximum number of indexes of a table.
const INDEXES_MAX: usize = 64;
/// Maximum number of columns of an index.
const PARTS_MAX: usize = 32;

/// An index without a number.
#[derive(Debug, Clone)]
pub struct DraftIndex {
    /// Existing number, in ALTER TABLE.
    pub id: Option<u32>,
    /// Kind of the index.
    pub kind: IndexKind,
    /// Name, unless it is to be generated.
    pub name: Option<String>,
    /// Columns: name, prefix length as written, whether descending.
    pub parts: Vec<(String, Option<u64>, bool)>,
    /// `USING`.
    pub algorithm: Option<String>,
    /// Comment of the definition.
    pub comment: String,
    /// `IGNORED`.
    pub ignored: bool,
    /// Created for a foreign key, and dropped when another index can replace it.
    pub generated: bool,
    /// Existing index of the table: no note if it duplicates another one.
    pub is_known: bool,
    /// Whether the keys of the existing index are hashes.
    pub was_hashed: bool,
}

impl DraftIndex {
    /// Creates an index as written.
    ///
    /// # Errors
    /// 1235 for FULLTEXT, SPATIAL and VECTOR; 1280, 1688.
    pub fn new(spec: &IndexSpec) -> Result<Self> {
        let kind = match spec.kind {
            SpecKind::Primary => IndexKind::Primary,
            SpecKind::Unique => IndexKind::Unique,
            SpecKind::Plain => IndexKind::Plain,
            SpecKind::FullText => return Err(Error::unsupported("FULLTEXT indexes")),
            SpecKind::Spatial => return Err(Error::unsupported("SPATIAL indexes")),
            SpecKind::Vector => return Err(Error::unsupported("VECTOR indexes")),
        };
        if let Some(name) = &spec.name
            && kind != IndexKind::Primary
            && (name.eq_ignore_ascii_case(PRIMARY) || name.is_empty() || name.ends_with(' '))
        {
            return Err(Error::new(ER_WRONG_NAME_FOR_INDEX, &[name]));
        }
        let comment = spec.comment.clone().unwrap_or_default();
        Ok(Self {
            id: None,
            kind,
            name: spec.name.clone(),
            parts: spec
                .parts
                .iter()
                .map(|part| (part.column.clone(), part.length, part.descending))
                .collect(),
            algorithm: spec.algorithm.clone(),
            comment,
            ignored: spec.ignored,
            generated: false,
            is_known: false,
            was_hashed: false,
        })
    }

    /// Returns the index of a column's definition. A column with both `PRIMARY KEY` and `UNIQUE` (as `SERIAL PRIMARY
    /// KEY` has) gets the primary key alone.
    pub fn of_column(spec: &ColumnSpec) -> Option<Self> {
        let kind = match (spec.primary_key, spec.unique) {
            (true, _) => IndexKind::Primary,
            (false, true) => IndexKind::Unique,
            (false, false) => return None,
        };
        Some(Self {
            id: None,
            kind,
            name: None,
            parts: vec![(spec.name.clone(), None, false)],
            algorithm: None,
            comment: String::new(),
            ignored: false,
            generated: false,
            is_known: false,
            was_hashed: false,
        })
    }

    /// Returns an existing index, to be changed.
    pub(crate) fn of_existing(index: &IndexDefinition, table: &TableDescription) -> Self {
        let columns = &table.columns;
        Self {
            id: Some(index.id),
            kind: index.kind,
            name: Some(index.name.clone()),
            parts: index
                .parts
                .iter()
                .map(|part| {
                    (
                        columns[part.column].name.clone(),
                        part.prefix_length.map(u64::from),
                        part.descending,
                    )
                })
                .collect(),
            // Whether the new index needs hashes is decided again.
            algorithm: index
                .algorithm
                .clone()
                .filter(|_| !index.is_long_hash(table.engine)),
            comment: index.comment.clone(),
            ignored: index.ignored,
            generated: index.generated,
            is_known: true,
            was_hashed: index.hashed,
        }
    }
}

/// Resolves the indexes of a table and returns them in MariaDB's order. Those without a number get
/// [`NO_NUMBER`]. Columns of a primary key become NOT NULL, even if they are declared NULL.
///
/// # Errors
/// 1061, 1068, 1069, 1070, 1071, 1072, 1060, 1089, 1170, 1391, 1235.
pub(crate) fn resolve_indexes(
    drafts: Vec<DraftIndex>,
    columns: &mut [ColumnDefinition],
    session: &mut SessionContext,
) -> Result<Vec<IndexDefinition>> {
    if drafts
        .iter()
        .filter(|draft| draft.kind == IndexKind::Primary)
        .count()
        > 1
    {
        return Err(Error::new(ER_MULTIPLE_PRI_KEY, &[]));
    }
    if drafts.len() > INDEXES_MAX {
        return Err(Error::new(ER_TOO_MANY_KEYS, &[&INDEXES_MAX]));
    }
    // MariaDB finds an unknown column before it compares names.
    for (name, ..) in drafts.iter().flat_map(|draft| &draft.parts) {
        if !columns.iter().any(|column| same_name(&column.name, name)) {
            return Err(Error::new(ER_KEY_COLUMN_DOES_NOT_EXIST, &[name]));
        }
    }
    let mut taken: Vec<String> = Vec::new();
    for draft in drafts.iter().filter(|draft| draft.kind != IndexKind::Primary) {
        if let Some(name) = &draft.name {
            if taken.iter().any(|other| same_name(other, name)) {
                return Err(Error::new(ER_DUP_KEYNAME, &[name]));
            }
            taken.push(name.clone());
        }
    }
    let mut indexes = Vec::with_capacity(drafts.len());
    let mut known = Vec::new();
    for draft in drafts {
        let (parts, form) = resolve_parts(&draft, columns, session)?;
        let hashed = form == KeyForm::Hash;
        let id = draft.id.filter(|_| draft.was_hashed == hashed);
        let name = match (draft.kind, draft.name) {
            (IndexKind::Primary, _) => PRIMARY.to_owned(),
            (_, Some(name)) => name,
            (_, None) => {
                let name = unused_name(&columns[parts[0].column].name, &taken);
                taken.push(name.clone());
                name
            }
        };
        if draft.is_known {
            known.push(name.clone());
        }
        indexes.push(IndexDefinition {
            id: id.unwrap_or(NO_NUMBER),
            name,
            kind: draft.kind,
            parts,
            algorithm: match form {
                KeyForm::Hash => Some("HASH".to_owned()),
                KeyForm::Values => draft.algorithm,
            },
            comment: draft.comment,
            hashed,
            ignored: draft.ignored,
            generated: draft.generated,
        });
    }
    sort_indexes(&mut indexes, columns);
    note_duplicates(&indexes, &known, session);
    Ok(indexes)
}

/// Adds a note for each new index on exactly the columns of another one.
fn note_duplicates(indexes: &[IndexDefinition], known: &[String], session: &mut SessionContext) {
    for (n, index) in indexes.iter().enumerate() {
        let same = |other: &IndexDefinition| other.kind == index.kind && other.parts == index.parts;
        if !known.contains(&index.name) && indexes[..n].iter().any(same) {
            session
                .diagnostics
                .note(ER_DUP_INDEX, ER_DUP_INDEX.message(&[&index.name]));
        }
    }
}

/// Contents of an index's keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeyForm {
    Values,
    /// A hash of the values: for a unique index whose values exceed the length of a key.
    Hash,
}

fn resolve_parts(
    draft: &DraftIndex,
    columns: &mut [ColumnDefinition],
    session: &mut SessionContext,
) -> Result<(Vec<IndexPart>, KeyForm)> {
    if draft.parts.len() > PARTS_MAX {
        return Err(Error::new(ER_TOO_MANY_KEY_PARTS, &[&PARTS_MAX]));
    }
    let mut parts: Vec<IndexPart> = Vec::with_capacity(draft.parts.len());
    let mut key_length: u64 = 0;
    let may_hash = draft.kind == IndexKind::Unique && draft.algorithm.as_deref() != Some("BTREE");
    for (name, length, descending) in &draft.parts {
        let Some(number) = columns.iter().position(|column| same_name(&column.name, name)) else {
            return Err(Error::new(ER_KEY_COLUMN_DOES_NOT_EXIST, &[name]));
        };
        if parts.iter().any(|part| part.column == number) {
            return Err(Error::new(ER_DUP_FIELDNAME, &[name]));
        }
        if columns[number].compressed {
            return Err(Error::new(
                ER_COMPRESSED_COLUMN_USED_AS_KEY,
                &[&columns[number].name],
            ));
        }
        if draft.kind == IndexKind::Primary && columns[number].nullable {
            let column = &mut columns[number];
            column.nullable = false;
            if column.default == crate::ColumnDefault::Null {
                column.default = crate::ColumnDefault::None;
            }
        }
        let (prefix_length, bytes) = resolve_prefix(&columns[number], *length, draft.kind, session)?;
        if bytes > KEY_BYTES_MAX && !may_hash {
            return Err(Error::new(ER_TOO_LONG_KEY, &[&KEY_BYTES_MAX]));
        }
        key_length = key_length.saturating_add(bytes);
        parts.push(IndexPart {
            column: number,
            prefix_length,
            // A hash has no order.
            descending: *descending && draft.algorithm.as_deref() != Some("HASH"),
        });
    }
    match key_length > KEY_BYTES_MAX {
        false => Ok((parts, KeyForm::Values)),
        true if may_hash => Ok((parts, KeyForm::Hash)),
        true => Err(Error::new(ER_TOO_LONG_KEY, &[&KEY_BYTES_MAX])),
    }
}

/// Returns the prefix of a column in an index, and its length in bytes.
fn resolve_prefix(
    column: &ColumnDefinition,
    length: Option<u64>,
    kind: IndexKind,
    session: &mut SessionContext,
) -> Result<(Option<u32>, u64)> {
    let data_type = &column.data_type;
    let per_character = match data_type.charset() {
        _ if !data_type.is_text() => 1,
        Charset::Binary => 1,
        charset => u64::from(charset.max_bytes_per_character()),
    };
    let is_string = data_type.is_text() || data_type.is_binary_string();
    if length == Some(0) {
        return Err(Error::new(ER_KEY_PART_0, &[&column.name]));
    }
    let whole = key_bytes(data_type);
    let (mut prefix, mut bytes) = match (length, whole) {
        // The longest prefix that a key can hold, with a note.
        (None, None) if kind == IndexKind::Plain => match data_type {
            DataType::Text { size, .. } | DataType::Blob { size } if *size == BlobSize::Tiny => {
                (Some(255), 255 * per_character)
            }
            _ => (None, u64::MAX),
        },
        (None, None) if kind == IndexKind::Unique => (None, u64::MAX),
        (None, None) => return Err(Error::new(ER_BLOB_KEY_WITHOUT_LENGTH, &[&column.name])),
        (None, Some(bytes)) => (None, bytes),
        (Some(_), _) if !is_string => return Err(Error::new(ER_WRONG_SUB_KEY, &[])),
        (Some(length), None) => {
            // At most as many characters as the type has bytes.
            let length = longest_prefix(data_type).map_or(length, |longest| length.min(longest));
            (Some(length), length.saturating_mul(per_character))
        }
        (Some(length), Some(whole)) => {
            let bytes = length.saturating_mul(per_character);
            if bytes > whole {
                return Err(Error::new(ER_WRONG_SUB_KEY, &[]));
            }
            if bytes == whole {
                (None, whole)
            } else {
                (Some(length), bytes)
            }
        }
    };
    if bytes > KEY_BYTES_MAX && kind == IndexKind::Plain {
        let message = ER_TOO_LONG_KEY.message(&[&KEY_BYTES_MAX]);
        session.diagnostics.note(ER_TOO_LONG_KEY, message);
        prefix = Some(KEY_BYTES_MAX / per_character);
        bytes = KEY_BYTES_MAX;
    }
    Ok((prefix.map(|prefix| prefix as u32), bytes))
}

/// Returns the longest possible prefix of a column in characters: for TEXT and BLOB, the maximum number of
/// bytes of the type. `None` if the type has no prefixes.
pub(super) fn longest_prefix(data_type: &DataType) -> Option<u64> {
    match data_type {
        DataType::Text { size, .. } | DataType::Blob { size } => Some(size.max_bytes()),
        data_type if data_type.is_text() || data_type.is_binary_string() => data_type.max_characters(),
        _ => None,
    }
}

/// Returns the first of `column`, `column_2`, `column_3` … that is not the name of an index.
fn unused_name(column: &str, taken: &[String]) -> String {
    let is_free = |name: &str| !taken.iter().any(|other| same_name(other, name));
    if is_free(column) && !column.eq_ignore_ascii_case(PRIMARY) {
        return column.to_owned();
    }
    (2..)
        .map(|number| format!("{column}_{number}"))
        .find(|name| is_free(name))
        .expect("some number is free")
}

/// Sorts indexes in MariaDB's order (`sort_keys`, `sql/sql_table.cc`): the primary key, unique indexes
/// without nullable columns, unique indexes with nullable columns, the rest. Among unique indexes, those with
/// prefixes follow the others, and hash indexes come last.
pub(crate) fn sort_indexes(indexes: &mut [IndexDefinition], columns: &[ColumnDefinition]) {
    indexes.sort_by_key(|index| {
        let nullable = index.parts.iter().any(|part| columns[part.column].nullable);
        let prefixed = index.parts.iter().any(|part| part.prefix_length.is_some());
        match index.kind {
            IndexKind::Primary => (0, false, false, false),
            IndexKind::Unique => (1, index.hashed, nullable, prefixed),
            IndexKind::Plain => (2, false, false, false),
        }
    });
}

/// Checks that there is at most one AUTO_INCREMENT column, and that it is the first column of an index.
///
/// # Errors
/// 1075.
pub(crate) fn check_auto_increment(columns: &[ColumnDefinition], indexes: &[IndexDefinition]) -> Result<()> {
    let mut counting = columns
        .iter()
        .enumerate()
        .filter(|(_, column)| column.auto_increment);
    let Some((column, _)) = counting.next() else {
        return Ok(());
    };
    let leads = indexes.iter().any(|index| index.parts[0].column == column);
    if counting.next().is_some() || !leads {
        return Err(Error::new(ER_WRONG_AUTO_KEY, &[]));
    }
    Ok(())
}
