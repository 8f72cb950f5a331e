//! What a backup copies: table files as they are, and the log from there on.
//!
//! ```text
//!                     tables' position              end
//!   log  ───────────────────┼────────────────────────┼───▶
//!          needed by recovery: leased                 published and durable
//! ```
//! The lease is taken before the files are held, so that no file of the log that they need can be purged in between. Nobody waits for any of
//! it: no lock, no stage of the pipeline.
//!
//! *The log is copied from the beginning of a file on*: only so is every file of the copy one that `mariadb-binlog` reads, that a server begins with
//! and that replicas are served from (what a file does not have must stand in the GTID list at its head). So a log whose file is long already
//! goes on in a new one first, and the tables' place is in that: else up to `max_binlog_size` would be copied that nobody needs.
//!
//! What is not published is no part of a backup: it could still be lost, or be cut off as an old
//! primary's unacknowledged tail.

use crate::error::Result;
use crate::log_lease::LogLease;
use crate::manager::{Core, TransactionManager};
use paceline_storage::HeldFiles;
use paceline_types::LogPosition;
use std::sync::Arc;

/// How much log may stand in front of the tables' place in its file, in bytes, and be copied for nothing.
const NEEDLESS_BYTES_MAX: u64 = 16 << 20;

/// Table files and log that stay as long as it lives.
pub struct BackupSource {
    core: Arc<Core>,
    tables: HeldFiles,
    lease: LogLease,
}

impl TransactionManager {
    /// Holds the tables as they are now, and the log from there on. `holder` is what `PURGE` names.
    ///
    /// # Errors
    /// If the tables cannot be flushed or linked.
    pub fn begin_backup(&self, holder: impl Into<String>) -> Result<BackupSource> {
        let core = self.core().clone();
        self.begin_file_for_backup();
        let lease = self.lease(core.storage.durable_position()?, holder);
        let tables = core.storage.hold_files()?;
        lease.advance(tables.position());
        Ok(BackupSource { core, tables, lease })
    }

    /// Goes on in a new file of the log, if there is much in this one, and brings the tables up to it. Where that cannot be, more is copied.
    fn begin_file_for_backup(&self) {
        let core = self.core();
        if core.log.written().offset() <= NEEDLESS_BYTES_MAX {
            return;
        }
        if let Err(error) = self.rotate() {
            tracing::warn!("a backup copies more of the log than it needs: {error}");
        }
    }

    /// The place up to which a backup may copy the log now: everything before it is durable and published.
    ///
    /// # Errors
    /// If the log fails; that is fatal.
    pub fn backup_end(&self) -> Result<LogPosition> {
        end(self.core())
    }
}

fn end(core: &Core) -> Result<LogPosition> {
    let published = core.positions.published();
    // With sync_binlog=0 what is published need not be durable yet.
    if core.positions.durable() < published
        && let Err(reason) = core.sync_in_background()
    {
        return Err(core.fatal(&reason));
    }
    Ok(published.min(core.positions.durable()))
}

impl BackupSource {
    /// The table files.
    pub fn tables(&self) -> &HeldFiles {
        &self.tables
    }

    /// The tables are copied: their files are let go, the log is kept.
    ///
    /// # Errors
    /// As for [`TransactionManager::backup_end`].
    pub fn into_log(self) -> Result<(LogLease, LogPosition)> {
        // A group is in the engines a moment before it is published.
        self.core.wait_published_blocking(self.tables.position());
        let end = end(&self.core)?;
        Ok((self.lease, end))
    }
}
