//! CHECK TABLE: compares all rows with all index entries of a table. QUICK, FAST, MEDIUM, EXTENDED and CHANGED are
//! equivalent here.

use crate::errors::of_transaction;
use crate::session::state::SessionState;
use paceline_catalog::ddl::names_read;
use paceline_catalog::{TableDefinition, TableEngine, ViewDefinition};
use paceline_expression::session::{ServerFunctions, StatementProgress};
use paceline_storage::{CheckedIndex, Direction, IndexMismatch, TableCheck};
use paceline_syntax::Result;
use paceline_txn::{MetadataMode, MetadataObject};
use paceline_types::error_code::*;

/// Number of entries read between two checks for KILL.
const ENTRIES_BETWEEN_LOOKS: u64 = 1024;

/// Number of entries between two reports for the process list.
const ENTRIES_BETWEEN_REPORTS: u64 = 16 * 1024;

/// A line of the result: `Msg_type` and `Msg_text`.
pub type CheckLine = (&'static str, String);

fn line(kind: &'static str, text: impl Into<String>) -> CheckLine {
    (kind, text.into())
}

/// Checks a table.
///
/// # Errors
/// The errors of KILL and of the wait for the table. Problems of the table are returned as lines.
pub fn check_table(definition: &TableDefinition, state: &mut SessionState) -> Result<Vec<CheckLine>> {
    if definition.engine == TableEngine::Memory && !definition.is_temporary() {
        return Ok(vec![line("note", NO_CHECK)]);
    }
    state.enter_transaction();
    let object = MetadataObject::Table {
        database: definition.database(),
        table: definition.name(),
    };
    state
        .transaction
        .running()?
        .lock_metadata(object, MetadataMode::Read)
        .map_err(|error| of_transaction(&error))?;
    let catalog = state.temporary.tables.over(state.server.catalog.load());
    // The table may have changed during the wait.
    let Some(definition) = catalog.table(definition.database(), definition.name()).cloned() else {
        let missing = ER_NO_SUCH_TABLE.message(&[&definition.database(), &definition.name()]);
        return Ok(vec![line("Error", missing), line("status", "Operation failed")]);
    };
    let mut check = TableCheck::new(definition.schema());
    let mut lines = vec![];
    let rows = definition.schema().rows_range();
    let mut ranges = vec![rows];
    ranges.extend(check.entry_ranges());
    let mut entries = 0u64;
    let stages = u8::try_from(ranges.len()).unwrap_or(u8::MAX);
    let storage = state.server.transactions.storage().clone();
    for (at, range) in ranges.into_iter().enumerate() {
        let whole = range.clone();
        let transaction = state.transaction.running()?;
        let mut scan = transaction
            .scan(range, Direction::Forward)
            .map_err(|error| of_transaction(&error))?;
        loop {
            let entry = match scan.next() {
                Ok(Some(entry)) => entry,
                Ok(None) => break,
                // A table file is unreadable or has a wrong checksum.
                Err(error) => {
                    lines.push(line("Error", error.to_string()));
                    break;
                }
            };
            match at {
                0 => {
                    if let Err(error) = check.add_row(entry.key, entry.value) {
                        lines.push(line("Error", format!("Row {}: {error}", entries + 1)));
                        break;
                    }
                }
                _ => check.add_entry(entry.key, entry.payload()),
            }
            entries += 1;
            if entries.is_multiple_of(ENTRIES_BETWEEN_LOOKS) {
                state.services.check_interrupt(&state.context)?;
            }
            if entries % ENTRIES_BETWEEN_REPORTS == 1 {
                state.services.note_progress(&StatementProgress {
                    state: "Checking table",
                    stage: u8::try_from(at + 1).unwrap_or(u8::MAX),
                    stages,
                    part: storage.approximate_part(&whole, entry.key).unwrap_or(0.0),
                });
            }
        }
        if !lines.is_empty() {
            break;
        }
    }
    if lines.is_empty() {
        let mismatches = check.mismatches();
        lines.extend(
            mismatches
                .iter()
                .map(|mismatch| mismatch_line(&definition, mismatch)),
        );
    }
    lines.push(match lines.is_empty() {
        true => line("status", "OK"),
        false => line("error", "Corrupt"),
    });
    Ok(lines)
}

/// Checks that a view can be planned.
pub fn check_view(view: &ViewDefinition, state: &SessionState) -> Vec<CheckLine> {
    let Err(error) = state.plan_of_table(&view.database, &view.name) else {
        return vec![line("status", "OK")];
    };
    let catalog = state.catalog();
    let missing = names_read(view.parsed(), &catalog, None)
        .into_iter()
        .find(|name| {
            let database = name.database.as_deref().unwrap_or(&view.database);
            catalog.table(database, &name.name).is_none()
                && catalog.view(database, &name.name).is_none()
                && crate::virtual_tables::virtual_columns(database, &name.name).is_none()
        });
    let missing = missing.map(|name| {
        let database = name.database.unwrap_or_else(|| view.database.clone());
        line("Error", ER_NO_SUCH_TABLE.message(&[&database, &name.name]))
    });
    let own = line("Error", error.message());
    missing
        .into_iter()
        .chain([own, line("error", "Corrupt")])
        .collect()
}

/// MariaDB's message for an engine without a check.
pub const NO_CHECK: &str = "The storage engine for the table doesn't support check";

/// Returns the line with InnoDB's message for a mismatch.
fn mismatch_line(definition: &TableDefinition, mismatch: &IndexMismatch) -> CheckLine {
    let name = match mismatch.index {
        CheckedIndex::Declared(index) => definition.indexes()[index].name.as_str(),
        CheckedIndex::Hash => "GEN_CLUST_INDEX",
    };
    let text = match mismatch.found == mismatch.expected {
        true => format!("InnoDB: The B-tree of index {name} is corrupted."),
        false => format!(
            "InnoDB: Index '{name}' contains {} entries, should be {}.",
            mismatch.found, mismatch.expected
        ),
    };
    line("Warning", text)
}
