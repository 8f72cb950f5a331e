//! Sessions: rows and SQL, each call a transaction of its own, or within an explicit one.

use crate::change::{Change, ChangePlans};
use crate::error::{Error, Result, RowError};
use crate::scan::Scan;
use crate::table::Table;
use paceline_server::embedded::{
    CollectedRows, Currency, EmbeddedServer, Interrupter, ProgramSession, block_on,
};
use paceline_table_access::{IndexBounds, IndexParts, IntoValues, ReadMode, RowRef, TableView};
use paceline_types::Value;
use std::sync::Arc;

/// Number of times that a handle is looked up again when its table changes while it is used.
const LOOKUPS_MAX: usize = 8;

/// Effect of a statement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Affected {
    /// Number of rows that were changed; 0 for a statement that is not about rows.
    pub rows: u64,
    /// First generated AUTO_INCREMENT value; 0 for none.
    pub last_insert_id: u64,
}

/// A session of the program: one thread uses it at a time. It has all privileges, is in `SHOW PROCESSLIST`, and KILL
/// ends it.
///
/// Each call is a transaction of its own: it has committed, durably, when it returns. [`Session::begin`] begins one of
/// several calls.
pub struct Session {
    inner: ProgramSession,
    plans: ChangePlans,
    values: Vec<Value>,
}

impl Session {
    pub(crate) fn new(server: &Arc<EmbeddedServer>) -> Result<Session> {
        let inner = ProgramSession::new(server).map_err(|error| Error::Connect(error.to_string()))?;
        Ok(Session {
            inner,
            plans: ChangePlans::default(),
            values: Vec::new(),
        })
    }

    /// Returns a handle by which another thread ends this session's calls, as KILL does.
    pub fn interrupter(&self) -> Interrupter {
        self.inner.interrupter()
    }

    /// Executes a text that is one statement, with values for its parameters (`?`).
    ///
    /// # Errors
    /// Those of the statement. 1295 for SHOW, EXPLAIN, CALL and other kinds that have rows and no plan: they need a
    /// connection ([`crate::Database::connect`]).
    pub fn execute(&mut self, text: &str, parameters: impl IntoValues) -> Result<Affected> {
        let (_, affected) = self.run(text, parameters)?;
        Ok(affected)
    }

    /// Executes a query and returns its rows, which are collected in memory.
    ///
    /// # Errors
    /// Those of [`Session::execute`].
    pub fn query(&mut self, text: &str, parameters: impl IntoValues) -> Result<CollectedRows> {
        let (rows, _) = self.run(text, parameters)?;
        Ok(rows)
    }

    fn run(&mut self, text: &str, parameters: impl IntoValues) -> Result<(CollectedRows, Affected)> {
        let mut values = std::mem::take(&mut self.values);
        values.clear();
        parameters.append_to(&mut values);
        let server = self.inner.server().clone();
        let done = block_on(server.runtime(), self.inner.execute(text, &values));
        self.values = values;
        let (rows, outcome) = done?;
        let affected = Affected {
            rows: outcome.affected_rows,
            last_insert_id: outcome.last_insert_id,
        };
        Ok((rows, affected))
    }

    /// Returns a handle of a table, `database.table` or one of the database of USE, with all visible columns.
    ///
    /// # Errors
    /// 1146; 1347 for a view.
    pub fn table(&self, name: &str) -> Result<Table> {
        Table::find(&self.inner, name, None)
    }

    /// Returns a handle of a table with these columns, in this order.
    ///
    /// # Errors
    /// 1054, 1110, and those of [`Session::table`].
    pub fn table_columns(&self, name: &str, columns: &[&str]) -> Result<Table> {
        Table::find(&self.inner, name, Some(columns))
    }

