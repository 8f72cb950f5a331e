//! GTID positions and states.
//!
//! Two things are told apart that look alike in text:
//!
//! - a **position** ([`GtidPosition`]) has one GTID per *domain*, the last of that domain: `gtid_slave_pos`,
//!   `gtid_binlog_pos`, what a replica asks for;
//! - a **state** ([`BinlogState`]) has one GTID per *domain and server*, and knows which server wrote last in each domain:
//!   `gtid_binlog_state`, and the Gtid_list event at the head of every file.

mod position;
mod state;

pub use position::GtidPosition;
pub use state::{BinlogState, StateDelta};

use paceline_types::DomainId;

/// The domain of changes that must not replicate (`SET sql_log_bin=0`). Its event groups are flagged
/// LOG_EVENT_SKIP_REPLICATION_F, are never sent, and are in no GTID position or state.
pub const LOCAL_DOMAIN: DomainId = DomainId(u32::MAX);
