//! Services of the server for the execution of one session's statements.

use super::files;
use super::gtid_wait::{self, AwaitedGtid};
use super::place_wait;
use super::privileges::SessionPrivileges;
use super::time_slice::Turn;
use super::user_locks::UserLocks;
use crate::accounts::{Account, PrivilegeSet};
use crate::registry::SessionShared;
use crate::replica_filters::filter_kind;
use crate::server::Server;
use crate::variables::{Scope, SessionValues, Variable, VariableValue};
use paceline_binlog::{GtidPosition, GtidState};
use paceline_catalog::TableDefinition;
use paceline_expression::session::{
    PlaceWait, Privilege, PrivilegeTarget, Privileges, ServerFunctions, SessionContext, SourceWaitOutcome,
    SystemVariable, SystemVariables, VariableScope, WaitOutcome,
};
use paceline_replication::replica::filter::FilterKind;
use paceline_replication::replica::received::SourcePosition;
use paceline_syntax::{Error, Result};
use paceline_txn::{GtidChoice, InterruptReason};
use paceline_types::error_code::*;
use paceline_types::{ErrorCode, Gtid, ServerId, Value, Version};
use parking_lot::Mutex;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Services of one session.
pub struct SessionServices {
    /// The server that the session belongs to.
    pub server: Arc<Server>,
    /// The part of the session that others can access.
    pub shared: Arc<SessionShared>,
    /// The session in the lock manager.
    pub locks: paceline_txn::Session,
    /// Session values of the system variables.
    pub values: Mutex<SessionValues>,
    /// State of its transactions that variables show.
    pub transaction: Mutex<TransactionView>,
    privileges: SessionPrivileges,
    /// `wait_for_gtid`, until it is reached.
    pub(super) awaited: AwaitedGtid,
    /// Locks of `GET_LOCK`.
    user_locks: UserLocks,
    /// Time slice of the running statement on a worker of the runtime.
    pub turn: Turn,
    /// Temporary table of the running SHOW statement, which information_schema includes meanwhile.
    pub shown_temporary: Mutex<Option<Arc<TableDefinition>>>,
}

/// State of a session's transactions that variables show.
#[derive(Debug, Clone, Default)]
pub struct TransactionView {
    /// `@@in_transaction`.
    pub open: bool,
    /// `@@last_gtid`.
    pub last_gtid: Option<Gtid>,
    /// Position of the snapshot of START TRANSACTION WITH CONSISTENT SNAPSHOT.
    pub snapshot: Option<Version>,
    /// `@@gtid_seq_no` for the next transaction.
    pub gtid_seq_no: u64,
    /// GTID of the primary's transaction that is being replicated.
    pub replicated: Option<GtidChoice>,
}

impl fmt::Debug for SessionServices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionServices")
            .field("session", &self.shared.id)
            .finish_non_exhaustive()
    }
}

impl SessionServices {
    /// Creates the services of a session that is about to log in.
    pub fn new(server: Arc<Server>, shared: Arc<SessionShared>, locks: paceline_txn::Session) -> Self {
        let values = SessionValues::new(&server.globals);
        SessionServices {
            server,
            shared,
            locks,
            values: Mutex::new(values),
            transaction: Mutex::default(),
            privileges: SessionPrivileges::default(),
            awaited: AwaitedGtid::default(),
            user_locks: UserLocks::default(),
            turn: Turn::default(),
            shown_temporary: Mutex::default(),
        }
    }

    /// Sets the account that the session has logged in to.
    pub fn set_account(&self, account: Account) {
        self.privileges.log_in(account, &self.server.accounts);
    }

    /// Returns the account with the session's privileges: see [`super::privileges`].
    pub fn account(&self) -> Arc<Account> {
        self.privileges.account(&self.server.accounts)
    }

    /// Stores the privileges in a database for USE. They apply until the next USE.
    pub fn enter_database(&self, database: &str) {
        self.privileges.enter(database, &self.server.accounts);
    }

    /// Returns the session's privileges in a database.
    pub fn privileges_in(&self, session: &SessionContext, database: &str) -> PrivilegeSet {
        let current = session.database.as_deref();
        self.privileges.within(database, current, &self.server.accounts)
    }

