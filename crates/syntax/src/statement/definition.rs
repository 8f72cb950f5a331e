//! Statements that define databases, tables and indexes, as parsed.
//!
//! Nothing here is resolved: a column's character set may come from its table or database, an index's name from its
//! first column. [`crate::ddl`] does that.

use serde::{Deserialize, Serialize};

use crate::ast::{Expr, TableName};

use super::{AccountName, Duplicates, QueryStatement};

/// What stands for the name of a collation in `COLLATE DEFAULT`: no collation has it.
pub const DEFAULT_COLLATION: &str = "DEFAULT";

/// A statement that defines databases, tables or indexes.
#[derive(Debug, Clone, PartialEq)]
pub enum DdlStatement {
    /// `CREATE DATABASE`.
    CreateDatabase {
        /// `OR REPLACE`.
        or_replace: bool,
        /// `IF NOT EXISTS`.
        if_not_exists: bool,
        /// Its name.
        name: String,
        /// Its options.
        options: DatabaseOptions,
    },
    /// `ALTER DATABASE`.
    AlterDatabase {
        /// Its name; none means the current database.
        name: Option<String>,
        /// The options to change.
        options: DatabaseOptions,
    },
    /// `DROP DATABASE`.
    DropDatabase {
        /// `IF EXISTS`.
        if_exists: bool,
        /// Its name.
        name: String,
    },
    /// `CREATE TABLE`.
    CreateTable(Box<CreateTable>),
    /// `ALTER TABLE`, `CREATE INDEX` and `DROP INDEX`.
    AlterTable(Box<AlterTable>),
    /// `DROP TABLE`.
    DropTables {
        /// `TEMPORARY`.
        temporary: bool,
        /// `IF EXISTS`.
        if_exists: bool,
        /// The tables.
        tables: Vec<TableName>,
    },
    /// `TRUNCATE TABLE`.
    TruncateTable(TableName),
    /// `RENAME TABLE a TO b, …`, in order.
    RenameTables {
        /// `IF EXISTS`.
        if_exists: bool,
        /// Old and new names.
        renames: Vec<(TableName, TableName)>,
    },
    /// `CREATE VIEW`, `ALTER VIEW`.
    CreateView(Box<CreateView>),
    /// `DROP VIEW`.
    DropViews {
        /// `IF EXISTS`.
        if_exists: bool,
        /// The views.
        views: Vec<TableName>,
    },
    /// `DROP TRIGGER` and its like, with `IF EXISTS` or without: nothing of the kind exists.
    DropOther {
        /// `TRIGGER`, `PROCEDURE`, `FUNCTION`, `EVENT`, `SEQUENCE` …
        kind: &'static str,
        /// `IF EXISTS`.
        if_exists: bool,
        /// The names.
        names: Vec<TableName>,
    },
}

/// `CREATE VIEW`, `ALTER VIEW`; `None` leaves a thing as it is, or as it is by default.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateView {
    /// Which statement it is.
    pub mode: ViewMode,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// `ALGORITHM`.
    pub algorithm: Option<ViewAlgorithm>,
    /// `DEFINER`.
    pub definer: Option<AccountName>,
    /// `SQL SECURITY`.
    pub security: Option<ViewSecurity>,
    /// The view.
    pub name: TableName,
    /// The names of its columns, where they are given.
    pub columns: Vec<String>,
    /// The query.
    pub query: QueryStatement,
    /// `WITH CHECK OPTION`.
    pub check: ViewCheck,
    /// What stands behind AS, as it was written.
    pub select_text: String,
}

/// Which statement makes a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewMode {
    /// `CREATE`.
    Create,
    /// `CREATE OR REPLACE`.
    CreateOrReplace,
    /// `ALTER`.
    Alter,
}

/// Options of a database; `None` leaves a thing as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DatabaseOptions {
    /// `CHARACTER SET`.
    pub charset: Option<CharsetName>,
    /// `COLLATE`.
    pub collation: Option<String>,
    /// `COMMENT`.
    pub comment: Option<String>,
}

/// `CHARACTER SET name` or `CHARACTER SET DEFAULT`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CharsetName {
    /// `DEFAULT`: what the surroundings have.
    Default,
    /// By name.
    Name(String),
    /// Two clauses, one of them with `DEFAULT`: both must mean the same.
    NameAndDefault {
        /// The name.
        name: String,
        /// Whether `DEFAULT` came first.
        default_first: bool,
    },
}

