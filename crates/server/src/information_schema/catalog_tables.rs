//! Tables about databases, tables, columns and indexes.

use std::sync::Arc;

use paceline_catalog::ddl::{engine_options, is_engine_option};
use paceline_catalog::{
    ColumnDefault, ColumnDefinition, IndexDefinition, IndexKind, TableDescription, TableEngine, literal_value,
};
use paceline_expression::session::{VirtualColumn, WantedRows};
use paceline_types::text::append_column_value;
use paceline_types::{DataType, TimeZone, Value};

use super::columns::table_names;
use super::database::{CATALOG, DATABASE};
use super::session_time;
use super::shown_column::ShownColumn;
use super::sources::{Sources, TableSize};
use super::wanted_databases::{DATABASE_COLUMNS, TABLE_COLUMNS, wanted_databases};
use crate::cells::{Row, number, number_or_null, text, text_or_null, yes_no};

const INFORMATION_SCHEMA_COLLATION: &str = "utf8mb3_general_ci";

fn for_each_table(sources: &dyn Sources, wanted: &WantedRows, mut take: impl FnMut(&Arc<TableDescription>)) {
    for database in wanted_databases(sources, wanted) {
        for table in sources.tables(&database.name, &|name| wanted.admits(&TABLE_COLUMNS, name)) {
            take(&table);
        }
    }
}

/// Returns a table's size if a column with the size is read, because it needs access to the table.
fn size(sources: &dyn Sources, wanted: &WantedRows, table: &TableDescription) -> TableSize {
    const COLUMNS: [&str; 4] = ["TABLE_ROWS", "AVG_ROW_LENGTH", "DATA_LENGTH", "INDEX_LENGTH"];
    match wanted.reads(&COLUMNS) {
        true => sources.table_size(table),
        false => TableSize::default(),
    }
}

pub(super) fn schemata(sources: &dyn Sources, wanted: &WantedRows) -> Vec<Row> {
    let row = |name: &str, charset: &str, collation: &str, comment: &str| {
        vec![
            text(CATALOG),
            text(name),
            text(charset),
            text(collation),
            Value::Null,
            text(comment),
        ]
    };
    let mut rows = vec![row(DATABASE, "utf8mb3", INFORMATION_SCHEMA_COLLATION, "")];
    rows.extend(wanted_databases(sources, wanted).iter().map(|database| {
        row(
            &database.name,
            database.collation.charset().name(),
            database.collation.name(),
            &database.comment,
        )
    }));
    rows
}

/// Name of the database whose virtual tables are not listed.
const MYSQL_DATABASE: &str = "mysql";

pub(super) fn tables(sources: &dyn Sources, wanted: &WantedRows) -> Vec<Row> {
    let own = wanted.admits(&DATABASE_COLUMNS, DATABASE);
    let names = table_names().filter(|name| own && wanted.admits(&TABLE_COLUMNS, name));
    let mut rows: Vec<Row> = names
        .map(|name| virtual_table(DATABASE, name, "SYSTEM VIEW", "MEMORY"))
        .collect();
    for database in wanted_databases(sources, wanted) {
        // The virtual tables of `mysql` can be read by name but are not listed, as `Sources::tables` says.
        if database.name == MYSQL_DATABASE {
            continue;
        }
        let tables = sources.virtual_tables(&database.name).iter();
        let admitted = tables.filter(|(name, _)| wanted.admits(&TABLE_COLUMNS, name));
        rows.extend(
            admitted.map(|(name, _)| virtual_table(&database.name, name, "BASE TABLE", "PERFORMANCE_SCHEMA")),
        );
    }
    for_each_table(sources, wanted, |table| {
        let size = size(sources, wanted, table);
        let is_memory = table.engine == TableEngine::Memory;
        rows.push(vec![
            text(CATALOG),
            text(&*table.database),
            text(&*table.name),
            text(if table.sequence { "SEQUENCE" } else { "BASE TABLE" }),
            text(table.engine.name()),
            number(if table.engine != TableEngine::InnoDb || table.sequence {
                10
            } else {
                11
            }),
            text(table.row_format.clone().map_or_else(
                || {
                    if is_memory || table.sequence {
                        "Fixed"
                    } else {
                        "Dynamic"
                    }
                    .to_owned()
                },
                capitalized,
            )),
            number(size.rows),
            number(size.data_bytes.checked_div(size.rows).unwrap_or(0)),
            number(size.data_bytes),
            number(0),
            number(size.index_bytes),
            number(0),
            number_or_null(match wanted.reads(&["AUTO_INCREMENT"]) {
                true => sources.auto_increment(table),
                false => None,
            }),
            session_time::of_seconds(sources, table.created_seconds),
            Value::Null,
            Value::Null,
            text(table.collation.name()),
            Value::Null,
            text(create_options(table)),
            text(&*table.comment),
            number(0),
            text("N"),
        ]);
    });
    rows
}

