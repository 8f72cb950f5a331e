//! `SHOW` and `EXPLAIN`.

use crate::ast::Expr;

use super::Statement;
use super::account::AccountName;
use crate::ast::TableName;
use crate::ast::VariableScope;

/// `EXPLAIN statement`.
#[derive(Debug, Clone, PartialEq)]
pub struct Explain {
    /// `EXTENDED`, `PARTITIONS`.
    pub flavour: ExplainFlavour,
    /// The statement.
    pub statement: Statement,
}

/// How much `EXPLAIN` shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExplainFlavour {
    /// The table of ten columns.
    Plain,
    /// `EXTENDED`: with the column `filtered`, and a note with the query.
    Extended,
    /// `PARTITIONS`: with the column `partitions`.
    Partitions,
    /// `FORMAT=JSON`.
    Json,
    /// `ANALYZE statement`.
    Analyze,
    /// `ANALYZE FORMAT=JSON statement`.
    AnalyzeJson,
}

/// Which rows of a SHOW to return.
#[derive(Debug, Clone, PartialEq)]
pub enum ShowFilter {
    /// All.
    None,
    /// `LIKE 'pattern'` on the first column.
    Like(String),
    /// `WHERE expr` on the columns shown.
    Where(Box<Expr>),
}

/// `SHOW …`.
#[derive(Debug, Clone, PartialEq)]
pub enum Show {
    /// `DATABASES`, `SCHEMAS`.
    Databases(ShowFilter),
    /// `[FULL] TABLES [FROM database]`.
    Tables {
        /// `FULL`: with the column `Table_type`.
        full: bool,
        /// The database.
        database: Option<String>,
        /// Which rows.
        filter: ShowFilter,
    },
    /// `TABLE STATUS [FROM database]`.
    TableStatus {
        /// The database.
        database: Option<String>,
        /// Which rows.
        filter: ShowFilter,
    },
    /// `OPEN TABLES [FROM database]`.
    OpenTables {
        /// The database.
        database: Option<String>,
        /// Which rows.
        filter: ShowFilter,
    },
    /// `[FULL] COLUMNS FROM table`, `FIELDS`, `DESCRIBE table [column]`.
    Columns {
        /// `FULL`: with collation, privileges and comment.
        full: bool,
        /// The table.
        table: TableName,
        /// Which rows.
        filter: ShowFilter,
    },
    /// `INDEX FROM table`, `INDEXES`, `KEYS`.
    Index {
        /// The table.
        table: TableName,
        /// Which rows.
        filter: ShowFilter,
    },
    /// `[GLOBAL | SESSION] VARIABLES`.
    Variables {
        /// Which values; without a word the session's.
        scope: VariableScope,
        /// Which rows.
        filter: ShowFilter,
    },
    /// `[GLOBAL | SESSION] STATUS`.
    Status {
        /// Which values; without a word the session's.
        scope: VariableScope,
        /// Which rows.
        filter: ShowFilter,
    },
    /// `WARNINGS [LIMIT …]`.
    Warnings(ShowLimit),
    /// `ERRORS [LIMIT …]`.
    Errors(ShowLimit),
    /// `COUNT(*) WARNINGS`.
    CountWarnings,
    /// `COUNT(*) ERRORS`.
    CountErrors,
    /// `[STORAGE] ENGINES`.
    Engines,
    /// `ENGINE name STATUS | MUTEX | LOGS`.
    EngineStatus {
        /// The engine, or `ALL`.
        engine: String,
        /// `STATUS`, `MUTEX` or `LOGS`.
        what: String,
    },
    /// `CHARACTER SET`, `CHARSET`.
    CharacterSets(ShowFilter),
    /// `COLLATION`.
    Collations(ShowFilter),
    /// `[FULL] PROCESSLIST`.
    ProcessList {
        /// `FULL`: with the whole text.
        full: bool,
    },
    /// `GRANTS [FOR account]`.
    Grants(Option<AccountName>),
    /// `PRIVILEGES`.
    Privileges,
    /// `MASTER STATUS`, `BINLOG STATUS`.
    MasterStatus,
    /// `BINARY LOGS`, `MASTER LOGS`.
    BinaryLogs,
    /// `BINLOG EVENTS [IN 'file'] [FROM position] [LIMIT …]`; also `RELAYLOG EVENTS`.
    BinlogEvents {
        /// `RELAYLOG` instead of `BINLOG`.
        relay_log: bool,
        /// `RELAYLOG`: the connection's name.
        connection: Option<String>,
        /// The file; none means the first.
        file: Option<String>,
        /// The offset to begin at.
        position: Option<u64>,
        /// How many.
        limit: ShowLimit,
    },
    /// `SLAVE [name] STATUS`, `REPLICA STATUS`.
    SlaveStatus {
        /// The connection's name.
        connection: Option<String>,
        /// `ALL SLAVES STATUS`.
        all: bool,
    },
    /// `SLAVE HOSTS`, `REPLICA HOSTS`.
    SlaveHosts,
    /// `TRIGGERS [FROM database]`.
    Triggers {
        /// The database.
        database: Option<String>,
        /// Which rows.
        filter: ShowFilter,
    },
    /// `EVENTS [FROM database]`.
    Events {
        /// The database.
        database: Option<String>,
        /// Which rows.
        filter: ShowFilter,
    },
    /// `FUNCTION STATUS`, `PROCEDURE STATUS`, `PACKAGE STATUS`, `PACKAGE BODY STATUS`.
    RoutineStatus {
        /// `FUNCTION`, `PROCEDURE`, `PACKAGE` or `PACKAGE BODY`.
        kind: &'static str,
        /// Which rows.
        filter: ShowFilter,
    },
    /// `PLUGINS`, and `PLUGINS SONAME …`.
    Plugins,
    /// `CREATE TABLE table`.
    CreateTable(TableName),
    /// `CREATE VIEW`, `PROCEDURE`, `FUNCTION`, `TRIGGER`, `EVENT`, `SEQUENCE`, `PACKAGE`: none of them is there.
    CreateOther {
        /// Its kind, in capitals.
        kind: &'static str,
        /// Its name.
        name: TableName,
    },
    /// `CREATE DATABASE name`.
    CreateDatabase {
        /// `IF NOT EXISTS`: the statement shown has it too.
        if_not_exists: bool,
        /// The database.
        name: String,
    },
    /// `CREATE USER [account]`.
    CreateUser(Option<AccountName>),
    /// `PROFILES`, `PROFILE`.
    Profiles,
    /// `AUTHORS`, `CONTRIBUTORS`.
    Credits,
    /// `EXPLAIN FOR connection`, `SHOW EXPLAIN FOR`.
    ExplainFor(Expr),
    /// `USER_STATISTICS`, `CLIENT_STATISTICS`, `INDEX_STATISTICS`, `TABLE_STATISTICS` and other tables of
    /// information_schema.
    Statistics(String),
}

/// `LIMIT [offset,] count` of a SHOW.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShowLimit {
    /// Rows to skip.
    pub offset: u64,
    /// Rows to return at most.
    pub count: u64,
}

impl Default for ShowLimit {
    fn default() -> Self {
        Self {
            offset: 0,
            count: u64::MAX,
        }
    }
}
