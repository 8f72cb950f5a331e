//! Types of operators: rules and conversions that follow from the types of bound operands. The binder and the functions
//! share them.

pub(crate) mod charset;
pub(crate) mod compared;
pub(crate) mod fold;
pub(crate) mod operators;
pub(crate) mod refusal;
