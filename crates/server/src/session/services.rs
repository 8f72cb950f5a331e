//! What execution asks of the server around it, answered for one session.

use super::errors::of_transaction;
use super::replication::of_replica;
use crate::accounts::Account;
use crate::registry::SessionShared;
use crate::replication::filter_kind;
use crate::server::Server;
use crate::variables::{
    Access, Fit, Globals, Scope, SessionValues, Setting, Variable, apply_to_session, is_transaction_config,
};
use arc_swap::ArcSwap;
use paceline_binlog::{BinlogState, GtidPosition};
use paceline_replication::replica::filter::FilterKind;
use paceline_replication::replica::replicas::must_stop;
use paceline_sql::session::{
    Privilege, PrivilegeTarget, Privileges, ServerFunctions, SessionContext, SystemVariable, SystemVariables,
    VariableScope, VirtualColumn, VirtualTables, WaitOutcome,
};
use paceline_sql::{Error, Result};
use paceline_txn::{GtidChoice, InterruptReason, MetadataGuard, MetadataMode, MetadataObject, WaitEnd};
use paceline_types::error_code::*;
use paceline_types::{ErrorCode, Gtid, ServerId, Value, Version};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The services of one session.
pub struct SessionServices {
    /// The server.
    pub server: Arc<Server>,
    /// What others see of the session.
    pub shared: Arc<SessionShared>,
    /// Its locks.
    pub locks: paceline_txn::Session,
    /// Its values of system variables.
    pub values: Mutex<SessionValues>,
    /// What variables tell of its transactions.
    pub transaction: Mutex<TransactionView>,
    /// Its account as it was when last looked at, and the list's generation then.
    account: ArcSwap<Account>,
    accounts_generation: AtomicU64,
    /// `wait_for_gtid`, until it is there.
    awaited: Mutex<Option<GtidPosition>>,
    is_awaiting: AtomicBool,
    /// The locks of `GET_LOCK`: how often each is held, and the lock.
    user_locks: Mutex<HashMap<String, (u32, MetadataGuard)>>,
}

/// What variables tell of a session's transactions.
#[derive(Debug, Clone, Default)]
pub struct TransactionView {
    /// `@@in_transaction`.
    pub open: bool,
    /// `@@last_gtid`.
    pub last_gtid: Option<Gtid>,
    /// The place of the snapshot of START TRANSACTION WITH CONSISTENT SNAPSHOT.
    pub snapshot: Option<Version>,
    /// `@@gtid_seq_no`: for the next transaction.
    pub gtid_seq_no: u64,
    /// The GTID of the primary's transaction that is being replicated.
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
    /// Those of a session that is about to log in.
    pub fn new(server: Arc<Server>, shared: Arc<SessionShared>, locks: paceline_txn::Session) -> Self {
        let values = SessionValues::new(&server.globals);
        SessionServices {
            server,
            shared,
            locks,
            values: Mutex::new(values),
            transaction: Mutex::default(),
            account: ArcSwap::from_pointee(Account::new("", "")),
            accounts_generation: AtomicU64::new(0),
            awaited: Mutex::default(),
            is_awaiting: AtomicBool::new(false),
            user_locks: Mutex::default(),
        }
    }

    /// The session logged in to this account.
    pub fn set_account(&self, account: Account) {
        self.accounts_generation
            .store(self.server.accounts.generation(), Ordering::Relaxed);
        self.account.store(Arc::new(account));
    }

    /// The session's account, with the privileges that it has now. An account that was dropped keeps what it had until it logs out.
    pub fn account(&self) -> Arc<Account> {
        let generation = self.server.accounts.generation();
        if self.accounts_generation.load(Ordering::Relaxed) != generation {
            let had = self.account.load_full();
            if let Some(now) = self.server.accounts.load().get(&had.user, &had.host) {
                self.account.store(Arc::new(now.clone()));
            }
            self.accounts_generation.store(generation, Ordering::Relaxed);
        }
        self.account.load_full()
    }

