//! What execution asks of the server around it. `server` implements these; tests use [`NoServices`].

use std::fmt::Debug;
use std::path::PathBuf;
use std::time::Duration;

use paceline_types::Value;

use super::{SessionContext, WantedRows};
use crate::ExprType;
use crate::error::Result;
use paceline_syntax::ast::VariableScope;

/// A system variable's value and how result sets describe it.
#[derive(Clone, Debug)]
pub struct SystemVariable {
    /// The value now.
    pub value: Value,
    /// Its type.
    pub ty: ExprType,
}

/// System variables by name.
pub trait SystemVariables: Send + Sync + Debug {
    /// Reads a variable. `name` in lower case.
    ///
    /// # Errors
    /// 1193 for an unknown name, 1238 for the wrong scope.
    fn get(&self, session: &SessionContext, name: &str, scope: VariableScope) -> Result<SystemVariable>;
}

/// One privilege, as GRANT names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // The names are MariaDB's own.
pub enum Privilege {
    Select,
    Insert,
    Update,
    Delete,
    Create,
    Drop,
    Reload,
    Shutdown,
    Process,
    File,
    GrantOption,
    References,
    Index,
    Alter,
    ShowDatabases,
    Super,
    CreateTemporaryTables,
    LockTables,
    Execute,
    ReplicationSlave,
    BinlogMonitor,
    CreateView,
    ShowView,
    CreateRoutine,
    AlterRoutine,
    CreateUser,
    Event,
    Trigger,
    CreateTablespace,
    DeleteHistory,
    SetUser,
    FederatedAdmin,
    ConnectionAdmin,
    ReadOnlyAdmin,
    ReplicationSlaveAdmin,
    ReplicationMasterAdmin,
    BinlogAdmin,
    BinlogReplay,
    SlaveMonitor,
}

/// What a privilege is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrivilegeTarget<'a> {
    /// `*.*`.
    Global,
    /// `database.*`.
    Database(&'a str),
    /// `database.table`.
    Table {
        /// The database's name.
        database: &'a str,
        /// The table's name.
        table: &'a str,
    },
}

/// Who may do what.
pub trait Privileges: Send + Sync + Debug {
    /// Whether the session's account has the privilege.
    ///
    /// # Errors
    /// 1142, 1044 or 1227, ready to be sent.
    fn check(
        &self,
        session: &SessionContext,
        privilege: Privilege,
        target: PrivilegeTarget<'_>,
    ) -> Result<()>;

    /// Whether the account may know that the database is there (any privilege in it).
    fn can_see_database(&self, session: &SessionContext, database: &str) -> bool;
}

/// A column of a table that exists only in memory.
#[derive(Clone, Debug)]
pub struct VirtualColumn {
    /// The name, in upper case in `information_schema`.
    pub name: String,
    /// The type.
    pub ty: ExprType,
}

/// Tables whose rows the server makes on demand: `information_schema`, `performance_schema`.
pub trait VirtualTables: Send + Sync + Debug {
    /// The columns, or `None` when there is no such table. Names compare without case.
    fn columns(&self, database: &str, table: &str) -> Option<Vec<VirtualColumn>>;

    /// The rows as they are now: those that are wanted, at least. Columns that are not read may have any value.
    ///
    /// # Errors
    /// What reading them meets.
    fn rows(
        &self,
        session: &SessionContext,
        database: &str,
        table: &str,
        wanted: &WantedRows,
    ) -> Result<Vec<Vec<Value>>>;
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitOutcome {
    /// The time was over.
    Elapsed,
    /// What was waited for came.
    Done,
    /// KILL QUERY or a shutdown.
    Interrupted,
}

/// Functions whose answer lies outside the statement: waiting, user locks, the log.
pub trait ServerFunctions: Send + Sync + Debug {
    /// Sleeps; ends early when the session's statement is killed.
    fn sleep(&self, session: &SessionContext, duration: Duration) -> WaitOutcome;

    /// An error when the running statement was killed (1317) or the server shuts down (1053).
    ///
    /// # Errors
    /// 1317, 1053, 1969 (`max_statement_time`).
    fn check_interrupt(&self, session: &SessionContext) -> Result<()>;

    /// `GET_LOCK(name, timeout)`; a negative timeout waits forever.
    ///
    /// # Errors
    /// 1213 for a deadlock among user locks.
    fn get_lock(&self, session: &SessionContext, name: &str, timeout_seconds: f64) -> Result<WaitOutcome>;

    /// `RELEASE_LOCK(name)`: `None` when there is no such lock, `false` when another session holds it.
    fn release_lock(&self, session: &SessionContext, name: &str) -> Option<bool>;

    /// `RELEASE_ALL_LOCKS()`: how many were held.
    fn release_all_locks(&self, session: &SessionContext) -> u64;

