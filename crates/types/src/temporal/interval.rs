//! `date + INTERVAL n unit`.

use super::{DateTime, Time, calendar};

/// Unit of an INTERVAL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // MariaDB's keywords
pub enum IntervalUnit {
    Year,
    Quarter,
    Month,
    Week,
    Day,
    Hour,
    Minute,
    Second,
    Microsecond,
    YearMonth,
    DayHour,
    DayMinute,
    DaySecond,
    DayMicrosecond,
    HourMinute,
    HourSecond,
    HourMicrosecond,
    MinuteSecond,
    MinuteMicrosecond,
    SecondMicrosecond,
}

/// Amount of time: months (of uneven length) and microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Interval {
    /// Years and months, in months.
    pub months: i64,
    /// Days and smaller units, in microseconds.
    pub micros: i128,
}

const SECOND: i128 = 1_000_000;
const DAY: i128 = 86_400 * SECOND;

/// One part of a unit: its length in months or microseconds.
#[derive(Clone, Copy)]
enum Part {
    Months(i64),
    Micros(i128),
}

impl IntervalUnit {
    /// Returns the parts, largest first.
    fn parts(self) -> &'static [Part] {
        use Part::{Micros, Months};
        const HOUR: Part = Micros(3600 * SECOND);
        const MINUTE: Part = Micros(60 * SECOND);
        match self {
            IntervalUnit::Year => &[Months(12)],
            IntervalUnit::Quarter => &[Months(3)],
            IntervalUnit::Month => &[Months(1)],
            IntervalUnit::Week => &[Micros(7 * DAY)],
            IntervalUnit::Day => &[Micros(DAY)],
            IntervalUnit::Hour => &[HOUR],
            IntervalUnit::Minute => &[MINUTE],
            IntervalUnit::Second => &[Micros(SECOND)],
            IntervalUnit::Microsecond => &[Micros(1)],
            IntervalUnit::YearMonth => &[Months(12), Months(1)],
            IntervalUnit::DayHour => &[Micros(DAY), HOUR],
            IntervalUnit::DayMinute => &[Micros(DAY), HOUR, MINUTE],
            IntervalUnit::DaySecond => &[Micros(DAY), HOUR, MINUTE, Micros(SECOND)],
            IntervalUnit::DayMicrosecond => &[Micros(DAY), HOUR, MINUTE, Micros(SECOND), Micros(1)],
            IntervalUnit::HourMinute => &[HOUR, MINUTE],
            IntervalUnit::HourSecond => &[HOUR, MINUTE, Micros(SECOND)],
            IntervalUnit::HourMicrosecond => &[HOUR, MINUTE, Micros(SECOND), Micros(1)],
            IntervalUnit::MinuteSecond => &[MINUTE, Micros(SECOND)],
            IntervalUnit::MinuteMicrosecond => &[MINUTE, Micros(SECOND), Micros(1)],
            IntervalUnit::SecondMicrosecond => &[Micros(SECOND), Micros(1)],
        }
    }

    /// Returns whether the unit has several parts. The amount is then a text such as `'1:30'`.
    pub fn is_compound(self) -> bool {
        self.parts().len() > 1
    }

    /// Returns whether the unit has months or years.
    pub fn has_months(self) -> bool {
        matches!(self.parts()[0], Part::Months(_))
    }

    /// Returns whether the unit has a part smaller than days, which turns a date into a datetime.
    pub fn has_time(self) -> bool {
        !matches!(
            self,
            IntervalUnit::Year
                | IntervalUnit::Quarter
                | IntervalUnit::Month
                | IntervalUnit::YearMonth
                | IntervalUnit::Week
                | IntervalUnit::Day
        )
    }

    /// Returns whether the last part is microseconds.
    pub fn has_microseconds(self) -> bool {
        matches!(self.parts().last(), Some(Part::Micros(1)))
    }
}

