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

/// Whether notes are kept and counted (`sql_notes`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notes {
    /// As warnings are.
    Kept,
    /// Neither.
    Dropped,
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
    /// How many of them an earlier statement has raised.
    earlier: u64,
    /// Whether the first condition of this statement takes the place of the earlier ones.
    replaceable: bool,
    capacity: usize,
    notes: Notes,
    current_row: u64,
    /// Warnings that come after the statement's error.
    after_error: Vec<(ErrorCode, String)>,
}

impl Diagnostics {
    /// An empty area that keeps at most `max_error_count` conditions.
    pub fn new(max_error_count: usize) -> Self {
        Diagnostics {
            conditions: Vec::new(),
            warning_count: 0,
            error_count: 0,
            earlier: 0,
            replaceable: false,
            capacity: max_error_count,
            notes: Notes::Kept,
            current_row: 1,
            after_error: Vec::new(),
        }
    }

    /// A statement begins. What earlier ones have raised stays until this one raises something, or turns out to use a
    /// table ([`Diagnostics::forget_earlier`]), as in MariaDB: `SET`, `COMMIT` or `SELECT 1` leaves it to SHOW
    /// WARNINGS.
    pub fn begin(&mut self, max_error_count: usize) {
        self.earlier = self.warning_count;
        self.replaceable = self.warning_count > 0;
        self.capacity = max_error_count;
        self.current_row = 1;
        self.after_error.clear();
    }

    /// A command begins that is no statement (COM_PING): what is here stays, with its count, until something is raised.
    pub fn begin_command(&mut self) {
        self.replaceable = self.warning_count > 0;
    }

    /// The statement uses a table: nothing is left of earlier ones.
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
        self.capacity = max_error_count;
        self.current_row = 1;
    }

    /// A statement begins that is about what is here (SHOW WARNINGS).
    pub fn keep(&mut self) {
        self.earlier = self.warning_count;
        self.replaceable = false;
        self.current_row = 1;
    }

    /// Chooses what becomes of notes from now on.
    pub fn set_notes(&mut self, notes: Notes) {
        self.notes = notes;
    }

    /// Adds a condition; beyond the limit it is only counted.
    pub fn push(&mut self, level: Level, code: ErrorCode, message: impl Into<String>) {
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
            });
        }
        if level == Level::Error {
            for (code, message) in std::mem::take(&mut self.after_error) {
                self.push(Level::Warning, code, message);
            }
        }
    }

    /// Adds a warning that is to come after the error with which the statement ends.
    pub fn warn_after_error(&mut self, code: ErrorCode, message: impl Into<String>) {
        self.after_error.push((code, message.into()));
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
