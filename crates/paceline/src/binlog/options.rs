//! The command line of `paceline binlog`.

use super::error::{Error, Result};
use super::rewrite::Rewrite;
use super::server::ServerOptions;
use super::source::{Extent, FileLocations};
use clap::{ArgAction, Args, ValueEnum};
use paceline_binlog::GtidPosition;
use paceline_types::TimeZone;
use paceline_types::temporal::{DateModes, parse_datetime};
use std::path::PathBuf;

/// Direction in which a log is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// In the order of the log.
    Forward,
    /// `--flashback`: the changes that undo the log, in reverse order. Comments about the log are printed first.
    Back,
}

/// A position in the log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Bound {
    /// Offset in a file, in bytes.
    Offset(u64),
    /// After the last of these transactions, each in its domain.
    Gtids(GtidPosition),
}

/// Treatment of a GTID that is not greater than the preceding ones of its domain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Strictness {
    /// `--gtid-strict-mode`: it is an error.
    Strict,
    /// It is accepted.
    Lax,
}

/// Options of `paceline binlog`. Options that `mariadb-binlog` has too do the same.
#[derive(Args, Debug, Clone)]
pub struct Options {
    /// Binary log files, oldest first; `-` for standard input. A directory, or the object storage of an archive, stands
    /// for all of its log files.
    pub files: Vec<PathBuf>,
    /// Object storage with the files of which an archive's directory has only stubs: a directory or s3://BUCKET/PREFIX.
    #[arg(long, value_name = "DIR|URL")]
    storage: Option<String>,
    /// How files are opened.
    #[arg(skip)]
    pub locations: FileLocations,
    /// Print changed rows as commented SQL; if given twice, with the columns' types.
    #[arg(short, long, action = ArgAction::Count)]
    verbose: u8,
    /// Events to print in encoded form, as BINLOG statements.
    #[arg(long, value_enum, default_value_t = EncodedOutput::Auto)]
    pub base64_output: EncodedOutput,
    /// Start at this offset of the first file, or after these GTIDs (a list with one GTID per domain).
    #[arg(short = 'j', long, value_name = "OFFSET|GTIDS")]
    start_position: Option<String>,
    /// Stop at this offset of the last file, or after these GTIDs, which are the last transactions printed.
    #[arg(long, value_name = "OFFSET|GTIDS")]
    stop_position: Option<String>,
    /// Start at the first event of this time or later (YYYY-MM-DD hh:mm:ss, local time).
    #[arg(long, value_name = "TIME")]
    start_datetime: Option<String>,
    /// Stop before the first event of this time or later.
    #[arg(long, value_name = "TIME")]
    stop_datetime: Option<String>,
    /// Print only changes in this database.
    #[arg(short, long)]
    pub database: Option<String>,
    /// Print only row changes of tables with this name.
    #[arg(short = 'T', long)]
    pub table: Option<String>,
    /// Print changes of database FROM as changes of TO: the rows, and the default database (USE) of statements. May be
    /// given more than once.
    #[arg(long, value_name = "FROM->TO", conflicts_with_all = ["verify", "json", "stat", "raw"])]
    pub rewrite_db: Vec<Rewrite>,
    /// Directory for the files that LOAD DATA has read, for the client that runs the output; by default the directory
    /// for temporary files.
    #[arg(short, long, value_name = "DIR")]
    pub local_load: Option<PathBuf>,
    /// Print only transactions of this server.
    #[arg(long, value_name = "ID")]
    pub server_id: Option<u32>,
    /// Print only transactions of these servers.
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    pub do_server_ids: Vec<u32>,
    /// Print all transactions except those of these servers.
    #[arg(long, value_name = "IDS", value_delimiter = ',', conflicts_with_all = ["do_server_ids", "server_id"])]
    pub ignore_server_ids: Vec<u32>,
    /// Print only transactions of these domains.
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    pub do_domain_ids: Vec<u32>,
    /// Print all transactions except those of these domains.
    #[arg(
        long,
        value_name = "IDS",
        value_delimiter = ',',
        conflicts_with = "do_domain_ids"
    )]
    pub ignore_domain_ids: Vec<u32>,
    /// Print only statements, without headers and rows. The output cannot be used for restoring.
    #[arg(short, long)]
    pub short_form: bool,
    /// Refuse events whose checksum is wrong.
    #[arg(short = 'c', long)]
    pub verify_binlog_checksum: bool,
    /// Read whole files and report the first error in them. Their contents are not printed.
    #[arg(long, group = "report")]
    pub verify: bool,
    /// Print a line of JSON for each changed row.
    #[arg(long, group = "report")]
    pub json: bool,
    /// Print the number of changes of each table, and the load over time.
    #[arg(long, group = "report")]
    pub stat: bool,
    /// Do not print the statements whose rows follow.
    #[arg(long)]
    pub skip_annotate_row_events: bool,
    /// Print the log's metadata of columns and keys (`binlog_row_metadata`).
    #[arg(long)]
    pub print_table_metadata: bool,
    /// Disable binary logging on the server that runs the output.
    #[arg(short = 'D', long)]
    pub disable_log_bin: bool,
    /// Print the changes that undo the row changes, newest first. Other changes are refused.
    #[arg(short = 'B', long, group = "report")]
    pub flashback: bool,
    /// Print the bytes of each event.
    #[arg(short = 'H', long)]
    pub hexdump: bool,
    /// Skip the first N events.
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    pub offset: u64,
    /// Refuse a file that was not closed.
    #[arg(long, overrides_with = "force_if_open")]
    pub skip_force_if_open: bool,
    /// Read a file that was not closed (the default).
    #[arg(short = 'F', long)]
    force_if_open: bool,
    /// Accept a GTID that is not greater than the preceding ones of its domain.
    #[arg(long, overrides_with = "gtid_strict_mode")]
    skip_gtid_strict_mode: bool,
    /// Stop at a GTID that is not greater than the preceding ones of its domain (the default).
    #[arg(long)]
    gtid_strict_mode: bool,
    /// Do not print how many rows each statement changed.
    #[arg(long)]
    pub skip_print_row_count: bool,
    /// Do not print the positions of row events.
    #[arg(long)]
    pub skip_print_row_event_positions: bool,
    /// Start the output with SET NAMES for this character set, and restore the previous one at the end.
    #[arg(long, value_name = "NAME", value_parser = charset_name)]
    pub set_charset: Option<String>,
    /// Write to this file instead of standard output; with --raw, the prefix of the files' names.
    #[arg(short, long, value_name = "FILE")]
    pub result_file: Option<PathBuf>,
    /// Continue with the files after the last one given.
    #[arg(short, long)]
    to_last_log: bool,
    /// Continue with the files after the last one given, and wait for more events.
    #[arg(long)]
    pub stop_never: bool,
    /// Server id to report to the server with --stop-never.
    #[arg(long, value_name = "ID", default_value_t = 1)]
    stop_never_slave_server_id: u32,
    /// Copy the server's files byte for byte. Requires --read-from-remote-server.
    #[arg(long, group = "report")]
    pub raw: bool,
    /// Print help.
    #[arg(long, short = '?', action = ArgAction::HelpLong)]
    help: Option<bool>,
    /// Print the version.
    #[arg(long, short = 'V', action = ArgAction::Version)]
    version: Option<bool>,
    /// Options of the server. They are last, because the heading of their TLS options also applies to the options after
    /// them.
    #[command(flatten)]
    pub server: ServerOptions,
}

