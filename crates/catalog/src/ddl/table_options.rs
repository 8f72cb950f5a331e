//! Table options that InnoDB checks (`create_options_are_invalid`, `storage/innobase/handler/ha_innodb.cc`).
//! They have no effect here, because there is only one way to store and compress rows. Options that would
//! have an effect in MariaDB raise a note.

use paceline_types::ErrorCode;
use paceline_types::error_code::*;

use super::plan::Planner;
use crate::error::{Error, Result};
use crate::{TableDescription, TableEngine, same_name};
use paceline_expression::session::{Level, SqlMode};
use paceline_syntax::definition::{ENGINE_OPTIONS, TableOptions};

/// `HA_WRONG_CREATE_OPTION`: MariaDB reports this number if an engine's option is invalid.
const WRONG_CREATE_OPTION: ErrorCode = ErrorCode::from_number(140);
/// Options that change how MariaDB stores a table or counts its rows, by their names in capitals. Their
/// values `0` and `DEFAULT` have no effect.
const STORAGE_OPTIONS: &[&str] = &[
    "KEY_BLOCK_SIZE",
    "STATS_PERSISTENT",
    "STATS_AUTO_RECALC",
    "STATS_SAMPLE_PAGES",
];

/// Statement with the options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OptionStatement {
    Create,
    Alter,
}

/// Returns whether InnoDB defines a table option of this name.
pub fn is_engine_option(name: &str) -> bool {
    ENGINE_OPTIONS.iter().any(|known| same_name(known, name))
}

/// InnoDB's objection: the option's name, and the warning with the reason.
struct Fault {
    option: &'static str,
    code: ErrorCode,
    message: String,
}

impl Fault {
    fn new(option: &'static str, code: ErrorCode, message: impl Into<String>) -> Self {
        let message = format!("InnoDB: {}", message.into());
        Self {
            option,
            code,
            message,
        }
    }
}

