//! Rows whose images are not laid out as ours: images that lack columns (`binlog_row_image`), have fewer or more
//! columns, or columns of other types.
//!
//! The image before identifies the row. The values of the image after are put into that row; its other values remain.
//! From then on it is a row in our own layout.
//!
//! A row is searched by the key that it is stored under, if the image contains the whole key. Otherwise it is searched
//! in an index whose columns the image contains: the one in which the fewest rows share a value. If there is none, the
//! whole table is searched.
//!
//! If an image after contains changes of a JSON document (from MySQL), they are applied to the row's present document.

use super::ExecMode;
use super::change::{RowChanger, missing, not_found, passes_over_missing};
use super::convert::convert;
use super::events::AfterImages;
use super::failure::{Failure, HandlerError};
use super::table::MappedTable;
use paceline_binlog::event::{RowsEvent, RowsKind};
use paceline_catalog::ddl::{GeneratedColumns, default_of_absent};
use paceline_catalog::{IndexKind, IndexStatistics};
use paceline_json::diff::append_changed_json;
use paceline_storage::{Direction, KeyPart, KeyRange, RowPlacement};
use paceline_txn::{LockMode, LockWait, Transaction};
use paceline_types::row_image::RowLayout;
use paceline_types::{Value, ValueRef};
use smallvec::SmallVec;
use std::sync::Arc;

/// Values of our columns; `None` for columns that an image does not contain.
pub type PartialRow = Vec<Option<Value>>;

/// Changes of JSON documents, with the number of the column.
pub(super) type JsonChanges<'r> = SmallVec<[(usize, &'r [u8]); 2]>;

/// Key and image of a row of ours.
type LocatedRow = (Vec<u8>, Vec<u8>);

/// Applies rows in other layouts.
pub(super) struct PartialRowApplier {
    statistics: Arc<dyn IndexStatistics>,
}

/// The columns that the images of an event contain.
pub(super) struct ImageColumns {
    /// Column numbers on the primary.
    numbers: Vec<usize>,
    layout: RowLayout,
    /// Contents of the images.
    values: AfterImages,
}

impl ImageColumns {
    /// Returns the columns that the after images of an update contain.
    pub(super) fn of_after(
        event: &RowsEvent<'_>,
        values: AfterImages,
        table: &MappedTable,
    ) -> Result<Self, Failure> {
        let held = ImageColumns::new(event, event.columns_present_after, table)?;
        Ok(ImageColumns { values, ..held })
    }

    pub(super) fn new(event: &RowsEvent<'_>, present: &[u8], table: &MappedTable) -> Result<Self, Failure> {
        let types = match table.conversions() {
            Some(conversions) => conversions.types(),
            None => table.schema().layout().types(),
        };
        if event.columns != types.len() {
            return Err(Failure::fatal(format_args!(
                "a row event has {} columns, its table map {}",
                event.columns,
                types.len()
            )));
        }
        let is_held = |number: &usize| {
            present
                .get(number / 8)
                .is_some_and(|byte| byte >> (number % 8) & 1 == 1)
        };
        let numbers: Vec<usize> = (0..types.len()).filter(is_held).collect();
        if let Some(conversions) = table.conversions() {
            for number in &numbers {
                conversions.is_used(*number)?;
            }
        }
        let held: Vec<_> = numbers.iter().map(|number| types[*number].clone()).collect();
        Ok(ImageColumns {
            numbers,
            layout: RowLayout::new(held),
            values: AfterImages::Values,
        })
    }

    /// Returns whether all columns of a key are present.
    pub(super) fn holds_all(&self, parts: &[KeyPart]) -> bool {
        parts.iter().all(|part| self.numbers.contains(&part.column))
    }

    /// Returns whether a generated column is absent. With `binlog_row_image=MINIMAL` MariaDB leaves out generated
    /// columns that it does not store, and the replica may have generated columns of its own.
    fn lacks_generated(&self, table: &MappedTable) -> bool {
        let columns = table.definition().columns().iter().enumerate();
        columns
            .into_iter()
            .any(|(number, column)| column.generated.is_some() && !self.numbers.contains(&number))
    }

