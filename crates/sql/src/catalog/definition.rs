//! What a database, a table, a column and an index are.

use paceline_types::{Collation, DataType};
use serde::{Deserialize, Serialize};

/// A database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatabaseDefinition {
    /// Its name, as created: names of databases and tables are case sensitive.
    pub name: String,
    /// The collation of tables that name none.
    pub collation: Collation,
    /// Its comment.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub comment: String,
}

/// The engine of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TableEngine {
    /// The transactional engine on disk: RocksDB. Shown and logged as MariaDB's `InnoDB`.
    InnoDb,
    /// The transactional engine in memory, empty after a restart.
    Memory,
}

impl TableEngine {
    /// The name that is shown and logged.
    pub const fn name(self) -> &'static str {
        match self {
            TableEngine::InnoDb => "InnoDB",
            TableEngine::Memory => "MEMORY",
        }
    }
}

/// A table as its record in the catalog holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableDescription {
    /// Its database.
    pub database: String,
    /// Its name.
    pub name: String,
    /// Its number, which it keeps as long as it lives, under whatever name and however often it is rebuilt. It is taken from those
    /// of indexes.
    pub id: u32,
    /// Whether it is one session's, and in no record: see [`TemporaryTables`](super::TemporaryTables).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub temporary: bool,
    /// Its engine, as it is shown.
    pub engine: TableEngine,
    /// The collation of columns that name none.
    pub collation: Collation,
    /// Its columns, in order.
    pub columns: Vec<ColumnDefinition>,
    /// Its indexes in MariaDB's order: the primary key, unique ones without nullable columns, other unique ones, the rest.
    pub indexes: Vec<IndexDefinition>,
    /// The numbers of the hidden indexes: rows by their hidden id, and ids by the hash of the row. In use only while the table has
    /// no key to live under.
    pub hidden: [u32; 2],
    /// Check constraints.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckConstraint>,
    /// Foreign keys, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign_keys: Vec<ForeignKey>,
    /// The first AUTO_INCREMENT value that the statement asked for; 1 if it asked for none.
    pub auto_increment_start: u64,
    /// Its comment.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub comment: String,
    /// `ROW_FORMAT`, in capitals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_format: Option<String>,
    /// Options that are shown only: name in capitals, and value as shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<(String, String)>,
    /// When it was made: seconds since 1970. The time of the statement, so that it is the same at replay.
    pub created_seconds: i64,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnDefinition {
    /// Its name as created; names of columns compare without case.
    pub name: String,
    /// Its type.
    pub data_type: DataType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// Its default.
    pub default: ColumnDefault,
    /// `ON UPDATE CURRENT_TIMESTAMP(n)`: its n.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_update: Option<u8>,
    /// `AUTO_INCREMENT`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub auto_increment: bool,
    /// `INVISIBLE`: not in `*`, and not in an INSERT without columns.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub invisible: bool,
    /// `COMPRESSED`: shown only, and keeps the column out of keys, as in MariaDB.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub compressed: bool,
    /// Its comment.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub comment: String,
    /// The check constraint written with the column: an expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// `GENERATED ALWAYS AS`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generated: Option<GeneratedColumn>,
}

/// How a column's values are made from the others of its row.
///
/// They are kept with the row in either form, as they are in the log: a VIRTUAL column differs in name only. So its expression must depend
/// on nothing but the row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GeneratedColumn {
    /// The expression in MariaDB's normal form.
    pub expression: String,
    /// What it is called.
    pub storage: GeneratedStorage,
}

/// What a generated column is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum GeneratedStorage {
    /// `VIRTUAL`.
    Virtual,
    /// `STORED`, `PERSISTENT`.
    Stored,
}

impl GeneratedStorage {
    /// The word.
    pub const fn name(self) -> &'static str {
        match self {
            GeneratedStorage::Virtual => "VIRTUAL",
            GeneratedStorage::Stored => "STORED",
        }
    }
}

