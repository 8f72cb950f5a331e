//! The diagnostics area: what `SHOW WARNINGS`, `@@warning_count` and an OK packet's warning count read.
//!
//! At most `max_error_count` conditions are kept; the rest are counted only, as in MariaDB.

use paceline_types::ErrorCode;

/// How grave a condition is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Worth knowing (`DROP TABLE IF EXISTS` on what is not there).
    Note,
    /// The statement went on, with another value than was asked for.
    Warning,
    /// The statement failed.
    Error,
}

impl Level {
    /// The word that SHOW WARNINGS prints.
    pub const fn as_str(self) -> &'static str {
        match self {
            Level::Note => "Note",
            Level::Warning => "Warning",
            Level::Error => "Error",
        }
    }
}

/// One line of SHOW WARNINGS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// How grave it is.
    pub level: Level,
    /// MariaDB's error number.
    pub code: ErrorCode,
    /// The text, without number and SQLSTATE.
    pub message: String,
}

/// The conditions of the current (or, until the next statement begins, of the last) statement.
#[derive(Clone, Debug)]
pub struct Diagnostics {
    conditions: Vec<Condition>,
    warning_count: u64,
    error_count: u64,
    /// How many of them an earlier statement has raised: this one is about them.
    earlier: u64,
    capacity: usize,
    current_row: u64,
}

impl Diagnostics {
    /// An empty area that keeps at most `max_error_count` conditions.
    pub fn new(max_error_count: usize) -> Self {
        Diagnostics {
            conditions: Vec::new(),
            warning_count: 0,
            error_count: 0,
            earlier: 0,
            capacity: max_error_count,
            current_row: 1,
        }
    }

    /// Empties the area; called as a statement begins that is not itself about diagnostics.
    pub fn clear(&mut self, max_error_count: usize) {
        self.conditions.clear();
        self.warning_count = 0;
        self.error_count = 0;
        self.earlier = 0;
        self.capacity = max_error_count;
        self.current_row = 1;
    }

    /// A statement begins that is about what is here (SHOW WARNINGS).
    pub fn keep(&mut self) {
        self.earlier = self.warning_count;
        self.current_row = 1;
    }

    /// Adds a condition; beyond the limit it is only counted.
    pub fn push(&mut self, level: Level, code: ErrorCode, message: impl Into<String>) {
        self.warning_count += 1;
        if level == Level::Error {
            self.error_count += 1;
        }
        if self.conditions.len() < self.capacity {
            self.conditions.push(Condition {
                level,
                code,
                message: message.into(),
            });
        }
    }

    /// Adds a warning.
    pub fn warn(&mut self, code: ErrorCode, message: impl Into<String>) {
        self.push(Level::Warning, code, message);
    }

    /// Adds a note.
    pub fn note(&mut self, code: ErrorCode, message: impl Into<String>) {
        self.push(Level::Note, code, message);
    }

    /// The conditions kept, oldest first.
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// `@@warning_count`: errors, warnings and notes, also those that were not kept.
    pub fn warning_count(&self) -> u64 {
        self.warning_count
    }

    /// `@@error_count`.
    pub fn error_count(&self) -> u64 {
        self.error_count
    }

    /// What an OK or EOF packet carries: how many conditions the statement itself has raised.
    pub fn warning_count_u16(&self) -> u16 {
        u16::try_from(self.warning_count - self.earlier).unwrap_or(u16::MAX)
    }

    /// The row that conversion warnings name ("at row 3"); 1 when a statement begins.
    pub fn current_row(&self) -> u64 {
        self.current_row
    }

    /// Goes on to the next row of a multi-row statement.
    pub fn next_row(&mut self) {
        self.current_row += 1;
    }

    /// Takes the row counter back to 1 (a new statement, or a new phase of one).
    pub fn reset_row(&mut self) {
        self.current_row = 1;
    }
}
