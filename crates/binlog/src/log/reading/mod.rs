//! Reading: event groups across files, and finding a GTID.

pub(super) mod locate;
pub(super) mod reader;
