//! A server that is a member of a cluster, from the start of its process to the end.
//!
//! ```text
//!   an empty directory, and the cluster exists ─▶ copy the primary ([`crate::join`])
//!   lock the directory ─▶ identity, promise ─▶ found the cluster, or enter its directory
//!   ┌─▶ the log alone ([`paceline_archive::hold`]) ── it must be cut ─▶ cut the closed log ─┐
//!   └─────────────────────────────────────────────────────────────────────┘
//!                        └── acknowledged to its end ─▶ the server ── its log must be cut ─▶ this program again
//! ```
//! The member's driver has a thread of its own, which is started with the first log and goes on through all of this.

use super::settings::MemberSettings;
use crate::join;
use crate::stop::StopSignals;
use paceline_archive::hold::{HoldOptions, hold};
use paceline_archive::member::HoldEnd;
use paceline_archive::options::Account;
use paceline_binlog::log::{ClosedLog, OpenRequest, RealDisk};
use paceline_cluster::{LogIndex, MemberId, Timing};
use paceline_cluster_host::commands;
use paceline_cluster_host::etcd::Store;
use paceline_cluster_host::messages::PeerLogin;
use paceline_cluster_host::register::MemberEntry;
use paceline_cluster_host::thread::{ClusterSettings, ClusterThread};
use paceline_cluster_host::{ClusterHandle, LogHost, MemberFile, PromiseFile, StoredMember};
use paceline_log_stream::source::definition::TlsSettings;
use paceline_server::cluster::{CLUSTER_USER, Membership};
use paceline_server::http::Http;
use paceline_server::options::StartOptions;
use paceline_server::startup::PreparedServer;
use paceline_server::variables::{Variable, VariableValue};
use paceline_types::LogPosition;
use paceline_wire::TcpAddress;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::watch;

/// Time that a probe's answer has when the server takes over its address.
const PROBES_END: Duration = Duration::from_secs(1);
/// Pause before etcd is asked again.
const ETCD_PAUSE: Duration = Duration::from_millis(500);

