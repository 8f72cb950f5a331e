//! Files of a log: their names, heads, events and ends; the active file, the index file, the GTID indexes, and the
//! decision of a rewind.

pub(super) mod active_file;
pub(super) mod entry;
pub(super) mod event_stream;
pub(super) mod grouping;
pub(super) mod gtid_index;
pub(super) mod head;
pub(super) mod index_file;
pub(super) mod rewind_file;
pub(super) mod tail;
