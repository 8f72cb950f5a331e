//! Statements that define databases, tables and indexes, as parsed.
//!
//! Nothing here is resolved yet: the character set of a column may come from its table or database, the name
//! of an index from its first column. `paceline_catalog::ddl` resolves them.

use serde::{Deserialize, Serialize};

pub use crate::ast::{CharsetName, TypeKind, TypeSpec};
use crate::ast::{Expr, TableName};

use super::account::AccountName;
use super::data_change::Duplicates;
use super::program::{Aggregation, AlterEvent, Characteristics, Event, Routine, RoutineType, Trigger};
use super::query::QueryStatement;

/// Name that stands for the collation of `COLLATE DEFAULT`. No collation has this name.
pub const DEFAULT_COLLATION: &str = "DEFAULT";

/// A statement that defines databases, tables or indexes.
#[derive(Debug, Clone, PartialEq)]
pub enum DdlStatement {
    /// `CREATE DATABASE`.
    CreateDatabase {
        or_replace: bool,
        if_not_exists: bool,
        name: String,
        options: DatabaseOptions,
    },
    /// `ALTER DATABASE`.
    AlterDatabase {
        /// `None` is the current database.
        name: Option<String>,
        options: DatabaseOptions,
    },
    /// `DROP DATABASE`.
    DropDatabase { if_exists: bool, name: String },
    /// `CREATE TABLE`.
    CreateTable(Box<CreateTable>),
    /// `ALTER TABLE`, `CREATE INDEX` and `DROP INDEX`.
    AlterTable(Box<AlterTable>),
    /// `DROP TABLE`.
    DropTables {
        temporary: bool,
        if_exists: bool,
        tables: Vec<TableName>,
    },
    /// `TRUNCATE TABLE`.
    TruncateTable(TableName),
    /// `RENAME TABLE a TO b, …`. The renames are executed in order.
    RenameTables {
        if_exists: bool,
        /// Old and new names.
        renames: Vec<(TableName, TableName)>,
    },
    /// `CREATE SEQUENCE`.
    CreateSequence(Box<CreateSequence>),
    /// `ALTER SEQUENCE`.
    AlterSequence(Box<AlterSequence>),
    /// `DROP SEQUENCE`.
    DropSequences {
        temporary: bool,
        if_exists: bool,
        sequences: Vec<TableName>,
    },
    /// `CREATE VIEW`, `ALTER VIEW`.
    CreateView(Box<CreateView>),
    /// `DROP VIEW`.
    DropViews { if_exists: bool, views: Vec<TableName> },
    /// `CREATE PROCEDURE`, `CREATE FUNCTION`.
    CreateRoutine(Box<Routine>),
    /// `CREATE FUNCTION … SONAME`.
    CreateLoadableFunction(Box<CreateLoadableFunction>),
    /// `ALTER PROCEDURE`, `ALTER FUNCTION`.
    AlterRoutine {
        kind: RoutineType,
        name: TableName,
        characteristics: Characteristics,
    },
    /// `DROP PROCEDURE`, `DROP FUNCTION`.
    DropRoutine {
        kind: RoutineType,
        if_exists: bool,
        name: TableName,
    },
    /// `CREATE TRIGGER`.
    CreateTrigger(Box<Trigger>),
    /// `DROP TRIGGER`.
    DropTrigger { if_exists: bool, name: TableName },
    /// `CREATE EVENT`.
    CreateEvent(Box<Event>),
    /// `ALTER EVENT`.
    AlterEvent(Box<AlterEvent>),
    /// `DROP EVENT`.
    DropEvent { if_exists: bool, name: TableName },
    /// `DROP SERVER`. No such objects exist here.
    DropServer { if_exists: bool, name: String },
}

/// `CREATE FUNCTION name RETURNS type SONAME 'library'`.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateLoadableFunction {
    pub or_replace: bool,
    pub if_not_exists: bool,
    pub name: String,
    pub aggregation: Aggregation,
    pub returns: LoadableType,
    /// Name of the library's file.
    pub library: String,
}

/// Type of the values of a function of a library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LoadableType {
    String,
    Real,
    Integer,
    Decimal,
}

/// `CREATE SEQUENCE`.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateSequence {
    pub or_replace: bool,
    pub temporary: bool,
    pub if_not_exists: bool,
    pub name: TableName,
    pub values: SequenceSpec,
    pub options: TableOptions,
}

/// `ALTER SEQUENCE`.
#[derive(Debug, Clone, PartialEq)]
pub struct AlterSequence {
    pub if_exists: bool,
    pub name: TableName,
    pub values: SequenceSpec,
}

