//! Rows: prints a BINLOG statement for each statement that changed them, and their readable form.

use super::super::column::MappedTable;
use super::super::error::{Error, Result};
use super::super::flashback::{EndsStatement, inverse, set_end_of_statement};
use super::super::hexdump::append_hexdump;
use super::super::options::{Direction, EncodedOutput, Verbosity};
use super::super::rewrite::with_database;
use super::super::rows_text::{append_rows, count_rows, escaped_name};
use super::super::script::DELIMITER;
use super::super::source::{Checksums, LoggedEvent};
use super::super::table_metadata::append_table_metadata;
use super::Printer;
use paceline_binlog::event::{
    CHECKSUM_LENGTH, ChecksumAlgorithm, Event, EventBody, EventFlags, EventStamp, RowsCompression, RowsEvent,
    RowsKind, TableMapEvent, encode_event, set_end_position,
};
use paceline_types::base64::append_base64_lines;
use std::borrow::Cow;
use std::io::Write;

/// Maximum length of the encoded events in one statement: MariaDB's limit, a quarter of its maximum packet length.
const STATEMENT_BYTES_MAX: usize = 256 << 20;

/// Offset of the length in an event's header.
const LENGTH_OFFSET: usize = 9;

/// The text of the statement to which the next rows belong.
#[derive(Debug, Default)]
pub(super) struct Annotation {
    header: Vec<u8>,
    /// Bytes of the event, for a hex dump.
    dumped: Vec<u8>,
    text: Vec<u8>,
}

