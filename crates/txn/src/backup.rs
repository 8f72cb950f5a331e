//! The source of a backup: table files as they are, and the log from their position on.
//!
//! ```text
//!                     tables' position              end
//!   log  ───────────────────┼────────────────────────┼───▶
//!          needed by recovery: leased                 published and durable
//! ```
//! The lease is taken before the files are held, so that no log file that they need can be purged in between.
//! None of this waits for a lock or for a stage of the pipeline, and nothing waits for it.
//!
//! *The log is copied from the beginning of a file*: only then can `mariadb-binlog` read every file of the
//! copy, a server start from it, and replicas be served from it (whatever precedes a file must appear in the
//! GTID list at its head). A log whose current file is long therefore continues in a new file first, so that
//! the tables' position is in that one. Otherwise up to `max_binlog_size` bytes would be copied for nothing.
//!
//! A backup contains only published transactions: the rest could still be lost, or be cut off as the unacknowledged
//! tail of an old primary.

use crate::commit::core::Core;
use crate::error::Result;
use crate::log_lease::LogLease;
use crate::manager::TransactionManager;
use paceline_storage::HeldFiles;
use paceline_types::LogPosition;
use std::sync::Arc;

/// Most bytes of log that may precede the tables' position in its file, and are then copied for nothing.
const NEEDLESS_BYTES_MAX: u64 = 16 << 20;

/// Table files and a part of the log, both kept as long as this value lives.
pub struct BackupSource {
    core: Arc<Core>,
    tables: HeldFiles,
    lease: LogLease,
}

impl TransactionManager {
    /// Holds the tables as they are now, and the log from there on. `PURGE` reports `holder`.
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

    /// Continues the log in a new file if the current one is long, and brings the tables up to it. On failure,
    /// more log is copied.
    fn begin_file_for_backup(&self) {
        let core = self.core();
        if core.log.written().offset() <= NEEDLESS_BYTES_MAX {
            return;
        }
        if let Err(error) = self.rotate() {
            tracing::warn!("a backup copies more of the log than it needs: {error}");
        }
    }

    /// Returns the position up to which a backup may copy the log now: everything before it is durable and
    /// published.
    ///
    /// # Errors
    /// If the log fails; that is fatal.
    pub fn backup_end(&self) -> Result<LogPosition> {
        end(self.core())
    }
}

fn end(core: &Core) -> Result<LogPosition> {
    let published = core.positions.published();
    // With sync_binlog=0 published transactions need not be durable yet.
    if core.positions.durable() < published
        && let Err(reason) = core.sync_in_background()
    {
        return Err(core.fatal(&reason));
    }
    Ok(published.min(core.positions.durable()))
}

impl BackupSource {
    /// Returns the table files to copy.
    pub fn tables(&self) -> &HeldFiles {
        &self.tables
    }

    /// Ends the copy of the tables: releases their files and keeps the log.
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
