//! Statements of transactions and savepoints.

use paceline_types::AccessMode;

/// Statements of transactions and savepoints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TransactionStatement {
    /// `BEGIN`, `START TRANSACTION`.
    Start {
        /// `WITH CONSISTENT SNAPSHOT`.
        consistent_snapshot: bool,
        /// `AT GTID '…'`, an extension of this server: the state at a list of GTIDs.
        snapshot_at: Option<String>,
        /// `READ ONLY`, `READ WRITE`.
        access: Option<AccessMode>,
    },
    /// `COMMIT`.
    Commit(Completion),
    /// `ROLLBACK`.
    Rollback(Completion),
    /// `SAVEPOINT name`.
    Savepoint(String),
    /// `ROLLBACK TO name`.
    RollbackTo(String),
    /// `RELEASE SAVEPOINT name`.
    Release(String),
}

/// Clauses of COMMIT and ROLLBACK. `None` leaves the choice to `completion_type`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Completion {
    /// `AND [NO] CHAIN`.
    pub chain: Option<bool>,
    /// `[NO] RELEASE`.
    pub release: Option<bool>,
}
