//! An archive that is a member of a cluster: a log holder that never leads.
//!
//! ```text
//!   ┌─▶ open the log ─▶ the member takes part ([`crate::member_run`]) ── its tail must be cut ─▶ cut the closed log ─┐
//!   └──────────────────────────────────────────────────────────────────────────┘
//! ```
//! The member's driver goes on meanwhile: like a server that opens its tables, it answers pulses with the log as it
//! was reported last.

use crate::archive::version;
use crate::clock::unix_seconds;
use crate::closed_files::ClosedFiles;
use crate::error::{Error, Result};
use crate::http::Http;
use crate::member::HoldEnd;
use crate::member_run::{self, MemberPlace};
use crate::options::ArchiveOptions;
use crate::startup::{self, DataDirectory};
use paceline_binlog::log::{ClosedLog, OpenRequest};
use paceline_cluster::LogOrigin;
use paceline_cluster_host::LogHost;
use paceline_types::LogIndex;
use sd_notify::NotifyState;
use std::sync::Arc;
use tokio::sync::watch;

/// Checks that the log of a directory that becomes a member can be the cluster's: it is empty, or has an epoch.
///
/// # Errors
/// The log is another one's, or cannot be opened.
pub async fn check_new(options: &ArchiveOptions, directory: &DataDirectory) -> Result<()> {
    let index = directory.path.join(format!("{}.index", options.log_bin));
    if options.storage.is_none() && !index.exists() {
        return Ok(());
    }
    let (opened, _) = startup::open(options, directory, Arc::default()).await?;
    let is_foreign = opened.log.durable_end().epochs.is_empty() && !opened.log.state().is_empty();
    tokio::task::block_in_place(|| opened.log.close(unix_seconds()))?;
    match is_foreign {
        true => Err(Error::Option(format!(
            "the log in {} is not the cluster's: it has no epoch of it. Take an empty directory, or let the archive follow \
             the primary with --from until it has what the primary has",
            directory.path.display()
        ))),
        false => Ok(()),
    }
}

/// Runs an archive as a member until `stop_requested` becomes true. `begin` gives each opened log to the member, with
/// where it comes from.
///
/// # Errors
/// The reason why it could not start or could not continue.
pub async fn run(
    options: &ArchiveOptions,
    directory: &DataDirectory,
    place: &MemberPlace,
    begin: impl Fn(Arc<dyn LogHost>, LogOrigin) -> std::result::Result<(), String>,
    stop_requested: watch::Receiver<bool>,
) -> Result<()> {
    let http = Http::start(options).await?;
    loop {
        let closed_files = Arc::new(ClosedFiles::default());
        let (opened, disk) = startup::open(options, directory, closed_files.clone()).await?;
        let config = startup::log_config(options, directory);
        let ended = member_run::run(
            options,
            opened,
            closed_files,
            place,
            http.as_ref(),
            |host| {
                begin(host, LogOrigin::Received)?;
                tracing::info!("paceline {}: ready for connections", version());
                let _ = sd_notify::notify(&[NotifyState::Ready]);
                Ok(())
            },
            stop_requested.clone(),
        );
        match ended.await? {
            HoldEnd::Stopped => return Ok(()),
            HoldEnd::Ready => unreachable!("an archive opens no tables"),
            HoldEnd::Cut(index) => {
                tokio::task::block_in_place(|| {
                    cut(
                        ClosedLog::open(Arc::new(disk), &config, &OpenRequest::new(unix_seconds()))?,
                        index,
                    )
                })?;
            }
        }
    }
}

/// Cuts off what no quorum has acknowledged.
fn cut(log: ClosedLog, index: LogIndex) -> Result<()> {
    let cut = log.cut_after(index).map_err(|error| {
        Error::Failed(format!(
            "the log cannot be cut at index {}: {error}. If the cluster has gone on without acknowledged transactions \
             (paceline cluster restore-quorum), remove this member from the cluster, and start it with an empty directory",
            index.0
        ))
    })?;
    if let Some(first) = cut {
        tracing::warn!(
            "cluster: transactions from {} on, which were acknowledged to nobody, were cut off: the cluster went on without them",
            first.gtid
        );
    }
    Ok(())
}
