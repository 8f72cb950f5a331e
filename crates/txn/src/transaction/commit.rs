//! The end of a transaction: it joins the commit queue, and its session waits until it is published.

use super::Transaction;
use super::temporary_changes::TemporaryChanges;
use crate::commit::batch::Batch;
use crate::commit::core::Core;
use crate::commit::ticket::{Notification, Ticket};
use crate::commit::{
    CommitAttachments, CommitPlace, CommitRequest, CommitRows, OnPublish, Outcome, ResultReceiver,
    RetainedMetadataLocks,
};
use crate::error::{Error, Result};
use crate::lock::{MetadataGuard, MetadataMode, MetadataObject};
use paceline_binlog::EventGroupBuffer;
use paceline_binlog::event::GtidFlags;
use paceline_storage::WriteSet;
use paceline_types::{Gtid, LogPosition, Version};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// Outcome of a successful commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitOutcome {
    /// The GTID (`last_gtid`); `None` if nothing was logged, or only for this server.
    pub gtid: Option<Gtid>,
    /// The version; that of the published state if nothing was logged.
    pub version: Version,
}

impl Transaction {
    /// Commits. The transaction is queued when this returns. The future completes when it is published, and
    /// with it everything that it read under lock. Dropping the future does not undo the commit.
    ///
    /// Metadata locks are kept until publication; row locks as long as [`crate::LockRelease`] says.
    pub fn commit(self) -> CommitFuture {
        self.commit_with(None)
    }

    /// Commits as [`Transaction::commit`] does, if `may_write` still returns true. Otherwise a transaction that
    /// has written is rolled back with [`Error::ReadOnlyServer`]. `may_write` is called under the metadata lock
    /// on [`MetadataObject::Commit`], which is kept until the transaction is published: a session that changes
    /// the answer under that lock knows that no commit follows.
    pub fn commit_where(self, may_write: impl FnOnce() -> bool) -> CommitFuture {
        self.commit_checked(None, may_write)
    }

    /// Commits as [`Transaction::commit`] does, blocking the thread.
    ///
    /// # Errors
    /// Those of the future of [`Transaction::commit`].
    pub fn commit_blocking(self) -> Result<CommitOutcome> {
        crate::commit::ticket::block_on(self.commit())
    }

    /// Commits as [`Transaction::commit`] does. `on_publish` is called when the transaction is in the engines,
    /// before any reader can see it.
    pub fn commit_with(self, on_publish: Option<OnPublish>) -> CommitFuture {
        self.commit_checked(on_publish, || true)
    }

    fn commit_checked(
        mut self,
        on_publish: Option<OnPublish>,
        may_write: impl FnOnce() -> bool,
    ) -> CommitFuture {
        let core = self.core.clone();
        match self.enqueue(on_publish, may_write) {
            Ok(Some(ticket)) => {
                let mut future = CommitFuture::new(core, Wait::Ticket(ticket));
                future.temporary = self.temporary.take();
                future
            }
            Ok(None) => {
                let newest_read = self.newest_read;
                if let Some(temporary) = self.temporary.take() {
                    temporary.apply();
                }
                // Releases the locks; nothing was written.
                drop(self);
                CommitFuture::new(core, Wait::Published(newest_read))
            }
            Err(error) => {
                drop(self);
                CommitFuture::new(core, Wait::Failed(Some(error)))
            }
        }
    }

    /// Puts the transaction into the commit queue. Returns `None` if there was nothing to log.
    fn enqueue(
        &mut self,
        on_publish: Option<OnPublish>,
        may_write: impl FnOnce() -> bool,
    ) -> Result<Option<Arc<Ticket<Outcome>>>> {
        self.check_active()?;
        self.end_statement()?;
        if self.as_of_version.is_some() {
            assert!(
                self.events.is_empty(),
                "a transaction on an earlier state only reads"
            );
            self.writes = WriteSet::new();
        }
        if self.events.is_empty() {
            assert!(
                self.writes.is_empty(),
                "what is written is logged: the log is enough (invariant 8)"
            );
            return Ok(None);
        }
        self.core
            .storage
            .check_memory_room(self.writes.memory_engine_bytes())?;
        let (events, rows) = self.take_changes()?;
        if !self.session.owner.begin_commit() {
            self.check_active()?;
        }
        // A global read lock stops commits here.
        let timeout = self.options.metadata_lock_timeout;
        let guard = self
            .session
            .lock_metadata(MetadataObject::Commit, MetadataMode::Write, timeout)?;
        if !may_write() {
            return Err(Error::ReadOnlyServer);
        }
        let ticket = Ticket::new();
        let kept = RetainedMetadataLocks {
            _metadata: std::mem::take(&mut self.metadata),
            _guards: [Some(guard), self.statement_guard.take()],
            _shared: None,
        };
        let mut attachments = CommitAttachments::new(&self.session, std::mem::take(&mut self.held), kept);
        attachments.on_publish = on_publish;
        self.core.submit(CommitRequest {
            events,
            rows,
            gtid: self.options.gtid.clone(),
            replication: self.options.replication,
            receiver: ResultReceiver::Session(ticket.clone()),
            attachments,
        });
        Ok(Some(ticket))
    }