/// Clauses of a sequence as written. `None` keeps a clause as it is, or selects its default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SequenceSpec {
    pub start: Option<i64>,
    pub increment: Option<i64>,
    pub minimum: Option<SequenceBound>,
    pub maximum: Option<SequenceBound>,
    /// Number of values that are reserved at once; 0 for NOCACHE.
    pub cache: Option<i64>,
    pub cycle: Option<bool>,
    pub restart: Option<SequenceRestart>,
}

/// `MINVALUE` or `MAXVALUE` of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SequenceBound {
    /// `MINVALUE n`.
    Value(i64),
    /// `NO MINVALUE`: the default.
    Default,
}

/// `RESTART` of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SequenceRestart {
    /// From the START value.
    Start,
    /// `RESTART WITH n`.
    With(i64),
}

/// `CREATE VIEW`, `ALTER VIEW`. `None` keeps an option as it is, or selects its default.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateView {
    pub mode: ViewMode,
    pub if_not_exists: bool,
    pub algorithm: Option<ViewAlgorithm>,
    pub definer: Option<AccountName>,
    pub security: Option<ViewSecurity>,
    pub name: TableName,
    /// Names of the columns; empty if absent.
    pub columns: Vec<String>,
    pub query: QueryStatement,
    pub check: ViewCheck,
    /// Text after AS, as written.
    pub select_text: String,
}

/// Statements that define a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewMode {
    /// `CREATE`.
    Create,
    /// `CREATE OR REPLACE`.
    CreateOrReplace,
    /// `ALTER`.
    Alter,
}

/// Options of a database. `None` keeps an option as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DatabaseOptions {
    pub charset: Option<CharsetName>,
    pub collation: Option<String>,
    pub comment: Option<String>,
}

/// `CREATE TABLE`.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateTable {
    pub or_replace: bool,
    pub temporary: bool,
    pub if_not_exists: bool,
    pub name: TableName,
    pub body: CreateTableBody,
}

impl CreateTable {
    /// Returns the query that fills the table.
    pub fn select(&self) -> Option<&CreateSelect> {
        match &self.body {
            CreateTableBody::Definition { select, .. } => select.as_ref(),
            CreateTableBody::Like(_) => None,
        }
    }
}

/// Source of a new table's definition.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)] // Few values of this type exist at a time.
pub enum CreateTableBody {
    /// `LIKE other`.
    Like(TableName),
    /// Columns, and optionally a query that fills the table.
    Definition {
        columns: Vec<ColumnSpec>,
        /// Indexes and constraints.
        constraints: Vec<TableConstraint>,
        options: TableOptions,
        /// `[IGNORE | REPLACE] [AS] SELECT …`.
        select: Option<CreateSelect>,
    },
}

/// The query of `CREATE TABLE … SELECT`.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateSelect {
    pub duplicates: Duplicates,
    pub query: QueryStatement,
    /// Byte range of the query's text within the statement.
    pub text: std::ops::Range<usize>,
}

/// A column as defined.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnSpec {
    pub name: String,
    pub data_type: TypeSpec,
    /// `NULL` or `NOT NULL`; `None` if neither is written.
    pub nullable: Option<bool>,
    pub default: Option<DefaultSpec>,
    /// `ON UPDATE CURRENT_TIMESTAMP(n)`: n.
    pub on_update: Option<u8>,
    pub auto_increment: bool,
    pub primary_key: bool,
    pub unique: bool,
    pub comment: Option<String>,
    pub invisible: bool,
    /// `COMPRESSED` stands after other attributes, not directly after the type.
    pub late_compression: bool,
    /// `CHECK (…)`.
    pub check: Option<CheckSpec>,
    /// `[GENERATED ALWAYS] AS (…)`.
    pub generated: Option<GeneratedSpec>,
    /// `[CONSTRAINT name] REFERENCES …`: a foreign key of this column.
    pub references: Option<ForeignKeySpec>,
}

/// A check constraint.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckSpec {
    /// `CONSTRAINT name`.
    pub name: Option<String>,
    pub if_not_exists: bool,
    pub expr: Expr,
    /// The expression's text, without the parentheses around it.
    pub text: String,
}

/// A generated column.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneratedSpec {
    pub expr: Expr,
    /// The expression's text, without the parentheses around it.
    pub text: String,
    /// `PERSISTENT` or `STORED`, rather than `VIRTUAL`.
    pub stored: bool,
}

/// A column's default.
#[derive(Debug, Clone, PartialEq)]
pub enum DefaultSpec {
    /// `CURRENT_TIMESTAMP(n)`, `NOW(n)`: n.
    CurrentTimestamp(u8),
    /// Anything else: a literal, or an expression.
    Expr { expr: Expr, text: String },
}

/// An index or a constraint of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum TableConstraint {
    /// An index.
    Index(IndexSpec),
    ForeignKey(ForeignKeySpec),
    /// `CHECK (…)`.
    Check(CheckSpec),
    /// `PERIOD FOR …`.
    Period,
}

