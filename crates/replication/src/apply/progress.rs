//! Progress of the pushed items. Domains may overtake each other; positions in the primary's log may not.

use super::status::{ApplierStatus, GroupCounts};
use crate::received::SourcePosition;
use paceline_types::Gtid;
use std::collections::VecDeque;
use std::time::Instant;

/// Number of a pushed item.
pub(super) type PushNumber = u64;

struct Entry {
    is_done: bool,
    end: SourcePosition,
    gtid: Option<Gtid>,
    timestamp_seconds: Option<u32>,
    received_at: Option<Instant>,
    counts: GroupCounts,
}

/// Data of a transaction or a position move.
pub(super) struct PushedItem {
    pub(super) gtid: Gtid,
    pub(super) timestamp_seconds: Option<u32>,
    pub(super) received_at: Option<Instant>,
    pub(super) counts: GroupCounts,
}

/// All pushed items from the first unfinished one on, in order.
#[derive(Default)]
pub(super) struct Progress {
    /// Number of the first entry.
    first: PushNumber,
    entries: VecDeque<Entry>,
    pending: u64,
    applied: u64,
    groups: GroupCounts,
    last_gtid: Option<Gtid>,
    position: Option<SourcePosition>,
    applied_timestamp_seconds: Option<u32>,
}

impl Progress {
    /// Adds an item that is to be applied.
    pub(super) fn push(&mut self, end: SourcePosition, pushed: PushedItem) -> PushNumber {
        self.pending += 1;
        self.entries.push_back(Entry {
            is_done: false,
            end,
            gtid: Some(pushed.gtid),
            timestamp_seconds: pushed.timestamp_seconds,
            received_at: pushed.received_at,
            counts: pushed.counts,
        });
        self.pushed_count() - 1
    }

    /// Records that the primary's log has been read up to here and contains nothing for this replica.
    pub(super) fn pass(&mut self, end: SourcePosition) {
        match self.entries.back_mut() {
            None => self.position = Some(end),
            // Such positions are frequent while nothing else arrives.
            Some(last) if last.is_done && last.gtid.is_none() => last.end = end,
            Some(_) => self.entries.push_back(Entry {
                is_done: true,
                end,
                gtid: None,
                timestamp_seconds: None,
                received_at: None,
                counts: GroupCounts::default(),
            }),
        }
    }

    /// Records that these items are published.
    pub(super) fn done(&mut self, numbers: impl IntoIterator<Item = PushNumber>) {
        for number in numbers {
            let at = usize::try_from(number - self.first).expect("an item is done once");
            let entry = &mut self.entries[at];
            debug_assert!(!entry.is_done, "an item is done once");
            entry.is_done = true;
            self.pending -= 1;
            self.applied += 1;
            self.groups += entry.counts;
        }
        while self.entries.front().is_some_and(|entry| entry.is_done) {
            let Some(entry) = self.entries.pop_front() else {
                break;
            };
            self.first += 1;
            self.position = Some(entry.end);
            if entry.gtid.is_some() {
                self.last_gtid = entry.gtid;
                self.applied_timestamp_seconds = entry.timestamp_seconds.or(self.applied_timestamp_seconds);
            }
        }
    }

    /// Returns the number of the next item.
    pub(super) fn pushed_count(&self) -> PushNumber {
        self.first + self.entries.len() as u64
    }

    /// Returns the number of the first unfinished item.
    pub(super) fn done_count(&self) -> PushNumber {
        self.first
    }

    /// Returns the first unfinished transaction.
    pub(super) fn oldest(&self) -> Option<Gtid> {
        self.entries.iter().find(|entry| !entry.is_done)?.gtid
    }

    /// Returns whether everything is done.
    pub(super) fn is_idle(&self) -> bool {
        self.pending == 0
    }

    /// Fills in its part of the status.
    pub(super) fn fill(&self, status: &mut ApplierStatus) {
        status.last_gtid = self.last_gtid;
        status.position = self.position.clone();
        status.applied_timestamp_seconds = self.applied_timestamp_seconds;
        status.pending_transactions = self.pending;
        status.applied_transactions = self.applied;
        status.groups = self.groups;
        let first_undone = self.entries.iter().find(|entry| !entry.is_done);
        status.pending_timestamp_seconds = first_undone.and_then(|entry| entry.timestamp_seconds);
        status.pending_since = first_undone.and_then(|entry| entry.received_at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(offset: u64) -> SourcePosition {
        SourcePosition {
            file: "binlog.000001".into(),
            offset,
        }
    }

    fn gtid(text: &str) -> Gtid {
        text.parse().unwrap()
    }

    fn pushed(text: &str, timestamp_seconds: u32) -> PushedItem {
        PushedItem {
            gtid: gtid(text),
            timestamp_seconds: Some(timestamp_seconds),
            received_at: None,
            counts: GroupCounts {
                ddl: 1,
                ..GroupCounts::default()
            },
        }
    }

    #[test]
    fn the_position_stays_before_unfinished_items() {
        let mut progress = Progress::default();
        let told = |progress: &Progress| {
            let mut status = ApplierStatus::default();
            progress.fill(&mut status);
            (
                status.position.map(|position| position.offset),
                status.last_gtid.map(|gtid| gtid.to_string()),
                status.pending_transactions,
                status.pending_timestamp_seconds,
            )
        };
        progress.pass(end(4));
        assert_eq!(told(&progress), (Some(4), None, 0, None));
        let first = progress.push(end(100), pushed("0-1-1", 10));
        let second = progress.push(end(200), pushed("1-1-1", 11));
        progress.pass(end(300));
        progress.pass(end(350));
        // The second domain has overtaken the first.
        progress.done([second]);
        assert_eq!(told(&progress), (Some(4), None, 1, Some(10)));
        progress.done([first]);
        assert_eq!(told(&progress), (Some(350), Some("1-1-1".into()), 0, None));
        let third = progress.push(end(400), pushed("0-1-2", 12));
        progress.done([third]);
        assert_eq!(told(&progress), (Some(400), Some("0-1-2".into()), 0, None));
        assert!(progress.is_idle());
        let mut status = ApplierStatus::default();
        progress.fill(&mut status);
        assert_eq!(status.groups.ddl, 3);
    }
}
