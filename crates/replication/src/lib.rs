//! Replication: a replica receives the log of its primaries, applies it, and commits it to its own log.
//!
//! ```text
//!   primary ──▶ Source ▸ Assembler (`paceline_log_stream`) ──▶ replica::(receive ─▶ schedule ─▶ apply) ──▶ commit queue ──▶ Log
//!      ▲                                                             │
//!      └────────── semi-sync acknowledgements ◀──────────────────────┘  for the durable part of the replica's own log
//! ```
//!
//! There is no relay log. A replica commits received transactions to its own log, with their original GTIDs and in the
//! primary's order, and its position is derived from that log.
#![forbid(unsafe_code)]

pub mod replica;
