use super::*;
use crate::temporal::{DateModes, DateTime, Time};

/// Results of `CAST('…' AS DATETIME(6))` in MariaDB 10.11. `None` is NULL; `!` marks a warning.
#[test]
fn datetimes_as_mariadb() {
    for (text, expected) in [
        ("2024-01-31", Some("2024-01-31 00:00:00")),
        ("2024-1-3", Some("2024-01-03 00:00:00")),
        ("24-1-3", Some("2024-01-03 00:00:00")),
        ("70-1-3", Some("1970-01-03 00:00:00")),
        ("2024-01-31   12:34:56", Some("2024-01-31 12:34:56")),
        ("2024-01-31T12:34:56", Some("2024-01-31 12:34:56")),
        ("2024*01*31 12*34*56", Some("2024-01-31 12:34:56")),
        ("  2024-01-31", Some("2024-01-31 00:00:00")),
        (
            "2024-01-31 12:34:56.123456789",
            Some("2024-01-31 12:34:56.123456"),
        ),
        ("20240131.5", None),
        ("240131123456", Some("2024-01-31 12:34:56")),
        ("2401311234", Some("2024-01-31 12:34:00")),
        ("20240131 123456", None),
        ("20240131T123456", Some("2024-01-31 12:34:56")),
        ("20240131123456.789", Some("2024-01-31 12:34:56.789")),
        ("12-01", None),
        ("0-0-0", Some("0000-00-00 00:00:00")),
        ("1-1-1", Some("0001-01-01 00:00:00")),
        ("100-1-1", Some("0100-01-01 00:00:00")),
        ("00000101", Some("0000-01-01 00:00:00")),
        ("2024-01-31x", Some("2024-01-31 00:00:00!")),
        ("2024-01-31 12:34:56+01:00", Some("2024-01-31 12:34:56!")),
        ("2024-02-30", None),
        ("2024-01-31 25:00:00", None),
        ("10:11:12.13.14.15", Some("2010-11-12 13:14:15")),
        ("", None),
        ("x", None),
        ("240131  ", Some("2024-01-31 00:00:00")),
        ("2024-01-31 12  ", Some("2024-01-31 12:00:00")),
        ("20240131T", Some("2024-01-31 00:00:00")),
        ("2001010", Some("2020-01-01 00:00:00")),
        ("-2024-01-31", None),
    ] {
        let read = parse_datetime(text, DateModes::default());
        let read = read.map(|p| format!("{}{}", p.value, if p.truncated { "!" } else { "" }));
        assert_eq!(read.as_deref(), expected, "{text:?}");
    }
}

/// Results of `CAST('…' AS TIME(6))` in MariaDB 10.11.
#[test]
fn times_as_mariadb() {
    for (text, expected) in [
        ("10:11:12", Some("10:11:12")),
        ("101112.5", Some("10:11:12.5")),
        ("1 1", Some("00:00:01!")),
        ("1 1:2", Some("25:02:00")),
        ("34 22:59:59", Some("838:59:59")),
        ("-1 10:00", Some("-34:00:00")),
        ("1:2:3.4567891", Some("01:02:03.456789")),
        (" 10:11 ", Some("10:11:00")),
        ("10:11:12abc", Some("10:11:12!")),
        ("", None),
        ("abc", None),
        (":10", None),
        ("1::2", Some("00:00:01!")),
        ("2024-01-31", Some("00:20:24!")),
        ("24-1-31 1:2:3", Some("01:02:03d")),
        ("2024-01-31 1:2", Some("01:02:00d")),
        ("8386000", None),
        ("12:34:56:78", Some("12:34:56!")),
        ("1e2", None),
        ("-", None),
        ("--1", None),
        ("- 1", Some("-00:00:01")),
        ("2 3:4:5.6", Some("51:04:05.6")),
        ("5.6", Some("00:00:05.6")),
        ("12:60:00", None),
        ("10:11:12    ", Some("10:11:12")),
        ("10:11:12              x", Some("10:11:12!")),
        ("10:11    ", Some("10:11:00")),
        ("1-1-1 1:1", Some("01:01:00d")),
        ("2024-01-31    ", Some("00:20:24!")),
        ("20240131101112  ", Some("10:11:12d")),
    ] {
        let read = parse_time(text).map(|read| match read {
            ParsedTemporal::Time(p) => {
                format!("{}{}", p.value, if p.truncated || p.clipped { "!" } else { "" })
            }
            ParsedTemporal::DateTime(p) => format!("{}d", p.value.time()),
        });
        assert_eq!(read.as_deref(), expected, "{text:?}");
    }
}

#[test]
fn numbers_as_mariadb() {
    let datetime = |number| datetime_from_number(number, 0, DateModes::default()).map(|v| v.to_string());
    for (number, expected) in [
        (0, Some("0000-00-00 00:00:00")),
        (101, Some("2000-01-01 00:00:00")),
        (100, None),
        (691_231, Some("2069-12-31 00:00:00")),
        (700_101, Some("1970-01-01 00:00:00")),
        (1_000_101, None),
        (10_000_101, Some("1000-01-01 00:00:00")),
        (99_991_231, Some("9999-12-31 00:00:00")),
        (101_000_000, Some("2000-01-01 00:00:00")),
        (991_231_235_959, Some("1999-12-31 23:59:59")),
        (19_991_231_235_960, None),
        (-1, None),
        (i64::MAX, None),
    ] {
        assert_eq!(datetime(number).as_deref(), expected, "{number}");
    }
    for (number, expected) in [
        (101_112, Some("10:11:12")),
        (-101_112, Some("-10:11:12")),
        (20_240_131_101_112, Some("10:11:12")),
        (8_385_959, Some("838:59:59")),
        (8_386_000, None),
        (20_240_131, Some("00:00:00")),
        (20_241_301, None),
        (i64::MAX, Some("838:59:59.999999")),
    ] {
        assert_eq!(
            time_from_number(number, 0)
                .map(|p| p.value.to_string())
                .as_deref(),
            expected,
            "{number}"
        );
    }
}

proptest::proptest! {
    #[test]
    fn nothing_panics(text in "[0-9TeE:.,/ -]{0,24}", any in "\\PC{0,12}", number: i64) {
        for text in [text, any] {
            let _ = (parse_datetime(&text, DateModes::default()), parse_time(&text));
        }
        let _ = (datetime_from_number(number, 5, DateModes::default()), time_from_number(number, 5));
    }

    #[test]
    fn printed_values_are_parsed_back(micros in -Time::MICROS_MAX..=Time::MICROS_MAX, day in 366u32..=crate::temporal::DAY_NUMBER_MAX) {
        let time = Time::from_micros(micros, 6);
        match parse_time(&time.to_string()) {
            Some(ParsedTemporal::Time(read)) => proptest::prop_assert_eq!(read, ParseResult::whole(time)),
            other => proptest::prop_assert!(false, "{other:?}"),
        }
        let date = crate::temporal::date_from_day_number(day);
        let datetime = DateTime::from_date_and_micros(date, micros.rem_euclid(86_400_000_000), 6);
        let read = parse_datetime(&datetime.to_string(), DateModes::default());
        proptest::prop_assert_eq!(read, Some(ParseResult::whole(datetime)));
    }
}