    /// Returns whether any column of a key is present.
    pub(super) fn holds_any(&self, parts: &[KeyPart]) -> bool {
        parts.iter().any(|part| self.numbers.contains(&part.column))
    }

    /// Removes an image from the front of `rest` and decodes it.
    pub(super) fn take(&self, rest: &mut &[u8], table: &MappedTable) -> Result<PartialRow, Failure> {
        self.take_image(rest, &[], table).map(|(row, _)| row)
    }

    /// Removes an after image from the front of `rest` and decodes it, with the document changes in it.
    pub(super) fn take_after<'c, 'r: 'c>(
        &'c self,
        rest: &mut &'r [u8],
        table: &MappedTable,
    ) -> Result<(PartialRow, JsonChanges<'c>), Failure> {
        let length = match self.values {
            AfterImages::Values => 0,
            AfterImages::Changes => self.numbers.len().div_ceil(8),
        };
        let (changed, image) = rest
            .split_at_checked(length)
            .ok_or_else(|| Failure::fatal("a row event ends within an image"))?;
        *rest = image;
        self.take_image(rest, changed, table)
    }

    /// Decodes an image. `changed` has one bit for each column in the image; a set bit marks changes in place of a
    /// value. Missing bits count as 0.
    fn take_image<'c, 'r: 'c>(
        &'c self,
        rest: &mut &'r [u8],
        changed: &[u8],
        table: &MappedTable,
    ) -> Result<(PartialRow, JsonChanges<'c>), Failure> {
        let length = self.layout.split(rest)?.0.bytes().len();
        let (bytes, behind) = rest.split_at(length);
        *rest = behind;
        let image = self.layout.image(bytes);
        let columns = table.definition().columns();
        let mut row: PartialRow = vec![None; columns.len()];
        let mut changes = JsonChanges::new();
        let mut values = image.columns();
        for (at, number) in self.numbers.iter().enumerate() {
            let is_change = changed.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 == 1);
            let Some(column) = columns.get(*number) else {
                values.skip_column()?;
                continue;
            };
            if is_change {
                changes.extend(values.next_packed()?.map(|change| (*number, change)));
                continue;
            }
            let Some(value) = values.next() else { break };
            let value = value?.into_owned();
            row[*number] = Some(match table.conversions() {
                Some(conversions) if !value.is_null() => {
                    convert(conversions.read(*number, value)?, &column.data_type)
                }
                _ => value,
            });
        }
        Ok((row, changes))
    }
}

/// `slave_exec_mode=IDEMPOTENT`: the row that a row overwrites. As in MariaDB, it keeps the columns that the event does
/// not have.
fn overwritten(
    table: &MappedTable,
    row: &PartialRow,
    transaction: &mut Transaction,
) -> Result<Option<Vec<u8>>, Failure> {
    let RowPlacement::Key(index) = table.schema().clustered() else {
        return Ok(None);
    };
    if table.exec_mode() != ExecMode::Idempotent {
        return Ok(None);
    }
    let Some(key) = key_of(table, index, row)? else {
        return Ok(None);
    };
    transaction.lock(&key, LockMode::Exclusive, LockWait::Default)?;
    Ok(transaction.newest_image(table.schema(), &key)?)
}

impl PartialRowApplier {
    pub(super) fn new(statistics: Arc<dyn IndexStatistics>) -> Self {
        PartialRowApplier { statistics }
    }