    /// Returns the request for a transaction of a batch, which is logged even if it changes nothing.
    pub(crate) fn batch_request(
        &mut self,
        batch: &Arc<Batch>,
        locks: &Arc<Vec<MetadataGuard>>,
    ) -> Result<CommitRequest> {
        self.check_active()?;
        self.end_statement()?;
        assert!(self.temporary.is_none(), "batches are of logged rows");
        self.core
            .storage
            .check_memory_room(self.writes.memory_engine_bytes())?;
        let (events, rows) = self.take_changes()?;
        let kept = RetainedMetadataLocks {
            _metadata: std::mem::take(&mut self.metadata),
            _guards: [None, self.statement_guard.take()],
            _shared: Some(locks.clone()),
        };
        Ok(CommitRequest {
            events,
            rows,
            gtid: self.options.gtid.clone(),
            replication: self.options.replication,
            receiver: ResultReceiver::Batch(batch.clone()),
            attachments: CommitAttachments::new(&self.session, std::mem::take(&mut self.held), kept),
        })
    }

    /// Returns the complete changes in the form in which they are committed.
    fn take_changes(&mut self) -> Result<(EventGroupBuffer, CommitRows)> {
        let mut events = self.events.take();
        // The start of an epoch has no end of its own.
        if !events.gtid_flags().contains(GtidFlags::STANDALONE) {
            events.commit(self.core.next_xid());
        }
        let writes = std::mem::replace(&mut self.writes, WriteSet::new());
        let rows = match events.is_large() {
            true => self.core.seal_large(&mut events, writes)?,
            false => CommitRows::InMemory(writes.complete()),
        };
        Ok((events, rows))
    }

    /// Completes when everything that this transaction has read under lock is published. Must be awaited before
    /// a statement's reply is sent if the transaction continues ([`Transaction::commit`] waits by itself).
    pub fn reads_published(&self) -> PublicationWait {
        PublicationWait::new(self.core.clone(), self.newest_read)
    }
}

enum Wait {
    Ticket(Arc<Ticket<Outcome>>),
    Published(LogPosition),
    Failed(Option<crate::Error>),
    Over,
}

/// Wait for a commit.
#[must_use = "a commit is not over before its future is"]
pub struct CommitFuture {
    core: Arc<Core>,
    wait: Wait,
    /// Becomes visible to the session with the rest.
    temporary: Option<Box<TemporaryChanges>>,
}

impl CommitFuture {
    fn new(core: Arc<Core>, wait: Wait) -> Self {
        CommitFuture {
            core,
            wait,
            temporary: None,
        }
    }

    /// Returns the wait for a queued request.
    pub(crate) fn of(core: Arc<Core>, ticket: Arc<Ticket<Outcome>>) -> Self {
        Self::new(core, Wait::Ticket(ticket))
    }

    /// Returns the result of a commit that never reached the queue.
    pub(crate) fn failed(core: Arc<Core>, error: crate::Error) -> Self {
        Self::new(core, Wait::Failed(Some(error)))
    }

    /// Waits in the calling thread.
    ///
    /// # Errors
    /// The reason why the transaction was not committed; nothing of it remains then.
    pub fn wait_blocking(self) -> Result<CommitOutcome> {
        crate::commit::ticket::block_on(self)
    }
}

fn lead(core: &Arc<Core>) {
    crate::lock::owner::blocking(|| core.take_leadership());
}

impl Future for CommitFuture {
    type Output = Result<CommitOutcome>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let result = match &mut this.wait {
            Wait::Ticket(ticket) => loop {
                match ready!(ticket.poll(context)) {
                    Notification::LeadershipOffered => lead(&this.core),
                    Notification::Completed(outcome) => break outcome.result,
                }
            },
            Wait::Published(version) => {
                ready!(this.core.poll_published(*version, context));
                match this.core.poisoned() {
                    Some(error) if this.core.positions.published() < *version => Err(error),
                    None if this.core.positions.published() < *version => Err(crate::Error::Undecided),
                    _ => Ok(this.core.nothing_committed()),
                }
            }
            Wait::Failed(error) => Err(error.take().expect("polled after its end")),
            Wait::Over => panic!("polled after its end"),
        };
        this.wait = Wait::Over;
        if let (Ok(_), Some(temporary)) = (&result, this.temporary.take()) {
            temporary.apply();
        }
        Poll::Ready(result.map(|CommitPlace { gtid, version }| CommitOutcome { gtid, version }))
    }
}

impl Drop for CommitFuture {
    fn drop(&mut self) {
        if let Wait::Ticket(ticket) = std::mem::replace(&mut self.wait, Wait::Over)
            && ticket.abandon()
        {
            lead(&self.core);
        }
    }
}

/// Wait until a version is published.
#[must_use = "nothing is awaited before it is polled"]
pub struct PublicationWait {
    core: Arc<Core>,
    version: Version,
}

impl PublicationWait {
    pub(crate) fn new(core: Arc<Core>, version: Version) -> Self {
        PublicationWait { core, version }
    }

    /// Returns whether there is nothing to wait for.
    pub fn is_ready(&self) -> bool {
        self.core.positions.published() >= self.version
    }
}

impl Future for PublicationWait {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.core.poll_published(self.version, context)
    }
}