/// `CREATE TABLE`.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateTable {
    /// `OR REPLACE`.
    pub or_replace: bool,
    /// `TEMPORARY`.
    pub temporary: bool,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// The table.
    pub name: TableName,
    /// Its definition.
    pub body: CreateTableBody,
}

impl CreateTable {
    /// The query that fills it.
    pub fn select(&self) -> Option<&CreateSelect> {
        match &self.body {
            CreateTableBody::Definition { select, .. } => select.as_ref(),
            CreateTableBody::Like(_) => None,
        }
    }
}

/// Where a new table's definition comes from.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)] // Few of them are ever made.
pub enum CreateTableBody {
    /// `LIKE other`.
    Like(TableName),
    /// Columns, and a query to fill them.
    Definition {
        /// The columns.
        columns: Vec<ColumnSpec>,
        /// Indexes and constraints.
        constraints: Vec<TableConstraint>,
        /// Options.
        options: TableOptions,
        /// `[IGNORE | REPLACE] [AS] SELECT …`.
        select: Option<CreateSelect>,
    },
}

/// The query of `CREATE TABLE … SELECT`.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateSelect {
    /// What to do with duplicates.
    pub duplicates: Duplicates,
    /// The query.
    pub query: QueryStatement,
    /// The whole query's text, as bytes of the statement: from, to.
    pub text: std::ops::Range<usize>,
}

/// A column, as defined.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnSpec {
    /// Its name.
    pub name: String,
    /// Its type.
    pub data_type: TypeSpec,
    /// `NULL` or `NOT NULL`; `None` when neither was written.
    pub nullable: Option<bool>,
    /// `DEFAULT`.
    pub default: Option<DefaultSpec>,
    /// `ON UPDATE CURRENT_TIMESTAMP(n)`: its n.
    pub on_update: Option<u8>,
    /// `AUTO_INCREMENT`.
    pub auto_increment: bool,
    /// `PRIMARY KEY`.
    pub primary_key: bool,
    /// `UNIQUE`.
    pub unique: bool,
    /// `COMMENT`.
    pub comment: Option<String>,
    /// `INVISIBLE`.
    pub invisible: bool,
    /// `COMPRESSED` stands behind other attributes than the type.
    pub late_compression: bool,
    /// `CHECK (…)`.
    pub check: Option<CheckSpec>,
    /// `[GENERATED ALWAYS] AS (…)`.
    pub generated: Option<GeneratedSpec>,
    /// `[CONSTRAINT name] REFERENCES …`: a foreign key of this column.
    pub references: Option<ForeignKeySpec>,
}

/// An expression with its text.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckSpec {
    /// `CONSTRAINT name`.
    pub name: Option<String>,
    /// `CONSTRAINT IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// The expression.
    pub expr: Expr,
    /// Its text, without the parentheses around it.
    pub text: String,
}

/// A generated column.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneratedSpec {
    /// The expression.
    pub expr: Expr,
    /// Its text, without the parentheses around it.
    pub text: String,
    /// `PERSISTENT`, `STORED`; otherwise `VIRTUAL`.
    pub stored: bool,
}

/// A column's default.
#[derive(Debug, Clone, PartialEq)]
pub enum DefaultSpec {
    /// `CURRENT_TIMESTAMP(n)`, `NOW(n)`: its n.
    CurrentTimestamp(u8),
    /// Anything else: a literal, or an expression.
    Expr {
        /// The expression.
        expr: Expr,
        /// Its text.
        text: String,
    },
}

/// A type, as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeSpec {
    /// Which.
    pub kind: TypeKind,
    /// The first number in parentheses: display width, length, precision, fraction digits.
    pub length: Option<u64>,
    /// The second one: the scale.
    pub decimals: Option<u32>,
    /// `UNSIGNED`.
    pub unsigned: bool,
    /// `ZEROFILL`, which implies it.
    pub zerofill: bool,
    /// `CHARACTER SET`; `ASCII`, `UNICODE`, `NCHAR` say it too.
    pub charset: Option<CharsetName>,
    /// `COLLATE`.
    pub collation: Option<String>,
    /// `BINARY`: the character set's `_bin` collation.
    pub binary: bool,
    /// `COMPRESSED`.
    pub compressed: bool,
    /// The labels of an ENUM or SET.
    pub labels: Vec<String>,
}

