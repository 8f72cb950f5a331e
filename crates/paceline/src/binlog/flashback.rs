//! `--flashback`: creates rows events that undo other rows events.
//!
//! The inverse of an insert is a delete of the same row, the inverse of an update is the update back. Rows are in
//! reverse order. A statement with text is inverted by the rows beside it. Nothing else in a log can be inverted, and
//! rows only if their images are complete. As in `mariadb-binlog`, to whose output this is compared, an inverse keeps
//! the checksum of the original event: no server checks checksums in BINLOG statements.

use super::column::MappedTable;
use super::error::Result;
use super::rows_text::{is_present, take_image};
use super::script::DELIMITER;
use paceline_binlog::event::{
    CHECKSUM_LENGTH, ChecksumAlgorithm, HEADER_LENGTH, RowsEvent, RowsFlags, RowsKind,
};
use std::io::Write;

/// Offset of the type in an event.
const TYPE_OFFSET: usize = 4;
/// Offset of the flags in a rows event: after the header and the table number.
const FLAGS_OFFSET: usize = HEADER_LENGTH + 6;

/// Texts that undo a log, in the order of the log.
#[derive(Debug, Default)]
pub struct InverseScript {
    texts: Vec<Vec<u8>>,
    /// The Stop event at the end of a file, which is printed after everything else.
    stop: Vec<u8>,
    /// Checksum algorithm of the last file, and the BINLOG statement of its format.
    format: Option<(ChecksumAlgorithm, Vec<u8>)>,
}

impl InverseScript {
    /// Sets the format of the current file.
    pub fn set_format(&mut self, checksum: ChecksumAlgorithm, statement: Vec<u8>) {
        self.format = Some((checksum, statement));
    }

    /// Returns the buffer for the text that undoes the next event.
    pub fn next_text(&mut self) -> &mut Vec<u8> {
        let next = self.texts.len();
        self.texts.push(Vec::new());
        &mut self.texts[next]
    }

    /// Returns the buffer for the Stop event at the end of a file.
    pub fn stop_text(&mut self) -> &mut Vec<u8> {
        &mut self.stop
    }

    /// Adds the texts of the next file. They are executed before the existing ones, which must then be read with their
    /// own format again.
    pub fn append(&mut self, mut next: InverseScript) {
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

    /// Writes the texts in reverse order.
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

/// Returns the event that undoes another one. `bytes` are the bytes of the uncompressed event.
///
/// # Errors
/// The reason why there is none, as a text for users.
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
        return Err("--flashback requires full row images (binlog_row_image=FULL)".into());
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
    // In each version of the three event types, the first inserts and the last deletes.
    match event.kind {
        RowsKind::Write => inverse[TYPE_OFFSET] += 2,
        RowsKind::Update => {}
        RowsKind::Delete => inverse[TYPE_OFFSET] -= 2,
    }
    Ok(inverse)
}

/// Returns the rows in reverse order. The images of updates are exchanged.
fn reversed_rows(event: &RowsEvent<'_>, table: &MappedTable) -> Result<Vec<u8>, String> {
    let mut rest = &event.rows[..];
    let mut take = |present: &[u8]| {
        let whole = rest;
        let taken = take_image(&table.columns, present, &mut rest, |_, _, _| {});
        match taken {
            Ok(()) if rest.len() < whole.len() => Ok(Some(&whole[..whole.len() - rest.len()])),
            Ok(()) => Ok(None),
            Err(_) => Err("its rows do not match its table map".to_owned()),
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

/// Sets whether the event is the last one of its statement.
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
    /// It is the last.
    Yes,
    /// Another event follows.
    No,
}
