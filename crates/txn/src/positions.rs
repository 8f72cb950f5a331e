//! The four positions of the log, each at most the next: published ≤ acknowledged ≤ durable ≤ written.
//!
//! ```text
//!   ── published ──── acknowledged ──── durable ──── written ──▶ log
//!      engines and     enough replicas    fdatasync    pwritev
//!      readers have it have it (semi-sync) returned    returned
//! ```
//!
//! Each moves only forward, and never past the next one; every step asserts it (invariant 1). With
//! `sync_binlog=0` publishing does not wait for the disk. Then, and only then, `durable` may be behind
//! `published`, and engines are instead kept from flushing past `durable` (invariant 3).

use paceline_types::LogPosition;
use std::sync::atomic::{AtomicU64, Ordering};

/// The four positions at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Positions {
    /// End of the part that readers see and engines hold.
    pub published: LogPosition,
    /// End of the part that is durable here and, where semi-sync asks for it, on enough replicas.
    pub acknowledged: LogPosition,
    /// End of the part that a crash of this machine cannot lose.
    pub durable: LogPosition,
    /// End of everything placed in the log.
    pub written: LogPosition,
}

/// Whether a commit waits for the disk before it is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    Required,
    Deferred,
}

/// The positions as the pipeline moves them. Any thread may read them at any time; only one stage moves each.
pub(crate) struct PositionCells {
    published: AtomicU64,
    acknowledged: AtomicU64,
    durable: AtomicU64,
    written: AtomicU64,
}

impl PositionCells {
    /// Sets all four to `start`, where recovery ended.
    pub(crate) fn new(start: LogPosition) -> Self {
        let cell = || AtomicU64::new(start.as_u64());
        PositionCells {
            published: cell(),
            acknowledged: cell(),
            durable: cell(),
            written: cell(),
        }
    }

    /// Reads all four, the lowest first, so that their order holds in the result.
    pub(crate) fn read(&self) -> Positions {
        let published = self.published();
        let acknowledged = self.acknowledged();
        let durable = self.durable();
        let written = self.written();
        Positions {
            published,
            acknowledged,
            durable,
            written,
        }
    }

    pub(crate) fn published(&self) -> LogPosition {
        LogPosition::from_u64(self.published.load(Ordering::Acquire))
    }

    pub(crate) fn acknowledged(&self) -> LogPosition {
        LogPosition::from_u64(self.acknowledged.load(Ordering::Acquire))
    }

    pub(crate) fn durable(&self) -> LogPosition {
        LogPosition::from_u64(self.durable.load(Ordering::Acquire))
    }

    pub(crate) fn written(&self) -> LogPosition {
        LogPosition::from_u64(self.written.load(Ordering::Acquire))
    }

    pub(crate) fn advance_written(&self, to: LogPosition) {
        let before = self.written();
        assert!(to >= before, "the log was written backwards: {to} after {before}");
        self.written.store(to.as_u64(), Ordering::Release);
    }

    pub(crate) fn advance_durable(&self, to: LogPosition) {
        assert!(
            to <= self.written(),
            "synced to {to}, past what is written ({})",
            self.written()
        );
        self.durable.fetch_max(to.as_u64(), Ordering::AcqRel);
    }

    pub(crate) fn advance_acknowledged(&self, to: LogPosition, durability: Durability) {
        match durability {
            Durability::Required => {
                assert!(
                    to <= self.durable(),
                    "acknowledged {to}, past what is durable ({})",
                    self.durable()
                );
            }
            Durability::Deferred => {
                assert!(
                    to <= self.written(),
                    "acknowledged {to}, past what is written ({})",
                    self.written()
                );
            }
        }
        self.acknowledged.fetch_max(to.as_u64(), Ordering::AcqRel);
    }

    pub(crate) fn advance_published(&self, to: LogPosition) {
        let before = self.published();
        assert!(to >= before, "published backwards: {to} after {before}");
        assert!(
            to <= self.acknowledged(),
            "published {to}, past what is acknowledged ({})",
            self.acknowledged()
        );
        self.published.store(to.as_u64(), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(offset: u64) -> LogPosition {
        LogPosition::new(1, offset)
    }

    #[test]
    fn positions_move_in_order() {
        let cells = PositionCells::new(at(4));
        cells.advance_written(at(10));
        cells.advance_durable(at(10));
        cells.advance_acknowledged(at(10), Durability::Required);
        cells.advance_published(at(10));
        cells.advance_written(at(12));
        let read = cells.read();
        assert!(
            read.published <= read.acknowledged
                && read.acknowledged <= read.durable
                && read.durable <= read.written
        );
        assert_eq!((read.durable, read.written), (at(10), at(12)));
    }

    #[test]
    #[should_panic(expected = "past what is durable")]
    fn nothing_is_acknowledged_before_it_is_durable() {
        let cells = PositionCells::new(at(4));
        cells.advance_written(at(10));
        cells.advance_acknowledged(at(10), Durability::Required);
    }

    #[test]
    #[should_panic(expected = "past what is acknowledged")]
    fn nothing_is_published_before_it_is_acknowledged() {
        let cells = PositionCells::new(at(4));
        cells.advance_written(at(10));
        cells.advance_durable(at(10));
        cells.advance_published(at(10));
    }
}
