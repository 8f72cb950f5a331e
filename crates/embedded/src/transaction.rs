//! Explicit transactions.

use crate::change::Change;
use crate::error::{ErrorKind, Result, RowError};
use crate::scan::Scan;
use crate::session::{Affected, Session, index_of, scan_rows};
use crate::table::Table;
use paceline_server::embedded::{CollectedRows, block_on};
use paceline_table_access::{IndexBounds, IntoValues, ReadMode, RowRef};
use paceline_types::error_code::ER_LOCK_DEADLOCK;
use paceline_types::{AccessMode, Gtid, IsolationLevel};

/// Options of a transaction. The defaults are those of the session's variables: REPEATABLE READ, read and write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TransactionOptions {
    pub(crate) isolation: Option<IsolationLevel>,
    pub(crate) access: Option<AccessMode>,
}

impl TransactionOptions {
    /// Returns the defaults.
    pub fn new() -> TransactionOptions {
        TransactionOptions::default()
    }

    /// Sets the isolation level.
    #[must_use]
    pub fn isolation(mut self, level: IsolationLevel) -> TransactionOptions {
        self.isolation = Some(level);
        self
    }

    /// Forbids changes: they get 1792.
    #[must_use]
    pub fn read_only(mut self) -> TransactionOptions {
        self.access = Some(AccessMode::ReadOnly);
        self
    }
}

/// A transaction of several calls. Dropping it rolls it back.
///
/// A deadlock or a conflict with another transaction has rolled it back when the call returns
/// ([`crate::ErrorKind::Conflict`]); later calls then get 1213, too. After other errors the call is undone, and the
/// transaction continues. So it is with SQL.
pub struct Transaction<'s> {
    session: &'s mut Session,
    is_over: bool,
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.session.program_session().roll_back();
        }
    }
}

impl<'s> Transaction<'s> {
    pub(crate) fn new(session: &'s mut Session) -> Transaction<'s> {
        Transaction {
            session,
            is_over: false,
        }
    }

    fn check_open(&mut self) -> Result<()> {
        match self.session.program_session().is_in_transaction() {
            true => Ok(()),
            false => Err(paceline_table_access::Error::new(ER_LOCK_DEADLOCK, &[]).into()),
        }
    }

    /// Reads the row with this key: of the primary key or, without one, of the first unique key without NULL. The row
    /// borrows its bytes from the transaction.
    ///
    /// # Errors
    /// Those of [`Session::get`].
    pub fn get(&mut self, table: &Table, key: impl IntoValues) -> Result<Option<RowRef<'_>>> {
        self.get_by(table, None, key, ReadMode::Snapshot)
    }