    /// Starts `max_statement_time`; zero means no limit.
    pub fn set_deadline(&self, limit: Duration) {
        self.shared
            .interrupt
            .set_deadline((!limit.is_zero()).then_some(limit));
    }

    /// Waits until the position of `wait_for_gtid` is published. It is then cleared, so it is only checked once.
    ///
    /// # Errors
    /// 1205 after `wait_for_gtid_timeout`; the errors of KILL.
    pub fn await_gtid(&self) -> Result<()> {
        let Some(wanted) = self.awaited.get() else {
            return Ok(());
        };
        self.wait_until_logged(&wanted)?;
        self.awaited.set(None);
        Ok(())
    }

    /// Waits at most `wait_for_gtid_timeout` until everything in a position is visible.
    ///
    /// # Errors
    /// 1205 after the timeout; the errors of KILL.
    pub fn wait_until_logged(&self, wanted: &GtidPosition) -> Result<()> {
        let seconds = self.values.lock().get(Variable::WaitForGtidTimeout).as_f64();
        let timeout = Duration::from_secs_f64(seconds);
        gtid_wait::wait_until_logged(&self.server.transactions, &self.shared, wanted, timeout)
    }

    /// Returns 1227 if the account has none of these privileges.
    pub fn require_any(&self, privileges: &[Privilege]) -> Result<()> {
        let account = self.account();
        if privileges.iter().any(|privilege| account.global.has(*privilege)) {
            return Ok(());
        }
        let names: Vec<&str> = privileges
            .iter()
            .map(|privilege| PrivilegeSet::name(*privilege))
            .collect();
        Err(Error::new(ER_SPECIFIC_ACCESS_DENIED_ERROR, &[&names.join(", ")]))
    }

    /// Returns a variable's value as `SHOW` prints it.
    pub fn show(&self, session: &SessionContext, variable: Variable, scope: Scope) -> Option<String> {
        let definition = variable.definition();
        definition.show(&self.setting(session, variable, scope))
    }

    /// Returns a variable's value: the session's value unless `scope` is [`Scope::Global`] or it has none.
    pub fn setting(&self, session: &SessionContext, variable: Variable, scope: Scope) -> VariableValue {
        if let Some(setting) = self.computed(session, variable, scope) {
            return setting;
        }
        match (scope, variable.definition().scope) {
            (Scope::Global, _) | (_, Scope::Global) => self.server.globals.get(variable),
            _ => self.values.lock().get(variable).clone(),
        }
    }

    /// Returns the value of a variable that is not stored.
    fn computed(&self, session: &SessionContext, variable: Variable, scope: Scope) -> Option<VariableValue> {
        let number = VariableValue::Unsigned;
        let text = |value: String| VariableValue::Text(value.into());
        let view = || self.transaction.lock().clone();
        Some(match variable {
            Variable::LastInsertId | Variable::Identity => number(session.last_insert_id),
            Variable::InsertId => number(session.statement.insert_id.unwrap_or(0)),
            Variable::RandSeed1 => number(session.random.seed1),
            Variable::RandSeed2 => number(session.random.seed2),
            Variable::Timestamp => VariableValue::Double(session.statement.start_micros as f64 / 1e6),
            Variable::ErrorCount => number(session.diagnostics.error_count()),
            Variable::WarningCount => number(session.diagnostics.warning_count()),
            Variable::InTransaction => number(u64::from(view().open)),
            Variable::PseudoThreadId => number(session.connection_id),
            Variable::GtidSeqNo => number(view().gtid_seq_no),
            Variable::LastGtid => text(view().last_gtid.map(|gtid| gtid.to_string()).unwrap_or_default()),
            Variable::GtidBinlogPos => text(self.server.transactions.gtid_state().position().to_string()),
            Variable::GtidSlavePos => text(self.server.transactions.replicated_position().to_string()),
            Variable::GtidCurrentPos => {
                let server_id = ServerId(self.server.globals.number(Variable::ServerId) as u32);
                text(self.server.transactions.current_position(server_id).to_string())
            }
            Variable::SqlSlaveSkipCounter => {
                let name = self.default_connection();
                number(match self.server.replicas().get(&name) {
                    Ok(connection) => connection.skip_events(),
                    Err(_) if name.is_empty() => self.server.globals.number(variable),
                    Err(_) => 0,
                })
            }
            variable if filter_kind(variable).is_some() => {
                let filters = self
                    .server
                    .replica_filters
                    .of(&self.default_connection(), &self.server.globals);
                text(filter_kind(variable).map_or_else(String::new, |kind| filters.show(kind)))
            }
            Variable::GtidBinlogState => text(self.server.transactions.gtid_state().to_string()),
            Variable::SqlMode if scope != Scope::Global => text(session.settings.sql_mode.to_string()),
            Variable::ExternalUser | Variable::ProxyUser => VariableValue::Null,
            _ => return None,
        })
    }

