//! Messages between members over TCP.
//!
//! ```text
//!   dialer                                    acceptor
//!   TLS ────────────────────────────────────▶ shows the cluster's key: the dialer goes on only with a member
//!   login as `paceline.cluster` ────────────▶ checks the cluster's secret
//!   COM_QUERY START CLUSTER MESSAGES FORMAT n ▶ OK, if it knows format n
//!   hello: cluster, to, from ───────────────▶ checks cluster and `to`
//!   message, message, sign of life … ───────▶ ClusterHandle::message            until one side closes
//! ```
//! Each member dials every member that it has something to say to, at the address in etcd's directory, and accepts
//! connections of all. A connection carries messages in one direction only, so neither side waits for the other.
//!
//! The statement `SHOW CLUSTER MEMBER` instead is answered with the member's [report](crate::report), and the
//! connection ends ([`inquire`]). It has no version: members of all versions can be asked.
//!
//! # Versions
//! A connection is made only if both sides speak the same format of messages; otherwise the acceptor names both formats
//! and says which member has to be upgraded. The dialer writes that into its log. Nothing is understood by halves.
//!
//! # Encryption
//! All of this is inside of TLS 1.3. The acceptor has the key that is derived from the cluster's secret
//! ([`paceline_wire::tls::cluster_key`]), and TLS's handshake proves it before the dialer sends anything. So a relay
//! without the secret learns nothing and can relay nothing.
//!
//! # What a closed connection means
//! When a process ends, its machine closes its connections at once. The acceptor then tells the member
//! ([`ClusterHandle::disconnected`](crate::ClusterHandle::disconnected)), unless a newer connection of the same member
//! is there already. A dialer that loses a connection dials again, with longer and longer pauses. A member that
//! connects is there: it is dialed soon, and does not wait for the end of a pause that began while it was away.
//!
//! # Silence
//! A network that swallows packets closes nothing. The dialer sends a sign of life every [`IDLE_INTERVAL`]. If the
//! other machine acknowledges nothing for [`UNACKNOWLEDGED_MAX`], the kernel gives the connection up
//! (`TCP_USER_TIMEOUT`), and a new one is dialed: otherwise TCP would wait longer and longer between its repetitions,
//! and be silent for minutes after the network has come back. The acceptor closes a connection without a sign of life
//! for [`SILENCE_MAX`].
//!
//! # Limits
//! Of each kind of message to a member only the newest waits, and for a fifth of a second: a later one makes it
//! superfluous, and messages may be lost. One that had waited for a dead member would be taken for new.
//! [`CONNECTIONS_MAX`] connections are accepted at a time; a login has [`LOGIN_MAX`], and an address [`LOGINS_MAX`] of
//! them. The listener is for members only: it knows one user and two statements, and no tables.
//!
//! # Alternatives considered
//! *The port for clients.* One address less to configure; but a server that opens its tables for minutes, or whose
//! connections are used up, must still answer pulses.
//! *UDP*, as messages may be lost: a closed connection is the earliest sign that a process is gone, and login and
//! encryption are there for TCP.

mod incoming;
mod inquiry;
mod outgoing;
mod reported_reasons;

pub use incoming::{IncomingError, MessageListener, PeerConnections, serve_messages};
pub use inquiry::inquire;
pub use outgoing::{MessageLinks, PeerLogin};

use std::time::Duration;

/// Name of the user that members log in as. SQL cannot create it: accounts of this name are reserved.
pub const USER: &str = "paceline.cluster";
/// Statement that begins the messages. The number of their format follows.
pub const START_STATEMENT: &str = "START CLUSTER MESSAGES FORMAT ";
/// Statement that asks for the member's state.
pub const REPORT_STATEMENT: &str = "SHOW CLUSTER MEMBER";
/// Time between two signs of life on a connection without messages.
pub const IDLE_INTERVAL: Duration = Duration::from_secs(1);
/// Time without a packet after which an acceptor closes the connection.
pub const SILENCE_MAX: Duration = Duration::from_secs(4);
/// Time without an acknowledgement of the other machine after which a dialer gives the connection up.
pub const UNACKNOWLEDGED_MAX: Duration = Duration::from_secs(3);
/// Time limit for the login, on both sides.
pub const LOGIN_MAX: Duration = Duration::from_secs(2);
/// Maximum number of connections from one address that have not logged in.
pub const LOGINS_MAX: usize = 32;
/// Maximum number of accepted connections.
pub const CONNECTIONS_MAX: usize = 256;

/// Identity of this member, for the hello.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocalMember {
    /// Name of the cluster.
    pub cluster: String,
    /// The member.
    pub id: paceline_cluster::MemberId,
}