    /// `IS_USED_LOCK(name)`: the holder's connection id.
    fn lock_holder(&self, session: &SessionContext, name: &str) -> Option<u64>;

    /// `BINLOG_GTID_POS(file, offset)`.
    ///
    /// # Errors
    /// What reading the log meets.
    fn binlog_gtid_pos(&self, session: &SessionContext, file: &str, offset: u64) -> Result<Option<String>>;

    /// `MASTER_GTID_WAIT(list[, timeout])`: 0 reached, -1 timed out.
    ///
    /// # Errors
    /// 1941 for a malformed list, 1317 when interrupted.
    fn master_gtid_wait(
        &self,
        session: &SessionContext,
        position: &str,
        timeout_seconds: Option<f64>,
    ) -> Result<i64>;

    /// `MASTER_POS_WAIT(file, offset[, timeout[, connection]])`.
    ///
    /// # Errors
    /// 1317 when interrupted.
    fn master_pos_wait(&self, session: &SessionContext, wait: &PlaceWait<'_>) -> Result<SourceWaitOutcome>;

    /// The path of a file that the session may read by `LOAD_FILE()`; `None` if it may not.
    fn readable_file(&self, session: &SessionContext, name: &str) -> Option<PathBuf>;

    /// What `VERSION()` returns.
    fn version(&self) -> String;
}

/// What `MASTER_POS_WAIT()` waits for.
#[derive(Clone, Copy, Debug)]
pub struct PlaceWait<'a> {
    /// The file of the primary's log.
    pub file: &'a str,
    /// The offset in it, in bytes.
    pub offset: u64,
    /// For how long; `None`: for ever.
    pub timeout: Option<Duration>,
    /// By which connection; `None`: `default_master_connection`.
    pub connection: Option<&'a str>,
}

/// How `MASTER_POS_WAIT()` ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SourceWaitOutcome {
    /// It is there, after so many moves; -1 after the timeout.
    Done(i64),
    /// It does not get there: the applier does not run, or the place is none of its log.
    InVain,
    /// There is no such connection.
    NoConnection(String),
}

/// Every service refused or empty: for tests and for evaluation without a server around it.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoServices;

impl SystemVariables for NoServices {
    fn get(&self, _session: &SessionContext, name: &str, _scope: VariableScope) -> Result<SystemVariable> {
        Err(crate::errors::unknown_system_variable(name))
    }
}

impl Privileges for NoServices {
    fn check(
        &self,
        _session: &SessionContext,
        _privilege: Privilege,
        _target: PrivilegeTarget<'_>,
    ) -> Result<()> {
        Ok(())
    }

    fn can_see_database(&self, _session: &SessionContext, _database: &str) -> bool {
        true
    }
}

impl VirtualTables for NoServices {
    fn columns(&self, _database: &str, _table: &str) -> Option<Vec<VirtualColumn>> {
        None
    }

    fn rows(
        &self,
        _session: &SessionContext,
        _database: &str,
        _table: &str,
        _wanted: &WantedRows,
    ) -> Result<Vec<Vec<Value>>> {
        Ok(Vec::new())
    }
}

impl ServerFunctions for NoServices {
    fn sleep(&self, _session: &SessionContext, duration: Duration) -> WaitOutcome {
        std::thread::sleep(duration);
        WaitOutcome::Elapsed
    }

    fn check_interrupt(&self, _session: &SessionContext) -> Result<()> {
        Ok(())
    }

    fn get_lock(&self, _session: &SessionContext, _name: &str, _timeout_seconds: f64) -> Result<WaitOutcome> {
        Ok(WaitOutcome::Done)
    }

    fn release_lock(&self, _session: &SessionContext, _name: &str) -> Option<bool> {
        None
    }

    fn release_all_locks(&self, _session: &SessionContext) -> u64 {
        0
    }

    fn lock_holder(&self, _session: &SessionContext, _name: &str) -> Option<u64> {
        None
    }

    fn binlog_gtid_pos(
        &self,
        _session: &SessionContext,
        _file: &str,
        _offset: u64,
    ) -> Result<Option<String>> {
        Ok(None)
    }

    fn master_gtid_wait(
        &self,
        _session: &SessionContext,
        _position: &str,
        _timeout_seconds: Option<f64>,
    ) -> Result<i64> {
        Ok(0)
    }

    fn master_pos_wait(&self, _session: &SessionContext, _wait: &PlaceWait<'_>) -> Result<SourceWaitOutcome> {
        Ok(SourceWaitOutcome::InVain)
    }

    fn readable_file(&self, _session: &SessionContext, _name: &str) -> Option<PathBuf> {
        None
    }

    fn version(&self) -> String {
        "10.11.0-MariaDB-paceline".to_owned()
    }
}