    /// Reads the row with this key: of the primary key or, without one, of the first unique key without NULL. `read`
    /// gets the row and returns what is wanted of it; nothing of the row is copied before.
    ///
    /// # Errors
    /// 1176 for a table without such a key; 1136 and 1366 for values that are no such key; those of `read`.
    pub fn get<T>(
        &mut self,
        table: &Table,
        key: impl IntoValues,
        read: impl FnOnce(RowRef<'_>) -> Result<T, RowError>,
    ) -> Result<Option<T>> {
        self.get_by(table, None, key, read)
    }

    /// Reads the row with this key of a unique index.
    ///
    /// # Errors
    /// Those of [`Session::get`].
    pub fn get_by<T>(
        &mut self,
        table: &Table,
        index: Option<&str>,
        key: impl IntoValues,
        read: impl FnOnce(RowRef<'_>) -> Result<T, RowError>,
    ) -> Result<Option<T>> {
        let mut values = std::mem::take(&mut self.values);
        values.clear();
        key.append_to(&mut values);
        let read = self.reading(table, |session, view| {
            let index = index_of(view, index)?;
            let row = session.get(view, index, &values, ReadMode::Snapshot)?;
            Ok(row.map(read).transpose()?)
        });
        self.values = values;
        read
    }

    /// Reads the rows of a part of an index, in its order. `visit` gets each row; it ends the scan by returning false.
    ///
    /// # Errors
    /// Those of the scan's bounds, and of `visit`.
    pub fn scan(
        &mut self,
        table: &Table,
        scan: &Scan<'_>,
        visit: impl FnMut(RowRef<'_>) -> Result<bool, RowError>,
    ) -> Result<()> {
        let bounds = std::slice::from_ref(scan.bounds());
        self.reading(table, |session, view| {
            scan_rows(session, view, scan, bounds, visit)
        })
    }

    /// Repeats a scan for each of these values of the index's first columns, with one cursor and one snapshot. The
    /// scan's limit is that of each part.
    ///
    /// # Errors
    /// Those of [`Session::scan`].
    pub fn scan_each<P: IntoValues>(
        &mut self,
        table: &Table,
        scan: &Scan<'_>,
        prefixes: impl IntoIterator<Item = P>,
        visit: impl FnMut(RowRef<'_>) -> Result<bool, RowError>,
    ) -> Result<()> {
        let bounds = scan.bounds_of_each(prefixes);
        self.reading(table, |session, view| {
            scan_rows(session, view, scan, &bounds, visit)
        })
    }

    /// Runs a read: begins and ends its transaction, unless there is one.
    fn reading<T>(
        &mut self,
        table: &Table,
        read: impl FnOnce(&mut ProgramSession, &Arc<TableView>) -> Result<T>,
    ) -> Result<T> {
        let view = self.begin_read(table)?;
        match read(&mut self.inner, &view) {
            Ok(value) => {
                let server = self.inner.server().clone();
                block_on(server.runtime(), self.inner.end_read())?;
                Ok(value)
            }
            Err(error) => {
                self.inner.abandon_read();
                Err(error)
            }
        }
    }

    /// Begins a read with the current definition of the table.
    pub(crate) fn begin_read(&mut self, table: &Table) -> Result<Arc<TableView>> {
        for _ in 0..LOOKUPS_MAX {
            let view = table.view();
            match self.inner.begin_read(view.definition()) {
                Ok(Currency::Current) => return Ok(view),
                Ok(Currency::Outdated) => {
                    self.inner.abandon_read();
                    table.refresh(&self.inner)?;
                }
                Err(error) => {
                    self.inner.abandon_read();
                    return Err(error.into());
                }
            }
        }
        Err(paceline_table_access::Error::new(paceline_types::error_code::ER_TABLE_DEF_CHANGED, &[]).into())
    }

    /// Returns the view of a handle, which is looked up again if the table was altered.
    fn current_view(&self, table: &Table) -> Result<Arc<TableView>> {
        let now = self.inner.table_definition(table.database(), table.name())?;
        if now.version() != table.view().version() {
            table.refresh(&self.inner)?;
        }
        Ok(table.view())
    }

    /// Inserts a row: the values of the handle's columns. The others get their defaults.
    ///
    /// # Errors
    /// Those of an INSERT; see [`crate::ErrorKind`].
    pub fn insert(&mut self, table: &Table, row: impl IntoValues) -> Result<Affected> {
        self.change(table, Change::Insert, row, ())
    }

    /// Inserts a row in the place of those that have one of its unique values (REPLACE).
    ///
    /// # Errors
    /// Those of a REPLACE.
    pub fn replace(&mut self, table: &Table, row: impl IntoValues) -> Result<Affected> {
        self.change(table, Change::Replace, row, ())
    }

    /// Sets the handle's columns in the row with this key. Returns 0 rows if there is none, or nothing has changed.
    ///
    /// # Errors
    /// Those of an UPDATE; 1176 for a table without a key.
    pub fn update(&mut self, table: &Table, key: impl IntoValues, row: impl IntoValues) -> Result<Affected> {
        self.change(table, Change::Update, row, key)
    }

    /// Deletes the row with this key. Returns 0 rows if there is none.
    ///
    /// # Errors
    /// Those of a DELETE; 1176 for a table without a key.
    pub fn delete(&mut self, table: &Table, key: impl IntoValues) -> Result<Affected> {
        self.change(table, Change::Delete, (), key)
    }

    pub(crate) fn change(
        &mut self,
        table: &Table,
        change: Change,
        row: impl IntoValues,
        key: impl IntoValues,
    ) -> Result<Affected> {
        let mut values = std::mem::take(&mut self.values);
        values.clear();
        row.append_to(&mut values);
        let view = self.current_view(table)?;
        if change != Change::Delete {
            view.check_count(values.len())?;
        }
        let of_row = values.len();
        key.append_to(&mut values);
        if matches!(change, Change::Update | Change::Delete) {
            let index = view.row_index()?;
            if values.len() - of_row != view.definition().indexes()[index].parts.len() {
                let error = paceline_types::error_code::ER_WRONG_VALUE_COUNT_ON_ROW;
                return Err(paceline_table_access::Error::new(error, &[&1]).into());
            }
        }
        let mut prepared = self.plans.take(&mut self.inner, table, &view, change)?;
        let server = self.inner.server().clone();
        let done = block_on(server.runtime(), self.inner.change(&mut prepared, &values));
        self.plans.put(table, &view, change, prepared);
        self.values = values;
        let outcome = done?;
        Ok(Affected {
            rows: outcome.affected_rows,
            last_insert_id: outcome.last_insert_id,
        })
    }

    pub(crate) fn program_session(&mut self) -> &mut ProgramSession {
        &mut self.inner
    }

    pub(crate) fn take_values(&mut self) -> Vec<Value> {
        let mut values = std::mem::take(&mut self.values);
        values.clear();
        values
    }
}

/// Returns an index by its name, or the one of the rows.
pub(crate) fn index_of(view: &TableView, name: Option<&str>) -> Result<usize> {
    Ok(match name {
        Some(name) => view.index(name)?,
        None => view.row_index()?,
    })
}

/// Visits the rows of a scan, of each of these parts of its index.
pub(crate) fn scan_rows(
    session: &mut ProgramSession,
    view: &Arc<TableView>,
    scan: &Scan<'_>,
    bounds: &[IndexBounds],
    mut visit: impl FnMut(RowRef<'_>) -> Result<bool, RowError>,
) -> Result<()> {
    let parts = IndexParts {
        index: index_of(view, scan.index_name())?,
        bounds,
        direction: scan.direction(),
        limit: scan.limit_rows(),
    };
    let mut rows = session.scan(view, &parts, scan.mode())?;
    while let Some(row) = rows.next()? {
        if !visit(row)? {
            break;
        }
    }
    Ok(())
}
