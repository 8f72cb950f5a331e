//! Settings and values that a statement had on its primary.

use crate::session::state::SessionState;
use crate::session::user_variable_event::user_variable;
use crate::variables::{Variable, VariableValue};
use paceline_binlog::event::{IntvarKind, StatusVar};
use paceline_catalog::ddl::session_of_event;
use paceline_expression::session::{RandomGenerator, SqlMode};
use paceline_replication::apply::ReplicatedStatement;
use paceline_syntax::Result;
use paceline_txn::Replication;
use std::borrow::Cow;

impl SessionState {
    /// Applies the settings that a statement had on its primary.
    pub(super) fn take_settings(&mut self, statement: &ReplicatedStatement<'_>) {
        let before = self.context.settings.clone();
        self.context.statement.insert_id = None;
        let there = session_of_event(statement.query, statement.timestamp_seconds);
        self.context.connection_id = there.connection_id;
        self.context.database = there.database;
        if !there.current_user.user.is_empty() {
            // MariaDB logs a statement that names CURRENT_ROLE as that of the role, which has no host.
            let is_role = there.current_user.host.is_empty();
            self.context.current_role = is_role.then(|| there.current_user.user.clone());
            self.context.current_user = there.current_user;
        }
        self.context.settings = there.settings;
        let settings = &mut self.context.settings;
        // A transaction lasts until the primary's COMMIT.
        settings.autocommit = false;
        settings.max_allowed_packet = before.max_allowed_packet;
        settings.row_lock_wait_timeout = before.row_lock_wait_timeout;
        settings.metadata_lock_wait_timeout = before.metadata_lock_wait_timeout;
        settings.binlog_row_metadata = before.binlog_row_metadata;
        settings.isolation = paceline_types::IsolationLevel::ReadCommitted;
        if !statement.states_explicit_defaults {
            settings.explicit_defaults_for_timestamp =
                self.server.globals.is_on(Variable::ExplicitDefaultsForTimestamp);
        }
        let zone_of = |variable: &StatusVar<'_>| match variable {
            StatusVar::TimeZone(name) => Some(String::from_utf8_lossy(name).into_owned()),
            _ => None,
        };
        let sent = statement.query.status_vars.iter().find_map(zone_of);
        let time_zone = sent.unwrap_or_else(|| "SYSTEM".to_owned());
        self.services
            .values
            .lock()
            .set(Variable::TimeZone, VariableValue::Text(time_zone.into()));
    }

    /// Stores the nearest value in place of one that does not fit, under STRICT_TRANS_TABLES. In a table without
    /// transactions MariaDB does so from the second row of a statement on; the first row has fitted there.
    pub(super) fn be_lenient(&mut self) {
        let mode = &mut self.context.settings.sql_mode;
        if !mode.contains(SqlMode::STRICT_ALL_TABLES) {
            *mode = mode.without(SqlMode::STRICT_TRANS_TABLES);
        }
    }

    /// Sets the character set of the current database, which is used for a file if the statement names none, as on the
    /// primary.
    pub(super) fn take_database_collation(&mut self, statement: &ReplicatedStatement<'_>) {
        let is_database_charset =
            |variable: &StatusVar<'_>| matches!(variable, StatusVar::CharsetDatabase(_));
        if statement.query.status_vars.iter().any(is_database_charset) {
            return;
        }
        let catalog = self.server.catalog.load();
        let database = self.context.database.as_deref();
        self.context.settings.collation_database = match database.and_then(|name| catalog.database(name)) {
            Some(database) => database.definition().collation,
            None => self.context.settings.collation_server,
        };
    }

    /// Converts a statement's text to the parser's character set.
    pub(super) fn text_of_primary<'s>(&self, sql: &'s [u8]) -> Cow<'s, [u8]> {
        let settings = &self.context.settings;
        paceline_syntax::text_of_client(sql, settings.character_set_client, settings.sql_mode)
    }

    /// Sets values that the statement reads and that are not in its text.
    pub(super) fn take_values(&mut self, statement: &ReplicatedStatement<'_>) -> Result<()> {
        for (kind, value) in statement.intvars {
            match kind {
                IntvarKind::LastInsertId => self.context.last_insert_id = *value,
                IntvarKind::InsertId => self.context.statement.insert_id = Some(*value),
            }
        }
        if let Some(seeds) = statement.rand {
            self.context.random = RandomGenerator::new(seeds.seed1, seeds.seed2);
        }
        for variable in statement.user_variables {
            let name = String::from_utf8_lossy(variable.name).to_lowercase();
            self.context.user_variables.set(&name, user_variable(variable))?;
        }
        Ok(())
    }

    /// Sets whether the following changes are logged for replicas.
    pub(super) fn take_replication(&mut self, replication: Replication) {
        self.context.settings.log_bin = replication != Replication::LocalOnly;
        self.services.values.lock().set(
            Variable::SkipReplication,
            VariableValue::Boolean(replication == Replication::Marked),
        );
    }
}
