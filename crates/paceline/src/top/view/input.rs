//! Input of a view.

use super::super::harmless::harmless;
use super::super::reading::{Part, Reading};
use super::super::table::Table;

/// Whether idle sessions are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Idle {
    Shown,
    Hidden,
}

/// Input from which a view builds its table.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    pub reading: &'a Reading,
    /// The reading before it, which may be the same one.
    pub before: &'a Reading,
    pub idle: Idle,
}

/// Adds why these parts are absent.
pub fn note_problems(table: &mut Table, reading: &Reading, parts: &[Part]) {
    for part in parts {
        if let Some(problem) = reading.problem(*part) {
            let note = harmless(&problem.text(*part, &reading.identity));
            table.notes.push(note);
        }
    }
}
