//! One state of the primary, seen by several sessions.

use super::schema::Schema;
use crate::connection::Connection;
use std::time::Duration;

/// Sessions with the same snapshot.
pub struct Snapshot {
    /// They are in a transaction each.
    pub sessions: Vec<Connection>,
    /// `gtid_binlog_pos` of the snapshot.
    pub position: String,
    /// `gtid_binlog_state` of the snapshot.
    pub state: String,
    /// How long nobody could commit; `None` if everybody could.
    pub held: Option<Duration>,
    /// Databases and tables of it.
    pub schema: Schema,
}
