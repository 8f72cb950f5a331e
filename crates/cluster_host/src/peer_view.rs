//! Another member, as this one knows it.

use paceline_cluster::{LogIndex, MemberId, Millis};

/// Another member, as this one knows it from its messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PeerView {
    /// Identity.
    pub id: MemberId,
    /// When a message of it arrived last, by [`clock::now`](crate::clock::now).
    pub heard: Millis,
    /// Durable end of its log, as it has said last.
    pub end: Option<LogIndex>,
}
