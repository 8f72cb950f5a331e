//! An open transaction, as INNODB_TRX and reports of locks show it.

/// A transaction that has accessed a table, or waits for a row.
#[derive(Clone, Debug)]
pub struct OpenTransaction {
    /// Id of its session in the lock tables.
    pub session_id: u64,
    /// Id of the transaction; unique while the server is running.
    pub id: u64,
    /// Id of the connection.
    pub connection_id: u64,
    /// Start in microseconds since 1970.
    pub started_micros: i64,
    /// Start of its wait for a row, in microseconds since 1970.
    pub waits_since_micros: Option<i64>,
    /// Number of locks and changed rows.
    pub weight: u64,
    /// Number of row, key and range locks.
    pub locks: u64,
    /// Number of changed rows.
    pub rows_changed: u64,
    /// Text of the running statement.
    pub query: Option<String>,
    /// Name of the user.
    pub user: String,
    /// `localhost`, or the address and port.
    pub host: String,
    /// Current activity.
    pub state: &'static str,
    /// Id of the running or last statement.
    pub query_id: u64,
    /// Isolation level such as `REPEATABLE READ`.
    pub isolation: &'static str,
    /// `unique_checks`.
    pub unique_checks: bool,
    /// `foreign_key_checks`.
    pub foreign_key_checks: bool,
    /// Whether the transaction is read only.
    pub read_only: bool,
    /// Whether it is a single statement.
    pub is_single_statement: bool,
}
