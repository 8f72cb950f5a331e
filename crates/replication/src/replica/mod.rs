//! The replica's side of replication: a primary's stream becomes part of this server's log.
//!
//! ```text
//!   ConnectionSet ──▶ Connection ──┬── Receiver: Source ▸ Assembler ▸ filters ──▶ ReceivedItem
//!      ▲             │        └── Applier ◀───────────────────────────────────┘
//!      │             └── Definition, places: in the log (`paceline_binlog::replica_state`)
//!   CHANGE MASTER, START SLAVE …
//! ```
//!
//! - [`connection_set`]: all connections, and the statements on them.
//! - [`connection`]: one connection; [`until`], [`status`]: its end and state; [`environment`]: the interface to the
//!   server. Its settings are a [`Definition`](paceline_log_stream::source::definition::Definition).
//! - [`receiver`]: from a [`Source`](paceline_log_stream::source::Source) to the groups to apply.
//! - [`group_filter`], [`duplicates`]: selection of these groups.
//! - [`received`]: items that the receiver passes to the applier.

pub mod apply;
pub mod connection;
pub mod connection_set;
mod duplicates;
pub mod environment;
mod group_filter;
pub mod received;
mod receiver;
mod shared;
pub mod status;
pub mod until;
