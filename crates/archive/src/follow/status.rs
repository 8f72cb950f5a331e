//! What a follower shows of itself.

use crate::options::Address;
use paceline_binlog::SourcePosition;
use paceline_replication::replica::error::SourceError;
use std::time::SystemTime;

/// `Slave_IO_Running`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FollowState {
    /// STOP SLAVE, or not started yet.
    #[default]
    Stopped,
    /// It tries.
    Connecting,
    /// It receives.
    Connected,
}

impl FollowState {
    /// What `Slave_IO_Running` says.
    pub fn name(self) -> &'static str {
        match self {
            FollowState::Stopped => "No",
            FollowState::Connecting => "Connecting",
            FollowState::Connected => "Yes",
        }
    }
}

/// What a follower has come to.
#[derive(Clone, Debug, Default)]
pub struct FollowStatus {
    /// Whether it receives.
    pub state: FollowState,
    /// `Slave_IO_State`.
    pub doing: &'static str,
    /// Whom it follows, or tried last.
    pub address: Option<Address>,
    /// `Master_Server_Id`.
    pub server_id: u32,
    /// Where it is in the primary's log.
    pub read: SourcePosition,
    /// The last error; forgotten with the next success. Number 0: none.
    pub error_number: u16,
    /// Its text.
    pub error: String,
    /// How often it has connected.
    pub connects: u64,
    /// Whether the primary may ask for acknowledgements.
    pub semi_sync: bool,
    /// How many it was given.
    pub acknowledgements: u64,
    /// Groups received.
    pub groups: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// When something came last, a heartbeat perhaps.
    pub heard: Option<SystemTime>,
    /// When the newest transaction received was executed, in seconds since 1970 by the primary's clock.
    pub executed_at_seconds: u32,
    /// The primary's clock less ours, in seconds.
    pub clock_difference_seconds: i64,
    /// Received and not durable yet, in groups.
    pub waiting: u64,
}

impl FollowStatus {
    pub(super) fn stop(&mut self) {
        self.state = FollowState::Stopped;
        self.doing = "";
        self.semi_sync = false;
    }

    pub(super) fn fail(&mut self, error: &SourceError) {
        let (number, message) = error.shown();
        self.state = FollowState::Connecting;
        self.doing = "Waiting to reconnect after a failed master event read";
        self.semi_sync = false;
        self.error_number = number;
        message.clone_into(&mut self.error);
    }
}