/// Returns the row of a virtual table.
fn virtual_table(database: &str, name: &str, kind: &str, engine: &str) -> Row {
    let mut row = vec![
        text(CATALOG),
        text(database),
        text(name),
        text(kind),
        text(engine),
        number(11),
        text("Fixed"),
    ];
    row.extend([
        Value::Null,
        number(0),
        number(0),
        number(0),
        number(0),
        number(0),
        Value::Null,
    ]);
    row.extend([
        Value::Null,
        Value::Null,
        Value::Null,
        text(INFORMATION_SCHEMA_COLLATION),
        Value::Null,
        text(""),
        text(""),
    ]);
    row.extend([number(0), text("Y")]);
    row
}

fn create_options(table: &TableDescription) -> String {
    let row_format = table
        .row_format
        .iter()
        .map(|format| format!("row_format={format}"));
    let of_engine = engine_options(&table.options);
    let options = table
        .options
        .iter()
        .filter(|(name, _)| !is_engine_option(name))
        .map(|(name, value)| format!("{}={}", name.to_lowercase(), value));
    let of_engine = (!of_engine.is_empty()).then(|| of_engine[1..].to_owned());
    row_format
        .chain(options)
        .chain(of_engine)
        .collect::<Vec<_>>()
        .join(" ")
}

fn capitalized(word: String) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| {
        first
            .to_uppercase()
            .chain(letters.flat_map(char::to_lowercase))
            .collect()
    })
}

/// Returns `PRI`, `UNI`, `MUL` or nothing: the strongest index that begins with the column. Without a primary key, it
/// is replaced by the first unique key whose columns are NOT NULL and not prefixes, as in MariaDB
/// (`TABLE_SHARE::init_from_binary_frm_image`).
pub(crate) fn column_key(table: &TableDescription, column: usize) -> &'static str {
    let is_whole = |index: &&IndexDefinition| {
        let mut parts = index.parts.iter();
        !index.hashed
            && parts.all(|part| part.prefix_length.is_none() && !table.columns[part.column].nullable)
    };
    let mut indexes = table.indexes.iter();
    let primary = indexes
        .find(|index| index.kind == IndexKind::Primary)
        .or_else(|| {
            let mut unique = table
                .indexes
                .iter()
                .filter(|index| index.kind == IndexKind::Unique);
            unique.find(is_whole)
        });
    if primary.is_some_and(|index| index.parts.iter().any(|part| part.column == column)) {
        return "PRI";
    }
    let mut first = table
        .indexes
        .iter()
        .filter(|index| index.parts.first().is_some_and(|part| part.column == column));
    match first
        .clone()
        .find(|index| index.kind == IndexKind::Unique && index.parts.len() == 1)
    {
        Some(_) => "UNI",
        None if first.next().is_some() => "MUL",
        None => "",
    }
}

/// Returns the default as MariaDB writes it: a literal in quotes; a number or an expression without quotes; `NULL` as a
/// word.
pub(crate) fn column_default(column: &ColumnDefinition) -> Option<String> {
    match &column.default {
        ColumnDefault::None if column.nullable => Some("NULL".to_owned()),
        ColumnDefault::None => None,
        ColumnDefault::Null => Some("NULL".to_owned()),
        ColumnDefault::CurrentTimestamp(decimals) => Some(current_timestamp(*decimals)),
        ColumnDefault::Expression(expression) => Some(expression.clone()),
        ColumnDefault::Literal(literal) => Some(match &column.data_type {
            DataType::Bit { .. } => format!("b'{:b}'", literal.parse::<u64>().unwrap_or(0)),
            DataType::Year => literal.clone(),
            // With the digits of the column: `00005`, `1.50`.
            data_type if data_type.is_numeric() => {
                let mut shown = Vec::new();
                let value = literal_value(column, literal);
                append_column_value(&value.as_ref(), data_type, &TimeZone::UTC, &mut shown);
                String::from_utf8_lossy(&shown).into_owned()
            }
            _ => format!("'{}'", literal.replace('\'', "''")),
        }),
    }
}

fn current_timestamp(decimals: u8) -> String {
    if decimals == 0 {
        "current_timestamp()".to_owned()
    } else {
        format!("current_timestamp({decimals})")
    }
}

/// Returns `auto_increment`, `on update current_timestamp()` and `INVISIBLE`, as applicable.
pub(crate) fn column_extra(column: &ColumnDefinition) -> String {
    let mut extra = Vec::new();
    if column.auto_increment {
        extra.push("auto_increment".to_owned());
    }
    if let Some(decimals) = column.on_update {
        extra.push(format!("on update {}", current_timestamp(decimals)));
    }
    if let Some(generated) = &column.generated {
        extra.push(format!("{} GENERATED", generated.storage.name()));
    }
    if column.invisible {
        extra.push("INVISIBLE".to_owned());
    }
    extra.join(", ")
}

