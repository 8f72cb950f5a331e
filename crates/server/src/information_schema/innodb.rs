//! `INNODB_SYS_…`: the catalog in the form of InnoDB's data dictionary. `mysql.innodb_table_stats` and
//! `mysql.innodb_index_stats`.
//!
//! This server has no pages. Sizes are in pages of 16 KiB that the bytes would fill. The tables about compressed pages,
//! tablespaces and full-text indexes are empty.

use super::sources::Sources;
use crate::cells::{Row, number, text};
use paceline_catalog::{
    ColumnDefinition, ForeignKey, GeneratedStorage, IndexDefinition, IndexKind, ReferentialAction,
    TableDescription, TableEngine,
};
use paceline_types::temporal::Timestamp;
use paceline_types::{Charset, Collation, DataType, Value};
use std::sync::Arc;

const PAGE_BYTES: u64 = 16_384;
/// Number of columns that InnoDB adds to each table: DB_ROW_ID, DB_TRX_ID, DB_ROLL_PTR.
const HIDDEN_COLUMNS: u64 = 3;
/// `FLAG` of a table with ROW_FORMAT=DYNAMIC.
const FLAG_DYNAMIC: i64 = 33;
const MERGE_THRESHOLD: i64 = 50;
const HIDDEN_INDEX: &str = "GEN_CLUST_INDEX";

/// Words that InnoDB's full-text indexes omit.
const STOPWORDS: [&str; 36] = [
    "a", "about", "an", "are", "as", "at", "be", "by", "com", "de", "en", "for", "from", "how", "i", "in",
    "is", "it", "la", "of", "on", "or", "that", "the", "this", "to", "was", "what", "when", "where", "who",
    "will", "with", "und", "the", "www",
];

fn tables(sources: &dyn Sources) -> Vec<Arc<TableDescription>> {
    let databases = sources.databases();
    let all = databases
        .iter()
        .flat_map(|database| sources.tables(&database.name, &|_| true));
    all.filter(|table| table.engine == TableEngine::InnoDb).collect()
}

/// Returns a name as it occurs in a file name: any character except an ASCII letter, digit or `_` becomes `@` and four
/// hexadecimal digits.
fn in_file_name(name: &str) -> String {
    let mut encoded = String::new();
    for unit in name.encode_utf16() {
        match char::from_u32(unit.into()).filter(|c| c.is_ascii_alphanumeric() || *c == '_') {
            Some(letter) => encoded.push(letter),
            None => encoded += &format!("@{unit:04x}"),
        }
    }
    encoded
}

fn qualified(database: &str, name: &str) -> String {
    format!("{}/{}", in_file_name(database), in_file_name(name))
}

fn is_virtual(column: &ColumnDefinition) -> bool {
    (column.generated.as_ref()).is_some_and(|generated| generated.storage == GeneratedStorage::Virtual)
}

fn pages(bytes: u64) -> u64 {
    bytes.div_ceil(PAGE_BYTES).max(1)
}

pub(super) fn sys_tables(sources: &dyn Sources) -> Vec<Row> {
    let row = |table: &Arc<TableDescription>| {
        let stored = table.columns.iter().filter(|column| !is_virtual(column)).count() as u64;
        vec![
            number(table.id.into()),
            text(qualified(&table.database, &table.name)),
            Value::Int(FLAG_DYNAMIC),
            number(stored + HIDDEN_COLUMNS),
            number(table.id.into()),
            text("Dynamic"),
            number(0),
            text("Single"),
        ]
    };
    tables(sources).iter().map(row).collect()
}

pub(super) fn sys_tablestats(sources: &dyn Sources) -> Vec<Row> {
    let row = |table: &Arc<TableDescription>| {
        let size = sources.table_size(table);
        let secondary = table.indexes.len().saturating_sub(1) as u64;
        vec![
            number(table.id.into()),
            text(qualified(&table.database, &table.name)),
            Value::Int(1),
            number(size.rows),
            number(pages(size.data_bytes)),
            number(size.index_bytes.div_ceil(PAGE_BYTES).max(secondary)),
            number(0),
            number(sources.auto_increment(table).unwrap_or(0)),
            Value::Int(0),
        ]
    };
    tables(sources).iter().map(row).collect()
}

