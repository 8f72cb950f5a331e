//! Functions: a table with one entry each (name, number of arguments, type of the result, evaluation), grouped by
//! subject in the files of this folder.
//!
//! The binder converts functions with their own grammar (`CAST`, `EXTRACT`, `TRIM(LEADING …)`) to calls. Units, flags
//! of regular expressions and the like are constants among the arguments.

mod arguments;
mod control;
mod digest;
mod info;
mod json;
mod network;
mod number_arguments;
mod numeric;
mod regexp;
mod string;
mod string_format;
mod temporal;
mod temporal_format;
mod temporal_number;
mod temporal_parts;
mod weight_string;

use std::collections::HashMap;
use std::sync::OnceLock;

pub(crate) use json::{append_json_value, json_quote};
pub(crate) use number_arguments::{reads_number, reads_temporal, wants_whole_date};

use crate::tree::Function;

/// Looks up a function by its name in lower case.
pub(crate) fn find(name: &str) -> Option<&'static Function> {
    static BY_NAME: OnceLock<HashMap<&'static str, &'static Function>> = OnceLock::new();
    let by_name = BY_NAME.get_or_init(|| {
        let tables = [
            control::FUNCTIONS,
            digest::FUNCTIONS,
            info::FUNCTIONS,
            json::FUNCTIONS,
            network::FUNCTIONS,
            numeric::FUNCTIONS,
            regexp::FUNCTIONS,
            string::FUNCTIONS,
            string_format::FUNCTIONS,
            temporal::FUNCTIONS,
            temporal_format::FUNCTIONS,
            temporal_number::FUNCTIONS,
            temporal_parts::FUNCTIONS,
            weight_string::FUNCTIONS,
        ];
        tables
            .into_iter()
            .flatten()
            .map(|function| (function.name, function))
            .collect()
    });
    by_name.get(name).copied()
}
