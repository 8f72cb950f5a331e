//! The diagnostics area, which `SHOW WARNINGS`, `@@warning_count` and the warning count of OK packets read.
//!
//! It keeps at most `max_error_count` conditions and only counts the rest, as in MariaDB.

use paceline_types::{ErrorCode, SignalledCondition, StatementError};
use std::sync::Arc;

/// Severity of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Information (`DROP TABLE IF EXISTS` of a table that does not exist).
    Note,
    /// The statement continued with a value other than the requested one.
    Warning,
    /// The statement failed.
    Error,
}

impl Level {
    /// Returns the word that SHOW WARNINGS prints.
    pub const fn as_str(self) -> &'static str {
        match self {
            Level::Note => "Note",
            Level::Warning => "Warning",
            Level::Error => "Error",
        }
    }
}

/// Treatment of notes (`sql_notes`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notes {
    /// Kept and counted like warnings.
    Kept,
    /// Neither kept nor counted.
    Dropped,
}

/// One row of SHOW WARNINGS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Severity, which decides whether the condition counts as an error.
    pub level: Level,
    /// MariaDB's error number.
    pub code: ErrorCode,
    /// Message without number and SQLSTATE.
    pub message: String,
    /// SQLSTATE and items set by SIGNAL; `None` for a condition of the server.
    pub signalled: Option<Arc<SignalledCondition>>,
}

impl Condition {
    /// Returns the SQLSTATE: five characters.
    pub fn sqlstate(&self) -> &str {
        match (&self.signalled, self.level) {
            (Some(condition), _) => &condition.sqlstate,
            (None, Level::Error) => self.code.sqlstate(),
            // A warning that is an error in strict mode has the state of a warning.
            (None, Level::Warning | Level::Note) => match self.code.sqlstate() {
                state if state.starts_with("02") => state,
                _ => "01000",
            },
        }
    }
}

/// State of the area at a moment: see [`Diagnostics::mark`].
#[derive(Clone, Copy, Debug)]
pub struct DiagnosticsMark {
    clears: u64,
    count: u64,
}

/// Conditions of the current statement; between statements, those of the last one.
#[derive(Clone, Debug)]
pub struct Diagnostics {
    conditions: Vec<Condition>,
    warning_count: u64,
    error_count: u64,
    /// Number of conditions that earlier statements raised.
    earlier: u64,
    /// Whether the first condition of this statement replaces the earlier ones.
    replaceable: bool,
    /// Number of times that the area was emptied.
    clears: u64,
    capacity: usize,
    notes: Notes,
    current_row: u64,
    /// Warnings and notes to be listed after the statement's error.
    after_error: Vec<(Level, ErrorCode, String)>,
}

impl Diagnostics {
    /// Creates an empty area that keeps at most `max_error_count` conditions.
    pub fn new(max_error_count: usize) -> Self {
        Diagnostics {
            conditions: Vec::new(),
            warning_count: 0,
            error_count: 0,
            earlier: 0,
            replaceable: false,
            clears: 0,
            capacity: max_error_count,
            notes: Notes::Kept,
            current_row: 1,
            after_error: Vec::new(),
        }
    }

    /// Creates the empty area of a program that runs within a statement with this one.
    pub fn of_nested(outer: &Diagnostics) -> Self {
        Diagnostics {
            notes: outer.notes,
            current_row: outer.current_row,
            ..Diagnostics::new(outer.capacity)
        }
    }

    /// Adds what a program has left in its own area.
    pub fn join(&mut self, nested: Diagnostics) {
        for condition in nested.conditions {
            self.push_signalled(
                condition.level,
                condition.code,
                condition.message,
                condition.signalled,
            );
        }
        self.after_error.extend(nested.after_error);
    }

    /// Begins a statement. As in MariaDB, the conditions of earlier statements stay until this one raises a
    /// condition or uses a table ([`Diagnostics::forget_earlier`]): after `SET`, `COMMIT` or `SELECT 1`, SHOW
    /// WARNINGS still shows them.
    pub fn begin(&mut self, max_error_count: usize) {
        self.earlier = self.warning_count;
        self.replaceable = self.warning_count > 0;
        self.capacity = max_error_count;
        self.current_row = 1;
        self.after_error.clear();
    }

    /// Begins a command that is not a statement (COM_PING). The conditions and their count stay until one is
    /// raised.
    pub fn begin_command(&mut self) {
        self.replaceable = self.warning_count > 0;
    }

    /// Removes the conditions of earlier statements, because this one uses a table.
    pub fn forget_earlier(&mut self) {
        if self.replaceable {
            self.clear(self.capacity);
        }
    }

    /// Empties the area.
    pub fn clear(&mut self, max_error_count: usize) {
        self.conditions.clear();
        self.warning_count = 0;
        self.error_count = 0;
        self.earlier = 0;
        self.replaceable = false;
        self.clears += 1;
        self.capacity = max_error_count;
        self.current_row = 1;
    }

    /// Returns the state at the start of a statement that consists of others.
    pub fn mark(&self) -> DiagnosticsMark {
        DiagnosticsMark {
            clears: self.clears,
            count: self.earlier,
        }
    }

    /// Ends a statement that consists of others: what they have raised since the mark and left counts as its own.
    pub fn end_since(&mut self, mark: DiagnosticsMark) {
        self.earlier = match self.clears == mark.clears {
            true => mark.count,
            false => 0,
        };
    }

