//! Interface between the executor and its caller: a statement's context, rows and outcome.

use std::sync::Arc;

use paceline_txn::Transaction;
use paceline_types::{Value, ValueRef};

use crate::error::Result;
use crate::plan::ResultColumn;
use paceline_catalog::Catalog;
use paceline_expression::session::SessionContext;

/// Receiver of a result's rows.
pub trait RowSink {
    /// Receives the columns, once, before the first row.
    ///
    /// # Errors
    /// An error of the sink, which ends the execution.
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<()>;

    /// Receives a row.
    ///
    /// # Errors
    /// An error of the sink, which ends the execution.
    fn row(&mut self, row: &[Value]) -> Result<()>;

    /// Receives a row with borrowed values: the fast path of single-row reads.
    ///
    /// # Errors
    /// An error of the sink, which ends the execution.
    fn row_ref(&mut self, row: &[ValueRef<'_>]) -> Result<()> {
        let owned: Vec<Value> = row.iter().map(|value| value.clone().into_owned()).collect();
        self.row(&owned)
    }
}

/// File that LOAD DATA reads.
pub trait LoadInput: Send {
    /// Appends the next piece of the file; nothing at its end.
    ///
    /// # Errors
    /// An error of the file, which ends the execution.
    fn read(&mut self, buffer: &mut Vec<u8>) -> Result<()>;
}

/// Context for the execution of a statement.
pub struct ExecutionContext<'a> {
    /// Transaction of the statement.
    pub transaction: &'a mut Transaction,
    /// Context of the session.
    pub session: &'a mut SessionContext,
    /// The catalog of the plan, for AUTO_INCREMENT counters.
    pub catalog: &'a Arc<Catalog>,
    /// Values of the `?` parameters.
    pub parameters: &'a [Value],
    /// The statement's text, for the log's annotation.
    pub text: &'a [u8],
    /// Meaning of the number of affected rows.
    pub affected: AffectedRows,
    /// Maximum number of rows of a SELECT without its own LIMIT (`sql_select_limit`); `u64::MAX` means no limit.
    pub rows_max: u64,
    /// The file of a LOAD DATA.
    pub input: Option<&'a mut dyn LoadInput>,
}

/// Meaning of the number of affected rows of an UPDATE or INSERT … ON DUPLICATE KEY UPDATE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AffectedRows {
    /// Changed rows.
    #[default]
    Changed,
    /// Found rows (`CLIENT_FOUND_ROWS`).
    Found,
}

/// Outcome of a statement besides its rows: the contents of an OK packet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Whether rows were sent to the sink (then the reply ends with EOF instead of OK).
    pub result_set: bool,
    /// Number of affected rows.
    pub affected_rows: u64,
    /// First generated AUTO_INCREMENT value, or the argument of LAST_INSERT_ID(expr); 0 for none.
    pub last_insert_id: u64,
    /// Text such as "Records: 3  Duplicates: 0  Warnings: 0"; empty for none.
    pub info: String,
    /// Number of rows sent to the sink.
    pub rows_sent: u64,
}
