//! Opening a log: what the directory holds, and the repair of what a crash has left.

pub(super) mod crash_repair;
pub(super) mod inventory;
pub(super) mod open;
pub(super) mod recovery;
