//! Descriptions of databases, tables, columns and indexes.

// A field whose name says all needs no comment.
#![allow(missing_docs)]

use paceline_storage::{AddedEngine, EngineKind, engine_types};
use paceline_syntax::definition::ReferentialAction;
use paceline_types::row_conversion::ColumnOrigin;
use paceline_types::{Collation, DataType, Version};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatabaseDefinition {
    /// Name with its original spelling: names of databases and tables are case-sensitive.
    pub name: String,
    /// Default collation of its tables.
    pub collation: Collation,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub comment: String,
}

/// Engine of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TableEngine {
    /// Transactional engine on disk: RocksDB. Its name in output and in the log is MariaDB's `InnoDB`.
    InnoDb,
    /// Transactional engine in memory, empty after a restart.
    Memory,
    /// Keeps nothing: rows are logged, and that is all.
    Blackhole,
    /// Engine that the program has added. Its name is stored.
    Added(#[serde(with = "crate::added_engine")] AddedEngine),
}

impl TableEngine {
    /// Returns the engine with this name in output; `None` if this server does not have it.
    pub fn of_name(name: &str) -> Option<Self> {
        if name.eq_ignore_ascii_case("InnoDB") {
            return Some(TableEngine::InnoDb);
        }
        let named = engine_types().find(|(_, engine)| engine.name().eq_ignore_ascii_case(name));
        named.and_then(|(kind, _)| match kind {
            EngineKind::Memory => Some(TableEngine::Memory),
            EngineKind::Blackhole => Some(TableEngine::Blackhole),
            EngineKind::Added(engine) => Some(TableEngine::Added(engine)),
            EngineKind::RocksDb | EngineKind::Temporary => None,
        })
    }

    /// Returns the name in output and in the log.
    pub fn name(self) -> &'static str {
        match self.kind().engine_type() {
            Some(engine_type) => engine_type.name(),
            None => "InnoDB",
        }
    }

    /// Returns the engine of the indexes of such tables. Those of temporary tables are in another one.
    pub fn kind(self) -> EngineKind {
        match self {
            TableEngine::InnoDb => EngineKind::RocksDb,
            TableEngine::Memory => EngineKind::Memory,
            TableEngine::Blackhole => EngineKind::Blackhole,
            TableEngine::Added(engine) => EngineKind::Added(engine),
        }
    }
}

/// A table in the form of its catalog record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableDescription {
    pub database: String,
    pub name: String,
    /// Id of the table. It does not change when the table is renamed or rebuilt. It is one of the index numbers.
    pub id: u32,
    /// Whether it is a temporary table of a session, without a record: see [`TemporaryTables`](super::TemporaryTables).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub temporary: bool,
    /// Whether it is a sequence: see [`sequence`](crate::sequence).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sequence: bool,
    /// Engine in the definition.
    pub engine: TableEngine,
    /// Default collation of its columns.
    pub collation: Collation,
    /// Columns, in order.
    pub columns: Vec<ColumnDefinition>,
    /// Indexes in MariaDB's order: the primary key, unique indexes without nullable columns, other unique indexes, all
    /// others.
    pub indexes: Vec<IndexDefinition>,
    /// Numbers of the hidden indexes: rows by their row id, and row ids by the hash of the row. They are used only
    /// while the table has no key that can be the clustered index.
    pub hidden: [u32; 2],
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckConstraint>,
    /// Foreign keys, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign_keys: Vec<ForeignKey>,
    /// First AUTO_INCREMENT value in the definition; 1 by default.
    pub auto_increment_start: u64,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub comment: String,
    /// `ROW_FORMAT`, in upper case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_format: Option<String>,
    /// Options that are only displayed: name in upper case, and value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<(String, String)>,
    /// Time of creation in seconds since 1970. It is the statement's time, so a replay has the same value.
    pub created_seconds: i64,
    /// Formats of rows that were stored before the columns changed, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier_rows: Vec<EarlierRows>,
}

/// Format of the rows before a change of the columns: see [`EarlierFormat`](paceline_storage::EarlierFormat).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierRows {
    /// Version of the statement that changed the columns. `None` until it is in the log: its record has that version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Version>,
    /// [`MarkState::next`](paceline_storage::MarkState::next) at that time.
    pub next_mark: Version,
    /// [`MarkState::open`](paceline_storage::MarkState::open) at that time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_marks: Vec<Version>,
    /// Types of the stored columns.
    pub types: Vec<DataType>,
    /// Origins of today's columns.
    pub columns: Vec<ColumnOrigin>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnDefinition {
    /// Name with its original spelling: names of columns are compared without case.
    pub name: String,
    pub data_type: DataType,
    pub nullable: bool,
    pub default: ColumnDefault,
    /// `ON UPDATE CURRENT_TIMESTAMP(n)`: the n.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_update: Option<u8>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub auto_increment: bool,
    /// `INVISIBLE`: not included in `*`, nor in an INSERT without columns.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub invisible: bool,
    /// `COMPRESSED`: only displayed. As in MariaDB, the column cannot be part of a key.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub compressed: bool,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub comment: String,
    /// Expression of the check constraint in the column's definition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// `GENERATED ALWAYS AS`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generated: Option<GeneratedColumn>,
}

