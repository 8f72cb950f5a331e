//! A statement that is logged as text: DDL, statements about accounts, savepoints.

use super::state::SessionState;
use super::transaction::replication;
use crate::errors::of_transaction;
use crate::variables::Variable;
use paceline_binlog::event::{EventFlags, QueryEvent, StatusVar};
use paceline_catalog::ddl::session_flags;
use paceline_expression::session::SessionContext;
use paceline_storage::WriteSet;
use paceline_syntax::{Error, Result};
use paceline_txn::DdlCommit;
use std::time::Duration;

/// A statement in the form for the log: its text, and all session settings that affect it. `autocommit` is not
/// included: as in MariaDB, ON is logged whatever the session's value is. With OFF, a MariaDB replica may stop with
/// 1192 at the statement after a definition.
#[derive(Debug, Clone)]
pub struct LoggedStatement {
    text: Vec<u8>,
    database: Vec<u8>,
    connection_id: u32,
    flags: u32,
    sql_mode: u64,
    /// `auto_increment_increment` and `auto_increment_offset`: an ALTER TABLE that adds the column assigns numbers to
    /// existing rows.
    auto_increment: (u16, u16),
    collations: (u16, u16, u16),
    collation_database: u16,
    time_zone: String,
    /// Number of `lc_time_names`.
    time_locale: u16,
    user: String,
    host: String,
    /// Start of the statement in seconds since 1970.
    pub timestamp_seconds: u32,
    /// Microseconds of the start, if rows contain them.
    fraction: Option<u32>,
    /// Error of a statement that failed after it had changed something; 0 for none.
    error_code: u16,
}

/// Returns the session's time zone as it is logged.
pub(super) fn logged_time_zone(state: &SessionState) -> String {
    let values = state.services.values.lock();
    values.get(Variable::TimeZone).as_str().to_owned()
}

impl LoggedStatement {
    /// Creates the logged form of the session's current statement, with this text.
    pub fn of(state: &SessionState, text: &[u8]) -> Self {
        Self::of_context(&state.context, text, logged_time_zone(state))
    }

    pub(super) fn of_context(context: &SessionContext, text: &[u8], time_zone: String) -> Self {
        let settings = &context.settings;
        let flag = |set: bool, flag: u32| if set { flag } else { 0 };
        LoggedStatement {
            text: text.to_vec(),
            database: context.database.clone().unwrap_or_default().into_bytes(),
            connection_id: context.connection_id as u32,
            flags: flag(settings.auto_is_null, session_flags::AUTO_IS_NULL)
                | flag(
                    !settings.check_constraint_checks,
                    session_flags::NO_CHECK_CONSTRAINT_CHECKS,
                )
                | flag(
                    settings.explicit_defaults_for_timestamp,
                    session_flags::EXPLICIT_DEFAULTS_FOR_TIMESTAMP,
                )
                | flag(!settings.foreign_key_checks, session_flags::NO_FOREIGN_KEY_CHECKS)
                | flag(!settings.unique_checks, session_flags::RELAXED_UNIQUE_CHECKS),
            sql_mode: settings.sql_mode.bits(),
            auto_increment: (
                u16::try_from(settings.auto_increment_increment).unwrap_or(u16::MAX),
                u16::try_from(settings.auto_increment_offset).unwrap_or(u16::MAX),
            ),
            // Character set of the text: the parser has converted it to UTF-8.
            collations: (
                paceline_types::Charset::Utf8mb4.default_collation().id(),
                settings.collation_connection.id(),
                settings.collation_server.id(),
            ),
            collation_database: settings.collation_database.id(),
            time_zone,
            time_locale: settings.time_locale.number,
            user: context.current_user.user.clone(),
            host: context.current_user.host.clone(),
            timestamp_seconds: u32::try_from(context.statement.start_seconds()).unwrap_or(0),
            fraction: None,
            error_code: 0,
        }
    }

    /// Adds the microseconds of a statement that has inserted rows, so that a re-execution has the same start time.
    pub fn with_fraction(mut self, context: &SessionContext) -> Self {
        self.fraction = Some(context.statement.start_micros.rem_euclid(1_000_000) as u32);
        self
    }

    /// Logs the statement as that of a role: a replica or a replay takes it for CURRENT_ROLE.
    pub fn by_role(mut self, role: Option<&str>) -> Self {
        if let Some(role) = role {
            self.user = role.to_owned();
            self.host = String::new();
        }
        self
    }

    /// Adds the error of a statement that was executed in part. A replica or a replay executes the same part and fails
    /// with the same error.
    pub fn with_failure(mut self, failure: Option<&Error>) -> Self {
        self.error_code = failure.map_or(0, |failure| failure.code().number());
        self
    }

    /// Returns the event, with the id of the built data.
    pub fn query_event(&self, build: Option<u64>) -> QueryEvent<'_> {
        let mut event = QueryEvent::new(&self.database, &self.text);
        event.connection_id = self.connection_id;
        event.error_code = self.error_code;
        let (client, connection, server) = self.collations;
        let (increment, offset) = self.auto_increment;
        let auto_increment = StatusVar::AutoIncrement { increment, offset };
        event.status_vars = vec![
            StatusVar::Flags2(self.flags),
            StatusVar::SqlMode(self.sql_mode),
            StatusVar::Catalog(b"std"),
        ];
        event
            .status_vars
            .extend(((increment, offset) != (1, 1)).then_some(auto_increment));
        event.status_vars.extend([
            StatusVar::Charset {
                client,
                connection,
                server,
            },
            StatusVar::TimeZone(self.time_zone.as_bytes()),
        ]);
        if self.time_locale != 0 {
            event.status_vars.push(StatusVar::LcTimeNames(self.time_locale));
        }
        event.status_vars.extend([
            StatusVar::CharsetDatabase(self.collation_database),
            StatusVar::Invoker {
                user: self.user.as_bytes(),
                host: self.host.as_bytes(),
            },
        ]);
        event.status_vars.extend(self.fraction.map(StatusVar::HrNow));
        event.status_vars.extend(build.map(StatusVar::Xid));
        event
    }
}

impl SessionState {
    /// Logs a statement without changes to tables, for execution on replicas.
    pub(super) async fn log_for_replicas(&mut self, text: &[u8], lock_timeout: Duration) -> Result<()> {
        if !self.context.settings.log_bin {
            return Ok(());
        }
        let logged = LoggedStatement::of(self, text);
        let query = logged.query_event(None);
        let server = self.server.clone();
        let ddl = DdlCommit {
            query: &query,
            event_flags: EventFlags::NONE,
            timestamp_seconds: logged.timestamp_seconds,
            writes: WriteSet::new(),
            builds: vec![],
            on_publish: None,
            gtid: self.services.gtid_choice(),
            replication: replication(&self.context, &self.services),
            metadata_lock_timeout: lock_timeout,
        };
        let committing = server
            .transactions
            .commit_ddl_where(&self.services.locks, ddl, || true);
        let outcome = committing.await.map_err(|error| of_transaction(&error))?;
        self.committed(outcome);
        Ok(())
    }
}
