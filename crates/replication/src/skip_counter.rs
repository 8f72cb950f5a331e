//! `sql_slave_skip_counter`: the number of events that a connection still has to skip.
//!
//! A transaction is skipped if the counter is not zero when it is received. Its events are subtracted when the move of
//! the position past it is logged. If the connection stops in between, the transaction is received again and skipped
//! again. Subtracted on receipt, the counter would be used up and the transaction would come back to be applied.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of events that a connection still has to skip.
#[derive(Default)]
pub(super) struct SkipCounter {
    events_left: Arc<AtomicU64>,
}

impl SkipCounter {
    /// Sets the number of events.
    pub fn set(&self, events: u64) {
        self.events_left.store(events, Ordering::Release);
    }

    /// Returns the number of events.
    pub fn get(&self) -> u64 {
        self.events_left.load(Ordering::Acquire)
    }

    /// Returns the events of a transaction if it is to be skipped.
    pub fn skip(&self, events: u64) -> Option<SkippedEvents> {
        (self.get() > 0).then(|| SkippedEvents {
            events_left: self.events_left.clone(),
            events,
        })
    }
}

/// Events of a skipped transaction that are not subtracted from the counter yet.
pub struct SkippedEvents {
    events_left: Arc<AtomicU64>,
    events: u64,
}

impl SkippedEvents {
    /// Subtracts the events, because the position past them is logged.
    pub(super) fn subtract(self) {
        let subtracted = |left: u64| Some(left.saturating_sub(self.events));
        let _ = self
            .events_left
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, subtracted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_subtracted_when_the_position_is_logged() {
        let counter = SkipCounter::default();
        assert!(counter.skip(3).is_none());
        counter.set(4);
        drop(counter.skip(3));
        assert_eq!(counter.get(), 4, "a stop in between leaves the counter");
        counter.skip(3).expect("skipped").subtract();
        assert_eq!(counter.get(), 1);
        counter.skip(3).expect("skipped").subtract();
        assert_eq!(counter.get(), 0);
        assert!(counter.skip(3).is_none());
    }
}
