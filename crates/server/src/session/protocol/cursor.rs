//! Rows of cursors.

use paceline_expression::session::MemoryCharge;
use paceline_query::execute::StoredRows;
use paceline_query::plan::ResultColumn;

/// An open cursor. Its rows are read when it is opened; beyond a limit they are in a temporary file.
pub struct Cursor {
    pub(in crate::session) columns: Vec<ResultColumn>,
    pub(in crate::session) rows: StoredRows,
    pub(in crate::session) _memory: MemoryCharge,
}
