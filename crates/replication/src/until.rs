//! End condition of a connection.

use super::received::SourcePosition;
use paceline_binlog::GtidPosition;

/// `START SLAVE UNTIL`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Until {
    /// `MASTER_GTID_POS`: inclusive.
    Gtids(GtidPosition),
    /// `MASTER_LOG_FILE` and `MASTER_LOG_POS`: transactions that begin at or after this position are not applied.
    Place(SourcePosition),
}

impl Until {
    pub(super) fn gtids(&self) -> Option<&GtidPosition> {
        match self {
            Until::Gtids(position) => Some(position),
            Until::Place(_) => None,
        }
    }
}
