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

    pub(crate) fn fail(&self) {
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
    /// Returns the progress of `count` transactions that are about to be submitted.
    pub(crate) fn new(stream: &CommitStream, count: usize, observer: Arc<dyn BatchObserver>) -> Self {
        Batch {
            stream: stream.clone(),
            unplaced: AtomicUsize::new(count),
            open: AtomicUsize::new(count),
            result: Mutex::new(Ok(Version::ZERO)),
            observer,
        }
    }

    /// Returns the number of transactions that are not placed yet.
    pub(crate) fn unplaced(&self) -> usize {
        self.unplaced.load(Ordering::Acquire)
    }

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