    /// Reads the row with this key of a unique index (`None`: the one of the rows), perhaps under lock.
    ///
    /// # Errors
    /// Those of [`Session::get`]; 1205, 1213, 1020 for locks.
    pub fn get_by(
        &mut self,
        table: &Table,
        index: Option<&str>,
        key: impl IntoValues,
        mode: ReadMode,
    ) -> Result<Option<RowRef<'_>>> {
        self.check_open()?;
        let view = self.session.begin_read(table)?;
        let index = index_of(&view, index)?;
        let mut values = self.session.take_values();
        key.append_to(&mut values);
        // The row borrows from the session, so the list of values cannot be given back after it.
        let session = self.session.program_session();
        Ok(session.get(&view, index, &values, mode)?)
    }

    /// Reads the rows of a part of an index, perhaps under lock. `visit` gets each row; it ends the scan by returning
    /// false.
    ///
    /// # Errors
    /// Those of the scan's bounds, of locks, and of `visit`.
    pub fn scan(
        &mut self,
        table: &Table,
        scan: &Scan<'_>,
        visit: impl FnMut(RowRef<'_>) -> Result<bool, RowError>,
    ) -> Result<()> {
        self.scan_parts(table, scan, std::slice::from_ref(scan.bounds()), visit)
    }

    /// Repeats a scan for each of these values of the index's first columns, with one cursor. The scan's limit is that
    /// of each part.
    ///
    /// # Errors
    /// Those of [`Transaction::scan`].
    pub fn scan_each<P: IntoValues>(
        &mut self,
        table: &Table,
        scan: &Scan<'_>,
        prefixes: impl IntoIterator<Item = P>,
        visit: impl FnMut(RowRef<'_>) -> Result<bool, RowError>,
    ) -> Result<()> {
        self.scan_parts(table, scan, &scan.bounds_of_each(prefixes), visit)
    }

    fn scan_parts(
        &mut self,
        table: &Table,
        scan: &Scan<'_>,
        bounds: &[IndexBounds],
        visit: impl FnMut(RowRef<'_>) -> Result<bool, RowError>,
    ) -> Result<()> {
        self.check_open()?;
        let view = self.session.begin_read(table)?;
        let session = self.session.program_session();
        match scan_rows(session, &view, scan, bounds, visit) {
            Ok(()) => {
                let server = session.server().clone();
                block_on(server.runtime(), session.end_read())?;
                Ok(())
            }
            Err(error) => {
                session.abandon_read();
                Err(error)
            }
        }
    }

    /// Inserts a row.
    ///
    /// # Errors
    /// Those of [`Session::insert`].
    pub fn insert(&mut self, table: &Table, row: impl IntoValues) -> Result<Affected> {
        self.check_open()?;
        self.session.change(table, Change::Insert, row, ())
    }

    /// Inserts a row in the place of those that have one of its unique values.
    ///
    /// # Errors
    /// Those of [`Session::replace`].
    pub fn replace(&mut self, table: &Table, row: impl IntoValues) -> Result<Affected> {
        self.check_open()?;
        self.session.change(table, Change::Replace, row, ())
    }

    /// Sets the handle's columns in the row with this key.
    ///
    /// # Errors
    /// Those of [`Session::update`].
    pub fn update(&mut self, table: &Table, key: impl IntoValues, row: impl IntoValues) -> Result<Affected> {
        self.check_open()?;
        self.session.change(table, Change::Update, row, key)
    }

    /// Deletes the row with this key.
    ///
    /// # Errors
    /// Those of [`Session::delete`].
    pub fn delete(&mut self, table: &Table, key: impl IntoValues) -> Result<Affected> {
        self.check_open()?;
        self.session.change(table, Change::Delete, (), key)
    }

    /// Executes a statement within the transaction. One that commits by itself, such as CREATE TABLE, ends it.
    ///
    /// # Errors
    /// Those of [`Session::execute`].
    pub fn execute(&mut self, text: &str, parameters: impl IntoValues) -> Result<Affected> {
        self.check_open()?;
        self.session.execute(text, parameters)
    }

    /// Executes a query within the transaction.
    ///
    /// # Errors
    /// Those of [`Session::query`].
    pub fn query(&mut self, text: &str, parameters: impl IntoValues) -> Result<CollectedRows> {
        self.check_open()?;
        self.session.query(text, parameters)
    }

    /// Commits: what was changed is in the log, synced, and visible to all. Returns the transaction's GTID; `None` if
    /// it has changed nothing.
    ///
    /// # Errors
    /// 1213 if the transaction was rolled back by an earlier error; those of the commit, such as 1026 for a full log.
    pub fn commit(mut self) -> Result<Option<Gtid>> {
        self.is_over = true;
        let session = self.session.program_session();
        let server = session.server().clone();
        Ok(block_on(server.runtime(), session.commit())?)
    }

    /// Undoes everything.
    pub fn roll_back(self) {}

    /// Lets go of the session and leaves the transaction open in it, until [`Session::resume`]. For programs that
    /// cannot hold a borrow: calls of the session are within the transaction meanwhile.
    pub fn suspend(mut self) {
        self.is_over = true;
    }
}

impl Session {
    /// Begins a transaction.
    ///
    /// # Errors
    /// Those of KILL and of the close.
    pub fn begin(&mut self, options: TransactionOptions) -> Result<Transaction<'_>> {
        let session = self.program_session();
        let server = session.server().clone();
        block_on(server.runtime(), session.begin(options.isolation, options.access))?;
        Ok(Transaction::new(self))
    }

    /// Continues a transaction that was suspended. If a conflict or a statement of SQL has ended it, its calls get
    /// 1213.
    pub fn resume(&mut self) -> Transaction<'_> {
        Transaction::new(self)
    }

    /// Runs a function within a transaction and commits it. If it conflicts with another one ([`ErrorKind::Conflict`]),
    /// the function is run again, at most `attempts` times in all.
    ///
    /// # Errors
    /// That of the function, after the transaction was rolled back; that of the commit.
    pub fn transact<T>(
        &mut self,
        options: TransactionOptions,
        attempts: usize,
        mut function: impl FnMut(&mut Transaction<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut attempt = 1;
        loop {
            let mut transaction = self.begin(options)?;
            let done = function(&mut transaction);
            let done = match done {
                Ok(value) => transaction.commit().map(|_| value),
                Err(error) => {
                    transaction.roll_back();
                    Err(error)
                }
            };
            match done {
                Err(error) if error.kind() == ErrorKind::Conflict && attempt < attempts => attempt += 1,
                done => return done,
            }
        }
    }

    /// Inserts rows in one transaction: all or none, with one wait for the log.
    ///
    /// # Errors
    /// Those of the first row that fails.
    pub fn insert_all<R: IntoValues>(
        &mut self,
        table: &Table,
        rows: impl IntoIterator<Item = R>,
    ) -> Result<u64> {
        let mut transaction = self.begin(TransactionOptions::default())?;
        let mut count = 0;
        for row in rows {
            count += transaction.insert(table, row)?.rows;
        }
        transaction.commit()?;
        Ok(count)
    }
}