impl Printer<'_> {
    pub(super) fn keep_annotation(&mut self, event: &LoggedEvent<'_>, sql: &[u8]) {
        self.annotation = Annotation {
            header: match self.style.short {
                true => b"# Annotate_rows:\n".to_vec(),
                false => self.header_text(event).into_bytes(),
            },
            dumped: match self.style.hexdump && !self.style.short {
                true => event.raw.bytes().to_vec(),
                false => Vec::new(),
            },
            text: Vec::new(),
        };
        let text = &mut self.annotation.text;
        if !self.style.short {
            text.extend_from_slice(b"\tAnnotate_rows:\n");
        }
        let lines = sql.split(|byte| matches!(byte, b'\r' | b'\n'));
        for line in lines.filter(|line| !line.is_empty()) {
            text.extend_from_slice(b"#Q> ");
            text.extend_from_slice(line);
            text.push(b'\n');
        }
    }

    /// Prints the statement. Its first table map is at `offset`. MariaDB's program shows the annotation's bytes with
    /// this offset, too.
    fn print_annotation(&mut self, offset: u64) {
        let Annotation { header, dumped, text } = std::mem::take(&mut self.annotation);
        self.head.extend_from_slice(&header);
        if !dumped.is_empty() {
            append_hexdump(offset, &dumped, &mut self.head);
        }
        self.head.extend_from_slice(&text);
    }

    fn needs_format(&self, event: &LoggedEvent<'_>) -> Result<()> {
        let decodes = self.style.encoded == EncodedOutput::DecodeRows;
        if self.format_printed || self.style.short || decodes {
            return Ok(());
        }
        Err(Error::NeedsEncoding(event.header().event_type.name()))
    }

    pub(super) fn print_table_map(&mut self, event: &LoggedEvent<'_>, map: &TableMapEvent<'_>) -> Result<()> {
        const FLAG_HAS_TRIGGERS: u16 = 1 << 14;
        if self.skips_database(map.database) || self.skips_table(map.table) {
            self.ignored.insert(map.table_id);
            return Ok(());
        }
        self.ignored.remove(&map.table_id);
        self.print_annotation(event.offset);
        self.needs_format(event)?;
        let (mut map, mut bytes) = (*map, Cow::Borrowed(event.raw.bytes()));
        let rewritten = self.style.rewrites.of(map.database).map(<[u8]>::to_vec);
        if let Some(database) = &rewritten
            && let Some(changed) = with_database(&bytes, database)
        {
            (map.database, bytes) = (database.as_slice(), Cow::Owned(changed));
        }
        let triggers = if map.flags & FLAG_HAS_TRIGGERS != 0 {
            " (has triggers)"
        } else {
            ""
        };
        if !self.style.short {
            self.print_header_of(event, &bytes, "\tTable_map: `");
            self.head.extend_from_slice(&escaped_name(map.database));
            self.head.extend_from_slice(b"`.`");
            self.head.extend_from_slice(&escaped_name(map.table));
            let _ = writeln!(self.head, "` mapped to number {}{triggers}", map.table_id.0);
            if self.style.table_metadata {
                append_table_metadata(&map, &mut self.head);
            }
            self.tables.insert(map.table_id, MappedTable::of(&map));
            if self.encodes() {
                append_base64_lines(&bytes, &mut self.body);
            }
        }
        self.flush_head()
    }

    pub(super) fn print_rows(&mut self, event: &LoggedEvent<'_>, rows: &RowsEvent<'_>) -> Result<()> {
        let last = rows.flags.ends_statement();
        if !self.ignored.contains(&rows.table_id) {
            self.needs_format(event)?;
            match self.style.direction {
                Direction::Forward => self.collect_rows(event, rows),
                Direction::Back => self.invert_rows(event, rows)?,
            }
        }
        if last {
            self.ignored.clear();
            self.annotation = Annotation::default();
            self.collect_inverses(event)?;
            if self.style.direction == Direction::Forward {
                self.flush_head()?;
            }
            let mut text = std::mem::take(&mut self.head);
            if !self.body.is_empty() {
                append_binlog_statement(&self.body, &mut text);
            }
            text.append(&mut self.tail);
            match self.style.direction {
                Direction::Forward => self.out.write_all(&text)?,
                Direction::Back => *self.inverse.next_text() = text,
            }
            if let Some(rows) = self.rows.take()
                && self.style.row_counts
            {
                writeln!(self.out, "# Number of rows: {rows}")?;
            }
            self.body.clear();
        }
        Ok(())
    }

    /// Keeps the inverse of a rows event until its statement ends, because inverses are printed in reverse order.
    fn invert_rows(&mut self, event: &LoggedEvent<'_>, rows: &RowsEvent<'_>) -> Result<()> {
        let problem = |problem: String| Error::Event {
            file: Default::default(),
            offset: event.offset,
            problem,
        };
        let Some(Some(table)) = self.tables.get(&rows.table_id) else {
            return match rows.rows.is_empty() {
                true => Ok(()),
                false => Err(problem("rows of a table without a table map".into())),
            };
        };
        let bytes = match rows.compression {
            RowsCompression::Plain => Cow::Borrowed(event.raw.bytes()),
            RowsCompression::Compressed => Cow::Owned(uncompressed(event, rows)),
        };
        let checksum = event.format.checksum;
        let inverse = inverse(rows, &bytes, checksum, table).map_err(problem)?;
        self.inverses.push(inverse);
        Ok(())
    }

    fn collect_inverses(&mut self, event: &LoggedEvent<'_>) -> Result<()> {
        let mut inverses = std::mem::take(&mut self.inverses);
        inverses.reverse();
        let count = inverses.len();
        for (number, bytes) in inverses.iter_mut().enumerate() {
            let ends = match number + 1 == count {
                true => EndsStatement::Yes,
                false => EndsStatement::No,
            };
            set_end_of_statement(bytes, ends);
            let problem = |problem: paceline_binlog::Error| Error::Event {
                file: Default::default(),
                offset: event.offset,
                problem: problem.to_string(),
            };
            let inverse =
                LoggedEvent::new(event.offset, bytes, event.format, Checksums::Ignore).map_err(problem)?;
            if let Event::Rows(rows) = inverse.decode().map_err(problem)? {
                self.collect_rows(&inverse, &rows);
            }
        }
        Ok(())
    }

    fn collect_rows(&mut self, event: &LoggedEvent<'_>, rows: &RowsEvent<'_>) {
        if self.style.short {
            return;
        }
        let flags = match rows.flags.ends_statement() {
            true => " flags: STMT_END_F",
            false => "",
        };
        let name = match (rows.kind, rows.compression) {
            (RowsKind::Write, RowsCompression::Plain) => "Write_rows",
            (RowsKind::Update, RowsCompression::Plain) => "Update_rows",
            (RowsKind::Delete, RowsCompression::Plain) => "Delete_rows",
            (RowsKind::Write, RowsCompression::Compressed) => "Write_compressed_rows",
            (RowsKind::Update, RowsCompression::Compressed) => "Update_compressed_rows",
            (RowsKind::Delete, RowsCompression::Compressed) => "Delete_compressed_rows",
        };
        let plain = match rows.compression {
            RowsCompression::Plain => Cow::Borrowed(event.raw.bytes()),
            RowsCompression::Compressed => Cow::Owned(uncompressed(event, rows)),
        };
        let rest = format!("\t{name}: table id {}{flags}\n", rows.table_id.0);
        self.print_header_of(event, &plain, &rest);
        if self.encodes() {
            append_base64_lines(&plain, &mut self.body);
        }
        let count = self.rows.get_or_insert(0);
        let Some(Some(table)) = self.tables.get(&rows.table_id) else {
            if self.style.verbosity != Verbosity::Quiet {
                let _ = write!(self.tail, "### Row event for unknown table #{}", rows.table_id.0);
            }
            return;
        };
        *count += count_rows(table, rows).unwrap_or(0);
        if self.style.verbosity != Verbosity::Quiet {
            append_rows(table, rows, self.style.verbosity, &mut self.tail);
        }
    }
}