pub(super) fn columns(sources: &dyn Sources, wanted: &WantedRows) -> Vec<Row> {
    let mut rows = Vec::new();
    for_each_table(sources, wanted, |table| {
        let privileges = sources.column_privileges(&table.database, &table.name);
        rows.extend(table.columns.iter().enumerate().filter_map(|(offset, column)| {
            let privileges = privileges.of(&column.name)?;
            let shown = ShownColumn {
                database: &table.database,
                table: &table.name,
                name: &column.name,
                offset,
                data_type: &column.data_type,
                compressed: column.compressed,
                nullable: column.nullable,
                default: column_default(column),
                key: column_key(table, offset),
                extra: column_extra(column),
                privileges,
                comment: &column.comment,
                generated: column.generated.as_ref().map(|generated| &*generated.expression),
            };
            Some(shown.row())
        }));
    });
    for database in wanted_databases(sources, wanted) {
        rows.extend(virtual_columns(&database.name, sources, wanted));
    }
    rows.extend(own_columns(wanted));
    rows
}

/// Returns the columns of the virtual tables in a database.
fn virtual_columns(database: &str, sources: &dyn Sources, wanted: &WantedRows) -> Vec<Row> {
    let mut rows = Vec::new();
    for (table, columns) in sources.virtual_tables(database) {
        if !wanted.admits(&TABLE_COLUMNS, table) {
            continue;
        }
        let privileges = sources.column_privileges(database, table);
        rows.extend(columns.iter().enumerate().filter_map(|(offset, column)| {
            let is_now = column.default == Some("current_timestamp()");
            let shown = ShownColumn {
                default: column
                    .default
                    .or(column.ty.nullable.then_some("NULL"))
                    .map(ToOwned::to_owned),
                // The first TIMESTAMP of a table, as MariaDB declares it.
                extra: match is_now {
                    true => "on update current_timestamp()".to_owned(),
                    false => String::new(),
                },
                ..virtual_column(database, table, column, offset, privileges.of(&column.name)?)
            };
            Some(shown.row())
        }));
    }
    rows
}

/// Returns the columns of the tables of information_schema itself, which everybody may read.
fn own_columns(wanted: &WantedRows) -> Vec<Row> {
    let is_wanted =
        |table: &str| wanted.admits(&DATABASE_COLUMNS, DATABASE) && wanted.admits(&TABLE_COLUMNS, table);
    let tables = super::columns::tables().filter(|(table, _)| is_wanted(table));
    tables
        .flat_map(|(table, columns)| {
            let columns = columns.iter().enumerate();
            columns
                .map(move |(offset, column)| virtual_column(DATABASE, table, column, offset, "select").row())
        })
        .collect()
}

fn virtual_column<'a>(
    database: &'a str,
    table: &'a str,
    column: &'a VirtualColumn,
    offset: usize,
    privileges: &'a str,
) -> ShownColumn<'a> {
    ShownColumn {
        database,
        table,
        name: &column.name,
        offset,
        data_type: &column.ty.data_type,
        compressed: false,
        nullable: column.ty.nullable,
        default: None,
        key: "",
        extra: String::new(),
        privileges,
        comment: "",
        generated: None,
    }
}

pub(super) fn statistics(sources: &dyn Sources, wanted: &WantedRows) -> Vec<Row> {
    let mut rows = Vec::new();
    for_each_table(sources, wanted, |table| {
        let distinct = match wanted.reads(&["CARDINALITY"]) {
            true => sources.distinct_prefixes(table),
            false => vec![],
        };
        for (place, index) in table.indexes.iter().enumerate() {
            for (number_in_index, part) in index.parts.iter().enumerate() {
                let column = &table.columns[part.column];
                let known = distinct.get(place).and_then(|index| index.get(number_in_index));
                let cardinality = known.copied().unwrap_or(0);
                rows.push(vec![
                    text(CATALOG),
                    text(&*table.database),
                    text(&*table.name),
                    Value::Int(i64::from(!index.kind.is_unique())),
                    text(&*table.database),
                    text(&*index.name),
                    number(number_in_index as u64 + 1),
                    text(&*column.name),
                    text(if part.descending { "D" } else { "A" }),
                    Value::Int(i64::try_from(cardinality).unwrap_or(i64::MAX)),
                    part.prefix_length
                        .map_or(Value::Null, |length| Value::Int(length.into())),
                    Value::Null,
                    text(if column.nullable { "YES" } else { "" }),
                    text(index.shown_type(table.engine)),
                    text(""),
                    text(&*index.comment),
                    yes_no(index.ignored),
                ]);
            }
        }
    });
    rows
}

