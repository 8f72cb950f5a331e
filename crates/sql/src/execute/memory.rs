//! What a statement may collect in memory.

use paceline_types::Value;
use paceline_types::error_code::ER_RECORD_FILE_FULL;

use crate::error::{Error, Result};

/// A sort goes on in a temporary file past so many bytes.
pub const SORT_MEMORY_MAX: usize = 64 << 20;

/// What a statement's groups, derived tables, hash tables and changes may take together, in bytes: 1114 beyond.
pub const STATEMENT_MEMORY_MAX: usize = 1 << 30;

/// What a statement has collected so far.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    used: usize,
}

impl Budget {
    /// Takes `bytes` from the budget.
    pub fn charge(&mut self, bytes: usize) -> Result<()> {
        self.used = self.used.saturating_add(bytes);
        if self.used > STATEMENT_MEMORY_MAX {
            return Err(Error::new(ER_RECORD_FILE_FULL, &[&"(temporary)"]));
        }
        Ok(())
    }
}

/// The bytes that a value takes, its own place included.
pub(crate) fn value_bytes(value: &Value) -> usize {
    size_of::<Value>()
        + match value {
            Value::Text(text) => text.len(),
            Value::Bytes(bytes) => bytes.len(),
            _ => 0,
        }
}

/// The bytes that a row takes.
pub(crate) fn row_bytes(row: &[Value]) -> usize {
    row.iter().map(value_bytes).sum::<usize>() + 24
}
