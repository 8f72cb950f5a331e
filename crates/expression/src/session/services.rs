//! Services that execution needs from the server around it. `server` implements them; tests use
//! [`NoServices`].

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use paceline_native_functions::NativeFunction;
use paceline_types::Value;

use super::{SessionContext, WantedRows};
use crate::ExprType;
use crate::error::Result;
use paceline_syntax::ExplainFlavour;
use paceline_syntax::ast::VariableScope;

/// A system variable's value and its type in result sets.
#[derive(Clone, Debug)]
pub struct SystemVariable {
    /// Current value.
    pub value: Value,
    /// Type in result sets.
    pub ty: ExprType,
}

/// Access to system variables by name.
pub trait SystemVariables: Send + Sync + Debug {
    /// Reads a variable. `name` is in lower case.
    ///
    /// # Errors
    /// 1193 for an unknown name, 1238 for the wrong scope.
    fn get(&self, session: &SessionContext, name: &str, scope: VariableScope) -> Result<SystemVariable>;
}

/// A privilege by its name in GRANT.
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

/// Object that a privilege is needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrivilegeTarget<'a> {
    /// `*.*`.
    Global,
    /// `database.*`.
    Database(&'a str),
    /// `database.table`.
    Table {
        /// Name of the database.
        database: &'a str,
        /// Name of the table.
        table: &'a str,
    },
}

/// Privilege checks.
pub trait Privileges: Send + Sync + Debug {
    /// Checks that the session's account has the privilege.
    ///
    /// # Errors
    /// 1142, 1044 or 1227 with MariaDB's message.
    fn check(
        &self,
        session: &SessionContext,
        privilege: Privilege,
        target: PrivilegeTarget<'_>,
    ) -> Result<()>;

    /// Checks that the session's account may read a column of a table; `None` is one that the table does not have.
    ///
    /// # Errors
    /// 1142 without any privilege on the table, otherwise 1143.
    fn check_column(
        &self,
        session: &SessionContext,
        database: &str,
        table: &str,
        column: Option<&str>,
    ) -> Result<()>;

    /// Returns whether a role has this name.
    fn is_role(&self, name: &str) -> bool;

    /// Begins the execution of a stored program with the privileges of its definer.
    ///
    /// # Errors
    /// 1449 if the account does not exist.
    fn begin_definer(&self, user: &str, host: &str) -> Result<()>;

    /// Ends the last execution that was begun, and restores the privileges before it.
    fn end_definer(&self);

    /// Returns whether the account may see that the database exists: any privilege in it suffices.
    fn can_see_database(&self, session: &SessionContext, database: &str) -> bool;
}

/// A column of a virtual table.
#[derive(Clone, Debug)]
pub struct VirtualColumn {
    /// Name; in upper case in `information_schema`.
    pub name: String,
    /// Type of the values.
    pub ty: ExprType,
    /// The default that MariaDB declares, as COLUMNS shows it.
    pub default: Option<&'static str>,
}

/// Virtual tables: `information_schema` and `performance_schema`, whose rows the server computes.
pub trait VirtualTables: Send + Sync + Debug {
    /// Returns the columns; `None` if there is no such table. Names are compared without case.
    fn columns(&self, database: &str, table: &str) -> Option<Vec<VirtualColumn>>;

    /// Returns the current rows: at least those in `wanted`. Columns that are not read can have any value.
    ///
    /// # Errors
    /// Errors of reading them.
    fn rows(
        &self,
        session: &SessionContext,
        database: &str,
        table: &str,
        wanted: &WantedRows,
    ) -> Result<Vec<Vec<Value>>>;
}

/// Outcome of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitOutcome {
    /// The time has elapsed.
    Elapsed,
    /// The condition became true.
    Done,
    /// The wait was ended by KILL QUERY or a shutdown.
    Interrupted,
}

