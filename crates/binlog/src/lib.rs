//! The binary log: Paceline's only log, in MariaDB's format.
//!
//! A session encodes the changes of its transaction into an *event group*, with every position 0. The leader of a
//! commit group assigns a GTID and a position to each event group, which patches positions and checksums without
//! reading the events again, and appends the whole commit group with one write:
//!
//! ```text
//!  session                    commit leader                    Log
//!  EventGroupBuffer ──queue──▶ CommitGroup::add(gtid) ──▶ append ──▶ sync
//!    annotate, table map,       GTID event; end position      one pwritev    one fdatasync
//!    rows, Xid; CRCs at 0       and CRC of each event
//!                                                              │
//!                     recovery, SHOW BINLOG EVENTS, replicas ◀─┴─ LogReader (up to a limit)
//! ```
//!
//! - [`event`]: every kind of event that MariaDB 10.11 writes, encoded and decoded byte for byte.
//! - [`group`]: event groups: the buffers that sessions fill, and the groups that a reader returns.
//! - [`gtid`]: GTID positions and GTID states.
//! - [`epoch`]: the starts of a cluster's epochs.
//! - [`checksum`]: CRC-32 and its linearity.
//! - [`replica_state`]: how far a replica has replicated its primaries, derived from its log.
//! - [`mysql`]: the events and GTIDs that only MySQL writes.
//! - [`log`]: the files: append, sync, rotation, purging, recovery of the tail, reading, finding a GTID.
//! - [`FileStatistics`]: what was done with the files, and how long it took.
//!
//! This crate knows nothing of transactions, engines or sockets.
#![forbid(unsafe_code)]

pub mod checksum;
mod codec;
mod disk;
pub mod epoch;
mod error;
pub mod event;
pub mod group;
pub mod gtid;
pub mod log;
mod measured_disk;
pub mod mysql;
pub mod replica_state;
mod sync_mode;

pub use epoch::{EpochHistory, EpochMark, EpochStart};
pub use error::{Error, Result};
pub use group::{CommitGroup, EventGroup, EventGroupBuffer, LoggedTable};
pub use gtid::{GtidPosition, GtidState, LOCAL_DOMAIN};
pub use log::{Disk, Log, LogConfig, LogReader, RealDisk, Recovery};
pub use measured_disk::{FileClass, FileStatistics, FileSums, MeasuredDisk, MeasuredFileSums, OperationSums};
pub use replica_state::{
    ExecutedSetChange, LogOrigin, PositionChange, RecordScope, ReplicaRecord, ReplicaState, SourcePosition,
};
