//! What a statement can be, once it is parsed.
//!
//! Queries and expressions are `sqlparser`'s own tree ([`sqlparser::ast::Query`], [`sqlparser::ast::Expr`]), built by our own
//! grammar; conventions of ours within it are listed in the [module documentation](super). Everything else is a structure of this
//! module, which says exactly what MariaDB's grammar says and no more.

use std::fmt;

use sqlparser::ast::{Expr, Ident, OrderByExpr, Query, SelectItem, TableAlias, TableWithJoins};

use super::definition::DdlStatement;
use super::file_format::FileFormat;
pub use crate::session::VariableScope;

/// A statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    /// Nothing but comments: answered with OK.
    Empty,
    /// `SELECT`, `VALUES`, `TABLE`, `WITH … SELECT`, and everything in parentheses.
    Query(Box<QueryStatement>),
    /// `INSERT` and `REPLACE`.
    Insert(Box<Insert>),
    /// `UPDATE`, of one table or several.
    Update(Box<Update>),
    /// `DELETE`, of one table or several.
    Delete(Box<Delete>),
    /// `DO expr, …`.
    Do(Vec<Expr>),
    /// `LOAD DATA INFILE`.
    LoadData(Box<LoadData>),
    /// `SET …`: several assignments, in order.
    Set(Vec<SetItem>),
    /// `SET STATEMENT … FOR statement`.
    SetStatement {
        /// The assignments that hold for the statement.
        items: Vec<SetItem>,
        /// The statement.
        statement: Box<Statement>,
    },
    /// Transactions and savepoints.
    Transaction(TransactionStatement),
    /// `USE database`.
    Use(String),
    /// `SHOW …`, and `DESCRIBE table`.
    Show(Show),
    /// `EXPLAIN statement`.
    Explain(Box<Explain>),
    /// `PREPARE name FROM text`.
    Prepare {
        /// The statement's name.
        name: String,
        /// The statement's text: a string or a user variable, or any expression.
        source: Expr,
    },
    /// `EXECUTE name [USING …]`.
    Execute {
        /// The statement's name.
        name: String,
        /// The parameters.
        using: Vec<Expr>,
    },
    /// `EXECUTE IMMEDIATE text [USING …]`.
    ExecuteImmediate {
        /// The statement's text.
        source: Expr,
        /// The parameters.
        using: Vec<Expr>,
    },
    /// `DEALLOCATE PREPARE name`.
    Deallocate(String),
    /// Statements that define databases, tables and indexes.
    Ddl(DdlStatement),
    /// Statements about accounts and privileges.
    Account(AccountStatement),
    /// `ANALYZE`, `CHECK`, `OPTIMIZE`, `REPAIR TABLE`.
    TableMaintenance {
        /// What to do.
        operation: TableMaintenance,
        /// The tables.
        tables: Vec<TableName>,
    },
    /// `CHECKSUM TABLE`.
    ChecksumTable {
        /// The tables.
        tables: Vec<TableName>,
        /// How the checksum is come by.
        effort: ChecksumEffort,
    },
    /// `KILL …`.
    Kill(Kill),
    /// `FLUSH …`.
    Flush(Vec<FlushTarget>),
    /// `PURGE BINARY LOGS …`.
    Purge(Purge),
    /// `BACKUP …`.
    Backup(Backup),
    /// `RESET …`.
    Reset(Vec<ResetTarget>),
    /// `LOCK TABLES`.
    LockTables(Vec<LockTable>),
    /// `UNLOCK TABLES`.
    UnlockTables,
    /// `HELP topic`.
    Help(String),
    /// `BINLOG 'base64'`.
    Binlog(BinlogEvents),
    /// `SHUTDOWN`.
    Shutdown,
    /// `CHANGE MASTER`, `START SLAVE` and their like.
    Replication(ReplicationStatement),
    /// A statement that MariaDB has and this server has not: 1235 with this name for it.
    Unsupported(&'static str),
}

/// Where a BINLOG statement's events are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BinlogEvents {
    /// In its text, as Base64.
    Text(String),
    /// In two user variables, one behind the other, since they are too long for one packet.
    Variables([String; 2]),
}

