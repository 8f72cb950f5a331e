//! The unique keys of the rows so far: ALTER IGNORE TABLE leaves out the rows that have one of them.

use std::collections::HashSet;

use paceline_storage::{IndexKind, TableSchema};
use paceline_types::MemoryCharge;

use super::rows::BuiltRow;
use crate::error::Result;
use paceline_expression::session::SessionContext;

/// Bytes of a key besides its own.
const KEY_OVERHEAD: usize = 48;

/// The keys, with their index's number before them.
pub(super) struct TakenKeys {
    keys: HashSet<Vec<u8>>,
    memory: MemoryCharge,
}

impl TakenKeys {
    /// None so far; they are charged to the session.
    pub fn new(session: &SessionContext) -> Self {
        TakenKeys {
            keys: HashSet::new(),
            memory: MemoryCharge::new(&session.memory),
        }
    }

    /// Takes the row's keys. Returns false, and takes none, if a row before has one of them.
    ///
    /// # Errors
    /// 1290 or 1041 beyond the session's memory limit.
    pub fn take(&mut self, schema: &TableSchema, row: &BuiltRow) -> Result<bool> {
        let mut keys = Vec::new();
        for (index, definition) in schema.indexes().iter().enumerate() {
            if definition.kind == IndexKind::Secondary {
                continue;
            }
            let mut key = Vec::with_capacity(32);
            // NULL is no duplicate.
            if schema.append_unique_key(index, &row.image, &mut key)? {
                if self.keys.contains(&key) {
                    return Ok(false);
                }
                keys.push(key);
            }
        }
        for key in keys {
            self.memory.grow(key.len() + KEY_OVERHEAD)?;
            self.keys.insert(key);
        }
        Ok(true)
    }
}
