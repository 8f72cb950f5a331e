//! Reading of tables, as the host lends it to a call.

use crate::error::HostError;

/// Maximum number of open cursors of a call.
pub const CURSORS_MAX: usize = 64;
/// Maximum number of values of a key.
pub const KEY_VALUES_MAX: usize = 64;

/// Number of a cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CursorId(pub u32);

/// Order of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// In the index's order.
    Forward,
    /// In the opposite order.
    Backward,
}

/// Value of a key.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum KeyValue {
    Null,
    Integer(i64),
    Real(f64),
    Text(Vec<u8>),
}

/// Tables of the statement that calls a function, within its transaction. Numbers of tables, indexes and columns are
/// those that the host has returned before in the same instance; it must refuse others.
pub trait Tables {
    /// Opens a table: `name`, or `database.name`.
    ///
    /// # Errors
    /// It does not exist, or the function's definer may not read it.
    fn table(&mut self, name: &str) -> Result<u32, HostError>;

    /// Returns the number of a column.
    ///
    /// # Errors
    /// There is none.
    fn column(&mut self, table: u32, name: &str) -> Result<u32, HostError>;

    /// Returns the number of an index.
    ///
    /// # Errors
    /// There is none.
    fn index(&mut self, table: u32, name: &str) -> Result<u32, HostError>;

    /// Finds a row by its key in a unique index. The cursor is on it.
    ///
    /// # Errors
    /// The key does not fit the index; errors of the transaction.
    fn get(&mut self, table: u32, index: u32, key: &[KeyValue]) -> Result<Option<CursorId>, HostError>;

    /// Begins a scan of the rows whose first index columns equal the key.
    ///
    /// # Errors
    /// As those of [`get`](Self::get).
    fn scan(
        &mut self,
        table: u32,
        index: u32,
        key: &[KeyValue],
        direction: Direction,
    ) -> Result<CursorId, HostError>;

    /// Moves to the next row. Returns whether there is one.
    ///
    /// # Errors
    /// The cursor does not exist; errors of the transaction.
    fn next(&mut self, cursor: CursorId) -> Result<bool, HostError>;

    /// Returns whether a column of the cursor's row is NULL.
    ///
    /// # Errors
    /// The cursor is on no row, or there is no such column.
    fn is_null(&mut self, cursor: CursorId, column: u32) -> Result<bool, HostError>;

    /// Returns a column's value as an integer; 0 for NULL.
    ///
    /// # Errors
    /// As those of [`is_null`](Self::is_null).
    fn integer(&mut self, cursor: CursorId, column: u32) -> Result<i64, HostError>;

    /// Returns a column's value as a number; 0 for NULL.
    ///
    /// # Errors
    /// As those of [`is_null`](Self::is_null).
    fn real(&mut self, cursor: CursorId, column: u32) -> Result<f64, HostError>;

    /// Passes a column's text to `read`; an empty one for NULL.
    ///
    /// # Errors
    /// As those of [`is_null`](Self::is_null).
    fn text(&mut self, cursor: CursorId, column: u32, read: &mut dyn FnMut(&[u8])) -> Result<(), HostError>;

    /// Ends a cursor, if there is one with this number.
    fn close(&mut self, cursor: CursorId);
}
