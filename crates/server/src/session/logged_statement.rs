//! A statement that goes into the log as text: DDL, statements about accounts, savepoints.

use super::Session;
use crate::variables::Variable;
use paceline_binlog::event::{QueryEvent, StatusVar};
use paceline_sql::session::SessionContext;

/// OPTION_AUTO_IS_NULL in a Query event's flags.
const FLAG_AUTO_IS_NULL: u32 = 1 << 14;
/// OPTION_EXPLICIT_DEF_TIMESTAMP: a TIMESTAMP column has the defaults that are written, and no others. Always so here; without the flag a
/// MariaDB replica gives a plain one DEFAULT and ON UPDATE CURRENT_TIMESTAMP.
const FLAG_EXPLICIT_DEFAULTS_FOR_TIMESTAMP: u32 = 1 << 24;
/// OPTION_NO_FOREIGN_KEY_CHECKS.
const FLAG_NO_FOREIGN_KEY_CHECKS: u32 = 1 << 26;
/// OPTION_RELAXED_UNIQUE_CHECKS.
const FLAG_RELAXED_UNIQUE_CHECKS: u32 = 1 << 27;

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
            flags: FLAG_EXPLICIT_DEFAULTS_FOR_TIMESTAMP
                | flag(settings.auto_is_null, FLAG_AUTO_IS_NULL)
                | flag(!settings.foreign_key_checks, FLAG_NO_FOREIGN_KEY_CHECKS)
                | flag(!settings.unique_checks, FLAG_RELAXED_UNIQUE_CHECKS),
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
        }
    }

    /// The event, with the id of what the statement has built.
    pub fn query_event(&self, build: Option<u64>) -> QueryEvent<'_> {
        let mut event = QueryEvent::new(&self.database, &self.text);
        event.connection_id = self.connection_id;
        let (client, connection, server) = self.collations;
        event.status_vars = vec![
            StatusVar::Flags2(self.flags),
            StatusVar::SqlMode(self.sql_mode),
            StatusVar::Catalog(b"std"),
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
        ];
        let (increment, offset) = self.auto_increment;
        if (increment, offset) != (1, 1) {
            event
                .status_vars
                .push(StatusVar::AutoIncrement { increment, offset });
        }
        event.status_vars.extend(build.map(StatusVar::Xid));
        event
    }
}
