//! Options of a transaction.

use std::sync::Arc;
use std::time::Duration;

use paceline_binlog::{ExecutedSetChange, SourcePosition};
use paceline_types::{AccessMode, DomainId, Gtid, IsolationLevel, SequenceNumber, ServerId};

/// Treatment, under REPEATABLE READ, of a write or locking read of a row that has changed since the snapshot
/// (`innodb_snapshot_isolation`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SnapshotIsolation {
    /// The statement gets 1020, and the transaction is rolled back.
    #[default]
    On,
    /// The statement uses the newest version: the snapshot is for plain reads only.
    Off,
}

/// Duration of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Lifetime {
    /// One statement (`autocommit=1` outside BEGIN). Under SERIALIZABLE its plain reads use a snapshot and lock
    /// nothing, as in InnoDB.
    SingleStatement,
    /// Until COMMIT or ROLLBACK.
    #[default]
    Explicit,
}

/// GTID that a transaction gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GtidChoice {
    /// The next one of a domain (`gtid_domain_id`, `server_id`).
    Next {
        /// `gtid_domain_id`.
        domain_id: DomainId,
        /// `server_id`.
        server_id: ServerId,
    },
    /// This one (`gtid_seq_no`).
    Given(Gtid),
    /// This one, under which a primary has committed the transaction. Its Gtid event is marked with
    /// [`EventFlags::REPLICATED`](paceline_binlog::event::EventFlags::REPLICATED), and `gtid_slave_pos` moves
    /// to it with the transaction.
    Replicated(Gtid),
    /// As `Replicated`, for a connection that can continue only from a position in its primary's log. That
    /// position is logged with the transaction.
    ReplicatedFrom(Gtid, Arc<SourceMark>),
}

/// Position of a connection in its primary's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceMark {
    /// Name of the connection; empty for the default one.
    pub connection: Arc<str>,
    /// File and offset.
    pub position: SourcePosition,
    /// Change of the connection's set of MySQL GTIDs.
    pub executed: Option<ExecutedSetChange>,
    /// Source of the transaction's sequence number.
    pub numbers: SequenceSource,
}

/// Source of the sequence numbers of a primary's transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceSource {
    /// The primary.
    Primary,
    /// This server, at commit, because the primary has no MariaDB GTIDs: the next number of the domain, to
    /// which sessions here and other primaries may write, too.
    Local,
}

impl GtidChoice {
    /// Returns the choice that the session variables express: `gtid_seq_no` 0 means the next number.
    pub fn new(domain_id: DomainId, server_id: ServerId, gtid_seq_no: SequenceNumber) -> Self {
        match gtid_seq_no {
            SequenceNumber(0) => GtidChoice::Next { domain_id, server_id },
            sequence => GtidChoice::Given(Gtid::new(domain_id, server_id, sequence)),
        }
    }

    /// Returns the GTID if it is known before the transaction is placed.
    pub fn given(&self) -> Option<Gtid> {
        match self {
            GtidChoice::Next { .. } => None,
            GtidChoice::Given(gtid) | GtidChoice::Replicated(gtid) | GtidChoice::ReplicatedFrom(gtid, _) => {
                Some(*gtid)
            }
        }
    }

    /// Returns whether the transaction came from a primary.
    pub fn is_replicated(&self) -> bool {
        matches!(self, GtidChoice::Replicated(_) | GtidChoice::ReplicatedFrom(..))
    }

    /// Returns the id of the server on which the transaction originates.
    pub fn server_id(&self) -> ServerId {
        match self {
            GtidChoice::Next { server_id, .. } => *server_id,
            GtidChoice::Given(gtid) | GtidChoice::Replicated(gtid) | GtidChoice::ReplicatedFrom(gtid, _) => {
                gtid.server_id
            }
        }
    }
}

/// Whether a transaction is sent to replicas (`sql_log_bin`, `skip_replication`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Replication {
    /// Sent to replicas.
    #[default]
    Replicated,
    /// Sent to replicas that ask for it (`replicate_events_marked_for_skip`): all its events have the flag
    /// LOG_EVENT_SKIP_REPLICATION_F.
    Marked,
    /// Logged for this server only: LOG_EVENT_SKIP_REPLICATION_F in the reserved domain, and part of no GTID
    /// state.
    LocalOnly,
}

/// Options of a transaction.
#[derive(Clone, Debug)]
pub struct TransactionOptions {
    /// Isolation level.
    pub isolation: IsolationLevel,
    /// `innodb_snapshot_isolation`.
    pub snapshot_isolation: SnapshotIsolation,
    /// Whether it may write.
    pub access: AccessMode,
    /// Whether it ends with its first statement.
    pub lifetime: Lifetime,
    /// `innodb_lock_wait_timeout`: longest wait for a row lock.
    pub row_lock_timeout: Duration,
    /// `lock_wait_timeout`: longest wait for a metadata lock.
    pub metadata_lock_timeout: Duration,
    /// GTID that it gets.
    pub gtid: GtidChoice,
    /// `sql_log_bin`, `skip_replication`.
    pub replication: Replication,
}

impl Default for TransactionOptions {
    fn default() -> Self {
        TransactionOptions {
            isolation: IsolationLevel::default(),
            snapshot_isolation: SnapshotIsolation::default(),
            access: AccessMode::default(),
            lifetime: Lifetime::default(),
            row_lock_timeout: Duration::from_secs(50),
            metadata_lock_timeout: Duration::from_secs(86_400),
            gtid: GtidChoice::Next {
                domain_id: DomainId(0),
                server_id: ServerId(1),
            },
            replication: Replication::default(),
        }
    }
}
