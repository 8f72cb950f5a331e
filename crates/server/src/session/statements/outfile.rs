//! SELECT … INTO OUTFILE and INTO DUMPFILE: writes the rows to a new file on this machine.

use super::query::note_plan;
use crate::running_plan::PlanToRun;
use crate::session::execution::Execution;
use crate::session::files::{FileProblem, named_file};
use crate::session::planning::ATTEMPTS_MAX;
use crate::session::protocol::Reply;
use crate::session::state::SessionState;
use paceline_expression::session::Privilege;
use paceline_query::execute::{ExecutionContext, RowSink, execute as execute_plan};
use paceline_query::plan::{Plan, ResultColumn, RowFormat, has_odd_separators};
use paceline_syntax::{Error, Result};
use paceline_syntax::{FileFormat, SelectInto, Statement};
use paceline_types::error_code::*;
use paceline_types::{Charset, DataType, TimeZone, Value, text};
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Executes a query and writes its rows to a file.
///
/// # Errors
/// 1227 without FILE; 1086 for an existing file; the errors of the query and of writing.
pub async fn execute(
    statement: &Statement,
    into: &SelectInto,
    state: &mut SessionState,
    execution: Execution<'_>,
) -> Result<Reply> {
    state.services.require_any(&[Privilege::File])?;
    for _ in 0..ATTEMPTS_MAX {
        let plan = Arc::new(state.plan(statement)?);
        if let Some(rows) = run_into_file(state, &plan, into, execution).await? {
            return Ok(Reply::affected(rows));
        }
    }
    Err(Error::new(ER_TABLE_DEF_CHANGED, &[]))
}

/// Executes a plan and returns the number of rows. Returns `None` if its tables have changed since it was made.
async fn run_into_file(
    state: &mut SessionState,
    plan: &Arc<Plan>,
    into: &SelectInto,
    execution: Execution<'_>,
) -> Result<Option<u64>> {
    let Some(catalog) = state.prepare_run(plan)? else {
        return Ok(None);
    };
    let mut sink = file_sink(state, plan, into)?;
    let published = PlanToRun::from(plan).publish(&state.shared.running_plan);
    let mut context = ExecutionContext {
        // Nothing is logged.
        text: b"",
        ..state.execution_context(&catalog, plan, execution)?
    };
    let done = execute_plan(plan, &mut context, &mut sink).and_then(|outcome| {
        sink.finish()?;
        Ok(outcome)
    });
    drop(context);
    drop(published);
    note_plan(plan, state, execution);
    let outcome = match done {
        Ok(outcome) => outcome,
        Err(error) => {
            sink.remove();
            return Err(error);
        }
    };
    state.leave_statement().await?;
    Ok(Some(outcome.rows_sent))
}

fn file_sink(state: &mut SessionState, plan: &Plan, into: &SelectInto) -> Result<FileSink> {
    let (name, format) = match into {
        SelectInto::Outfile { path, format } => (path, Some(format)),
        SelectInto::Dumpfile(path) => (path, None),
        SelectInto::Variables(_) => return Err(Error::new(ER_UNKNOWN_ERROR, &[])),
    };
    let time_zone = state.context.settings.time_zone.clone();
    let style = match format {
        None => Style::Dump,
        Some(format) => {
            if has_odd_separators(format) {
                let warning = Error::new(WARN_NON_ASCII_SEPARATOR_NOT_IMPLEMENTED, &[]);
                state.context.diagnostics.warn(warning.code(), warning.message());
            }
            let lines = LineStyle::new(format, plan.columns(), state.context.settings.sql_mode)?;
            if lines.is_ambiguous {
                let warning = Error::new(ER_AMBIGUOUS_FIELD_TERM, &[]);
                state.context.diagnostics.warn(warning.code(), warning.message());
            }
            Style::Lines(lines)
        }
    };
    let path = named_file(name, state.context.database.as_deref(), &state.server.globals)?;
    if path.symlink_metadata().is_ok() {
        return Err(Error::new(ER_FILE_EXISTS_ERROR, &[name]));
    }
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o644)
        .open(&path);
    let file = file.map_err(|error| FileProblem::Create.error(&path, &error))?;
    // The file is world-readable, whatever the server's umask is.
    let _ = file.set_permissions(Permissions::from_mode(0o644));
    Ok(FileSink {
        file: BufWriter::new(file),
        path,
        style,
        time_zone,
        types: plan
            .columns()
            .iter()
            .map(|column| column.data_type.clone())
            .collect(),
        rows: 0,
        line: Vec::new(),
    })
}

