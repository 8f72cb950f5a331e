//! Status of a follower.

use crate::options::Address;
use paceline_binlog::SourcePosition;
use paceline_log_stream::source::error::SourceError;
use std::time::SystemTime;

/// State of the connection (`Slave_IO_Running`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FollowState {
    /// Not started yet, or stopped by STOP SLAVE.
    #[default]
    Stopped,
    /// The follower tries to connect.
    Connecting,
    /// The follower receives.
    Connected,
}

impl FollowState {
    /// Returns the value of `Slave_IO_Running`.
    pub fn name(self) -> &'static str {
        match self {
            FollowState::Stopped => "No",
            FollowState::Connecting => "Connecting",
            FollowState::Connected => "Yes",
        }
    }
}

/// Status of a follower.
#[derive(Clone, Debug, Default)]
pub struct FollowStatus {
    /// State of the connection.
    pub state: FollowState,
    /// `Slave_IO_State`.
    pub doing: &'static str,
    /// Server that it follows or last tried.
    pub address: Option<Address>,
    /// `Master_Server_Id`.
    pub server_id: u32,
    /// Position reached in the primary's log.
    pub read: SourcePosition,
    /// Number of the last error; 0 after a success.
    pub error_number: u16,
    /// Text of the last error.
    pub error: String,
    /// Number of successful connections.
    pub connects: u64,
    /// Whether the primary may request acknowledgements.
    pub semi_sync: bool,
    /// Number of acknowledgements sent.
    pub acknowledgements: u64,
    /// Number of groups received.
    pub groups: u64,
    /// Bytes received.
    pub bytes: u64,
    /// Time when something was last received, including heartbeats.
    pub heard: Option<SystemTime>,
    /// Time when the newest received transaction was executed, in seconds since 1970 by the primary's clock.
    pub executed_at_seconds: u32,
    /// Time of the primary's clock minus our time, in seconds.
    pub clock_difference_seconds: i64,
    /// Number of groups received but not yet durable.
    pub waiting: u64,
}

impl FollowStatus {
    /// Returns 0 if everything that the primary has sent is durable; otherwise the age of the newest received
    /// transaction, in seconds. `None` without a connection.
    pub fn seconds_behind(&self, now_unix_seconds: u32) -> Option<u64> {
        if self.state != FollowState::Connected {
            return None;
        }
        if self.waiting == 0 {
            return Some(0);
        }
        let executed_at = i64::from(self.executed_at_seconds) - self.clock_difference_seconds;
        Some(u64::try_from(i64::from(now_unix_seconds) - executed_at).unwrap_or(0))
    }

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
