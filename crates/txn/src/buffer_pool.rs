//! Buffers of binlog caches.

use paceline_binlog::EventGroupBuffer;
use paceline_binlog::group::GroupOptions;
use parking_lot::Mutex;

/// Buffers kept between transactions: memory that one has allocated serves the next.
#[derive(Default)]
pub(crate) struct BufferPool {
    buffers: Mutex<Vec<EventGroupBuffer>>,
}

/// Most buffers in the pool, and the most bytes of events that a pooled buffer may have held.
const POOLED_BUFFERS_MAX: usize = 1024;
const POOLED_BYTES_MAX: usize = 64 << 10;

impl BufferPool {
    /// Returns an empty buffer.
    pub(crate) fn take(&self, options: GroupOptions) -> EventGroupBuffer {
        match self.buffers.lock().pop() {
            Some(mut buffer) => {
                buffer.reset(options);
                buffer
            }
            None => EventGroupBuffer::new(options),
        }
    }

    /// Takes back buffers whose contents the leader has copied.
    pub(crate) fn give_back(&self, used: impl IntoIterator<Item = EventGroupBuffer>) {
        let mut buffers = self.buffers.lock();
        for buffer in used {
            if buffers.len() < POOLED_BUFFERS_MAX && buffer.memory_bytes() <= POOLED_BYTES_MAX {
                buffers.push(buffer);
            }
        }
    }
}
