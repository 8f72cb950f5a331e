//! A member that has only its log, from an opened log to its end.
//!
//! ```text
//!   opened log ─▶ synced ─▶ writer ─▶ listen ─▶ `begin`: the member has the log ─▶ it ends, or is told to stop
//!                                                     ─▶ following stopped, everything written, log closed
//! ```

use crate::acknowledged::{AcknowledgedLog, MemberHandle};
use crate::archive::{Archive, OpenedLog};
use crate::closed_files::ClosedFiles;
use crate::error::{Error, Result};
use crate::follow::{self, RequestedState};
use crate::http::Http;
use crate::member::{HoldEnd, LogMember, Tenure};
use crate::options::{ArchiveOptions, Candidates};
use crate::serve::listener;
use crate::startup::stop_all;
use crate::writer::Writer;
use paceline_cluster::MemberId;
use paceline_cluster_host::LogHost;
use paceline_wire::TcpAddress;
use paceline_wire::listener::Listener;
use paceline_wire::tls::{ClusterKey, ServerTls};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::watch;

/// A member and its place in this process.
pub struct MemberPlace {
    /// The member.
    pub id: MemberId,
    /// How long it has only its log.
    pub tenure: Tenure,
    /// Its driver, once that has been started.
    pub handle: MemberHandle,
    /// Key by which members know each other.
    pub key: ClusterKey,
}

/// Returns candidates for a follower that is told later whom to follow.
pub(crate) fn nobody() -> Candidates {
    Candidates(vec![TcpAddress {
        host: "127.0.0.1".into(),
        port: 0,
    }])
}

/// Runs a member with this log until it ends or `stop_requested` becomes true. The log is closed when this returns.
pub(crate) async fn run(
    options: &ArchiveOptions,
    opened: OpenedLog,
    closed_files: Arc<ClosedFiles>,
    place: &MemberPlace,
    http: Option<&Http>,
    begin: impl FnOnce(Arc<dyn LogHost>) -> std::result::Result<(), String>,
    mut stop_requested: watch::Receiver<bool>,
) -> Result<HoldEnd> {
    // The member acknowledges all of the log from now on.
    tokio::task::block_in_place(|| opened.log.sync())?;
    let stop = watch::Sender::new(false);
    let acknowledged = AcknowledgedLog::new(opened.log.clone(), place.handle.clone());
    acknowledged.remember_end();
    let mut archive = Archive::new(
        options,
        opened,
        &[nobody()],
        stop.clone(),
        Some(acknowledged.clone()),
    );
    let tls =
        ServerTls::new(&options.tls.clone().unwrap_or_default()).and_then(|tls| tls.with_cluster(&place.key));
    archive.tls = Some(tls.map_err(|error| Error::Option(format!("TLS cannot be set up: {error}")))?);
    let running = Writer::start(
        archive.context.log.clone(),
        archive.context.sendable.clone(),
        stop,
        closed_files,
    )?;
    *archive.context.writer.lock() = Some(running.writer.clone());
    let follower = archive.followers[0].clone();
    follower.request(RequestedState::Stop);
    let member = LogMember::new(
        place.id,
        place.tenure,
        archive.context.clone(),
        follower.clone(),
        acknowledged,
    );
    archive.member = Some(member.clone());
    archive.is_closed_server = place.tenure == Tenure::UntilAcknowledged;
    let archive = Arc::new(archive);
    let socket: Option<PathBuf> = options.socket.clone();
    let listener = Listener::bind(&options.bind_address, options.port, socket.as_deref())
        .await
        .map_err(|error| Error::system(format!("listen on {}", error.at))(error.source))?;
    let following = tokio::spawn(follow::run(follower, archive.context.clone()));
    let retaining = archive
        .retention
        .as_ref()
        .map(|retention| tokio::spawn(retention.clone().run(archive.context.clone())));
    if let Some(http) = http {
        http.running(&archive);
    }
    tracing::info!(
        "cluster: the log ends at '{}'; it is not known yet which of its newest transactions are acknowledged",
        archive.context.position()
    );
    begin(member.clone()).map_err(Error::Failed)?;
    let ended = tokio::select! {
        ended = member.settled() => ended,
        _ = stop_requested.wait_for(|stop| *stop) => HoldEnd::Stopped,
        () = listener::serve(&listener, &archive) => HoldEnd::Stopped,
    };
    member.finish(ended);
    drop(listener);
    if let Some(http) = http {
        http.stopping();
    }
    archive.context.request_stop();
    if let Some(retaining) = retaining {
        // Nothing may change the files while the log is cut.
        let _ = retaining.await;
    }
    // The error of a writer that has failed, and has asked the archive to stop.
    stop_all(&archive, vec![following], Some(running)).await?;
    Ok(ended)
}