/// Checks the name of a character set, because it is printed in a statement.
fn charset_name(name: &str) -> std::result::Result<String, &'static str> {
    match name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !name.is_empty()
    {
        true => Ok(name.to_owned()),
        false => Err("not the name of a character set"),
    }
}

/// Amount of detail about changed rows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Verbosity {
    /// Rows are not shown.
    Quiet,
    /// `-v`: as SQL.
    Rows,
    /// `-vv`: as SQL, with column types.
    RowsAndTypes,
}

/// `--base64-output`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum EncodedOutput {
    /// Events that can only be restored in this form: rows, and their format.
    Auto,
    /// None; a log with rows is an error.
    Never,
    /// None; rows are printed with `-v`, but cannot be restored.
    DecodeRows,
}

impl Options {
    /// Returns the amount of detail about changed rows.
    pub fn verbosity(&self) -> Verbosity {
        match self.verbose {
            0 => Verbosity::Quiet,
            1 => Verbosity::Rows,
            _ => Verbosity::RowsAndTypes,
        }
    }

    /// Returns the treatment of GTIDs out of order.
    pub fn strictness(&self) -> Strictness {
        match self.skip_gtid_strict_mode {
            true => Strictness::Lax,
            false => Strictness::Strict,
        }
    }

    /// Returns the direction in which the log is printed.
    pub fn direction(&self) -> Direction {
        match self.flashback {
            true => Direction::Back,
            false => Direction::Forward,
        }
    }

