//! Dependences of a statement's text, for servers that execute it again.
//!
//! Values that the log can state (`LAST_INSERT_ID()`, the seeds of `RAND()`, user variables) precede the text in the
//! log. Anything else that may differ elsewhere makes the statement *unsafe*. The reasons, and what is a reason, are
//! MariaDB's (`LEX::enum_binlog_stmt_unsafe` in sql/sql_lex.h, tried with 10.11).

use std::cell::{Cell, RefCell};

use paceline_catalog::{ColumnDefault, TableDefinition};
use paceline_expression::{Dependence, Expr as BoundExpr};
use paceline_syntax::ast::Expr;
use paceline_syntax::ast::visit::any_expr;
use paceline_syntax::parse_expression;
use paceline_types::error_code::*;
use paceline_types::{ErrorCode, Value};

/// Reason why the text of a statement may have another effect on another server. The order is that of MariaDB's
/// warnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The names are MariaDB's own.
pub enum UnsafeReason {
    Limit,
    SystemTable,
    SystemVariable,
    SystemFunction,
    InsertIgnoreSelect,
    InsertSelectUpdate,
    WriteAutoincSelect,
    ReplaceSelect,
    UpdateIgnore,
    InsertTwoKeys,
    AutoincNotFirst,
    SkipLocked,
}

impl UnsafeReason {
    const ALL: [UnsafeReason; 12] = [
        UnsafeReason::Limit,
        UnsafeReason::SystemTable,
        UnsafeReason::SystemVariable,
        UnsafeReason::SystemFunction,
        UnsafeReason::InsertIgnoreSelect,
        UnsafeReason::InsertSelectUpdate,
        UnsafeReason::WriteAutoincSelect,
        UnsafeReason::ReplaceSelect,
        UnsafeReason::UpdateIgnore,
        UnsafeReason::InsertTwoKeys,
        UnsafeReason::AutoincNotFirst,
        UnsafeReason::SkipLocked,
    ];

    /// Returns the error whose text explains the reason.
    pub fn code(self) -> ErrorCode {
        match self {
            UnsafeReason::Limit => ER_BINLOG_UNSAFE_LIMIT,
            UnsafeReason::SystemTable => ER_BINLOG_UNSAFE_SYSTEM_TABLE,
            UnsafeReason::SystemVariable => ER_BINLOG_UNSAFE_SYSTEM_VARIABLE,
            UnsafeReason::SystemFunction => ER_BINLOG_UNSAFE_SYSTEM_FUNCTION,
            UnsafeReason::InsertIgnoreSelect => ER_BINLOG_UNSAFE_INSERT_IGNORE_SELECT,
            UnsafeReason::InsertSelectUpdate => ER_BINLOG_UNSAFE_INSERT_SELECT_UPDATE,
            UnsafeReason::WriteAutoincSelect => ER_BINLOG_UNSAFE_WRITE_AUTOINC_SELECT,
            UnsafeReason::ReplaceSelect => ER_BINLOG_UNSAFE_REPLACE_SELECT,
            UnsafeReason::UpdateIgnore => ER_BINLOG_UNSAFE_UPDATE_IGNORE,
            UnsafeReason::InsertTwoKeys => ER_BINLOG_UNSAFE_INSERT_TWO_KEYS,
            UnsafeReason::AutoincNotFirst => ER_BINLOG_UNSAFE_AUTOINC_NOT_FIRST,
            UnsafeReason::SkipLocked => ER_BINLOG_UNSAFE_SKIP_LOCKED,
        }
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// Functions whose result may differ elsewhere.
const UNSAFE_FUNCTIONS: [&str; 23] = [
    "binlog_gtid_pos",
    "current_role",
    "current_user",
    "found_rows",
    "get_lock",
    "is_free_lock",
    "is_used_lock",
    "load_file",
    "master_gtid_wait",
    "master_pos_wait",
    "random_bytes",
    "release_all_locks",
    "release_lock",
    "row_count",
    "session_user",
    "sleep",
    "sys_guid",
    "sysdate",
    "system_user",
    "user",
    "uuid",
    "uuid_short",
    "version",
];

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
    /// Bits of [`UnsafeReason`].
    unsafe_reasons: u16,
    reads_last_insert_id: bool,
    uses_random: bool,
    user_variables: Vec<Box<str>>,
}

impl TextDependence {
    /// Returns whether the text may have another effect on another server.
    pub fn is_unsafe(&self) -> bool {
        self.unsafe_reasons != 0
    }

    /// Returns the reasons in the order of MariaDB's warnings.
    pub fn unsafe_reasons(&self) -> impl Iterator<Item = UnsafeReason> + '_ {
        let is_present = |reason: &UnsafeReason| self.unsafe_reasons & reason.bit() != 0;
        UnsafeReason::ALL.into_iter().filter(is_present)
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
    unsafe_reasons: Cell<u16>,
    reads_last_insert_id: Cell<bool>,
    uses_random: Cell<bool>,
    user_variables: RefCell<Vec<Box<str>>>,
}

impl TextDependences {
    pub fn note_unsafe(&self, reason: UnsafeReason) {
        self.unsafe_reasons.set(self.unsafe_reasons.get() | reason.bit());
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
            Dependence::Function("last_insert_id") => self.reads_last_insert_id.set(true),
            Dependence::Function("rand") => self.uses_random.set(true),
            Dependence::Function(name) => {
                if UNSAFE_FUNCTIONS.contains(&name) {
                    self.note_unsafe(UnsafeReason::SystemFunction);
                }
            }
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

/// Returns whether a default of the table may have another value elsewhere. As in MariaDB, it does not matter whether
/// the statement uses it.
pub(super) fn has_unsafe_default(table: &TableDefinition) -> bool {
    let mut is_unsafe = |expr: &Expr| match expr {
        Expr::Call(call) => {
            let name = call.name.to_ascii_lowercase();
            name == "rand" || UNSAFE_FUNCTIONS.contains(&name.as_str())
        }
        _ => false,
    };
    table.columns().iter().any(|column| match &column.default {
        ColumnDefault::Expression(text) => {
            parse_expression(text).is_ok_and(|expr| any_expr(&expr, &mut is_unsafe))
        }
        _ => false,
    })
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
