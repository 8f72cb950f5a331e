//! Hash tables for joins: the rows of one table by the values of some expressions over them.

use hashbrown::HashMap;

use paceline_types::Value;

use super::memory::{Reservation, row_bytes};
use super::temporary_key;
use crate::error::Result;
use crate::expr::{Comparison, EvalContext, ExprType, bytes_of, text_of, to_decimal, to_double, to_i128};

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

/// Appends a value's part of a key: values that are equal by the rule get equal keys, as [`compare_values`](crate::expr::compare_values) sees them. False
/// for NULL, which equals nothing.
///
/// # Errors
/// What the conversion warns of, in a strict write.
pub(crate) fn append_key(
    value: &Value,
    by: &Comparison,
    context: &mut EvalContext<'_>,
    out: &mut Vec<u8>,
) -> Result<bool> {
    if value.is_null() {
        return Ok(false);
    }
    match by {
        Comparison::Int => out.extend_from_slice(&to_i128(value, context)?.to_be_bytes()),
        Comparison::Decimal => {
            let number = Value::Decimal(to_decimal(value, context)?);
            temporary_key::append(&number, &ExprType::decimal(65, 30), out);
        }
        Comparison::Double => {
            let number = Value::Double(to_double(value, context)?);
            temporary_key::append(&number, &ExprType::double(), out);
        }
        Comparison::Text(collation) => {
            collation.append_sort_key(&text_of(value, context), None, out);
        }
        Comparison::Bytes => {
            let bytes = bytes_of(value, context);
            out.extend_from_slice(&(bytes.len() as u64).to_be_bytes());
            out.extend_from_slice(&bytes);
        }
        // Both sides are of these types themselves.
        Comparison::DateTime => temporary_key::append(value, &ExprType::datetime(6), out),
        Comparison::Time => temporary_key::append(value, &ExprType::time(6), out),
        Comparison::Dynamic(_) | Comparison::Row(_) => unreachable!("no hash table has such keys"),
    }
    Ok(true)
}
