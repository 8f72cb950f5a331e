//! A server that is a member of a cluster, from the start of its process to the end.
//!
//! ```text
//!   an empty directory, and the cluster exists ─▶ copy the primary ([`crate::join`]); if it is lost, the next one
//!   lock the directory ─▶ identity, promise ─▶ found the cluster, or enter its directory
//!   ┌─▶ the log alone ([`paceline_archive::hold`]) ── it must be cut ─▶ cut the closed log ─┐
//!   └─────────────────────────────────────────────────────────────────────┘
//!                        └── acknowledged to its end ─▶ the server ── its log must be cut ─▶ this program again
//! ```
//! The member's driver has a thread of its own, which is started with the first log and goes on through all of this.

use super::identity::{ETCD_PAUSE, Identity, LocalDriver};
use super::settings::MemberSettings;
use crate::join;
use crate::stop::StopSignals;
use paceline_archive::hold::{HoldOptions, hold};
use paceline_archive::member::HoldEnd;
use paceline_archive::options::Account;
use paceline_binlog::log::{ClosedLog, OpenRequest, RealDisk};
use paceline_cluster::{LogIndex, LogOrigin};
use paceline_cluster_host::LogHost;
use paceline_cluster_host::commands;
use paceline_cluster_host::etcd::{EtcdError, LeaseId, Store};
use paceline_cluster_host::register::MemberEntry;
use paceline_server::cluster::{CLUSTER_USER, Membership};
use paceline_server::http::Http;
use paceline_server::incomplete_directory::was_begun_by;
use paceline_server::options::StartOptions;
use paceline_server::startup::PreparedServer;
use paceline_server::variables::{Variable, VariableValue};
use paceline_types::LogPosition;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::time::timeout;

/// Time that a member has to make the directory with which it founds the cluster. Others that start wait so long.
const FOUNDING_SECONDS: u64 = 20;
/// Time that a probe's answer has when the server takes over its address.
const PROBES_END: Duration = Duration::from_secs(1);

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
    settings.check_bind_address(&options.bind_address())?;
    if is_new(&options.datadir) || was_begun_by(&options.datadir, join::COMMAND) {
        // A copy may take hours: a wrong address is found before it.
        drop(settings.listen()?);
        match fill(&runtime, &store, &settings, arguments)? {
            FillEnd::Ready => {}
            FillEnd::Stopped => return Ok(()),
        }
    }
    let prepared = PreparedServer::new(options)?;
    let directory = prepared.directory().to_owned();
    let identity = Identity::open(&directory, &settings.cluster)?;
    let id = identity.id();
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
    let driver = LocalDriver::new(&settings, identity, port)?;
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
            key: settings.key.clone(),
            id,
            handle: driver.handle(),
        };
        let begin = |host: Arc<dyn LogHost>, applied| driver.take_log(host, applied, LogOrigin::Unknown);
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
    let membership = Membership {
        name: settings.cluster,
        id,
        handle: driver.running(),
        secret: settings.secret.into(),
        key: settings.key,
        restart: Arc::new(start_again),
    };
    let outcome = prepared.run(Some(membership));
    driver.stop();
    outcome
}

/// The HTTP address of a member whose server does not run yet. It says "starting".
struct StartingProbes {
    runtime: Runtime,
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

/// Returns the primary of a cluster that exists, when it has one. `None`: this member is to found the cluster. Of
/// several that start at the same time one founds it, and the others copy that one.
async fn primary_to_copy(store: &Store, settings: &MemberSettings) -> Result<Option<MemberEntry>, String> {
    let (mut told, mut lease) = (false, None);
    loop {
        let problem = match store.read().await {
            Ok(None) => match claim_founding(store, &mut lease).await {
                Ok(true) => return Ok(None),
                Ok(false) => "another member founds it".to_owned(),
                Err(error) => {
                    lease = None;
                    error.to_string()
                }
            },
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

async fn claim_founding(store: &Store, lease: &mut Option<LeaseId>) -> Result<bool, EtcdError> {
    let lease = match lease {
        Some(lease) => lease,
        None => lease.insert(store.grant_lease(FOUNDING_SECONDS).await?),
    };
    store.claim_founding(lease).await
}

/// End of [`fill`].
enum FillEnd {
    /// The directory is a copy of a primary, or remains empty: the cluster is to be founded.
    Ready,
    /// The process was told to stop.
    Stopped,
}

/// Fills an empty directory with a copy of the primary. If that is lost meanwhile, the copy begins anew, with the
/// primary of that time.
fn fill(
    runtime: &Runtime,
    store: &Store,
    settings: &MemberSettings,
    arguments: &[String],
) -> Result<FillEnd, String> {
    // From here on signals no longer end the process by themselves, because the copy watches for them.
    let mut stop = {
        let _entered = runtime.enter();
        StopSignals::take().map_err(|error| error.to_string())?
    };
    let (mut told, mut copied) = (String::new(), None);
    loop {
        let found = runtime.block_on(async {
            tokio::select! {
                biased;
                () = stop.wait() => None,
                found = primary_to_copy(store, settings) => Some(found),
            }
        });
        let primary = match found {
            None => return Ok(FillEnd::Stopped),
            Some(found) => match found? {
                None => return Ok(FillEnd::Ready),
                Some(primary) => primary,
            },
        };
        if copied.replace(primary.id) != Some(primary.id) {
            tracing::info!("copying {} at {}:{}", primary.name, primary.host, primary.port);
        }
        match copy(&primary, settings, arguments) {
            Ok(()) => return Ok(FillEnd::Ready),
            Err(CopyFailure::OfPrimary(problem)) if told != problem => {
                tracing::warn!("the copy begins anew when the primary, or another one, is there: {problem}");
                told = problem;
            }
            Err(CopyFailure::OfPrimary(_)) => {}
            Err(CopyFailure::Final(problem)) => match runtime.block_on(stop.has_come()) {
                true => return Ok(FillEnd::Stopped),
                false => return Err(problem),
            },
        }
        let stopped = runtime.block_on(async { timeout(ETCD_PAUSE, stop.wait()).await });
        if stopped.is_ok() {
            return Ok(FillEnd::Stopped);
        }
    }
}

/// Reason why the primary was not copied.
enum CopyFailure {
    /// Another attempt may succeed.
    OfPrimary(String),
    Final(String),
}

/// Fills an empty directory with a copy of this primary.
fn copy(primary: &MemberEntry, settings: &MemberSettings, arguments: &[String]) -> Result<(), CopyFailure> {
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
    let mut arguments = join::parse(&all).map_err(|error| {
        CopyFailure::Final(match error {
            join::Refusal::Server(error) => error.to_string(),
            _ => "the options cannot be used for a copy of the primary".to_owned(),
        })
    })?;
    arguments.encrypt_for_members(settings.key.clone());
    match join::prepare(&arguments) {
        Ok(_) => Ok(()),
        Err(error) if error.is_of_primary() => Err(CopyFailure::OfPrimary(error.to_string())),
        Err(error) => Err(CopyFailure::Final(error.to_string())),
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
