//! Services of the server for the execution of one session's statements.

pub mod gtid_wait;
mod place_wait;
mod sequences;
mod sources;
mod stale_reads;
mod statement_trace;
mod time_slice;
mod transaction_characteristics;
mod user_locks;

pub use statement_trace::StatementTrace;
#[cfg(feature = "wasm")]
pub use time_slice::apart;
pub use time_slice::on_text;

use crate::accounts::{Account, Authority, SessionPrivileges};
use crate::cluster::{GateState, ReplicaTime};
use crate::information_schema;
use crate::metrics::{Sample, SessionView};
use crate::registry::SessionHandle;
use crate::replica_filters::filter_kind;
use crate::server::Server;
use crate::session::files::named_file;
use crate::session::protocol::ProgressReports;
use crate::variables::{Scope, SessionValues, Variable, VariableValue};
use gtid_wait::AwaitedGtid;
use paceline_binlog::{GtidPosition, GtidState};
use paceline_catalog::ddl::engine;
use paceline_catalog::{TableDefinition, TableEngine};
use paceline_expression::session::{
    Diagnostics, PlaceWait, PlanRequest, Privilege, PrivilegeTarget, Privileges, SequenceSet,
    ServerFunctions, SessionContext, SourceWaitOutcome, StatementProgress, SystemVariable, SystemVariables,
    VariableScope, WaitOutcome,
};
use paceline_log_stream::source::filter::FilterKind;
use paceline_native_functions::NativeFunction;
use paceline_replication::received::SourcePosition;
use paceline_syntax::{Error, Result};
use paceline_txn::{GtidChoice, Replication};
use paceline_types::error_code::*;
use paceline_types::{DomainId, Gtid, SequenceNumber, ServerId, Value, Version};
use parking_lot::Mutex;
use sequences::SessionSequences;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use time_slice::TimeSlice;
pub use transaction_characteristics::TransactionCharacteristics;
use user_locks::UserLocks;

/// Services of one session.
pub struct SessionServices {
    /// The server that the session belongs to.
    pub server: Arc<Server>,
    /// The part of the session that others can access.
    pub shared: Arc<SessionHandle>,
    /// The session in the lock manager.
    pub(super) locks: paceline_txn::Session,
    /// Session values of the system variables.
    pub(super) values: Mutex<SessionValues>,
    /// State of its transactions that variables show.
    pub(super) transaction: Mutex<TransactionView>,
    privileges: SessionPrivileges,
    /// Position of `wait_for_gtid`, until it is reached.
    pub(super) awaited: AwaitedGtid,
    /// Number of the [`ReplicaTime`] whose reads the session has accepted.
    accepted_reads: AtomicU64,
    /// Locks of `GET_LOCK`.
    user_locks: UserLocks,
    /// Sequences that the session uses.
    pub(super) sequences: SessionSequences,
    /// Time slice of the running statement on a worker of the runtime.
    pub(super) time_slice: TimeSlice,
    /// Temporary table of the running SHOW statement, which information_schema includes during the statement.
    pub(super) shown_temporary: Mutex<Option<Arc<TableDefinition>>>,
    /// Trace of the session's latest planned statement.
    pub(super) optimizer_trace: Mutex<Option<StatementTrace>>,
    /// Connection of a statement that tells its client how far it is.
    pub(super) progress_reports: ProgressReports,
    /// Variables that functions and triggers of the running statement have set.
    pub(super) set_by_programs: Mutex<Vec<Variable>>,
    /// Characteristics of the next transaction that functions of the running statement have set.
    pub(super) next_by_programs: Mutex<TransactionCharacteristics>,
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
    pub fn new(server: Arc<Server>, shared: Arc<SessionHandle>, locks: paceline_txn::Session) -> Self {
        let values = SessionValues::new(&server.globals);
        let cluster = server.cluster.as_ref();
        let accepted = cluster.map_or(ReplicaTime::NONE, |cluster| cluster.reads.replica_time());
        SessionServices {
            server,
            shared,
            locks,
            values: Mutex::new(values),
            transaction: Mutex::default(),
            privileges: SessionPrivileges::default(),
            awaited: AwaitedGtid::default(),
            accepted_reads: AtomicU64::new(accepted.number()),
            user_locks: UserLocks::default(),
            sequences: SessionSequences::default(),
            time_slice: TimeSlice::default(),
            shown_temporary: Mutex::default(),
            optimizer_trace: Mutex::default(),
            progress_reports: ProgressReports::default(),
            set_by_programs: Mutex::default(),
            next_by_programs: Mutex::default(),
        }
    }