/// The name of a table, with or without its database.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TableName {
    /// The database, where it was named.
    pub database: Option<String>,
    /// The table.
    pub name: String,
}

impl TableName {
    /// A name without a database.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            database: None,
            name: name.into(),
        }
    }

    /// A name with its database.
    pub fn qualified(database: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            database: Some(database.into()),
            name: name.into(),
        }
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(database) = &self.database {
            write!(f, "{database}.")?;
        }
        f.write_str(&self.name)
    }
}

/// `SELECT` and what may stand around it at the outermost level.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryStatement {
    /// The query. Its `locks` hold `FOR UPDATE` and `LOCK IN SHARE MODE`.
    pub query: Query,
    /// How long a locking read waits, where `WAIT n` said it: seconds.
    pub lock_wait_seconds: Option<u64>,
    /// `INTO …`.
    pub into: Option<SelectInto>,
    /// Where INTO stands.
    pub into_place: IntoPlace,
}

/// Where the INTO of a query stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum IntoPlace {
    /// Behind the select list, or nowhere.
    #[default]
    BehindSelectList,
    /// Behind something else: MariaDB takes it with a warning.
    AtEnd,
}

/// Where `SELECT … INTO` puts its row.
#[derive(Debug, Clone, PartialEq)]
pub enum SelectInto {
    /// User variables, without the `@`.
    Variables(Vec<String>),
    /// `INTO OUTFILE 'path' …`.
    Outfile {
        /// The file.
        path: String,
        /// How it is to hold the rows.
        format: Box<FileFormat>,
    },
    /// `INTO DUMPFILE 'path'`.
    Dumpfile(String),
}

/// `INSERT` or `REPLACE`.
#[derive(Debug, Clone, PartialEq)]
pub struct Insert {
    /// Which of the two.
    pub kind: InsertKind,
    /// `IGNORE`: errors of single rows become warnings.
    pub ignore: bool,
    /// The table.
    pub table: TableName,
    /// The columns named, in order; empty when none were. `SET a=1, b=2` names them too.
    pub columns: Vec<ColumnName>,
    /// Where the rows come from.
    pub source: InsertSource,
    /// `ON DUPLICATE KEY UPDATE`; empty when absent.
    pub on_duplicate: Vec<Assignment>,
    /// `RETURNING`; empty when absent.
    pub returning: Vec<SelectItem>,
}

/// `INSERT` or `REPLACE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InsertKind {
    /// `INSERT`.
    Insert,
    /// `REPLACE`.
    Replace,
}

/// Where inserted rows come from.
#[derive(Debug, Clone, PartialEq)]
pub enum InsertSource {
    /// `VALUES (…), (…)`, and `SET`. A row may be empty: `VALUES ()`.
    Values(Vec<Vec<AssignedValue>>),
    /// A query.
    Query(Box<QueryStatement>),
}

/// A column as the target of an assignment, with what was written in front of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ColumnName {
    /// The database, where it was named.
    pub database: Option<String>,
    /// The table or alias, where it was named.
    pub table: Option<String>,
    /// The column.
    pub name: String,
}

impl ColumnName {
    /// A column without qualification.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            database: None,
            table: None,
            name: name.into(),
        }
    }
}

impl fmt::Display for ColumnName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in [&self.database, &self.table].into_iter().flatten() {
            write!(f, "{part}.")?;
        }
        f.write_str(&self.name)
    }
}

/// `column = value`.
#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    /// The column.
    pub column: ColumnName,
    /// Its value.
    pub value: AssignedValue,
}

/// What a column is given.
#[derive(Debug, Clone, PartialEq)]
pub enum AssignedValue {
    /// `DEFAULT`.
    Default,
    /// An expression.
    Expr(Expr),
}

/// `UPDATE`.
#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    /// `IGNORE`.
    pub ignore: bool,
    /// The tables; one without joins in the simple form.
    pub tables: Vec<TableWithJoins>,
    /// `SET`.
    pub assignments: Vec<Assignment>,
    /// `WHERE`.
    pub selection: Option<Expr>,
    /// `ORDER BY`; only in the simple form.
    pub order_by: Vec<OrderByExpr>,
    /// `LIMIT`; only in the simple form.
    pub limit: Option<Expr>,
}

