//! The keys that a transaction touches: one number for each unique key, before and after each change.
//!
//! Two transactions with no number in common have no row and no unique value in common. So it does not matter which of
//! them is prepared first. (The converse is not true: numbers are hashes, and a collision makes a transaction wait
//! needlessly.) A key with a NULL conflicts with nothing and has no number. A table without a primary key finds its
//! rows by their images; the images are the keys that its rows touch.
//!
//! If the primary's events leave out the rows changed by foreign key actions, the keys of those rows are unknown: such
//! a transaction runs alone.
//!
//! Some events do not show all keys: images that lack columns and may change several unique keys, columns that differ
//! from ours, and the mode `IDEMPOTENT`, which overwrites existing rows. Then the transaction touches
//! [`TouchedKeys::Everything`].

use super::ExecMode;
use super::events::{AfterImages, ReplicatedRows, all_columns, each_rows_event};
use super::failure::Failure;
use super::partial_rows::{ImageColumns, key_of};
use super::table::MappedTable;
use paceline_binlog::event::{RowsEvent, RowsFlags, RowsKind};
use paceline_catalog::foreign_key::RowFate;
use paceline_storage::RowPlacement;
use xxhash_rust::xxh3::xxh3_64;

/// The keys that a transaction touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TouchedKeys {
    /// The keys whose numbers were added to the list.
    Listed,
    /// Possibly any key: nothing may run in parallel.
    Everything,
}

/// Appends the numbers of all keys that a transaction touches to `keys`.
///
/// # Errors
/// Fails if an event cannot be decoded.
pub fn touched_keys(rows: &ReplicatedRows<'_>, keys: &mut Vec<u64>) -> Result<TouchedKeys, Failure> {
    let mut key = Vec::with_capacity(64);
    let mut touched = TouchedKeys::Listed;
    each_rows_event(rows, |event, after, table| {
        if touched == TouchedKeys::Listed {
            touched = of_event(event, after, table, &mut key, keys)?;
        }
        Ok(())
    })?;
    Ok(touched)
}

fn of_event(
    event: &RowsEvent<'_>,
    after: AfterImages,
    table: &MappedTable,
    key: &mut Vec<u8>,
    keys: &mut Vec<u64>,
) -> Result<TouchedKeys, Failure> {
    if table.conversions().is_some() || table.exec_mode() == ExecMode::Idempotent {
        return Ok(TouchedKeys::Everything);
    }
    if may_trigger(event, table) {
        return Ok(TouchedKeys::Everything);
    }
    if after == AfterImages::Changes || !all_columns(event) {
        return of_partial_event(event, after, table, keys);
    }
    let layout = table.schema().layout();
    let mut rest: &[u8] = &event.rows;
    while !rest.is_empty() {
        let (first, behind) = layout.split(rest)?;
        rest = behind;
        of_image(table, first.bytes(), None, key, keys)?;
        if event.kind == RowsKind::Update {
            let (after, behind) = layout.split(rest)?;
            rest = behind;
            of_image(table, after.bytes(), Some(first.bytes()), key, keys)?;
        }
    }
    Ok(TouchedKeys::Listed)
}

/// Returns whether an event may require foreign key actions. Most updates do not change referenced columns, but
/// checking that for every row is not worth its cost.
fn may_trigger(event: &RowsEvent<'_>, table: &MappedTable) -> bool {
    let Some(foreign_keys) = table.foreign_keys() else {
        return false;
    };
    let has_rows_of_actions = event.flags.0 & RowsFlags::NO_FOREIGN_KEY_CHECKS != 0;
    match event.kind {
        _ if has_rows_of_actions => false,
        RowsKind::Write => false,
        RowsKind::Delete => foreign_keys.acts_on(table.definition(), RowFate::Deleted),
        RowsKind::Update => foreign_keys.acts_on(table.definition(), RowFate::Updated),
    }
}

/// Handles images that lack columns (`binlog_row_image`). If no other unique key changes, the key that the rows are
/// stored under is sufficient.
fn of_partial_event(
    event: &RowsEvent<'_>,
    after: AfterImages,
    table: &MappedTable,
    keys: &mut Vec<u64>,
) -> Result<TouchedKeys, Failure> {
    let RowPlacement::Key(index) = table.schema().clustered() else {
        return Ok(TouchedKeys::Everything);
    };
    let held = ImageColumns::new(event, event.columns_present, table)?;
    let held_after = match event.kind {
        RowsKind::Update => Some(ImageColumns::of_after(event, after, table)?),
        RowsKind::Write | RowsKind::Delete => None,
    };
    let indexes = table.schema().indexes();
    let others_unchanged = match &held_after {
        // Columns that the after image does not contain are unchanged.
        Some(after) => !table
            .other_unique()
            .iter()
            .any(|other| after.holds_any(&indexes[*other].parts)),
        None => table.other_unique().is_empty(),
    };
    let changes_key = |held_after: &ImageColumns| held_after.holds_any(&indexes[index].parts);
    // The result of changing a document depends on the row, which is not read here.
    let is_hidden = after == AfterImages::Changes && held_after.as_ref().is_some_and(changes_key);
    if !others_unchanged || is_hidden || !held.holds_all(&indexes[index].parts) {
        return Ok(TouchedKeys::Everything);
    }
    let mut rest: &[u8] = &event.rows;
    while !rest.is_empty() {
        let row = held.take(&mut rest, table)?;
        let Some(key) = key_of(table, index, &row)? else {
            return Ok(TouchedKeys::Everything);
        };
        keys.push(xxh3_64(&key));
        if let Some(held_after) = &held_after {
            let (mut after, _) = held_after.take_after(&mut rest, table)?;
            if changes_key(held_after) {
                for (value, before) in after.iter_mut().zip(row) {
                    *value = value.take().or(before);
                }
                let Some(key) = key_of(table, index, &after)? else {
                    return Ok(TouchedKeys::Everything);
                };
                keys.push(xxh3_64(&key));
            }
        }
    }
    Ok(TouchedKeys::Listed)
}

/// Adds the keys of an image, except those that `before` contains too.
fn of_image(
    table: &MappedTable,
    image: &[u8],
    before: Option<&[u8]>,
    key: &mut Vec<u8>,
    keys: &mut Vec<u64>,
) -> Result<(), Failure> {
    let schema = table.schema();
    let known = keys.len();
    let mut add = |key: &[u8]| {
        let number = xxh3_64(key);
        // Most updates do not change their keys.
        let is_repeated =
            before.is_some() && keys[..known].iter().rev().take(8).any(|before| *before == number);
        if !is_repeated {
            keys.push(number);
        }
    };
    key.clear();
    match schema.clustered() {
        RowPlacement::Key(_) | RowPlacement::Single(_) => schema.append_row_key(image, key)?,
        RowPlacement::RowId(hidden) => {
            key.extend_from_slice(&hidden.hash.to_be_bytes());
            key.extend_from_slice(image);
        }
    }
    add(key);
    for index in table.other_unique() {
        key.clear();
        if schema.append_unique_key(*index, image, key)? {
            add(key);
        }
    }
    Ok(())
}
