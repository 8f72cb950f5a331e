//! Identity of a member in its data directory, and the member's driver, which outlives the logs that it is given.

use super::settings::MemberSettings;
use paceline_archive::acknowledged::MemberHandle;
use paceline_cluster::{LogIndex, LogOrigin, MemberId, StoredPromise, Timing};
use paceline_cluster_host::messages::PeerLogin;
use paceline_cluster_host::thread::{ClusterSettings, ClusterThread};
use paceline_cluster_host::{ClusterHandle, JoinRequest, LogHost, MemberFile, PromiseFile, StoredMember};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Pause before etcd is asked again.
pub(super) const ETCD_PAUSE: Duration = Duration::from_millis(500);

/// Identity of a locked directory.
pub(super) struct Identity {
    directory: PathBuf,
    promise_file: PromiseFile,
    promise: StoredPromise,
    id: MemberId,
    join: Option<JoinRequest>,
}

impl Identity {
    /// Reads the identity of a directory, or makes one.
    ///
    /// # Errors
    /// A message for users: the directory belongs to another cluster, or a file cannot be read.
    pub(super) fn open(directory: &Path, cluster: &str) -> Result<Self, String> {
        let (promise_file, promise) = PromiseFile::open(directory).map_err(|error| error.to_string())?;
        let member_file = MemberFile::open(directory, cluster).map_err(|error| error.to_string())?;
        Ok(Identity {
            directory: directory.to_owned(),
            promise_file,
            promise,
            id: member_file.id(),
            join: JoinRequest::unmade(directory)
                .map_err(|error| format!("{}: {error}", directory.display()))?,
        })
    }

    /// Returns the member's number.
    pub(super) fn id(&self) -> MemberId {
        self.id
    }
}

/// A member whose driver is started with the first log.
pub(super) struct LocalDriver {
    /// Settings and stored state, until it is started.
    unstarted: parking_lot::Mutex<Option<(ClusterSettings, StoredMember)>>,
    thread: OnceLock<ClusterThread>,
    handle: MemberHandle,
}

impl LocalDriver {
    /// Listens for messages.
    ///
    /// # Errors
    /// A message for users: the address cannot be listened on.
    pub(super) fn new(settings: &MemberSettings, identity: Identity, port: u16) -> Result<Self, String> {
        let entry = settings.entry(identity.id.0, port);
        let listener = settings.listen()?;
        let cluster = ClusterSettings {
            cluster: settings.cluster.clone(),
            entry,
            etcd: settings.etcd.clone(),
            timing: Timing::default(),
            login: PeerLogin {
                secret: settings.secret.clone(),
                key: settings.key.clone(),
            },
            listener,
            directory: Some(identity.directory),
            join: identity.join,
        };
        let stored = StoredMember {
            id: identity.id,
            promise_file: identity.promise_file,
            promise: identity.promise,
            applied: LogIndex(0),
            origin: LogOrigin::Unknown,
        };
        Ok(LocalDriver {
            unstarted: parking_lot::Mutex::new(Some((cluster, stored))),
            thread: OnceLock::new(),
            handle: MemberHandle::default(),
        })
    }

    /// Returns where the running member will be.
    pub(super) fn handle(&self) -> MemberHandle {
        self.handle.clone()
    }

    /// Starts the member with its first log, or gives it another one. `applied` is the index up to which tables have
    /// the log.
    ///
    /// # Errors
    /// A message for users: the settings cannot work.
    pub(super) fn take_log(
        &self,
        host: Arc<dyn LogHost>,
        applied: LogIndex,
        origin: LogOrigin,
    ) -> Result<(), String> {
        if let Some(handle) = self.handle.get() {
            handle.set_host(host);
            return Ok(());
        }
        let unstarted = self.unstarted.lock().take();
        let (settings, stored) = unstarted.expect("the member is started once");
        let stored = StoredMember {
            applied,
            origin,
            ..stored
        };
        let on_failure = Box::new(|error| {
            tracing::error!("cluster: {error}; the process ends");
            std::process::abort();
        });
        let started =
            ClusterThread::start(settings, stored, host, on_failure).map_err(|error| error.to_string())?;
        let _ = self.handle.set(started.handle());
        let _ = self.thread.set(started);
        Ok(())
    }

    /// Returns the running member.
    ///
    /// # Panics
    /// It has not been given a log.
    pub(super) fn running(&self) -> ClusterHandle {
        self.handle.get().expect("the member runs").clone()
    }

    /// Ends the driver, if it has been started.
    pub(super) fn stop(self) {
        if let Some(thread) = self.thread.into_inner() {
            thread.stop();
        }
    }
}
