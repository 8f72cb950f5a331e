//! The database `mysql`: tables that programs expect there. They are built in and have no records.
//!
//! Accounts are catalog records, not rows; the server computes `mysql.user`, `mysql.db` and `mysql.global_priv` from
//! them, and `mysql.gtid_slave_pos` from the log. This module defines the tables that can be written.

use paceline_types::{BlobSize, Collation, DataType};

use super::SYSTEM_DATABASE;
use super::definition::{
    ColumnDefault, ColumnDefinition, DatabaseDefinition, IndexDefinition, IndexKind, IndexPart,
    TableDescription, TableEngine,
};

/// First index number of these tables. All are below [`paceline_storage::IndexId::FIRST_USER`].
const FIRST_ID: u32 = 16;
/// Number of index numbers for each table.
const IDS_PER_TABLE: u32 = 8;

/// Returns the database.
pub(super) fn database() -> DatabaseDefinition {
    DatabaseDefinition {
        name: SYSTEM_DATABASE.into(),
        collation: Collation::Utf8mb4GeneralCi,
        comment: String::new(),
    }
}

/// Returns its tables.
pub(super) fn tables() -> Vec<TableDescription> {
    vec![
        table(
            0,
            "servers",
            "MySQL Foreign Servers table",
            &[
                ("Server_name", text(64), Some("")),
                ("Host", text(2048), Some("")),
                ("Db", text(64), Some("")),
                ("Username", text(80), Some("")),
                ("Password", text(64), Some("")),
                ("Port", integer(), Some("0")),
                ("Socket", text(64), Some("")),
                ("Wrapper", text(64), Some("")),
                ("Owner", text(512), Some("")),
                ("Options", DataType::Json, None),
            ],
        ),
        table(
            1,
            "plugin",
            "MySQL plugins",
            &[("name", text(64), Some("")), ("dl", text(128), Some(""))],
        ),
        table(
            2,
            "time_zone_name",
            "Time zone names",
            &[("Name", text(64), None), ("Time_zone_id", integer(), None)],
        ),
        table(
            3,
            "help_topic",
            "help topics",
            &[
                ("help_topic_id", integer(), None),
                ("name", text(64), None),
                ("help_category_id", integer(), None),
                ("description", long_text(), None),
                ("example", long_text(), None),
                ("url", text(512), None),
            ],
        ),
    ]
}

/// Returns whether a table of [`SYSTEM_DATABASE`] is one of these.
pub(crate) fn is_system_table(name: &str) -> bool {
    tables().iter().any(|table| table.name == name)
}

fn text(length: u32) -> DataType {
    DataType::VarChar {
        length,
        collation: Collation::Utf8mb4GeneralCi,
    }
}

fn long_text() -> DataType {
    DataType::Text {
        size: BlobSize::Normal,
        collation: Collation::Utf8mb4GeneralCi,
    }
}

fn integer() -> DataType {
    use paceline_types::{IntegerType, IntegerWidth, Sign};
    DataType::Integer(IntegerType::new(IntegerWidth::Int, Sign::Signed))
}

/// Creates a table whose first column is its primary key.
fn table(
    number: u32,
    name: &str,
    comment: &str,
    columns: &[(&str, DataType, Option<&str>)],
) -> TableDescription {
    let first = FIRST_ID + number * IDS_PER_TABLE;
    let columns = columns
        .iter()
        .map(|(name, data_type, default)| ColumnDefinition {
            name: (*name).into(),
            data_type: data_type.clone(),
            nullable: false,
            default: default.map_or(ColumnDefault::None, |text| {
                ColumnDefault::Literal(text.to_owned())
            }),
            on_update: None,
            auto_increment: false,
            invisible: false,
            compressed: false,
            comment: String::new(),
            check: None,
            generated: None,
        })
        .collect();
    TableDescription {
        database: SYSTEM_DATABASE.into(),
        name: name.into(),
        id: first,
        temporary: false,
        sequence: false,
        engine: TableEngine::InnoDb,
        collation: Collation::Utf8mb4GeneralCi,
        columns,
        foreign_keys: Vec::new(),
        indexes: vec![IndexDefinition {
            hashed: false,
            generated: false,
            id: first + 2,
            name: "PRIMARY".into(),
            kind: IndexKind::Primary,
            parts: vec![IndexPart {
                column: 0,
                prefix_length: None,
                descending: false,
            }],
            algorithm: None,
            comment: String::new(),
            ignored: false,
        }],
        hidden: [first, first + 1],
        checks: Vec::new(),
        auto_increment_start: 1,
        comment: comment.into(),
        row_format: None,
        options: Vec::new(),
        created_seconds: 0,
        earlier_rows: Vec::new(),
    }
}
