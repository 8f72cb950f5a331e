//! State of a receiver: its parts, what lasts from one session with the primary to the next, and the end of a session.

use crate::apply::Applier;
use crate::received::SourcePosition;
use crate::shared::ConnectionShared;
use crate::until::Until;
use paceline_binlog::mysql::MySqlGtidSet;
use paceline_binlog::{ExecutedSetChange, GtidPosition, ReplicaRecord};
use paceline_log_stream::source::definition::Definition;
use paceline_log_stream::source::error::SourceError;
use paceline_types::SequenceNumber;
use paceline_types::error_code::ER_SLAVE_FATAL_ERROR;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Maximum time for which a position move is held back while others follow.
pub(super) const PASSED_FOR: Duration = Duration::from_secs(1);

/// Maximum number of events that are processed in a row without other checks.
pub(super) const BATCH_EVENTS_MAX: usize = 256;

/// Reason for the end of a session with the primary.
pub(super) enum End {
    /// STOP SLAVE.
    Stopped,
    /// The applier has ended or was replaced: begin again immediately.
    ApplierGone,
    /// The GTIDs of START SLAVE UNTIL are reached.
    UntilReached,
    Failed(SourceError),
}

impl From<SourceError> for End {
    fn from(error: SourceError) -> Self {
        End::Failed(error)
    }
}

/// Events that the applier was given. A new connection continues there while the applier lives.
pub(super) struct Progress {
    pub applier: Arc<Applier>,
    pub gtids: GtidPosition,
    pub place: Option<SourcePosition>,
    pub supply: SequenceNumber,
    /// For a MySQL primary: the set of GTIDs, if the set before is known.
    pub executed: Option<MySqlGtidSet>,
    /// Additions to this set, logged with the next transaction.
    pub executed_since: Option<ExecutedSetChange>,
}

/// Receiver of a connection; see the comment of [`super`].
pub struct Receiver {
    pub shared: Arc<ConnectionShared>,
    pub definition: Arc<Definition>,
    /// UNTIL condition of the current session.
    pub until: Option<Until>,
    pub stop: watch::Receiver<bool>,
    pub appliers: watch::Receiver<Option<Arc<Applier>>>,
}

/// Logs a position move before anything else is done.
pub(super) fn log_move(shared: &ConnectionShared, record: &ReplicaRecord) -> Result<(), SourceError> {
    let transactions = shared.environment.transactions();
    tokio::task::block_in_place(|| transactions.move_replica_position(record))
        .map_err(|error| SourceError::fatal(ER_SLAVE_FATAL_ERROR.number(), error.to_string()))
}