    /// Applies the rows of an event.
    pub(super) fn rows(
        &self,
        event: &RowsEvent<'_>,
        after: AfterImages,
        table: &MappedTable,
        changer: &mut RowChanger,
        transaction: &mut Transaction,
        changed: &mut u64,
    ) -> Result<(), Failure> {
        let held = ImageColumns::new(event, event.columns_present, table)?;
        let held_after = match event.kind {
            RowsKind::Update => Some(ImageColumns::of_after(event, after, table)?),
            RowsKind::Write | RowsKind::Delete => None,
        };
        let mut generated = match held_after.as_ref().unwrap_or(&held).lacks_generated(table) {
            true => Some(GeneratedColumns::new(table.definition().description())?),
            false => None,
        };
        let mut rest: &[u8] = &event.rows;
        let mut image = Vec::new();
        while !rest.is_empty() {
            let row = held.take(&mut rest, table)?;
            let after = match &held_after {
                Some(held_after) => Some(held_after.take_after(&mut rest, table)?),
                None => None,
            };
            image.clear();
            if event.kind == RowsKind::Write {
                let overwritten = overwritten(table, &row, transaction)?;
                own_image(table, row, overwritten.as_deref(), generated.as_mut(), &mut image)?;
                *changed += u64::from(changer.insert(table, &image, transaction)?);
                continue;
            }
            let Some((key, current)) = self.locate(table, &row, transaction)? else {
                if passes_over_missing(table) {
                    continue;
                }
                return Err(not_found(table));
            };
            changer.select_row(&key);
            match after {
                Some((mut after, changes)) => {
                    change_documents(table, &changes, &current, &mut after)?;
                    own_image(table, after, Some(&current), generated.as_mut(), &mut image)?;
                    *changed += u64::from(changer.update_selected(table, &current, &image, transaction)?);
                }
                None => {
                    changer.delete_selected(table, &current, transaction)?;
                    *changed += 1;
                }
            }
        }
        Ok(())
    }

    /// Finds and locks the row of a partial image. Returns its key and its image.
    fn locate(
        &self,
        table: &MappedTable,
        row: &PartialRow,
        transaction: &mut Transaction,
    ) -> Result<Option<LocatedRow>, Failure> {
        let schema = table.schema();
        if let RowPlacement::Key(index) = schema.clustered()
            && let Some(prefix) = key_of(table, index, row)?
        {
            transaction.lock(&prefix, LockMode::Exclusive, LockWait::Default)?;
            let Some(found) = transaction.newest_image(schema, &prefix)? else {
                return Ok(None);
            };
            if !is_row(table, row, &found)? {
                return Err(missing(table, HandlerError::RecordChanged));
            }
            return Ok(Some((prefix, found)));
        }
        let (index, range) = match self.best_index(table, row)? {
            Some((index, prefix)) => (Some(index), KeyRange::prefix(&prefix)),
            None => (None, schema.rows_range()),
        };
        let mut candidates = transaction.scan_newest(range, Direction::Forward)?;
        let mut key = Vec::new();
        while let Some(entry) = candidates.next()? {
            key.clear();
            match index {
                Some(index) => schema.append_row_key_of_entry(index, entry.key, entry.value, &mut key)?,
                None => key.extend_from_slice(entry.key),
            }
            let seen = match index {
                None => is_row(table, row, &schema.row_image(entry.value)?)?,
                Some(_) => match transaction.probe_newest(&key)? {
                    Some(found) => is_row(table, row, &schema.row_image(&found)?)?,
                    None => false,
                },
            };
            if !seen {
                continue;
            }
            transaction.lock(&key, LockMode::Exclusive, LockWait::Default)?;
            if let Some(found) = transaction.newest_image(schema, &key)?
                && is_row(table, row, &found)?
            {
                return Ok(Some((key, found)));
            }
        }
        Ok(None)
    }