pub(super) fn key_column_usage(sources: &dyn Sources, wanted: &WantedRows) -> Vec<Row> {
    let mut rows = Vec::new();
    for_each_table(sources, wanted, |table| {
        for index in table.indexes.iter().filter(|index| index.kind.is_unique()) {
            for (position, part) in index.parts.iter().enumerate() {
                rows.push(vec![
                    text(CATALOG),
                    text(&*table.database),
                    text(&*index.name),
                    text(CATALOG),
                    text(&*table.database),
                    text(&*table.name),
                    text(&*table.columns[part.column].name),
                    Value::Int(position as i64 + 1),
                    Value::Null,
                    Value::Null,
                    Value::Null,
                    Value::Null,
                ]);
            }
        }
        for key in &table.foreign_keys {
            let columns = key.columns.iter().zip(&key.referenced_columns);
            for (position, (column, referenced)) in (1..).zip(columns) {
                rows.push(vec![
                    text(CATALOG),
                    text(&*table.database),
                    text(&*key.name),
                    text(CATALOG),
                    text(&*table.database),
                    text(&*table.name),
                    text(&**column),
                    Value::Int(position),
                    Value::Int(position),
                    text(&*key.referenced_database),
                    text(&*key.referenced_table),
                    text(&**referenced),
                ]);
            }
        }
    });
    rows
}

/// Returns the rows of REFERENTIAL_CONSTRAINTS. The unique index that a foreign key refers to belongs to the other
/// table, which may be missing or hidden.
pub(super) fn referential_constraints(sources: &dyn Sources, wanted: &WantedRows) -> Vec<Row> {
    let mut rows = Vec::new();
    for_each_table(sources, wanted, |table| {
        for key in &table.foreign_keys {
            let others = sources.tables(&key.referenced_database, &|name| *name == *key.referenced_table);
            let parent = others.first();
            rows.push(vec![
                text(CATALOG),
                text(&*table.database),
                text(&*key.name),
                text(CATALOG),
                text(&*key.referenced_database),
                text_or_null(parent.and_then(|parent| key.parent_index(parent))),
                text("NONE"),
                text(key.on_update.name()),
                text(key.on_delete.name()),
                text(&*table.name),
                text(&*key.referenced_table),
            ]);
        }
    });
    rows
}

/// Returns the check constraints, those of columns first: name, level, expression.
fn checks(table: &TableDescription) -> impl Iterator<Item = (&str, &'static str, &str)> {
    let columns = table
        .columns
        .iter()
        .filter_map(|column| Some((&*column.name, "Column", column.check.as_deref()?)));
    columns.chain(
        table
            .checks
            .iter()
            .map(|check| (&*check.name, "Table", &*check.expression)),
    )
}

pub(super) fn table_constraints(sources: &dyn Sources, wanted: &WantedRows) -> Vec<Row> {
    let mut rows = Vec::new();
    for_each_table(sources, wanted, |table| {
        let mut push = |name: &str, kind: &str| {
            rows.push(vec![
                text(CATALOG),
                text(&*table.database),
                text(name),
                text(&*table.database),
                text(&*table.name),
                text(kind),
            ]);
        };
        for index in &table.indexes {
            match index.kind {
                IndexKind::Primary => push(&index.name, "PRIMARY KEY"),
                IndexKind::Unique => push(&index.name, "UNIQUE"),
                IndexKind::Plain => {}
            }
        }
        for (name, _, _) in checks(table) {
            push(name, "CHECK");
        }
        for key in &table.foreign_keys {
            push(&key.name, "FOREIGN KEY");
        }
    });
    rows
}

pub(super) fn check_constraints(sources: &dyn Sources, wanted: &WantedRows) -> Vec<Row> {
    let mut rows = Vec::new();
    for_each_table(sources, wanted, |table| {
        for (name, level, expression) in checks(table) {
            rows.push(vec![
                text(CATALOG),
                text(&*table.database),
                text(&*table.name),
                text(name),
                text(level),
                text(expression),
            ]);
        }
    });
    rows
}

/// Returns one row per table: tables are not partitioned.
pub(super) fn partitions(sources: &dyn Sources, wanted: &WantedRows) -> Vec<Row> {
    let mut rows = Vec::new();
    for_each_table(sources, wanted, |table| {
        let size = size(sources, wanted, table);
        let mut row = vec![text(CATALOG), text(&*table.database), text(&*table.name)];
        row.extend(std::iter::repeat_n(Value::Null, 9));
        row.extend([
            number(size.rows),
            number(size.data_bytes.checked_div(size.rows).unwrap_or(0)),
            number(size.data_bytes),
            Value::Null,
            number(size.index_bytes),
            number(0),
            session_time::of_seconds(sources, table.created_seconds),
            Value::Null,
            Value::Null,
            Value::Null,
            text(""),
            text(""),
            Value::Null,
        ]);
        rows.push(row);
    });
    rows
}
