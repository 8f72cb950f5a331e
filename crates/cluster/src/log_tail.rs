//! The starts of the epochs in a member's log, and its end.

use crate::configuration::MemberId;
use crate::epoch::{Epoch, Promise};
use paceline_types::LogIndex;

/// An epoch in a log: its records are those from its start up to the next epoch's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EpochSpan {
    /// The epoch.
    pub epoch: Epoch,
    /// Its primary.
    pub primary: MemberId,
    /// Index of the record of its start.
    pub start: LogIndex,
}

/// Rank of a log: a newer last epoch ranks higher, then a later end. Two logs of one rank are equal. If etcd has given
/// out an epoch twice, none of its primaries has acknowledged anything, or only one has started; then any order of them
/// is right.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LogRank {
    /// Epoch of the last record.
    pub epoch: Epoch,
    /// Its primary.
    pub primary: MemberId,
    /// End of the log.
    pub end: LogIndex,
}

/// The epochs of a log and its end. Only the newest [`LogTail::SPANS_MAX`] epochs are kept.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LogTail {
    spans: Vec<EpochSpan>,
    end: LogIndex,
}

impl LogTail {
    /// Maximum number of epochs. A log that has none of them in common with another is copied anew.
    pub const SPANS_MAX: usize = 64;

    /// Creates the tail of a log that ends at `end`.
    ///
    /// # Panics
    /// Epochs or starts do not ascend, or a start is not before the end.
    pub fn new(mut spans: Vec<EpochSpan>, end: LogIndex) -> Self {
        assert!(
            Self::is_possible(&spans, end),
            "epochs ascend: {spans:?} before {end:?}"
        );
        let surplus = spans.len().saturating_sub(Self::SPANS_MAX);
        spans.drain(..surplus);
        LogTail { spans, end }
    }

    /// Creates the tail that another member has sent. `None`: no log has such a tail.
    pub fn received(spans: Vec<EpochSpan>, end: LogIndex) -> Option<Self> {
        let is_possible = spans.len() <= Self::SPANS_MAX && Self::is_possible(&spans, end);
        is_possible.then_some(LogTail { spans, end })
    }

    fn is_possible(spans: &[EpochSpan], end: LogIndex) -> bool {
        let ascend = |pair: &[EpochSpan]| pair[0].epoch < pair[1].epoch && pair[0].start < pair[1].start;
        spans.windows(2).all(ascend) && spans.last().is_none_or(|last| last.start < end)
    }

    /// Returns the epochs, oldest first.
    pub fn spans(&self) -> &[EpochSpan] {
        &self.spans
    }

    /// Returns the end.
    pub fn end(&self) -> LogIndex {
        self.end
    }

    /// Returns the rank.
    pub fn rank(&self) -> LogRank {
        let last = self.spans.last();
        LogRank {
            epoch: last.map_or(Promise::NONE.epoch, |span| span.epoch),
            primary: last.map_or(Promise::NONE.primary, |span| span.primary),
            end: self.end,
        }
    }

    /// Returns where the last epoch starts, if it is `epoch`.
    pub fn start_of_last(&self, epoch: Epoch) -> Option<LogIndex> {
        self.spans
            .last()
            .filter(|span| span.epoch == epoch)
            .map(|span| span.start)
    }

    /// Returns the index up to which both logs are the same, or `None` if these epochs do not tell.
    ///
    /// An epoch has one writer, which appends to a log that it has in full. So two logs with a record of one epoch at
    /// one index are the same up to it. The last epoch in which they meet decides.
    pub fn agreement(&self, other: &LogTail) -> Option<LogIndex> {
        for (at, span) in self.spans.iter().enumerate().rev() {
            let is_met = |theirs: &EpochSpan| (theirs.epoch, theirs.primary) == (span.epoch, span.primary);
            let met = other.spans.iter().position(is_met);
            if let Some(met) = met {
                assert_eq!(
                    span.start, other.spans[met].start,
                    "epoch {} starts once",
                    span.epoch
                );
                return Some(self.end_of_span(at).min(other.end_of_span(met)));
            }
        }
        let is_whole = |tail: &LogTail| tail.spans.first().is_none_or(|first| first.start == LogIndex(0));
        (is_whole(self) && is_whole(other)).then_some(LogIndex(0))
    }

    /// Returns the tail of the same log as one that is still being written: it has no end.
    pub(crate) fn endless(&self) -> LogTail {
        LogTail {
            spans: self.spans.clone(),
            end: LogIndex(u64::MAX),
        }
    }

    /// Cuts the log at `at`, if it is longer.
    pub(crate) fn cut(&mut self, at: LogIndex) {
        if at < self.end {
            self.end = at;
            self.spans.retain(|span| span.start < at);
        }
    }

    fn end_of_span(&self, at: usize) -> LogIndex {
        self.spans.get(at + 1).map_or(self.end, |next| next.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(spans: &[(u64, u64)], end: u64) -> LogTail {
        let spans = spans.iter().map(|(epoch, start)| EpochSpan {
            epoch: Epoch(*epoch),
            primary: MemberId(1),
            start: LogIndex(*start),
        });
        LogTail::new(spans.collect(), LogIndex(end))
    }

    #[test]
    fn logs_agree_up_to_the_end_of_the_last_epoch_that_they_share() {
        let cases = [
            // One is a beginning of the other.
            (tail(&[(1, 0)], 5), tail(&[(1, 0), (2, 7)], 9), Some(5)),
            // The tail of an old primary.
            (tail(&[(1, 0)], 9), tail(&[(1, 0), (2, 7)], 9), Some(7)),
            // Each has an epoch that the other lacks.
            (tail(&[(1, 0), (3, 6)], 9), tail(&[(1, 0), (2, 7)], 9), Some(6)),
            (tail(&[(1, 0), (3, 8)], 9), tail(&[(1, 0), (4, 7)], 9), Some(7)),
            // Nothing in common, but both begin at the beginning.
            (tail(&[(1, 0)], 9), tail(&[(2, 0)], 9), Some(0)),
            (tail(&[], 0), tail(&[(2, 0)], 9), Some(0)),
            // A log without its beginning.
            (tail(&[], 0), tail(&[(2, 3)], 9), None),
        ];
        for (one, other, agreement) in cases {
            let agreement = agreement.map(LogIndex);
            assert_eq!(one.agreement(&other), agreement, "{one:?} {other:?}");
            assert_eq!(other.agreement(&one), agreement, "{other:?} {one:?}");
        }
    }

    #[test]
    fn a_log_that_is_being_written_has_no_end() {
        let behind = tail(&[(1, 0)], 5).endless();
        assert_eq!(behind.agreement(&tail(&[(1, 0)], 7)), Some(LogIndex(7)));
    }

    #[test]
    fn old_epochs_are_forgotten() {
        let spans: Vec<_> = (1..=100).map(|number| (number, number - 1)).collect();
        let long = tail(&spans, 200);
        assert_eq!(long.spans.len(), LogTail::SPANS_MAX);
        assert_eq!(long.agreement(&tail(&[(1, 0)], 1)), None);
        assert_eq!(long.agreement(&tail(&spans[..99], 150)), Some(LogIndex(99)));
    }
}
