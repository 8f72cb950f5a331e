//! A server's member before its tables are opened: the log in the server's directory, written and served as an
//! archive's.

use crate::archive::{Archive, OpenedLog};
use crate::closed_files::ClosedFiles;
use crate::error::{Error, Result};
use crate::follow::{self, RequestedState};
use crate::member::{HoldEnd, LogMember, MemberAddresses};
use crate::options::{Account, ArchiveOptions, Candidates, Compression, Retention, Role, SemiSync};
use crate::serve::listener;
use crate::startup::stop_all;
use crate::writer::Writer;
use paceline_binlog::Log;
use paceline_binlog::log::{LogConfig, OpenRequest, RealDisk};
use paceline_cluster::MemberId;
use paceline_cluster_host::LogHost;
use paceline_log_stream::source::definition::TlsSettings;
use paceline_types::{LogIndex, LogPosition};
use paceline_wire::listener::Listener;
use paceline_wire::tls::{ServerTls, TlsParameters};
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
    /// TLS for other members.
    pub tls: Option<TlsParameters>,
    /// TLS of connections to other members.
    pub member_tls: TlsSettings,
    /// This member.
    pub id: MemberId,
    /// Addresses of the members.
    pub addresses: MemberAddresses,
}

/// Opens the log, and gives it to the member through `begin`, with the index up to which the tables have it. Runs until
/// the log is acknowledged, must be cut, or `stop_requested` becomes true. The log is closed when this returns.
///
/// # Errors
/// The reason why it could not start or could not continue.
pub async fn hold(
    options: HoldOptions,
    begin: impl FnOnce(Arc<dyn LogHost>, LogIndex) -> std::result::Result<(), String>,
    mut stop_requested: watch::Receiver<bool>,
) -> Result<HoldEnd> {
    let (log, recovery) =
        tokio::task::block_in_place(|| Log::open(Arc::new(RealDisk), options.log.clone(), options.request))?;
    if let Some(cut) = &recovery.cut {
        tracing::warn!("the end of the binary log was torn by a crash: {cut}");
    }
    // The member acknowledges all of the log from now on.
    tokio::task::block_in_place(|| log.sync())?;
    let tables = options.request.engine_position;
    let applied = match tables == LogPosition::ZERO {
        true => LogIndex(0),
        false => tokio::task::block_in_place(|| log.state_at(tables))?.log_index(),
    };
    let nobody = Candidates(vec![paceline_wire::TcpAddress {
        host: "127.0.0.1".into(),
        port: 0,
    }]);
    let settings = ArchiveOptions {
        role: Role::Follow {
            datadir: options.datadir.clone(),
            sources: vec![nobody.clone()],
        },
        account: options.account,
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
        source_tls: options.member_tls,
        tls: options.tls,
        http: None,
    };
    let opened = OpenedLog {
        datadir: options.datadir,
        server_id: options.log.server_id,
        log,
        retention: None,
    };
    let stop = watch::Sender::new(false);
    let mut archive = Archive::new(&settings, opened, &[nobody], stop.clone());
    archive.tls = match &settings.tls {
        None => None,
        Some(tls) => Some(
            ServerTls::new(tls).map_err(|error| Error::Option(format!("TLS cannot be set up: {error}")))?,
        ),
    };
    let running = Writer::start(
        archive.context.log.clone(),
        archive.context.sendable.clone(),
        stop,
        Arc::new(ClosedFiles::default()),
    )?;
    *archive.context.writer.lock() = Some(running.writer.clone());
    let follower = archive.followers[0].clone();
    follower.request(RequestedState::Stop);
    let member = LogMember::new(
        options.id,
        archive.context.clone(),
        follower.clone(),
        options.addresses,
    );
    archive.member = Some(member.clone());
    archive.is_closed_server = true;
    let archive = Arc::new(archive);
    let listener = Listener::bind(&settings.bind_address, settings.port, None)
        .await
        .map_err(|error| Error::system(format!("listen on {}", error.at))(error.source))?;
    let following = tokio::spawn(follow::run(follower, archive.context.clone()));
    tracing::info!(
        "cluster: the log ends at '{}'; it is not known yet which of its newest transactions are acknowledged",
        archive.context.position()
    );
    begin(member.clone(), applied).map_err(Error::Failed)?;
    let ended = tokio::select! {
        ended = member.settled() => ended,
        _ = stop_requested.wait_for(|stop| *stop) => HoldEnd::Stopped,
        () = listener::serve(&listener, &archive) => HoldEnd::Stopped,
    };
    member.finish(ended);
    // A failed writer has asked the archive to stop.
    let has_failed = *archive.context.stop.borrow();
    drop(listener);
    archive.context.request_stop();
    stop_all(&archive, vec![following], Some(running)).await?;
    match has_failed {
        true => Err(Error::Failed("the log is not written any more".into())),
        false => Ok(ended),
    }
}
