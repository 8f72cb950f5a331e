//! Statements that other servers get as text (`binlog_format`).
//!
//! ```text
//!   ROW                                        rows
//!   STATEMENT, MIXED   nothing ordinary changes: nothing is logged
//!                      a text that cannot be repeated here: rows           (see [`SessionState::text_log`])
//!              MIXED   it is unsafe, or below REPEATABLE READ: rows
//!          STATEMENT   below REPEATABLE READ: error 1665; it is unsafe: text, and notes 1592
//!                      otherwise: text
//! ```
//!
//! The rows of such a statement are in the log too, for recovery (`paceline_binlog::group::StatementForm`). So rows in
//! place of text are always right; text is what a tool may need, because each server executes it with its own rows. The
//! values that the text depends on are those before the statement; they are logged before it.

use super::execution::{Execution, QueryOrigin};
use super::logged_statement::{LoggedStatement, logged_time_zone};
use super::state::SessionState;
use crate::errors::of_transaction;
use paceline_binlog::event::{
    EventBody, EventFlags, IntvarEvent, IntvarKind, RandEvent, UserVarEvent, UserVarValue,
};
use paceline_expression::session::{
    BinlogFormat, MemoryCharge, RandomGenerator, SessionContext, Settings, SqlMode, UserVariable,
};
use paceline_query::execute::TextLog;
use paceline_query::plan::{Plan, PlanType, TableUse, UnsafeReasons};
use paceline_syntax::{Error, ParseOptions, Result, parameter_places};
use paceline_txn::{IsolationLevel, StatementText, Transaction};
use paceline_types::error_code::*;
use paceline_types::text::append_value;
use paceline_types::{Collation, Value};

/// Text of a statement for the log, with the values that it depends on.
pub struct SessionTextLog {
    text: Vec<u8>,
    time_zone: String,
    /// `LAST_INSERT_ID()` before the statement, if the statement reads it.
    last_insert_id: Option<u64>,
    /// Random numbers before the statement, if it uses them.
    random: Option<RandomGenerator>,
    /// User variables that the statement reads, before it.
    variables: Vec<LoggedVariable>,
    /// Memory of the text, also while it is copied for the log.
    _memory: MemoryCharge,
    /// Reasons for notes.
    unsafe_reasons: UnsafeReasons,
}

impl SessionState {
    /// Returns the logger of a statement that is to be logged as text; `None` if its rows are.
    ///
    /// Only the rows of a statement are logged if it uses temporary tables, which other servers do not have, or
    /// sequences, or runs stored functions or triggers, or if its values are not in its text.
    ///
    /// # Errors
    /// 1665.
    pub(super) fn text_log(
        &mut self,
        plan: &Plan,
        execution: Execution<'_>,
    ) -> Result<Option<SessionTextLog>> {
        let settings = &self.context.settings;
        if settings.binlog_format == BinlogFormat::Row || !plan.writes_ordinary() || !settings.log_bin {
            return Ok(None);
        }
        self.text_log_of_change(plan, execution)
    }