/// `DELETE`.
#[derive(Debug, Clone, PartialEq)]
pub struct Delete {
    /// `IGNORE`.
    pub ignore: bool,
    /// The tables to delete from, in the form for several tables; empty in the simple form. A name may be an alias of `from`.
    pub targets: Vec<TableName>,
    /// The tables; in the simple form one without joins.
    pub from: Vec<TableWithJoins>,
    /// `WHERE`.
    pub selection: Option<Expr>,
    /// `ORDER BY`; only in the simple form.
    pub order_by: Vec<OrderByExpr>,
    /// `LIMIT`; only in the simple form.
    pub limit: Option<Expr>,
    /// `RETURNING`; empty when absent.
    pub returning: Vec<SelectItem>,
}

/// `LOAD DATA [LOCAL] INFILE`.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadData {
    /// `LOCAL`: the file is the client's.
    pub local: bool,
    /// The file.
    pub path: String,
    /// What to do with duplicates.
    pub duplicates: Duplicates,
    /// The table.
    pub table: TableName,
    /// How the file holds rows.
    pub format: FileFormat,
    /// `IGNORE n LINES`.
    pub ignore_lines: u64,
    /// Columns and user variables, in order.
    pub columns: Vec<Expr>,
    /// `SET`.
    pub assignments: Vec<Assignment>,
}

/// What to do with a row whose key is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Duplicates {
    /// 1062.
    Error,
    /// Skip the new row with a warning.
    Ignore,
    /// Delete the old row.
    Replace,
}

/// One part of `SET`.
#[derive(Debug, Clone, PartialEq)]
pub enum SetItem {
    /// A system variable.
    Variable {
        /// Which of its values.
        scope: VariableScope,
        /// `base` of `SET base.name`: a structured variable (a key cache, a replication connection).
        base: Option<String>,
        /// The name as written.
        name: String,
        /// The value.
        value: SetValue,
    },
    /// `@name := value`.
    UserVariable {
        /// The name without `@`.
        name: String,
        /// The value.
        value: Expr,
    },
    /// `NAMES charset [COLLATE collation]`; no charset means `DEFAULT`.
    Names {
        /// The character set.
        charset: Option<String>,
        /// The collation.
        collation: Option<String>,
    },
    /// `CHARACTER SET charset`; none means `DEFAULT`.
    CharacterSet(Option<String>),
    /// `[GLOBAL | SESSION] TRANSACTION …`.
    Transaction {
        /// For the next transaction, for the session, or for new sessions.
        scope: TransactionScope,
        /// `ISOLATION LEVEL`.
        isolation: Option<IsolationLevel>,
        /// `READ ONLY` or `READ WRITE`.
        access: Option<AccessMode>,
    },
    /// `PASSWORD [FOR account] = …`.
    Password {
        /// The account; none means one's own.
        account: Option<AccountName>,
        /// The password.
        password: PasswordSpec,
    },
    /// `ROLE`, `DEFAULT ROLE`.
    Role,
}

/// For whom `SET TRANSACTION` holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionScope {
    /// The next transaction of this session.
    Next,
    /// All later transactions of this session.
    Session,
    /// Sessions to come.
    Global,
}

/// The value of a system variable.
#[derive(Debug, Clone, PartialEq)]
pub enum SetValue {
    /// `DEFAULT`.
    Default,
    /// A bare word, which stands for a string: `ON`, `utf8mb4`, `ROW`.
    Word(String),
    /// An expression.
    Expr(Expr),
}

/// A transaction's isolation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IsolationLevel {
    /// `READ UNCOMMITTED`.
    ReadUncommitted,
    /// `READ COMMITTED`.
    ReadCommitted,
    /// `REPEATABLE READ`.
    RepeatableRead,
    /// `SERIALIZABLE`.
    Serializable,
}

/// What a transaction may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessMode {
    /// `READ ONLY`.
    ReadOnly,
    /// `READ WRITE`.
    ReadWrite,
}

