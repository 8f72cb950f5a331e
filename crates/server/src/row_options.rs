//! Options for rows of other servers, from the variables.

use crate::variables::{Globals, Variable};
use paceline_apply::replicated::{ExecMode, FiredTriggers, RowOptions, SkippedErrors, TypeConversions};
use paceline_types::table_map_metadata::RowMetadata;

/// Returns the options for applying replicated rows.
pub fn replicated_row_options(globals: &Globals) -> RowOptions {
    RowOptions {
        skipped_errors: skipped_errors(globals.get(Variable::SlaveSkipErrors).as_str()),
        fired_triggers: match globals.number(Variable::SlaveRunTriggersForRbr) {
            1 | 2 => FiredTriggers::Absent,
            3 => FiredTriggers::All,
            _ => FiredTriggers::None,
        },
        ..row_options(globals)
    }
}

/// Returns the value of `binlog_row_metadata`.
pub fn row_metadata(globals: &Globals) -> RowMetadata {
    match globals.number(Variable::BinlogRowMetadata) {
        1 => RowMetadata::Minimal,
        2 => RowMetadata::Full,
        _ => RowMetadata::NoLog,
    }
}

/// Returns the options for applying rows of another server, without skipping any errors.
pub fn row_options(globals: &Globals) -> RowOptions {
    RowOptions {
        exec_mode: match globals.number(Variable::SlaveExecMode) {
            1 => ExecMode::Idempotent,
            _ => ExecMode::Strict,
        },
        conversions: TypeConversions::from_bits(globals.number(Variable::SlaveTypeConversions)),
        skipped_errors: SkippedErrors::None,
        fired_triggers: FiredTriggers::None,
        row_metadata: row_metadata(globals),
    }
}

/// Parses `OFF`, `all`, or numbers separated by commas.
fn skipped_errors(list: &str) -> SkippedErrors {
    if list.eq_ignore_ascii_case("all") {
        return SkippedErrors::All;
    }
    let codes: std::collections::BTreeSet<u16> = list
        .split(',')
        .filter_map(|code| code.trim().parse().ok())
        .collect();
    match codes.is_empty() {
        true => SkippedErrors::None,
        false => SkippedErrors::These(codes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_that_are_skipped() {
        assert_eq!(skipped_errors("OFF"), SkippedErrors::None);
        assert_eq!(skipped_errors("ALL"), SkippedErrors::All);
        assert_eq!(
            skipped_errors("1062, 1032"),
            SkippedErrors::These([1032, 1062].into())
        );
    }
}
