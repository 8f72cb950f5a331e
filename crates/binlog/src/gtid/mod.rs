//! GTID positions and GTID states.
//!
//! They look alike as text, but are different:
//!
//! - A **position** ([`GtidPosition`]) has one GTID per *domain*, the last one of that domain: `gtid_slave_pos`,
//!   `gtid_binlog_pos`, the position that a replica requests.
//! - A **state** ([`GtidState`]) has one GTID per *domain and server*, and knows which server wrote last in each
//!   domain: `gtid_binlog_state`, and the Gtid_list event in the head of every file.

mod position;
mod state;

pub use position::GtidPosition;
pub use state::{GtidState, StateDelta};

use paceline_types::DomainId;

/// Domain of changes that must not be replicated (`SET sql_log_bin=0`). Its event groups have the flag
/// LOG_EVENT_SKIP_REPLICATION_F, are never sent to replicas, and are in no GTID position or state.
pub const LOCAL_DOMAIN: DomainId = DomainId(u32::MAX);