/// Transactions and savepoints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TransactionStatement {
    /// `BEGIN`, `START TRANSACTION`.
    Start {
        /// `WITH CONSISTENT SNAPSHOT`.
        consistent_snapshot: bool,
        /// `AT GTID '…'`, a list of GTIDs (ours): the state at that position.
        snapshot_at: Option<String>,
        /// `READ ONLY`, `READ WRITE`.
        access: Option<AccessMode>,
    },
    /// `COMMIT`.
    Commit(Completion),
    /// `ROLLBACK`.
    Rollback(Completion),
    /// `SAVEPOINT name`.
    Savepoint(String),
    /// `ROLLBACK TO name`.
    RollbackTo(String),
    /// `RELEASE SAVEPOINT name`.
    Release(String),
}

/// What follows the end of a transaction; `None` leaves it to `completion_type`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Completion {
    /// `AND [NO] CHAIN`.
    pub chain: Option<bool>,
    /// `[NO] RELEASE`.
    pub release: Option<bool>,
}

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
    /// `USER_STATISTICS`, `CLIENT_STATISTICS`, `INDEX_STATISTICS`, `TABLE_STATISTICS` and other tables of information_schema.
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

/// `'user'@'host'`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AccountName {
    /// Who.
    pub user: UserName,
    /// From where; `%` when not said. In lower case.
    pub host: String,
}

/// The user part of an account.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum UserName {
    /// A name.
    Name(String),
    /// `CURRENT_USER`.
    Current,
    /// `PUBLIC`, `CURRENT_ROLE` or a role without a host.
    Role(String),
}

/// A password, as a statement gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PasswordSpec {
    /// `IDENTIFIED BY 'secret'`, `PASSWORD('secret')`.
    Plain(String),
    /// `IDENTIFIED BY PASSWORD '*hash'`, `'*hash'`.
    Hash(String),
}

/// How an account proves itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Authentication {
    /// `IDENTIFIED BY`: the default plugin.
    Password(PasswordSpec),
    /// `IDENTIFIED VIA plugin [USING 'string' | USING PASSWORD('secret')] [OR …]`.
    Plugins(Vec<AuthenticationPlugin>),
}

/// One of an account's authentication plugins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthenticationPlugin {
    /// The plugin's name.
    pub plugin: String,
    /// What it is given.
    pub credential: Option<PasswordSpec>,
}

/// An account and what a statement says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountSpec {
    /// The account.
    pub account: AccountName,
    /// `IDENTIFIED …`.
    pub authentication: Option<Authentication>,
}

/// `REQUIRE`, `WITH`, `ACCOUNT LOCK`, `PASSWORD EXPIRE`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccountOptions {
    /// `REQUIRE NONE | SSL | X509 | …`.
    pub require: Option<TlsRequirement>,
    /// `WITH MAX_QUERIES_PER_HOUR n …`: name in capitals and value.
    pub limits: Vec<(String, u64)>,
    /// `ACCOUNT LOCK` or `UNLOCK`.
    pub locked: Option<bool>,
    /// `PASSWORD EXPIRE …`.
    pub password_expire: Option<PasswordExpire>,
}

/// `REQUIRE …`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TlsRequirement {
    /// `NONE`.
    None,
    /// `SSL`.
    Ssl,
    /// `X509`.
    X509,
    /// `SUBJECT`, `ISSUER`, `CIPHER`.
    Specified {
        /// `SUBJECT`.
        subject: Option<String>,
        /// `ISSUER`.
        issuer: Option<String>,
        /// `CIPHER`.
        cipher: Option<String>,
    },
}

/// `PASSWORD EXPIRE …`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasswordExpire {
    /// Now.
    Now,
    /// `NEVER`.
    Never,
    /// `DEFAULT`.
    Default,
    /// `INTERVAL n DAY`.
    Days(u32),
}