impl Interval {
    /// Parses the text of `INTERVAL 'text' unit`, such as `'1:30'` for MINUTE_SECOND: numbers with any characters
    /// between them. If parts are missing, they are those on the left. For a unit of one part this reads the integer at
    /// the start of the text; for SECOND, a number with a fraction.
    pub fn parse(text: &str, unit: IntervalUnit) -> Interval {
        let parts = unit.parts();
        if parts.len() == 1 {
            let amount = crate::Decimal::parse_prefix(text).map_or(crate::Decimal::ZERO, |read| read.value);
            return match unit {
                IntervalUnit::Second => Interval::from_micros(&amount),
                _ => {
                    let whole = amount.round(0, crate::decimal::Rounding::Truncate);
                    let limit = if whole.is_negative() { i64::MIN } else { i64::MAX };
                    Interval::from_number(whole.to_i64().unwrap_or(limit), unit)
                }
            };
        }
        let mut rest = text.trim_start().as_bytes();
        let negative = rest.first() == Some(&b'-');
        if negative {
            rest = &rest[1..];
        }
        let mut numbers = [0u64; 5];
        let mut read = 0;
        while read < parts.len() {
            let skipped = rest.iter().take_while(|b| !b.is_ascii_digit()).count();
            rest = &rest[skipped..];
            let count = rest.iter().take_while(|b| b.is_ascii_digit()).count();
            let is_fraction = unit.has_microseconds() && (rest.len() == count || read + 1 == parts.len());
            // Digits beyond microseconds are cut.
            let digits = if is_fraction { count.min(6) } else { count };
            let number = rest[..digits].iter().fold(0u64, |n, d| {
                n.saturating_mul(10).saturating_add(u64::from(d - b'0'))
            });
            rest = &rest[count..];
            // In a unit that ends in microseconds, the last part of the text is a fraction: '.5' is half a second.
            let scale = if is_fraction {
                10u64.pow(6usize.saturating_sub(count) as u32)
            } else {
                1
            };
            numbers[read] = number.saturating_mul(if count == 0 { 1 } else { scale });
            read += 1;
            if rest.is_empty() {
                break;
            }
        }
        let mut out = Interval::default();
        for (part, &number) in parts[parts.len() - read..].iter().zip(&numbers) {
            match part {
                Part::Months(months) => {
                    let number = i64::try_from(number).unwrap_or(i64::MAX);
                    out.months = out.months.saturating_add(number.saturating_mul(*months));
                }
                Part::Micros(micros) => out.micros = out.micros.saturating_add(i128::from(number) * micros),
            }
        }
        if negative { out.negated() } else { out }
    }

    /// Returns `INTERVAL number unit`, for a unit of one part.
    ///
    /// # Panics
    /// If the unit has several parts.
    pub fn from_number(number: i64, unit: IntervalUnit) -> Interval {
        match unit.parts() {
            [Part::Months(months)] => Interval {
                months: number.saturating_mul(*months),
                micros: 0,
            },
            [Part::Micros(micros)] => Interval {
                months: 0,
                micros: i128::from(number) * micros,
            },
            _ => panic!("{unit:?} has several parts"),
        }
    }

    /// Returns `INTERVAL number SECOND` with a fraction, cut after microseconds.
    pub fn from_micros(seconds: &crate::Decimal) -> Interval {
        let micros = seconds.mul(&crate::Decimal::from(1_000_000u64)).ok();
        let micros = micros.map(|micros| micros.round(0, crate::decimal::Rounding::Truncate));
        let limit = if seconds.is_negative() { i64::MIN } else { i64::MAX };
        let micros = micros.and_then(|micros| micros.to_i64().ok()).unwrap_or(limit);
        Interval {
            months: 0,
            micros: i128::from(micros),
        }
    }

    /// Returns the interval in the opposite direction.
    pub fn negated(self) -> Interval {
        Interval {
            months: self.months.saturating_neg(),
            micros: self.micros.saturating_neg(),
        }
    }
}

/// Adds an interval. A day beyond the end of the month becomes its last day. The result has the datetime's decimals, or
/// six if the interval has a fraction. Returns `None` outside the years 0001 to 9999 (with months: from 0000), and for
/// a date with zero parts.
pub fn add_interval(datetime: DateTime, interval: Interval) -> Option<DateTime> {
    let mut date = datetime.date;
    if date.month == 0 || date.day == 0 {
        return None;
    }
    if interval.months != 0 {
        let months = i64::from(date.year) * 12 + i64::from(date.month) - 1;
        let months = months
            .checked_add(interval.months)
            .filter(|months| (0..120_000).contains(months))?;
        date.year = (months / 12) as u16;
        date.month = (months % 12 + 1) as u8;
        date.day = date.day.min(calendar::days_in_month(date.year, date.month));
    }
    if interval.micros == 0 {
        return Some(DateTime { date, ..datetime });
    }
    let total = i128::from(calendar::day_number(date)) * DAY + i128::from(datetime.micros_of_day());
    let total = total.checked_add(interval.micros)?;
    let day = u32::try_from(total.div_euclid(DAY))
        .ok()
        .filter(|day| (366..=calendar::DAY_NUMBER_MAX).contains(day))?;
    let decimals = if interval.micros % SECOND != 0 {
        6
    } else {
        datetime.decimals
    };
    let date = calendar::date_from_day_number(day);
    Some(DateTime::from_date_and_micros(
        date,
        total.rem_euclid(DAY) as i64,
        decimals,
    ))
}

