//! The interface through which apply looks up tables and runs DDL.

use std::sync::Arc;

use paceline_binlog::event::{EventFlags, QueryEvent};
use paceline_storage::{BuildId, Storage, TableSchema, WriteSet};
use paceline_types::{Gtid, Version};

/// A table as row events need it.
#[derive(Clone)]
pub struct ReplayTable {
    /// Columns and indexes.
    pub schema: Arc<TableSchema>,
    /// Log position at which the table got its definition. Row events at or before it belong to an older table.
    pub defined_at: Version,
}

/// A DDL statement as the log holds it.
#[derive(Clone, Copy, Debug)]
pub struct LoggedDdl<'a> {
    /// The statement with its session's settings. [`QueryEvent::xid`] is the id of the build that it made.
    pub query: &'a QueryEvent<'a>,
    /// Flags of the Query event.
    pub event_flags: EventFlags,
    /// Time when the statement began, in seconds since 1970.
    pub timestamp_seconds: u32,
    /// GTID of its event group.
    pub gtid: Gtid,
    /// End of its event group in the log: the version of everything it writes.
    pub version: Version,
}

/// Reason why DDL failed, in the words of the implementation that ran it.
pub type DdlError = Box<dyn std::error::Error + Send + Sync>;

/// The result of planning a DDL statement.
pub struct DdlEffect {
    /// Changes of stored keys.
    pub writes: WriteSet,
    /// Finished builds that become visible with the statement.
    pub builds: Vec<BuildId>,
    /// Switches the catalog. Called when the writes and the builds are in the engines.
    pub publish: Box<dyn FnOnce(Version) -> Result<(), DdlError>>,
}

/// The tables' definitions. DDL in the log changes them.
pub trait Definitions {
    /// Returns the table of that name, or `None` if it does not exist.
    fn table(&self, database: &str, table: &str) -> Option<ReplayTable>;

    /// Plans a DDL statement of the log again. The tables must be exactly at the statement's position. If the
    /// statement's build was made on this data directory, [`Storage::builds`] lists it under the statement's id;
    /// otherwise the build is made now.
    ///
    /// # Errors
    /// Fails if the statement does not fit these tables. Then they are not the tables that it was logged on.
    fn replay_ddl(&mut self, ddl: &LoggedDdl<'_>, storage: &Arc<Storage>) -> Result<DdlEffect, DdlError>;
}
