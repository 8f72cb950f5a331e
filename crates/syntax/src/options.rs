//! The session state that parsing depends on.

use std::sync::Arc;

use paceline_types::{SessionMemory, SqlMode};

/// Settings that change the meaning of a text.
#[derive(Debug, Clone)]
pub struct ParseOptions {
    /// SQL mode, which changes tokens as well as grammar.
    pub sql_mode: SqlMode,
    /// Deepest nesting of expressions and queries. Redundant parentheses do not count.
    pub depth_max: u32,
    /// Memory account that the statement's tree is charged to; `None` for the server's own texts.
    pub memory: Option<Arc<SessionMemory>>,
    /// Treatment of CREATE PROCEDURE, FUNCTION and TRIGGER.
    pub programs: ProgramBodies,
}

/// Treatment of statements that create stored programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramBodies {
    /// They are parsed.
    Parsed,
    /// Their text is not looked at: another server has created them, whose language can be larger.
    Opaque,
}

impl Default for ParseOptions {
    fn default() -> Self {
        Self {
            sql_mode: SqlMode::DEFAULT,
            depth_max: 2_400,
            memory: None,
            programs: ProgramBodies::Parsed,
        }
    }
}

impl ParseOptions {
    /// Returns the options for a text that was accepted before and stored. Its normal form may nest deeper
    /// than the original text, and the limits may have been different then.
    pub fn of_stored() -> Self {
        Self {
            depth_max: 6_000,
            ..Self::default()
        }
    }
}
