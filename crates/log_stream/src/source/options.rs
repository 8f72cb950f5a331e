//! Settings of all connections from the server's variables.

use super::filter::Filters;
use crate::primary::request::GroupRecords;
use paceline_types::{DomainId, ServerId};
use std::sync::Arc;
use std::time::Duration;

/// `replicate_events_marked_for_skip`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MarkedForSkip {
    /// They are applied like others.
    #[default]
    Replicate,
    /// They are skipped here.
    FilterOnReplica,
    /// The primary does not send them.
    FilterOnPrimary,
}

/// `slave_compressed_protocol`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Compression {
    /// The stream comes as it is.
    #[default]
    Off,
    /// The stream is compressed by zlib if the primary offers that.
    IfOffered,
}

/// Settings at the time when a connection is opened.
#[derive(Clone, Debug)]
pub struct ReplicaOptions {
    /// `server_id`.
    pub server_id: ServerId,
    /// `gtid_domain_id`: domain for the transactions of a source without GTIDs.
    pub domain_id: DomainId,
    /// `report_host`; empty: not reported.
    pub report_host: String,
    /// `report_user`.
    pub report_user: String,
    /// `report_password`.
    pub report_password: String,
    /// `report_port`.
    pub report_port: u16,
    /// `slave_net_timeout`: the connection is reopened after this time without an event or a heartbeat.
    pub net_timeout: Duration,
    /// `slave_max_allowed_packet`, in bytes.
    pub packet_max: usize,
    /// `gtid_strict_mode`.
    pub gtid_strict_mode: bool,
    /// `gtid_ignore_duplicates`.
    pub gtid_ignore_duplicates: bool,
    /// `replicate_same_server_id`.
    pub replicate_same_server_id: bool,
    /// Treatment of transactions with `skip_replication=1`.
    pub marked_for_skip: MarkedForSkip,
    /// Records in event groups.
    pub group_records: GroupRecords,
    /// `slave_compressed_protocol`.
    pub compression: Compression,
    /// `rpl_semi_sync_slave_enabled`.
    pub semi_sync: bool,
    /// `master_retry_count`.
    pub retry_count: u64,
    /// `replicate_do_db` and related rules of the connection.
    pub filters: Arc<Filters>,
}