/// Expression from which a column's values are computed.
///
/// The values are stored with the row and logged in either form: a VIRTUAL column only differs in name. The expression
/// must therefore depend on nothing but the row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GeneratedColumn {
    /// Expression in MariaDB's normal form.
    pub expression: String,
    pub storage: GeneratedStorage,
}

/// Kind of storage of a generated column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum GeneratedStorage {
    /// `VIRTUAL`.
    Virtual,
    /// `STORED` or `PERSISTENT`.
    Stored,
}

impl GeneratedStorage {
    /// Returns the SQL keyword.
    pub const fn name(self) -> &'static str {
        match self {
            GeneratedStorage::Virtual => "VIRTUAL",
            GeneratedStorage::Stored => "STORED",
        }
    }
}

/// Default of a column, for an INSERT that does not name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ColumnDefault {
    /// No default: 1364 in strict mode, otherwise the type's zero.
    None,
    Null,
    /// Literal, already converted to the column's type, in the form of [`paceline_types::text`]; a number for BIT, and
    /// the bytes as Latin-1 for binary strings.
    Literal(String),
    /// `CURRENT_TIMESTAMP(n)`: the n.
    CurrentTimestamp(u8),
    /// Text of an expression in MariaDB's normal form.
    Expression(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexDefinition {
    /// Index number, [`paceline_storage::IndexId`], which also tells the engine.
    pub id: u32,
    /// Name; `PRIMARY` for the primary key. Names of indexes are compared without case.
    pub name: String,
    pub kind: IndexKind,
    pub parts: Vec<IndexPart>,
    /// Algorithm of `USING BTREE` or `USING HASH`, if it was specified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub comment: String,
    /// Whether it is a unique index whose values exceed the maximum length of a key (TEXT without a prefix, long
    /// VARCHARs). Its keys are hashes of the values, which queries cannot use.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hashed: bool,
    /// `IGNORED`: maintained, but not used by queries.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ignored: bool,
    /// Whether it was created for a foreign key alone. It is dropped when another index can replace it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub generated: bool,
}

impl IndexDefinition {
    /// Returns whether MariaDB stores hashes of the index's values. Its InnoDB does so for any unique index USING HASH,
    /// until the table is altered or copied by LIKE: then only if the values are too long for a key.
    pub(crate) fn is_long_hash(&self, engine: TableEngine) -> bool {
        let is_unique_hash = self.kind == IndexKind::Unique && self.algorithm.as_deref() == Some("HASH");
        self.hashed || (is_unique_hash && engine == TableEngine::InnoDb)
    }

    /// Returns the type that SHOW INDEX names. InnoDB has no other hash indexes.
    pub fn shown_type(&self, engine: TableEngine) -> &str {
        match engine {
            TableEngine::InnoDb if self.is_long_hash(engine) => "HASH",
            TableEngine::InnoDb => "BTREE",
            _ => self.algorithm.as_deref().unwrap_or("BTREE"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum IndexKind {
    Primary,
    Unique,
    /// Index that is not unique.
    Plain,
}

impl IndexKind {
    /// Returns whether values are unique (in a unique index: those without NULL).
    pub const fn is_unique(self) -> bool {
        matches!(self, IndexKind::Primary | IndexKind::Unique)
    }
}

/// A column of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexPart {
    /// Index of the column in the table.
    pub column: usize,
    /// Length of the prefix if not the whole column is indexed: in characters, or bytes of a binary string.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix_length: Option<u32>,
    /// `DESC`: only displayed. The order is ascending; indexes are read in both directions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub descending: bool,
}

/// A check constraint of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckConstraint {
    pub name: String,
    /// Expression in MariaDB's normal form.
    pub expression: String,
}

/// A foreign key. Columns are identified by name, because the other table may not exist yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignKey {
    /// Name, unique in its database.
    pub name: String,
    /// Columns of the referencing table.
    pub columns: Vec<String>,
    /// Database of the referenced table.
    pub referenced_database: String,
    /// Referenced table.
    pub referenced_table: String,
    /// Referenced columns, in the same number.
    pub referenced_columns: Vec<String>,
    /// Action on the referencing rows when the referenced row is deleted.
    #[serde(default, skip_serializing_if = "ReferentialAction::is_restrict")]
    pub on_delete: ReferentialAction,
    /// Action on the referencing rows when the referenced key changes.
    #[serde(default, skip_serializing_if = "ReferentialAction::is_restrict")]
    pub on_update: ReferentialAction,
}
