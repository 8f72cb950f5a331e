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
    pub statement: Statement,
}

/// Format of `EXPLAIN`.
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

impl ExplainFlavour {
    /// Returns whether it has measurements.
    pub fn is_analyzed(self) -> bool {
        matches!(self, ExplainFlavour::Analyze | ExplainFlavour::AnalyzeJson)
    }

    /// Returns the same format with measurements.
    pub fn analyzed(self) -> Self {
        match self {
            ExplainFlavour::Json | ExplainFlavour::AnalyzeJson => ExplainFlavour::AnalyzeJson,
            _ => ExplainFlavour::Analyze,
        }
    }
}

/// Rows of a SHOW that are returned.
#[derive(Debug, Clone, PartialEq)]
pub enum ShowFilter {
    /// All.
    None,
    /// `LIKE 'pattern'` on the first column.
    Like(String),
    /// `WHERE expr` on the resulting columns.
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
        database: Option<String>,
        filter: ShowFilter,
    },
    /// `TABLE STATUS [FROM database]`.
    TableStatus {
        database: Option<String>,
        filter: ShowFilter,
    },
    /// `OPEN TABLES [FROM database]`.
    OpenTables {
        database: Option<String>,
        filter: ShowFilter,
    },
    /// `[FULL] COLUMNS FROM table`, `FIELDS`, `DESCRIBE table [column]`.
    Columns {
        /// `FULL`: with collation, privileges and comment.
        full: bool,
        table: TableName,
        filter: ShowFilter,
    },
    /// `INDEX FROM table`, `INDEXES`, `KEYS`.
    Index { table: TableName, filter: ShowFilter },
    /// `[GLOBAL | SESSION] VARIABLES`.
    Variables {
        /// The session's values if not specified.
        scope: VariableScope,
        filter: ShowFilter,
    },
    /// `[GLOBAL | SESSION] STATUS`.
    Status {
        /// The session's values if not specified.
        scope: VariableScope,
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
    EngineStatus { engine: String, what: String },
    /// `CHARACTER SET`, `CHARSET`.
    CharacterSets(ShowFilter),
    /// `COLLATION`.
    Collations(ShowFilter),
    /// `[FULL] PROCESSLIST`.
    ProcessList {
        /// `FULL`: with the whole text of statements.
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
        /// With `RELAYLOG`, the connection's name.
        connection: Option<String>,
        /// `None` is the first file.
        file: Option<String>,
        /// Offset of the first event.
        position: Option<u64>,
        /// Number of events.
        limit: ShowLimit,
    },
    /// `SLAVE [name] STATUS`, `REPLICA STATUS`.
    SlaveStatus { connection: Option<String>, all: bool },
    /// `CLUSTER STATUS`. Not in MariaDB.
    ClusterStatus,
    /// `SLAVE HOSTS`, `REPLICA HOSTS`.
    SlaveHosts,
    /// `TRIGGERS [FROM database]`.
    Triggers {
        database: Option<String>,
        filter: ShowFilter,
    },
    /// `EVENTS [FROM database]`.
    Events {
        database: Option<String>,
        filter: ShowFilter,
    },
    /// `FUNCTION STATUS`, `PROCEDURE STATUS`, `PACKAGE STATUS`, `PACKAGE BODY STATUS`.
    RoutineStatus { kind: &'static str, filter: ShowFilter },
    /// `PLUGINS`, and `PLUGINS SONAME …`.
    Plugins,
    /// `CREATE TABLE table`.
    CreateTable(TableName),
    /// `CREATE VIEW`, `PROCEDURE`, `FUNCTION`, `TRIGGER`, `EVENT`, `SEQUENCE`, `PACKAGE`.
    CreateOther {
        /// Kind of object, in capitals.
        kind: &'static str,
        name: TableName,
    },
    /// `CREATE DATABASE name`.
    CreateDatabase {
        /// `IF NOT EXISTS`: the statement returned contains it too.
        if_not_exists: bool,
        name: String,
    },
    /// `CREATE USER [account]`.
    CreateUser(Option<AccountName>),
    /// `PROFILES`.
    Profiles,
    /// `PROFILE`.
    Profile,
    /// `AUTHORS`.
    Authors,
    /// `CONTRIBUTORS`.
    Contributors,
    /// `EXPLAIN FOR CONNECTION id`, `SHOW EXPLAIN FOR id`, `SHOW ANALYZE FOR id`: the plan of another session's
    /// statement.
    ExplainFor {
        flavour: ExplainFlavour,
        /// Id of the session.
        connection: Expr,
    },
    /// `USER_STATISTICS`, `CLIENT_STATISTICS`, `INDEX_STATISTICS`, `TABLE_STATISTICS` and other tables of
    /// information_schema.
    Statistics(String),
}

/// `LIMIT [offset,] count` of a SHOW.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShowLimit {
    /// Number of rows to skip.
    pub offset: u64,
    /// Maximum number of rows.
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
