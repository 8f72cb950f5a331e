//! Functions: one table entry each (name, how many arguments, how its type follows from theirs, how it is evaluated), grouped by
//! subject in the files of this folder.

use super::tree::Expr;

/// Whether a function gives the same result when it is called again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stability {
    /// The same arguments give the same result: folded at bind.
    Pure,
    /// The same throughout an execution: `NOW()`, `DATABASE()`.
    Execution,
    /// Another result, or an effect, at each call: `RAND()`, `SLEEP()`.
    Volatile,
}

impl Stability {
    /// Whether one evaluation serves a whole execution.
    pub const fn is_constant_during_execution(self) -> bool {
        matches!(self, Stability::Pure | Stability::Execution)
    }
}

/// A function of the table.
#[derive(Debug)]
pub struct Function {
    /// Its name in lower case.
    pub name: &'static str,
    /// Whether it gives the same result when it is called again.
    pub stability: Stability,
}

/// A call.
#[derive(Clone, Debug)]
pub struct Call {
    /// Which function.
    pub function: &'static Function,
    /// Its arguments.
    pub args: Vec<Expr>,
    /// Keys the state that the call keeps during an execution.
    pub id: u64,
}
