//! Sessions and other processes, as PROCESSLIST and `performance_schema.threads` show them.

use crate::memory::SessionUse;
use crate::registry::host_without_port;
use crate::session_progress::ShownProgress;

/// A session in PROCESSLIST.
#[derive(Clone, Debug, Default)]
pub struct Process {
    /// Id of the connection.
    pub id: u64,
    /// Name of the user.
    pub user: String,
    /// `localhost`, or the address and port.
    pub host: String,
    /// The current database.
    pub database: Option<String>,
    /// Command such as `Query` or `Sleep`.
    pub command: String,
    /// Time since the command began, in milliseconds.
    pub time_ms: u64,
    /// Current activity.
    pub state: Option<String>,
    /// Text of the statement.
    pub info: Option<String>,
    /// Id of its last statement.
    pub query_id: u64,
    /// How far its statement is.
    pub progress: ShownProgress,
    /// Its memory.
    pub memory: SessionUse,
    /// Most memory that it has had, in bytes.
    pub memory_max: u64,
}

impl Process {
    /// Returns its host without the port.
    pub fn host_name(&self) -> String {
        host_without_port(&self.host).to_owned()
    }
}