/// How far a statement is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StatementProgress {
    /// State in the process list, in MariaDB's words.
    pub state: &'static str,
    /// Number of the stage, from 1.
    pub stage: u8,
    /// Number of all stages.
    pub stages: u8,
    /// Part of the stage that is done, from 0 to 1.
    pub part: f64,
}

/// Request of another session for the plan of a measured statement, with the measurements so far (SHOW ANALYZE).
pub struct PlanRequest {
    /// Form of the answer.
    pub flavour: ExplainFlavour,
    /// Receives the rows in that form.
    pub answer: Box<dyn FnOnce(Vec<Vec<Value>>) + Send>,
}

/// Functions whose result comes from outside the statement: waiting, user locks, the log.
pub trait ServerFunctions: Send + Sync + Debug {
    /// Sleeps. Returns early if the session's statement is killed.
    fn sleep(&self, session: &SessionContext, duration: Duration) -> WaitOutcome;

    /// Checks that the running statement was not killed, that it is within its time limit, and that the
    /// server is not shutting down.
    ///
    /// # Errors
    /// 1317 (killed), 1053 (shutdown), 1969 (`max_statement_time`).
    fn check_interrupt(&self, session: &SessionContext) -> Result<()>;

    /// Notes how far the running statement is, for the process list. Costs a lock of the session's own, so it is not
    /// called for every row.
    fn note_progress(&self, _progress: &StatementProgress) {}

    /// Returns the request of another session for the running statement's plan, if there is one.
    fn take_plan_request(&self) -> Option<PlanRequest> {
        None
    }

    /// Implements `GET_LOCK(name, timeout)`. A negative timeout waits without limit.
    ///
    /// # Errors
    /// 1213 for a deadlock among user locks.
    fn get_lock(&self, session: &SessionContext, name: &str, timeout_seconds: f64) -> Result<WaitOutcome>;

    /// Implements `RELEASE_LOCK(name)`: `None` if there is no such lock, `false` if another session holds it.
    fn release_lock(&self, session: &SessionContext, name: &str) -> Option<bool>;

    /// Implements `RELEASE_ALL_LOCKS()`, which returns the number of locks that were held.
    fn release_all_locks(&self, session: &SessionContext) -> u64;

    /// Implements `IS_USED_LOCK(name)`, which returns the holder's connection id.
    fn lock_holder(&self, session: &SessionContext, name: &str) -> Option<u64>;

    /// Implements `BINLOG_GTID_POS(file, offset)`.
    ///
    /// # Errors
    /// Errors of reading the log.
    fn binlog_gtid_pos(&self, session: &SessionContext, file: &str, offset: u64) -> Result<Option<String>>;

    /// Implements `MASTER_GTID_WAIT(list[, timeout])`: 0 for reached, -1 for timed out.
    ///
    /// # Errors
    /// 1941 for a malformed list, 1317 when interrupted.
    fn master_gtid_wait(
        &self,
        session: &SessionContext,
        position: &str,
        timeout_seconds: Option<f64>,
    ) -> Result<i64>;

