//! `mysql.general_log` and `mysql.slow_log`: the newest entries, in memory.
//!
//! A ring of rows, not a table of an engine: entries must neither be part of the binary log, which is the only log, nor
//! need a transaction, and must cost nothing on disk. A restart empties it. Limits: [`ROWS_MAX`] rows and [`BYTES_MAX`]
//! bytes; the oldest rows give way. [`TEXT_MAX`] bytes of a statement.

use paceline_types::Value;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::mem::size_of;
use std::sync::atomic::{AtomicBool, Ordering};

/// Maximum number of rows.
const ROWS_MAX: usize = 10_000;

/// Maximum size of the rows in bytes.
const BYTES_MAX: usize = 4 << 20;

/// Maximum size of a statement's text in bytes.
const TEXT_MAX: usize = 64 << 10;

/// One of the two tables.
#[derive(Debug, Default)]
pub struct LogTable {
    is_written: AtomicBool,
    ring: Mutex<Ring>,
}

#[derive(Debug, Default)]
struct Ring {
    rows: VecDeque<Vec<Value>>,
    bytes: usize,
}

impl LogTable {
    /// Returns whether entries are added.
    pub fn is_written(&self) -> bool {
        self.is_written.load(Ordering::Relaxed)
    }

    /// Sets whether entries are added. The rows remain.
    pub fn set_written(&self, is_written: bool) {
        self.is_written.store(is_written, Ordering::Relaxed);
    }

    /// Adds a row.
    pub fn add(&self, row: Vec<Value>) {
        let mut ring = self.ring.lock();
        ring.bytes += row_bytes(&row);
        ring.rows.push_back(row);
        while ring.rows.len() > ROWS_MAX || ring.bytes > BYTES_MAX {
            let Some(oldest) = ring.rows.pop_front() else {
                break;
            };
            ring.bytes -= row_bytes(&oldest);
        }
    }

    /// Returns the rows, oldest first.
    pub fn rows(&self) -> Vec<Vec<Value>> {
        self.ring.lock().rows.iter().cloned().collect()
    }

    /// Removes all rows.
    pub fn clear(&self) {
        *self.ring.lock() = Ring::default();
    }
}

fn row_bytes(row: &[Value]) -> usize {
    let text = |value: &Value| match value {
        Value::Text(text) => text.capacity(),
        _ => 0,
    };
    size_of::<Vec<Value>>() + size_of_val(row) + row.iter().map(text).sum::<usize>()
}

/// Returns a statement's text as a value.
pub fn text_value(text: &[u8]) -> Value {
    let cut = &text[..text.len().min(TEXT_MAX)];
    Value::Text(String::from_utf8_lossy(cut).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_rows_give_way() {
        let table = LogTable::default();
        for number in 0..ROWS_MAX as i64 + 2 {
            table.add(vec![Value::Int(number)]);
        }
        assert_eq!(table.rows().len(), ROWS_MAX);
        assert_eq!(table.rows()[0], vec![Value::Int(2)]);
        table.clear();
        for _ in 0..100 {
            table.add(vec![text_value(&[b'x'; TEXT_MAX + 1])]);
        }
        assert!(table.rows().len() < BYTES_MAX / TEXT_MAX);
        assert!(table.ring.lock().bytes <= BYTES_MAX);
    }
}
