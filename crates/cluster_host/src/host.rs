//! The driver's interface to the log: [`LogHost`]. The server and the archive implement it.
//!
//! # Writing roles
//! The log of a member is written in one *writing role* at a time: it follows a primary, fetches from a holder, or
//! leads. A role begins with [`LogHost::follow`], [`LogHost::fetch`] or [`LogHost::write_start`] and ends with the next
//! of these calls or with [`LogHost::freeze`]. With each role comes a [`LogProgress`]. The host calls
//! [`LogProgress::report`] when more of the log is durable in this role; the driver then asks for the
//! [`LogHost::tail`]. A report of a role that has ended has no effect. So a thread that reports late cannot make the
//! member believe in a log that was cut meanwhile, and the commit leader reports without blocking, allocating or
//! copying a tail.
//!
//! # Obligations of the host
//! - After a cut (`at` below the end of the log) it reports nothing before the cut is complete and durable. From then
//!   on, while the role lasts, the tail only grows.
//! - It reads the progress of a role before it appends in this role, never between appending and reporting.
//! - All calls except `freeze` return at once. What they begin goes on in tasks of the host. A new call replaces what
//!   an earlier call of the same kind has begun.
//! - A stream that breaks is opened again, from the end of the log, until the role ends. A source that does not serve
//!   it yet is asked again.
//! - Publishing below what is published, or beyond the durable log of the moment, has to be harmless: the host
//!   publishes as far as it has.
//!
//! # Two hosts of one process
//! A server begins with a host that has only the log, and continues with one that has the tables, too
//! ([`ClusterHandle::set_host`](crate::ClusterHandle::set_host)). The driver tells the new one everything that lasts:
//! the promise, the role, what is published, the gate, and the time of new reads. It calls the first host no more. The
//! first host must have ended its role's writing before; the log that the second finds has everything that the first
//! has reported.
//!
//! # Alternatives considered
//! *Reports with a tail* (`log_end(LogTail)`). The tail and the moment of the report can be far apart; the driver
//! cannot tell a late report of a long, old log from a new one, because both agree below the cut.
//! *A number for each role* that the host passes back: the same as a `LogProgress`, but it can be passed wrongly.

use crate::report::HostReport;
use paceline_cluster::{Epoch, LogIndex, LogRank, LogTail, MemberId, Millis, Promise};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::Notify;

/// A failure of the log. The process must end: it does not know what is durable.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct HostError(pub String);

/// Future of [`LogHost::freeze`].
pub type FreezeFuture<'a> = Pin<Box<dyn Future<Output = Result<LogTail, HostError>> + Send + 'a>>;

/// The log of a member, and the clients in front of it. The module head has the obligations.
pub trait LogHost: Send + Sync {
    /// Returns the durable log.
    fn tail(&self) -> LogTail;

    /// Ends the writing role: appends nothing of a stream, a fetch or a client any more, serves no stream and no fetch.
    /// Then syncs the log and returns it. That must have taken effect when the future is done, not when it is made.
    fn freeze(&self) -> FreezeFuture<'_>;

    /// Serves fetches of this candidate in this epoch, and of no other, until the next freeze. The promise is durable.
    fn promised(&self, promise: Promise);

    /// Cuts the log at `at` if it is longer, then appends the durable records of this primary's log from there on, as
    /// long as it is the primary of this epoch.
    fn follow(&self, primary: MemberId, epoch: Epoch, at: LogIndex, progress: LogProgress);

    /// Cuts the log at `at` if it is longer, then appends what `from` has up to `upto`. `from` serves it while its
    /// promise is this epoch to this member.
    fn fetch(&self, from: MemberId, epoch: Epoch, at: LogIndex, upto: LogRank, progress: LogProgress);

    /// Appends the start of this epoch and syncs it, unless the log's last epoch is this one already. Then serves the
    /// log to those that follow in this epoch. From here on, groups of clients may be appended when the gate is open.
    fn write_start(&self, epoch: Epoch, progress: LogProgress);

    /// Returns whether this primary sends its log to the member, from a position that both logs have. Without that,
    /// what the member has beyond the start of the epoch is not known to be of this log.
    fn sends_to(&self, member: MemberId) -> bool;

    /// The log is acknowledged up to here: applies and publishes it, replies to clients.
    fn publish(&self, upto: LogIndex);

    /// Accepts transactions of clients in this epoch, when everything acknowledged is published.
    fn open(&self, epoch: Epoch);

    /// Lets new transactions of clients wait. Those under way go on.
    fn hold(&self);

    /// Refuses transactions of clients. Those that wait for acknowledgement remain undecided.
    fn close(&self);

    /// Until this time, by [`clock::now`](crate::clock::now), reads here are new. The last call counts.
    fn reads_until(&self, until: Millis);

    /// Returns what a report says of the log, and how far it has grown beyond each of these indexes. Returns at once.
    fn report(&self, ends: &[LogIndex]) -> HostReport;

    /// A forced epoch has opened: transactions from this index on, which only other holders had, may be lost.
    fn may_be_lost(&self, after: LogIndex);
}

/// Way to report that more of the log is durable in one writing role. Cheap to clone.
#[derive(Clone)]
pub struct LogProgress {
    role: u64,
    signal: Arc<ProgressSignal>,
}

/// The newest role in which more of the log is durable than the driver has seen.
#[derive(Debug)]
pub(crate) struct ProgressSignal {
    /// 0: nothing is new.
    reported: AtomicU64,
    wake: Arc<Notify>,
}

impl ProgressSignal {
    pub(crate) fn new(wake: Arc<Notify>) -> Arc<Self> {
        Arc::new(ProgressSignal {
            reported: AtomicU64::new(0),
            wake,
        })
    }

    /// Returns the reporter of a role. Roles are numbered from 1.
    pub(crate) fn progress(self: &Arc<Self>, role: u64) -> LogProgress {
        LogProgress {
            role,
            signal: Arc::clone(self),
        }
    }

    /// Returns whether there is a report of this role, and takes all.
    pub(crate) fn take(&self, role: u64) -> bool {
        self.reported.swap(0, Ordering::AcqRel) == role && role != 0
    }
}

impl LogProgress {
    /// Creates a reporter that nobody listens to, for tests of a host. The notification says that there was a report.
    pub fn unconnected() -> (LogProgress, Arc<Notify>) {
        let wake = Arc::new(Notify::new());
        (ProgressSignal::new(Arc::clone(&wake)).progress(1), wake)
    }

    /// Reports that [`LogHost::tail`] has grown, or that a cut is complete. Never blocks.
    pub fn report(&self) {
        if self.signal.reported.fetch_max(self.role, Ordering::AcqRel) < self.role {
            self.signal.wake.notify_one();
        }
    }
}

impl fmt::Debug for LogProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LogProgress({})", self.role)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_of_an_ended_role_have_no_effect() {
        let signal = ProgressSignal::new(Arc::new(Notify::new()));
        let (first, second) = (signal.progress(1), signal.progress(2));
        first.report();
        assert!(!signal.take(2), "a late report");
        second.report();
        first.report();
        assert!(signal.take(2), "an older report does not hide a newer one");
        assert!(!signal.take(2), "it was taken");
        assert!(!signal.take(0), "nothing is reported without a role");
    }
}
