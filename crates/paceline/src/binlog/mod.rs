//! `paceline binlog`: the log as a tool.
//!
//! It reads files of a binary log, ours or MariaDB's, and prints what `mariadb-binlog` prints, so that
//! `paceline binlog … | mariadb` restores them with their GTIDs.
//!
//! ```text
//!  EventFile ──events──▶ Filter ──those asked for──▶ Printer ──text──▶ standard output
//!  (source)              (filter)                    (print, settings, rows_text, column)
//! ```
//! The reference for the text is MariaDB's `client/mysqlbinlog.cc` and `sql/log_event_client.cc`; the tests hold it against
//! what MariaDB's own program prints of the same files.

mod base64;
mod c_format;
mod column;
mod error;
mod filter;
mod options;
mod print;
mod rows_text;
mod settings;
mod source;
mod user_variable;

pub use options::Options;

use error::{Error, Result};
use filter::{Filter, Verdict};
use paceline_binlog::event::{Event, EventType, GtidListEvent, MAGIC};
use print::{Printer, Selection, write_epilogue, write_prologue};
use source::{Checksums, EventFile};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

/// Runs the command.
pub fn run(options: &Options) -> ExitCode {
    let done = match &options.result_file {
        None => print_all(
            options,
            &mut BufWriter::with_capacity(1 << 16, io::stdout().lock()),
        ),
        Some(path) => File::create(path)
            .map_err(Error::from)
            .and_then(|file| print_all(options, &mut BufWriter::with_capacity(1 << 16, file))),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads the output has seen enough.
        Err(Error::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ERROR: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints the files. What was printed before an error is there to be seen.
fn print_all(options: &Options, out: &mut dyn Write) -> Result<()> {
    let mut filter = Filter::new(options)?;
    write_prologue(options, out)?;
    let printed = print_files(options, &mut filter, out);
    if let Err(error) = printed {
        out.flush()?;
        return Err(error);
    }
    let selection = if filter.looks_at_gtids() {
        Selection::ByGtid
    } else {
        Selection::Other
    };
    write_epilogue(options, selection, out)?;
    out.flush()?;
    if let Some(gtid) = filter.finish()? {
        eprintln!("WARNING: Did not reach stop position {gtid} before end of input");
    }
    Ok(())
}

fn print_files(options: &Options, filter: &mut Filter, out: &mut dyn Write) -> Result<()> {
    let checksums = if options.verify_binlog_checksum {
        Checksums::Verify
    } else {
        Checksums::Ignore
    };
    let first = first_needed(options, filter, checksums)?;
    for (number, path) in options.files.iter().enumerate().skip(first) {
        let is_last = number + 1 == options.files.len();
        let stop_offset = filter.stop_offset().filter(|_| is_last);
        let start_offset = filter.start_offset().filter(|_| number == 0);
        let mut printer = Printer::begin(options, out)?;
        let verdict = print_file(path, checksums, start_offset, stop_offset, filter, &mut printer)?;
        printer.end()?;
        if verdict == Verdict::Stop {
            break;
        }
    }
    Ok(())
}

/// The first file that has anything of what is asked for: those before it are not read.
fn first_needed(options: &Options, filter: &Filter, checksums: Checksums) -> Result<usize> {
    if filter.start_gtids().is_none() {
        return Ok(0);
    }
    for (number, path) in options.files.iter().enumerate().skip(1).rev() {
        let list = head_state(path, checksums)?;
        if list.is_some_and(|list| filter.starts_behind(&list)) {
            return Ok(number);
        }
    }
    Ok(0)
}

/// The GTID state at the head of a file.
fn head_state(path: &Path, checksums: Checksums) -> Result<Option<GtidListEvent>> {
    let mut file = EventFile::open(path, checksums)?;
    while let Some(event) = file.next_event()? {
        match event.header().event_type {
            EventType::GTID_LIST => {
                return Ok(match event.decode() {
                    Ok(Event::GtidList(list)) => Some(list),
                    _ => None,
                });
            }
            event_type if event_type.is_control() => {}
            _ => break,
        }
    }
    Ok(None)
}

fn print_file(
    path: &Path,
    checksums: Checksums,
    start_offset: Option<u64>,
    stop_offset: Option<u64>,
    filter: &mut Filter,
    printer: &mut Printer<'_>,
) -> Result<Verdict> {
    let mut file = EventFile::open(path, checksums)?;
    let mut jump_to = start_offset.filter(|start| *start > MAGIC.len() as u64);
    while let Some(event) = file.next_event_or_torn_end()? {
        if event.header().event_type == EventType::GTID_LIST
            && let Ok(Event::GtidList(list)) = event.decode()
        {
            filter.begin_with(&list)?;
        }
        match filter.judge(&event, stop_offset)? {
            Verdict::Stop => return Ok(Verdict::Stop),
            Verdict::Skip => {}
            Verdict::Pass => printer.print(&event).map_err(|error| match error {
                Error::Event { offset, problem, .. } => Error::Event {
                    file: path.to_owned(),
                    offset,
                    problem,
                },
                error => error,
            })?,
        }
        // The Format_description is needed wherever reading starts.
        if let Some(start) = jump_to.take() {
            file.seek(start)?;
        }
    }
    Ok(Verdict::Pass)
}
