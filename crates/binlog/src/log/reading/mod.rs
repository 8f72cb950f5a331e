//! Reading: the events of one file, event groups across files, and finding a GTID.

pub(super) mod grouping;
pub(super) mod locate;
pub(super) mod reader;
pub(super) mod stream;