    /// Returns how far the log is read.
    pub fn extent(&self) -> Extent {
        match (self.stop_never, self.to_last_log) {
            (true, _) => Extent::StopNever(self.stop_never_slave_server_id),
            (false, true) => Extent::ToLastLog,
            (false, false) => Extent::OneFile,
        }
    }

    /// Checks that the options are compatible, and completes them from the option file.
    ///
    /// # Errors
    /// [`Error::Usage`], [`Error::Io`], [`Error::Place`].
    pub fn completed(mut self) -> Result<Self> {
        let remote = self.server.read_from_remote_server;
        let usage = |wrong: bool, problem| match wrong {
            true => Err(Error::Usage(problem)),
            false => Ok(()),
        };
        usage(
            self.raw && !remote,
            "The --raw mode only works with --read-from-remote-server",
        )?;
        usage(
            !remote && self.files.is_empty(),
            "Please provide the log file(s). Run with '--help' for usage instructions.",
        )?;
        usage(
            self.verify && remote,
            "--verify only reads files; copy them from the server with --raw first",
        )?;
        usage(
            self.flashback && self.stop_never,
            "--flashback starts with the newest transaction, so it cannot be combined with --stop-never",
        )?;
        usage(
            self.stop_never && self.files.iter().any(|file| file.as_os_str() == "-"),
            "--stop-never follows files or a server, not standard input",
        )?;
        // A shell pattern for a server's files also matches their GTID indexes.
        self.files
            .retain(|file| file.extension().is_none_or(|extension| extension != "idx"));
        if !remote {
            self.locations = FileLocations::with_storage(self.storage.as_deref())?;
            self.files = self.locations.expand(&self.files)?;
        }
        self.server = self.server.complete()?;
        Ok(self)
    }

    /// Returns `--start-position`.
    pub fn start(&self) -> Result<Option<Bound>> {
        bound("--start-position", self.start_position.as_deref())
    }

    /// Returns `--stop-position`.
    pub fn stop(&self) -> Result<Option<Bound>> {
        bound("--stop-position", self.stop_position.as_deref())
    }

    /// Returns `--start-datetime` in seconds since 1970.
    pub fn start_time(&self) -> Result<Option<u32>> {
        time("--start-datetime", self.start_datetime.as_deref())
    }

    /// Returns `--stop-datetime` in seconds since 1970.
    pub fn stop_time(&self) -> Result<Option<u32>> {
        time("--stop-datetime", self.stop_datetime.as_deref())
    }
}

fn bound(option: &'static str, value: Option<&str>) -> Result<Option<Bound>> {
    let Some(value) = value else { return Ok(None) };
    if let Ok(offset) = value.parse() {
        return Ok(Some(Bound::Offset(offset)));
    }
    match value.parse::<GtidPosition>() {
        Ok(position) if !position.is_empty() => Ok(Some(Bound::Gtids(position))),
        Ok(_) | Err(paceline_binlog::Error::GtidSyntax) => Err(Error::Option {
            option,
            value: value.to_owned(),
            problem: "is neither an offset nor a list of GTIDs",
        }),
        Err(_) => Err(Error::Option {
            option,
            value: value.to_owned(),
            problem: "names a domain twice",
        }),
    }
}

fn time(option: &'static str, value: Option<&str>) -> Result<Option<u32>> {
    let Some(value) = value else { return Ok(None) };
    let wrong = || Error::Option {
        option,
        value: value.to_owned(),
        problem: "is not a date and time",
    };
    let parsed = parse_datetime(value, DateModes::default())
        .filter(|parsed| !parsed.truncated)
        .ok_or_else(wrong)?;
    let seconds = TimeZone::system().to_utc(parsed.value).ok_or_else(wrong)?;
    Ok(Some(u32::try_from(seconds).map_err(|_| wrong())?))
}
