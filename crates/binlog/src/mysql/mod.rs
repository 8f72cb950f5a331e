//! What stands in MySQL's binary logs and not in MariaDB's.
//!
//! ```text
//!   Anonymous_gtid or Gtid | Query "BEGIN" | Table_map | Write_rows | Xid
//!   Gtid | Transaction_payload ── zstd ──▶ Query "BEGIN" | Table_map | Write_rows | Xid
//! ```
//! [`PayloadEvents`] reads the latter; the events in it have no checksums. What they mean to a replica is known to
//! `paceline_replication`, which makes MariaDB's events of them.

mod payload;

pub use payload::PayloadEvents;
