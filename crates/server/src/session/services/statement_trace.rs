//! Trace of the session's latest planned statement, for `information_schema.OPTIMIZER_TRACE`.

use paceline_expression::session::MemoryCharge;
use paceline_types::Value;

/// Trace of a statement.
pub struct StatementTrace {
    /// Text of the statement.
    pub query: String,
    pub trace: String,
    /// Number of bytes that the trace lacks.
    pub missing_bytes: usize,
    /// Whether the session may not see the trace.
    pub is_denied: bool,
    /// Memory of the texts.
    pub _memory: MemoryCharge,
}

impl StatementTrace {
    /// Returns the row of the table.
    pub fn row(&self) -> Vec<Value> {
        let missing = i64::try_from(self.missing_bytes).unwrap_or(i64::MAX);
        vec![
            Value::Text(self.query.clone()),
            Value::Text(self.trace.clone()),
            Value::Int(missing),
            Value::Int(i64::from(self.is_denied)),
        ]
    }
}
