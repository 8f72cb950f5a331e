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
    /// `--flashback`: what undoes the log, in reverse order. Comments about the log are printed before.
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

/// Options of `paceline binlog`: where `mariadb-binlog` has the same, they do the same.
#[derive(Args, Debug, Clone)]
pub struct Options {
    /// Files of a binary log, oldest first; `-` is standard input. A directory, or object storage that an archive
    /// copies to: all files there.
    pub files: Vec<PathBuf>,
    /// Where the files are of which an archive's directory has only the beginning: a directory or s3://BUCKET/PREFIX.
    #[arg(long, value_name = "DIR|URL")]
    storage: Option<String>,
    /// How files are opened.
    #[arg(skip)]
    pub locations: FileLocations,
    /// Show changed rows as commented SQL; twice: with each column's type.
    #[arg(short, long, action = ArgAction::Count)]
    verbose: u8,
    /// What is printed encoded, as BINLOG statements.
    #[arg(long, value_enum, default_value_t = EncodedOutput::Auto)]
    pub base64_output: EncodedOutput,
    /// Start at this offset of the first file, or behind these GTIDs (a list, one for a domain).
    #[arg(short = 'j', long, value_name = "OFFSET|GTIDS")]
    start_position: Option<String>,
    /// Stop at this offset of the last file, or with these GTIDs (the last transactions printed).
    #[arg(long, value_name = "OFFSET|GTIDS")]
    stop_position: Option<String>,
    /// Start at the first event of that time or later (YYYY-MM-DD hh:mm:ss, local time).
    #[arg(long, value_name = "TIME")]
    start_datetime: Option<String>,
    /// Stop at the first event of that time or later.
    #[arg(long, value_name = "TIME")]
    stop_datetime: Option<String>,
    /// Only changes in this database.
    #[arg(short, long)]
    pub database: Option<String>,
    /// Only row changes of tables of this name.
    #[arg(short = 'T', long)]
    pub table: Option<String>,
    /// Print what changed database FROM as if it had changed TO: its rows, and its statements' USE. May be given
    /// several times.
    #[arg(long, value_name = "FROM->TO", conflicts_with_all = ["verify", "json", "stat", "raw"])]
    pub rewrite_db: Vec<Rewrite>,
    /// Where the files that LOAD DATA has read are written to, for the client that runs the output (the directory for
    /// temporary files).
    #[arg(short, long, value_name = "DIR")]
    pub local_load: Option<PathBuf>,
    /// Only transactions of this server.
    #[arg(long, value_name = "ID")]
    pub server_id: Option<u32>,
    /// Only transactions of these servers.
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    pub do_server_ids: Vec<u32>,
    /// All transactions but those of these servers.
    #[arg(long, value_name = "IDS", value_delimiter = ',', conflicts_with_all = ["do_server_ids", "server_id"])]
    pub ignore_server_ids: Vec<u32>,
    /// Only transactions of these domains.
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    pub do_domain_ids: Vec<u32>,
    /// All transactions but those of these domains.
    #[arg(
        long,
        value_name = "IDS",
        value_delimiter = ',',
        conflicts_with = "do_domain_ids"
    )]
    pub ignore_domain_ids: Vec<u32>,
    /// Only statements: no headers, no rows. Not for restoring.
    #[arg(short, long)]
    pub short_form: bool,
    /// Refuse events whose checksum is wrong.
    #[arg(short = 'c', long)]
    pub verify_binlog_checksum: bool,
    /// Read the files whole, print nothing of them, and say the first thing that is wrong with them.
    #[arg(long, group = "report")]
    pub verify: bool,
    /// Print a line of JSON for each changed row.
    #[arg(long, group = "report")]
    pub json: bool,
    /// Print which tables were changed how much, and the load over time.
    #[arg(long, group = "report")]
    pub stat: bool,
    /// Do not print the statements whose rows follow.
    #[arg(long)]
    pub skip_annotate_row_events: bool,
    /// Show what the log says of tables' columns and keys (`binlog_row_metadata`).
    #[arg(long)]
    pub print_table_metadata: bool,
    /// Have whoever runs the output write nothing into its log.
    #[arg(short = 'D', long)]
    pub disable_log_bin: bool,
    /// Print what undoes the row changes, the newest first. Refuses what cannot be undone so.
    #[arg(short = 'B', long, group = "report")]
    pub flashback: bool,
    /// Show the bytes of each event.
    #[arg(short = 'H', long)]
    pub hexdump: bool,
    /// Leave out the first N events.
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    pub offset: u64,
    /// Refuse a file that was not closed.
    #[arg(long, overrides_with = "force_if_open")]
    pub skip_force_if_open: bool,
    /// Read a file that was not closed (the default).
    #[arg(short = 'F', long)]
    force_if_open: bool,
    /// Go on where a GTID is not above those of its domain before it.
    #[arg(long, overrides_with = "gtid_strict_mode")]
    skip_gtid_strict_mode: bool,
    /// Stop there (the default).
    #[arg(long)]
    gtid_strict_mode: bool,
    /// Do not print how many rows each statement changed.
    #[arg(long)]
    pub skip_print_row_count: bool,
    /// Do not print where events stand.
    #[arg(long)]
    pub skip_print_row_event_positions: bool,
    /// Begin the output with SET NAMES of this character set, and take that back at its end.
    #[arg(long, value_name = "NAME", value_parser = charset_name)]
    pub set_charset: Option<String>,
    /// Write into this file and not to standard output; with --raw: put this before the files' names.
    #[arg(short, long, value_name = "FILE")]
    pub result_file: Option<PathBuf>,
    /// Go on in the files behind the last one named.
    #[arg(short, long)]
    to_last_log: bool,
    /// Follow: go on in the files behind the last one named, and wait for more.
    #[arg(long)]
    pub stop_never: bool,
    /// With --stop-never: the replica's server id that the server is told.
    #[arg(long, value_name = "ID", default_value_t = 1)]
    stop_never_slave_server_id: u32,
    /// Copy the server's files as they are.
    #[arg(long, group = "report")]
    pub raw: bool,
    /// Print this.
    #[arg(long, short = '?', action = ArgAction::HelpLong)]
    help: Option<bool>,
    /// Print the version.
    #[arg(long, short = 'V', action = ArgAction::Version)]
    version: Option<bool>,
    /// The server. The last: its options for TLS have a heading of their own, which holds for what comes behind them
    /// too.
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
        false => Err("no character set is called so"),
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
    /// What can only be restored so: rows, and the format that they are in.
    Auto,
    /// Nothing; a log with rows is an error.
    Never,
    /// Nothing: rows are shown with `-v`, but cannot be restored.
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
            "--verify reads files: copy them with --raw first",
        )?;
        usage(
            self.flashback && self.stop_never,
            "--flashback begins with the newest transaction, and --stop-never has none",
        )?;
        usage(
            self.stop_never && self.files.iter().any(|file| file.as_os_str() == "-"),
            "--stop-never follows files or a server, and not standard input",
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
        problem: "is no date and time",
    };
    let parsed = parse_datetime(value, DateModes::default())
        .filter(|parsed| !parsed.truncated)
        .ok_or_else(wrong)?;
    let seconds = TimeZone::system().to_utc(parsed.value).ok_or_else(wrong)?;
    Ok(Some(u32::try_from(seconds).map_err(|_| wrong())?))
}
