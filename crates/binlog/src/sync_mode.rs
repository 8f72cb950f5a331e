//! When the log is synced: a setting of the log, which its files record.

/// When the log is synced.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SyncMode {
    /// `sync_binlog=1`: each write is synced before the next one.
    EachGroup,
    /// `sync_binlog=0`: several writes may be unsynced at a time.
    Deferred,
}
