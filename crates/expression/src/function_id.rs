//! Stored functions as expressions know them: by their place among those of the statement.

use crate::expr_type::ExprType;

/// Index of a stored function among those of its statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionId(usize);

impl FunctionId {
    /// Names the function at this index.
    pub fn new(index: usize) -> Self {
        FunctionId(index)
    }

    /// Returns the index.
    pub fn index(self) -> usize {
        self.0
    }
}

/// A call of a stored function.
#[derive(Clone, Debug)]
pub struct StoredCall {
    /// The function.
    pub function: FunctionId,
    /// The call as written, for messages.
    pub text: String,
}

/// The stored function that a call means.
pub struct StoredFunction {
    /// The call.
    pub call: StoredCall,
    /// Type of its value.
    pub ty: ExprType,
    /// Whether it is an aggregate function.
    pub is_aggregate: bool,
}