impl TypeSpec {
    /// A type with nothing said about it.
    pub fn new(kind: TypeKind) -> Self {
        Self {
            kind,
            length: None,
            decimals: None,
            unsigned: false,
            zerofill: false,
            charset: None,
            collation: None,
            binary: false,
            compressed: false,
            labels: Vec::new(),
        }
    }
}

/// Types by their names in the grammar; synonyms are resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum TypeKind {
    TinyInt,
    SmallInt,
    MediumInt,
    Int,
    BigInt,
    Decimal,
    Float,
    Double,
    Bit,
    Bool,
    Char,
    VarChar,
    TinyText,
    Text,
    MediumText,
    LongText,
    Binary,
    VarBinary,
    TinyBlob,
    Blob,
    MediumBlob,
    LongBlob,
    Date,
    Time,
    DateTime,
    Timestamp,
    Year,
    Enum,
    Set,
    Json,
    /// `SERIAL`: BIGINT UNSIGNED NOT NULL AUTO_INCREMENT UNIQUE.
    Serial,
    /// `UUID`, `INET4`, `INET6`, `GEOMETRY` and its subtypes: 1235, with this name.
    Unsupported(&'static str),
}

/// An index or a constraint of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum TableConstraint {
    /// An index.
    Index(IndexSpec),
    /// `FOREIGN KEY`.
    ForeignKey(ForeignKeySpec),
    /// `CHECK (…)`.
    Check(CheckSpec),
    /// `PERIOD FOR …`.
    Period,
}

impl TableConstraint {
    /// The foreign key that it is.
    pub fn foreign_key(&self) -> Option<&ForeignKeySpec> {
        match self {
            TableConstraint::ForeignKey(key) => Some(key),
            _ => None,
        }
    }
}

/// A foreign key, as defined. `MATCH` means nothing: NULL in any column refers to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignKeySpec {
    /// `CONSTRAINT name`.
    pub constraint_name: Option<String>,
    /// `FOREIGN KEY name`.
    pub index_name: Option<String>,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// Its columns.
    pub columns: Vec<String>,
    /// The table that it refers to.
    pub table: TableName,
    /// The columns there; none where none are named.
    pub referenced_columns: Vec<String>,
    /// `ON DELETE`.
    pub on_delete: ReferentialAction,
    /// `ON UPDATE`.
    pub on_update: ReferentialAction,
}

impl ForeignKeySpec {
    /// Returns the name: that of CONSTRAINT, otherwise that of the index.
    pub fn name(&self) -> Option<&String> {
        self.constraint_name.as_ref().or(self.index_name.as_ref())
    }
}

/// An index, as defined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexSpec {
    /// What kind.
    pub kind: IndexKind,
    /// Its name.
    pub name: Option<String>,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// Its columns.
    pub parts: Vec<IndexPartSpec>,
    /// `USING BTREE` or `HASH`, in capitals.
    pub algorithm: Option<String>,
    /// `COMMENT`.
    pub comment: Option<String>,
    /// `KEY_BLOCK_SIZE`.
    pub key_block_size: Option<u64>,
    /// `IGNORED`.
    pub ignored: bool,
}

/// What kind of index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
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
    /// The column.
    pub column: String,
    /// The prefix: characters, or bytes of a binary string.
    pub length: Option<u64>,
    /// `DESC`.
    pub descending: bool,
}

/// Options of a table; `None` leaves a thing as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableOptions {
    /// `ENGINE`, as written.
    pub engine: Option<String>,
    /// `CHARACTER SET`.
    pub charset: Option<CharsetName>,
    /// `COLLATE`.
    pub collation: Option<String>,
    /// `COMMENT`.
    pub comment: Option<String>,
    /// `AUTO_INCREMENT`.
    pub auto_increment: Option<u64>,
    /// `ROW_FORMAT`, in capitals.
    pub row_format: Option<String>,
    /// Options that are shown but mean nothing here (`AVG_ROW_LENGTH`, `STATS_PERSISTENT`, `KEY_BLOCK_SIZE`, `MAX_ROWS`
    /// …), in order: name in capitals and value as shown.
    pub other: Vec<(String, String)>,
    /// Options that only an engine can know ([`ENGINE_OPTIONS`] are InnoDB's), in order: name and value as written;
    /// `None` for DEFAULT.
    pub of_engine: Vec<(String, Option<String>)>,
    /// `UNION`, `PARTITION BY`, `WITH SYSTEM VERSIONING`, `DATA DIRECTORY`: 1235, with this name.
    pub unsupported: Option<&'static str>,
}

