//! Status of a connection's receiver.

use super::received::SourcePosition;
use paceline_binlog::GtidPosition;
use paceline_binlog::mysql::MySqlGtidSet;
use paceline_log_stream::source::error::SourceError;
use parking_lot::Mutex;
use std::time::SystemTime;

/// `Slave_IO_Running`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ReceiverState {
    /// It has not been started, or has stopped.
    #[default]
    Stopped,
    /// It is not connected and is trying to connect.
    Connecting,
    /// It is connected.
    Connected,
}

impl ReceiverState {
    /// Returns the value of `Slave_IO_Running`.
    pub fn name(self) -> &'static str {
        match self {
            ReceiverState::Stopped => "No",
            ReceiverState::Connecting => "Connecting",
            ReceiverState::Connected => "Yes",
        }
    }
}

/// Error of `SHOW SLAVE STATUS`. Number 0 means no error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownError {
    /// `Last_IO_Errno`.
    pub number: u16,
    /// `Last_IO_Error`.
    pub message: String,
    /// Time of the error.
    pub at: Option<SystemTime>,
}

/// Status of a connection's receiver.
#[derive(Clone, Debug, Default)]
pub struct ReceiverStatus {
    /// Current state.
    pub state: ReceiverState,
    /// `Slave_IO_State`: current activity.
    pub doing: &'static str,
    /// `Master_Log_File` and `Read_Master_Log_Pos`.
    pub read: SourcePosition,
    /// `Gtid_IO_Pos`.
    pub gtid_position: GtidPosition,
    /// `Gtid_IO_Pos` of a connection to MySQL.
    pub executed: Option<MySqlGtidSet>,
    /// `Master_Server_Id`.
    pub master_server_id: u32,
    /// Last error; cleared by the next success.
    pub error: ShownError,
    /// `Slave_received_heartbeats`.
    pub heartbeats: u64,
    /// Number of connections to the primary.
    pub connects: u64,
    /// `Rpl_semi_sync_slave_status`: the primary knows that this replica acknowledges.
    pub semi_sync: bool,
    /// `Rpl_semi_sync_slave_send_ack`.
    pub acknowledgements: u64,
    /// Bytes of events received.
    pub received_bytes: u64,
    /// Event groups received.
    pub received_groups: u64,
    /// Number of skipped event groups.
    pub passed_groups: u64,
    /// The primary's clock minus the local clock, in seconds.
    pub clock_difference_seconds: i64,
    /// The group that waits for `MASTER_DELAY`, if there is one.
    pub delayed: Option<DelayedGroup>,
    /// Time of the newest event of a transaction, in seconds since 1970 by the primary's clock; 0 before the first one.
    pub event_timestamp_seconds: u32,
    /// A part of a transaction is received, and the rest is awaited.
    pub is_inside_group: bool,
}

impl ReceiverStatus {
    /// Returns the time since the primary wrote the newest received event of a transaction, in seconds.
    pub(super) fn event_age_seconds(&self, now_seconds: u64) -> u64 {
        if self.event_timestamp_seconds == 0 {
            return 0;
        }
        let executed_at = i64::from(self.event_timestamp_seconds) - self.clock_difference_seconds;
        now_seconds.saturating_sub(u64::try_from(executed_at).unwrap_or(0))
    }
}

/// A group that waits for `MASTER_DELAY`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayedGroup {
    /// Time when it may be applied, in seconds since 1970 by the local clock.
    pub until_seconds: u64,
    /// Time when the primary executed it, in seconds since 1970 by the local clock.
    pub executed_at_seconds: u32,
}

/// A receiver's status, shared between threads.
#[derive(Debug, Default)]
pub(super) struct SharedStatus(Mutex<ReceiverStatus>);

impl SharedStatus {
    pub fn get(&self) -> ReceiverStatus {
        self.0.lock().clone()
    }

    pub fn update(&self, change: impl FnOnce(&mut ReceiverStatus)) {
        change(&mut self.0.lock());
    }

    pub fn set_doing(&self, state: ReceiverState, doing: &'static str) {
        self.update(|status| {
            status.state = state;
            status.doing = doing;
        });
    }

    pub fn set_error(&self, error: &SourceError) {
        let (SourceError::Lost { number, message } | SourceError::Fatal { number, message }) = error;
        self.update(|status| {
            status.error = ShownError {
                number: *number,
                message: message.clone(),
                at: Some(SystemTime::now()),
            };
        });
    }

    pub fn clear_error(&self) {
        self.update(|status| status.error = ShownError::default());
    }
}