/// Returns `TYPE` of INNODB_SYS_INDEXES: 1 is the clustered index and 2 a unique one; a primary key is both.
fn index_type(index: &IndexDefinition) -> i64 {
    match index.kind {
        IndexKind::Primary => 3,
        kind if kind.is_unique() => 2,
        _ => 0,
    }
}

pub(super) fn sys_indexes(sources: &dyn Sources) -> Vec<Row> {
    let mut rows = vec![];
    for table in tables(sources) {
        let mut add = |id: u32, name: &str, kind: i64, fields: usize| {
            rows.push(vec![
                number(id.into()),
                text(name),
                number(table.id.into()),
                Value::Int(kind),
                Value::Int(fields as i64),
                Value::Null,
                Value::Int(table.id.into()),
                Value::Int(MERGE_THRESHOLD),
            ]);
        };
        if !table.indexes.iter().any(|index| index.kind == IndexKind::Primary) {
            add(table.hidden[0], HIDDEN_INDEX, 1, 0);
        }
        for index in &table.indexes {
            add(index.id, &index.name, index_type(index), index.parts.len());
        }
    }
    rows
}

pub(super) fn sys_fields(sources: &dyn Sources) -> Vec<Row> {
    let mut rows = vec![];
    for table in tables(sources) {
        for index in &table.indexes {
            for (place, part) in index.parts.iter().enumerate() {
                let column = text(&*table.columns[part.column].name);
                rows.push(vec![number(index.id.into()), column, number(place as u64)]);
            }
        }
    }
    rows
}

/// Returns `MTYPE`, `PRTYPE` and `LEN` of a column: InnoDB's type; MariaDB's type with flags and collation; the maximum
/// length in bytes.
fn storage_type(column: &ColumnDefinition) -> (i64, i64, i64) {
    const NOT_NULL: i64 = 256;
    const UNSIGNED: i64 = 512;
    const BINARY: i64 = 1024;
    const LONG_VARCHAR: i64 = 4096;
    // InnoDB's type numbers.
    const FIXED_BINARY: i64 = 3;
    const INT: i64 = 6;
    let is_latin1 = |collation: &Collation| collation.charset().name() == "latin1";
    let bytes = |collation: &Collation, length: u32| {
        i64::from(length) * i64::from(collation.charset().max_bytes_per_character())
    };
    // Types that later got a fraction or a length have another number in MariaDB's tables than in result sets.
    let (kind, number, flags, length, collation) = match &column.data_type {
        DataType::Integer(integer) => {
            let number = i64::from(column.data_type.field_type() as u8);
            let sign = match column.data_type.is_unsigned() {
                true => UNSIGNED,
                false => 0,
            };
            (
                INT,
                number,
                sign | BINARY,
                integer.width.bytes() as i64,
                Collation::Binary,
            )
        }
        DataType::Float(_) => (9, 4, BINARY, 4, Collation::Binary),
        DataType::Double(_) => (10, 5, BINARY, 8, Collation::Binary),
        DataType::Decimal(decimal) => {
            let digits = |digits: i64| digits / 9 * 4 + [0, 1, 1, 2, 2, 3, 3, 4, 4][(digits % 9) as usize];
            let scale = i64::from(decimal.scale);
            let length = digits(i64::from(decimal.precision) - scale) + digits(scale);
            (FIXED_BINARY, 246, BINARY, length, Collation::Binary)
        }
        DataType::Bit { length } => {
            let length = i64::from(length.div_ceil(8));
            (FIXED_BINARY, 16, UNSIGNED | BINARY, length, Collation::Binary)
        }
        DataType::Char { length, collation } => {
            let kind = if is_latin1(collation) { 2 } else { 13 };
            (kind, 254, 0, bytes(collation, (*length).into()), *collation)
        }
        DataType::VarChar { length, collation } => {
            let kind = if is_latin1(collation) { 1 } else { 12 };
            let length = bytes(collation, *length);
            let flags = if length > 255 { LONG_VARCHAR } else { 0 };
            (kind, 15, flags, length, *collation)
        }
        DataType::Binary { length } => (FIXED_BINARY, 254, BINARY, (*length).into(), Collation::Binary),
        DataType::FixedBinary(t) => {
            let latin1 = Charset::Latin1.default_collation();
            (FIXED_BINARY, 254, UNSIGNED, t.bytes() as i64, latin1)
        }
        DataType::VarBinary { length } => {
            let flags = if *length > 255 { LONG_VARCHAR } else { 0 };
            (4, 15, flags | BINARY, (*length).into(), Collation::Binary)
        }
        DataType::Text { size, collation } => (5, 252, 0, size.length_bytes() as i64 + 8, *collation),
        DataType::Blob { size } => (5, 252, BINARY, size.length_bytes() as i64 + 8, Collation::Binary),
        DataType::Json => (5, 252, 0, 12, Collation::Utf8mb4Bin),
        DataType::Enum { collation, .. } => (INT, 254, UNSIGNED, 1, *collation),
        DataType::Set { collation, .. } => (INT, 254, UNSIGNED, 1, *collation),
        DataType::Date => (INT, 10, BINARY, 3, Collation::Binary),
        DataType::Year => (INT, 13, UNSIGNED | BINARY, 1, Collation::Binary),
        DataType::Time { decimals } => (
            FIXED_BINARY,
            11,
            BINARY,
            3 + fraction(*decimals),
            Collation::Binary,
        ),
        DataType::DateTime { decimals } => (
            FIXED_BINARY,
            12,
            BINARY,
            5 + fraction(*decimals),
            Collation::Binary,
        ),
        DataType::Timestamp { decimals } => (
            FIXED_BINARY,
            7,
            BINARY,
            4 + fraction(*decimals),
            Collation::Binary,
        ),
    };
    let not_null = if column.nullable { 0 } else { NOT_NULL };
    let collation = match collation {
        Collation::Binary if flags & BINARY != 0 && kind == INT => 0,
        Collation::Binary if kind == FIXED_BINARY && number != 254 => 0,
        Collation::Binary if matches!(kind, 9 | 10) => 0,
        other => i64::from(other.id()) << 16,
    };
    (kind, number | flags | not_null | collation, length)
}

