//! SHOW CREATE TABLE and SHOW CREATE DATABASE, byte for byte as in MariaDB 10.11 (`show_create_table`,
//! `sql/sql_show.cc`).

use std::fmt::{self, Write};

use paceline_types::{Charset, DataType, Value};

use super::normal_form::{quote_identifier, quote_text};
use super::table_options::is_engine_option;
use crate::foreign_key::write_constraint;
use crate::{
    ColumnDefault, ColumnDefinition, DatabaseDefinition, IndexDefinition, IndexKind, TableDefinition,
};
use paceline_expression::session::SqlMode;

/// Returns the statement that creates the table. `auto_increment_next` is the next value, which is shown if
/// it is above 1.
pub fn show_create_table(table: &TableDefinition, sql_mode: SqlMode, auto_increment_next: u64) -> String {
    let mut out = match table.is_temporary() {
        true => "CREATE TEMPORARY TABLE ".to_owned(),
        false => "CREATE TABLE ".to_owned(),
    };
    identifier(table.name(), sql_mode, &mut out);
    out.push_str(" (\n");
    for (n, column) in table.columns().iter().enumerate() {
        if n > 0 {
            out.push_str(",\n");
        }
        out.push_str("  ");
        write_column(table, n, column, sql_mode, &mut out);
    }
    for index in table.indexes() {
        out.push_str(",\n  ");
        write_index(table, index, sql_mode, &mut out);
    }
    for key in &table.foreign_keys {
        out.push_str(",\n  ");
        let quote = |name: &str, out: &mut String| identifier(name, sql_mode, out);
        write_constraint(table.database(), key, quote, &mut out);
    }
    for check in table.checks() {
        out.push_str(",\n  CONSTRAINT ");
        identifier(&check.name, sql_mode, &mut out);
        let _ = write!(out, " CHECK ({})", check.expression);
    }
    out.push_str("\n)");
    if !sql_mode.contains(SqlMode::NO_TABLE_OPTIONS) {
        write_options(table, sql_mode, auto_increment_next, &mut out);
    }
    out
}

/// Returns the statement that creates the database.
pub fn show_create_database(
    database: &DatabaseDefinition,
    if_not_exists: IfNotExists,
    sql_mode: SqlMode,
) -> String {
    let mut out = "CREATE DATABASE ".to_owned();
    if if_not_exists == IfNotExists::Shown {
        out.push_str("/*!32312 IF NOT EXISTS*/ ");
    }
    identifier(&database.name, sql_mode, &mut out);
    let charset = database.collation.charset().name();
    let _ = write!(out, " /*!40100 DEFAULT CHARACTER SET {charset}");
    let _ = write!(out, " COLLATE {} */", database.collation.name());
    if !database.comment.is_empty() {
        out.push_str(" COMMENT ");
        quote_text(&database.comment, &mut out);
    }
    out
}

/// Whether SHOW CREATE DATABASE has `IF NOT EXISTS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfNotExists {
    /// The statement shown contains it.
    Shown,
    /// The statement shown does not contain it.
    Omitted,
}

pub(super) fn identifier(name: &str, sql_mode: SqlMode, out: &mut String) {
    if sql_mode.contains(SqlMode::ANSI_QUOTES) {
        out.push('"');
        out.push_str(&name.replace('"', "\"\""));
        out.push('"');
    } else {
        quote_identifier(name, out);
    }
}

/// A column's type as it is shown.
#[derive(Debug, Clone, Copy)]
pub struct ShownType<'a> {
    /// The type.
    pub data_type: &'a DataType,
    /// `COMPRESSED`.
    pub compressed: bool,
}

impl fmt::Display for ShownType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let compressed = if self.compressed {
            " /*M!100301 COMPRESSED*/"
        } else {
            ""
        };
        write!(f, "{}{compressed}", self.data_type)
    }
}