/// Appends a BINLOG statement. Events that are too long for one packet are put into two variables, as by
/// `mariadb-binlog`.
fn append_binlog_statement(encoded: &[u8], out: &mut Vec<u8>) {
    if encoded.len() <= STATEMENT_BYTES_MAX {
        out.extend_from_slice(b"\nBINLOG '\n");
        out.extend_from_slice(encoded);
        let _ = writeln!(out, "'{DELIMITER}");
        return;
    }
    let (first, second) = encoded.split_at(encoded.len() / 2 + 1);
    for (number, fragment) in [first, second].into_iter().enumerate() {
        let _ = write!(out, "\nSET @binlog_fragment_{number} ='\n");
        out.extend_from_slice(fragment);
        let _ = writeln!(out, "'{DELIMITER}");
    }
    let _ = writeln!(out, "BINLOG @binlog_fragment_0, @binlog_fragment_1{DELIMITER}");
}

/// Returns a compressed rows event in uncompressed form.
fn uncompressed(event: &LoggedEvent<'_>, rows: &RowsEvent<'_>) -> Vec<u8> {
    let plain = RowsEvent {
        compression: RowsCompression::Plain,
        ..rows.clone()
    };
    encoded_in_place_of(event, event.header().flags, &plain)
}

/// Returns the bytes of an event with the header of another one, in the format of its file. The end position is the
/// other's too.
pub(super) fn encoded_in_place_of(
    event: &LoggedEvent<'_>,
    flags: EventFlags,
    body: &dyn EventBody,
) -> Vec<u8> {
    let header = event.header();
    let stamp = EventStamp {
        timestamp: header.timestamp,
        server_id: header.server_id,
        flags,
    };
    let mut bytes = Vec::new();
    encode_event(&mut bytes, &stamp, 0, body);
    set_end_position(&mut bytes, header.end_position);
    if event.format.checksum == ChecksumAlgorithm::None {
        let length = bytes.len() - CHECKSUM_LENGTH;
        bytes.truncate(length);
        bytes[LENGTH_OFFSET..LENGTH_OFFSET + 4].copy_from_slice(&(length as u32).to_le_bytes());
    }
    bytes
}
