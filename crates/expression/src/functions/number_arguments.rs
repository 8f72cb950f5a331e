//! Arguments that are read as numbers whatever their type: there `0x41` is 65, and JSON_EXTRACT returns the digits of a
//! string. Also arguments that are read as dates or times: there ADDTIME of a text returns a time, not a text.

/// Returns whether a function (name in lower case) reads the argument with this index as a number. Functions that
/// examine the types of all arguments first, such as GREATEST, handle this themselves.
pub(crate) fn reads_number(name: &str, index: usize) -> bool {
    match name {
        "abs" | "ceiling" | "ceil" | "floor" | "round" | "truncate" | "sign" | "pow" | "power" | "sqrt"
        | "exp" => true,
        "ln" | "log" | "log2" | "log10" | "radians" | "degrees" | "rand" | "bit_count" | "interval" => true,
        "sin" | "cos" | "tan" | "cot" | "asin" | "acos" | "atan" | "atan2" => true,
        "char" | "chr" | "space" | "inet_ntoa" | "sleep" | "benchmark" | "random_bytes"
        | "last_insert_id" => true,
        "sec_to_time" | "from_days" | "makedate" | "maketime" | "period_add" | "period_diff" => true,
        "if" | "elt" | "make_set" | "from_unixtime" => index == 0,
        "left" | "right" | "repeat" | "lpad" | "rpad" | "week" | "yearweek" | "sha2" | "get_lock" => {
            index == 1
        }
        "substring_index" | "locate" => index == 2,
        "substr" | "substring" | "mid" => index >= 1,
        "insert" | "conv" => index == 1 || index == 2,
        "format" => index < 2,
        "export_set" => index == 0 || index == 4,
        _ => false,
    }
}

/// Returns whether a function (name in lower case) reads the argument with this index as a date or time.
pub(crate) fn reads_temporal(name: &str, index: usize) -> bool {
    match name {
        "date" | "time" | "year" | "quarter" | "month" | "day" | "dayofmonth" | "dayofweek" | "weekday"
        | "dayofyear" | "week" | "weekofyear" | "yearweek" | "hour" | "minute" | "second" | "microsecond"
        | "dayname" | "monthname" | "last_day" | "to_days" | "to_seconds" | "time_to_sec" | "date_add"
        | "date_sub" | "addtime" | "subtime" | "timestamp" | "date_format" | "time_format"
        | "unix_timestamp" => index == 0,
        "datediff" | "timediff" => true,
        "timestampdiff" | "extract" => index > 0,
        _ => false,
    }
}

/// Returns whether a function has no result for dates whose month or day is zero.
pub(crate) fn wants_whole_date(name: &str) -> bool {
    matches!(
        name,
        "to_days"
            | "to_seconds"
            | "dayofyear"
            | "week"
            | "weekofyear"
            | "yearweek"
            | "weekday"
            | "dayofweek"
            | "dayname"
            | "datediff"
            | "timestampdiff"
    )
}