/// Adds an interval to a time. Returns `None` beyond 838:59:59, and for an interval with months.
pub fn add_interval_to_time(time: Time, interval: Interval) -> Option<Time> {
    if interval.months != 0 {
        return None;
    }
    let micros = i64::try_from(i128::from(time.micros()).checked_add(interval.micros)?).ok()?;
    let decimals = if interval.micros % SECOND != 0 {
        6
    } else {
        time.decimals()
    };
    (micros.unsigned_abs() <= Time::MICROS_MAX as u64).then(|| Time::from_micros(micros, decimals))
}

#[cfg(test)]
mod tests {
    use super::super::{DateModes, parse_datetime};
    use super::*;
    use IntervalUnit::*;

    /// Results of `DATE_ADD('…', INTERVAL '…' UNIT)` in MariaDB 10.11.
    #[test]
    fn adds_as_mariadb() {
        for (from, text, unit, expected) in [
            ("2024-01-31", "1", Month, Some("2024-02-29 00:00:00")),
            ("2024-02-29", "1", Year, Some("2025-02-28 00:00:00")),
            (
                "2024-01-31 12:00:00",
                "1:30",
                HourMinute,
                Some("2024-01-31 13:30:00"),
            ),
            (
                "2024-01-31",
                "1 2:3:4.5",
                DayMicrosecond,
                Some("2024-02-01 02:03:04.500000"),
            ),
            ("2024-01-31", "1-2", YearMonth, Some("2025-03-31 00:00:00")),
            ("2024-01-31", "1.5", Second, Some("2024-01-31 00:00:01.500000")),
            ("2024-01-31", "-1", Day, Some("2024-01-30 00:00:00")),
            ("2024-01-31", "1", Quarter, Some("2024-04-30 00:00:00")),
            ("2024-01-31", "1.5", Day, Some("2024-02-01 00:00:00")),
            ("9999-12-31", "1", Day, None),
            ("0001-01-01", "-1", Day, None),
            (
                "2024-01-31",
                "1:2",
                SecondMicrosecond,
                Some("2024-01-31 00:00:01.200000"),
            ),
            ("2024-01-31", "1:2:3", DaySecond, Some("2024-01-31 01:02:03")),
            ("2024-01-31", "10:20", MinuteSecond, Some("2024-01-31 00:10:20")),
            ("2024-01-31", "a", Day, Some("2024-01-31 00:00:00")),
            ("2024-01-31", "-1 2", DayHour, Some("2024-01-29 22:00:00")),
            ("2024-01-31", "x1y2", DayHour, Some("2024-02-01 02:00:00")),
            ("2024-01-31", "1.05", Second, Some("2024-01-31 00:00:01.050000")),
            ("2024-01-31", "5", Microsecond, Some("2024-01-31 00:00:00.000005")),
            ("2024-01-31", "1.1", DayHour, Some("2024-02-01 01:00:00")),
            ("0000-00-00", "1", Day, None),
            ("2024-01-00", "1", Month, None),
            (
                "2024-12-31 23:59:59.999999",
                "1",
                Microsecond,
                Some("2025-01-01 00:00:00.000000"),
            ),
            ("2024-03-31", "-1", Month, Some("2024-02-29 00:00:00")),
            (
                "2024-01-31",
                "1.234567",
                MinuteMicrosecond,
                Some("2024-01-31 00:00:01.234567"),
            ),
            (
                "2024-01-31",
                "1:1.5",
                MinuteMicrosecond,
                Some("2024-01-31 00:01:01.500000"),
            ),
            ("2024-01-31", "99999999999999999999", Day, None),
        ] {
            let from = parse_datetime(from, DateModes::default()).unwrap().value;
            let got = add_interval(from, Interval::parse(text, unit)).map(|v| v.to_string());
            assert_eq!(got.as_deref(), expected, "{from} + {text:?} {unit:?}");
        }
        let back = parse_datetime("2024-01-31", DateModes::default()).unwrap().value;
        let got = add_interval(back, Interval::parse("-1 -1", DayHour).negated());
        assert_eq!(got.unwrap().to_string(), "2024-02-01 01:00:00");
    }

    #[test]
    fn adds_to_times() {
        let time = Time::from_micros(36_000_000_000, 0);
        assert_eq!(
            add_interval_to_time(time, Interval::from_number(1, Hour))
                .unwrap()
                .to_string(),
            "11:00:00"
        );
        assert_eq!(add_interval_to_time(time, Interval::from_number(829, Hour)), None);
        assert_eq!(add_interval_to_time(time, Interval::from_number(1, Month)), None);
    }
}
