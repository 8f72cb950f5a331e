//! What the server's variables say to all connections.

use super::filter::Filters;
use paceline_types::{DomainId, ServerId};
use std::sync::Arc;
use std::time::Duration;

/// `replicate_events_marked_for_skip`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MarkedForSkip {
    /// Taken like others.
    #[default]
    Replicate,
    /// Passed over here.
    FilterOnReplica,
    /// Not sent.
    FilterOnPrimary,
}

/// The settings, as they are when a connection is opened.
#[derive(Clone, Debug)]
pub struct ReplicaOptions {
    /// `server_id`.
    pub server_id: ServerId,
    /// `gtid_domain_id`: where transactions of a source without GTIDs go.
    pub domain_id: DomainId,
    /// `report_host`; empty: not told.
    pub report_host: String,
    /// `report_user`.
    pub report_user: String,
    /// `report_password`.
    pub report_password: String,
    /// `report_port`.
    pub report_port: u16,
    /// `slave_net_timeout`: after so long without an event or a heartbeat the connection is opened anew.
    pub net_timeout: Duration,
    /// `slave_max_allowed_packet`, in bytes.
    pub packet_max: usize,
    /// `gtid_strict_mode`.
    pub gtid_strict_mode: bool,
    /// `gtid_ignore_duplicates`.
    pub gtid_ignore_duplicates: bool,
    /// `replicate_same_server_id`.
    pub replicate_same_server_id: bool,
    /// What becomes of transactions made under `skip_replication=1`.
    pub marked_for_skip: MarkedForSkip,
    /// `rpl_semi_sync_slave_enabled`.
    pub semi_sync: bool,
    /// `master_retry_count`.
    pub retry_count: u64,
    /// `replicate_do_db` and its like, for the connection.
    pub filters: Arc<Filters>,
}
