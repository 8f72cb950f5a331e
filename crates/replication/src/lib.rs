//! Replication: a log is served to replicas, and a log that is received is applied.
//!
//! ```text
//!   primary                                              replica
//!   Log ──▶ primary::(reader a file, stream a replica) ──▶ replica::(receive ─▶ schedule ─▶ apply) ──▶ commit queue ──▶ Log
//!     ▲                                                        │
//!     └────────── semi-sync acknowledgements ◀─────────────────┘  what is durable in the replica's own log
//! ```
//!
//! There is no relay log: a replica commits what it receives, under the original GTID, to its own log, in the primary's order, and that log
//! is where it stands. Nothing here knows the listener: a session hands its connection over.
#![forbid(unsafe_code)]

pub mod primary;
pub mod replica;