    /// `wait_for_gtid`: waits until what the session wants to see is published. What is there stays there, so that it is looked for once.
    ///
    /// # Errors
    /// 1205 after `wait_for_gtid_timeout`; those of KILL.
    pub fn await_gtid(&self) -> Result<()> {
        if !self.is_awaiting.load(Ordering::Relaxed) {
            return Ok(());
        }
        let Some(wanted) = self.awaited.lock().clone() else {
            return Ok(());
        };
        self.wait_until_logged(&wanted)?;
        *self.awaited.lock() = None;
        self.is_awaiting.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Waits until everything in a position is visible, at most `wait_for_gtid_timeout`.
    ///
    /// # Errors
    /// 1205 after that; those of KILL.
    pub fn wait_until_logged(&self, wanted: &GtidPosition) -> Result<()> {
        let seconds = self.values.lock().get(Variable::WaitForGtidTimeout).as_f64();
        let deadline = Instant::now().checked_add(Duration::from_secs_f64(seconds));
        self.shared
            .update(|activity| activity.state = "Waiting for wait_for_gtid");
        let waited = self
            .server
            .transactions
            .wait_logged(wanted, deadline, &self.shared.interrupt);
        self.shared.update(|activity| activity.state = "executing");
        match waited {
            Ok(WaitEnd::Reached) => Ok(()),
            Ok(WaitEnd::TimedOut) => Err(Error::new(ER_LOCK_WAIT_TIMEOUT, &[])),
            Err(error) => Err(of_transaction(&error)),
        }
    }

    /// COM_RESET_CONNECTION: nothing is waited for.
    pub fn forget_awaited_gtid(&self) {
        *self.awaited.lock() = None;
        self.is_awaiting.store(false, Ordering::Relaxed);
    }

    /// Starts `max_statement_time`; zero is no limit.
    pub fn set_deadline(&self, limit: Duration) {
        self.shared
            .interrupt
            .set_deadline((!limit.is_zero()).then_some(limit));
    }

    /// 1227 if the account has none of these privileges.
    pub fn require_any(&self, privileges: &[Privilege]) -> Result<()> {
        let account = self.account();
        if privileges.iter().any(|privilege| account.global.has(*privilege)) {
            return Ok(());
        }
        let names: Vec<&str> = privileges
            .iter()
            .map(|privilege| crate::accounts::PrivilegeSet::name(*privilege))
            .collect();
        Err(Error::new(ER_SPECIFIC_ACCESS_DENIED_ERROR, &[&names.join(", ")]))
    }

    /// Reads a variable as `SHOW` prints it.
    pub fn show(&self, session: &SessionContext, variable: Variable, scope: Scope) -> Option<String> {
        let definition = variable.definition();
        definition.show(&self.setting(session, variable, scope))
    }

    /// The value of a variable: the session's where `scope` is not [`Scope::Global`] and there is one.
    pub fn setting(&self, session: &SessionContext, variable: Variable, scope: Scope) -> Setting {
        if let Some(setting) = self.computed(session, variable, scope) {
            return setting;
        }
        match (scope, variable.definition().scope) {
            (Scope::Global, _) | (_, Scope::Global) => self.server.globals.get(variable),
            _ => self.values.lock().get(variable).clone(),
        }
    }

    /// Variables whose value is not stored.
    fn computed(&self, session: &SessionContext, variable: Variable, scope: Scope) -> Option<Setting> {
        let number = Setting::Unsigned;
        let text = |value: String| Setting::Text(value.into());
        let view = || self.transaction.lock().clone();
        Some(match variable {
            Variable::LastInsertId | Variable::Identity => number(session.last_insert_id),
            Variable::InsertId => number(session.statement.insert_id.unwrap_or(0)),
            Variable::RandSeed1 | Variable::RandSeed2 => number(0),
            Variable::Timestamp => Setting::Double(session.statement.start_micros as f64 / 1e6),
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
                let connection = self.server.replicas().get(&self.default_connection());
                number(connection.map_or(0, |connection| connection.skip_events()))
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
            Variable::ExternalUser | Variable::ProxyUser => Setting::Null,
            _ => return None,
        })
    }

    /// Assigns a variable.
    ///
    /// # Errors
    /// See [`SystemVariables::set`].
    pub fn assign(
        &self,
        session: &mut SessionContext,
        name: &str,
        scope: VariableScope,
        value: Option<Value>,
    ) -> Result<()> {
        let (connection, name) = split_connection(name);
        let variable = Variable::by_name(name).ok_or_else(|| unknown(name))?;
        if let Some(connection) = connection {
            must_be_of_connections(variable)?;
            if self.server.replicas().get(connection).is_err() {
                return Err(Error::new(ER_WRONG_ARGUMENTS, &[&"SET"]));
            }
        }
        let definition = variable.definition();
        if definition.access == Access::Fixed {
            return Err(Error::new(ER_INCORRECT_GLOBAL_LOCAL_VAR, &[&name, &"read only"]));
        }
        match (scope, definition.scope) {
            (VariableScope::Global, Scope::SessionOnly) => {
                return Err(Error::new(ER_LOCAL_VARIABLE, &[&name]));
            }
            (VariableScope::Session | VariableScope::Default, Scope::Global) => {
                return Err(Error::new(ER_GLOBAL_VARIABLE, &[&name]));
            }
            _ => {}
        }
        let global = scope == VariableScope::Global;
        self.may_assign(variable, global)?;
        if !global && matches!(variable, Variable::MaxAllowedPacket | Variable::NetBufferLength) {
            return Err(Error::new(
                ER_VARIABLE_IS_READONLY,
                &[&"SESSION", &name, &"GLOBAL"],
            ));
        }
        let setting = match &value {
            None if variable == Variable::GtidSlavePos => return Err(Error::new(ER_NO_DEFAULT, &[&name])),
            // SET SESSION x = DEFAULT takes the global value, SET GLOBAL x = DEFAULT the built-in one.
            None if global || definition.scope == Scope::SessionOnly => definition.default_setting(),
            None => self.server.globals.get(variable),
            Some(value) => {
                let (setting, fit) = definition.assign(value)?;
                if fit == Fit::Cut {
                    let given = paceline_types::text::to_string(&value.as_ref(), &session.settings.time_zone);
                    if session
                        .settings
                        .sql_mode
                        .contains(paceline_sql::session::SqlMode::STRICT_ALL_TABLES)
                    {
                        return Err(definition.wrong_value(&given));
                    }
                    let message = ER_TRUNCATED_WRONG_VALUE.message(&[&name, &given]);
                    session.diagnostics.warn(ER_TRUNCATED_WRONG_VALUE, message);
                }
                setting
            }
        };
        match global {
            true => self.assign_global(session, variable, connection, setting),
            false => self.assign_session(session, variable, setting),
        }
    }

    fn assign_global(
        &self,
        session: &mut SessionContext,
        variable: Variable,
        connection: Option<&str>,
        setting: Setting,
    ) -> Result<()> {
        if self.assign_replication(session, variable, connection, &setting)? {
            return Ok(());
        }
        let globals = &self.server.globals;
        let pair: Option<(Variable, Setting)> = match variable {
            Variable::ExpireLogsDays => Some((
                Variable::BinlogExpireLogsSeconds,
                Setting::Unsigned((setting.as_f64() * 86_400.0) as u64),
            )),
            Variable::BinlogExpireLogsSeconds => Some((
                Variable::ExpireLogsDays,
                Setting::Double(setting.as_u64() as f64 / 86_400.0),
            )),
            // It is here to be set to what it is: the text of a log does so.
            Variable::SqlIfExists if setting.as_bool() => return Err(Error::unsupported("sql_if_exists=ON")),
            _ => None,
        };
        let paired = pair
            .as_ref()
            .is_some_and(|(other, _)| is_transaction_config(*other));
        if variable == Variable::ReadOnly && setting.as_bool() && !globals.is_on(Variable::ReadOnly) {
            // Waits for the commits that are under way; none comes after it, as in MariaDB. A switch-over counts on it.
            let timeout = session.settings.metadata_lock_wait_timeout;
            let lock = self
                .locks
                .lock_metadata(MetadataObject::Commit, MetadataMode::ReadOnly, timeout);
            let lock = lock.map_err(|error| super::errors::of_transaction(&error))?;
            globals.set(variable, setting);
            drop(lock);
            return Ok(());
        }
        globals.set(variable, setting);
        if let Some((other, setting)) = pair {
            globals.set(other, setting);
        }
        pair_charset(globals, variable);
        if is_transaction_config(variable) || paired {
            self.server.apply_transaction_config()?;
        }
        Ok(())
    }

    fn assign_session(
        &self,
        session: &mut SessionContext,
        variable: Variable,
        setting: Setting,
    ) -> Result<()> {
        let in_transaction = self.transaction.lock().open;
        match variable {
            Variable::LastInsertId | Variable::Identity => session.last_insert_id = setting.as_u64(),
            Variable::InsertId => session.statement.insert_id = Some(setting.as_u64()),
            Variable::RandSeed1 => session.random.seed1 = setting.as_u64(),
            Variable::RandSeed2 => session.random.seed2 = setting.as_u64(),
            Variable::Timestamp => {
                let seconds = setting.as_f64();
                session.settings.timestamp_override = (seconds > 0.0).then(|| (seconds * 1e6).round() as i64);
            }
            Variable::GtidSeqNo | Variable::GtidDomainId | Variable::ServerId if in_transaction => {
                return Err(Error::new(
                    ER_INSIDE_TRANSACTION_PREVENTS_SWITCH_GTID_DOMAIN_ID_SEQ_NO,
                    &[],
                ));
            }
            Variable::SqlLogBin if in_transaction => {
                return Err(Error::new(ER_INSIDE_TRANSACTION_PREVENTS_SWITCH_SQL_LOG_BIN, &[]));
            }
            Variable::SkipReplication | Variable::SkipParallelReplication if in_transaction => {
                return Err(Error::new(
                    ER_INSIDE_TRANSACTION_PREVENTS_SWITCH_SKIP_REPLICATION,
                    &[],
                ));
            }
            Variable::SqlIfExists if setting.as_bool() => return Err(Error::unsupported("sql_if_exists=ON")),
            Variable::GtidSeqNo => self.transaction.lock().gtid_seq_no = setting.as_u64(),
            Variable::WaitForGtid => {
                let wanted: GtidPosition = setting
                    .as_str()
                    .parse()
                    .map_err(|_| Error::new(ER_INCORRECT_GTID_STATE, &[]))?;
                self.values.lock().set(variable, setting);
                *self.awaited.lock() = (!wanted.is_empty()).then_some(wanted);
                self.is_awaiting
                    .store(self.awaited.lock().is_some(), Ordering::Relaxed);
            }
            _ => {
                let mut values = self.values.lock();
                values.set(variable, setting.clone());
                apply_to_session(session, &mut values, variable, &setting);
                if variable == Variable::WaitTimeout {
                    self.shared
                        .update(|activity| activity.wait_timeout_seconds = setting.as_u64());
                }
            }
        }
        Ok(())
    }

    /// `default_master_connection`.
    pub fn default_connection(&self) -> String {
        self.values
            .lock()
            .get(Variable::DefaultMasterConnection)
            .as_str()
            .to_owned()
    }

    /// Global variables that are a connection's, or the log's. Says whether it was one.
    fn assign_replication(
        &self,
        session: &mut SessionContext,
        variable: Variable,
        connection: Option<&str>,
        setting: &Setting,
    ) -> Result<bool> {
        let replicas = self.server.replicas();
        let connection = || connection.map_or_else(|| self.default_connection(), str::to_owned);
        match variable {
            Variable::GtidSlavePos => {
                if self.transaction.lock().open {
                    return Err(Error::new(ER_CANT_DO_THIS_DURING_AN_TRANSACTION, &[]));
                }
                let position: GtidPosition = setting.as_str().parse().map_err(of_gtid_list)?;
                for warning in replicas.set_position(&position).map_err(of_replica)? {
                    session.diagnostics.warn(warning.code, warning.message);
                }
            }
            Variable::GtidBinlogState => {
                if self.transaction.lock().open {
                    return Err(Error::new(ER_CANT_DO_THIS_DURING_AN_TRANSACTION, &[]));
                }
                let state: BinlogState = setting.as_str().parse().map_err(of_gtid_list)?;
                let transactions = &self.server.transactions;
                let begun = tokio::task::block_in_place(|| transactions.begin_with_state(&state));
                if begun.map_err(|error| of_transaction(&error))?.is_none() {
                    return Err(Error::new(ER_BINLOG_MUST_BE_EMPTY, &[]));
                }
                tracing::info!("gtid_binlog_state: a new binary log begins with '{state}'");
            }
            Variable::SqlSlaveSkipCounter => {
                let name = connection();
                match replicas.get(&name) {
                    Ok(connection) if connection.applier_runs() => {
                        return Err(of_replica(must_stop(connection.name())));
                    }
                    Ok(connection) => connection.set_skip_events(setting.as_u64()),
                    Err(_) if name.is_empty() => {}
                    Err(error) => return Err(of_replica(error)),
                }
            }
            variable => {
                let Some(kind) = filter_kind(variable) else {
                    return Ok(false);
                };
                let name = connection();
                if let Ok(connection) = replicas.get(&name)
                    && connection.runs()
                {
                    return Err(of_replica(must_stop(connection.name())));
                }
                self.server
                    .replica_filters
                    .set(&name, &self.server.globals, kind, setting.as_str())
                    .map_err(|_| {
                        let name = variable.definition().name;
                        Error::new(ER_WRONG_VALUE_FOR_VAR, &[&name, &setting.as_str()])
                    })?;
            }
        }
        Ok(true)
    }

    /// Whether the session may assign the variable: the privileges that MariaDB asks for.
    fn may_assign(&self, variable: Variable, global: bool) -> Result<()> {
        use Privilege::*;
        use Variable as V;
        let needed: &[Privilege] = match variable {
            V::SqlLogBin => &[Super, BinlogAdmin],
            V::GtidDomainId | V::ServerId | V::GtidSeqNo | V::PseudoThreadId | V::PseudoSlaveMode
                if !global =>
            {
                &[Super, BinlogReplay]
            }
            _ if !global => return Ok(()),
            V::ReadOnly => &[Super, ReadOnlyAdmin],
            V::GtidDomainId | V::ServerId => &[Super, ReplicationMasterAdmin],
            V::GtidSlavePos
            | V::GtidStrictMode
            | V::GtidIgnoreDuplicates
            | V::SlaveNetTimeout
            | V::SlaveMaxAllowedPacket
            | V::SqlSlaveSkipCounter
            | V::MasterRetryCount
            | V::RplSemiSyncSlaveEnabled
            | V::RplSemiSyncSlaveDelayMaster
            | V::RplSemiSyncSlaveKillConnTimeout
            | V::RplSemiSyncSlaveTraceLevel
            | V::ReplicateEventsMarkedForSkip => &[Super, ReplicationSlaveAdmin],
            variable if filter_kind(variable).is_some() => &[Super, ReplicationSlaveAdmin],
            V::RplSemiSyncMasterEnabled
            | V::RplSemiSyncMasterTimeout
            | V::RplSemiSyncMasterTraceLevel
            | V::RplSemiSyncMasterWaitForSlaveCount
            | V::RplSemiSyncMasterWaitNoSlave
            | V::RplSemiSyncMasterWaitPoint => &[Super, ReplicationMasterAdmin],
            V::SyncBinlog
            | V::ExpireLogsDays
            | V::BinlogExpireLogsSeconds
            | V::MaxBinlogSize
            | V::MaxBinlogCacheSize
            | V::BinlogLargeCommitThreshold
            | V::BinlogCommitWaitCount
            | V::BinlogCommitWaitUsec
            | V::BinlogCacheSize
            | V::BinlogRowMetadata
            | V::BinlogChecksum
            | V::BinlogAnnotateRowEvents
            | V::GtidBinlogState => &[Super, BinlogAdmin],
            V::ConnectTimeout
            | V::MaxConnections
            | V::MaxConnectErrors
            | V::MaxPasswordErrors
            | V::InitConnect
            | V::SecureAuth
            | V::SlowLaunchTime => &[Super, ConnectionAdmin],
            _ => &[Super],
        };
        self.require_any(needed)
    }
}

/// Collation and character set of the server follow each other.
fn pair_charset(globals: &Globals, variable: Variable) {
    use paceline_types::{Charset, Collation};
    let (charset, collation) = match variable {
        Variable::CharacterSetServer | Variable::CollationServer => {
            (Variable::CharacterSetServer, Variable::CollationServer)
        }
        Variable::CharacterSetDatabase | Variable::CollationDatabase => {
            (Variable::CharacterSetDatabase, Variable::CollationDatabase)
        }
        Variable::CharacterSetConnection | Variable::CollationConnection => {
            (Variable::CharacterSetConnection, Variable::CollationConnection)
        }
        _ => return,
    };
    let value = globals.get(variable);
    if variable == charset {
        if let Some(charset) = Charset::from_name(value.as_str()) {
            globals.set_text(collation, charset.default_collation().name());
        }
    } else if let Some(collation) = Collation::from_name(value.as_str()) {
        globals.set_text(charset, collation.charset().name());
    }
}

fn unknown(name: &str) -> Error {
    Error::new(ER_UNKNOWN_SYSTEM_VARIABLE, &[&name])
}

/// The connection and the variable of `connection.variable`.
fn split_connection(name: &str) -> (Option<&str>, &str) {
    match name.rsplit_once('.') {
        Some((connection, variable)) => (Some(connection), variable),
        None => (None, name),
    }
}

/// 1272 for a variable that connections have no values of their own of.
fn must_be_of_connections(variable: Variable) -> Result<FilterKind> {
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

    fn set(
        &self,
        session: &mut SessionContext,
        name: &str,
        scope: VariableScope,
        value: Option<Value>,
    ) -> Result<()> {
        self.assign(session, name, scope, value)
    }
}

impl Privileges for SessionServices {
    fn check(
        &self,
        session: &SessionContext,
        privilege: Privilege,
        target: PrivilegeTarget<'_>,
    ) -> Result<()> {
        let account = self.account();
        let database = match target {
            PrivilegeTarget::Global => return self.require_any(&[privilege]),
            PrivilegeTarget::Database(database) | PrivilegeTarget::Table { database, .. } => database,
        };
        if account.global.has(privilege) || account.privileges_in(database).has(privilege) {
            return Ok(());
        }
        // Everybody may read what the server tells of itself; rows that one may not see are left out.
        if database.eq_ignore_ascii_case("information_schema") && privilege == Privilege::Select {
            return Ok(());
        }
        let user = &session.current_user.user;
        let host = &session.user.host;
        match target {
            PrivilegeTarget::Table { database, table } => {
                let command = crate::accounts::PrivilegeSet::name(privilege);
                let who = format!("'{user}'@'{host}'");
                Err(Error::new(
                    ER_TABLEACCESS_DENIED_ERROR,
                    &[&command, &who, &database, &table],
                ))
            }
            _ => Err(Error::new(ER_DBACCESS_DENIED_ERROR, &[user, host, &database])),
        }
    }

