//! Account of the memory of all connections' buffers.
//!
//! A buffer that has grown for a long packet or for a client that does not read is counted with its capacity until it
//! is freed; small ones are part of what a connection takes anyway. Nothing is counted while a buffer keeps its
//! size, so that packets of the usual length cost a comparison. Long packets are refused beyond a limit that the server
//! sets: `max_allowed_packet` bounds one connection, not all of them.

use std::sync::atomic::{AtomicU64, Ordering};

/// Capacities up to this are not counted, in bytes.
const UNCOUNTED: usize = 16 << 10;

static BYTES: AtomicU64 = AtomicU64::new(0);
static BYTES_MAX: AtomicU64 = AtomicU64::new(u64::MAX);

/// Returns the memory of all buffers that have grown, in bytes.
pub fn buffered_bytes() -> u64 {
    BYTES.load(Ordering::Relaxed)
}

/// Sets the limit of [`buffered_bytes`], beyond which no buffer grows for a packet that is being received.
pub fn set_buffered_bytes_max(bytes: u64) {
    BYTES_MAX.store(bytes, Ordering::Relaxed);
}

/// Returns the limit of [`buffered_bytes`].
pub fn buffered_bytes_max() -> u64 {
    BYTES_MAX.load(Ordering::Relaxed)
}

/// Counted capacity of one buffer.
#[derive(Debug, Default)]
pub(crate) struct CountedCapacity {
    bytes: usize,
}

impl CountedCapacity {
    /// Returns whether the buffer may have this capacity without exceeding the limit of all buffers.
    pub fn may_be(&self, capacity: usize) -> bool {
        let more = capacity.saturating_sub(self.bytes.max(UNCOUNTED));
        more == 0 || buffered_bytes().saturating_add(more as u64) <= BYTES_MAX.load(Ordering::Relaxed)
    }

    /// Counts the buffer with this capacity.
    #[inline]
    pub fn set(&mut self, capacity: usize) {
        if capacity > UNCOUNTED || self.bytes > 0 {
            self.recount(capacity);
        }
    }

    fn recount(&mut self, capacity: usize) {
        let bytes = match capacity > UNCOUNTED {
            true => capacity,
            false => 0,
        };
        if bytes >= self.bytes {
            BYTES.fetch_add((bytes - self.bytes) as u64, Ordering::Relaxed);
        } else {
            BYTES.fetch_sub((self.bytes - bytes) as u64, Ordering::Relaxed);
        }
        self.bytes = bytes;
    }
}

impl Drop for CountedCapacity {
    fn drop(&mut self) {
        self.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Other tests of this process have buffers too, but none of this size.
    const LARGE: usize = 1 << 40;

    #[test]
    fn a_buffer_is_counted_while_it_is_large() {
        let mut counted = CountedCapacity::default();
        counted.set(LARGE);
        assert!(buffered_bytes() >= LARGE as u64);
        counted.set(UNCOUNTED);
        assert!(buffered_bytes() < LARGE as u64);
        counted.set(LARGE);
        drop(counted);
        assert!(buffered_bytes() < LARGE as u64);
    }
}
