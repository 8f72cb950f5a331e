//! Marks of large transactions' rows ([`VersionMark`]): which is the next one, and which running transactions have one.
//!
//! A mark is taken when a transaction becomes large, in the middle of it. It is open until the transaction's commit
//! begins, or it is rolled back: so long can it be on rows that are not written yet. A change of a table's columns must
//! know the open marks to tell rows before it from rows after it
//! ([`paceline_storage::FormatEnd`]).

use std::collections::BTreeSet;
use std::sync::Arc;

use paceline_storage::{MarkState, VersionMark};
use parking_lot::Mutex;

/// The marks of this start of the server. Those of earlier ones are smaller.
#[derive(Debug, Default)]
pub(crate) struct Marks(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Ordinal of the log file when the last mark was taken, and its number.
    last: Option<(u32, u16)>,
    open: BTreeSet<VersionMark>,
}

impl State {
    /// Returns the parts of the next mark; `None` if the ordinal has used up its numbers.
    fn next(&self, ordinal: u32) -> Option<(u32, u16)> {
        match self.last {
            Some((last, number)) if last >= ordinal => Some((last, number.checked_add(1)?)),
            _ => Some((ordinal, 0)),
        }
    }
}

impl Marks {
    /// Takes a mark that no other transaction has had or will have, while the log is in the file with this ordinal.
    /// `None` if 65,536 large transactions have been rolled back there.
    pub(crate) fn take(self: &Arc<Self>, ordinal: u32) -> Option<OpenMark> {
        let mut state = self.0.lock();
        let next = state.next(ordinal)?;
        state.last = Some(next);
        let mark = VersionMark::new(next.0, next.1);
        state.open.insert(mark);
        Some(OpenMark {
            mark,
            marks: self.clone(),
        })
    }

    /// Returns the next mark and the open ones, while the log is in the file with this ordinal.
    pub(crate) fn state(&self, ordinal: u32) -> MarkState {
        let state = self.0.lock();
        // When the numbers are used up, the next mark is of a later file.
        let (ordinal, number) = state.next(ordinal).unwrap_or((ordinal + 1, 0));
        MarkState {
            next: VersionMark::new(ordinal, number),
            open: state.open.iter().copied().collect(),
        }
    }
}

/// A mark of a transaction that may still write rows.
#[derive(Debug)]
pub(crate) struct OpenMark {
    mark: VersionMark,
    marks: Arc<Marks>,
}

impl OpenMark {
    pub(crate) fn mark(&self) -> VersionMark {
        self.mark
    }
}

impl Drop for OpenMark {
    fn drop(&mut self) {
        self.marks.0.lock().open.remove(&self.mark);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_ascend_and_are_open_while_they_are_held() {
        let marks = Arc::<Marks>::default();
        assert_eq!(marks.state(3).next, VersionMark::new(3, 0));
        let first = marks.take(3).unwrap();
        let second = marks.take(3).unwrap();
        assert_eq!(
            (first.mark(), second.mark()),
            (VersionMark::new(3, 0), VersionMark::new(3, 1))
        );
        let state = marks.state(3);
        assert_eq!(state.next, VersionMark::new(3, 2));
        assert_eq!(state.open, [first.mark(), second.mark()]);
        drop(first);
        let third = marks.take(5).unwrap();
        assert_eq!(third.mark(), VersionMark::new(5, 0));
        // A thread that has seen an earlier file.
        assert_eq!(marks.take(4).unwrap().mark(), VersionMark::new(5, 1));
        assert_eq!(marks.state(5).open, [second.mark(), third.mark()]);
    }

    #[test]
    fn the_marks_of_a_file_end() {
        let marks = Arc::<Marks>::default();
        (0..=u16::MAX).for_each(|_| drop(marks.take(1).unwrap()));
        assert!(marks.take(1).is_none());
        assert_eq!(marks.state(1).next, VersionMark::new(2, 0));
        assert_eq!(marks.take(2).unwrap().mark(), VersionMark::new(2, 0));
    }
}
