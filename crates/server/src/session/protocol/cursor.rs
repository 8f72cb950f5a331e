//! Rows of cursors.

use paceline_expression::session::MemoryCharge;
use paceline_query::execute::{RowSink, RowStore, StoredRows};
use paceline_query::plan::ResultColumn;
use paceline_syntax::Result;
use paceline_types::Value;

/// An open cursor. Its rows are read when it is opened; beyond a limit they are in a temporary file.
pub struct Cursor {
    pub(in crate::session) columns: Vec<ResultColumn>,
    pub(in crate::session) rows: StoredRows,
    pub(in crate::session) _memory: MemoryCharge,
}

/// Sink for the rows of a cursor.
#[derive(Default)]
pub struct CursorSink {
    /// Columns of the query.
    pub columns: Vec<ResultColumn>,
    /// Rows so far.
    pub rows: RowStore,
}

impl RowSink for CursorSink {
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<()> {
        self.columns = columns.to_vec();
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        self.rows.push(row)
    }
}
