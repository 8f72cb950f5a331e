//! The binlog cache: a transaction's events, encoded by its own session while it runs.
//!
//! Events carry position 0 until the transaction is placed; then the leader patches them
//! (`paceline_binlog::group`). A rollback of a statement or to a savepoint cuts the cache back to its earlier
//! length.
//!
//! The cache stays in memory up to `binlog_large_commit_threshold`. A larger one continues in a file, which
//! becomes the log's next file ([`paceline_binlog::log::LargeGroup`]), up to `max_binlog_cache_size`. Every
//! event passes [`EventCache::check_room`], which enforces both limits.

use crate::buffer_pool::BufferPool;
use crate::commit::core::Core;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::options::{Replication, TransactionOptions};
use paceline_binlog::event::{EventBody, EventFlags, GtidFlags, QueryEvent, RowsFlags};
use paceline_binlog::group::{BufferMark, GroupOptions, StatementForm, StatementOptions};
use paceline_binlog::{EpochMark, EventGroupBuffer, LoggedTable};
use paceline_types::ServerId;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A row change to be logged, with its row images.
#[derive(Clone, Copy, Debug)]
pub enum RowChange<'a> {
    /// A row was inserted.
    Insert {
        /// Image of the row.
        after: &'a [u8],
    },
    /// A row was changed.
    Update {
        /// Image before the change.
        before: &'a [u8],
        /// Image after the change.
        after: &'a [u8],
    },
    /// A row was deleted.
    Delete {
        /// Image before the deletion.
        before: &'a [u8],
    },
}

/// Text of a statement for the log, with what it depends on.
#[derive(Clone, Copy)]
pub struct StatementText<'a> {
    /// Events that precede the text: Intvar, RAND, User var.
    pub context: &'a [&'a dyn EventBody],
    /// Flags of the text's header.
    pub flags: EventFlags,
    /// The text, and the settings of its session.
    pub query: &'a QueryEvent<'a>,
}

/// Position in the cache to roll back to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct EventMark(BufferMark);

/// Bytes of a large transaction that are written to its file at a time.
const SPILLED_AT_ONCE: u64 = 1 << 20;

/// Binlog cache of one transaction. See the module's head.
pub(crate) struct EventCache {
    buffer: EventGroupBuffer,
    pool: Arc<BufferPool>,
    is_pooled: bool,
    limit_bytes: u64,
    large_bytes: u64,
}