/// Returns the number of bytes of a fraction of a second.
fn fraction(decimals: u8) -> i64 {
    i64::from(decimals.div_ceil(2))
}

pub(super) fn sys_columns(sources: &dyn Sources) -> Vec<Row> {
    let mut rows = vec![];
    for table in tables(sources) {
        let stored = table.columns.iter().filter(|column| !is_virtual(column));
        for (place, column) in stored.enumerate() {
            let (kind, precise, length) = storage_type(column);
            rows.push(vec![
                number(table.id.into()),
                text(&*column.name),
                number(place as u64),
                Value::Int(kind),
                Value::Int(precise),
                Value::Int(length),
            ]);
        }
    }
    rows
}

/// Returns `TYPE` of a foreign key: one bit for each of its actions.
fn actions(key: &ForeignKey) -> u64 {
    let bit = |action: ReferentialAction| match action {
        ReferentialAction::Restrict => 0,
        ReferentialAction::Cascade => 1,
        ReferentialAction::SetNull => 2,
        ReferentialAction::NoAction => 16,
    };
    let on_update = match bit(key.on_update) {
        16 => 32,
        bit => bit << 2,
    };
    bit(key.on_delete) | on_update
}

pub(super) fn sys_foreign(sources: &dyn Sources) -> Vec<Row> {
    let mut rows = vec![];
    for table in tables(sources) {
        for key in &table.foreign_keys {
            rows.push(vec![
                text(qualified(&table.database, &key.name)),
                text(qualified(&table.database, &table.name)),
                text(qualified(&key.referenced_database, &key.referenced_table)),
                number(key.columns.len() as u64),
                number(actions(key)),
            ]);
        }
    }
    rows
}

pub(super) fn sys_foreign_cols(sources: &dyn Sources) -> Vec<Row> {
    let mut rows = vec![];
    for table in tables(sources) {
        for key in &table.foreign_keys {
            let id = qualified(&table.database, &key.name);
            let columns = key.columns.iter().zip(&key.referenced_columns);
            for (place, (column, referenced)) in columns.enumerate() {
                rows.push(vec![
                    text(id.clone()),
                    text(&**column),
                    text(&**referenced),
                    number(place as u64),
                ]);
            }
        }
    }
    rows
}

pub(super) fn stopwords() -> Vec<Row> {
    STOPWORDS.iter().map(|word| vec![text(*word)]).collect()
}

