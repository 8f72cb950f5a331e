//! Values of sequences: `NEXT VALUE FOR s` and `NEXTVAL(s)`, `PREVIOUS VALUE FOR s` and `LASTVAL(s)`, `SETVAL(s, …)`.

use super::TableName;
use std::fmt;

/// A value of a sequence.
#[derive(Debug, Clone, PartialEq)]
pub struct SequenceValue {
    pub sequence: TableName,
    pub operation: SequenceOperation,
}

/// Operation on a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SequenceOperation {
    /// `NEXTVAL`.
    Next,
    /// `LASTVAL`: the session's last value.
    Last,
    /// `SETVAL(s, value[, is_used[, round]])`.
    Set {
        value: i64,
        /// Whether the value counts as taken.
        is_used: bool,
        round: u64,
    },
}

impl SequenceOperation {
    /// Returns the name of the function.
    pub const fn name(self) -> &'static str {
        match self {
            SequenceOperation::Next => "nextval",
            SequenceOperation::Last => "lastval",
            SequenceOperation::Set { .. } => "setval",
        }
    }

    /// Returns the arguments after the sequence's name, each preceded by a comma.
    pub fn arguments(self) -> String {
        match self {
            SequenceOperation::Set {
                value,
                is_used,
                round,
            } => format!(",{value},{},{round}", u8::from(is_used)),
            SequenceOperation::Next | SequenceOperation::Last => String::new(),
        }
    }
}

impl fmt::Display for SequenceValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, arguments) = (self.operation.name(), self.operation.arguments());
        write!(f, "{name}({}{arguments})", self.sequence)
    }
}