impl EventCache {
    pub(crate) fn new(config: &Config, options: &TransactionOptions, pool: &Arc<BufferPool>) -> Self {
        let group = GroupOptions {
            server_id: options.gtid.server_id(),
            event_flags: event_flags(options.replication),
            row_event_size_max: config.binlog_row_event_max_size,
        };
        EventCache {
            buffer: EventGroupBuffer::new(group),
            pool: pool.clone(),
            is_pooled: false,
            limit_bytes: config.max_binlog_cache_size,
            large_bytes: config.large_transaction_bytes,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// Returns whether the events continue in a file.
    pub(crate) fn is_large(&self) -> bool {
        self.buffer.is_large()
    }

    /// Sets the server id in the events' headers. Only before the first event.
    pub(crate) fn set_server_id(&mut self, server_id: ServerId) {
        let options = self.buffer.options();
        if options.server_id != server_id {
            assert!(
                self.buffer.is_empty(),
                "a transaction's server id is chosen before it writes"
            );
            let options = GroupOptions {
                server_id,
                ..*options
            };
            self.buffer.reset(options);
        }
    }

    pub(crate) fn begin_statement(&mut self, annotation: Option<&str>, timestamp: u32) {
        if annotation.is_some() {
            self.take_from_pool();
        }
        self.buffer.begin_statement(&StatementOptions {
            timestamp,
            annotation: annotation.map(str::as_bytes),
            ..StatementOptions::default()
        });
    }

    /// Begins a statement that readers of the log get as text; with `annotation`, if they get its rows after all.
    pub(crate) fn begin_text_statement(&mut self, annotation: Option<&str>, timestamp: u32) {
        self.take_from_pool();
        self.buffer.begin_statement(&StatementOptions {
            timestamp,
            annotation: annotation.map(str::as_bytes),
            form: StatementForm::Text,
            ..StatementOptions::default()
        });
    }

    /// Adds the text of such a statement, and the events that state what it depends on.
    pub(crate) fn statement_text(&mut self, core: &Core, text: &StatementText<'_>) -> Result<()> {
        self.buffer.statement_text(text.context, text.flags, text.query);
        self.check_room(core, 0)
    }

    /// Gives up the text of such a statement, which began at the mark: its rows are logged.
    ///
    /// # Errors
    /// [`Error::TextOfLarge`] if they are in a file already; [`Error::CacheFull`].
    pub(crate) fn rows_instead_of_text(&mut self, core: &Core, begin: EventMark) -> Result<()> {
        match self.buffer.rows_instead_of_text(begin.0) {
            true => self.check_room(core, 0),
            false => Err(Error::TextOfLarge),
        }
    }

    pub(crate) fn add_row_flags(&mut self, flags: RowsFlags) {
        self.buffer.add_row_flags(flags);
    }

    /// Begins a statement of a primary, as its events describe it.
    pub(crate) fn begin_replicated_statement(&mut self, statement: &StatementOptions<'_>) {
        self.take_from_pool();
        self.buffer.begin_statement(statement);
    }

    pub(crate) fn start_epoch(&mut self, mark: EpochMark, timestamp: u32) {
        self.buffer.start_epoch(timestamp, mark);
    }

    pub(crate) fn set_gtid_flags(&mut self, flags: GtidFlags) {
        self.take_from_pool();
        self.buffer.set_gtid_flags(flags);
    }

    /// Replaces the empty buffer by one that has its memory already. A transaction that only reads never needs
    /// one.
    fn take_from_pool(&mut self) {
        if !self.is_pooled && self.buffer.is_empty() {
            self.is_pooled = true;
            self.buffer = self.pool.take(*self.buffer.options());
        }
    }

    pub(crate) fn map_table(&mut self, table: &LoggedTable) {
        self.buffer.map_table(table);
    }

    /// Logs a row change. `written` is the memory of the transaction's rows and index entries so far, in bytes:
    /// with many indexes it is much more than the events take.
    pub(crate) fn log_row(
        &mut self,
        core: &Core,
        table: &LoggedTable,
        change: RowChange<'_>,
        written: usize,
    ) -> Result<()> {
        match change {
            RowChange::Insert { after } => self.buffer.write_row(table, after),
            RowChange::Update { before, after } => self.buffer.update_row(table, before, after),
            RowChange::Delete { before } => self.buffer.delete_row(table, before),
        }
        self.check_room(core, written)
    }

    /// Logs a statement as text between the rows. The text names the database, so that the reader need not
    /// change its current one.
    pub(crate) fn log_statement(
        &mut self,
        core: &Core,
        query: &QueryEvent<'_>,
        timestamp: u32,
    ) -> Result<()> {
        self.buffer.query(timestamp, EventFlags::SUPPRESS_USE, query);
        self.check_room(core, 0)
    }

    /// Logs a definition whose rows follow in the same transaction.
    pub(crate) fn log_definition(&mut self, query: &QueryEvent<'_>, flags: EventFlags, timestamp: u32) {
        self.take_from_pool();
        self.buffer.query(timestamp, flags, query);
    }

    pub(crate) fn end_statement(&mut self, core: &Core) -> Result<()> {
        self.buffer.end_statement();
        self.check_room(core, 0)
    }

    /// Discards the pending annotation and flags of the current statement, after a rollback.
    pub(crate) fn abandon_statement(&mut self) {
        let timestamp = self.buffer.timestamp();
        self.begin_statement(None, timestamp);
    }

    /// Returns the memory of the events in bytes, without those in a file.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.buffer.memory_bytes()
    }

    fn check_room(&mut self, core: &Core, written: usize) -> Result<()> {
        if self.buffer.len() > self.limit_bytes {
            return Err(Error::CacheFull {
                limit_bytes: self.limit_bytes,
            });
        }
        let memory = self.buffer.memory_bytes() as u64;
        if self.buffer.is_large() {
            if memory >= SPILLED_AT_ONCE.min(self.large_bytes) {
                self.buffer.spill()?;
            }
        } else if memory.max(written as u64) > self.large_bytes {
            self.buffer.spill_to(core.log.begin_large_group()?)?;
            core.counters.cache_disk_use.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    pub(crate) fn mark(&mut self) -> EventMark {
        EventMark(self.buffer.mark())
    }

    pub(crate) fn rollback_to(&mut self, mark: EventMark) {
        self.buffer.roll_back_to(mark.0);
    }

    pub(crate) fn clear(&mut self) {
        let options = *self.buffer.options();
        self.buffer.reset(options);
    }

    /// Takes the events out of the cache, complete except for their end.
    pub(crate) fn take(&mut self) -> EventGroupBuffer {
        self.is_pooled = false;
        let options = *self.buffer.options();
        std::mem::replace(&mut self.buffer, EventGroupBuffer::new(options))
    }
}

/// Returns the flags in the header of every event of a transaction.
pub(crate) fn event_flags(replication: Replication) -> EventFlags {
    match replication {
        Replication::Replicated => EventFlags::NONE,
        Replication::Marked | Replication::LocalOnly => EventFlags::SKIP_REPLICATION,
    }
}
