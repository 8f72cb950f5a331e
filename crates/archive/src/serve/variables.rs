//! Settings of a session, and system variables.

use super::answer::Cell;
use crate::archive::{Archive, version};
use crate::options::SemiSync;
use paceline_syntax::Error;
use paceline_types::Value;
use paceline_types::error_code::ER_OUT_OF_RESOURCES;
use std::collections::HashMap;

/// Settings of a client.
#[derive(Default)]
pub struct SessionState {
    /// User name from the login.
    pub user: String,
    /// User variables (`@name`).
    pub user_variables: UserVariables,
    /// `skip_replication`: events with that mark are not sent.
    pub skips_marked: bool,
}

impl SessionState {
    /// COM_RESET_CONNECTION: resets everything but the user.
    pub fn reset(&mut self) {
        *self = SessionState {
            user: std::mem::take(&mut self.user),
            ..SessionState::default()
        };
    }
}

/// Most bytes of the names and values of a client's user variables.
const USER_VARIABLE_BYTES_MAX: usize = 1 << 20;

/// User variables of a client.
#[derive(Default)]
pub struct UserVariables {
    /// By name in lower case.
    by_name: HashMap<String, Value>,
    bytes: usize,
}

impl UserVariables {
    /// Returns a variable, by its name in any case.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.by_name.get(&name.to_lowercase())
    }

    /// Assigns a variable.
    ///
    /// # Errors
    /// 1041 beyond [`USER_VARIABLE_BYTES_MAX`]. The variable is then unchanged.
    pub fn set(&mut self, name: &str, value: Value) -> Result<(), Error> {
        let name = name.to_lowercase();
        let before = self
            .by_name
            .get(&name)
            .map_or(0, |old| name.len() + old.memory_bytes());
        let bytes = self.bytes - before + name.len() + value.memory_bytes();
        if bytes > USER_VARIABLE_BYTES_MAX {
            return Err(Error::new(ER_OUT_OF_RESOURCES, &[]));
        }
        self.bytes = bytes;
        self.by_name.insert(name, value);
        Ok(())
    }
}

/// Session variables that clients set when they connect. They have no effect here.
const ACCEPTED: [&str; 24] = [
    "autocommit",
    "character_set_client",
    "character_set_connection",
    "character_set_results",
    "collation_connection",
    "foreign_key_checks",
    "interactive_timeout",
    "lock_wait_timeout",
    "max_allowed_packet",
    "max_statement_time",
    "net_read_timeout",
    "net_write_timeout",
    "sql_auto_is_null",
    "sql_log_bin",
    "sql_mode",
    "sql_notes",
    "sql_quote_show_create",
    "sql_select_limit",
    "sql_warnings",
    "time_zone",
    "tx_isolation",
    "transaction_isolation",
    "unique_checks",
    "wait_timeout",
];

/// Returns whether `SET` accepts a session variable without any effect.
pub fn is_accepted(name: &str) -> bool {
    ACCEPTED.contains(&name)
}

/// Returns all readable system variables, sorted by name.
pub fn all(archive: &Archive) -> Vec<(&'static str, Cell)> {
    let state = archive.context.log.state();
    let position = state.position().to_string();
    let on = |on: bool| Cell::text(if on { "ON" } else { "OFF" });
    let text = |text: &str| Cell::text(text);
    let hostname = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    vec![
        ("auto_increment_increment", Cell::Number(1)),
        ("autocommit", on(true)),
        ("binlog_checksum", text("CRC32")),
        ("binlog_format", text("ROW")),
        ("binlog_row_image", text("FULL")),
        ("character_set_client", text("utf8mb4")),
        ("character_set_connection", text("utf8mb4")),
        ("character_set_results", text("utf8mb4")),
        ("character_set_server", text("utf8mb4")),
        ("collation_connection", text("utf8mb4_general_ci")),
        ("collation_server", text("utf8mb4_general_ci")),
        (
            "datadir",
            Cell::text(format!("{}/", archive.context.datadir.display())),
        ),
        ("gtid_binlog_pos", Cell::text(position.clone())),
        ("gtid_binlog_state", Cell::text(state.to_string())),
        ("gtid_current_pos", Cell::text(position.clone())),
        ("gtid_domain_id", Cell::Number(0)),
        ("gtid_slave_pos", Cell::text(position)),
        ("gtid_strict_mode", on(false)),
        ("hostname", text(hostname.trim())),
        ("init_connect", text("")),
        ("interactive_timeout", Cell::Number(28_800)),
        ("license", text("Apache-2.0")),
        ("log_bin", on(true)),
        ("log_slave_updates", on(true)),
        ("lower_case_table_names", Cell::Number(0)),
        ("max_allowed_packet", Cell::Number(1 << 30)),
        ("net_buffer_length", Cell::Number(16_384)),
        ("net_write_timeout", Cell::Number(60)),
        ("protocol_version", Cell::Number(10)),
        ("read_only", on(true)),
        (
            "rpl_semi_sync_slave_enabled",
            on(archive.context.semi_sync == SemiSync::Acknowledge),
        ),
        ("server_id", Cell::Number(i64::from(archive.context.server_id.0))),
        ("skip_replication", on(false)),
        ("sql_mode", text("")),
        ("system_time_zone", text("UTC")),
        ("time_zone", text("SYSTEM")),
        ("tx_isolation", text("REPEATABLE-READ")),
        ("version", Cell::text(version())),
        ("version_comment", text("Paceline, the archive of a binary log")),
        ("wait_timeout", Cell::Number(28_800)),
    ]
}

/// Returns a variable as `SELECT @@name` shows it: ON and OFF become numbers.
pub fn selected(archive: &Archive, name: &str) -> Option<Cell> {
    let found = all(archive).into_iter().find(|(known, _)| *known == name);
    found.map(|(_, cell)| match cell {
        Cell::Text(text) if text == "ON" => Cell::Number(1),
        Cell::Text(text) if text == "OFF" => Cell::Number(0),
        cell => cell,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_variables_have_a_limit() {
        let mut variables = UserVariables::default();
        let text = |bytes: usize| Value::Text("x".repeat(bytes));
        variables.set("A", text(USER_VARIABLE_BYTES_MAX / 2)).unwrap();
        variables.set("a", text(USER_VARIABLE_BYTES_MAX / 3)).unwrap();
        variables.set("b", text(USER_VARIABLE_BYTES_MAX / 3)).unwrap();
        let refused = variables.set("c", text(USER_VARIABLE_BYTES_MAX / 2)).unwrap_err();
        assert_eq!(refused.code(), ER_OUT_OF_RESOURCES);
        assert!(variables.get("B").is_some() && variables.get("c").is_none());
    }
}
