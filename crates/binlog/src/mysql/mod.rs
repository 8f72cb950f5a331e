//! What stands in MySQL's binary logs and not in MariaDB's.
//!
//! ```text
//!   Anonymous_gtid or Gtid | Query "BEGIN" | Table_map | Write_rows | Xid
//!   Gtid | Transaction_payload ── zstd ──▶ Query "BEGIN" | Table_map | Write_rows | Xid
//! ```
//! [`MySqlGtid`] and [`MySqlGtidSet`] are MySQL's GTIDs. [`PayloadEvents`] reads compressed transactions; the events in it have no checksums.
//! [`PartialUpdateRowsEvent`] has changes of JSON documents. What they mean to a replica is known to
//! `paceline_replication`, which makes MariaDB's events of them.

mod gtid;
mod gtid_set;
mod partial_update;
mod payload;

pub use gtid::{GtidSource, MySqlGtid, ServerUuid};
pub use gtid_set::MySqlGtidSet;
pub use partial_update::PartialUpdateRowsEvent;
pub use payload::PayloadEvents;
