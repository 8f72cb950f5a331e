//! Commit of DDL: one Query event, a catalog change, and the indexes or tables that were built aside.
//!
//! The caller holds the metadata lock exclusively until the future completes, so that no other session can use
//! the tables in between. DDL passes through the same queue as every other transaction and is published at its
//! position in the log.

use crate::commit::ticket::Ticket;
use crate::commit::{
    CommitAttachments, CommitRequest, CommitRows, OnPublish, ResultReceiver, RetainedMetadataLocks,
};
use crate::error::Error;
use crate::event_cache::event_flags;
use crate::lock::{HeldLocks, MetadataMode, MetadataObject};
use crate::manager::TransactionManager;
use crate::options::{GtidChoice, Replication, TransactionOptions};
use crate::session::Session;
use crate::transaction::CommitFuture;
use paceline_binlog::EventGroupBuffer;
use paceline_binlog::event::{EventFlags, GtidFlags, QueryEvent};
use paceline_binlog::group::{GroupOptions, StatementOptions};
use paceline_storage::{BuildId, WriteSet};
use std::time::Duration;

/// A DDL statement that is ready to be logged.
pub struct DdlCommit<'a> {
    /// The event: the statement's text with its context. Q_XID names what was built.
    pub query: &'a QueryEvent<'a>,
    /// Flags of the event's header, in addition to those of every event.
    pub event_flags: EventFlags,
    /// Start of the statement, in seconds since 1970.
    pub timestamp_seconds: u32,
    /// Catalog records and range deletes.
    pub writes: WriteSet,
    /// Builds that become visible with the statement.
    pub builds: Vec<BuildId>,
    /// Called in log order, when the change is in the engines and before any session can see it: the place to
    /// switch the catalog.
    pub on_publish: Option<OnPublish>,
    /// The GTID, or how it is assigned.
    pub gtid: GtidChoice,
    /// `sql_log_bin`.
    pub replication: Replication,
    /// `lock_wait_timeout`: how long to wait for a global read lock, which stops DDL as well.
    pub metadata_lock_timeout: Duration,
}

impl TransactionManager {
    /// Logs an empty transaction: a replica's position moves to its GTID without a change. `timestamp_seconds`
    /// is the time of the Gtid event.
    pub fn commit_empty(&self, session: &Session, gtid: GtidChoice, timestamp_seconds: u32) -> CommitFuture {
        let core = self.core().clone();
        let guard = match session.lock_metadata(
            MetadataObject::Commit,
            MetadataMode::Write,
            TransactionOptions::default().metadata_lock_timeout,
        ) {
            Ok(guard) => guard,
            Err(error) => return CommitFuture::failed(core, error),
        };
        let mut events = EventGroupBuffer::new(GroupOptions::new(gtid.server_id()));
        events.begin_statement(&StatementOptions {
            timestamp: timestamp_seconds,
            ..StatementOptions::default()
        });
        events.commit(core.next_xid());
        let ticket = Ticket::new();
        core.submit(CommitRequest {
            events,
            rows: CommitRows::InMemory(WriteSet::new().complete()),
            gtid,
            replication: Replication::Replicated,
            receiver: ResultReceiver::Session(ticket.clone()),
            attachments: CommitAttachments::new(
                session,
                HeldLocks::default(),
                RetainedMetadataLocks::of(guard),
            ),
        });
        CommitFuture::of(core, ticket)
    }

    /// Commits DDL. It is queued when this returns; the future completes when it is published.
    pub fn commit_ddl(&self, session: &Session, ddl: DdlCommit<'_>) -> CommitFuture {
        self.commit_ddl_where(session, ddl, || true)
    }

    /// Commits DDL as [`TransactionManager::commit_ddl`] does, provided that `may_write` still holds; see
    /// [`Transaction::commit_where`](crate::Transaction::commit_where).
    pub fn commit_ddl_where(
        &self,
        session: &Session,
        ddl: DdlCommit<'_>,
        may_write: impl FnOnce() -> bool,
    ) -> CommitFuture {
        let core = self.core().clone();
        let guard = match session.lock_metadata(
            MetadataObject::Commit,
            MetadataMode::Write,
            ddl.metadata_lock_timeout,
        ) {
            Ok(guard) if may_write() => guard,
            Ok(_) => return CommitFuture::failed(core, Error::ReadOnlyServer),
            Err(error) => return CommitFuture::failed(core, error),
        };
        let flags = event_flags(ddl.replication);
        let mut events = EventGroupBuffer::new(GroupOptions {
            event_flags: flags,
            ..GroupOptions::new(ddl.gtid.server_id())
        });
        events.set_gtid_flags(
            GtidFlags::STANDALONE
                .with(GtidFlags::DDL)
                .with(GtidFlags::ALLOW_PARALLEL),
        );
        events.query(ddl.timestamp_seconds, ddl.event_flags, ddl.query);
        let ticket = Ticket::new();
        let mut attachments =
            CommitAttachments::new(session, HeldLocks::default(), RetainedMetadataLocks::of(guard));
        attachments.on_publish = ddl.on_publish;
        attachments.builds = ddl.builds;
        core.submit(CommitRequest {
            events,
            rows: CommitRows::InMemory(ddl.writes.complete()),
            gtid: ddl.gtid,
            replication: ddl.replication,
            receiver: ResultReceiver::Session(ticket.clone()),
            attachments,
        });
        CommitFuture::of(core, ticket)
    }
}