    /// Returns the value of `default_master_connection`.
    pub fn default_connection(&self) -> String {
        self.values
            .lock()
            .get(Variable::DefaultMasterConnection)
            .as_str()
            .to_owned()
    }
}

pub(super) fn unknown(name: &str) -> Error {
    Error::new(ER_UNKNOWN_SYSTEM_VARIABLE, &[&name])
}

/// Splits `connection.variable`.
pub(super) fn split_connection(name: &str) -> (Option<&str>, &str) {
    match name.rsplit_once('.') {
        Some((connection, variable)) => (Some(connection), variable),
        None => (None, name),
    }
}

/// Returns 1272 for a variable without values of connections.
pub(super) fn must_be_of_connections(variable: Variable) -> Result<FilterKind> {
    filter_kind(variable).ok_or_else(|| Error::new(ER_VARIABLE_IS_NOT_STRUCT, &[&variable.definition().name]))
}

impl SystemVariables for SessionServices {
    fn get(&self, session: &SessionContext, name: &str, scope: VariableScope) -> Result<SystemVariable> {
        let (connection, name) = split_connection(name);
        let variable = Variable::by_name(name).ok_or_else(|| unknown(name))?;
        let definition = variable.definition();
        let wrong = |what: &str| Err(Error::new(ER_INCORRECT_GLOBAL_LOCAL_VAR, &[&name, &what]));
        let scope = match (scope, definition.scope) {
            (VariableScope::Global, Scope::SessionOnly) => return wrong("SESSION"),
            (VariableScope::Session, Scope::Global) => return wrong("GLOBAL"),
            (VariableScope::Global, _) => Scope::Global,
            _ => Scope::Both,
        };
        if let Some(connection) = connection {
            let kind = must_be_of_connections(variable)?;
            let filters = &self.server.replica_filters;
            let value = match self.server.replicas().get(connection) {
                Ok(_) => Value::Text(filters.of(connection, &self.server.globals).show(kind)),
                Err(_) => Value::Null,
            };
            return Ok(SystemVariable {
                value,
                ty: definition.value_type().nullable(),
            });
        }
        let setting = self.setting(session, variable, scope);
        Ok(SystemVariable {
            value: definition.value(&setting),
            ty: definition.value_type(),
        })
    }
}

impl Privileges for SessionServices {
    fn check(
        &self,
        session: &SessionContext,
        privilege: Privilege,
        target: PrivilegeTarget<'_>,
    ) -> Result<()> {
        let database = match target {
            PrivilegeTarget::Global => return self.require_any(&[privilege]),
            PrivilegeTarget::Database(database) | PrivilegeTarget::Table { database, .. } => database,
        };
        if self.privileges_in(session, database).has(privilege)
            || crate::information_schema::is_for_everybody(privilege, database)
        {
            return Ok(());
        }
        let user = &session.current_user.user;
        let host = &session.user.host;
        match target {
            // LOCK TABLES is given for whole databases only.
            PrivilegeTarget::Table { database, table } if privilege != Privilege::LockTables => {
                let command = PrivilegeSet::name(privilege);
                Err(Error::new(
                    ER_TABLEACCESS_DENIED_ERROR,
                    &[&command, user, host, &database, &table],
                ))
            }
            _ => Err(Error::new(ER_DBACCESS_DENIED_ERROR, &[user, host, &database])),
        }
    }

