//! Temporary tables in a transaction: rows that only the session sees, and that are not logged.
//!
//! ```text
//!   write   a write set of its own beside the logged one              statements, savepoints and rollbacks undo it alike
//!   commit  applied to the space when the logged part, if there is one, is committed; alone it takes no log position and no GTID
//!   DROP    not undone by a rollback; the index's number is kept until the transaction ends, as its keys may be in the write set
//! ```
//!
//! The keys tell which tables these are ([`EngineKind::Temporary`]). No other session reads or writes them:
//! nothing is locked, and there is no snapshot to conflict with.

use super::Transaction;
use super::temporary_changes::{TemporaryChanges, TemporaryMark, is_temporary};
use crate::error::Result;
use paceline_storage::{Change, EngineKind, TemporaryIndex, TemporaryWrites, WriteSet};

impl Transaction {
    /// Returns the write set that contains keys of `engine`; `None` before the first write.
    pub(super) fn writes_of(&self, engine: EngineKind) -> Option<&WriteSet> {
        match engine {
            EngineKind::Temporary => self.temporary.as_ref().map(|changes| changes.writes.set()),
            EngineKind::RocksDb | EngineKind::Memory | EngineKind::Blackhole | EngineKind::Added(_) => {
                Some(&self.writes)
            }
        }
    }