    /// Resets the state of transactions that variables show, when the session is reset.
    pub(super) fn reset(&self) {
        *self.transaction.lock() = TransactionView::default();
        self.awaited.set(None);
        self.sequences.reset();
        // The next account must not see it.
        *self.optimizer_trace.lock() = None;
        self.set_by_programs.lock().clear();
        *self.next_by_programs.lock() = TransactionCharacteristics::default();
    }

    /// Sets the account that the session has logged in to.
    pub fn set_account(&self, account: Account) {
        self.privileges.log_in(account, &self.server.accounts);
    }

    /// Returns to the account that the session had before, with its present privileges.
    pub fn resume_account(&self, account: Account) {
        self.privileges.log_in_again(account, &self.server.accounts);
    }

    /// Sets the current role. Its privileges in the current database apply at once.
    pub fn set_role(&self, role: Option<&str>, database: Option<&str>) {
        self.privileges.set_role(role, database, &self.server.accounts);
    }

    /// Returns the account with the session's privileges: see [`crate::accounts::session_privileges`].
    pub fn account(&self) -> Arc<Account> {
        self.privileges.account(&self.server.accounts)
    }

    /// Stores the privileges in a database for USE. They apply until the next USE.
    pub fn enter_database(&self, database: &str) {
        self.privileges.enter(database, &self.server.accounts);
    }

    /// Returns the GTID choice for the session's next transaction.
    pub(super) fn gtid_choice(&self) -> GtidChoice {
        let (replicated, sequence) = {
            let view = self.transaction.lock();
            (view.replicated.clone(), view.gtid_seq_no)
        };
        if let Some(gtid) = replicated {
            return gtid;
        }
        let values = self.values.lock();
        GtidChoice::new(
            DomainId(values.get(Variable::GtidDomainId).as_u64() as u32),
            ServerId(values.get(Variable::ServerId).as_u64() as u32),
            SequenceNumber(sequence),
        )
    }

    /// Returns whether the client tracks this variable (`session_track_system_variables`).
    pub(super) fn tracks(&self, variable: Variable) -> bool {
        self.values.lock().tracks(variable)
    }

    /// Returns the position of the snapshot of START TRANSACTION WITH CONSISTENT SNAPSHOT, if one is open.
    pub fn consistent_snapshot(&self) -> Option<Version> {
        self.transaction.lock().snapshot
    }

    /// Takes the statistics as the session sees them.
    pub fn sample(&self, scope: information_schema::Scope) -> Sample {
        let view = SessionView {
            session: &self.shared,
            own_values: scope == information_schema::Scope::Session,
            default_connection: self.default_connection(),
            snapshot: self.consistent_snapshot(),
        };
        Sample::of_session(&self.server, view)
    }

    /// Returns the current privileges of the session's account.
    pub fn authority<'a>(&'a self, session: &'a SessionContext) -> Authority<'a> {
        Authority::new(&self.privileges, &self.server.accounts, session)
    }

    /// Starts `max_statement_time`; zero means no limit.
    pub fn set_deadline(&self, limit: Duration) {
        self.shared
            .interrupt
            .set_deadline((!limit.is_zero()).then_some(limit));
    }

    /// Waits until the position of `wait_for_gtid` is published. It is then cleared, so each position is waited for
    /// only once.
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

