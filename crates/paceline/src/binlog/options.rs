//! What the command line asks for.

use super::error::{Error, Result};
use super::filter::Bound;
use clap::{ArgAction, Args, ValueEnum};
use paceline_binlog::GtidPosition;
use paceline_types::TimeZone;
use paceline_types::temporal::{DateModes, parse_datetime};
use std::path::PathBuf;

/// Options of `paceline binlog`: where `mariadb-binlog` has the same, they do the same.
#[derive(Args, Debug, Clone)]
pub struct Options {
    /// Files of a binary log, oldest first.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
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
    /// Have whoever runs the output write nothing into its log.
    #[arg(short = 'D', long)]
    pub disable_log_bin: bool,
    /// Write into this file and not to standard output.
    #[arg(short, long, value_name = "FILE")]
    pub result_file: Option<PathBuf>,
}

/// How much is shown of changed rows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Verbosity {
    /// Nothing.
    Quiet,
    /// `-v`: as SQL.
    Rows,
    /// `-vv`: with column types.
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
    /// How much is shown of changed rows.
    pub fn verbosity(&self) -> Verbosity {
        match self.verbose {
            0 => Verbosity::Quiet,
            1 => Verbosity::Rows,
            _ => Verbosity::RowsAndTypes,
        }
    }

    /// `--start-position`.
    pub fn start(&self) -> Result<Option<Bound>> {
        bound("--start-position", self.start_position.as_deref())
    }

    /// `--stop-position`.
    pub fn stop(&self) -> Result<Option<Bound>> {
        bound("--stop-position", self.stop_position.as_deref())
    }

    /// `--start-datetime`, in seconds since 1970.
    pub fn start_time(&self) -> Result<Option<u32>> {
        time("--start-datetime", self.start_datetime.as_deref())
    }

    /// `--stop-datetime`.
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
