//! Rows of sequences: each one replaces the row that is there, or only raises it. See [`paceline_catalog::sequence`].

use super::failure::Failure;
use super::partial_rows::ImageColumns;
use super::table::MappedTable;
use paceline_binlog::event::{RowsEvent, RowsKind};
use paceline_catalog::sequence::{SequenceRow, raised};
use paceline_txn::{LockMode, LockWait, RowChange, Transaction};
use paceline_types::Value;

/// Origin of a sequence's row, from the flags of the event group.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum SequenceChangeKind {
    /// NEXTVAL or SETVAL: only what was given out has changed.
    #[default]
    Values,
    /// INSERT: the whole row is meant.
    Definition,
}

/// Applies the rows of one event.
///
/// # Errors
/// If the event changes the row in another way than by an insert, or a value is missing.
pub(super) fn sequence_rows(
    event: &RowsEvent<'_>,
    table: &MappedTable,
    kind: SequenceChangeKind,
    transaction: &mut Transaction,
    changed: &mut u64,
) -> Result<(), Failure> {
    if event.kind != RowsKind::Write {
        return Err(Failure::fatal(
            "a row event that changes a sequence is not an insert",
        ));
    }
    let columns = ImageColumns::new(event, event.columns_present, table)?;
    let mut rest: &[u8] = &event.rows;
    while !rest.is_empty() {
        let row = columns.take(&mut rest, table)?;
        *changed += u64::from(change_row(table, &row, kind, transaction)?);
    }
    Ok(())
}

fn change_row(
    table: &MappedTable,
    values: &[Option<Value>],
    kind: SequenceChangeKind,
    transaction: &mut Transaction,
) -> Result<bool, Failure> {
    let schema = table.schema();
    let key = schema
        .single_row_key()
        .ok_or_else(|| Failure::fatal("a sequence without its row's key"))?;
    transaction.lock(&key, LockMode::Exclusive, LockWait::Default)?;
    let own = match transaction.probe_newest(&key)? {
        Some(row) => Some(SequenceRow::of_image(schema, row.payload())?),
        None => None,
    };
    let whole: Option<Vec<Value>> = values.iter().cloned().collect();
    let whole = whole.map(|values| SequenceRow::of_values(&values)).transpose()?;
    let new = match (own, whole) {
        (None, row) => row,
        // A primary of before the flag of DDL has other options without it.
        (Some(own), Some(row)) if kind == SequenceChangeKind::Definition || !row.has_options_of(&own) => {
            Some(row)
        }
        (Some(own), _) => {
            let number = |column: usize| match values.get(column) {
                Some(Some(Value::Int(number))) => Ok(*number),
                _ => Err(Failure::fatal("a row of a sequence lacks its value")),
            };
            raised(&own, number(0)?, number(7)?)
        }
    };
    let Some(new) = new else { return Ok(false) };
    // Sessions of this server must not give out what the primary has given out. They wait for the row's lock.
    table.definition().sequence_cache().forget();
    let image = new.image(schema)?;
    schema.row_change(None, Some(&image), transaction.write_set_mut()?)?;
    transaction.log_row(table.logged(), RowChange::Insert { after: &image })?;
    Ok(true)
}