    #[cold]
    fn text_log_of_change(
        &mut self,
        plan: &Plan,
        execution: Execution<'_>,
    ) -> Result<Option<SessionTextLog>> {
        let is_mixed = self.context.settings.binlog_format == BinlogFormat::Mixed;
        let dependence = plan.text_dependence();
        let isolation = self.transaction.isolation();
        let is_repeatable = isolation.is_none_or(|level| level >= IsolationLevel::RepeatableRead);
        if plan.tables().iter().any(|table| table.usage.sequence) && !is_mixed {
            return Err(Error::new(ER_BINLOG_STMT_MODE_AND_ROW_ENGINE, &[&""]));
        }
        if !is_repeatable && !is_mixed {
            let from_engine =
                "Got error 170 \"It is not possible to log this statement\" from storage engine InnoDB";
            let diagnostics = &mut self.context.diagnostics;
            diagnostics.error_after_error(ER_GET_ERRNO, from_engine);
            let reason = " InnoDB is limited to row-logging when transaction isolation level is READ COMMITTED or READ UNCOMMITTED.";
            return Err(Error::new(ER_BINLOG_STMT_MODE_AND_ROW_ENGINE, &[&reason]));
        }
        let is_change = matches!(
            plan.plan_type(),
            PlanType::Insert | PlanType::Replace | PlanType::Update | PlanType::Delete
        );
        let uses_rows_of_here = |table: &TableUse| table.is_temporary() || table.usage.sequence;
        if !is_change
            || execution.text.is_empty()
            || execution.asked_by == QueryOrigin::Server
            || plan.is_explained()
            || plan.runs_programs()
            || plan.tables().iter().any(uses_rows_of_here)
            || is_mixed && !is_repeatable
        {
            return Ok(None);
        }
        let unsafe_reasons = plan.unsafe_reasons();
        if is_mixed && !unsafe_reasons.is_empty() {
            return Ok(None);
        }
        let Some(text) = self.with_values(execution.text, execution.parameters) else {
            return Ok(None);
        };
        let mut memory = MemoryCharge::new(&self.context.memory);
        memory.grow(2 * text.len())?;
        let variables = dependence.user_variables().iter();
        Ok(Some(SessionTextLog {
            text,
            time_zone: logged_time_zone(self),
            last_insert_id: dependence
                .reads_last_insert_id()
                .then_some(self.context.last_insert_id),
            random: dependence.uses_random().then_some(self.context.random),
            variables: variables
                .map(|name| LoggedVariable::new(name, self.context.user_variables.get(name)))
                .collect(),
            _memory: memory,
            unsafe_reasons,
        }))
    }

    /// Returns a text with values in place of its parameters; `None` if they have no places: those of a stored program
    /// are its variables.
    fn with_values(&self, text: &[u8], values: &[Value]) -> Option<Vec<u8>> {
        if values.is_empty() {
            return Some(text.to_vec());
        }
        let settings = &self.context.settings;
        let options = ParseOptions {
            sql_mode: settings.sql_mode,
            ..ParseOptions::default()
        };
        let places = parameter_places(text, &options);
        if places.len() != values.len() {
            return None;
        }
        let mut whole = Vec::with_capacity(text.len() + 16 * values.len());
        let mut copied = 0;
        for (place, value) in places.into_iter().zip(values) {
            whole.extend_from_slice(&text[copied..place]);
            append_literal(value, settings, &mut whole);
            copied = place + 1;
        }
        whole.extend_from_slice(&text[copied..]);
        Some(whole)
    }
}

/// Appends a value as the literal that MariaDB logs for a parameter.
fn append_literal(value: &Value, settings: &Settings, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"NULL"),
        Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Year(_) => {
            append_value(&value.as_ref(), &settings.time_zone, out);
        }
        Value::Float(_) | Value::Double(_) => {
            let start = out.len();
            append_value(&value.as_ref(), &settings.time_zone, out);
            // Without an exponent it would be an exact number.
            if !out[start..].iter().any(|byte| byte.eq_ignore_ascii_case(&b'e')) {
                out.extend_from_slice(b"e0");
            }
        }
        Value::Bytes(bytes) => {
            out.extend_from_slice(b"x'");
            const DIGITS: &[u8; 16] = b"0123456789abcdef";
            out.reserve(2 * bytes.len() + 1);
            for byte in bytes {
                out.extend([byte >> 4, byte & 15].map(|digit| DIGITS[usize::from(digit)]));
            }
            out.push(b'\'');
        }
        _ => {
            let mut text = Vec::new();
            append_value(&value.as_ref(), &settings.time_zone, &mut text);
            let escapes = !settings.sql_mode.contains(SqlMode::NO_BACKSLASH_ESCAPES);
            out.push(b'\'');
            for byte in text {
                let escaped = match byte {
                    0 => b'0',
                    b'\n' => b'n',
                    b'\r' => b'r',
                    0x1A => b'Z',
                    b'\\' | b'\'' | b'"' => byte,
                    _ => 0,
                };
                match byte {
                    b'\'' if !escapes => out.extend_from_slice(b"''"),
                    _ if escapes && escaped != 0 => out.extend_from_slice(&[b'\\', escaped]),
                    _ => out.push(byte),
                }
            }
            out.push(b'\'');
        }
    }
}

