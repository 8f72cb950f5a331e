//! Hash tables for joins: rows of one table by the values of some of its expressions.

use hashbrown::HashMap;
use std::rc::Rc;

use paceline_types::Value;

use super::memory::{Reservation, row_bytes};
use super::temporary_key;
use crate::error::Result;
use paceline_expression::{
    Comparison, EvalContext, ExprType, bytes_of, text_of, to_decimal, to_double, to_fixed_binary, to_i128,
};

/// Rows by their join key.
#[derive(Debug)]
pub(crate) struct HashTable {
    pub rows: HashMap<Vec<u8>, Vec<HashedRow>>,
    memory: Reservation,
}

impl HashTable {
    /// Creates an empty table.
    pub fn new(memory: Reservation) -> Self {
        HashTable {
            rows: HashMap::new(),
            memory,
        }
    }

    /// Returns the memory of its rows in bytes.
    pub fn bytes(&self) -> usize {
        self.memory.bytes()
    }

    /// Adds a row.
    ///
    /// # Errors
    /// 1290 or 1041 beyond the session's memory limit.
    pub fn add(&mut self, key: Vec<u8>, row: HashedRow) -> Result<()> {
        self.memory
            .take(key.len() + row.key.len() + row_bytes(&row.values) + 64)?;
        self.rows.entry(key).or_default().push(row);
        Ok(())
    }
}

/// Rows that the joins of a statement keep, by the access that reads them.
#[derive(Debug, Default)]
pub(crate) struct JoinBuffers {
    tables: HashMap<usize, Option<Rc<HashTable>>>,
}

impl JoinBuffers {
    /// Returns the rows of an access, or `Some(None)` if they were too many to keep. `None` if they were not read yet.
    pub fn get(&self, access: usize) -> Option<Option<Rc<HashTable>>> {
        self.tables.get(&access).cloned()
    }

    /// Adds the rows of an access.
    pub fn insert(&mut self, access: usize, rows: Option<Rc<HashTable>>) {
        self.tables.insert(access, rows);
    }

    /// Drops all rows.
    pub fn clear(&mut self) {
        self.tables.clear();
    }
}

/// A row in a hash table: the used columns of its table, and its key.
#[derive(Debug)]
pub(crate) struct HashedRow {
    pub values: Vec<Value>,
    /// Clustered key of the row; empty if it is not needed.
    pub key: Vec<u8>,
}

/// Appends a value's part of a join key. Values that are equal according to
/// [`compare_values`](paceline_expression::compare_values) get equal keys. Returns false for NULL, which equals
/// nothing.
///
/// # Errors
/// Warnings of the conversion that are errors in a strict write.
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
        // Both sides have these types.
        Comparison::DateTime => temporary_key::append(value, &ExprType::datetime(6), out),
        Comparison::Time => temporary_key::append(value, &ExprType::time(6), out),
        Comparison::FixedBinary(t) => match to_fixed_binary(value, *t, context)? {
            Some(value) => value.append_sort_key(out),
            None => return Ok(false),
        },
        Comparison::FixedDouble(_) | Comparison::Dynamic { .. } | Comparison::Row(_) => {
            unreachable!("no hash table has such keys")
        }
    }
    Ok(true)
}
