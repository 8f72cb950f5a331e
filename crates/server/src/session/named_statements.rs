//! Statements of PREPARE.

use paceline_expression::session::MemoryCharge;
use paceline_syntax::Statement;
use std::collections::HashMap;
use std::sync::Arc;

/// Statements of PREPARE, by name in lower case.
#[derive(Default)]
pub struct NamedStatements {
    pub(super) statements: HashMap<String, NamedStatement>,
}

impl NamedStatements {
    /// Removes all statements.
    pub fn clear(&mut self) {
        self.statements.clear();
    }
}

/// A statement of PREPARE.
pub(super) struct NamedStatement {
    pub(super) text: Vec<u8>,
    pub(super) statement: Arc<Statement>,
    pub(super) parameters: usize,
    /// Current database when it was prepared.
    pub(super) database: Option<String>,
    /// Memory of the statement.
    pub(super) _memory: MemoryCharge,
}