fn write_column(
    table: &TableDefinition,
    n: usize,
    column: &ColumnDefinition,
    sql_mode: SqlMode,
    out: &mut String,
) {
    identifier(&column.name, sql_mode, out);
    let shown = ShownType {
        data_type: &column.data_type,
        compressed: column.compressed,
    };
    let _ = write!(out, " {shown}");
    let has_charset = column.data_type.is_text()
        || matches!(column.data_type, DataType::Enum { .. } | DataType::Set { .. });
    let collation = column.data_type.collation();
    if has_charset && !sql_mode.contains(SqlMode::NO_FIELD_OPTIONS) {
        let differs = collation != table.collation;
        // For JSON it is always shown.
        if differs || column.data_type == DataType::Json {
            let _ = write!(out, " CHARACTER SET {}", collation.charset().name());
        }
        if collation.charset() != Charset::Binary && (differs || column.data_type == DataType::Json) {
            let _ = write!(out, " COLLATE {}", collation.name());
        }
    }
    if let Some(generated) = &column.generated {
        let (expression, storage) = (&generated.expression, generated.storage.name());
        let _ = write!(out, " GENERATED ALWAYS AS ({expression}) {storage}");
    } else if !column.nullable {
        out.push_str(" NOT NULL");
    } else if matches!(column.data_type, DataType::Timestamp { .. }) {
        out.push_str(" NULL");
    }
    if column.invisible {
        out.push_str(" INVISIBLE");
    }
    write_default(table, n, column, out);
    match column.on_update {
        Some(0) => out.push_str(" ON UPDATE current_timestamp()"),
        Some(decimals) => {
            let _ = write!(out, " ON UPDATE current_timestamp({decimals})");
        }
        None => {}
    }
    if column.auto_increment && !sql_mode.contains(SqlMode::NO_FIELD_OPTIONS) {
        out.push_str(" AUTO_INCREMENT");
    }
    if !column.comment.is_empty() {
        out.push_str(" COMMENT ");
        quote_text(&column.comment, out);
    }
    if let Some(check) = &column.check {
        let _ = write!(out, " CHECK ({check})");
    }
}

fn write_default(table: &TableDefinition, n: usize, column: &ColumnDefinition, out: &mut String) {
    if column.auto_increment || column.generated.is_some() {
        return;
    }
    match &column.default {
        ColumnDefault::None => {}
        ColumnDefault::Null => out.push_str(" DEFAULT NULL"),
        ColumnDefault::CurrentTimestamp(0) => out.push_str(" DEFAULT current_timestamp()"),
        ColumnDefault::CurrentTimestamp(decimals) => {
            let _ = write!(out, " DEFAULT current_timestamp({decimals})");
        }
        ColumnDefault::Expression(text) => {
            let _ = write!(out, " DEFAULT {text}");
        }
        ColumnDefault::Literal(_) => {
            out.push_str(" DEFAULT ");
            let Some(value) = table.default_value(n) else {
                return;
            };
            write_literal(value, &column.data_type, out);
        }
    }
}

/// Appends a literal as SHOW CREATE TABLE shows a default.
pub(crate) fn write_literal(value: &Value, data_type: &DataType, out: &mut String) {
    use paceline_types::{TimeZone, text};
    match (value, data_type) {
        (Value::Bit(bits), _) => {
            let _ = write!(out, "b'{:b}'", bits.bits);
        }
        (Value::Bytes(bytes), DataType::Binary { length }) => {
            let mut bytes = bytes.clone();
            bytes.resize(usize::from(*length).max(bytes.len()), 0);
            write_bytes(&bytes, out);
        }
        (Value::Bytes(bytes), _) => write_bytes(bytes, out),
        (value, data_type) if data_type.is_numeric() => {
            let mut shown = Vec::new();
            text::append_column_value(&value.as_ref(), data_type, &TimeZone::UTC, &mut shown);
            out.push_str(&String::from_utf8_lossy(&shown));
        }
        (value, data_type) => {
            let mut shown = Vec::new();
            text::append_column_value(&value.as_ref(), data_type, &TimeZone::UTC, &mut shown);
            quote_text(&String::from_utf8_lossy(&shown), out);
        }
    }
}

fn write_bytes(bytes: &[u8], out: &mut String) {
    match std::str::from_utf8(bytes) {
        Ok(text) => quote_text(text, out),
        Err(_) => {
            out.push_str("0x");
            for byte in bytes {
                let _ = write!(out, "{byte:02x}");
            }
        }
    }
}

