//! Rows as commented SQL: the output of `-v` and `-vv`.

use super::column::{Column, MappedTable};
use super::options::Verbosity;
use paceline_binlog::event::{RowsEvent, RowsKind};
use std::io::Write;

/// An image that is cut off or does not match its columns.
#[derive(Debug, PartialEq, Eq)]
pub struct TruncatedImage;

/// Returns whether a bitmap contains a column.
pub fn is_present(bitmap: &[u8], column: usize) -> bool {
    bitmap
        .get(column / 8)
        .is_some_and(|byte| byte >> (column % 8) & 1 == 1)
}

/// Removes an image from the front of `rows`. Calls `each` for each of its columns with the value's bytes, or `None`
/// for NULL.
pub fn take_image<'a>(
    columns: &[Column],
    present: &[u8],
    rows: &mut &'a [u8],
    mut each: impl FnMut(usize, &Column, Option<&'a [u8]>),
) -> Result<(), TruncatedImage> {
    let count = (0..columns.len())
        .filter(|column| is_present(present, *column))
        .count();
    let (nulls, rest) = rows.split_at_checked(count.div_ceil(8)).ok_or(TruncatedImage)?;
    *rows = rest;
    let shown = columns
        .iter()
        .enumerate()
        .filter(|(number, _)| is_present(present, *number));
    for (bit, (number, column)) in shown.enumerate() {
        let value = if is_present(nulls, bit) {
            None
        } else {
            Some(column.take_value(rows).ok_or(TruncatedImage)?)
        };
        each(number, column, value);
    }
    Ok(())
}

/// Returns the number of rows that the event changes.
pub fn count_rows(table: &MappedTable, event: &RowsEvent<'_>) -> Result<u64, TruncatedImage> {
    let mut rows = &event.rows[..];
    let mut count = 0;
    while !rows.is_empty() {
        let before = rows.len();
        take_image(&table.columns, event.columns_present, &mut rows, |_, _, _| {})?;
        if event.kind == RowsKind::Update {
            take_image(
                &table.columns,
                event.columns_present_after,
                &mut rows,
                |_, _, _| {},
            )?;
        }
        if rows.len() == before {
            return Err(TruncatedImage);
        }
        count += 1;
    }
    // An INSERT that names no columns, with an image of the named columns only.
    Ok(if count == 0 && event.kind == RowsKind::Write {
        1
    } else {
        count
    })
}

/// Appends the event's rows.
pub fn append_rows(table: &MappedTable, event: &RowsEvent<'_>, verbosity: Verbosity, out: &mut Vec<u8>) {
    let name = [
        b"`".as_slice(),
        &escaped_name(&table.database),
        b"`.`",
        &escaped_name(&table.table),
        b"`",
    ]
    .concat();
    let (command, first) = match event.kind {
        RowsKind::Write => ("INSERT INTO", "SET"),
        RowsKind::Update => ("UPDATE", "WHERE"),
        RowsKind::Delete => ("DELETE FROM", "WHERE"),
    };
    let start = |out: &mut Vec<u8>| {
        out.extend_from_slice(b"### ");
        out.extend_from_slice(command.as_bytes());
        out.push(b' ');
        out.extend_from_slice(&name);
    };
    if event.rows.is_empty() {
        if event.kind == RowsKind::Write {
            start(out);
            out.extend_from_slice(b" VALUES ()\n");
        }
        return;
    }
    let mut rows = &event.rows[..];
    while !rows.is_empty() {
        let before = rows.len();
        start(out);
        out.push(b'\n');
        let mut images = vec![(first, event.columns_present)];
        if event.kind == RowsKind::Update {
            images.push(("SET", event.columns_present_after));
        }
        for (clause, present) in images {
            let _ = writeln!(out, "### {clause}");
            if append_image(table, present, &mut rows, verbosity, out).is_err() {
                out.extend_from_slice(
                    b"***Corrupted replication event was detected. Not printing the value***\n",
                );
                return;
            }
        }
        if rows.len() == before {
            return;
        }
    }
}

fn append_image(
    table: &MappedTable,
    present: &[u8],
    rows: &mut &[u8],
    verbosity: Verbosity,
    out: &mut Vec<u8>,
) -> Result<(), TruncatedImage> {
    take_image(&table.columns, present, rows, |number, column, value| {
        let _ = write!(out, "###   @{}=", number + 1);
        match value {
            None => out.extend_from_slice(b"NULL"),
            Some(bytes) => column.append_value(bytes, out),
        }
        if verbosity == Verbosity::RowsAndTypes {
            column.append_description(value.is_none(), out);
        }
        out.push(b'\n');
    })
}

/// Returns a name with backticks doubled.
pub fn escaped_name(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len());
    for byte in name {
        if *byte == b'`' {
            out.push(b'`');
        }
        out.push(*byte);
    }
    out
}