/// Statements about accounts and privileges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccountStatement {
    /// `CREATE USER`.
    Create {
        /// `OR REPLACE`.
        or_replace: bool,
        /// `IF NOT EXISTS`.
        if_not_exists: bool,
        /// The accounts.
        accounts: Vec<AccountSpec>,
        /// Options for all of them.
        options: AccountOptions,
    },
    /// `ALTER USER`.
    Alter {
        /// `IF EXISTS`.
        if_exists: bool,
        /// The accounts.
        accounts: Vec<AccountSpec>,
        /// Options for all of them.
        options: AccountOptions,
    },
    /// `DROP USER`.
    Drop {
        /// `IF EXISTS`.
        if_exists: bool,
        /// The accounts.
        accounts: Vec<AccountName>,
    },
    /// `RENAME USER`.
    Rename(Vec<(AccountName, AccountName)>),
    /// `GRANT`.
    Grant {
        /// The privileges.
        privileges: Vec<PrivilegeSpec>,
        /// On what.
        level: PrivilegeLevel,
        /// To whom.
        accounts: Vec<AccountSpec>,
        /// `REQUIRE`, `WITH`.
        options: AccountOptions,
        /// `WITH GRANT OPTION`.
        grant_option: bool,
    },
    /// `REVOKE`.
    Revoke {
        /// The privileges.
        privileges: Vec<PrivilegeSpec>,
        /// On what.
        level: PrivilegeLevel,
        /// From whom.
        accounts: Vec<AccountName>,
    },
    /// `REVOKE ALL PRIVILEGES, GRANT OPTION FROM`.
    RevokeAll(Vec<AccountName>),
    /// `SET PASSWORD`: where it stands alone.
    SetPassword {
        /// The account; none means one's own.
        account: Option<AccountName>,
        /// The password.
        password: PasswordSpec,
    },
}

/// A privilege, with columns where it was given for columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrivilegeSpec {
    /// In capitals, with single spaces: `SELECT`, `CREATE TEMPORARY TABLES`, `ALL PRIVILEGES`, `USAGE`, `GRANT OPTION`.
    pub privilege: String,
    /// The columns; empty means all of the object.
    pub columns: Vec<String>,
}

/// On what a privilege is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PrivilegeLevel {
    /// `*.*`.
    Global,
    /// `db.*`; `*` (the current database) has no name. Wildcards as written.
    Database(Option<String>),
    /// `db.table` or `table`.
    Table(TableName),
    /// `FUNCTION`, `PROCEDURE`, `PACKAGE`.
    Routine(TableName),
}

/// What CHECKSUM TABLE is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChecksumEffort {
    /// Read all rows: EXTENDED, or nothing said.
    Rows,
    /// QUICK: a checksum that the table keeps up to date, or NULL.
    Kept,
}

/// `ANALYZE TABLE` and its like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableMaintenance {
    /// `ANALYZE`.
    Analyze,
    /// `CHECK`.
    Check,
    /// `OPTIMIZE`.
    Optimize,
    /// `REPAIR`.
    Repair,
}

/// `KILL`.
#[derive(Debug, Clone, PartialEq)]
pub struct Kill {
    /// `QUERY`: only its statement.
    pub query_only: bool,
    /// Whom.
    pub target: KillTarget,
}

/// Whom to kill.
#[derive(Debug, Clone, PartialEq)]
pub enum KillTarget {
    /// A connection.
    Connection(Expr),
    /// `QUERY ID n`.
    QueryId(Expr),
    /// `USER name`.
    User(AccountName),
}

/// What to flush.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlushTarget {
    /// `TABLES`, `TABLES a, b`.
    Tables {
        /// The tables; empty means all.
        tables: Vec<TableName>,
        /// What comes with it.
        lock: FlushTablesLock,
    },
    /// `LOGS` and `… LOGS`: in capitals (`BINARY`, `ERROR`, `ENGINE`, `GENERAL`, `SLOW`, `RELAY`), empty for all.
    Logs(&'static str),
    /// `BINARY LOGS DELETE_DOMAIN_ID=(…)`: the replication domains that the log is to forget.
    DeleteDomains(Vec<u32>),
    /// `STATUS`, `PRIVILEGES`, `HOSTS`, `QUERY CACHE` …: in capitals.
    Other(&'static str),
}

/// What `FLUSH TABLES` does besides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlushTablesLock {
    /// Nothing.
    None,
    /// `WITH READ LOCK`.
    ReadLock,
    /// `FOR EXPORT`.
    Export,
    /// `WITH READ LOCK AND DISABLE CHECKPOINT`.
    ReadLockDisableCheckpoint,
}

