//! `SET`.

use crate::ast::Expr;

use super::account::{AccountName, PasswordSpec};
use crate::ast::VariableScope;
use paceline_types::{AccessMode, IsolationLevel};

/// One part of `SET`.
#[derive(Debug, Clone, PartialEq)]
pub enum SetItem {
    /// A system variable.
    Variable {
        /// Which of its values.
        scope: VariableScope,
        /// `base` of `SET base.name`: a structured variable (a key cache, a replication connection).
        base: Option<String>,
        /// The name as written.
        name: String,
        /// The value.
        value: SetValue,
    },
    /// `@name := value`.
    UserVariable {
        /// The name without `@`.
        name: String,
        /// The value.
        value: Expr,
    },
    /// `NAMES charset [COLLATE collation]`; no charset means `DEFAULT`.
    Names {
        /// The character set.
        charset: Option<String>,
        /// The collation.
        collation: Option<String>,
    },
    /// `CHARACTER SET charset`; none means `DEFAULT`.
    CharacterSet(Option<String>),
    /// `[GLOBAL | SESSION] TRANSACTION …`.
    Transaction {
        /// For the next transaction, for the session, or for new sessions.
        scope: TransactionScope,
        /// `ISOLATION LEVEL`.
        isolation: Option<IsolationLevel>,
        /// `READ ONLY` or `READ WRITE`.
        access: Option<AccessMode>,
    },
    /// `PASSWORD [FOR account] = …`.
    Password {
        /// The account; none means one's own.
        account: Option<AccountName>,
        /// The password.
        password: PasswordSpec,
    },
    /// `ROLE`, `DEFAULT ROLE`.
    Role,
}

/// For whom `SET TRANSACTION` holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionScope {
    /// The next transaction of this session.
    Next,
    /// All later transactions of this session.
    Session,
    /// Sessions to come.
    Global,
}

/// The value of a system variable.
#[derive(Debug, Clone, PartialEq)]
pub enum SetValue {
    /// `DEFAULT`.
    Default,
    /// A bare word, which stands for a string: `ON`, `utf8mb4`, `ROW`.
    Word(String),
    /// An expression.
    Expr(Expr),
}