    fn can_see_database(&self, _session: &SessionContext, database: &str) -> bool {
        database.eq_ignore_ascii_case("information_schema") || self.account().can_see(database)
    }
}

impl VirtualTables for SessionServices {
    fn columns(&self, database: &str, table: &str) -> Option<Vec<VirtualColumn>> {
        crate::server::virtual_columns(database, table).map(<[VirtualColumn]>::to_vec)
    }

    fn rows(&self, session: &SessionContext, database: &str, table: &str) -> Result<Vec<Vec<Value>>> {
        if database == crate::mysql_tables::DATABASE {
            self.check(
                session,
                Privilege::Select,
                PrivilegeTarget::Table { database, table },
            )?;
            if table == "gtid_slave_pos" {
                return Ok(crate::mysql_tables::gtid_slave_pos(
                    &self.server.transactions.replicated_position(),
                ));
            }
            return Ok(crate::mysql_tables::rows(table, &self.server.accounts.load()));
        }
        let sources = super::sources::SessionSources {
            services: self,
            session,
        };
        Ok(crate::information_schema::rows(table, &sources).unwrap_or_default())
    }
}

impl ServerFunctions for SessionServices {
    fn sleep(&self, _session: &SessionContext, duration: Duration) -> WaitOutcome {
        self.shared.update(|activity| activity.state = "User sleep");
        let slept = tokio::task::block_in_place(|| self.shared.interrupt.sleep(duration));
        self.shared.update(|activity| activity.state = "executing");
        match slept {
            Ok(()) => WaitOutcome::Elapsed,
            Err(_) => WaitOutcome::Interrupted,
        }
    }

