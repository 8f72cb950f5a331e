//! Parts of MySQL's binary logs that MariaDB's do not have.
//!
//! ```text
//!   Anonymous_gtid or Gtid | Query "BEGIN" | Table_map | Write_rows | Xid
//!   Gtid | Transaction_payload ── zstd ──▶ Query "BEGIN" | Table_map | Write_rows | Xid
//! ```
//! [`MySqlGtid`] and [`MySqlGtidSet`] are MySQL's GTIDs. [`PayloadEvents`] reads compressed transactions; the events
//! in them have no checksums. [`PartialUpdateRowsEvent`] contains changes of JSON documents. `paceline_replication`
//! converts all of them to MariaDB's events.

mod gtid;
mod gtid_set;
mod partial_update;
mod payload;

pub use gtid::{GtidSource, MySqlGtid, ServerUuid};
pub use gtid_set::MySqlGtidSet;
pub use partial_update::PartialUpdateRowsEvent;
pub use payload::PayloadEvents;
