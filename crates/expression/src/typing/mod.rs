//! Types of operators: rules and conversions that follow from the types of bound operands. The binder and the functions
//! share them.

pub(crate) mod adaptation;
pub(crate) mod arithmetic;
pub(crate) mod charset;
pub(crate) mod compared;
pub(crate) mod comparison;
pub(crate) mod fold;
pub(crate) mod operands;
pub(crate) mod reading;
pub(crate) mod refusal;
