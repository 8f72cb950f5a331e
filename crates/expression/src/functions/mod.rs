//! Functions: a table with one entry each (name, number of arguments, type of the result, evaluation), grouped by
//! subject in the files of this folder.
//!
//! The binder converts functions with their own grammar (`CAST`, `EXTRACT`, `TRIM(LEADING …)`) to calls. Units, flags
//! of regular expressions and the like are constants among the arguments.

mod arguments;
mod compression;
mod control;
mod converted;
mod date_arithmetic;
mod digest;
mod dynamic_columns;
mod encryption;
mod info;
pub mod json;
mod natural_sort_key;
mod network;
mod number_arguments;
mod numeric;
mod regexp;
mod sformat;
mod string;
mod string_format;
mod temporal;
mod temporal_format;
mod temporal_fraction;
mod temporal_now;
mod temporal_number;
mod temporal_parts;
mod to_char;
mod weight_string;
mod xml;

use std::collections::HashMap;
use std::sync::OnceLock;

pub(crate) use converted::CONVERTED_NUMBER;
pub(crate) use dynamic_columns::{StoredType, TargetKind};
pub(crate) use json::{append_json_value, json_quote};
pub(crate) use number_arguments::{reads_number, reads_temporal, wants_whole_date};

use crate::tree::Function;

/// Functions whose refusal of a row names them (4079). Others only say how many columns they want (1241).
const ROW_OPERATIONS: &[&str] = &[
    "acos",
    "ascii",
    "asin",
    "atan",
    "bit_count",
    "char_length",
    "coercibility",
    "convert_tz",
    "cos",
    "cot",
    "date_format",
    "dayofmonth",
    "dayofyear",
    "degrees",
    "exp",
    "find_in_set",
    "from_days",
    "get_lock",
    "hour",
    "inet_aton",
    "is_free_lock",
    "is_used_lock",
    "json_depth",
    "json_length",
    "last_day",
    "last_insert_id",
    "ln",
    "locate",
    "log",
    "log10",
    "log2",
    "makedate",
    "maketime",
    "microsecond",
    "minute",
    "octet_length",
    "ord",
    "period_add",
    "period_diff",
    "pow",
    "quarter",
    "radians",
    "rand",
    "regexp_instr",
    "release_lock",
    "sec_to_time",
    "second",
    "sign",
    "sin",
    "sleep",
    "sqrt",
    "strcmp",
    "tan",
    "time_format",
    "timediff",
    "to_days",
    "to_seconds",
    "uncompressed_length",
    "week",
    "year",
    "yearweek",
];

/// Returns what MariaDB calls a function that refuses a row by name; `None` for others.
pub(crate) fn row_operation(name: &str, argument: usize) -> Option<&'static str> {
    let name = match name {
        "benchmark" if argument == 0 => return Some("benchmark"),
        "crc32" if argument == 0 => return Some("crc32"),
        "crc32c" if argument == 0 => return Some("crc32c"),
        "atan2" => "atan",
        "character_length" => "char_length",
        "datediff" => "to_days",
        "day" => "dayofmonth",
        "instr" => "locate",
        "length" | "lengthb" => "octet_length",
        "power" => "pow",
        "weekofyear" => "week",
        name => name,
    };
    ROW_OPERATIONS
        .binary_search(&name)
        .ok()
        .map(|place| ROW_OPERATIONS[place])
}

/// Returns the native function with this name, in any case.
pub fn native_function(name: &str) -> Option<&'static Function> {
    find(&name.to_ascii_lowercase())
}

/// Looks up a function by its name in lower case.
pub(crate) fn find(name: &str) -> Option<&'static Function> {
    static BY_NAME: OnceLock<HashMap<&'static str, &'static Function>> = OnceLock::new();
    let by_name = BY_NAME.get_or_init(|| {
        let tables = [
            compression::FUNCTIONS,
            control::FUNCTIONS,
            digest::FUNCTIONS,
            dynamic_columns::FUNCTIONS,
            encryption::FUNCTIONS,
            info::FUNCTIONS,
            json::FUNCTIONS,
            natural_sort_key::FUNCTIONS,
            network::FUNCTIONS,
            numeric::FUNCTIONS,
            regexp::FUNCTIONS,
            sformat::FUNCTIONS,
            string::FUNCTIONS,
            string_format::FUNCTIONS,
            date_arithmetic::FUNCTIONS,
            temporal::FUNCTIONS,
            temporal_now::FUNCTIONS,
            temporal_format::FUNCTIONS,
            temporal_number::FUNCTIONS,
            temporal_parts::FUNCTIONS,
            to_char::FUNCTIONS,
            weight_string::FUNCTIONS,
            xml::FUNCTIONS,
        ];
        tables
            .into_iter()
            .flatten()
            .map(|function| (function.name, function))
            .collect()
    });
    by_name.get(name).copied()
}