    fn can_see_database(&self, _session: &SessionContext, database: &str) -> bool {
        database.eq_ignore_ascii_case("information_schema") || self.account().can_see(database)
    }
}

impl ServerFunctions for SessionServices {
    fn sleep(&self, _session: &SessionContext, duration: Duration) -> WaitOutcome {
        self.shared
            .update(|activity| activity.state = crate::registry::USER_SLEEP);
        let slept = tokio::task::block_in_place(|| self.shared.interrupt.sleep(duration));
        self.shared.update(|activity| activity.state = "executing");
        match slept {
            Ok(()) => WaitOutcome::Elapsed,
            Err(_) => WaitOutcome::Interrupted,
        }
    }

    fn check_interrupt(&self, _session: &SessionContext) -> Result<()> {
        self.turn.look();
        match self.shared.interrupt.raised() {
            Some(reason) => Err(interrupted(reason)),
            None => Ok(()),
        }
    }

    fn get_lock(&self, session: &SessionContext, name: &str, timeout_seconds: f64) -> Result<WaitOutcome> {
        let (server, shared) = (&self.server, &self.shared);
        self.user_locks.lock(
            server,
            shared,
            &self.locks,
            &session.memory,
            name,
            timeout_seconds,
        )
    }

    fn release_lock(&self, _session: &SessionContext, name: &str) -> Option<bool> {
        self.user_locks.release(&self.server, name)
    }

    fn release_all_locks(&self, _session: &SessionContext) -> u64 {
        self.user_locks.release_all(&self.server)
    }

    fn lock_holder(&self, _session: &SessionContext, name: &str) -> Option<u64> {
        super::user_locks::holder(&self.server, name)
    }

    fn binlog_gtid_pos(&self, _session: &SessionContext, file: &str, offset: u64) -> Result<Option<String>> {
        let transactions = &self.server.transactions;
        let state = transactions
            .log()
            .position_of(file, offset)
            .and_then(|position| transactions.log().state_at(position));
        Ok(state.ok().map(|state: GtidState| state.position().to_string()))
    }

    fn master_gtid_wait(
        &self,
        _session: &SessionContext,
        position: &str,
        timeout_seconds: Option<f64>,
    ) -> Result<i64> {
        gtid_wait::wait_until_replicated(&self.server.transactions, &self.shared, position, timeout_seconds)
    }

    fn master_pos_wait(&self, _session: &SessionContext, wait: &PlaceWait<'_>) -> Result<SourceWaitOutcome> {
        let name = wait
            .connection
            .map_or_else(|| self.default_connection(), str::to_owned);
        let Ok(connection) = self.server.replicas().get(&name) else {
            return Ok(match name.is_empty() {
                // The default connection always exists, at least by name.
                true => SourceWaitOutcome::InVain,
                false => SourceWaitOutcome::NoConnection(name),
            });
        };
        let wanted = SourcePosition {
            file: wait.file.into(),
            offset: wait.offset,
        };
        let waited = place_wait::wait_until_applied(&connection, &self.shared, &wanted, wait.timeout)?;
        Ok(waited.map_or(SourceWaitOutcome::InVain, SourceWaitOutcome::Done))
    }

    fn readable_file(&self, session: &SessionContext, name: &str) -> Option<PathBuf> {
        self.require_any(&[Privilege::File]).ok()?;
        files::named_file(&self.server.globals, name, session.database.as_deref()).ok()
    }

    fn version(&self) -> String {
        self.server.globals.get(Variable::Version).as_str().to_owned()
    }
}

/// Returns the error of an interrupted session.
pub fn interrupted(reason: InterruptReason) -> Error {
    Error::new(
        match reason {
            InterruptReason::StatementTimeout => ER_STATEMENT_TIMEOUT,
            InterruptReason::Query => ER_QUERY_INTERRUPTED,
            InterruptReason::Connection => ER_CONNECTION_KILLED,
            InterruptReason::Shutdown => ER_SERVER_SHUTDOWN,
        },
        &[],
    )
}

/// Returns the error for an invalid GTID list.
pub fn of_gtid_list(error: paceline_binlog::Error) -> Error {
    Error::with_message(ErrorCode::from_number(error.code()), error.to_string())
}