    fn check_interrupt(&self, _session: &SessionContext) -> Result<()> {
        match self.shared.interrupt.raised() {
            Some(reason) => Err(interrupted(reason)),
            None => Ok(()),
        }
    }

    fn get_lock(&self, _session: &SessionContext, name: &str, timeout_seconds: f64) -> Result<WaitOutcome> {
        let key = name.to_lowercase();
        if let Some((count, _)) = self.user_locks.lock().get_mut(&key) {
            *count += 1;
            return Ok(WaitOutcome::Done);
        }
        let timeout = match timeout_seconds {
            seconds if seconds < 0.0 => Duration::from_secs(365 * 86_400),
            seconds => Duration::from_secs_f64(seconds.min(365.0 * 86_400.0)),
        };
        self.shared.update(|activity| activity.state = "User lock");
        let locked =
            self.locks
                .lock_metadata(MetadataObject::UserLevel(&key), MetadataMode::Exclusive, timeout);
        self.shared.update(|activity| activity.state = "executing");
        match locked {
            Ok(guard) => {
                self.server.user_locks.lock().insert(key.clone(), self.shared.id);
                self.user_locks.lock().insert(key, (1, guard));
                Ok(WaitOutcome::Done)
            }
            Err(paceline_txn::Error::LockWaitTimeout) => Ok(WaitOutcome::Elapsed),
            Err(paceline_txn::Error::Interrupted(_)) => Ok(WaitOutcome::Interrupted),
            Err(error) => Err(of_transaction(&error)),
        }
    }