impl Planner<'_> {
    /// Copies a statement's options to the table's description and checks the result.
    ///
    /// # Errors
    /// 1005 or 1478, 1911, 1912, 4047.
    pub(super) fn set_options(
        &mut self,
        table: &mut TableDescription,
        options: &TableOptions,
        statement: OptionStatement,
    ) -> Result<()> {
        if options.row_format.is_some() {
            table.row_format = options.row_format.clone().filter(|format| format != "DEFAULT");
        }
        for (name, value) in &options.other {
            table.options.retain(|(known, _)| known != name);
            // The default of statistics options is not stored.
            if !(name.starts_with("STATS_") && value == "DEFAULT") {
                table.options.push((name.clone(), value.clone()));
            }
        }
        for (name, value) in &options.of_engine {
            let checked = match table.engine == TableEngine::InnoDb && is_engine_option(name) {
                true => checked_value(name, value.as_deref()),
                false => Err(Error::new(ER_UNKNOWN_OPTION, &[name])),
            };
            if let Err(error) = checked {
                let sql_mode = self.session.settings.sql_mode;
                if !sql_mode.contains(SqlMode::IGNORE_BAD_TABLE_OPTIONS) || sql_mode.is_strict() {
                    return Err(error);
                }
                self.session.diagnostics.warn(error.code(), error.message());
                continue;
            }
            table.options.retain(|(known, _)| !same_name(known, name));
            table
                .options
                .extend(value.iter().map(|value| (name.clone(), value.clone())));
        }
        if table.engine != TableEngine::InnoDb {
            return Ok(());
        }
        // If InnoDB only replaces another engine, that engine's options are not checked.
        let stands_in = options
            .engine
            .as_ref()
            .is_some_and(|engine| !engine.eq_ignore_ascii_case("InnoDB"));
        if !stands_in
            && (options.row_format.is_some() || !options.other.is_empty() || !options.of_engine.is_empty())
        {
            self.check_options(table, statement)?;
        }
        self.note_options(options);
        Ok(())
    }

    fn check_options(&mut self, table: &TableDescription, statement: OptionStatement) -> Result<()> {
        let key_block_size = number(table, "KEY_BLOCK_SIZE");
        let row_format = table.row_format.as_deref();
        let strict = self.session.settings.innodb_strict_mode;
        if strict && table.temporary && (key_block_size > 0 || row_format == Some("COMPRESSED")) {
            return Err(Error::new(ER_UNSUPPORTED_COMPRESSED_TABLE, &[]));
        }
        if !strict {
            for message in assumptions(row_format, key_block_size, table.temporary) {
                self.session
                    .diagnostics
                    .warn(ER_ILLEGAL_HA_CREATE_OPTION, format!("InnoDB: {message}"));
            }
        }
        let of_format = strict.then(|| format_fault(row_format, key_block_size)).flatten();
        let Some(fault) = of_format.or_else(|| engine_fault(table)) else {
            return Ok(());
        };
        self.session
            .diagnostics
            .push(Level::Warning, fault.code, fault.message);
        Err(match statement {
            OptionStatement::Create => Error::with_message(
                ER_CANT_CREATE_TABLE,
                format!(
                    "Can't create table `{}`.`{}` (errno: 140 \"Wrong create options\")",
                    table.database, table.name
                ),
            ),
            OptionStatement::Alter => Error::new(
                ER_ILLEGAL_HA_CREATE_OPTION,
                &[&table.engine.name(), &fault.option],
            ),
        })
    }

    /// Adds notes about options that have an effect in MariaDB but not here.
    fn note_options(&mut self, options: &TableOptions) {
        let format = options
            .row_format
            .iter()
            .filter(|format| !matches!(format.as_str(), "DEFAULT" | "DYNAMIC"))
            .map(|format| ("ROW_FORMAT", format));
        let other = options
            .other
            .iter()
            .filter(|(name, value)| STORAGE_OPTIONS.contains(&&**name) && value != "DEFAULT" && value != "0")
            .map(|(name, value)| (&**name, value));
        let of_engine = options.of_engine.iter().filter_map(|(name, value)| {
            let value = value.as_ref()?;
            let compressed = same_name(name, "PAGE_COMPRESSED") && truth(value) == Some(true);
            compressed.then_some(("PAGE_COMPRESSED", value))
        });
        let without_effect: Vec<String> = format
            .chain(other)
            .chain(of_engine)
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        for what in without_effect {
            self.note_no_effect(&what);
        }
    }

    /// Adds 1235 as a note: an option is stored and shown, but has no effect.
    pub(super) fn note_no_effect(&mut self, what: &str) {
        let message = ER_NOT_SUPPORTED_YET.message(&[&what]);
        self.session.diagnostics.note(ER_NOT_SUPPORTED_YET, message);
    }
}

fn option<'t>(table: &'t TableDescription, name: &str) -> Option<&'t str> {
    let found = table
        .options
        .iter()
        .rev()
        .find(|(known, _)| same_name(known, name))?;
    Some(&*found.1)
}

fn number(table: &TableDescription, name: &str) -> u64 {
    option(table, name)
        .and_then(|value| value.parse().ok())
        .unwrap_or(0)
}

fn truth(value: &str) -> Option<bool> {
    let is_any = |words: [&str; 3]| words.iter().any(|word| value.eq_ignore_ascii_case(word));
    match value {
        _ if is_any(["NO", "OFF", "0"]) => Some(false),
        _ if is_any(["YES", "ON", "1"]) => Some(true),
        _ => None,
    }
}

/// # Errors
/// 1912.
fn checked_value(name: &str, value: Option<&str>) -> Result<()> {
    let Some(value) = value else {
        return Ok(());
    };
    let within =
        |range: std::ops::RangeInclusive<u64>| value.parse().is_ok_and(|value| range.contains(&value));
    let name = name.to_ascii_uppercase();
    let is_good = match name.as_str() {
        "PAGE_COMPRESSED" => truth(value).is_some(),
        "PAGE_COMPRESSION_LEVEL" => within(1..=9),
        "ENCRYPTION_KEY_ID" => within(1..=u64::from(u32::MAX)),
        _ => ["DEFAULT", "YES", "NO"]
            .iter()
            .any(|word| value.eq_ignore_ascii_case(word)),
    };
    match is_good {
        true => Ok(()),
        false => Err(Error::new(ER_BAD_OPTION_VALUE, &[&value, &name])),
    }
}