/// Returns the only row of INNODB_BUFFER_POOL_STATS. It contains zeros: there is no buffer pool, and SHOW STATUS says
/// the same.
pub(super) fn buffer_pool_stats(columns: usize) -> Vec<Row> {
    vec![vec![number(0); columns]]
}

/// Returns the time of the statistics as a value.
fn now(seconds: i64) -> Value {
    Value::Timestamp(Timestamp::new(u32::try_from(seconds).unwrap_or(0), 0, 0))
}

/// Returns the tables with statistics in `mysql`: all except those with STATS_PERSISTENT=0.
fn persistent_tables(sources: &dyn Sources) -> Vec<Arc<TableDescription>> {
    let is_off = |(name, value): &(String, String)| name == "STATS_PERSISTENT" && value == "0";
    let mut tables = tables(sources);
    tables.retain(|table| !table.options.iter().any(is_off));
    tables
}

/// Returns the rows of `mysql.innodb_table_stats` as of `seconds` since 1970.
pub(crate) fn table_stats(sources: &dyn Sources, seconds: i64) -> Vec<Row> {
    let row = |table: &Arc<TableDescription>| {
        let size = sources.table_size(table);
        let secondary = table.indexes.len().saturating_sub(1) as u64;
        vec![
            text(&*table.database),
            text(&*table.name),
            now(seconds),
            number(size.rows),
            number(pages(size.data_bytes)),
            number(size.index_bytes.div_ceil(PAGE_BYTES).max(secondary)),
        ]
    };
    persistent_tables(sources).iter().map(row).collect()
}

/// Returns the rows of `mysql.innodb_index_stats` as of `seconds` since 1970.
pub(crate) fn index_stats(sources: &dyn Sources, seconds: i64) -> Vec<Row> {
    let mut rows = vec![];
    for table in persistent_tables(sources) {
        let size = sources.table_size(&table);
        let distinct = sources.distinct_prefixes(&table);
        let secondary = table.indexes.len().saturating_sub(1).max(1) as u64;
        let mut add = |index: &str, name: &str, value: u64, sample: Value, description: &str| {
            rows.push(vec![
                text(&*table.database),
                text(&*table.name),
                text(index),
                now(seconds),
                text(name),
                number(value),
                sample,
                text(description),
            ]);
        };
        let add_size = |add: &mut dyn FnMut(&str, &str, u64, Value, &str), index: &str, bytes: u64| {
            let leaves = pages(bytes);
            add(
                index,
                "n_leaf_pages",
                leaves,
                Value::Null,
                "Number of leaf pages in the index",
            );
            add(index, "size", leaves, Value::Null, "Number of pages in the index");
        };
        if !table.indexes.iter().any(|index| index.kind == IndexKind::Primary) {
            add(HIDDEN_INDEX, "n_diff_pfx01", size.rows, number(1), "DB_ROW_ID");
            add_size(&mut add, HIDDEN_INDEX, size.data_bytes);
        }
        for (index, values) in table.indexes.iter().zip(&distinct) {
            let names: Vec<&str> = index
                .parts
                .iter()
                .map(|part| &*table.columns[part.column].name)
                .collect();
            for (place, value) in values.iter().enumerate() {
                let name = format!("n_diff_pfx{:02}", place + 1);
                add(&index.name, &name, *value, number(1), &names[..=place].join(","));
            }
            let bytes = match index.kind {
                IndexKind::Primary => size.data_bytes,
                _ => size.index_bytes / secondary,
            };
            add_size(&mut add, &index.name, bytes);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_ascii() {
        assert_eq!(in_file_name("T_1"), "T_1");
        assert_eq!(in_file_name("a b"), "a@0020b");
        assert_eq!(in_file_name("é"), "@00e9");
    }

    #[test]
    fn actions_of_a_foreign_key_are_bits() {
        let mut key = ForeignKey {
            name: "fk".into(),
            columns: vec!["a".into()],
            referenced_database: "test".into(),
            referenced_table: "t".into(),
            referenced_columns: vec!["a".into()],
            on_delete: ReferentialAction::Restrict,
            on_update: ReferentialAction::Restrict,
        };
        assert_eq!(actions(&key), 0);
        key.on_delete = ReferentialAction::Cascade;
        key.on_update = ReferentialAction::SetNull;
        assert_eq!(actions(&key), 9);
        key.on_update = ReferentialAction::NoAction;
        assert_eq!(actions(&key), 33);
    }
}
