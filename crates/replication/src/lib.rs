//! Replication: serving a log to replicas, and applying a received log.
//!
//! ```text
//!   primary                                                  replica
//!   Log ──▶ primary::(reader per file, stream per replica) ──▶ replica::(receive ─▶ schedule ─▶ apply) ──▶ commit queue ──▶ Log
//!     ▲                                                            │
//!     └────────── semi-sync acknowledgements ◀─────────────────────┘  for the durable part of the replica's own log
//! ```
//!
//! There is no relay log. A replica commits received transactions to its own log, with their original GTIDs and in the
//! primary's order, and its position is derived from that log. This crate does not know the listener: a session hands
//! its connection over.
#![forbid(unsafe_code)]

pub mod primary;
pub mod replica;
