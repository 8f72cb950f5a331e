//! This server as a member of a cluster (`--cluster`).
//!
//! ```text
//!                       driver (cluster_host)
//!            follow, write_start, freeze │ publish          │ open, hold, close
//!                       ▼                ▼                  ▼
//!   ConnectionSet ──▶ ServerHost     HeldLog ──▶ pipeline   ClientGate ◀── commits of clients
//!   (no recorded                        ▲
//!    connection)                 durable extents
//! ```
//! Which member is the primary is decided in [`paceline_cluster`]; [`paceline_cluster_host`] has the connections, etcd
//! and the promise. Before a server is started, `paceline` lets the member take part with the log alone
//! (`paceline_archive::member`): a server is only started on a log that is acknowledged to its end. From then on
//! [`ServerHost`](crate::cluster_member::ServerHost) carries out what the member decides.
//!
//! - [`held_log`]: a group is acknowledged when the cluster has it. [`gate`]: what clients are told.
//!
//! # Rules
//! - Whom a member follows is not recorded in its log: it is decided anew at each start.
//! - A member requests what follows the *end of its log*, not what follows `gtid_slave_pos`, which is behind while
//!   groups wait for their acknowledgement.
//! - A tail that has to be cut is never cut in a running server: locks, the overlay, waiting sessions and streams
//!   would all have to be undone. The process starts itself again ([`Cluster::restart`]) and cuts the closed log.
//! - Nobody but the applier writes on a member that is not the primary, not even with READ_ONLY ADMIN: another member
//!   would not have that transaction.

pub mod gate;
pub mod held_log;

pub use gate::{ClientGate, GateState};
pub use held_log::{ClusterAcknowledger, HeldLog};

use paceline_cluster::{MemberId, Millis};
use paceline_cluster_host::{ClusterHandle, Readers, clock};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// User name with which members log in to each other. On a member, nobody can log in to an account of that name.
pub const CLUSTER_USER: &str = "paceline.cluster";

/// Name of the connection to the primary: the default one, so that SHOW SLAVE STATUS shows it.
pub const CONNECTION: &str = "";

/// Ends this process and starts it again with the same arguments. The reason is logged.
pub type Restart = Arc<dyn Fn(&str) + Send + Sync>;

/// A server's cluster, and its place in it.
#[derive(Clone)]
pub struct Membership {
    /// Name of the cluster.
    pub name: String,
    /// This member.
    pub id: MemberId,
    /// The running member.
    pub handle: ClusterHandle,
    /// Secret of the cluster: the password of [`CLUSTER_USER`].
    pub secret: Arc<str>,
    /// Starts the process again.
    pub restart: Restart,
}

impl fmt::Debug for Membership {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Membership")
            .field("name", &self.name)
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// State of a member that the whole server shares.
#[derive(Debug)]
pub struct Cluster {
    /// Names, addresses and the running member.
    pub membership: Membership,
    /// Access of clients.
    pub gate: ClientGate,
    /// Members that may read the log.
    pub readers: Readers,
    /// Time, by [`clock::now`], until which reads here are new.
    reads_until: AtomicU64,
}

impl Cluster {
    /// Creates the state of a member that has just started: closed to clients.
    pub fn new(membership: Membership) -> Arc<Self> {
        Arc::new(Cluster {
            membership,
            gate: ClientGate::default(),
            readers: Readers::default(),
            reads_until: AtomicU64::new(0),
        })
    }

    /// Starts the process again, because of `reason`.
    pub fn restart(&self, reason: &str) {
        (self.membership.restart)(reason);
    }

    /// Sets the time until which no other member can become the primary.
    pub fn set_reads_until(&self, until: Millis) {
        self.reads_until.store(until.0, Ordering::Release);
    }

    /// Returns whether no other member can have become the primary: what is read here now is new.
    pub fn reads_are_new(&self) -> bool {
        clock::now().0 < self.reads_until.load(Ordering::Acquire)
    }
}
