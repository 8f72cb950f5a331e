//! System variables.

/// Which of a system variable's values is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VariableScope {
    /// `@@name`: the session's value if it has one, else the global one.
    Default,
    /// `@@session.name`, `@@local.name`, `SET SESSION`.
    Session,
    /// `@@global.name`, `SET GLOBAL`.
    Global,
}