/// Runs a server of a cluster until it is told to stop. `arguments` are those of its options.
///
/// # Errors
/// A message for users: why it could not start, or not stop cleanly.
pub fn run(settings: MemberSettings, options: StartOptions, arguments: &[String]) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("cluster-hold")
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start threads: {error}"))?;
    // A copy, and the wait for a quorum, may take long: a probe has to see that the member is alive.
    let probes = StartingProbes::begin(&options)?;
    let store = Arc::new(Store::new(&settings.etcd, &settings.cluster).map_err(|error| error.to_string())?);
    if is_new(&options.datadir) {
        let primary = runtime.block_on(primary_to_copy(&store, &settings))?;
        if let Some(primary) = primary {
            copy(&primary, &settings, arguments)?;
        }
    }
    let prepared = PreparedServer::new(options)?;
    let directory = prepared.directory().to_owned();
    let (promise_file, promise) = PromiseFile::open(&directory).map_err(|error| error.to_string())?;
    let is_known = MemberFile::read(&directory)
        .map_err(|error| error.to_string())?
        .is_some();
    let member_file = MemberFile::open(&directory, &settings.cluster).map_err(|error| error.to_string())?;
    let id = member_file.id();
    let globals = &prepared.options().globals;
    if globals.number(Variable::ServerId) == 1 {
        // Each member needs another one. An operator's choice of 1 cannot be told from the default.
        globals.set(
            Variable::ServerId,
            VariableValue::Unsigned(u64::from(id.0 >> 1).max(2)),
        );
    }
    let port = prepared
        .options()
        .port()
        .filter(|port| *port != 0)
        .ok_or("--cluster needs a port for the other members: not --port=0, not --skip-networking")?;
    let entry = settings.entry(id.0, port);
    let address = (settings.address.host.as_str(), settings.address.port);
    let mut listener = Some(
        TcpListener::bind(address)
            .map_err(|error| format!("cannot listen on {}: {error}", settings.address))?,
    );
    let mut stored = Some(StoredMember {
        id,
        promise_file,
        promise,
        applied: LogIndex(0),
    });
    let thread: OnceLock<ClusterThread> = OnceLock::new();
    let handle: Arc<OnceLock<ClusterHandle>> = Arc::default();
    let known = handle.clone();
    let addresses = Arc::new(move |member: MemberId| {
        let entry = known.get()?.entry(member)?;
        Some(TcpAddress {
            host: entry.host,
            port: entry.port,
        })
    });
    let stop = watch::Sender::new(false);
    let stops = {
        let _entered = runtime.enter();
        let mut signals = StopSignals::take().map_err(|error| error.to_string())?;
        let stop = stop.clone();
        runtime.spawn(async move {
            signals.wait().await;
            stop.send_replace(true);
        })
    };
    // A member that was removed is not added again by a restart.
    let joins = !is_known;
    runtime.spawn(enter(store, entry.clone(), joins));
    loop {
        let position = prepared.tables_position()?;
        let request = open_request(position);
        let options = HoldOptions {
            datadir: directory.clone(),
            log: prepared.log_config(),
            request,
            account: Account {
                user: CLUSTER_USER.to_owned(),
                password: settings.secret.clone(),
            },
            bind_address: prepared.options().bind_address(),
            port,
            tls: None,
            member_tls: TlsSettings::default(),
            id,
            addresses: addresses.clone(),
        };
        let begin = |host: Arc<dyn LogHost>, applied: LogIndex| match handle.get() {
            Some(handle) => {
                handle.set_host(host);
                Ok(())
            }
            None => {
                let settings = ClusterSettings {
                    cluster: settings.cluster.clone(),
                    entry: entry.clone(),
                    etcd: settings.etcd.clone(),
                    timing: Timing::default(),
                    login: PeerLogin {
                        secret: settings.secret.clone(),
                        tls: None,
                    },
                    tls: None,
                    listener: listener.take().expect("the member is started once"),
                    directory: Some(directory.clone()),
                };
                let stored = StoredMember {
                    applied,
                    ..stored.take().expect("the member is started once")
                };
                let on_failure = Box::new(|error| {
                    tracing::error!("cluster: {error}; the process ends");
                    std::process::abort();
                });
                let started = ClusterThread::start(settings, stored, host, on_failure)
                    .map_err(|error| error.to_string())?;
                let _ = handle.set(started.handle());
                let _ = thread.set(started);
                Ok(())
            }
        };
        let ended = runtime
            .block_on(hold(options, begin, stop.subscribe()))
            .map_err(|error| error.to_string())?;
        match ended {
            HoldEnd::Ready => break,
            HoldEnd::Stopped => return Ok(()),
            HoldEnd::Cut(index) => cut(&prepared, &request, index)?,
        }
    }
    stops.abort();
    runtime.shutdown_background();
    // The server opens the address again.
    if let Some(probes) = probes {
        probes.end();
    }
    let handle = handle.get().expect("the member runs").clone();
    let membership = Membership {
        name: settings.cluster,
        id,
        handle,
        secret: settings.secret.into(),
        restart: Arc::new(start_again),
    };
    let outcome = prepared.run(Some(membership));
    if let Some(thread) = thread.into_inner() {
        thread.stop();
    }
    outcome
}

/// The HTTP address of a member whose server does not run yet. It says "starting".
struct StartingProbes {
    runtime: tokio::runtime::Runtime,
    http: Http,
}

impl StartingProbes {
    /// Begins to listen, if the options name an address.
    fn begin(options: &StartOptions) -> Result<Option<Self>, String> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("probes")
            .enable_all()
            .build()
            .map_err(|error| format!("cannot start threads: {error}"))?;
        let http = runtime.block_on(Http::start(&options.globals, options.tls))?;
        Ok(http.map(|http| StartingProbes { runtime, http }))
    }

    /// Closes the address.
    fn end(self) {
        drop(self.http);
        self.runtime.shutdown_timeout(PROBES_END);
    }
}

/// Returns whether a data directory has never been used.
fn is_new(directory: &Path) -> bool {
    std::fs::read_dir(directory).map_or(true, |mut entries| entries.next().is_none())
}

