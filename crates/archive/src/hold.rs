//! A server's member before its tables are opened: the log in the server's directory, written and served as an
//! archive's.

use crate::acknowledged::MemberHandle;
use crate::archive::OpenedLog;
use crate::error::Result;
use crate::member::{HoldEnd, Tenure};
use crate::member_run::{self, MemberPlace, nobody};
use crate::options::{Account, ArchiveOptions, Compression, Retention, Role, SemiSync};
use paceline_binlog::Log;
use paceline_binlog::log::{LogConfig, OpenRequest, RealDisk};
use paceline_cluster::MemberId;
use paceline_cluster_host::LogHost;
use paceline_log_stream::source::definition::TlsSettings;
use paceline_types::{LogIndex, LogPosition};
use paceline_wire::tls::{ClusterKey, TlsParameters};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::watch;

/// Settings of a holder. The log's are the server's, so that the server finds its own files.
pub struct HoldOptions {
    /// The server's data directory, which the caller has locked.
    pub datadir: PathBuf,
    /// The log.
    pub log: LogConfig,
    /// Request to open it, with the tables' position.
    pub request: OpenRequest,
    /// User and password with which members log in to each other.
    pub account: Account,
    /// Address of the TCP listener.
    pub bind_address: String,
    /// TCP port.
    pub port: u16,
    /// Key by which members know each other.
    pub key: ClusterKey,
    /// This member.
    pub id: MemberId,
    /// Its driver, once that has been started.
    pub handle: MemberHandle,
}

/// Opens the log, and gives it to the member through `begin`, with the index up to which the tables have it. Runs until
/// the log is acknowledged, must be cut, or `stop_requested` becomes true. The log is closed when this returns.
///
/// # Errors
/// The reason why it could not start or could not continue.
pub async fn hold(
    options: HoldOptions,
    begin: impl FnOnce(Arc<dyn LogHost>, LogIndex) -> std::result::Result<(), String>,
    stop_requested: watch::Receiver<bool>,
) -> Result<HoldEnd> {
    let (log, recovery) =
        tokio::task::block_in_place(|| Log::open(Arc::new(RealDisk), options.log.clone(), options.request))?;
    if let Some(cut) = &recovery.cut {
        tracing::warn!("the end of the binary log was torn by a crash: {cut}");
    }
    let tables = options.request.engine_position;
    let applied = match tables == LogPosition::ZERO {
        true => LogIndex(0),
        false => tokio::task::block_in_place(|| log.state_at(tables))?.log_index(),
    };
    let settings = ArchiveOptions {
        role: Role::Follow {
            datadir: options.datadir.clone(),
            sources: vec![nobody()],
        },
        account: options.account.clone(),
        clients: vec![options.account],
        server_id: Some(options.log.server_id),
        bind_address: options.bind_address,
        port: Some(options.port),
        socket: None,
        log_bin: options.log.base_name.clone(),
        file_size_max: options.log.file_size_max,
        semi_sync: SemiSync::Off,
        storage: None,
        compression: Compression::None,
        retention: Retention::default(),
        source_tls: TlsSettings::of_cluster(options.key.clone()),
        tls: Some(TlsParameters::default()),
        http: None,
    };
    let opened = OpenedLog {
        datadir: options.datadir,
        server_id: options.log.server_id,
        log,
        retention: None,
    };
    let place = MemberPlace {
        id: options.id,
        tenure: Tenure::UntilAcknowledged,
        handle: options.handle,
        key: options.key,
    };
    member_run::run(
        &settings,
        opened,
        Arc::default(),
        &place,
        None,
        |host| begin(host, applied),
        stop_requested,
    )
    .await
}
