//! A state of the primary that several sessions see.

use super::schema::Schema;
use crate::connection::Connection;
use std::time::Duration;

/// Sessions with the same snapshot.
pub struct Snapshot {
    /// The sessions, each in a transaction.
    pub sessions: Vec<Connection>,
    /// `gtid_binlog_pos` of the snapshot.
    pub position: String,
    /// `gtid_binlog_state` of the snapshot.
    pub state: String,
    /// Time for which commits were blocked; `None` if they were not.
    pub held: Option<Duration>,
    pub schema: Schema,
}

/// Returns a GTID position as messages show it.
pub fn position_text(position: &str) -> String {
    match position {
        "" => "the beginning of its log".to_owned(),
        position => position.to_owned(),
    }
}