fn open_request(position: LogPosition) -> OpenRequest {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    OpenRequest {
        engine_position: position,
        ..OpenRequest::new(now.as_secs() as u32)
    }
}

/// Returns the primary of a cluster that exists, when it has one. `None`: the cluster is to be founded.
async fn primary_to_copy(store: &Store, settings: &MemberSettings) -> Result<Option<MemberEntry>, String> {
    let mut told = false;
    loop {
        let problem = match store.read().await {
            Ok(None) => return Ok(None),
            Ok(Some(_)) => match commands::overview(store).await {
                Ok(overview) => {
                    let mut members = overview.members.into_iter();
                    let primary = members.find(|member| member.part == commands::Part::Primary);
                    match primary.and_then(|member| member.entry) {
                        Some(entry) => return Ok(Some(entry)),
                        None => "it has no primary".to_owned(),
                    }
                }
                Err(error) => error.to_string(),
            },
            Err(error) => error.to_string(),
        };
        if !told {
            tracing::warn!(
                "waiting for cluster '{}', to copy its primary: {problem}",
                settings.cluster
            );
            told = true;
        }
        tokio::time::sleep(ETCD_PAUSE).await;
    }
}

/// Fills an empty directory with a copy of the primary.
fn copy(primary: &MemberEntry, settings: &MemberSettings, arguments: &[String]) -> Result<(), String> {
    tracing::info!("copying {} at {}:{}", primary.name, primary.host, primary.port);
    let own = [
        format!("{}:{}", primary.host, primary.port),
        format!("--user={CLUSTER_USER}"),
        format!("--password={}", settings.secret),
        "--copy=files".to_owned(),
        "--prepare-only".to_owned(),
    ];
    // The server that fills the directory is no member, whatever its options say.
    let server_id = format!("--server-id={}", rand::random::<u32>() >> 1 | 2);
    let all: Vec<String> = own
        .into_iter()
        .chain(arguments.iter().cloned())
        .chain([server_id, "--http-address=".to_owned()])
        .collect();
    let arguments = join::parse(&all).map_err(|error| match error {
        join::Refusal::Server(error) => error.to_string(),
        _ => "the options cannot be used for a copy of the primary".to_owned(),
    })?;
    join::prepare(&arguments).map(drop)
}

/// Enters the member into the cluster: founds it, or asks to become a log holder.
async fn enter(store: Arc<Store>, entry: MemberEntry, joins: bool) {
    let mut told = String::new();
    loop {
        let entered = async {
            if joins {
                store.found(&entry).await?;
            }
            store.enter(&entry).await?;
            match joins {
                true => commands::add(&store, entry.member()).await.map(drop),
                false => Ok(()),
            }
        };
        match entered.await {
            Ok(()) => return,
            Err(error) => {
                let error: commands::CommandError = error;
                let text = error.to_string();
                if text != told {
                    tracing::warn!("cluster: this member cannot be entered: {text}");
                    told = text;
                }
            }
        }
        tokio::time::sleep(ETCD_PAUSE).await;
    }
}

/// Cuts the closed log.
fn cut(prepared: &PreparedServer, request: &OpenRequest, index: LogIndex) -> Result<(), String> {
    let failed = |error| format!("the log cannot be cut at index {}: {error}", index.0);
    let log = ClosedLog::open(Arc::new(RealDisk), &prepared.log_config(), request).map_err(failed)?;
    if let Some(first) = log.cut_after(index).map_err(failed)? {
        tracing::warn!(
            "cluster: transactions from {} on, which were acknowledged to nobody, were cut off: the cluster went on without them",
            first.gtid
        );
    }
    Ok(())
}

/// Replaces this process by a new one with the same arguments.
fn start_again(reason: &str) {
    tracing::warn!("cluster: {reason}; the server starts again");
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => {
            tracing::error!("the program's file is unknown: {error}");
            std::process::abort();
        }
    };
    let error = std::process::Command::new(program)
        .args(std::env::args_os().skip(1))
        .exec();
    tracing::error!("the server cannot start again: {error}");
    std::process::abort();
}
