//! Counters of the memcached port, under the names of memcached's `stats`.

use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! counters {
    ($($(#[$help:meta])* $name:ident,)*) => {
        /// Counters since the start of the server.
        #[derive(Debug, Default)]
        pub struct MemcachedCounters {
            $($(#[$help])* pub $name: AtomicU64,)*
        }

        impl MemcachedCounters {
            /// Returns all names and values.
            pub fn all(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name.load(Ordering::Relaxed)),)*]
            }
        }
    };
}

counters! {
    /// Open connections.
    curr_connections,
    /// Connections so far.
    total_connections,
    /// Connections that were refused because there were too many.
    rejected_connections,
    /// Requests for items; a key each.
    cmd_get,
    /// Requests to store.
    cmd_set,
    /// Requests to empty all.
    cmd_flush,
    /// Requests to change a time to live.
    cmd_touch,
    /// Keys that were found.
    get_hits,
    /// Keys that were not found.
    get_misses,
    /// Keys whose item had expired.
    get_expired,
    /// Deletions that found no item.
    delete_misses,
    /// Deletions.
    delete_hits,
    /// Increments that found no item.
    incr_misses,
    /// Increments.
    incr_hits,
    /// Decrements that found no item.
    decr_misses,
    /// Decrements.
    decr_hits,
    /// Comparisons that found no item.
    cas_misses,
    /// Comparisons that found the expected item.
    cas_hits,
    /// Comparisons that found another item.
    cas_badval,
    /// Changes of a time to live.
    touch_hits,
    /// Changes of a time to live that found no item.
    touch_misses,
    /// Requests that failed and wanted no reply.
    noreply_errors,
    /// Values that were answered before they were committed (`sync` 0), and could not be.
    unsynced_lost,
    /// Logins.
    auth_cmds,
    /// Failed logins.
    auth_errors,
    /// Received bytes.
    bytes_read,
    /// Sent bytes.
    bytes_written,
}

/// Adds one.
pub fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
