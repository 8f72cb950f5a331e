//! Dependences of a statement's text, for servers that execute it again.
//!
//! Values that the log can state (`LAST_INSERT_ID()`, the seeds of `RAND()`, user variables) precede the text in the
//! log. Anything else that may differ elsewhere makes the statement *unsafe*. The reasons, and the rules for each of
//! them, are MariaDB's (`LEX::enum_binlog_stmt_unsafe` in sql/sql_lex.h, tried with 10.11).

use std::cell::{Cell, RefCell};

use paceline_catalog::TableDefinition;
use paceline_expression::{Dependence, Expr as BoundExpr};
use paceline_types::error_code::*;
use paceline_types::{ErrorCode, Value};

/// Declares [`UnsafeReason`] with the error whose text explains each reason.
macro_rules! unsafe_reasons {
    ($($reason:ident => $code:ident,)*) => {
        /// Reason why the text of a statement may have another effect on another server. The order is that of MariaDB's
        /// warnings.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs)] // The names are MariaDB's own.
        pub enum UnsafeReason {
            $($reason,)*
        }

        impl UnsafeReason {
            const ALL: &[UnsafeReason] = &[$(UnsafeReason::$reason,)*];

            /// Returns the error whose text explains the reason.
            pub fn code(self) -> ErrorCode {
                match self {
                    $(UnsafeReason::$reason => $code,)*
                }
            }
        }
    };
}

unsafe_reasons! {
    Limit => ER_BINLOG_UNSAFE_LIMIT,
    SystemTable => ER_BINLOG_UNSAFE_SYSTEM_TABLE,
    LoadableFunction => ER_BINLOG_UNSAFE_UDF,
    SystemVariable => ER_BINLOG_UNSAFE_SYSTEM_VARIABLE,
    SystemFunction => ER_BINLOG_UNSAFE_SYSTEM_FUNCTION,
    InsertIgnoreSelect => ER_BINLOG_UNSAFE_INSERT_IGNORE_SELECT,
    InsertSelectUpdate => ER_BINLOG_UNSAFE_INSERT_SELECT_UPDATE,
    WriteAutoincSelect => ER_BINLOG_UNSAFE_WRITE_AUTOINC_SELECT,
    ReplaceSelect => ER_BINLOG_UNSAFE_REPLACE_SELECT,
    UpdateIgnore => ER_BINLOG_UNSAFE_UPDATE_IGNORE,
    InsertTwoKeys => ER_BINLOG_UNSAFE_INSERT_TWO_KEYS,
    AutoincNotFirst => ER_BINLOG_UNSAFE_AUTOINC_NOT_FIRST,
    SkipLocked => ER_BINLOG_UNSAFE_SKIP_LOCKED,
}

/// Set of reasons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnsafeReasons(u16);

impl UnsafeReasons {
    pub(super) fn add(&mut self, reason: UnsafeReason) {
        self.0 |= 1 << reason as u16;
    }

    /// Returns whether there is no reason.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the reasons in the order of MariaDB's warnings.
    pub fn iter(self) -> impl Iterator<Item = UnsafeReason> {
        let is_present = move |reason: &UnsafeReason| self.0 & 1 << *reason as u16 != 0;
        UnsafeReason::ALL.iter().copied().filter(is_present)
    }
}

/// System variables whose values are in the log with each statement.
const LOGGED_VARIABLES: [&str; 24] = [
    "auto_increment_increment",
    "auto_increment_offset",
    "character_set_client",
    "character_set_connection",
    "character_set_database",
    "character_set_server",
    "check_constraint_checks",
    "collation_connection",
    "collation_database",
    "collation_server",
    "explicit_defaults_for_timestamp",
    "foreign_key_checks",
    "identity",
    "last_insert_id",
    "lc_time_names",
    "pseudo_thread_id",
    "rand_seed1",
    "rand_seed2",
    "sql_auto_is_null",
    "sql_if_exists",
    "system_versioning_insert_history",
    "time_zone",
    "timestamp",
    "unique_checks",
];

/// Dependences of a statement's text.
#[derive(Debug, Default)]
pub struct TextDependence {
    /// Reasons in the statement itself.
    unsafe_reasons: UnsafeReasons,
    reads_last_insert_id: bool,
    uses_random: bool,
    user_variables: Vec<Box<str>>,
}

impl TextDependence {
    /// Returns the reasons in the statement itself.
    pub(super) fn unsafe_reasons(&self) -> UnsafeReasons {
        self.unsafe_reasons
    }

    /// Returns whether the statement reads `LAST_INSERT_ID()`.
    pub fn reads_last_insert_id(&self) -> bool {
        self.reads_last_insert_id
    }

    /// Returns whether the statement uses the session's random numbers.
    pub fn uses_random(&self) -> bool {
        self.uses_random
    }

    /// Returns the user variables that the statement reads, in lower case, in the order in which they were bound.
    pub fn user_variables(&self) -> &[Box<str>] {
        &self.user_variables
    }
}

/// Collects what a statement depends on while it is planned.
#[derive(Debug, Default)]
pub(super) struct TextDependences {
    unsafe_reasons: Cell<UnsafeReasons>,
    reads_last_insert_id: Cell<bool>,
    uses_random: Cell<bool>,
    user_variables: RefCell<Vec<Box<str>>>,
}

impl TextDependences {
    pub fn note_unsafe(&self, reason: UnsafeReason) {
        let mut reasons = self.unsafe_reasons.get();
        reasons.add(reason);
        self.unsafe_reasons.set(reasons);
    }

    /// Notes a LIMIT: it is not certain which rows it includes, unless these are none.
    pub fn note_limit(&self, count: Option<&BoundExpr>) {
        let count = count.map(BoundExpr::as_literal);
        if count.is_some_and(|count| !matches!(count, Some(Value::Int(0) | Value::UInt(0)))) {
            self.note_unsafe(UnsafeReason::Limit);
        }
    }

    pub fn depend_on(&self, dependence: Dependence<'_>) {
        match dependence {
            Dependence::Function(function) => match function.name {
                "last_insert_id" => self.reads_last_insert_id.set(true),
                "rand" => self.uses_random.set(true),
                _ if function.depends_on_server => self.note_unsafe(UnsafeReason::SystemFunction),
                _ => {}
            },
            Dependence::Loadable => self.note_unsafe(UnsafeReason::LoadableFunction),
            Dependence::UserVariable(name) => {
                let mut variables = self.user_variables.borrow_mut();
                if !variables.iter().any(|known| **known == *name) {
                    variables.push(name.into());
                }
            }
            Dependence::SystemVariable(name) => {
                if !LOGGED_VARIABLES.contains(&name) {
                    self.note_unsafe(UnsafeReason::SystemVariable);
                }
                if matches!(name, "last_insert_id" | "identity") {
                    self.reads_last_insert_id.set(true);
                }
            }
        }
    }

    /// Returns the result.
    pub fn take(self) -> TextDependence {
        TextDependence {
            unsafe_reasons: self.unsafe_reasons.get(),
            reads_last_insert_id: self.reads_last_insert_id.get(),
            uses_random: self.uses_random.get(),
            user_variables: self.user_variables.take(),
        }
    }
}

/// Returns whether the table has an AUTO_INCREMENT column that no index begins with.
pub(super) fn numbers_within_key(table: &TableDefinition) -> bool {
    let Some(column) = table.auto_increment_column() else {
        return false;
    };
    let begins =
        |index: usize| (table.indexes()[index].parts.first()).is_some_and(|part| part.column == column);
    !(0..table.indexes().len()).any(begins)
}
