//! Event groups: a transaction in the log.
//!
//! ```text
//! Gtid | Annotate_rows, Table_map…, rows… (per statement) | Xid         a transaction
//! Gtid (FL_STANDALONE) | Query                                          DDL
//! ```
//!
//! Three forms for three hands. [`EventGroupBuffer`] is what a session's thread fills before its transaction has a place:
//! all events but the Gtid, with end position 0 and the checksums for that. [`CommitGroup`] is what the leader of a commit
//! group makes of several of them: it writes the Gtid events, and patches each event's end position and checksum without
//! reading the event ([`crate::checksum`]). [`EventGroup`] is what a reader gets: one transaction, whole, with its place.

mod buffer;
mod commit_group;
mod event_group;

pub use buffer::{BufferMark, EventGroupBuffer, GroupOptions, LoggedTable, StatementOptions};
pub use commit_group::{CommitGroup, GroupSize, PlacedGroup};
pub use event_group::{EventGroup, LARGE_GROUP_BYTES};
