//! A statement that goes into the log as text: DDL, statements about accounts, savepoints.

use super::Session;
use crate::variables::Variable;
use paceline_binlog::event::{QueryEvent, StatusVar};
use paceline_sql::ddl::session_flags;
use paceline_sql::session::SessionContext;

/// A statement as it goes into the log: its text, and everything of its session that gives it its meaning. Without `autocommit`: as MariaDB does, ON is
/// logged whatever the session has; a MariaDB replica may stop with 1192 at what is behind a definition with OFF.
#[derive(Debug, Clone)]
pub struct LoggedStatement {
    text: Vec<u8>,
    database: Vec<u8>,
    connection_id: u32,
    flags: u32,
    sql_mode: u64,
    /// `auto_increment_increment` and `auto_increment_offset`: an ALTER TABLE that adds the column numbers rows.
    auto_increment: (u16, u16),
    collations: (u16, u16, u16),
    collation_database: u16,
    time_zone: String,
    user: String,
    host: String,
    /// When it began, in seconds since 1970.
    pub timestamp_seconds: u32,
    /// The microseconds of it, where they have gone into rows.
    fraction: Option<u32>,
}

impl LoggedStatement {
    /// Of the session's statement with this text.
    pub fn of(session: &Session, text: &[u8]) -> Self {
        let time_zone = {
            let values = session.services.values.lock();
            values.get(Variable::TimeZone).as_str().to_owned()
        };
        Self::of_context(&session.context, text, time_zone)
    }

    fn of_context(context: &SessionContext, text: &[u8], time_zone: String) -> Self {
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
            // What the text is in: the parser has made UTF-8 of it.
            collations: (
                paceline_types::Charset::Utf8mb4.default_collation().id(),
                settings.collation_connection.id(),
                settings.collation_server.id(),
            ),
            collation_database: settings.collation_database.id(),
            time_zone,
            user: context.current_user.user.clone(),
            host: context.current_user.host.clone(),
            timestamp_seconds: u32::try_from(context.statement.start_seconds()).unwrap_or(0),
            fraction: None,
        }
    }

    /// The same of a statement that has filled rows: who carries it out again begins at the same microsecond.
    pub fn with_fraction(mut self, context: &SessionContext) -> Self {
        self.fraction = Some(context.statement.start_micros.rem_euclid(1_000_000) as u32);
        self
    }

    /// The event, with the id of what the statement has built.
    pub fn query_event(&self, build: Option<u64>) -> QueryEvent<'_> {
        let mut event = QueryEvent::new(&self.database, &self.text);
        event.connection_id = self.connection_id;
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
