//! `SET`.

use crate::ast::Expr;

use super::account::{AccountName, PasswordSpec, RoleName};
use crate::ast::VariableScope;
use paceline_types::{AccessMode, IsolationLevel};

/// One assignment of `SET`.
#[derive(Debug, Clone, PartialEq)]
pub enum SetItem {
    /// A system variable.
    Variable {
        /// The value to set: the session's or the global one.
        scope: VariableScope,
        /// `base` in `SET base.name`, a structured variable (a key cache, a replication connection).
        base: Option<String>,
        /// Name as written.
        name: String,
        value: SetValue,
    },
    /// `@name := value`.
    UserVariable { name: String, value: Expr },
    /// A variable of the program around the statement; a value of `None` means `DEFAULT`.
    ProgramVariable {
        /// The variable, by number.
        variable: usize,
        value: Option<Expr>,
    },
    /// `NAMES charset [COLLATE collation]`; no character set means `DEFAULT`.
    Names {
        charset: Option<String>,
        collation: Option<String>,
    },
    /// `CHARACTER SET charset`; `None` means `DEFAULT`.
    CharacterSet(Option<String>),
    /// `[GLOBAL | SESSION] TRANSACTION …`.
    Transaction {
        /// Scope of the characteristics.
        scope: TransactionScope,
        /// `ISOLATION LEVEL`.
        isolation: Option<IsolationLevel>,
        /// `READ ONLY` or `READ WRITE`.
        access: Option<AccessMode>,
    },
    /// `PASSWORD [FOR account] = …`.
    Password {
        /// `None` is the current account.
        account: Option<AccountName>,
        password: PasswordSpec,
    },
    /// `ROLE`; `None` is `NONE`.
    Role(Option<RoleName>),
    /// `DEFAULT ROLE`.
    DefaultRole {
        /// `None` is `NONE`.
        role: Option<RoleName>,
        /// `FOR`; `None` is the current account.
        account: Option<AccountName>,
    },
}

/// Scope of `SET TRANSACTION`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionScope {
    /// The next transaction of this session.
    Next,
    /// All later transactions of this session.
    Session,
    /// Future sessions.
    Global,
}

/// The value of a system variable.
#[derive(Debug, Clone, PartialEq)]
pub enum SetValue {
    /// `DEFAULT`.
    Default,
    /// An unquoted word, which stands for a string: `ON`, `utf8mb4`, `ROW`.
    Word(String),
    /// An expression.
    Expr(Expr),
}
