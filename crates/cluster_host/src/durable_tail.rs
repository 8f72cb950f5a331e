//! The durable end of a binary log in the protocol's terms, and the reverse.

use paceline_binlog::log::LogEnd;
use paceline_binlog::{EpochHistory, EpochStart};
use paceline_cluster::{Epoch, EpochSpan, LogTail, MemberId};

/// Returns the tail of a log that is durable up to this end.
pub fn durable_tail(end: &LogEnd) -> LogTail {
    let spans = end.epochs.starts().iter().map(|start| EpochSpan {
        epoch: Epoch(start.epoch),
        primary: MemberId(start.primary),
        start: start.index,
    });
    LogTail::new(spans.collect(), end.index)
}

/// Returns the epochs of a log with this tail, as a binary log knows them.
pub(crate) fn epoch_history(tail: &LogTail) -> EpochHistory {
    let starts = tail.spans().iter().map(|span| EpochStart {
        epoch: span.epoch.0,
        primary: span.primary.0,
        index: span.start,
    });
    starts.collect()
}
