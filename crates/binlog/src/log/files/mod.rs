//! Files of a log: their names, their heads, the index file and the GTID indexes.

pub(super) mod entry;
pub(super) mod gtid_index;
pub(super) mod head;
pub(super) mod index_file;
