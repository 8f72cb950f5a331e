//! State of a session's transaction as `INNODB_TRX` shows it. The session writes it at every statement with relaxed
//! stores, so its parts may belong to different moments.

use paceline_txn::{AccessMode, IsolationLevel, Lifetime, TransactionOptions};
use std::sync::atomic::{AtomicI64, AtomicU8, Ordering};

/// A session's transaction.
#[derive(Debug, Default)]
pub struct TransactionMark {
    /// Start of the running or last command in microseconds since 1970.
    command_micros: AtomicI64,
    /// Start of the transaction's first statement with tables.
    started_micros: AtomicI64,
    /// See [`bits`]; 0 means no transaction.
    bits: AtomicU8,
}

mod bits {
    pub const ACTIVE: u8 = 1;
    pub const READ_ONLY: u8 = 1 << 1;
    pub const UNIQUE_CHECKS: u8 = 1 << 2;
    pub const FOREIGN_KEY_CHECKS: u8 = 1 << 3;
    pub const SINGLE_STATEMENT: u8 = 1 << 4;
    pub const ISOLATION_SHIFT: u8 = 5;
}

/// Snapshot of a [`TransactionMark`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarkedTransaction {
    /// Start in microseconds since 1970.
    pub started_micros: i64,
    /// Name such as `READ COMMITTED`.
    pub isolation: &'static str,
    /// Whether the transaction is read only.
    pub read_only: bool,
    /// `unique_checks`.
    pub unique_checks: bool,
    /// `foreign_key_checks`.
    pub foreign_key_checks: bool,
    /// Whether it ends with its statement.
    pub is_single_statement: bool,
}

impl TransactionMark {
    /// Records the start of a command.
    #[inline]
    pub fn command_began(&self, now_micros: i64) {
        self.command_micros.store(now_micros, Ordering::Relaxed);
    }

    /// Records a statement of the transaction that uses tables.
    #[inline]
    pub fn set(&self, options: &TransactionOptions, unique_checks: bool, foreign_key_checks: bool) {
        if self.bits.load(Ordering::Relaxed) == 0 {
            let now = self.command_micros.load(Ordering::Relaxed);
            self.started_micros.store(now, Ordering::Relaxed);
        }
        let flag = |is_set, bit| if is_set { bit } else { 0 };
        let isolation = match options.isolation {
            IsolationLevel::ReadUncommitted => 0,
            IsolationLevel::ReadCommitted => 1,
            IsolationLevel::RepeatableRead => 2,
            IsolationLevel::Serializable => 3,
        };
        let bits = bits::ACTIVE
            | flag(options.access == AccessMode::ReadOnly, bits::READ_ONLY)
            | flag(unique_checks, bits::UNIQUE_CHECKS)
            | flag(foreign_key_checks, bits::FOREIGN_KEY_CHECKS)
            | flag(
                options.lifetime == Lifetime::SingleStatement,
                bits::SINGLE_STATEMENT,
            )
            | isolation << bits::ISOLATION_SHIFT;
        self.bits.store(bits, Ordering::Relaxed);
    }

    /// Records the end of the transaction.
    #[inline]
    pub fn clear(&self) {
        self.bits.store(0, Ordering::Relaxed);
    }

    /// Returns whether there is a transaction that has used a table.
    pub fn is_set(&self) -> bool {
        self.bits.load(Ordering::Relaxed) != 0
    }

    /// Returns the transaction's state, if there is one.
    pub fn get(&self) -> Option<MarkedTransaction> {
        let bits = self.bits.load(Ordering::Relaxed);
        if bits == 0 {
            return None;
        }
        let isolation = [
            "READ UNCOMMITTED",
            "READ COMMITTED",
            "REPEATABLE READ",
            "SERIALIZABLE",
        ];
        Some(MarkedTransaction {
            started_micros: self.started_micros.load(Ordering::Relaxed),
            isolation: isolation[usize::from(bits >> bits::ISOLATION_SHIFT)],
            read_only: bits & bits::READ_ONLY != 0,
            unique_checks: bits & bits::UNIQUE_CHECKS != 0,
            foreign_key_checks: bits & bits::FOREIGN_KEY_CHECKS != 0,
            is_single_statement: bits & bits::SINGLE_STATEMENT != 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_began_with_its_first_statement() {
        let mark = TransactionMark::default();
        assert_eq!(mark.get(), None);
        let options = TransactionOptions {
            isolation: IsolationLevel::Serializable,
            ..TransactionOptions::default()
        };
        mark.command_began(1);
        mark.set(&options, true, false);
        mark.command_began(2);
        mark.set(&options, true, false);
        let expected = MarkedTransaction {
            started_micros: 1,
            isolation: "SERIALIZABLE",
            read_only: false,
            unique_checks: true,
            foreign_key_checks: false,
            is_single_statement: false,
        };
        assert_eq!(mark.get(), Some(expected));
        mark.clear();
        assert_eq!(mark.get(), None);
    }
}
