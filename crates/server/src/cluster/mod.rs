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
//! [`paceline_cluster`] decides which member is the primary; [`paceline_cluster_host`] has the connections, etcd
//! and the promise. Before a server is started, `paceline` lets the member take part with the log alone
//! (`paceline_archive::member`): a server is only started on a log that is acknowledged to its end. From then on
//! [`ServerHost`](crate::cluster_member::ServerHost) carries out what the member decides.
//!
//! - [`held_log`]: a group is acknowledged when the cluster has it. [`log_history`]: when it became durable.
//! - [`gate`]: access of clients. [`read_lease`]: whether reads are new. [`commit_watch`]: messages in the error log.
//! - [`hand_over`]: a primary that stops. [`statistics`]: values for status variables and metrics.
//!
//! # Rules
//! - Whom a member follows is not recorded in its log: it is decided anew at each start.
//! - A member requests what follows the *end of its log*, not what follows `gtid_slave_pos`, which is behind while
//!   groups wait for their acknowledgement.
//! - A tail that has to be cut is never cut in a running server: locks, the overlay, waiting sessions and streams
//!   would all have to be undone. The process starts itself again ([`Cluster::restart`]) and cuts the closed log.
//! - Nobody but the applier writes on a member that is not the primary, not even with READ_ONLY ADMIN: another member
//!   would not have that transaction.

pub mod commit_watch;
pub mod gate;
pub mod hand_over;
pub mod held_log;
pub mod log_history;
pub mod read_lease;
pub mod statistics;

pub use gate::{ClientGate, GateState};
pub use held_log::{ClusterAcknowledger, HeldLog, WaitingCommits};
pub use read_lease::{ReadLease, ReadPart, ReplicaTime};
pub use statistics::ClusterStatistics;

use paceline_cluster::MemberId;
use paceline_cluster_host::messages::PeerLogin;
use paceline_cluster_host::{ClusterHandle, Readers};
use paceline_wire::tls::ClusterKey;
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
    /// Key of the cluster, by which members know each other.
    pub key: ClusterKey,
    /// Starts the process again.
    pub restart: Restart,
}

impl Membership {
    /// Returns how this member logs in to the others' ports for messages.
    pub fn login(&self) -> PeerLogin {
        PeerLogin {
            secret: self.secret.to_string(),
            key: self.key.clone(),
        }
    }
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
    /// The part of the log that is not acknowledged.
    pub held: Arc<HeldLog>,
    /// Whether reads here are new.
    pub reads: ReadLease,
    epochs_promised: AtomicU64,
}

impl Cluster {
    /// Creates the state of a member that has just started: closed to clients.
    pub fn new(membership: Membership, held: Arc<HeldLog>) -> Arc<Self> {
        Arc::new(Cluster {
            membership,
            gate: ClientGate::default(),
            readers: Readers::default(),
            held,
            reads: ReadLease::default(),
            epochs_promised: AtomicU64::new(0),
        })
    }

    /// Starts the process again, because of `reason`.
    pub fn restart(&self, reason: &str) {
        (self.membership.restart)(reason);
    }

    /// Changes the access of clients.
    pub fn set_gate(&self, state: GateState) {
        self.reads.set_part(match state {
            GateState::Closed => ReadPart::Replica,
            GateState::Held | GateState::Open => ReadPart::Primary,
        });
        self.gate.set(state);
    }

    /// Counts a later epoch that is being promised.
    pub fn count_epoch(&self) {
        self.epochs_promised.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns how many later epochs were promised since the start of the process.
    pub fn epochs_promised(&self) -> u64 {
        self.epochs_promised.load(Ordering::Relaxed)
    }

    /// Returns the name of a member, or its number in words.
    pub fn name_of(&self, member: MemberId) -> String {
        let entry = self.membership.handle.entry(member);
        entry.map_or_else(|| member.to_string(), |entry| entry.name)
    }
}
