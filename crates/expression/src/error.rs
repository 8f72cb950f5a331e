//! The error of this crate's functions.

pub use paceline_types::StatementError as Error;

/// Result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;
