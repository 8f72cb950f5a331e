//! `paceline binlog`: prints and checks binary logs.
//!
//! It reads a binary log, ours or MariaDB's, from files, from an archive or from a server, and prints the same as
//! `mariadb-binlog`. So `paceline binlog … | mariadb` restores the log with its GTIDs.
//!
//! ```text
//!  Parts ──EventSource──▶ Filter ──selected events──▶ Printer ──text──▶ standard output        (print, settings, rows_text, column)
//!  (parts, source)        (filter)                    RowLines, Statistics                   (json, stat)
//! ```
//! The text follows MariaDB's `client/mysqlbinlog.cc` and `sql/log_event_client.cc`. The tests compare it with the
//! output of MariaDB's own program for the same files.

mod c_format;
mod column;
mod error;
mod filter;
mod flashback;
mod hexdump;
mod json;
mod options;
mod parts;
mod print;
mod raw;
mod rewrite;
mod rows_text;
mod script;
mod server;
mod settings;
mod source;
mod stat;
mod table_metadata;
mod user_variable;
mod verify;

pub use options::Options;
pub use server::normalize_arguments;

use error::{Error, Result};
use filter::Filter;
use flashback::InverseScript;
use json::RowLines;
use options::Direction;
use parts::Parts;
use print::Printer;
use script::{Selection, write_epilogue, write_prologue};
use source::{Extent, LoggedEvent, RemoteLog};
use stat::Statistics;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

pub fn run(options: Options) -> ExitCode {
    let done = options.completed().and_then(|options| {
        if options.raw {
            return copy_raw(&options);
        }
        match &options.result_file {
            None => report(
                &options,
                &mut BufWriter::with_capacity(1 << 16, io::stdout().lock()),
            ),
            Some(path) => File::create(path)
                .map_err(Error::from)
                .and_then(|file| report(&options, &mut BufWriter::with_capacity(1 << 16, file))),
        }
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of the output has closed the pipe.
        Err(Error::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ERROR: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Does what the options ask for. Output before an error is flushed, so that it is visible.
fn report(options: &Options, out: &mut dyn Write) -> Result<()> {
    let done = if options.verify {
        verify::verify(&options.locations, &options.files, out)
    } else if options.json {
        print_json(options, out)
    } else if options.stat {
        print_statistics(options, out)
    } else {
        print_all(options, out)
    };
    out.flush()?;
    done
}

/// Copies a server's files.
fn copy_raw(options: &Options) -> Result<()> {
    let filter = Filter::new(options)?;
    let selects = options.database.is_some()
        || options.table.is_some()
        || filter.stop_offset().is_some()
        || options.stop_time()?.is_some();
    if selects {
        eprintln!(
            "WARNING: --raw copies everything: --database, --table, --stop-position and --stop-datetime are ignored"
        );
    }
    let flush = match options.extent() {
        Extent::StopNever(_) => raw::Flush::EachEvent,
        Extent::OneFile | Extent::ToLastLog => raw::Flush::AtEnd,
    };
    for start in parts::remote_starts(options, &filter) {
        let mut log = RemoteLog::open(&options.server, &start, parts::checksums(options))?;
        raw::copy(&mut log, options.result_file.as_deref(), flush)?;
    }
    Ok(())
}

/// Prints a line for each selected row.
fn print_json(options: &Options, out: &mut dyn Write) -> Result<()> {
    let mut lines = RowLines::new(options.database.as_deref(), options.table.as_deref());
    let mut text = Vec::new();
    for_each_event(options, &mut |event| {
        text.clear();
        lines.append(event, &mut text).map_err(|problem| Error::Event {
            file: Default::default(),
            offset: event.offset,
            problem,
        })?;
        out.write_all(&text)?;
        if options.stop_never && !text.is_empty() {
            out.flush()?;
        }
        Ok(())
    })
}

/// Prints statistics about the selected part of the log.
fn print_statistics(options: &Options, out: &mut dyn Write) -> Result<()> {
    let mut statistics = Statistics::default();
    for_each_event(options, &mut |event| {
        statistics.add(event).map_err(|error| Error::Event {
            file: Default::default(),
            offset: event.offset,
            problem: error.to_string(),
        })
    })?;
    statistics.write(out)?;
    Ok(())
}

/// Calls `each` for every selected event.
fn for_each_event(options: &Options, each: &mut dyn FnMut(&LoggedEvent<'_>) -> Result<()>) -> Result<()> {
    let mut filter = Filter::new(options)?;
    let mut parts = Parts::new(options, &filter)?;
    while let Some(mut part) = parts.next_part()? {
        let ended = part.read(&mut filter, each)?;
        parts.done(part, ended);
    }
    warn_of_missing_stop(&filter)
}

/// Prints a log as SQL.
fn print_all(options: &Options, out: &mut dyn Write) -> Result<()> {
    let mut filter = Filter::new(options)?;
    write_prologue(options, out)?;
    let mut inverse = InverseScript::default();
    let mut parts = Parts::new(options, &filter)?;
    while let Some(mut part) = parts.next_part()? {
        let mut printer = Printer::begin(options, out)?;
        let ended = part.read(&mut filter, &mut |event| {
            printer.print(event)?;
            match options.stop_never {
                true => printer.flush(),
                false => Ok(()),
            }
        })?;
        inverse.append(printer.end()?);
        parts.done(part, ended);
    }
    if options.direction() == Direction::Back {
        inverse.write(out)?;
    }
    let selection = if filter.looks_at_gtids() {
        Selection::ByGtid
    } else {
        Selection::Other
    };
    write_epilogue(options, selection, out)?;
    warn_of_missing_stop(&filter)
}

/// Warns if the log ends before the stop position. Everything up to its end has been printed.
fn warn_of_missing_stop(filter: &Filter) -> Result<()> {
    if let Some(gtid) = filter.finish()? {
        eprintln!("WARNING: Did not reach stop position {gtid} before end of input");
    }
    Ok(())
}
