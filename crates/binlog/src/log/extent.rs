//! How far the log is written and durable, as positions and as log indexes, with the epochs in it.
//!
//! [`super::Log::written`] and [`super::Log::durable`] are read without a lock on every path. Here is the log index
//! beside each of the two, under one lock, under which they are also moved. The lock is taken once for each write and
//! twice for each sync, never for long.

use crate::epoch::{EpochHistory, EpochMark, EpochStart};
use crate::gtid::GtidState;
use paceline_types::{LogIndex, LogPosition};

/// An end of the log, and the epochs before it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogEnd {
    /// Position of the end.
    pub position: LogPosition,
    /// Log index of the end.
    pub index: LogIndex,
    /// Newest epochs that began before it.
    pub epochs: EpochHistory,
}

/// Position in the log with its index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::log) struct IndexedPosition {
    pub position: LogPosition,
    pub index: LogIndex,
}

/// Written and durable end of the log.
#[derive(Debug)]
pub(in crate::log) struct LogExtent {
    written: IndexedPosition,
    durable: IndexedPosition,
    /// Epochs up to `written`.
    epochs: EpochHistory,
}

impl LogExtent {
    /// Creates the extent of a log that is durable up to its end.
    pub fn new(end: LogPosition, state: &GtidState, epochs: EpochHistory) -> Self {
        let end = IndexedPosition {
            position: end,
            index: state.log_index(),
        };
        LogExtent {
            written: end,
            durable: end,
            epochs,
        }
    }

    pub fn written(&self) -> IndexedPosition {
        self.written
    }

    pub fn durable(&self) -> IndexedPosition {
        self.durable
    }

    pub fn epochs(&self) -> &EpochHistory {
        &self.epochs
    }

    pub fn durable_end(&self) -> LogEnd {
        LogEnd {
            position: self.durable.position,
            index: self.durable.index,
            epochs: self.epochs.up_to(self.durable.index),
        }
    }

    /// Records a start of an epoch in the write after which [`Self::write`] is called. `index` is that before it.
    pub fn start_epoch(&mut self, mark: EpochMark, index: LogIndex) {
        let EpochMark { epoch, primary } = mark;
        self.epochs.push(EpochStart {
            epoch,
            primary,
            index,
        });
    }

    /// Records that the log is written up to here.
    pub fn write(&mut self, position: LogPosition, index: LogIndex) {
        self.written = IndexedPosition { position, index };
    }

    /// Records that the log is written up to here by events without a GTID.
    pub fn write_record(&mut self, position: LogPosition) {
        self.written.position = position;
    }

    /// Records that the log is durable up to here, where it was written up to before.
    pub fn sync(&mut self, written: IndexedPosition) {
        if written.position > self.durable.position {
            self.durable = written;
        }
    }

    /// Records that the log continues, durably, in a file with this state in its head.
    pub fn continue_at(&mut self, position: LogPosition, state: &GtidState) {
        self.write(position, state.log_index());
        self.durable = self.written;
    }

    /// Records that the log begins anew.
    pub fn reset(&mut self, epochs: EpochHistory) {
        self.epochs = epochs;
    }
}
