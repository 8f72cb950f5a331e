//! Writing: to the active file and the files that follow it, and transactions with a file of their own.

pub(super) mod append;
pub(super) mod create;
pub(super) mod large_commit;
pub(super) mod large_group;
pub(super) mod rotate;
