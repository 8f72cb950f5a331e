//! Epochs, promises, and the records of epochs that etcd keeps.

use crate::configuration::{Configuration, MemberId};
use std::fmt;

/// Number of an epoch. An epoch has one primary and one configuration. The first is 1; 0 is before all.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Epoch(pub u64);

impl Epoch {
    /// Returns the next number.
    pub fn next(self) -> Epoch {
        Epoch(self.0 + 1)
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Promise of a log holder: it acknowledges and promises nothing of an older epoch any more, and nothing of another
/// primary in this one. It is durable before anybody learns of it, and it only grows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Promise {
    /// The oldest epoch that it still acknowledges.
    pub epoch: Epoch,
    /// The primary of that epoch.
    pub primary: MemberId,
}

impl Promise {
    /// Promise of a member that has never promised anything.
    pub const NONE: Promise = Promise {
        epoch: Epoch(0),
        primary: MemberId(0),
    };
}

/// Origin of an epoch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// Founded, or claimed by a member. It has the promises of the configurations before it.
    Regular,
    /// Written by an operator (`restore-quorum`). It has the promises of all its own holders, and of no others:
    /// acknowledged transactions may be missing.
    Forced,
}

/// Known progress of an epoch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// Its primary has claimed it. It may have opened.
    Claimed,
    /// Its start was acknowledged. The epochs before it, and their configurations, no longer matter.
    Opened,
}

/// Record of an epoch in etcd. Only `progress` ever changes.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct EpochRecord {
    pub epoch: Epoch,
    pub primary: MemberId,
    pub configuration: Configuration,
    pub origin: Origin,
    pub progress: Progress,
}