/// Options of a table that InnoDB defines.
pub const ENGINE_OPTIONS: &[&str] = &[
    "PAGE_COMPRESSED",
    "PAGE_COMPRESSION_LEVEL",
    "ENCRYPTED",
    "ENCRYPTION_KEY_ID",
];

/// `ALTER TABLE`.
#[derive(Debug, Clone, PartialEq)]
pub struct AlterTable {
    /// Which statement it was written as.
    pub origin: AlterOrigin,
    /// `IF EXISTS`.
    pub if_exists: bool,
    /// `IGNORE`.
    pub ignore: bool,
    /// The table.
    pub table: TableName,
    /// What to change, in order.
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
        /// `IF NOT EXISTS`.
        if_not_exists: bool,
        /// The column.
        column: ColumnSpec,
        /// Where.
        position: ColumnPosition,
    },
    /// `ADD INDEX`, `ADD CONSTRAINT`.
    AddConstraint(TableConstraint),
    /// `DROP [COLUMN]`.
    DropColumn {
        /// `IF EXISTS`.
        if_exists: bool,
        /// The column.
        name: String,
    },
    /// `DROP INDEX`, `DROP KEY`.
    DropIndex {
        /// `IF EXISTS`.
        if_exists: bool,
        /// The index.
        name: String,
    },
    /// `DROP PRIMARY KEY`.
    DropPrimaryKey {
        /// `IF EXISTS`.
        if_exists: bool,
    },
    /// `DROP FOREIGN KEY`.
    DropForeignKey {
        /// `IF EXISTS`.
        if_exists: bool,
        /// The constraint.
        name: String,
    },
    /// `DROP CONSTRAINT`: an index or a check.
    DropConstraint {
        /// `IF EXISTS`.
        if_exists: bool,
        /// The constraint.
        name: String,
    },
    /// `MODIFY [COLUMN]`.
    ModifyColumn {
        /// `IF EXISTS`.
        if_exists: bool,
        /// The column.
        column: ColumnSpec,
        /// Where.
        position: ColumnPosition,
    },
    /// `CHANGE [COLUMN]`.
    ChangeColumn {
        /// `IF EXISTS`.
        if_exists: bool,
        /// Its name so far.
        old_name: String,
        /// The column.
        column: ColumnSpec,
        /// Where.
        position: ColumnPosition,
    },
    /// `RENAME COLUMN a TO b`.
    RenameColumn {
        /// `IF EXISTS`.
        if_exists: bool,
        /// Its name so far.
        old_name: String,
        /// Its new name.
        new_name: String,
    },
    /// `RENAME INDEX a TO b`.
    RenameIndex {
        /// `IF EXISTS`.
        if_exists: bool,
        /// Its name so far.
        old_name: String,
        /// Its new name.
        new_name: String,
    },
    /// `ALTER INDEX a [NOT] IGNORED`.
    AlterIndex {
        /// `IF EXISTS`.
        if_exists: bool,
        /// The index.
        name: String,
        /// `IGNORED`.
        ignored: bool,
    },
    /// `ALTER COLUMN a SET DEFAULT …` or `DROP DEFAULT`.
    SetDefault {
        /// `IF EXISTS`.
        if_exists: bool,
        /// The column.
        column: String,
        /// The default; none drops it.
        default: Option<DefaultSpec>,
    },
    /// `RENAME TO table`.
    RenameTable(TableName),
    /// `CONVERT TO CHARACTER SET …`.
    ConvertCharset {
        /// The character set.
        charset: CharsetName,
        /// The collation.
        collation: Option<String>,
    },
    /// Table options.
    Options(TableOptions),
    /// `ORDER BY …`: meaningless with a primary key, ignored.
    OrderBy,
    /// `FORCE`.
    Force,
    /// `DISABLE KEYS`, `ENABLE KEYS`: without effect, as the engines here have no such option.
    Keys {
        /// `ENABLE`.
        enabled: bool,
    },
    /// `ALGORITHM=…`, in capitals.
    Algorithm(String),
    /// `LOCK=…`, in capitals.
    Lock(String),
    /// `ADD PARTITION`, `DISCARD TABLESPACE` and their like: 1235, with this name.
    Unsupported(&'static str),
}

/// Where a column is put.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ColumnPosition {
    /// At the end, or where it is.
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
