//! Failures of modules and calls.

/// Failure of the host during a call, which the caller knows again.
pub type HostError = Box<dyn std::error::Error + Send + Sync>;

/// Reason why a module cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum ModuleError {
    #[error("the module has more than {} bytes", crate::limits::MODULE_BYTES_MAX)]
    TooLong,
    #[error("the module is invalid: {0}")]
    Invalid(String),
    #[error("the module does not export the function {0}")]
    NoFunction(String),
    #[error("the exported function {name} must have the type {wanted}, not {found}")]
    WrongType {
        name: String,
        wanted: String,
        found: String,
    },
    #[error("the module has texts and does not export memory")]
    NoMemory,
    #[error("the module imports {module}.{name}, which the server does not have with this type")]
    UnknownImport { module: String, name: String },
    #[error("the module needs at least {needed} bytes of memory; the limit is {limit}")]
    MemoryLimit { needed: u64, limit: usize },
}

/// Reason why a call has failed. The instance cannot be used any more.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum CallError {
    /// The function called `fail`.
    #[error("{0}")]
    Failed(String),
    /// A trap: an access beyond the memory, a division by zero, a stack that is too deep.
    #[error("{0}")]
    Trap(String),
    /// The function used the interface in a wrong way.
    #[error("{0}")]
    Misuse(&'static str),
    #[error("the call has taken longer than {0} ms")]
    TimeLimit(u64),
    /// [`CallHost`](crate::CallHost) or [`Tables`](crate::Tables).
    #[error(transparent)]
    Host(HostError),
}