    fn release_lock(&self, _session: &SessionContext, name: &str) -> Option<bool> {
        let key = name.to_lowercase();
        let mut held = self.user_locks.lock();
        if let Some((count, _)) = held.get_mut(&key) {
            *count -= 1;
            if *count == 0 {
                self.server.user_locks.lock().remove(&key);
                held.remove(&key);
            }
            return Some(true);
        }
        self.server.user_locks.lock().contains_key(&key).then_some(false)
    }

    fn release_all_locks(&self, _session: &SessionContext) -> u64 {
        let held = std::mem::take(&mut *self.user_locks.lock());
        let mut names = self.server.user_locks.lock();
        held.into_iter()
            .map(|(key, (count, _guard))| {
                names.remove(&key);
                u64::from(count)
            })
            .sum()
    }

    fn lock_holder(&self, _session: &SessionContext, name: &str) -> Option<u64> {
        self.server
            .user_locks
            .lock()
            .get(&name.to_lowercase())
            .map(|id| u64::from(*id))
    }

    fn binlog_gtid_pos(&self, _session: &SessionContext, file: &str, offset: u64) -> Result<Option<String>> {
        let transactions = &self.server.transactions;
        let state = transactions
            .log()
            .position_of(file, offset)
            .and_then(|position| transactions.log().state_at(position));
        Ok(state.ok().map(|state: BinlogState| state.position().to_string()))
    }

