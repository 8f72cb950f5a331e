//! Isolation level and access mode of a transaction: the parser reads them, sessions set them, transactions obey them.

/// Isolation level of a transaction (`tx_isolation`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum IsolationLevel {
    /// Treated as READ COMMITTED.
    ReadUncommitted,
    /// A snapshot for each statement.
    ReadCommitted,
    /// One snapshot, taken by the first non-locking read: snapshot isolation.
    #[default]
    RepeatableRead,
    /// Reads lock the keys that they read, and the gaps between.
    Serializable,
}

impl IsolationLevel {
    /// Returns the level as `@@tx_isolation` shows it.
    pub const fn as_str(self) -> &'static str {
        match self {
            IsolationLevel::ReadUncommitted => "READ-UNCOMMITTED",
            IsolationLevel::ReadCommitted => "READ-COMMITTED",
            IsolationLevel::RepeatableRead => "REPEATABLE-READ",
            IsolationLevel::Serializable => "SERIALIZABLE",
        }
    }
}

/// READ WRITE or READ ONLY.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum AccessMode {
    /// May read and write.
    #[default]
    ReadWrite,
    /// Writes get 1792.
    ReadOnly,
}
