//! Updates with changes of JSON documents (`binlog_row_value_options=PARTIAL_JSON`).
//!
//! If the before images are whole (`binlog_row_image=FULL`, the default), the event contains the old documents: the
//! changes are applied here, and the result is an ordinary update. Otherwise (`MINIMAL`, `NOBLOB`) only the row itself
//! contains the document, and the changes are passed on to the code that finds the row.

use super::super::super::error::{SourceError, corrupt};
use super::{Documents, ImageColumns, RowTranslator, Table, known_flags};
use paceline_binlog::event::{RowsCompression, RowsEvent, RowsVersion};
use paceline_binlog::mysql::PartialUpdateRowsEvent;
use paceline_json::binary::append_json_text;
use paceline_json::diff::append_changed_json;
use paceline_types::error_code::{ER_CORRUPTED_JSON_DIFF, ER_COULD_NOT_APPLY_JSON_DIFF};
use std::borrow::Cow;

/// PARTIAL_JSON_UPDATES, the only defined option of an image.
const CHANGES_OF_DOCUMENTS: u8 = 1;

/// Result of an Update_rows_partial event.
pub(in super::super) enum PartialUpdate<'e> {
    /// An update with whole documents.
    Whole(RowsEvent<'e>),
    /// An update whose changes must be applied to the stored rows.
    Changes(PartialUpdateRowsEvent<'e>),
}

/// Columns of which an after image contains changes.
struct ColumnChanges<'r> {
    /// One bit for each JSON column of the table; empty if the image contains no changes.
    bits: &'r [u8],
    json: &'r [bool],
}

impl<'r> ColumnChanges<'r> {
    /// Removes the options before an after image from the front.
    fn take(table: &'r Table, rows: &mut &'r [u8]) -> Result<Self, SourceError> {
        let (&options, rest) = rows
            .split_first()
            .ok_or_else(|| corrupt("an update has no image after the change"))?;
        let length = match options {
            0 => 0,
            CHANGES_OF_DOCUMENTS => table
                .is_json
                .iter()
                .filter(|is_json| **is_json)
                .count()
                .div_ceil(8),
            _ => {
                return Err(corrupt(format_args!(
                    "an image with options {options}, which are not known"
                )));
            }
        };
        let (bits, rest) = rest
            .split_at_checked(length)
            .ok_or_else(|| corrupt("an image ends too early"))?;
        *rows = rest;
        Ok(ColumnChanges {
            bits,
            json: &table.is_json,
        })
    }

    fn contains(&self, column: usize) -> bool {
        let number = self.json[..column].iter().filter(|is_json| **is_json).count();
        self.json[column]
            && self
                .bits
                .get(number / 8)
                .is_some_and(|byte| byte >> (number % 8) & 1 == 1)
    }
}

impl RowTranslator {
    /// Converts an update whose after images may contain changes. `end_position` is its end in MySQL's log, for
    /// messages.
    pub(in super::super) fn partial_update<'e>(
        &'e mut self,
        body: &'e [u8],
        end_position: u32,
    ) -> Result<PartialUpdate<'e>, SourceError> {
        let PartialUpdateRowsEvent(event) = PartialUpdateRowsEvent::decode(body).map_err(corrupt)?;
        self.images.clear();
        let is_whole = match self.table_of(&event)? {
            Some(table) => self.changed_rows(&event, &table, end_position)?,
            None => true,
        };
        let event = RowsEvent {
            version: if is_whole {
                RowsVersion::V1
            } else {
                RowsVersion::V2
            },
            compression: RowsCompression::Plain,
            flags: known_flags(event.flags),
            extra_data: &[],
            rows: Cow::Borrowed(&self.images),
            ..event
        };
        Ok(match is_whole {
            true => PartialUpdate::Whole(event),
            false => PartialUpdate::Changes(PartialUpdateRowsEvent(event)),
        })
    }

    /// Builds the images of an event. Returns whether the changes are applied in them.
    fn changed_rows(
        &mut self,
        event: &RowsEvent<'_>,
        table: &Table,
        end_position: u32,
    ) -> Result<bool, SourceError> {
        let before = ImageColumns::new(table, event.columns_present);
        let after = ImageColumns::new(table, event.columns_present_after);
        let is_whole = after
            .numbers
            .iter()
            .all(|column| !table.is_json[*column] || before.numbers.contains(column));
        let mut documents = Documents::new();
        // The before image, in a separate buffer while its documents are read.
        let mut base = Vec::new();
        let mut rest: &[u8] = &event.rows;
        while !rest.is_empty() {
            base.clear();
            documents.clear();
            let read = |_: usize, document: &[u8], text: &mut Vec<u8>| {
                append_json_text(document, text).map_err(corrupt)
            };
            rest = before.take_with(rest, read, &mut self.text, &mut base, Some(&mut documents))?;
            self.images.extend_from_slice(&base);
            let changed = ColumnChanges::take(table, &mut rest)?;
            if !is_whole {
                self.append_bitmap(&after, &changed);
            }
            let read = |column: usize, value: &[u8], text: &mut Vec<u8>| {
                if !changed.contains(column) {
                    return append_json_text(value, text).map_err(corrupt);
                }
                if !is_whole {
                    text.extend_from_slice(value);
                    return Ok(());
                }
                let document = documents.iter().find(|(known, _)| *known == column);
                let done = match document {
                    Some((_, place)) => append_changed_json(&base[place.clone()], value, text),
                    None => Err(paceline_json::Error::DiffNotApplied),
                };
                done.map_err(|error| cannot_change(&error, table, column, end_position))
            };
            rest = after.take_with(rest, read, &mut self.text, &mut self.images, None)?;
        }
        Ok(is_whole)
    }

    /// Appends the bitmap of changed columns, with one bit for each column of the image.
    fn append_bitmap(&mut self, held: &ImageColumns, changed: &ColumnChanges<'_>) {
        let start = self.images.len();
        self.images.resize(start + held.numbers.len().div_ceil(8), 0);
        for (at, column) in held.numbers.iter().enumerate() {
            if changed.contains(*column) {
                self.images[start + at / 8] |= 1 << (at % 8);
            }
        }
    }
}

/// Returns 3648 or 3649 with MySQL's text. It contains the column's index, because a table map has no names, and the
/// position.
fn cannot_change(
    error: &paceline_json::Error,
    table: &Table,
    column: usize,
    end_position: u32,
) -> SourceError {
    let code = match error {
        paceline_json::Error::DiffNotApplied => ER_COULD_NOT_APPLY_JSON_DIFF,
        _ => ER_CORRUPTED_JSON_DIFF,
    };
    let message = code.message(&[&table.name, &format_args!("@{}", column + 1)]);
    SourceError::fatal(
        code.number(),
        format!("{message} The event's end_log_pos is {end_position}"),
    )
}

#[cfg(test)]
mod tests;
