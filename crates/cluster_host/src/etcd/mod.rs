//! etcd v3, through the JSON gateway that it serves on its client port.
//!
//! ```text
//!   agent      one task: reads, claims, marks, keeps the lease, runs switches    ▶ ClusterHandle, directory
//!   store      the cluster's keys: one read, changes by compare-and-swap         ▶ Register
//!   gateway    POST /v3/kv/txn and the like: URLs in turn, TLS, token, limits    ▶ JSON
//! ```
//! # Reads
//! All keys of a cluster are read in one range request, which etcd answers at one revision, after a quorum of its own
//! has confirmed it. The agent reads at least every [`agent::READ_INTERVAL`], and at once when a watch on the keys
//! says that something has changed. The watch is only a hint: what it says is not even looked at, so a watch that is
//! cut costs time and nothing else.
//!
//! # Changes
//! A change of the list of epochs is a transaction that compares the list's revision with the one that was read. If
//! the answer is lost, the change may have been made or not; a repetition fails if it was, and the next read shows it.
//! So it can be repeated at another URL without thought.
//!
//! # Limits
//! Each request has a time limit ([`EtcdSettings::timeout`]) and each answer [`gateway::ANSWER_BYTES_MAX`]. If no read
//! succeeds for [`agent::AWAY_AFTER`], the member is told that etcd is away.
//!
//! # Alternatives considered
//! *gRPC* (crate `etcd-client`). It compiles etcd's protocol files when it is built and needs `protoc` for that, which
//! no build of ours needs otherwise, and some thirty crates more. The gateway is on unless etcd was started with
//! `--enable-grpc-gateway=false`. What it cannot do is to log in by the client's certificate alone
//! (`--client-cert-auth` works, a user derived from the certificate's name does not); such an etcd needs a user and a
//! password.

pub mod agent;
pub mod gateway;
pub mod store;

pub use agent::EtcdAgent;
pub use gateway::{EtcdError, EtcdSettings};
pub use store::{LeaseId, Snapshot, Store};