    fn master_gtid_wait(
        &self,
        _session: &SessionContext,
        position: &str,
        timeout_seconds: Option<f64>,
    ) -> Result<i64> {
        let wanted: GtidPosition = position
            .parse()
            .map_err(|_| Error::new(ER_INCORRECT_GTID_STATE, &[]))?;
        if wanted.is_empty() {
            return Ok(0);
        }
        let began = Instant::now();
        let deadline = match timeout_seconds {
            Some(seconds) if seconds >= 0.0 => {
                began.checked_add(Duration::from_secs_f64(seconds.min(365.0 * 86_400.0)))
            }
            _ => None,
        };
        let transactions = &self.server.transactions;
        let counters = &self.shared.counters;
        self.shared
            .update(|activity| activity.state = "Waiting in MASTER_GTID_WAIT()");
        let waited = transactions.wait_replicated(&wanted, deadline, &self.shared.interrupt);
        self.shared.update(|activity| activity.state = "executing");
        counters.master_gtid_wait_count.add(1);
        counters
            .master_gtid_wait_time
            .add(u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX));
        match waited {
            Ok(WaitEnd::Reached) => Ok(0),
            Ok(WaitEnd::TimedOut) => {
                counters.master_gtid_wait_timeouts.add(1);
                Ok(-1)
            }
            Err(error) => Err(of_transaction(&error)),
        }
    }

    fn version(&self) -> String {
        self.server.globals.get(Variable::Version).as_str().to_owned()
    }
}

/// The error of a session that was told to stop.
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

/// A list of GTIDs that cannot be read.
pub fn of_gtid_list(error: paceline_binlog::Error) -> Error {
    Error::with_message(ErrorCode::from_number(error.code()), error.to_string())
}
