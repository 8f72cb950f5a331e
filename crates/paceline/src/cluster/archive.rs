//! An archive that is a member of a cluster, from the start of its process to the end.
//!
//! ```text
//!   lock the directory ─▶ identity, promise ─▶ enter the cluster's directory, once a server has founded it
//!   ─▶ the log alone, for ever ([`paceline_archive::log_holder`])
//! ```

use super::identity::{Identity, LocalDriver};
use super::settings::MemberSettings;
use crate::stop::StopSignals;
use paceline_archive::log_holder;
use paceline_archive::member::Tenure;
use paceline_archive::member_run::MemberPlace;
use paceline_archive::options::{Account, ArchiveOptions};
use paceline_archive::startup::DataDirectory;
use paceline_cluster::LogIndex;
use paceline_cluster_host::MemberFile;
use paceline_cluster_host::etcd::Store;
use paceline_log_stream::source::definition::TlsSettings;
use paceline_server::cluster::CLUSTER_USER;
use std::path::Path;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// Runs an archive of a cluster until it is told to stop.
///
/// # Errors
/// A message for users: why it could not start, or not stop cleanly.
pub fn run(settings: &MemberSettings, mut options: ArchiveOptions, datadir: &Path) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .thread_name("archive")
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start threads: {error}"))?;
    let port = options
        .port
        .filter(|port| *port != 0)
        .ok_or("--cluster needs a port for the other members: not --port=0")?;
    if options.tls.is_none() {
        return Err("--cluster needs TLS for the other members: not --skip-ssl".into());
    }
    // Settings that cannot work are refused before anything is made.
    Store::new(&settings.etcd, &settings.cluster).map_err(|error| error.to_string())?;
    let directory = DataDirectory::lock(datadir).map_err(|error| error.to_string())?;
    let is_known = MemberFile::read(&directory.path)
        .map_err(|error| error.to_string())?
        .is_some();
    if !is_known {
        let checked = log_holder::check_new(&options, &directory);
        runtime.block_on(checked).map_err(|error| error.to_string())?;
    }
    let identity = Identity::open(&directory.path, &settings.cluster)?;
    let members = Account {
        user: CLUSTER_USER.to_owned(),
        password: settings.secret.clone(),
    };
    // Without a password, only members are served.
    options.clients.retain(|account| !account.password.is_empty());
    options.clients.push(members.clone());
    options
        .socket
        .get_or_insert_with(|| directory.path.join("archive.sock"));
    options.account = members;
    options.source_tls = TlsSettings::of_cluster(settings.key.clone());
    let id = identity.id();
    let driver = LocalDriver::new(settings, identity, port)?;
    let place = MemberPlace {
        id,
        tenure: Tenure::Lasting,
        handle: driver.handle(),
        key: settings.key.clone(),
    };
    let stop = watch::Sender::new(false);
    {
        let _entered = runtime.enter();
        let mut signals = StopSignals::take().map_err(|error| error.to_string())?;
        let mut hangup = signal(SignalKind::hangup()).map_err(|error| error.to_string())?;
        // Closing the terminal does not stop an archive.
        runtime.spawn(async move { while hangup.recv().await.is_some() {} });
        let stop = stop.clone();
        runtime.spawn(async move {
            signals.wait().await;
            tracing::info!("shutting down");
            stop.send_replace(true);
        });
    }
    let begin = |host, origin| driver.take_log(host, LogIndex(0), origin);
    let ran = log_holder::run(&options, &directory, &place, begin, stop.subscribe());
    let outcome = runtime.block_on(ran).map_err(|error| error.to_string());
    driver.stop();
    runtime.shutdown_background();
    outcome
}
