//! Assignment of a system variable: its check and its effect.

use crate::accounts::checks::check_assignment;
use crate::accounts::password_check::PasswordRules;
use crate::audit_log::{AuditedSession, is_audit_variable};
use crate::errors::{of_gtid_list, of_replica, of_transaction};
use crate::memory_control::divide_memory;
use crate::replica_filters::filter_kind;
use crate::row_options::replicated_row_options;
use crate::session::services::{SessionServices, must_be_of_connections, split_connection, unknown};
use crate::statement_logs::{is_log_variable, other_name, paired, unbuilt_part};
use crate::variables::{
    Access, Effect, Fit, Kind, Scope, Variable, VariableValue, apply_to_session, binlog_format,
    is_transaction_config, overflowed,
};
use paceline_binlog::{GtidPosition, GtidState};
use paceline_expression::session::{BinlogFormat, SessionContext, VariableScope};
use paceline_log_stream::source::definition::UseGtid;
use paceline_replication::connection_set::must_stop;
use paceline_syntax::{Error, Result};
use paceline_txn::{MetadataMode, MetadataObject};
use paceline_types::error_code::*;
use paceline_types::{Charset, Collation, Value};

/// An assignment that has been checked.
#[derive(Debug, Clone)]
pub struct Assignment {
    /// Variable to assign.
    pub variable: Variable,
    /// Whether it is SET GLOBAL.
    pub global: bool,
    /// Connection name of `connection.variable`.
    connection: Option<String>,
    effect: AssignmentEffect,
}

impl Assignment {
    /// Returns whether this sets the session's `binlog_format` to a value.
    pub fn sets_session_format(&self, format: BinlogFormat) -> bool {
        self.variable == Variable::BinlogFormat
            && !self.global
            && matches!(&self.effect, AssignmentEffect::Set(setting) if binlog_format(setting) == format)
    }
}

/// Effect of an assignment.
#[derive(Debug, Clone)]
enum AssignmentEffect {
    /// Sets the variable to this value.
    Set(VariableValue),
    /// Sets `gtid_slave_pos`.
    SlavePosition(GtidPosition),
    /// Sets `gtid_binlog_state`.
    GtidState(GtidState),
    /// Sets the session's `wait_for_gtid`, with its text.
    Await(GtidPosition, VariableValue),
}

