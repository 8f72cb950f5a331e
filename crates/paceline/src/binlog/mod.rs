//! `paceline binlog`: the log as a tool.
//!
//! It reads a binary log, ours or MariaDB's, from files, from an archive or from a server, and prints what `mariadb-binlog` prints, so that
//! `paceline binlog … | mariadb` restores it with its GTIDs.
//!
//! ```text
//!  Parts ──EventSource──▶ Filter ──those asked for──▶ Printer ──text──▶ standard output      (print, settings, rows_text, column)
//!  (parts, source)        (filter)                    RowLines, Statistics                   (json, stat)
//! ```
//! The reference for the text is MariaDB's `client/mysqlbinlog.cc` and `sql/log_event_client.cc`; the tests hold it against
//! what MariaDB's own program prints of the same files.

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
pub use server::spelled_out;

use error::{Error, Result};
use filter::Filter;
use flashback::Undone;
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

/// Runs the command.
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
        // Whoever reads the output has seen enough.
        Err(Error::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ERROR: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Does what is asked for. What was printed before an error is there to be seen.
fn report(options: &Options, out: &mut dyn Write) -> Result<()> {
    let done = if options.verify {
        verify::verify(&options.places, &options.files, out)
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

/// Prints a line for each row that is asked for.
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

/// Prints what the asked-for part of the log holds.
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

/// Hands over the events that are asked for.
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
    let mut undone = Undone::default();
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
        undone.append(printer.end()?);
        parts.done(part, ended);
    }
    if options.direction() == Direction::Back {
        undone.write(out)?;
    }
    let selection = if filter.looks_at_gtids() {
        Selection::ByGtid
    } else {
        Selection::Other
    };
    write_epilogue(options, selection, out)?;
    warn_of_missing_stop(&filter)
}

/// A log that ends before the stop is complete as far as it goes.
fn warn_of_missing_stop(filter: &Filter) -> Result<()> {
    if let Some(gtid) = filter.finish()? {
        eprintln!("WARNING: Did not reach stop position {gtid} before end of input");
    }
    Ok(())
}