fn write_index(table: &TableDefinition, index: &IndexDefinition, sql_mode: SqlMode, out: &mut String) {
    match index.kind {
        IndexKind::Primary => out.push_str("PRIMARY KEY"),
        IndexKind::Unique => {
            out.push_str("UNIQUE KEY ");
            identifier(&index.name, sql_mode, out);
        }
        IndexKind::Plain => {
            out.push_str("KEY ");
            identifier(&index.name, sql_mode, out);
        }
    }
    out.push_str(" (");
    for (n, part) in index.parts.iter().enumerate() {
        if n > 0 {
            out.push(',');
        }
        identifier(&table.columns()[part.column].name, sql_mode, out);
        if let Some(length) = part.prefix_length {
            let _ = write!(out, "({length})");
        }
        if part.descending {
            out.push_str(" DESC");
        }
    }
    out.push(')');
    if sql_mode.contains(SqlMode::NO_KEY_OPTIONS) {
        return;
    }
    if let Some(algorithm) = &index.algorithm {
        let _ = write!(out, " USING {algorithm}");
    }
    if !index.comment.is_empty() {
        out.push_str(" COMMENT ");
        quote_text(&index.comment, out);
    }
    if index.ignored {
        out.push_str(" IGNORED");
    }
}

fn write_options(table: &TableDefinition, sql_mode: SqlMode, auto_increment_next: u64, out: &mut String) {
    // MySQL before 4.1 had no character sets, and called the engine a type.
    let is_old = sql_mode.contains(SqlMode::MYSQL323) || sql_mode.contains(SqlMode::MYSQL40);
    let _ = write!(
        out,
        " {}={}",
        if is_old { "TYPE" } else { "ENGINE" },
        table.engine.name()
    );
    if auto_increment_next > 1 {
        let _ = write!(out, " AUTO_INCREMENT={auto_increment_next}");
    }
    if table.is_sequence() {
        // Shown in place of the character set.
    } else if !is_old {
        let collation = table.collation;
        let _ = write!(out, " DEFAULT CHARSET={}", collation.charset().name());
        if collation.charset() != Charset::Binary {
            let _ = write!(out, " COLLATE={}", collation.name());
        }
    }
    const BEFORE_FORMAT: &[&str] = &[
        "MIN_ROWS",
        "MAX_ROWS",
        "AVG_ROW_LENGTH",
        "PACK_KEYS",
        "STATS_PERSISTENT",
        "STATS_AUTO_RECALC",
        "STATS_SAMPLE_PAGES",
        "CHECKSUM",
        "PAGE_CHECKSUM",
        "DELAY_KEY_WRITE",
    ];
    let option = |name: &str| {
        let found = table.options.iter().rev().find(|(known, _)| known == name)?;
        (found.1 != "0" || name.starts_with("STATS_") || name == "PACK_KEYS")
            .then_some(&found.1)
            .filter(|value| *value != "DEFAULT")
    };
    for name in BEFORE_FORMAT {
        if let Some(value) = option(name) {
            let _ = write!(out, " {name}={value}");
        }
    }
    if let Some(format) = &table.row_format {
        let _ = write!(out, " ROW_FORMAT={format}");
    }
    if table.is_sequence() {
        out.push_str(" SEQUENCE=1");
    }
    for name in ["TRANSACTIONAL", "KEY_BLOCK_SIZE"] {
        if let Some(value) = option(name) {
            let _ = write!(out, " {name}={value}");
        }
    }
    if !table.comment.is_empty() {
        out.push_str(" COMMENT=");
        quote_text(&table.comment, out);
    }
    // Options that the engine defines come last.
    out.push_str(&engine_options(&table.options));
}

/// Returns the options that the engine defines, each preceded by a space.
pub fn engine_options(options: &[(String, String)]) -> String {
    let mut out = String::new();
    for (name, value) in options.iter().filter(|(name, _)| is_engine_option(name)) {
        out.push(' ');
        quote_identifier(name, &mut out);
        out.push('=');
        quote_text(value, &mut out);
    }
    out
}
