//! `--flashback`: rows events that undo others.
//!
//! The inverse of an insert is a delete of the same row, of an update the update back; the last row comes first. Nothing else of a log can be
//! inverted, and rows only where their images are whole. As in `mariadb-binlog`, whose text this is compared with, an inverse keeps the
//! checksum of the event that it was made of: no server looks at checksums in BINLOG statements.

use super::column::MappedTable;
use super::error::Result;
use super::rows_text::{is_present, take_image};
use super::script::DELIMITER;
use paceline_binlog::event::{
    CHECKSUM_LENGTH, ChecksumAlgorithm, HEADER_LENGTH, RowsEvent, RowsFlags, RowsKind,
};
use std::io::Write;

/// Where an event's type stands in it, in bytes.
const TYPE_OFFSET: usize = 4;
/// Where a rows event's flags stand: behind the header and the table's number.
const FLAGS_OFFSET: usize = HEADER_LENGTH + 6;

/// What undoes a log, the oldest first.
#[derive(Debug, Default)]
pub struct Undone {
    texts: Vec<Vec<u8>>,
    /// The Stop event at the end of a file, which is printed behind the rest.
    stop: Vec<u8>,
    /// Whether the last file's events have checksums, and the BINLOG statement of its format.
    format: Option<(ChecksumAlgorithm, Vec<u8>)>,
}

impl Undone {
    /// Notes the format of the file that is read.
    pub fn set_format(&mut self, checksum: ChecksumAlgorithm, statement: Vec<u8>) {
        self.format = Some((checksum, statement));
    }

    /// Where what undoes the next event is put.
    pub fn next_text(&mut self) -> &mut Vec<u8> {
        let next = self.texts.len();
        self.texts.push(Vec::new());
        &mut self.texts[next]
    }

    /// Where the Stop event at a file's end is put.
    pub fn stop_text(&mut self) -> &mut Vec<u8> {
        &mut self.stop
    }

    /// Adds what undoes the next file. It runs before what is there, which must be read by its own format again.
    pub fn append(&mut self, mut next: Undone) {
        if let (Some((before, statement)), Some((after, _))) = (&self.format, &next.format)
            && before != after
        {
            self.texts.push(statement.clone());
        }
        self.format = next.format.or(self.format.take());
        self.texts.append(&mut next.texts);
        if !next.stop.is_empty() {
            self.stop = next.stop;
        }
    }

    /// Writes it, the newest first.
    pub fn write(self, out: &mut dyn Write) -> Result<()> {
        for text in self.texts.iter().rev() {
            out.write_all(text)?;
        }
        writeln!(out, "COMMIT\n{DELIMITER}")?;
        out.write_all(&self.stop)?;
        writeln!(out, "DELIMITER ;")?;
        Ok(())
    }
}

/// The event that undoes another. `bytes` are those of the event, not compressed.
///
/// # Errors
/// Why it has none, for people.
pub fn inverse(
    event: &RowsEvent<'_>,
    bytes: &[u8],
    checksum: ChecksumAlgorithm,
    table: &MappedTable,
) -> Result<Vec<u8>, String> {
    let checksum_length = match checksum {
        ChecksumAlgorithm::Crc32 => CHECKSUM_LENGTH,
        ChecksumAlgorithm::None => 0,
    };
    let columns = table.columns.len();
    let is_whole = |present: &[u8]| (0..columns).all(|column| is_present(present, column));
    let updates = event.kind == RowsKind::Update;
    if !is_whole(event.columns_present) || (updates && !is_whole(event.columns_present_after)) {
        return Err("--flashback needs whole row images (binlog_row_image=FULL)".into());
    }
    let rows = reversed_rows(event, table)?;
    let head = bytes
        .len()
        .checked_sub(checksum_length + event.rows.len())
        .filter(|head| *head > FLAGS_OFFSET)
        .ok_or("the event is too short")?;
    let mut inverse = bytes[..head].to_vec();
    inverse.extend_from_slice(&rows);
    inverse.extend_from_slice(&bytes[head + rows.len()..]);
    // Of the three types of each version the first inserts and the last deletes.
    match event.kind {
        RowsKind::Write => inverse[TYPE_OFFSET] += 2,
        RowsKind::Update => {}
        RowsKind::Delete => inverse[TYPE_OFFSET] -= 2,
    }
    Ok(inverse)
}

/// The rows, the last one first, those of updates with their images changed round.
fn reversed_rows(event: &RowsEvent<'_>, table: &MappedTable) -> Result<Vec<u8>, String> {
    let mut rest = &event.rows[..];
    let mut take = |present: &[u8]| {
        let whole = rest;
        let taken = take_image(&table.columns, present, &mut rest, |_, _, _| {});
        match taken {
            Ok(()) if rest.len() < whole.len() => Ok(Some(&whole[..whole.len() - rest.len()])),
            Ok(()) => Ok(None),
            Err(_) => Err("its rows are not those of its table map".to_owned()),
        }
    };
    let mut images = Vec::new();
    let mut taken = 0;
    while taken < event.rows.len() {
        let image = take(event.columns_present)?.ok_or("rows without columns")?;
        taken += image.len();
        images.push(image);
        if event.kind == RowsKind::Update {
            let after = take(event.columns_present_after)?.ok_or("rows without columns")?;
            taken += after.len();
            images.push(after);
        }
    }
    images.reverse();
    Ok(images.concat())
}

/// Says whether the event is the last one of its statement.
pub fn set_end_of_statement(event: &mut [u8], ends: EndsStatement) {
    let Some(flags) = event.get_mut(FLAGS_OFFSET..FLAGS_OFFSET + 2) else {
        return;
    };
    let end = RowsFlags::STATEMENT_END as u8;
    match ends {
        EndsStatement::Yes => flags[0] |= end,
        EndsStatement::No => flags[0] &= !end,
    }
}

/// Whether an event is the last one of its statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EndsStatement {
    /// It is.
    Yes,
    /// Another one follows.
    No,
}