/// Checks an assignment of `name`, given in lower case; `None` is DEFAULT. Warns if a value is adjusted to the
/// variable's range.
///
/// # Errors
/// 1193 for an unknown name; 1238 if it is read only; 1228 and 1229 for the wrong scope; 1227 without the
/// privilege; 1231 and 1232 for an invalid value; the errors for variables that must not change in an open
/// transaction.
pub fn check(
    name: &str,
    scope: VariableScope,
    value: Option<Value>,
    services: &SessionServices,
    session: &mut SessionContext,
) -> Result<Assignment> {
    let (connection, name) = split_connection(name);
    let variable = Variable::by_name(name).ok_or_else(|| unknown(name))?;
    if let Some(connection) = connection {
        must_be_of_connections(variable)?;
        if services.server.replicas().get(connection).is_err() {
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
    check_assignment(services.authority(session), variable, scope)?;
    definition.warn_deprecated(session);
    let overflow = value
        .as_ref()
        .and_then(overflowed)
        .filter(|_| matches!(definition.kind, Kind::Integer { .. } | Kind::Unsigned { .. }));
    if let (Some(number), Some(given)) = (&overflow, &value) {
        let [given, number] = [given, number]
            .map(|value| paceline_types::text::to_string(&value.as_ref(), &session.settings.time_zone));
        if given != number {
            let message = ER_DATA_OVERFLOW.message(&[&given, &"INT"]);
            session.diagnostics.warn(ER_DATA_OVERFLOW, message);
        }
    }
    let value = overflow.or(value);
    let setting = match &value {
        None if variable.has_no_default() => return Err(Error::new(ER_NO_DEFAULT, &[&name])),
        // SET SESSION x = DEFAULT takes the global value, SET GLOBAL x = DEFAULT the built-in default.
        None if global || definition.scope == Scope::SessionOnly => definition.default_setting(),
        None => services.server.globals.get(variable),
        Some(value) => {
            let current = match definition.kind {
                Kind::Flags(_) if global => Some(services.server.globals.get(variable)),
                Kind::Flags(_) => Some(services.values.lock().get(variable).clone()),
                _ => None,
            };
            let (setting, fit) = definition.assign_over(value, current.as_ref())?;
            if fit == Fit::Cut {
                let given = paceline_types::text::to_string(&value.as_ref(), &session.settings.time_zone);
                if session
                    .settings
                    .sql_mode
                    .contains(paceline_expression::session::SqlMode::STRICT_ALL_TABLES)
                {
                    return Err(definition.wrong_value(&given));
                }
                let message = ER_TRUNCATED_WRONG_VALUE.message(&[&name, &given]);
                session.diagnostics.warn(ER_TRUNCATED_WRONG_VALUE, message);
            }
            setting
        }
    };
    let setting = match &value {
        Some(value) => definition
            .admit(setting, &services.server.globals, global)
            .map_err(|error| match error.code() {
                // It names the value as it was given.
                ER_WRONG_VALUE_FOR_VAR if !value.is_null() => definition.wrong_value(
                    &paceline_types::text::to_string(&value.as_ref(), &session.settings.time_zone),
                ),
                _ => error,
            })?,
        None => setting,
    };
    let is_fixed = matches!(
        variable,
        Variable::MaxAllowedPacket | Variable::NetBufferLength | Variable::MaxUserConnections
    );
    if !global && is_fixed {
        return Err(Error::new(
            ER_VARIABLE_IS_READONLY,
            &[&"SESSION", &name, &"GLOBAL"],
        ));
    }
    if global && matches!(variable, Variable::SqlLogBin | Variable::TcpNodelay) {
        // The variable can be read nevertheless.
        return Err(Error::new(ER_INCORRECT_GLOBAL_LOCAL_VAR, &[&name, &"SESSION"]));
    }
    check_transaction(variable, scope, services)?;
    check_cluster(variable, scope, &setting, services)?;
    definition.warn_assigned(session, &setting, &services.server.globals);
    warn_without_effect(session, variable, &setting);
    let effect = match variable {
        // The text of a log assigns its fixed value.
        Variable::SqlIfExists if setting.as_bool() => return Err(Error::unsupported("sql_if_exists=ON")),
        Variable::GtidSlavePos => {
            AssignmentEffect::SlavePosition(setting.as_str().parse().map_err(of_gtid_list)?)
        }
        Variable::GtidBinlogState => {
            AssignmentEffect::GtidState(setting.as_str().parse().map_err(of_gtid_list)?)
        }
        Variable::WaitForGtid => {
            let position = setting.as_str().parse();
            let position = position.map_err(|_| Error::new(ER_INCORRECT_GTID_STATE, &[]))?;
            AssignmentEffect::Await(position, setting)
        }
        _ => AssignmentEffect::Set(setting),
    };
    Ok(Assignment {
        variable,
        global,
        connection: connection.map(str::to_owned),
        effect,
    })
}

/// Checks variables by which a log's GTIDs would begin anew, or lose their order: a cluster counts with them.
fn check_cluster(
    variable: Variable,
    scope: VariableScope,
    setting: &VariableValue,
    services: &SessionServices,
) -> Result<()> {
    let endangers = match variable {
        Variable::GtidSlavePos | Variable::GtidBinlogState => true,
        Variable::GtidStrictMode => scope == VariableScope::Global && !setting.as_bool(),
        _ => false,
    };
    match endangers {
        true => services.server.refuse_in_cluster(),
        false => Ok(()),
    }
}

/// Checks variables that must not be assigned in an open transaction.
fn check_transaction(variable: Variable, scope: VariableScope, services: &SessionServices) -> Result<()> {
    if !services.transaction.lock().open {
        return Ok(());
    }
    let code = match variable {
        Variable::GtidSlavePos | Variable::GtidBinlogState => ER_CANT_DO_THIS_DURING_AN_TRANSACTION,
        _ if scope == VariableScope::Global => return Ok(()),
        Variable::GtidSeqNo | Variable::GtidDomainId | Variable::ServerId => {
            ER_INSIDE_TRANSACTION_PREVENTS_SWITCH_GTID_DOMAIN_ID_SEQ_NO
        }
        Variable::BinlogFormat => ER_INSIDE_TRANSACTION_PREVENTS_SWITCH_BINLOG_FORMAT,
        Variable::SqlLogBin => ER_INSIDE_TRANSACTION_PREVENTS_SWITCH_SQL_LOG_BIN,
        Variable::SkipReplication | Variable::SkipParallelReplication => {
            ER_INSIDE_TRANSACTION_PREVENTS_SWITCH_SKIP_REPLICATION
        }
        _ => return Ok(()),
    };
    Err(Error::new(code, &[]))
}

/// Executes a checked assignment.
///
/// # Errors
/// The errors of its effect: a replica that must be stopped first, a timeout of the wait for commits, a log that is
/// not empty.
pub fn execute(
    assignment: Assignment,
    services: &SessionServices,
    session: &mut SessionContext,
) -> Result<()> {
    let Assignment {
        variable,
        global,
        connection,
        effect,
    } = assignment;
    match effect {
        AssignmentEffect::SlavePosition(position) => {
            let warnings = services.server.replicas().set_position(&position);
            for warning in warnings.map_err(of_replica)? {
                session.diagnostics.warn(warning.code, warning.message);
            }
            Ok(())
        }
        AssignmentEffect::GtidState(state) => begin_log_with(&state, services),
        AssignmentEffect::Await(wanted, setting) => {
            services.values.lock().set(variable, setting);
            services.awaited.set((!wanted.is_empty()).then_some(wanted));
            Ok(())
        }
        // A connection has one skip counter, in whatever scope it is set.
        AssignmentEffect::Set(setting) if global || variable == Variable::SqlSlaveSkipCounter => {
            assign_global(variable, connection.as_deref(), setting, services, session)?;
            if variable == Variable::ServerId {
                // As in MariaDB, the session that sets it uses it at once.
                let setting = services.server.globals.get(variable);
                assign_session(variable, setting, services, session);
            }
            Ok(())
        }
        AssignmentEffect::Set(setting) => {
            assign_session(variable, setting, services, session);
            Ok(())
        }
    }
}

fn begin_log_with(state: &GtidState, services: &SessionServices) -> Result<()> {
    let transactions = &services.server.transactions;
    let begun = tokio::task::block_in_place(|| transactions.begin_with_state(state));
    if begun.map_err(|error| of_transaction(&error))?.is_none() {
        return Err(Error::new(ER_BINLOG_MUST_BE_EMPTY, &[]));
    }
    tracing::info!("gtid_binlog_state: a new binary log begins with '{state}'");
    Ok(())
}

fn assign_global(
    variable: Variable,
    connection: Option<&str>,
    setting: VariableValue,
    services: &SessionServices,
    session: &mut SessionContext,
) -> Result<()> {
    if assign_replication(variable, connection, &setting, services)? {
        return Ok(());
    }
    let globals = &services.server.globals;
    let pair: Option<(Variable, VariableValue)> = match variable {
        Variable::ExpireLogsDays => Some((
            Variable::BinlogExpireLogsSeconds,
            VariableValue::Unsigned((setting.as_f64() * 86_400.0) as u64),
        )),
        Variable::BinlogExpireLogsSeconds => Some((
            Variable::ExpireLogsDays,
            VariableValue::Double(setting.as_u64() as f64 / 86_400.0),
        )),
        _ => None,
    };
    let mut pairs = paired(variable, &setting, |other| globals.get(other));
    pairs.extend(pair);
    let is_any_config = pairs.iter().any(|(other, _)| is_transaction_config(*other));
    if variable == Variable::ReadOnly && setting.as_bool() && !globals.is_on(Variable::ReadOnly) {
        // Waits for running commits. No commit follows, as in MariaDB; a switchover relies on this.
        let timeout = session.settings.metadata_lock_wait_timeout;
        let lock = services
            .locks
            .lock_metadata(MetadataObject::Commit, MetadataMode::ReadOnly, timeout);
        let lock = lock.map_err(|error| of_transaction(&error))?;
        globals.set(variable, setting);
        drop(lock);
        return Ok(());
    }
    if is_audit_variable(variable) {
        let audited = AuditedSession {
            connection_id: session.connection_id,
            user: &session.user.user,
            host: &session.user.host,
            database: session.database.as_deref().unwrap_or_default(),
        };
        let value = variable.definition().show(&setting).unwrap_or_default();
        let name = variable.definition().name;
        services.server.audit_log.setting(audited, name, &value);
    }
    if variable == Variable::ServerAuditFileRotateNow {
        // It does something once, and stays OFF.
        return match setting.as_bool() {
            true => rotate_audit_log(services),
            false => Ok(()),
        };
    }
    let before = globals.get(variable);
    globals.set(variable, setting);
    for (other, setting) in pairs {
        globals.set(other, setting);
    }
    let configured = match is_log_variable(variable) {
        true => services.server.statement_logs.configure(globals),
        false if is_audit_variable(variable) => services.server.audit_log.configure(globals),
        false => Ok(()),
    };
    if variable.definition().name.starts_with("simple_password_check_")
        && let Some(adjusted) = PasswordRules::adjust_length(globals)
    {
        session.diagnostics.warn(ER_TRUNCATED_WRONG_VALUE, adjusted);
    }
    if variable == Variable::Userstat {
        services.server.user_statistics.configure(globals);
    }
    if let Err(error) = configured {
        tracing::error!("{}: {error}", variable.definition().name);
        globals.set(variable, before.clone());
        if let Some(other) = other_name(variable) {
            globals.set(other, before.clone());
        }
        let shown = variable.definition().show(&before).unwrap_or_default();
        return Err(variable.definition().wrong_value(&shown));
    }
    globals.pair_charset(variable);
    if let Variable::SlaveExecMode
    | Variable::SlaveRunTriggersForRbr
    | Variable::SlaveTypeConversions
    | Variable::BinlogRowMetadata = variable
    {
        services.server.row_options.set(replicated_row_options(globals));
    }
    if is_transaction_config(variable) || is_any_config {
        // Restore the old value if the log had no room. Otherwise the next assignment would try it again.
        services
            .server
            .apply_transaction_config()
            .inspect_err(|_| globals.set(variable, before))?;
    }
    if let Variable::PacelineSessionMemoryMax
    | Variable::PacelineTemporaryTablesMax
    | Variable::PacelineMemoryLimit = variable
    {
        divide_memory(&services.server);
    }
    Ok(())
}

fn assign_session(
    variable: Variable,
    setting: VariableValue,
    services: &SessionServices,
    session: &mut SessionContext,
) {
    match variable {
        Variable::LastInsertId | Variable::Identity => session.last_insert_id = setting.as_u64(),
        Variable::InsertId => session.statement.insert_id = Some(setting.as_u64()),
        // Changes `CONNECTION_ID()` and the id in the log of later statements, as in MariaDB.
        Variable::PseudoThreadId => session.connection_id = setting.as_u64(),
        Variable::RandSeed1 => session.random.seed1 = setting.as_u64(),
        Variable::RandSeed2 => session.random.seed2 = setting.as_u64(),
        Variable::Timestamp => {
            let seconds = setting.as_f64();
            session.settings.timestamp_override = (seconds > 0.0).then(|| (seconds * 1e6).round() as i64);
        }
        Variable::GtidSeqNo => services.transaction.lock().gtid_seq_no = setting.as_u64(),
        _ => {
            let mut values = services.values.lock();
            for (other, setting) in paired(variable, &setting, |other| values.get(other).clone()) {
                values.set(other, setting);
            }
            values.set(variable, setting.clone());
            apply_to_session(session, &mut values, variable, &setting);
            if variable == Variable::WaitTimeout {
                services
                    .shared
                    .update(|activity| activity.wait_timeout_seconds = setting.as_u64());
            }
        }
    }
}

fn rotate_audit_log(services: &SessionServices) -> Result<()> {
    services.server.audit_log.rotate().map_err(|error| {
        tracing::error!("the audit log cannot be rotated: {error}");
        Variable::ServerAuditFileRotateNow.definition().wrong_value("ON")
    })
}

/// Assigns global variables that belong to a connection. Returns whether the variable is one of them.
fn assign_replication(
    variable: Variable,
    connection: Option<&str>,
    setting: &VariableValue,
    services: &SessionServices,
) -> Result<bool> {
    let replicas = services.server.replicas();
    let connection = || connection.map_or_else(|| services.default_connection(), str::to_owned);
    match variable {
        Variable::SqlSlaveSkipCounter => {
            let name = connection();
            match replicas.get(&name) {
                Ok(connection) if connection.applier_runs() => {
                    return Err(of_replica(must_stop(connection.name())));
                }
                // With several threads, domains are applied in parallel, and the order of transactions is arbitrary.
                Ok(connection)
                    if setting.as_u64() > 0
                        && connection.definition().use_gtid != UseGtid::No
                        && services.server.globals.number(Variable::SlaveParallelThreads) > 0
                        && services.server.globals.number(Variable::SlaveParallelMode) > 0
                        && services
                            .server
                            .transactions
                            .replicated_position()
                            .iter()
                            .nth(1)
                            .is_some() =>
                {
                    return Err(Error::new(ER_SLAVE_SKIP_NOT_IN_GTID, &[]));
                }
                Ok(connection) => connection.set_skip_events(setting.as_u64()),
                // In MariaDB the default connection exists before CHANGE MASTER, which sets its counter to zero.
                Err(_) if name.is_empty() => services.server.globals.set(variable, setting.clone()),
                Err(error) => return Err(of_replica(error)),
            }
        }
        // An applier reads these when it starts.
        Variable::SlaveParallelThreads
        | Variable::SlaveDomainParallelThreads
        | Variable::SlaveParallelMode
        | Variable::ReplicateEventsMarkedForSkip
        | Variable::GtidIgnoreDuplicates => {
            let running = replicas.all().into_iter().find(|known| known.runs());
            return match running {
                Some(running) => Err(of_replica(must_stop(running.name()))),
                None => Ok(false),
            };
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
            services
                .server
                .replica_filters
                .set(&name, &services.server.globals, kind, setting.as_str())
                .map_err(|_| Error::new(ER_WRONG_ARGUMENTS, &[&"SET"]))?;
        }
    }
    Ok(true)
}

/// Reports that a value other than the default has no effect: with a note for sizes and strategies, with a warning for
/// missing features.
fn warn_without_effect(session: &mut SessionContext, variable: Variable, setting: &VariableValue) {
    let definition = variable.definition();
    if variable == Variable::SqlMode && setting.as_str().split(',').any(|mode| mode == "ORACLE") {
        let message = ER_NOT_SUPPORTED_YET.message(&[&"sql_mode=ORACLE"]);
        session.diagnostics.warn(ER_NOT_SUPPORTED_YET, message);
    }
    if let Some(part) = unbuilt_part(variable, setting) {
        let message = ER_NOT_SUPPORTED_YET.message(&[&part]);
        session.diagnostics.warn(ER_NOT_SUPPORTED_YET, message);
    }
    if !definition.is_without_effect(setting) {
        return;
    }
    let shown = definition.show(setting).unwrap_or_else(|| "NULL".to_owned());
    let message = ER_NOT_SUPPORTED_YET.message(&[&format_args!("{}={shown}", definition.name)]);
    match definition.effect {
        Effect::Tuning => session.diagnostics.note(ER_NOT_SUPPORTED_YET, message),
        _ => session.diagnostics.warn(ER_NOT_SUPPORTED_YET, message),
    }
}

/// Executes SET NAMES or SET CHARACTER SET. Returns the variables that the client is told of: the character set, not
/// the collation, and in this order, as in MariaDB.
pub fn assign_client(
    charset: Charset,
    connection: Collation,
    services: &SessionServices,
    session: &mut SessionContext,
) -> [Variable; 3] {
    let mut assign = |variable: Variable, value: &str| {
        assign_session(variable, VariableValue::Text(value.into()), services, session);
    };
    assign(Variable::CollationConnection, connection.name());
    assign(Variable::CharacterSetClient, charset.name());
    assign(Variable::CharacterSetResults, charset.name());
    [
        Variable::CharacterSetConnection,
        Variable::CharacterSetClient,
        Variable::CharacterSetResults,
    ]
}

/// Returns the character set of SET NAMES and SET CHARACTER SET; `None` is DEFAULT.
pub fn client_charset(name: Option<&str>, context: &SessionContext) -> Result<Charset> {
    match name {
        None => Ok(context.settings.collation_server.charset()),
        Some(name) => Charset::from_name(name).ok_or_else(|| Error::new(ER_UNKNOWN_CHARACTER_SET, &[&name])),
    }
}

/// Looks up a collation by name. It must belong to this character set.
pub fn collation_of(charset: Charset, name: &str) -> Result<Collation> {
    let collation = Collation::from_name(name).ok_or_else(|| Error::new(ER_UNKNOWN_COLLATION, &[&name]))?;
    if collation.charset() != charset {
        return Err(Error::new(
            ER_COLLATION_CHARSET_MISMATCH,
            &[&collation.name(), &charset.name()],
        ));
    }
    Ok(collation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::state::SessionState;
    use crate::session::testing::TestServer;
    use crate::variables::TABLE;
    use paceline_expression::session::SqlMode;

    #[tokio::test(flavor = "multi_thread")]
    async fn scopes_and_access_are_those_of_the_table() {
        let test = TestServer::new();
        let mut session = test.internal();
        let state = session.state();
        let mut number = |name: &str, scope| {
            let checked = check(name, scope, None, &state.services, &mut state.context);
            checked
                .map_or_else(|error| error.code(), |_| ErrorCode::from_number(0))
                .number()
        };
        for row in TABLE {
            let (global, session) = (
                number(row.name, VariableScope::Global),
                number(row.name, VariableScope::Session),
            );
            let expected = match (row.access, row.scope) {
                (Access::Fixed, _) => (1238, 1238),
                (_, Scope::Global) => (global, 1229),
                (_, Scope::SessionOnly) => (1228, session),
                (_, Scope::Both) => (global, session),
            };
            assert_eq!((global, session), expected, "{}", row.name);
        }
        assert_eq!(number("no_such_variable", VariableScope::Session), 1193);
        assert_eq!(number("c.sql_mode", VariableScope::Global), 1272);
        assert_eq!(number("c.replicate_do_db", VariableScope::Global), 1210);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn adjusted_values_are_warnings_or_errors() {
        let test = TestServer::new();
        let mut session = test.internal();
        let state = session.state();
        let cut = |state: &mut SessionState| {
            let value = Some(Value::Int(-1));
            check(
                "max_error_count",
                VariableScope::Session,
                value,
                &state.services,
                &mut state.context,
            )
        };
        let assignment = cut(state).unwrap();
        let conditions = state.context.diagnostics.conditions().iter();
        let codes: Vec<ErrorCode> = conditions.map(|condition| condition.code).collect();
        assert_eq!(codes, [ER_TRUNCATED_WRONG_VALUE]);
        execute(assignment, &state.services, &mut state.context).unwrap();
        assert_eq!(state.context.settings.max_error_count, 0);
        state.context.settings.sql_mode = SqlMode::parse("STRICT_ALL_TABLES").unwrap();
        assert_eq!(cut(state).unwrap_err().code(), ER_WRONG_VALUE_FOR_VAR);
    }
}
