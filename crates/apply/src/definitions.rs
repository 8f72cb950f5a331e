//! What apply needs to know of tables, and who runs DDL for it.

use std::sync::Arc;

use paceline_binlog::event::{EventFlags, QueryEvent};
use paceline_storage::{BuildId, Storage, TableSchema, WriteSet};
use paceline_types::{Gtid, Version};

/// A table as row events see it.
#[derive(Clone)]
pub struct ReplayTable {
    /// Its columns and indexes.
    pub schema: Arc<TableSchema>,
    /// Where in the log it got its definition. Row events that are not behind it are not for this table.
    pub defined_at: Version,
}

/// A DDL statement as the log has it.
#[derive(Clone, Copy, Debug)]
pub struct LoggedDdl<'a> {
    /// The statement with its session's settings. [`QueryEvent::xid`] is the id of what it built.
    pub query: &'a QueryEvent<'a>,
    /// The flags of its event.
    pub event_flags: EventFlags,
    /// When it began, in seconds since 1970.
    pub timestamp_seconds: u32,
    /// Its transaction.
    pub gtid: Gtid,
    /// Where it ends in the log: the version of what it writes.
    pub version: Version,
}

/// Why DDL cannot be done, in the words of who runs it.
pub type DdlError = Box<dyn std::error::Error + Send + Sync>;

/// What a DDL statement does.
pub struct DdlEffect {
    /// What it writes.
    pub writes: WriteSet,
    /// Finished builds that become visible with it.
    pub builds: Vec<BuildId>,
    /// Switches the catalog. Called when the rest is in the engines.
    pub publish: Box<dyn FnOnce(Version) -> Result<(), DdlError>>,
}

/// The tables' definitions, which DDL in the log changes.
pub trait Definitions {
    /// The table of that name, if there is one.
    fn table(&self, database: &str, table: &str) -> Option<ReplayTable>;

    /// Plans a statement of the log again. The tables are exactly at its place. What it built is listed by [`Storage::builds`] under
    /// its id if it was built on this data directory; otherwise it is built now.
    ///
    /// # Errors
    /// If it cannot be done on these tables: they are not those that it was logged on.
    fn replay_ddl(&mut self, ddl: &LoggedDdl<'_>, storage: &Arc<Storage>) -> Result<DdlEffect, DdlError>;
}