    /// Returns when a read that begins now may begin: at once, unless this server is or was the primary of a cluster
    /// and may have been replaced ([`crate::cluster::read_lease`]). Then `paceline_cluster_stale_reads` decides.
    ///
    /// # Errors
    /// 1047 if reads are refused; the errors of KILL.
    #[inline]
    pub fn await_new_reads(&self, diagnostics: &mut Diagnostics) -> Result<()> {
        match &self.server.cluster {
            Some(cluster) if !cluster.reads.holds(self.accepted_reads()) => {
                stale_reads::decide(self, cluster, diagnostics)
            }
            _ => Ok(()),
        }
    }

    /// Checks what was read by a statement or transaction that ends without a change: no commit vouches for it. An
    /// applier is not a client.
    ///
    /// # Errors
    /// Those of [`Self::await_new_reads`].
    #[inline]
    pub fn vouch_for_reads(&self, diagnostics: &mut Diagnostics) -> Result<()> {
        match self.server.cluster.is_some() && self.transaction.lock().replicated.is_none() {
            true => self.await_new_reads(diagnostics),
            false => Ok(()),
        }
    }

    /// Returns the error of a statement as the client gets it: 1047 instead of one that tells of tables as they were on
    /// a primary that may have been replaced.
    #[cold]
    pub fn error_of_new_reads(&self, error: Error, diagnostics: &mut Diagnostics) -> Error {
        match stale_reads::tells_of_reads(&error) {
            true => self.vouch_for_reads(diagnostics).err().unwrap_or(error),
            false => error,
        }
    }

