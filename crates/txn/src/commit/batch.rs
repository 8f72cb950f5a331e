//! Batches: transactions of a replica that are submitted and reported together.
//!
//! A session waits for one commit at a time and is notified individually. An applier has hundreds of
//! transactions in progress and wants no task for each. It must learn two moments: when a batch is *placed*
//! (its rows are in the pending overlay and its locks are free, so that dependent transactions can begin and
//! will land in a later group), and when it has *ended* (is published, or has failed).
//!
//! **Order.** Transactions of one [`CommitStream`] are placed in the order in which they were submitted. Once
//! one of them is refused (1950, a full disk), all after it are refused as well: the stream has failed and
//! commits nothing any more.

use super::{CommitRequest, Outcome};
use crate::error::{Error, Result};
use crate::lock::MetadataGuard;
use crate::manager::TransactionManager;
use crate::transaction::Transaction;
use paceline_types::Version;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Sequence of transactions that are committed in the order of their submission, or not at all. Clones refer to
/// the same stream.
#[derive(Clone, Default)]
pub struct CommitStream(Arc<AtomicBool>);

impl CommitStream {
    /// Returns a stream that has not failed.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns whether one of its transactions was refused. Later ones get [`Error::Aborted`].
    pub fn has_failed(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    fn fail(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn is(&self, other: &CommitStream) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Observer of a batch. Called by the pipeline's threads: must not block.
pub trait BatchObserver: Send + Sync {
    /// Called when every transaction of the batch is placed in the log (or has failed): its rows are in the
    /// pending overlay and its row locks are free.
    fn placed(&self);

    /// Called when every transaction of the batch is published. The version is that of the last one.
    ///
    /// # Errors
    /// The first error. The transactions before the failed one are published; it and all after it are not.
    fn ended(&self, result: Result<Version>);
}

/// Progress of a batch.
pub(crate) struct Batch {
    stream: CommitStream,
    unplaced: AtomicUsize,
    open: AtomicUsize,
    result: Mutex<Result<Version>>,
    observer: Arc<dyn BatchObserver>,
}

impl Batch {
    pub(crate) fn stream(&self) -> &CommitStream {
        &self.stream
    }

    /// Counts one more transaction that is placed and has released its locks.
    pub(crate) fn report_placed(&self) {
        if self.unplaced.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.observer.placed();
        }
    }

    /// Counts one more transaction that is published or has failed.
    pub(crate) fn deliver(&self, outcome: Outcome) {
        {
            let mut result = self.result.lock();
            match (&outcome.result, &mut *result) {
                (Ok(committed), Ok(version)) => *version = (*version).max(committed.version),
                (Err(error), Ok(_)) => *result = Err(error.clone()),
                (_, Err(_)) => {}
            }
        }
        // The metadata locks are released before the observer is notified.
        drop(outcome);
        if self.open.fetch_sub(1, Ordering::AcqRel) == 1 {
            let result = self.result.lock().clone();
            self.observer.ended(result);
        }
    }
}

impl CommitRequest {
    fn stream(&self) -> Option<&CommitStream> {
        match &self.receiver {
            super::ResultReceiver::Session(_) => None,
            super::ResultReceiver::Batch(batch) => Some(batch.stream()),
        }
    }

    /// Returns whether an earlier transaction of its stream was refused.
    pub(crate) fn is_of_failed_stream(&self) -> bool {
        self.stream().is_some_and(CommitStream::has_failed)
    }

    /// Ends the request without a log position, and fails the stream that it belongs to.
    pub(crate) fn refuse(self, error: Error) {
        if let Some(stream) = self.stream() {
            stream.fail();
        }
        self.fail(error);
    }

    /// Refuses the requests whose streams have failed, and returns the others.
    pub(crate) fn without_failed(requests: Vec<CommitRequest>) -> Vec<CommitRequest> {
        if !requests.iter().any(CommitRequest::is_of_failed_stream) {
            return requests;
        }
        let (failed, rest): (Vec<_>, Vec<_>) =
            requests.into_iter().partition(CommitRequest::is_of_failed_stream);
        failed
            .into_iter()
            .for_each(|request| request.fail(Error::Aborted));
        rest
    }

    /// Refuses the request at index `at`, and the later ones of its stream.
    pub(crate) fn refuse_at(requests: &mut Vec<CommitRequest>, at: usize, error: Error) {
        let refused = requests.remove(at);
        let stream = refused.stream().cloned();
        refused.refuse(error);
        if let Some(stream) = stream {
            let behind = requests.split_off(at);
            let (same, others): (Vec<_>, Vec<_>) = behind
                .into_iter()
                .partition(|request| request.stream().is_some_and(|other| other.is(&stream)));
            same.into_iter().for_each(|request| request.fail(Error::Aborted));
            requests.extend(others);
        }
    }
}

impl TransactionManager {
    /// Commits transactions in this order, after everything submitted to the stream before. They are in the
    /// queue when this returns. A transaction that has changed nothing is logged too, under its GTID. `locks`
    /// are metadata locks for all of them together: on the tables, on [`crate::MetadataObject::Global`] and on
    /// [`crate::MetadataObject::Commit`]. They are kept until every transaction that they were passed with is
    /// published.
    ///
    /// The transactions must not conflict with each other, as none waits for another to be placed.
    pub fn commit_batch(
        &self,
        stream: &CommitStream,
        transactions: Vec<Box<Transaction>>,
        locks: Arc<Vec<MetadataGuard>>,
        observer: Arc<dyn BatchObserver>,
    ) {
        let core = self.core();
        if transactions.is_empty() {
            observer.placed();
            observer.ended(Ok(core.positions.published()));
            return;
        }
        let batch = Arc::new(Batch {
            stream: stream.clone(),
            unplaced: AtomicUsize::new(transactions.len()),
            open: AtomicUsize::new(transactions.len()),
            result: Mutex::new(Ok(Version::ZERO)),
            observer,
        });
        let mut requests = Vec::with_capacity(transactions.len());
        let mut failure = None;
        for mut transaction in transactions {
            let prepared = match &failure {
                None => transaction.batch_request(&batch, &locks),
                Some(_) => Err(Error::Aborted),
            };
            match prepared {
                Ok(request) => requests.push(request),
                Err(error) => {
                    drop(transaction);
                    failure.get_or_insert(error);
                }
            }
        }
        let refused = batch.unplaced.load(Ordering::Acquire) - requests.len();
        core.submit_all(requests);
        if let Some(error) = failure {
            // What was submitted before keeps its position; nothing may follow it.
            stream.fail();
            for _ in 0..refused {
                batch.report_placed();
                batch.deliver(Outcome {
                    result: Err(error.clone()),
                    _attachments: None,
                });
            }
        }
    }
}