    /// Implements `MASTER_POS_WAIT(file, offset[, timeout[, connection]])`.
    ///
    /// # Errors
    /// 1317 when interrupted.
    fn master_pos_wait(&self, session: &SessionContext, wait: &PlaceWait<'_>) -> Result<SourceWaitOutcome>;

    /// Implements `NEXTVAL(sequence)`.
    ///
    /// # Errors
    /// 4084 after the last value; errors of locks and of the commit of a reservation.
    fn next_value(&self, session: &SessionContext, database: &str, name: &str) -> Result<i64>;

    /// Implements `LASTVAL(sequence)`: the value of the session's last `NEXTVAL`, if there is one.
    ///
    /// # Errors
    /// 4091 if there is no such sequence.
    fn last_value(&self, session: &SessionContext, database: &str, name: &str) -> Result<Option<i64>>;

    /// Implements `SETVAL(sequence, …)`. Returns false if the sequence has already passed
    /// the value.
    ///
    /// # Errors
    /// As [`ServerFunctions::next_value`].
    fn set_value(
        &self,
        session: &SessionContext,
        database: &str,
        name: &str,
        set: SequenceSet,
    ) -> Result<bool>;

    /// Replaces the row of a sequence: INSERT.
    ///
    /// # Errors
    /// 4085 if the values contradict each other.
    fn insert_sequence_row(
        &self,
        session: &SessionContext,
        database: &str,
        name: &str,
        row: &[Value],
    ) -> Result<()>;

    /// Returns the path of a file that the session may read by `LOAD_FILE()`; `None` if it may not.
    fn readable_file(&self, session: &SessionContext, name: &str) -> Option<PathBuf>;

    /// Returns the loadable function of this name, in any case; `None` if there is none.
    ///
    /// # Errors
    /// 1290 if the server does not load libraries; 1126, 1127 if the function's library or its symbols are missing.
    fn loadable_function(&self, _name: &str) -> Result<Option<Arc<NativeFunction>>> {
        Ok(None)
    }

    /// Runs code of a library, which may take any time, so that other sessions do not wait for it.
    fn run_native(&self, code: &mut dyn FnMut()) {
        code();
    }

    /// Returns the result of `VERSION()`.
    fn version(&self) -> String;
}

/// Arguments of `SETVAL()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequenceSet {
    /// The value.
    pub value: i64,
    /// Whether the value counts as given out.
    pub is_used: bool,
    /// Number of complete cycles.
    pub round: u64,
}

/// Arguments of `MASTER_POS_WAIT()`.
#[derive(Clone, Copy, Debug)]
pub struct PlaceWait<'a> {
    /// File of the primary's log.
    pub file: &'a str,
    /// Offset in the file, in bytes.
    pub offset: u64,
    /// Maximum waiting time; `None` for no limit.
    pub timeout: Option<Duration>,
    /// Connection to wait for; `None` is `default_master_connection`.
    pub connection: Option<&'a str>,
}

/// Outcome of `MASTER_POS_WAIT()`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SourceWaitOutcome {
    /// Position reached, after this number of moves; -1 after the timeout.
    Done(i64),
    /// The position cannot be reached: the applier does not run, or the position is not in its log.
    InVain,
    /// There is no connection of this name.
    NoConnection(String),
}

fn no_sequence(database: &str, name: &str) -> crate::Error {
    let name = format!("{database}.{name}");
    crate::errors::error(paceline_types::error_code::ER_UNKNOWN_SEQUENCES, &[&name])
}

/// Services that are empty or return errors, for tests and for evaluation without a server.
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

    fn check_column(
        &self,
        _session: &SessionContext,
        _database: &str,
        _table: &str,
        _column: Option<&str>,
    ) -> Result<()> {
        Ok(())
    }

    fn is_role(&self, _name: &str) -> bool {
        // A definer without a host in the server's own log.
        true
    }

    fn begin_definer(&self, _user: &str, _host: &str) -> Result<()> {
        Ok(())
    }

    fn end_definer(&self) {}

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

    fn next_value(&self, _session: &SessionContext, database: &str, name: &str) -> Result<i64> {
        Err(no_sequence(database, name))
    }

    fn last_value(&self, _session: &SessionContext, database: &str, name: &str) -> Result<Option<i64>> {
        Err(no_sequence(database, name))
    }

    fn set_value(
        &self,
        _session: &SessionContext,
        database: &str,
        name: &str,
        _set: SequenceSet,
    ) -> Result<bool> {
        Err(no_sequence(database, name))
    }

    fn insert_sequence_row(
        &self,
        _session: &SessionContext,
        database: &str,
        name: &str,
        _row: &[Value],
    ) -> Result<()> {
        Err(no_sequence(database, name))
    }

    fn readable_file(&self, _session: &SessionContext, _name: &str) -> Option<PathBuf> {
        None
    }

    fn version(&self) -> String {
        "10.11.0-MariaDB-paceline".to_owned()
    }
}