    fn accepted_reads(&self) -> ReplicaTime {
        ReplicaTime::from_number(self.accepted_reads.load(Ordering::Relaxed))
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

    /// Checks whether the running statement may continue, and lets other tasks run if its time slice is over.
    ///
    /// # Errors
    /// The errors of KILL, of a shutdown, and of `max_statement_time`.
    pub fn check_running(&self) -> Result<()> {
        self.time_slice.look();
        match self.shared.interrupt.raised() {
            Some(reason) => Err(crate::errors::interrupted(reason)),
            None => Ok(()),
        }
    }

    /// Returns the replication mode from `sql_log_bin` and `skip_replication`.
    pub fn replication(&self, context: &SessionContext) -> Replication {
        let is_marked = || self.values.lock().get(Variable::SkipReplication).as_bool();
        match context.settings.log_bin {
            false => Replication::LocalOnly,
            true if is_marked() => Replication::Marked,
            true => Replication::Replicated,
        }
    }

    /// Returns 1290 if the server is read only and the account has no exemption. In a cluster nobody but an applier may
    /// write on a server that is not the primary.
    pub fn check_writable(&self) -> Result<()> {
        if let Some(cluster) = &self.server.cluster
            && cluster.gate.state() == GateState::Closed
            && self.transaction.lock().replicated.is_none()
        {
            return Err(Error::new(ER_OPTION_PREVENTS_STATEMENT, &[&"--read-only"]));
        }
        if self.server.globals.is_on(Variable::ReadOnly)
            && self.require_any(&[Privilege::ReadOnlyAdmin]).is_err()
        {
            return Err(Error::new(ER_OPTION_PREVENTS_STATEMENT, &[&"--read-only"]));
        }
        Ok(())
    }

    /// Waits while the cluster holds commits back, because another server is about to take over.
    pub async fn wait_while_held(&self) {
        if let Some(cluster) = &self.server.cluster {
            cluster.gate.pass().await;
        }
    }

    /// Returns 1227 if the account has none of these privileges.
    pub fn require_any(&self, privileges: &[Privilege]) -> Result<()> {
        self.privileges.require_any(privileges, &self.server.accounts)
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
            // A stored program has its own.
            Variable::CharacterSetClient if scope != Scope::Global => {
                text(session.settings.character_set_client.name().to_owned())
            }
            Variable::CharacterSetConnection if scope != Scope::Global => {
                text(session.settings.collation_connection.charset().name().to_owned())
            }
            Variable::CollationConnection if scope != Scope::Global => {
                text(session.settings.collation_connection.name().to_owned())
            }
            Variable::CharacterSetDatabase if scope != Scope::Global => {
                text(session.settings.collation_database.charset().name().to_owned())
            }
            Variable::CollationDatabase if scope != Scope::Global => {
                text(session.settings.collation_database.name().to_owned())
            }
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

    /// Returns the value of `default_storage_engine`.
    pub fn default_engine(&self) -> TableEngine {
        let values = self.values.lock();
        engine(values.get(Variable::DefaultStorageEngine).as_str()).unwrap_or(TableEngine::InnoDb)
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

/// Returns 1272 for a variable that has no value per connection.
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
        self.authority(session).check(privilege, target)
    }

    fn check_column(
        &self,
        session: &SessionContext,
        database: &str,
        table: &str,
        column: Option<&str>,
    ) -> Result<()> {
        self.authority(session).check_column(database, table, column)
    }

    fn is_role(&self, name: &str) -> bool {
        self.server.accounts.load().role(name).is_some()
    }

    fn begin_definer(&self, user: &str, host: &str) -> Result<()> {
        let accounts = &self.server.accounts;
        let account = accounts.load().definer(user, host);
        let account = account.ok_or_else(|| Error::new(ER_NO_SUCH_USER, &[&user, &host]))?;
        self.privileges.begin_definer(account, accounts);
        Ok(())
    }

    fn end_definer(&self) {
        self.privileges.end_definer();
    }

    fn can_see_database(&self, session: &SessionContext, database: &str) -> bool {
        self.authority(session).can_see(database)
    }
}

impl SessionServices {
    /// Returns `progress_report_time`: the larger of the session's and the server's, or 0 if either is.
    fn progress_report_seconds(&self) -> u64 {
        let own = self.values.lock().get(Variable::ProgressReportTime).as_u64();
        let global = self.server.globals.number(Variable::ProgressReportTime);
        match own.min(global) {
            0 => 0,
            _ => own.max(global),
        }
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

    fn loadable_function(&self, name: &str) -> Result<Option<Arc<NativeFunction>>> {
        let catalog = self.server.catalog.load();
        let function = catalog.loadable_function(name);
        let functions = &self.server.loadable_functions;
        function
            .map(|function| functions.code_of(function, &self.server.globals))
            .transpose()
    }

    fn run_native(&self, code: &mut dyn FnMut()) {
        time_slice::apart(code);
    }

    fn note_progress(&self, progress: &StatementProgress) {
        self.shared.progress.set(progress);
        self.shared.update(|activity| activity.state = progress.state);
        self.progress_reports
            .report(progress, || self.progress_report_seconds());
    }

    fn check_interrupt(&self, session: &SessionContext) -> Result<()> {
        self.shared.progress.examine(session.rows_examined);
        self.check_running()
    }

    fn take_plan_request(&self) -> Option<PlanRequest> {
        self.shared.running_plan.take_request()
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
        user_locks::holder(&self.server, name)
    }

    fn next_value(&self, session: &SessionContext, database: &str, name: &str) -> Result<i64> {
        self.next_sequence_value(session, database, name)
    }

    fn last_value(&self, _session: &SessionContext, database: &str, name: &str) -> Result<Option<i64>> {
        self.last_sequence_value(database, name)
    }

    fn set_value(
        &self,
        session: &SessionContext,
        database: &str,
        name: &str,
        set: SequenceSet,
    ) -> Result<bool> {
        self.set_sequence_value(session, database, name, set)
    }

    fn insert_sequence_row(
        &self,
        session: &SessionContext,
        database: &str,
        name: &str,
        row: &[Value],
    ) -> Result<()> {
        self.replace_sequence_row(session, database, name, row)
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
        named_file(name, session.database.as_deref(), &self.server.globals).ok()
    }

    fn version(&self) -> String {
        self.server.globals.get(Variable::Version).as_str().to_owned()
    }
}