/// Writes rows to a file.
struct FileSink {
    file: BufWriter<File>,
    path: PathBuf,
    style: Style,
    time_zone: TimeZone,
    types: Vec<DataType>,
    rows: u64,
    line: Vec<u8>,
}

enum Style {
    /// INTO OUTFILE.
    Lines(LineStyle),
    /// INTO DUMPFILE: one row, with unchanged values.
    Dump,
}

impl FileSink {
    fn finish(&mut self) -> Result<()> {
        let done = self.file.flush();
        done.map_err(|error| FileProblem::Write.error(&self.path, &error))
    }

    /// Removes the file after an error.
    fn remove(self) {
        if let Err(error) = std::fs::remove_file(&self.path) {
            tracing::warn!("{} could not be removed: {error}", self.path.display());
        }
    }
}

impl RowSink for FileSink {
    fn columns(&mut self, _: &[ResultColumn]) -> Result<()> {
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        self.rows += 1;
        self.line.clear();
        match &self.style {
            Style::Dump if self.rows > 1 => return Err(Error::new(ER_TOO_MANY_ROWS, &[])),
            Style::Dump => {
                for (value, data_type) in row.iter().zip(&self.types) {
                    match value {
                        // MariaDB writes this for NULL.
                        Value::Null => self.line.push(0),
                        value => {
                            let value = value.as_ref();
                            text::append_column_value(&value, data_type, &self.time_zone, &mut self.line);
                        }
                    }
                }
            }
            Style::Lines(lines) => lines.append_row(row, &self.types, &self.time_zone, &mut self.line),
        }
        let written = self.file.write_all(&self.line);
        written.map_err(|error: io::Error| FileProblem::Write.error(Path::new(&self.path), &error))
    }
}

/// Format of a row of INTO OUTFILE.
///
/// Escaping, and the case of a separator that escapes itself, follow `select_export` (`sql/sql_class.cc`), so that LOAD
/// DATA with the same options reads the same values.
struct LineStyle {
    format: RowFormat,
    /// `LINES TERMINATED BY`, or else the terminator of fields.
    line_end: Vec<u8>,
    /// Whether only strings are enclosed.
    optionally: bool,
    /// Character set to which numbers are converted, if it is not UTF-8.
    charset: Option<Charset>,
    /// Whether the separator has a meaning after an escape, so that it is escaped by itself.
    separator_is_escape_letter: bool,
    /// Whether the separator can occur in a number.
    separator_is_numeric: bool,
    /// Whether the terminator of fields cannot be escaped, because the escaped form has another meaning, or because
    /// numbers contain it.
    field_end_is_ambiguous: bool,
    /// Whether reading the file back may return other values (1475).
    is_ambiguous: bool,
}

/// Letters with a meaning after an escape.
const ESCAPE_LETTERS: &[u8] = b"ntrb0ZN";
/// Characters of numbers.
const NUMERIC: &[u8] = b".0123456789e+-";