/// What a column is when an INSERT does not name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ColumnDefault {
    /// There is none: 1364 in strict mode, otherwise the type's zero.
    None,
    /// NULL.
    Null,
    /// A literal, already of the column's type, in the form of [`paceline_types::text`]; for BIT a number, for binary
    /// strings the bytes as Latin-1.
    Literal(String),
    /// `CURRENT_TIMESTAMP(n)`: its n.
    CurrentTimestamp(u8),
    /// An expression: its text in MariaDB's normal form.
    Expression(String),
}

/// An index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexDefinition {
    /// Its number, [`paceline_storage::IndexId`]; bit 31 set means the memory engine.
    pub id: u32,
    /// Its name; `PRIMARY` for the primary key. Names of indexes compare without case.
    pub name: String,
    /// What kind.
    pub kind: IndexKind,
    /// Its columns.
    pub parts: Vec<IndexPart>,
    /// `USING BTREE` or `USING HASH`, where it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<String>,
    /// Its comment.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub comment: String,
    /// A unique index on more than a key holds (TEXT without a prefix, long VARCHARs): its keys are hashes of the values, of no use to
    /// queries.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hashed: bool,
    /// `IGNORED`: kept, but not used by queries.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ignored: bool,
    /// Made for a foreign key alone: it goes when another index serves as well.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub generated: bool,
}

/// What kind of index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum IndexKind {
    /// The primary key.
    Primary,
    /// Unique.
    Unique,
    /// Neither.
    Plain,
}

impl IndexKind {
    /// Whether values are unique (of a unique index: those without NULL).
    pub const fn is_unique(self) -> bool {
        matches!(self, IndexKind::Primary | IndexKind::Unique)
    }
}

/// A column of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexPart {
    /// The column's offset in the table.
    pub column: usize,
    /// The prefix, if not the whole column: characters, or bytes of a binary string.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix_length: Option<u32>,
    /// `DESC`: shown, and stored ascending (indexes are read in both directions).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub descending: bool,
}

/// A check constraint of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckConstraint {
    /// Its name.
    pub name: String,
    /// The expression in MariaDB's normal form.
    pub expression: String,
}

/// A foreign key. Columns are named, not numbered: those of the other table may not be there yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignKey {
    /// Its name, of which its database has only one.
    pub name: String,
    /// The columns of the table that has it.
    pub columns: Vec<String>,
    /// The database of the table that it refers to.
    pub referenced_database: String,
    /// The table that it refers to.
    pub referenced_table: String,
    /// The columns there, as many.
    pub referenced_columns: Vec<String>,
    /// What becomes of the rows when the row that they refer to goes.
    #[serde(default, skip_serializing_if = "ReferentialAction::is_restrict")]
    pub on_delete: ReferentialAction,
    /// What becomes of them when its key changes.
    #[serde(default, skip_serializing_if = "ReferentialAction::is_restrict")]
    pub on_update: ReferentialAction,
}

/// What becomes of rows that refer to a row that goes, or whose key changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum ReferentialAction {
    /// `RESTRICT`: the change is refused. `SET DEFAULT` is the same, as in InnoDB.
    #[default]
    Restrict,
    /// `NO ACTION`: the same by another name.
    NoAction,
    /// `CASCADE`: they go too, or change too.
    Cascade,
    /// `SET NULL`: they refer to nothing any more.
    SetNull,
}

impl ReferentialAction {
    /// As it is written.
    pub const fn name(self) -> &'static str {
        match self {
            ReferentialAction::Restrict => "RESTRICT",
            ReferentialAction::NoAction => "NO ACTION",
            ReferentialAction::Cascade => "CASCADE",
            ReferentialAction::SetNull => "SET NULL",
        }
    }

    /// Whether rows are changed.
    pub const fn is_action(self) -> bool {
        matches!(self, ReferentialAction::Cascade | ReferentialAction::SetNull)
    }

    fn is_restrict(&self) -> bool {
        *self == ReferentialAction::Restrict
    }
}
