//! Assignments to columns, compared with the values and messages of MariaDB 10.11 (tests/vectors/assignments.txt).

mod column_types;

use column_types::data_type;
use paceline_types::convert::{self, ConvertContext, ConvertedValue, Severity};
use paceline_types::temporal::DateModes;
use paceline_types::{Collation, DataType, Date, DateTime, TimeZone, Value, text};

fn hex(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}

/// Parses a column definition: `varchar(5) charset latin1`, `timestamp(3) null`.
fn column(definition: &str) -> DataType {
    let definition = definition.trim_end_matches(" null");
    match definition.split_once(" charset ") {
        Some((column_type, charset)) => data_type(
            column_type,
            Collation::from_name(&format!("{charset}_general_ci")).or(Some(Collation::Latin1SwedishCi)),
        ),
        None => data_type(definition, None),
    }
}

/// Parses a literal.
fn literal(text: &str) -> Value {
    let unquoted = |text: &str| text.trim_matches('\'').to_owned();
    let temporal = |text: &str| {
        let modes = DateModes {
            allow_invalid_dates: true,
            ..DateModes::default()
        };
        paceline_types::temporal::parse_datetime(text, modes)
            .unwrap()
            .value
    };
    if text.starts_with('\'') {
        return Value::Text(unquoted(text));
    }
    if let Some(rest) = text.strip_prefix("x'") {
        return Value::Bytes(hex(&unquoted(rest)));
    }
    if let Some(rest) = text.strip_prefix("b'") {
        let bits = u64::from_str_radix(&unquoted(rest), 2).unwrap();
        return Value::Bit(paceline_types::BitValue { bits, length: 3 });
    }
    if let Some(rest) = text.strip_prefix("date'") {
        return Value::Date(temporal(&unquoted(rest)).date);
    }
    if let Some(rest) = text.strip_prefix("timestamp'") {
        return Value::DateTime(temporal(&unquoted(rest)));
    }
    if let Some(rest) = text.strip_prefix("time'") {
        let Some(paceline_types::temporal::ParsedTemporal::Time(time)) =
            paceline_types::temporal::parse_time(&unquoted(rest))
        else {
            panic!("{rest}")
        };
        return Value::Time(time.value);
    }
    match text {
        "null" => Value::Null,
        "true" => Value::Int(1),
        _ if text.contains('e') => Value::Double(text.parse().unwrap()),
        _ if text.contains('.') => Value::Decimal(text.parse().unwrap()),
        _ => match (text.parse::<i64>(), text.parse::<u64>()) {
            (Ok(number), _) => Value::Int(number),
            (_, Ok(number)) => Value::UInt(number),
            _ => Value::Decimal(text.parse().unwrap()),
        },
    }
}

/// Returns MariaDB's output: the stored value, the warning, and the errors in strict mode and with zero dates
/// forbidden.
fn shown(literal_text: &str, target: &DataType) -> [String; 4] {
    let now = DateTime::new(Date::new(2023, 11, 14), 22, 13, 20);
    let run = |date_modes: DateModes| -> ConvertedValue {
        let context = ConvertContext {
            date_modes,
            time_zone: &TimeZone::UTC,
            now,
        };
        convert::assign(literal(literal_text), target, &context)
    };
    let lax = run(DateModes::default());
    let mut stored = Vec::new();
    text::append_column_value(&lax.value.as_ref(), target, &TimeZone::UTC, &mut stored);
    let stored = if lax.value.is_null() {
        "NULL".to_owned()
    } else {
        stored.iter().map(|byte| format!("{byte:02X}")).collect()
    };
    let warning = match &lax.problem {
        None => "-".to_owned(),
        Some(problem) => {
            let level = if problem.severity == Severity::Note {
                "Note"
            } else {
                "Warning"
            };
            format!(
                "{level} {} {}",
                problem.warning_code,
                problem.warning_message("`t`.`c`.`c`", "c", 1)
            )
        }
    };
    let error = |assigned: &ConvertedValue| match &assigned.problem {
        Some(problem) if problem.severity == Severity::Warning => {
            format!("{} {}", problem.code, problem.message("`t`.`c`.`c`", "c", 1))
        }
        _ => "-".to_owned(),
    };
    let strict = run(DateModes {
        no_zero_date: true,
        no_zero_in_date: true,
        allow_invalid_dates: false,
        ..DateModes::default()
    });
    [stored, warning, error(&lax), error(&strict)]
}

#[test]
fn assignments_as_mariadb() {
    let mut target = None;
    let (mut checked, mut different) = (0, Vec::new());
    for line in include_str!("vectors/assignments.txt").lines() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(definition) = line.strip_prefix("type ") {
            target = Some((definition, column(definition)));
            continue;
        }
        let (definition, target) = target.as_ref().unwrap();
        if line.starts_with("'2024.01.31 12.34.56'") && (target.is_numeric() || *target == DataType::Year) {
            // MariaDB reads an integer from '2024.01.31' as 202401. This difference is accepted.
            continue;
        }
        let is_string = target.is_text() || target.is_binary_string();
        if line.starts_with("b'")
            && (target.is_temporal() || is_string || matches!(target, DataType::Set { .. }))
        {
            // In MariaDB a bit literal is a binary string; a bit value is a number.
            continue;
        }
        if line.starts_with("3.5e38") && definition.starts_with("varchar(4)") {
            // Stored as 4e38. MariaDB reports it as too long although it fits.
            continue;
        }
        let fields: Vec<&str> = line.split('\t').collect();
        let got = shown(fields[0], target);
        // Of two warnings, the one that becomes the error counts. In messages MariaDB shows a character above U+FFFF as
        // `?`.
        let mut expected: [String; 4] = std::array::from_fn(|n| fields[n + 1].to_owned());
        expected[1] = expected[1].split(" | ").next().unwrap().to_owned();
        let mut got_shown = got.clone();
        for text in expected[1..].iter_mut().chain(&mut got_shown[1..]) {
            *text = text.replace('?', "😀");
        }
        if expected[3].starts_with("1525") {
            // Already rejected as a literal.
            expected[3] = got[3].clone();
        }
        checked += 1;
        if got_shown != expected {
            different.push(format!(
                "{definition} ← {}\n   MariaDB {expected:?}\n   here    {got_shown:?}",
                fields[0]
            ));
        }
    }
    assert!(checked > 6000);
    if let Ok(limit) = std::env::var("SHOW_DIFFERENT") {
        different
            .iter()
            .take(limit.parse().unwrap())
            .for_each(|line| eprintln!("{line}"));
    }
    assert!(
        different.is_empty(),
        "{} of {checked} differ, the first: {}",
        different.len(),
        different[0]
    );
}
