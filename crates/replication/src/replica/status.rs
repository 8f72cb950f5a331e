//! What a connection shows of its receiving side.

use super::error::SourceError;
use super::received::SourcePosition;
use paceline_binlog::GtidPosition;
use paceline_binlog::mysql::MySqlGtidSet;
use parking_lot::Mutex;
use std::time::{Duration, SystemTime};

/// `Slave_IO_Running`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ReceiverState {
    /// It is not started, or has stopped.
    #[default]
    Stopped,
    /// It is not connected, and tries.
    Connecting,
    /// It is connected.
    Connected,
}

impl ReceiverState {
    /// What `Slave_IO_Running` shows.
    pub fn name(self) -> &'static str {
        match self {
            ReceiverState::Stopped => "No",
            ReceiverState::Connecting => "Connecting",
            ReceiverState::Connected => "Yes",
        }
    }
}

/// An error as `SHOW SLAVE STATUS` has it. Number 0: none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownError {
    /// `Last_IO_Errno`.
    pub number: u16,
    /// `Last_IO_Error`.
    pub message: String,
    /// When it happened.
    pub at: Option<SystemTime>,
}

/// What a connection's receiver has come to.
#[derive(Clone, Debug, Default)]
pub struct ReceiverStatus {
    /// Whether it runs.
    pub state: ReceiverState,
    /// `Slave_IO_State`: what it waits for.
    pub doing: &'static str,
    /// `Master_Log_File` and `Read_Master_Log_Pos`.
    pub read: SourcePosition,
    /// `Gtid_IO_Pos`.
    pub gtid_position: GtidPosition,
    /// `Gtid_IO_Pos` of a connection to MySQL.
    pub executed: Option<MySqlGtidSet>,
    /// `Master_Server_Id`.
    pub master_server_id: u32,
    /// The last error; forgotten with the next success.
    pub error: ShownError,
    /// `Slave_received_heartbeats`.
    pub heartbeats: u64,
    /// When it was connected last, and how often.
    pub connects: u64,
    /// `Rpl_semi_sync_slave_status`: the primary was told that we acknowledge.
    pub semi_sync: bool,
    /// `Rpl_semi_sync_slave_send_ack`.
    pub acknowledgements: u64,
    /// Bytes of events received.
    pub received_bytes: u64,
    /// Event groups received.
    pub received_groups: u64,
    /// Event groups that were passed over.
    pub passed_groups: u64,
    /// The primary's clock less ours, in seconds.
    pub clock_difference_seconds: i64,
    /// Under `MASTER_DELAY`: when the group that waits may be applied, and when it was executed on the primary, in seconds since
    /// 1970 by our clock.
    pub delayed: Option<Delayed>,
    /// Time spent waiting for the applier's queue: what holds the replica back is then the applier.
    pub blocked: Duration,
    /// Time spent waiting for the network while the applier was idle.
    pub starved: Duration,
}

/// A group that waits for `MASTER_DELAY`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delayed {
    /// When it may be applied, in seconds since 1970 by our clock.
    pub until_seconds: u64,
    /// When the primary executed it.
    pub executed_at_seconds: u32,
}

/// The same, shared.
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