/// Returns InnoDB's objection to the options that it defines (`check_table_options`).
fn engine_fault(table: &TableDescription) -> Option<Fault> {
    let is_compressed = option(table, "PAGE_COMPRESSED").and_then(truth) == Some(true);
    let fault = |option, message: &str| Some(Fault::new(option, WRONG_CREATE_OPTION, message));
    if is_compressed {
        match table.row_format.as_deref() {
            Some(format @ ("COMPRESSED" | "REDUNDANT")) => {
                let message = format!("PAGE_COMPRESSED table can't have ROW_TYPE={format}");
                return fault("PAGE_COMPRESSED", &message);
            }
            _ if number(table, "KEY_BLOCK_SIZE") > 0 => {
                return fault(
                    "PAGE_COMPRESSED",
                    "PAGE_COMPRESSED table can't have key_block_size",
                );
            }
            _ => {}
        }
    } else if option(table, "PAGE_COMPRESSION_LEVEL").is_some() {
        return fault(
            "PAGE_COMPRESSION_LEVEL",
            "PAGE_COMPRESSION_LEVEL requires PAGE_COMPRESSED",
        );
    }
    // Like a MariaDB without an encryption plugin.
    let asks = option(table, "ENCRYPTED").is_some_and(|value| value.eq_ignore_ascii_case("YES"));
    let key = option(table, "ENCRYPTION_KEY_ID").unwrap_or("1");
    asks.then(|| {
        let message = format!("ENCRYPTION_KEY_ID {key} not available");
        Fault::new("ENCRYPTION_KEY_ID", WRONG_CREATE_OPTION, message)
    })
}

/// Returns InnoDB's objection under `innodb_strict_mode`. Of several, it names the last option.
fn format_fault(row_format: Option<&str>, key_block_size: u64) -> Option<Fault> {
    let fault = |option, message: String| Some(Fault::new(option, ER_ILLEGAL_HA_CREATE_OPTION, message));
    match row_format {
        Some("FIXED" | "PAGE") => return fault("ROW_TYPE", "invalid ROW_FORMAT specifier.".to_owned()),
        Some(format @ ("DYNAMIC" | "COMPACT" | "REDUNDANT")) if key_block_size > 0 => {
            let message = format!("cannot specify ROW_FORMAT = {format} with KEY_BLOCK_SIZE.");
            return fault("KEY_BLOCK_SIZE", message);
        }
        _ => {}
    }
    if matches!(key_block_size, 0 | 1 | 2 | 4 | 8 | 16) {
        return None;
    }
    let message = format!("invalid KEY_BLOCK_SIZE = {key_block_size}. Valid values are [1, 2, 4, 8, 16]");
    fault("KEY_BLOCK_SIZE", message)
}

/// Returns InnoDB's warnings about values that it assumes without `innodb_strict_mode`
/// (`innobase_table_flags`).
fn assumptions(row_format: Option<&str>, key_block_size: u64, temporary: bool) -> Vec<String> {
    let mut messages = Vec::new();
    if key_block_size > 0 {
        if temporary {
            messages.push("KEY_BLOCK_SIZE is ignored for TEMPORARY TABLE.".to_owned());
        }
        if temporary || !matches!(key_block_size, 1 | 2 | 4 | 8 | 16) {
            messages.push(format!("ignoring KEY_BLOCK_SIZE={key_block_size}."));
        } else if row_format.is_some_and(|format| format != "COMPRESSED") {
            messages.push(format!(
                "ignoring KEY_BLOCK_SIZE={key_block_size} unless ROW_FORMAT=COMPRESSED."
            ));
        }
    }
    match row_format {
        Some("FIXED" | "PAGE") => messages.push("assuming ROW_FORMAT=DYNAMIC.".to_owned()),
        Some("COMPRESSED") if temporary => {
            messages.push("ROW_FORMAT=COMPRESSED is ignored for TEMPORARY TABLE.".to_owned());
            messages.push("assuming ROW_FORMAT=DYNAMIC.".to_owned());
        }
        _ => {}
    }
    messages
}