/// `PURGE BINARY LOGS`.
#[derive(Debug, Clone, PartialEq)]
pub enum Purge {
    /// `TO 'file'`.
    To(String),
    /// `BEFORE time`.
    Before(Expr),
}

/// `BACKUP …`: what the server's backup is streamed by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Backup {
    /// `SERVER`: all tables, and the log from where they are.
    Server,
    /// `BINARY LOGS`: what the log has gained since a backup before.
    BinaryLogs {
        /// What that backup has ended with.
        from: String,
    },
}

/// `RESET …`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResetTarget {
    /// `MASTER [TO n]`.
    Master(Option<u64>),
    /// `QUERY CACHE`.
    QueryCache,
    /// `SLAVE [name] [ALL]`.
    Slave {
        /// The connection's name.
        connection: Option<String>,
        /// `ALL`: forget the connection's parameters too.
        all: bool,
    },
}

/// One table of `LOCK TABLES`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockTable {
    /// The table.
    pub table: TableName,
    /// The alias.
    pub alias: Option<String>,
    /// `READ` or `WRITE`.
    pub write: bool,
}

/// `CHANGE MASTER` and its like.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplicationStatement {
    /// `CHANGE MASTER [name] TO …`: names in capitals, values as written.
    ChangeMaster {
        /// The connection's name.
        connection: Option<String>,
        /// The settings.
        settings: Vec<(String, ReplicationValue)>,
    },
    /// `START SLAVE [name] [threads] [UNTIL …]`.
    Start {
        /// The connection's name; `ALL SLAVES` has `all`.
        connection: Option<String>,
        /// `ALL SLAVES`.
        all: bool,
        /// `IO_THREAD`, `SQL_THREAD`; both when none is named.
        threads: ReplicationThreads,
        /// `UNTIL …`: names in capitals.
        until: Vec<(String, ReplicationValue)>,
    },
    /// `STOP SLAVE [name] [threads]`.
    Stop {
        /// The connection's name.
        connection: Option<String>,
        /// `ALL SLAVES`.
        all: bool,
        /// Which threads.
        threads: ReplicationThreads,
    },
}

/// A value of `CHANGE MASTER` or `UNTIL`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplicationValue {
    /// A string.
    Text(String),
    /// A number, as written.
    Number(String),
    /// A bare word: `slave_pos`, `current_pos`, `no`, `AUTO`.
    Word(String),
    /// A list of numbers: `IGNORE_SERVER_IDS`, `DO_DOMAIN_IDS`.
    Numbers(Vec<u64>),
}

/// Which threads of a replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplicationThreads {
    /// Both.
    Both,
    /// `IO_THREAD`.
    Io,
    /// `SQL_THREAD`.
    Sql,
}

/// A table of a simple `UPDATE` or `DELETE`, taken out of its tree.
///
/// # Returns
/// `None` if this is a join, a derived table or several tables.
pub fn single_table(from: &[TableWithJoins]) -> Option<(TableName, Option<&TableAlias>)> {
    use sqlparser::ast::TableFactor;
    match from {
        [
            TableWithJoins {
                relation: TableFactor::Table { name, alias, .. },
                joins,
            },
        ] if joins.is_empty() => Some((table_name(name)?, alias.as_ref())),
        _ => None,
    }
}

/// The name of a table in a query's tree.
///
/// # Returns
/// `None` for a name of more than two parts.
pub fn table_name(name: &sqlparser::ast::ObjectName) -> Option<TableName> {
    let mut parts = name.0.iter().map(|part| part.as_ident());
    let first: &Ident = parts.next()??;
    let result = match parts.next() {
        None => TableName::new(first.value.clone()),
        Some(second) => TableName::qualified(first.value.clone(), second?.value.clone()),
    };
    parts.next().is_none().then_some(result)
}
