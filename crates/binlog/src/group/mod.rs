//! Event groups: transactions in the log.
//!
//! ```text
//! Gtid | Annotate_rows, Table_map…, rows… (per statement) | Xid         a transaction
//! Gtid (FL_STANDALONE) | Query                                          DDL
//! ```
//!
//! There are three forms. [`EventGroupBuffer`] is what a session fills before its transaction has a position: all
//! events except the Gtid event, with end position 0 and the checksums for that. [`CommitGroup`] is what the leader
//! of a commit group assembles from several buffers: it writes the Gtid events, and patches each event's end position
//! and checksum without reading the event ([`crate::checksum`]). [`EventGroup`] is what a reader returns: one
//! complete transaction with its position.

mod buffer;
mod commit_group;
mod event_group;
mod large_group;

pub use buffer::{BufferMark, EventGroupBuffer, GroupOptions, LoggedTable, StatementForm, StatementOptions};
pub use commit_group::{CommitGroup, GroupPosition, GroupSize};
pub use event_group::{EventGroup, LARGE_GROUP_BYTES};
pub use large_group::LargeGroup;
pub(crate) use large_group::TRAILING_SPACE;
