//! The durable end of a binary log in the protocol's terms.

use paceline_binlog::log::LogEnd;
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
