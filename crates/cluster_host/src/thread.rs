//! A thread of its own for the member: driver, listener, dialers and etcd in one small runtime.
//!
//! A server that opens its tables for minutes, or whose threads are all busy, still answers pulses. So nothing in this
//! thread waits for the server: the calls of [`LogHost`] return at once, and the work that they begin runs elsewhere.
//! [`LogHost::freeze`] is polled here, but must wait without blocking the thread.

use crate::address_book;
use crate::driver::{Driver, DriverError, StoredMember};
use crate::etcd::{EtcdAgent, EtcdError, EtcdSettings, Store};
use crate::handle::ClusterHandle;
use crate::host::LogHost;
use crate::join::join;
use crate::join_file::JoinRequest;
use crate::messages::{LocalMember, MessageLinks, MessageListener, PeerLogin};
use crate::register::MemberEntry;
use crate::wait_report;
use paceline_cluster::Timing;
use paceline_wire::WireError;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Notify, mpsc, watch};

/// Least number of characters of a cluster's secret.
pub const SECRET_CHARS_MIN: usize = 12;
/// Longest wait for what still runs when the thread ends.
const SHUTDOWN_MAX: Duration = Duration::from_millis(500);
/// Requests to etcd that wait. The member repeats those that are lost.
const REQUESTS_MAX: usize = 16;

/// Settings of a member.
pub struct ClusterSettings {
    /// Name of the cluster.
    pub cluster: String,
    /// The member, as it enters itself into the directory. Its number is that of its directory's file.
    pub entry: MemberEntry,
    /// How etcd is reached.
    pub etcd: EtcdSettings,
    /// Durations.
    pub timing: Timing,
    /// How it logs in to other members.
    pub login: PeerLogin,
    /// Socket for messages of other members.
    pub listener: std::net::TcpListener,
    /// Data directory, for the copy of the members' addresses. `None`: there is no copy.
    pub directory: Option<PathBuf>,
    /// Request of a new member to become a log holder.
    pub join: Option<JoinRequest>,
}

/// Reason why a member cannot start.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum StartError {
    #[error(transparent)]
    Etcd(#[from] EtcdError),
    #[error("the thread of the cluster: {0}")]
    Io(#[from] io::Error),
    #[error(transparent)]
    Tls(#[from] WireError),
    #[error("the cluster's secret must have at least {SECRET_CHARS_MIN} characters")]
    Secret,
}

/// Called when the log or the promise's file has failed. It must end the process.
pub type OnFailure = Box<dyn FnOnce(DriverError) + Send>;

/// Thread of a running member. It ends with [`stop`](Self::stop), or when this is dropped.
pub struct ClusterThread {
    handle: ClusterHandle,
    stop: Arc<Notify>,
    thread: Option<std::thread::JoinHandle<()>>,
}

/// Checks that a secret is long enough.
///
/// # Errors
/// [`StartError::Secret`].
pub fn check_secret(secret: &str) -> Result<(), StartError> {
    match secret.chars().count() < SECRET_CHARS_MIN {
        true => Err(StartError::Secret),
        false => Ok(()),
    }
}

impl ClusterThread {
    /// Starts a member. The cluster must have been founded ([`Store::found`]), or be there when etcd answers.
    ///
    /// # Errors
    /// The settings cannot work, or a thread cannot be made.
    pub fn start(
        settings: ClusterSettings,
        stored: StoredMember,
        host: Arc<dyn LogHost>,
        on_failure: OnFailure,
    ) -> Result<ClusterThread, StartError> {
        check_secret(&settings.login.secret)?;
        assert_eq!(
            settings.entry.member(),
            stored.id,
            "the entry is this directory's"
        );
        let store = Arc::new(Store::new(&settings.etcd, &settings.cluster)?);
        let runtime = Builder::new_current_thread().enable_all().build()?;
        settings.listener.set_nonblocking(true)?;
        let listener = {
            let _entered = runtime.enter();
            TcpListener::from_std(settings.listener)?
        };
        let local = LocalMember {
            cluster: settings.cluster,
            id: stored.id,
        };
        let (requests, queue) = mpsc::channel(REQUESTS_MAX);
        let known = settings.directory.as_deref().map(address_book::read);
        let directory = watch::Sender::new(Arc::new(known.unwrap_or_default()));
        let links = MessageLinks::new(local.clone(), settings.login.clone(), directory.subscribe());
        let links = Arc::new(links);
        let (handle, driver) = Driver::new(
            stored,
            settings.timing,
            host,
            Arc::<MessageLinks>::clone(&links),
            directory,
            requests,
        );
        let listener = MessageListener::new(listener, handle.clone(), local, &settings.login, links)?;
        let join = settings
            .join
            .map(|request| join(request, Arc::clone(&store), settings.entry.clone()));
        let agent = EtcdAgent::new(store, settings.entry, handle.clone(), queue);
        let stop = Arc::new(Notify::new());
        let (stopped, keeper, reported) = (Arc::clone(&stop), handle.clone(), handle.clone());
        let run = move |runtime: Runtime| {
            let running = async {
                if let Some(directory) = settings.directory {
                    tokio::spawn(address_book::keep(directory, keeper));
                }
                tokio::spawn(wait_report::report(reported));
                if let Some(join) = join {
                    tokio::spawn(join);
                }
                // Tasks of their own, so that one that is busy does not make the others wait for its turn's end.
                let agent = tokio::spawn(agent.run());
                let listener = tokio::spawn(listener.run());
                let failure = tokio::select! {
                    failure = driver.run() => Some(failure),
                    () = stopped.notified() => None,
                };
                agent.abort();
                listener.abort();
                failure
            };
            // The panic has been reported by its hook. Nothing of the driver is used afterwards.
            let ended = catch_unwind(AssertUnwindSafe(|| runtime.block_on(running)));
            // A look-up of a name may last; its answer is not needed.
            runtime.shutdown_timeout(SHUTDOWN_MAX);
            let failure = ended.unwrap_or(Some(DriverError::Panic));
            if let Some(failure) = failure {
                tracing::error!("the member stops: {failure}");
                on_failure(failure);
            }
        };
        let thread = std::thread::Builder::new()
            .name("cluster".to_owned())
            .spawn(move || run(runtime))?;
        Ok(ClusterThread {
            handle,
            stop,
            thread: Some(thread),
        })
    }

    /// Returns the member's handle.
    pub fn handle(&self) -> ClusterHandle {
        self.handle.clone()
    }

    /// Ends the thread. All connections close, so the others learn of it at once.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.stop.notify_one();
        let thread = self.thread.take();
        // The thread itself may drop this, in `on_failure`.
        if let Some(thread) = thread.filter(|thread| thread.thread().id() != std::thread::current().id()) {
            // The thread's own panic has been reported.
            let _ = thread.join();
        }
    }
}

impl Drop for ClusterThread {
    fn drop(&mut self) {
        self.end();
    }
}
