//! Start and end of each row's frame. Both only move forward within a partition.

use std::ops::Range;

use paceline_expression::{Frame, FrameBound, FrameUnits};

/// Keys with which a RANGE frame with a number finds its ends: for each row its ORDER BY value, and the values at which
/// its frame starts and ends. Their bytes sort as the rows do. Empty if the frame does not need them.
#[derive(Debug, Default)]
pub(super) struct RangeKeys {
    pub order: Vec<Vec<u8>>,
    pub start: Vec<Vec<u8>>,
    pub end: Vec<Vec<u8>>,
}

/// Frames of a partition's rows, in order.
pub(super) struct Frames<'a> {
    frame: &'a Frame,
    keys: &'a RangeKeys,
    /// For each row, the number of leading keys that it shares with the previous one.
    shared: &'a [usize],
    /// Number of leading keys that peers share.
    peer_keys: usize,
    partition: Range<usize>,
    peers: Range<usize>,
    start: usize,
    end: usize,
}

impl<'a> Frames<'a> {
    /// Creates the state before the first row of `partition`.
    pub fn new(
        frame: &'a Frame,
        keys: &'a RangeKeys,
        shared: &'a [usize],
        peer_keys: usize,
        partition: Range<usize>,
    ) -> Self {
        let first = partition.start;
        Frames {
            frame,
            keys,
            shared,
            peer_keys,
            partition,
            peers: first..first,
            start: first,
            end: first,
        }
    }

    /// Returns the frame of a row. Rows must be requested in ascending order.
    pub fn of(&mut self, row: usize) -> Range<usize> {
        let by_peers = self.frame.units == FrameUnits::Range;
        if by_peers && row >= self.peers.end {
            self.peers = row..peers_end(self.shared, self.peer_keys, row, self.partition.end);
        }
        let (first, behind) = (self.partition.start, self.partition.end);
        self.start = match &self.frame.start {
            FrameBound::Unbounded => first,
            FrameBound::CurrentRow if by_peers => self.peers.start,
            FrameBound::CurrentRow => row,
            FrameBound::RowsBefore(rows) => row.saturating_sub(number(*rows)).max(first),
            FrameBound::RowsBehind(rows) => row.saturating_add(number(*rows)).min(behind),
            FrameBound::Value(_) => {
                let mut start = self.start;
                while start < behind && self.keys.order[start] < self.keys.start[row] {
                    start += 1;
                }
                start
            }
        };
        self.end = match &self.frame.end {
            FrameBound::Unbounded => behind,
            FrameBound::CurrentRow if by_peers => self.peers.end,
            FrameBound::CurrentRow => row + 1,
            FrameBound::RowsBefore(rows) => (row + 1).saturating_sub(number(*rows)).max(first),
            FrameBound::RowsBehind(rows) => (row + 1).saturating_add(number(*rows)).min(behind),
            FrameBound::Value(_) => {
                let mut end = self.end;
                while end < behind && self.keys.order[end] <= self.keys.end[row] {
                    end += 1;
                }
                end
            }
        };
        self.start..self.end.max(self.start)
    }
}

fn number(rows: u64) -> usize {
    usize::try_from(rows).unwrap_or(usize::MAX)
}

/// Returns the first row after the peers that begin at `first`.
pub(super) fn peers_end(shared: &[usize], peer_keys: usize, first: usize, behind: usize) -> usize {
    let more = shared[first + 1..behind].iter();
    first + 1 + more.take_while(|shared| **shared >= peer_keys).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the frames of rows 2 to 5 of a partition in which rows 3 and 4 are peers.
    fn frames(units: FrameUnits, start: FrameBound, end: FrameBound) -> Vec<Range<usize>> {
        let frame = Frame { units, start, end };
        let keys = RangeKeys::default();
        let shared = [0, 2, 0, 1, 2, 1];
        let mut frames = Frames::new(&frame, &keys, &shared, 2, 2..6);
        (2..6).map(|row| frames.of(row)).collect()
    }

    #[test]
    fn frames_of_rows_stay_in_their_partition() {
        use FrameBound::{CurrentRow, RowsBefore, RowsBehind, Unbounded};
        let rows = |start, end| frames(FrameUnits::Rows, start, end);
        assert_eq!(rows(Unbounded, CurrentRow), [2..3, 2..4, 2..5, 2..6]);
        assert_eq!(rows(RowsBefore(1), RowsBehind(1)), [2..4, 2..5, 3..6, 4..6]);
        assert_eq!(rows(RowsBehind(1), Unbounded), [3..6, 4..6, 5..6, 6..6]);
        assert_eq!(
            rows(RowsBefore(u64::MAX), RowsBehind(u64::MAX)),
            [2..6, 2..6, 2..6, 2..6]
        );
        assert_eq!(rows(RowsBefore(2), RowsBefore(1)), [2..2, 2..3, 2..4, 3..5]);
        // From the end backwards the frame is empty.
        assert_eq!(rows(RowsBehind(2), RowsBehind(1)), [4..4, 5..5, 6..6, 6..6]);
    }

    #[test]
    fn the_current_row_of_a_range_are_its_peers() {
        use FrameBound::{CurrentRow, Unbounded};
        let range = |start, end| frames(FrameUnits::Range, start, end);
        assert_eq!(range(CurrentRow, CurrentRow), [2..3, 3..5, 3..5, 5..6]);
        assert_eq!(range(Unbounded, CurrentRow), [2..3, 2..5, 2..5, 2..6]);
    }
}