impl TableConstraint {
    pub fn foreign_key(&self) -> Option<&ForeignKeySpec> {
        match self {
            TableConstraint::ForeignKey(key) => Some(key),
            _ => None,
        }
    }
}

/// A foreign key as defined. `MATCH` has no effect: a NULL in any column means that the row references
/// nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignKeySpec {
    /// `CONSTRAINT name`.
    pub constraint_name: Option<String>,
    /// `FOREIGN KEY name`.
    pub index_name: Option<String>,
    pub if_not_exists: bool,
    /// Referencing columns.
    pub columns: Vec<String>,
    /// Referenced table.
    pub table: TableName,
    /// Referenced columns; empty if none are named.
    pub referenced_columns: Vec<String>,
    pub on_delete: ReferentialAction,
    pub on_update: ReferentialAction,
}

impl ForeignKeySpec {
    /// Returns the name given with CONSTRAINT, otherwise that of the index.
    pub fn name(&self) -> Option<&String> {
        self.constraint_name.as_ref().or(self.index_name.as_ref())
    }
}

/// An index as defined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexSpec {
    pub kind: IndexKind,
    pub name: Option<String>,
    pub if_not_exists: bool,
    pub parts: Vec<IndexPartSpec>,
    /// `USING BTREE` or `HASH`, in capitals.
    pub algorithm: Option<String>,
    pub comment: Option<String>,
    pub key_block_size: Option<u64>,
    pub ignored: bool,
}

/// Kinds of indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexKind {
    Primary,
    Unique,
    Plain,
    FullText,
    Spatial,
    Vector,
}

/// A column of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexPartSpec {
    pub column: String,
    /// Prefix length in characters, or in bytes for a binary string.
    pub length: Option<u64>,
    pub descending: bool,
}

/// Options of a table. `None` keeps an option as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableOptions {
    /// `ENGINE` as written.
    pub engine: Option<String>,
    pub charset: Option<CharsetName>,
    pub collation: Option<String>,
    pub comment: Option<String>,
    pub auto_increment: Option<u64>,
    /// `ROW_FORMAT`, in capitals.
    pub row_format: Option<String>,
    /// `SEQUENCE=1`: the table is a sequence.
    pub sequence: Option<bool>,
    /// Options that are shown but have no effect here (`AVG_ROW_LENGTH`, `STATS_PERSISTENT`,
    /// `KEY_BLOCK_SIZE`, `MAX_ROWS` …), in order: name in capitals, and value as shown.
    pub other: Vec<(String, String)>,
    /// Options that only an engine can define ([`ENGINE_OPTIONS`] are InnoDB's), in order: name and value as
    /// written; `None` for DEFAULT.
    pub of_engine: Vec<(String, Option<String>)>,
    /// `UNION`, `PARTITION BY`, `WITH SYSTEM VERSIONING`, `DATA DIRECTORY`: error 1235 with this name.
    pub unsupported: Option<&'static str>,
}

/// Table options that InnoDB defines.
pub const ENGINE_OPTIONS: &[&str] = &[
    "PAGE_COMPRESSED",
    "PAGE_COMPRESSION_LEVEL",
    "ENCRYPTED",
    "ENCRYPTION_KEY_ID",
];

/// `ALTER TABLE`.
#[derive(Debug, Clone, PartialEq)]
pub struct AlterTable {
    /// Statement that this was written as.
    pub origin: AlterOrigin,
    pub if_exists: bool,
    pub ignore: bool,
    pub table: TableName,
    /// Changes in order.
    pub actions: Vec<AlterAction>,
}

/// Statements that alter a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlterOrigin {
    /// `ALTER TABLE`.
    AlterTable,
    /// `CREATE INDEX`.
    CreateIndex,
    /// `CREATE OR REPLACE INDEX`.
    CreateOrReplaceIndex,
    /// `DROP INDEX`.
    DropIndex,
}

