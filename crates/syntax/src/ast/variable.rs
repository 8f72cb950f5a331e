//! System variables.

/// The value of a system variable that a statement means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VariableScope {
    /// `@@name`: the session's value if there is one, else the global value.
    Default,
    /// `@@session.name`, `@@local.name`, `SET SESSION`.
    Session,
    /// `@@global.name`, `SET GLOBAL`.
    Global,
}