    /// Returns the transaction's own change of a key.
    pub(super) fn own_change(&self, key: &[u8]) -> Option<Change<'_>> {
        match is_temporary(key) {
            false => self.writes.get(key),
            true => self.temporary.as_ref()?.writes.set().get(key),
        }
    }

    /// Returns the write set for temporary tables, and creates it if necessary.
    pub(super) fn temporary_writes(&mut self) -> &mut TemporaryWrites {
        &mut self.temporary_changes().writes
    }

    fn temporary_changes(&mut self) -> &mut TemporaryChanges {
        self.temporary.get_or_insert_with(|| {
            Box::new(TemporaryChanges {
                writes: self.core.storage.temporary().writes(),
                dropped: Vec::new(),
            })
        })
    }

    /// Accounts for the memory of what was written to temporary tables.
    ///
    /// # Errors
    /// [`crate::Error::Storage`] (1114) if there is no room; the statement must be rolled back.
    pub(super) fn charge_temporary(&mut self) -> Result<()> {
        match &mut self.temporary {
            Some(changes) => Ok(changes.writes.charge()?),
            None => Ok(()),
        }
    }

    /// Returns the extent of what has been written to temporary tables, for
    /// [`Transaction::keep_temporary_since`].
    pub fn temporary_mark(&mut self) -> TemporaryMark {
        TemporaryMark(
            self.temporary
                .as_mut()
                .map(|changes| changes.writes.set_mut().mark()),
        )
    }

    pub(super) fn roll_back_temporary(&mut self, mark: TemporaryMark) {
        if let Some(changes) = &mut self.temporary {
            changes.writes.rollback_to(mark.0);
        }
    }

    /// Commits what was written to temporary tables since the mark, and nothing else. CREATE TEMPORARY TABLE …
    /// SELECT uses it: its rows stay with the table whatever happens to the transaction. All these rows must
    /// belong to tables that are newer than the mark.
    pub fn keep_temporary_since(&mut self, mark: TemporaryMark) {
        if let Some(changes) = &mut self.temporary {
            changes.writes.apply_since(mark.0);
        }
    }

    /// Drops indexes of temporary tables. Their numbers are free when the transaction ends.
    pub fn drop_temporary_indexes(&mut self, indexes: impl IntoIterator<Item = TemporaryIndex>) {
        self.temporary_changes().dropped.extend(indexes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::TransactionOptions;
    use crate::testing::TestServer;
    use crate::{AccessMode, IsolationLevel};
    use crate::{Interrupt, LockMode, LockWait};
    use paceline_storage::{Direction, KeyRange};

    fn key(index: &TemporaryIndex, suffix: u8) -> Vec<u8> {
        let mut key = index.id().to_be_bytes().to_vec();
        key.push(suffix);
        key
    }

    fn write(transaction: &mut Transaction, key: &[u8], value: &[u8]) {
        transaction.begin_statement(Some("a statement"), 1).unwrap();
        transaction.temporary_writes().set_mut().put(key, value);
        transaction.charge_temporary().unwrap();
        transaction.end_statement().unwrap();
    }

    fn read(transaction: &mut Transaction, index: &TemporaryIndex) -> Vec<Vec<u8>> {
        let range = KeyRange::prefix(&index.id().to_be_bytes());
        let mut scan = transaction.scan(range, Direction::Forward).unwrap();
        let mut values = Vec::new();
        while let Some(entry) = scan.next().unwrap() {
            values.push(entry.payload().to_vec());
        }
        values
    }

    #[test]
    fn rows_commit_and_roll_back_like_logged_ones_and_nothing_is_logged() {
        let server = TestServer::new();
        let session = server.session();
        let space = server.manager.storage().temporary().clone();
        let index = space.new_index().unwrap();
        let written = server.manager.positions().written;
        let begin = || server.begin(&session, IsolationLevel::RepeatableRead);

        let mut transaction = begin();
        // An older snapshot sees the rows nevertheless: no other session is to be isolated from.
        transaction.snapshot();
        write(&mut transaction, &key(&index, 1), b"one");
        transaction.savepoint("s");
        write(&mut transaction, &key(&index, 1), b"changed");
        write(&mut transaction, &key(&index, 2), b"two");
        transaction.rollback_to_savepoint("s").unwrap();
        assert_eq!(read(&mut transaction, &index), [b"one"]);
        transaction.begin_statement(None, 1).unwrap();
        transaction
            .temporary_writes()
            .set_mut()
            .put(&key(&index, 3), b"undone");
        transaction.rollback_statement();
        let outcome = transaction.commit_blocking().unwrap();
        assert_eq!(outcome.gtid, None);

        let mut transaction = begin();
        write(&mut transaction, &key(&index, 4), b"rolled back");
        let locked = transaction.lock(&key(&index, 1), LockMode::Exclusive, LockWait::Default);
        assert_eq!(locked.unwrap(), crate::LockOutcome::Granted);
        assert_eq!(read(&mut transaction, &index).len(), 2);
        transaction.rollback();
        let mut transaction = begin();
        assert_eq!(read(&mut transaction, &index), [b"one"]);
        let newest = |row: Option<crate::RowValue<'_>>| row.map(|row| row.payload().to_vec());
        assert_eq!(
            newest(transaction.get_newest(&key(&index, 1)).unwrap()).unwrap(),
            b"one"
        );
        drop(transaction);
        assert_eq!(server.manager.positions().written, written);
    }

    #[test]
    fn logged_and_temporary_rows_commit_together() {
        let server = TestServer::new();
        let session = server.session();
        let index = server.manager.storage().temporary().new_index().unwrap();
        let mut transaction = server.begin(&session, IsolationLevel::RepeatableRead);
        write(&mut transaction, &key(&index, 1), b"one");
        server.table.set(&mut transaction, "a", "1").unwrap();
        assert!(transaction.commit_blocking().unwrap().gtid.is_some());
        assert_eq!(server.get("a").as_deref(), Some("1"));
        let mut transaction = server.begin(&session, IsolationLevel::RepeatableRead);
        assert_eq!(read(&mut transaction, &index), [b"one"]);

        // Refused as a whole.
        write(&mut transaction, &key(&index, 2), b"two");
        server.table.set(&mut transaction, "a", "2").unwrap();
        assert!(transaction.commit_where(|| false).wait_blocking().is_err());
        let mut transaction = server.begin(&session, IsolationLevel::RepeatableRead);
        assert_eq!(read(&mut transaction, &index), [b"one"]);
    }

    #[test]
    fn a_dropped_index_number_is_free_when_the_transaction_ends() {
        let server = TestServer::new();
        let session = server.manager.session(Interrupt::new());
        let space = server.manager.storage().temporary().clone();
        let index = space.new_index().unwrap();
        let (id, gone) = (index.id(), key(&index, 1));
        let mut transaction = server.begin(&session, IsolationLevel::ReadCommitted);
        write(&mut transaction, &gone, b"one");
        transaction.drop_temporary_indexes([index]);
        let other = space.new_index().unwrap();
        assert_ne!(other.id(), id);
        transaction.commit_blocking().unwrap();
        let again = space.new_index().unwrap();
        assert_eq!(again.id(), id);
        // Also in a transaction that may write nothing that is logged.
        let options = TransactionOptions {
            access: AccessMode::ReadOnly,
            ..TransactionOptions::default()
        };
        let mut transaction = server.manager.begin(&session, options);
        assert!(read(&mut transaction, &again).is_empty());
        let mark = transaction.temporary_mark();
        write(&mut transaction, &gone, b"kept");
        transaction.keep_temporary_since(mark);
        write(&mut transaction, &key(&again, 2), b"not kept");
        transaction.rollback();
        let mut transaction = server.begin(&session, IsolationLevel::ReadCommitted);
        assert_eq!(read(&mut transaction, &again), [b"kept"]);
    }
}