impl LineStyle {
    fn new(
        format: &FileFormat,
        columns: &[ResultColumn],
        sql_mode: paceline_expression::session::SqlMode,
    ) -> Result<Self> {
        let row_format = RowFormat::new(format, Charset::Utf8mb4, sql_mode)?;
        let strings = columns.iter().any(|column| is_string(&column.data_type));
        let numbers = columns.iter().any(|column| !is_string(&column.data_type));
        let optionally = row_format.quote.is_none()
            || (format.optionally_enclosed && !format.fields_terminated_by.is_empty());
        let field_end = format.fields_terminated_by.first().copied();
        let separator = row_format.quote.or(field_end);
        let is_one_of = |byte: Option<u8>, set: &[u8]| byte.is_some_and(|byte| set.contains(&byte));
        let separator_is_escape_letter = is_one_of(separator, ESCAPE_LETTERS);
        let separator_is_numeric = is_one_of(separator, NUMERIC);
        let is_ambiguous =
            (separator_is_escape_letter && row_format.quote.is_none() && (strings || separator_is_numeric))
                || (optionally && numbers && is_one_of(field_end, NUMERIC));
        let line_end = match format.lines_terminated_by.is_empty() {
            true => format.fields_terminated_by.clone(),
            false => format.lines_terminated_by.clone(),
        };
        Ok(LineStyle {
            line_end,
            optionally,
            charset: match row_format.charset {
                Charset::Latin1 | Charset::Ascii => Some(row_format.charset),
                Charset::Utf8mb4 | Charset::Utf8mb3 | Charset::Binary => None,
            },
            format: row_format,
            separator_is_escape_letter,
            separator_is_numeric,
            field_end_is_ambiguous: is_one_of(field_end, ESCAPE_LETTERS) || is_one_of(field_end, NUMERIC),
            is_ambiguous,
        })
    }

    fn append_row(&self, row: &[Value], types: &[DataType], zone: &TimeZone, line: &mut Vec<u8>) {
        line.extend_from_slice(&self.format.line_start);
        let mut shown = Vec::new();
        for (number, (value, data_type)) in row.iter().zip(types).enumerate() {
            if number > 0 {
                line.extend_from_slice(&self.format.field_end);
            }
            if value.is_null() {
                match self.format.escape {
                    Some(escape) => line.extend([escape, b'N']),
                    None => line.extend_from_slice(b"NULL"),
                }
                continue;
            }
            shown.clear();
            text::append_column_value(&value.as_ref(), data_type, zone, &mut shown);
            if let (Some(charset), Ok(text), true) =
                (self.charset, std::str::from_utf8(&shown), data_type.is_text())
            {
                let mut converted = Vec::with_capacity(text.len());
                charset.encode(text, &mut converted);
                shown = converted;
            }
            let is_string = is_string(data_type);
            let quote = self.format.quote.filter(|_| !self.optionally || is_string);
            line.extend(quote);
            match self.format.escape {
                Some(escape) if is_string || self.separator_is_numeric => {
                    self.append_escaped(&shown, escape, quote, line);
                }
                _ => line.extend_from_slice(&shown),
            }
            line.extend(quote);
        }
        line.extend_from_slice(&self.line_end);
    }

    fn append_escaped(&self, text: &[u8], escape: u8, quote: Option<u8>, line: &mut Vec<u8>) {
        let field_end = self.format.field_end.first().copied();
        let separator = self.format.quote.or(field_end);
        let line_end = self.line_end.first().copied();
        for &byte in text {
            let is = |other: Option<u8>| other == Some(byte);
            let needs_escape = byte == escape || is(quote.or(field_end)) || is(line_end) || byte == 0;
            // Doubling applies to the enclosing character, not to the terminator.
            let may_escape = quote.is_some() || !self.field_end_is_ambiguous || !is(field_end);
            if needs_escape && may_escape {
                line.push(if is(separator) && self.separator_is_escape_letter {
                    byte
                } else {
                    escape
                });
                line.push(if byte == 0 { b'0' } else { byte });
            } else {
                line.push(byte);
            }
        }
    }
}

/// Returns whether values of the type are strings in MariaDB (`STRING_RESULT`).
fn is_string(data_type: &DataType) -> bool {
    !matches!(
        data_type,
        DataType::Integer(_)
            | DataType::Decimal(_)
            | DataType::Float(_)
            | DataType::Double(_)
            | DataType::Bit { .. }
            | DataType::Year
    )
}