impl TextLog for SessionTextLog {
    fn log(&self, session: &mut SessionContext, transaction: &mut Transaction) -> Result<()> {
        let ids = session.statement.generated_ids;
        if ids.are_scattered {
            let logged = transaction.log_rows_instead_of_text();
            return logged.map_err(|error| of_transaction(&error));
        }
        let intvar = |kind, value| IntvarEvent { kind, value };
        let last_insert_id = self.last_insert_id.map(|id| intvar(IntvarKind::LastInsertId, id));
        let insert_id = ids.first.map(|id| intvar(IntvarKind::InsertId, id));
        let random = self.random.map(|random| RandEvent {
            seed1: random.seed1,
            seed2: random.seed2,
        });
        let variables: Vec<UserVarEvent<'_>> = self.variables.iter().map(LoggedVariable::event).collect();
        let mut context: Vec<&dyn EventBody> = Vec::new();
        context.extend(last_insert_id.as_ref().map(|event| event as &dyn EventBody));
        context.extend(insert_id.as_ref().map(|event| event as &dyn EventBody));
        context.extend(random.as_ref().map(|event| event as &dyn EventBody));
        context.extend(variables.iter().map(|event| event as &dyn EventBody));
        let mut logged = LoggedStatement::of_context(session, &self.text, self.time_zone.clone());
        if session.statement.used_current_time {
            logged = logged.with_fraction(session);
        }
        let query = logged.query_event(None);
        let text = StatementText {
            context: &context,
            flags: EventFlags::NONE,
            query: &query,
        };
        transaction
            .log_text(&text)
            .map_err(|error| of_transaction(&error))?;
        for reason in self.unsafe_reasons.iter() {
            let why = reason.code().message(&[]);
            let message = ER_BINLOG_UNSAFE_STATEMENT.message(&[&why]);
            session.diagnostics.note(ER_BINLOG_UNSAFE_STATEMENT, message);
        }
        Ok(())
    }
}

/// Value of a user variable in the form of the log.
struct LoggedVariable {
    name: String,
    /// `None` for NULL.
    value: Option<LoggedValue>,
}

struct LoggedValue {
    value_type: u8,
    collation: u16,
    bytes: Vec<u8>,
    flags: u8,
}

impl LoggedVariable {
    /// Collation of numbers: that of MariaDB's `my_charset_numeric`, `latin1_swedish_ci`.
    const NUMERIC: u16 = 8;
    /// Types of MariaDB's `Item_result`.
    const STRING: u8 = 0;
    const REAL: u8 = 1;
    const INT: u8 = 2;
    const DECIMAL: u8 = 4;
    /// Flag of unsigned numbers.
    const UNSIGNED: u8 = 1;

    fn new(name: &str, variable: Option<&UserVariable>) -> Self {
        let number = |value_type, bytes: Vec<u8>, flags| LoggedValue {
            value_type,
            collation: Self::NUMERIC,
            bytes,
            flags,
        };
        let value = variable.and_then(|variable| match &variable.value {
            Value::Int(value) => Some(number(Self::INT, value.to_le_bytes().into(), 0)),
            Value::UInt(value) => Some(number(Self::INT, value.to_le_bytes().into(), Self::UNSIGNED)),
            Value::Double(value) => Some(number(Self::REAL, value.to_bits().to_le_bytes().into(), 0)),
            Value::Decimal(value) => {
                let (precision, scale) = (value.precision().max(1), value.scale());
                let mut bytes = vec![precision, scale];
                value.append_binary(precision, scale, &mut bytes);
                Some(number(Self::DECIMAL, bytes, 0))
            }
            Value::Text(text) => {
                let collation = variable.ty.collation();
                let mut bytes = Vec::with_capacity(text.len());
                collation.charset().encode(text, &mut bytes);
                Some(LoggedValue {
                    value_type: Self::STRING,
                    collation: collation.id(),
                    bytes,
                    flags: 0,
                })
            }
            Value::Bytes(bytes) => Some(LoggedValue {
                value_type: Self::STRING,
                collation: Collation::Binary.id(),
                bytes: bytes.clone(),
                flags: 0,
            }),
            _ => None,
        });
        LoggedVariable {
            name: name.to_owned(),
            value,
        }
    }

    fn event(&self) -> UserVarEvent<'_> {
        UserVarEvent {
            name: self.name.as_bytes(),
            value: self.value.as_ref().map(|value| UserVarValue {
                value_type: value.value_type,
                collation: u32::from(value.collation),
                bytes: &value.bytes,
                flags: Some(value.flags),
            }),
        }
    }
}