/// One change of `ALTER TABLE`.
#[derive(Debug, Clone, PartialEq)]
pub enum AlterAction {
    /// `ADD [COLUMN]`.
    AddColumn {
        if_not_exists: bool,
        column: ColumnSpec,
        position: ColumnPosition,
    },
    /// `ADD INDEX`, `ADD CONSTRAINT`.
    AddConstraint(TableConstraint),
    /// `DROP [COLUMN]`.
    DropColumn { if_exists: bool, name: String },
    /// `DROP INDEX`, `DROP KEY`.
    DropIndex { if_exists: bool, name: String },
    /// `DROP PRIMARY KEY`.
    DropPrimaryKey { if_exists: bool },
    /// `DROP FOREIGN KEY`.
    DropForeignKey { if_exists: bool, name: String },
    /// `DROP CONSTRAINT`: a foreign key, an index or a check.
    DropConstraint { if_exists: bool, name: String },
    /// `MODIFY [COLUMN]`.
    ModifyColumn {
        if_exists: bool,
        column: ColumnSpec,
        position: ColumnPosition,
    },
    /// `CHANGE [COLUMN]`.
    ChangeColumn {
        if_exists: bool,
        /// Current name.
        old_name: String,
        column: ColumnSpec,
        position: ColumnPosition,
    },
    /// `RENAME COLUMN a TO b`.
    RenameColumn {
        if_exists: bool,
        /// Current name.
        old_name: String,
        new_name: String,
    },
    /// `RENAME INDEX a TO b`.
    RenameIndex {
        if_exists: bool,
        /// Current name.
        old_name: String,
        new_name: String,
    },
    /// `ALTER INDEX a [NOT] IGNORED`.
    AlterIndex {
        if_exists: bool,
        name: String,
        ignored: bool,
    },
    /// `ALTER COLUMN a SET DEFAULT …` or `DROP DEFAULT`.
    SetDefault {
        if_exists: bool,
        column: String,
        /// `None` drops the default.
        default: Option<DefaultSpec>,
    },
    /// `RENAME TO table`.
    RenameTable(TableName),
    /// `CONVERT TO CHARACTER SET …`.
    ConvertCharset {
        charset: CharsetName,
        collation: Option<String>,
    },
    /// Table options.
    Options(TableOptions),
    /// `ORDER BY …`: meaningless with a primary key, ignored.
    OrderBy,
    /// `FORCE`.
    Force,
    /// `DISABLE KEYS`, `ENABLE KEYS`: no effect, because no engine here supports them.
    Keys { enabled: bool },
    /// `ALGORITHM=…`, in capitals.
    Algorithm(String),
    /// `LOCK=…`, in capitals.
    Lock(String),
    /// `ADD PARTITION`, `DISCARD TABLESPACE` and similar changes: error 1235 with this name.
    Unsupported(&'static str),
}

/// Position of a column.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ColumnPosition {
    /// At the end, or unchanged.
    #[default]
    Unspecified,
    /// `FIRST`.
    First,
    /// `AFTER column`.
    After(String),
}

/// Action on referencing rows when the referenced row is deleted or its key changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum ReferentialAction {
    /// `RESTRICT`: the change is rejected. `SET DEFAULT` means the same, as in InnoDB.
    #[default]
    Restrict,
    /// `NO ACTION`: the same under another name.
    NoAction,
    /// `CASCADE`: the rows are deleted or changed too.
    Cascade,
    /// `SET NULL`: the referencing columns become NULL.
    SetNull,
}

impl ReferentialAction {
    /// Returns the SQL keywords.
    pub const fn name(self) -> &'static str {
        match self {
            ReferentialAction::Restrict => "RESTRICT",
            ReferentialAction::NoAction => "NO ACTION",
            ReferentialAction::Cascade => "CASCADE",
            ReferentialAction::SetNull => "SET NULL",
        }
    }

    /// Returns whether the action changes rows.
    pub const fn is_action(self) -> bool {
        matches!(self, ReferentialAction::Cascade | ReferentialAction::SetNull)
    }

    /// Returns whether it is `RESTRICT`, which catalog records leave out.
    pub fn is_restrict(&self) -> bool {
        *self == ReferentialAction::Restrict
    }
}

/// `ALGORITHM` of a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum ViewAlgorithm {
    /// `UNDEFINED`: like `MERGE` if possible.
    #[default]
    Undefined,
    /// `MERGE`: its tables are merged into the query that uses it.
    Merge,
    /// `TEMPTABLE`: its rows are computed first.
    TempTable,
}

impl ViewAlgorithm {
    /// Returns the SQL keyword.
    pub const fn name(self) -> &'static str {
        match self {
            ViewAlgorithm::Undefined => "UNDEFINED",
            ViewAlgorithm::Merge => "MERGE",
            ViewAlgorithm::TempTable => "TEMPTABLE",
        }
    }
}

/// Account whose privileges a view uses for its tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum ViewSecurity {
    /// The definer's account.
    #[default]
    Definer,
    /// The account of the session that uses the view.
    Invoker,
}

impl ViewSecurity {
    /// Returns the SQL keyword.
    pub const fn name(self) -> &'static str {
        match self {
            ViewSecurity::Definer => "DEFINER",
            ViewSecurity::Invoker => "INVOKER",
        }
    }
}

/// Restriction of rows written through a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum ViewCheck {
    /// None.
    #[default]
    None,
    /// Only rows that the view would show.
    Local,
    /// Only rows that the view and the views below it would show.
    Cascaded,
}

impl ViewCheck {
    /// Returns the SQL keyword.
    pub const fn name(self) -> &'static str {
        match self {
            ViewCheck::None => "NONE",
            ViewCheck::Local => "LOCAL",
            ViewCheck::Cascaded => "CASCADED",
        }
    }
}
