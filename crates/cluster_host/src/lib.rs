//! A member of a cluster on a real machine: clock, disk, sockets and etcd around [`paceline_cluster::Member`].
//!
//! ```text
//!                 ┌──────────────── Driver (one task) ───────────────┐
//!   messages ────▶│                                                  │────▶ messages   one connection a peer
//!   etcd ────────▶│ inbox ──Input──▶ Member ──Action──▶ in order     │────▶ etcd       claim, mark as opened
//!   LogProgress ─▶│                                                  │────▶ LogHost    follow, fetch, publish, open
//!   clock ───────▶│                        WritePromise: freeze, write, PromiseWritten
//!                 └──────────────────────────────────────────────────┘
//! ```
//!
//! - [`driver`]: owns the member, tells it what happens, and does what it says. [`handle`]: what the rest of the
//!   process holds of it. [`host`]: what the driver needs of the log.
//! - [`promise_file`], [`member_file`]: what a member has on its disk beside the log.
//! - [`message_codec`]: messages as bytes. [`register`]: what etcd keeps, and its form there.
//! - [`etcd`]: epochs, settings and members' addresses in etcd.
//! - [`messages`]: connections between members. [`address_book`]: the members' addresses while etcd is away.
//! - [`join_file`]: the request of a new member to become a log holder.
//! - [`report`]: the state of a member, as it tells it; [`picture`]: the cluster, as its members tell it.
//! - [`thread`]: a thread with all of this. [`commands`]: what an operator does, through etcd.
//! - [`clock`]: the time that members compare with nothing but itself.
#![forbid(unsafe_code)]

pub mod address_book;
pub mod clock;
pub mod commands;
pub mod driver;
mod durable_tail;
pub mod etcd;
pub mod handle;
pub mod host;
mod inbox;
mod join;
pub mod join_file;
pub mod member_file;
pub mod message_codec;
pub mod messages;
mod peer_view;
pub mod picture;
pub mod promise_file;
pub mod readers;
pub mod register;
pub mod report;
mod role_fence;
pub mod thread;
mod wait_report;

pub use driver::{Driver, DriverError, MessageSender, RegisterRequest, StoredMember};
pub use durable_tail::durable_tail;
pub use handle::{ClusterHandle, SwitchFailure};
pub use host::{FreezeFuture, HostError, LogHost, LogProgress};
pub use join_file::JoinRequest;
pub use member_file::{MemberFile, MemberFileError};
pub use peer_view::PeerView;
pub use promise_file::{PromiseFile, PromiseFileError};
pub use readers::{Reader, Readers};
pub use register::{KindText, MemberEntry};
pub use role_fence::{RoleFence, RoleNumber};
pub use thread::{ClusterSettings, ClusterThread, StartError, check_secret};
