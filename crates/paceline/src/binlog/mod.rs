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

mod c_format;
mod column;
mod error;
mod filter;
mod json;
mod options;
mod print;
mod rows_text;
mod settings;
mod source;
mod stat;
mod user_variable;
mod verify;

pub use options::Options;

use error::{Error, Result};
use filter::{Filter, Verdict};
use json::RowLines;
use paceline_binlog::event::{Event, EventType, GtidListEvent, MAGIC};
use print::{Printer, Selection, write_epilogue, write_prologue};
use source::{Checksums, EventFile, LoggedEvent};
use stat::Statistics;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

/// Runs the command.
pub fn run(options: &Options) -> ExitCode {
    let done = match &options.result_file {
        None => report(
            options,
            &mut BufWriter::with_capacity(1 << 16, io::stdout().lock()),
        ),
        Some(path) => File::create(path)
            .map_err(Error::from)
            .and_then(|file| report(options, &mut BufWriter::with_capacity(1 << 16, file))),
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

/// Does what is asked for. What was printed before an error is there to be seen.
fn report(options: &Options, out: &mut dyn Write) -> Result<()> {
    let done = if options.verify {
        verify::verify(&options.files, out)
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

/// Prints a line for each row that is asked for.
fn print_json(options: &Options, out: &mut dyn Write) -> Result<()> {
    let mut filter = Filter::new(options)?;
    let mut lines = RowLines::new(options.database.as_deref(), options.table.as_deref());
    let mut text = Vec::new();
    for_each_event(options, &mut filter, &mut |event| {
        text.clear();
        lines.append(event, &mut text).map_err(|problem| Error::Event {
            file: Default::default(),
            offset: event.offset,
            problem,
        })?;
        Ok(out.write_all(&text)?)
    })?;
    warn_of_missing_stop(&filter)
}

/// Prints what the asked-for part of the log holds.
fn print_statistics(options: &Options, out: &mut dyn Write) -> Result<()> {
    let mut filter = Filter::new(options)?;
    let mut statistics = Statistics::default();
    for_each_event(options, &mut filter, &mut |event| {
        statistics.add(event).map_err(|error| Error::Event {
            file: Default::default(),
            offset: event.offset,
            problem: error.to_string(),
        })
    })?;
    statistics.write(out)?;
    warn_of_missing_stop(&filter)
}

/// Prints the files as SQL.
fn print_all(options: &Options, out: &mut dyn Write) -> Result<()> {
    let mut filter = Filter::new(options)?;
    write_prologue(options, out)?;
    print_files(options, &mut filter, out)?;
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

fn checksums(options: &Options) -> Checksums {
    if options.verify_binlog_checksum {
        Checksums::Verify
    } else {
        Checksums::Ignore
    }
}

/// The part of each file that is to be read.
fn parts<'a>(options: &'a Options, filter: &Filter) -> Result<Vec<Part<'a>>> {
    let checksums = checksums(options);
    let first = first_needed(options, filter, checksums)?;
    let last = options.files.len() - 1;
    let files = options.files.iter().enumerate().skip(first);
    Ok(files
        .map(|(number, path)| Part {
            path,
            checksums,
            start_offset: filter.start_offset().filter(|_| number == 0),
            stop_offset: filter.stop_offset().filter(|_| number == last),
        })
        .collect())
}

fn print_files(options: &Options, filter: &mut Filter, out: &mut dyn Write) -> Result<()> {
    for part in parts(options, filter)? {
        let mut printer = Printer::begin(options, out)?;
        let verdict = part.read(filter, &mut |event| printer.print(event))?;
        printer.end()?;
        if verdict == Verdict::Stop {
            break;
        }
    }
    Ok(())
}

/// Hands over the events that are asked for.
fn for_each_event(
    options: &Options,
    filter: &mut Filter,
    each: &mut dyn FnMut(&LoggedEvent<'_>) -> Result<()>,
) -> Result<()> {
    for part in parts(options, filter)? {
        if part.read(filter, each)? == Verdict::Stop {
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

/// What is to be read of a file.
struct Part<'a> {
    path: &'a Path,
    checksums: Checksums,
    start_offset: Option<u64>,
    stop_offset: Option<u64>,
}

impl Part<'_> {
    /// Hands over the events that are asked for. An error that lacks its file is given it.
    fn read(
        &self,
        filter: &mut Filter,
        each: &mut dyn FnMut(&LoggedEvent<'_>) -> Result<()>,
    ) -> Result<Verdict> {
        let mut file = EventFile::open(self.path, self.checksums)?;
        let mut jump_to = self.start_offset.filter(|start| *start > MAGIC.len() as u64);
        while let Some(event) = file.next_event_or_torn_end()? {
            if event.header().event_type == EventType::GTID_LIST
                && let Ok(Event::GtidList(list)) = event.decode()
            {
                filter.begin_with(&list)?;
            }
            match filter.judge(&event, self.stop_offset)? {
                Verdict::Stop => return Ok(Verdict::Stop),
                Verdict::Skip => {}
                Verdict::Pass => each(&event).map_err(|error| match error {
                    Error::Event { offset, problem, .. } => Error::Event {
                        file: self.path.to_owned(),
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
}
