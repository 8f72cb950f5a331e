//! Changes of rows: the statement that each is, planned once for each session and handle.
//!
//! A change of a row has to follow every rule of its table: NOT NULL, checks, unique and foreign keys with their
//! actions, generated columns, AUTO_INCREMENT, triggers, row events with a GTID. The plan of a statement does that.

use crate::error::{Error, Result};
use crate::table::Table;
use paceline_server::embedded::{PreparedChange, ProgramSession, identifier};
use paceline_table_access::TableView;
use paceline_types::Version;
use std::collections::HashMap;
use std::fmt::Write;

/// Maximum number of plans that a session keeps.
const PLANS_MAX: usize = 256;

/// Kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Change {
    Insert,
    Replace,
    /// By the key of the rows.
    Update,
    /// By the key of the rows.
    Delete,
}

/// A handle, the version of its table's definition, and a change.
type PlanKey = (u64, Version, Change);

/// Plans of a session.
#[derive(Default)]
pub(crate) struct ChangePlans(HashMap<PlanKey, PreparedChange>);

impl ChangePlans {
    /// Takes the plan of a change out of the list, or makes it.
    pub fn take(
        &mut self,
        session: &mut ProgramSession,
        table: &Table,
        view: &TableView,
        change: Change,
    ) -> Result<PreparedChange> {
        if let Some(prepared) = self.0.remove(&(table.id(), view.version(), change)) {
            return Ok(prepared);
        }
        Ok(session.prepare_change(&text(table, view, change)?)?)
    }

    /// Puts a plan back.
    pub fn put(&mut self, table: &Table, view: &TableView, change: Change, prepared: PreparedChange) {
        if self.0.len() >= PLANS_MAX {
            self.0.clear();
        }
        self.0.insert((table.id(), view.version(), change), prepared);
    }
}

fn text(table: &Table, view: &TableView, change: Change) -> Result<String> {
    let target = format!("{}.{}", identifier(table.database()), identifier(table.name()));
    let columns: Vec<String> = view.columns().map(identifier).collect();
    Ok(match change {
        Change::Insert | Change::Replace => {
            let verb = if change == Change::Insert {
                "INSERT"
            } else {
                "REPLACE"
            };
            let marks = vec!["?"; columns.len()].join(", ");
            format!("{verb} INTO {target} ({}) VALUES ({marks})", columns.join(", "))
        }
        Change::Update => {
            let assigned: Vec<String> = columns.iter().map(|column| format!("{column} = ?")).collect();
            format!(
                "UPDATE {target} SET {} WHERE {}",
                assigned.join(", "),
                key_condition(view)?
            )
        }
        Change::Delete => format!("DELETE FROM {target} WHERE {}", key_condition(view)?),
    })
}

/// Returns the condition on the columns of the rows' key.
fn key_condition(view: &TableView) -> Result<String> {
    let index = view.row_index().map_err(Error::from)?;
    let definition = view.definition();
    let mut condition = String::new();
    for (number, part) in definition.indexes()[index].parts.iter().enumerate() {
        let and = if number > 0 { " AND " } else { "" };
        let _ = write!(
            condition,
            "{and}{} = ?",
            identifier(&definition.columns()[part.column].name)
        );
    }
    Ok(condition)
}