    /// Returns the index in which the image matches the fewest rows, with the start of the key.
    fn best_index(&self, table: &MappedTable, row: &PartialRow) -> Result<Option<(usize, Vec<u8>)>, Failure> {
        let mut best: Option<(f64, usize, Vec<u8>)> = None;
        for (number, index) in table.definition().indexes().iter().enumerate() {
            let Some(prefix) = key_of(table, number, row)? else {
                continue;
            };
            let has_null = index
                .parts
                .iter()
                .any(|part| row[part.column].as_ref().is_none_or(Value::is_null));
            let rows = match index.kind {
                IndexKind::Primary | IndexKind::Unique if !has_null => 0.0,
                _ => self.statistics.rows_per_key(table.definition(), number),
            };
            if best.as_ref().is_none_or(|(fewest, ..)| rows < *fewest) {
                best = Some((rows, number, prefix));
            }
        }
        Ok(best.map(|(_, index, prefix)| (index, prefix)))
    }
}

/// Returns a row's key in an index, or `None` if the image does not contain all columns of the key.
pub(super) fn key_of(
    table: &MappedTable,
    index: usize,
    row: &PartialRow,
) -> Result<Option<Vec<u8>>, Failure> {
    let parts = &table.schema().indexes()[index].parts;
    let values: Option<Vec<ValueRef<'_>>> = parts
        .iter()
        .map(|part| row[part.column].as_ref().map(Value::as_ref))
        .collect();
    let Some(values) = values else { return Ok(None) };
    let mut key = Vec::with_capacity(64);
    table.schema().append_key_prefix(index, &values, &mut key)?;
    Ok(Some(key))
}

/// Returns whether one of our images has the values of a partial row.
fn is_row(table: &MappedTable, row: &PartialRow, image: &[u8]) -> Result<bool, Failure> {
    for (value, wanted) in table.schema().image(image).columns().zip(row) {
        if let Some(wanted) = wanted
            && value?.into_owned() != *wanted
        {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Applies changes to a row's JSON documents and stores the results in `after`.
///
/// # Errors
/// 3648 and 3649, in MySQL's words.
fn change_documents(
    table: &MappedTable,
    changes: &JsonChanges<'_>,
    current: &[u8],
    after: &mut PartialRow,
) -> Result<(), Failure> {
    for &(number, change) in changes {
        let column = &table.definition().columns()[number];
        let mut text = Vec::new();
        let changed = match table.schema().image(current).column(number)? {
            ValueRef::Text(document) => append_changed_json(document.as_bytes(), change, &mut text)
                .and_then(|()| String::from_utf8(text).map_err(|_| paceline_json::Error::MalformedDiff))
                .map(Value::Text),
            ValueRef::Bytes(document) => {
                append_changed_json(&document, change, &mut text).map(|()| Value::Bytes(text))
            }
            // This is NULL most of the time.
            _ => Err(paceline_json::Error::DiffNotApplied),
        };
        let value = changed.map_err(|error| {
            let code = error.error_code();
            Failure::new(code, code.message(&[&table.definition().name(), &column.name]))
        })?;
        after[number] = Some(match table.conversions() {
            Some(_) => convert(value, &column.data_type),
            None => value,
        });
    }
    Ok(())
}

/// Appends the image of a row. The value of a column is the one in `row`, else the generated value, else the row's
/// former value, else the column's default.
fn own_image(
    table: &MappedTable,
    row: PartialRow,
    before: Option<&[u8]>,
    generated: Option<&mut GeneratedColumns<'_>>,
    out: &mut Vec<u8>,
) -> Result<(), Failure> {
    let had = match before {
        Some(image) => Some(table.schema().decode_row(image)?),
        None => None,
    };
    let absent: SmallVec<[bool; 32]> = row.iter().map(Option::is_none).collect();
    let mut values = Vec::with_capacity(row.len());
    for (number, value) in row.into_iter().enumerate() {
        let column = &table.definition().columns()[number];
        let value = match (value, &had) {
            (Some(value), _) => value,
            (None, Some(had)) => had[number].clone(),
            (None, None) => default_of_absent(column),
        };
        values.push(match value.is_null() && !column.nullable {
            true => default_of_absent(column),
            false => value,
        });
    }
    if let Some(generated) = generated {
        generated.fill_in(&mut values, &absent)?;
    }
    table.schema().encode_row(&values, out)?;
    Ok(())
}
