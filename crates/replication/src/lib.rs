//! Replication: a replica receives the log of its primaries, applies it, and commits it to its own log.
//!
//! ```text
//!   primary ──▶ Source ▸ Assembler (`paceline_log_stream`) ──▶ receive ─▶ schedule ─▶ apply ──▶ commit queue ──▶ Log
//!      ▲                                                             │
//!      └────────── semi-sync acknowledgements ◀──────────────────────┘  for the durable part of the replica's own log
//! ```
//!
//! There is no relay log. A replica commits received transactions to its own log, with their original GTIDs and in the
//! primary's order, and its position is derived from that log.
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
//! - [`obstacle`]: the cause of a replica's delay.
//! - [`received`]: items that the receiver passes to the applier.
#![forbid(unsafe_code)]

pub mod apply;
pub mod connection;
pub mod connection_set;
mod duplicates;
pub mod environment;
mod group_filter;
mod obstacle;
pub mod received;
mod receiver;
mod shared;
mod skip_counter;
pub mod status;
pub mod until;
