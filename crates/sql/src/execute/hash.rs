//! Hash tables for joins: the rows of one table by the values of some expressions over them.

use hashbrown::HashMap;

use paceline_types::Value;

use super::memory::{Reservation, row_bytes};
use super::temporary_key;
use crate::error::Result;
use crate::expr::{Comparison, ExprType};

/// Rows by key.
#[derive(Debug)]
pub(crate) struct HashTable {
    pub rows: HashMap<Vec<u8>, Vec<HashedRow>>,
    memory: Reservation,
}

impl HashTable {
    /// One without rows.
    pub fn new(memory: Reservation) -> Self {
        HashTable {
            rows: HashMap::new(),
            memory,
        }
    }

    /// Adds a row.
    ///
    /// # Errors
    /// 1114 for more than a statement may collect.
    pub fn add(&mut self, key: Vec<u8>, row: HashedRow) -> Result<()> {
        self.memory
            .take(key.len() + row.key.len() + row_bytes(&row.values) + 64)?;
        self.rows.entry(key).or_default().push(row);
        Ok(())
    }
}

/// A row in a hash table: the used columns of its table, and where it is stored.
#[derive(Debug)]
pub(crate) struct HashedRow {
    pub values: Vec<Value>,
    /// The key that it lives under; empty where nobody asks.
    pub key: Vec<u8>,
}

/// Appends a value's part of a key: values that are equal by the rule get equal keys. False for NULL, which equals nothing.
pub(crate) fn append_key(value: &Value, by: &Comparison, out: &mut Vec<u8>) -> bool {
    if value.is_null() {
        return false;
    }
    let ty = match by {
        Comparison::Int => ExprType::bigint(20),
        Comparison::Decimal => ExprType::decimal(65, 30),
        Comparison::Double | Comparison::Row(_) => ExprType::double(),
        Comparison::Text(collation) => ExprType::text(255, *collation),
        Comparison::Bytes => ExprType::bytes(255),
        Comparison::DateTime => ExprType::datetime(6),
        Comparison::Time => ExprType::time(6),
        Comparison::Dynamic(_) => return false,
    };
    match (by, value) {
        (Comparison::Text(_), Value::Text(_)) => temporary_key::append(value, &ty, out),
        (Comparison::Text(_), other) => {
            let text = paceline_types::text::to_string(&other.as_ref(), &paceline_types::TimeZone::UTC);
            temporary_key::append(&Value::Text(text), &ty, out);
        }
        (Comparison::Bytes, Value::Text(text)) => {
            temporary_key::append(&Value::Bytes(text.clone().into_bytes()), &ty, out)
        }
        _ => temporary_key::append(value, &ty, out),
    }
    true
}
