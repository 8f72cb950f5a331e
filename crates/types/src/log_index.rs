//! Place in the history that several servers share.

use std::fmt;

/// Sum of the highest sequence numbers of all domains before a place in the log.
///
/// Files and offsets differ between servers. The log index is the same on every server that has the same event groups
/// in the same order, provided that the sequence numbers of each domain ascend (`gtid_strict_mode`). Then each group
/// raises it, by more than one where numbers were skipped. So only the order of log indexes has a meaning, not their
/// distance. Event groups that are logged for one server only do not count.
///
/// Deleting a domain from the GTID state (`FLUSH BINARY LOGS DELETE_DOMAIN_ID`) and `RESET MASTER` lower it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct LogIndex(pub u64);

impl fmt::Display for LogIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