    /// Returns the state in which a handler finds the area.
    pub fn mark_present(&self) -> DiagnosticsMark {
        DiagnosticsMark {
            clears: self.clears,
            count: self.conditions.len() as u64,
        }
    }

    /// Makes all conditions those of the running statement: a mark that was set before no longer counts them.
    pub fn adopt(&mut self) {
        self.clears += 1;
    }

    /// Removes the conditions that a handler has found, unless its own statements have removed them.
    pub fn remove_present(&mut self, mark: DiagnosticsMark) {
        if self.clears != mark.clears {
            return;
        }
        let found = usize::try_from(mark.count).unwrap_or(usize::MAX);
        if found >= self.conditions.len() {
            self.clear(self.capacity);
            return;
        }
        self.conditions.drain(..found);
        let is_error = |condition: &&Condition| condition.level == Level::Error;
        self.warning_count = self.conditions.len() as u64;
        self.error_count = self.conditions.iter().filter(is_error).count() as u64;
        self.earlier = self.earlier.saturating_sub(mark.count);
    }

    /// Begins a statement that reads the conditions (SHOW WARNINGS).
    pub fn keep(&mut self) {
        self.earlier = self.warning_count;
        self.replaceable = false;
        self.current_row = 1;
    }

    /// Sets the treatment of notes from now on.
    pub fn set_notes(&mut self, notes: Notes) {
        self.notes = notes;
    }

    /// Removes the oldest conditions until `count` more can be added. They stay counted.
    pub fn make_room(&mut self, count: usize) {
        let excess = (self.conditions.len() + count).saturating_sub(self.capacity);
        self.conditions.drain(..excess.min(self.conditions.len()));
    }

    /// Adds a condition. Beyond the limit it is only counted.
    pub fn push(&mut self, level: Level, code: ErrorCode, message: impl Into<String>) {
        self.push_signalled(level, code, message, None);
    }

    /// Adds the error with which a statement ends.
    pub fn push_error(&mut self, error: &StatementError) {
        let signalled = error.signalled_condition().cloned();
        self.push_signalled(Level::Error, error.code(), error.message(), signalled);
    }

    /// Adds a condition with what SIGNAL has said of it.
    pub fn push_signalled(
        &mut self,
        level: Level,
        code: ErrorCode,
        message: impl Into<String>,
        signalled: Option<Arc<SignalledCondition>>,
    ) {
        if level == Level::Note && self.notes == Notes::Dropped {
            return;
        }
        self.forget_earlier();
        self.warning_count += 1;
        if level == Level::Error {
            self.error_count += 1;
        }
        if self.conditions.len() < self.capacity {
            self.conditions.push(Condition {
                level,
                code,
                message: message.into(),
                signalled,
            });
        }
        if level == Level::Error {
            for (level, code, message) in std::mem::take(&mut self.after_error) {
                self.push(level, code, message);
            }
        }
    }

    /// Adds an error to be listed after the error with which the statement ends.
    pub fn error_after_error(&mut self, code: ErrorCode, message: impl Into<String>) {
        self.after_error.push((Level::Error, code, message.into()));
    }

    /// Adds a warning to be listed after the error with which the statement ends.
    pub fn warn_after_error(&mut self, code: ErrorCode, message: impl Into<String>) {
        self.after_error.push((Level::Warning, code, message.into()));
    }

    /// Adds a note to be listed after the error with which the statement ends.
    pub fn note_after_error(&mut self, code: ErrorCode, message: impl Into<String>) {
        self.after_error.push((Level::Note, code, message.into()));
    }

    /// Adds a warning.
    pub fn warn(&mut self, code: ErrorCode, message: impl Into<String>) {
        self.push(Level::Warning, code, message);
    }

    /// Adds a note.
    pub fn note(&mut self, code: ErrorCode, message: impl Into<String>) {
        self.push(Level::Note, code, message);
    }

    /// Returns the conditions kept that this statement has raised, oldest first.
    pub fn raised(&self) -> &[Condition] {
        if self.replaceable {
            return &[];
        }
        let earlier = usize::try_from(self.earlier).unwrap_or(usize::MAX);
        self.conditions.get(earlier..).unwrap_or_default()
    }

    /// Returns the conditions kept, oldest first.
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// Returns `@@warning_count`: the number of errors, warnings and notes, including those not kept.
    pub fn warning_count(&self) -> u64 {
        self.warning_count
    }

    /// Returns `@@error_count`.
    pub fn error_count(&self) -> u64 {
        self.error_count
    }

    /// Returns the count for an OK or EOF packet: the number of conditions that this statement itself raised.
    pub fn warning_count_u16(&self) -> u16 {
        u16::try_from(self.warning_count - self.earlier).unwrap_or(u16::MAX)
    }

    /// Returns the row number for conversion warnings ("at row 3"); 1 at the start of a statement.
    pub fn current_row(&self) -> u64 {
        self.current_row
    }

    /// Moves on to the next row of a multi-row statement.
    pub fn next_row(&mut self) {
        self.current_row += 1;
    }

    /// Resets the row number to 1, for a new statement or a new phase of one.
    pub fn reset_row(&mut self) {
        self.current_row = 1;
    }
}
