//! Day numbers, weekdays and weeks of the proleptic Gregorian calendar.

use super::Date;

/// Number of the last day, 9999-12-31.
pub const DAY_NUMBER_MAX: u32 = 3_652_424;

/// Week numbering of WEEK() (its mode argument, `default_week_format`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeekMode {
    /// Weeks start on Monday (else Sunday).
    pub monday_first: bool,
    /// Weeks are numbered 1 to 53 (else 0 to 53). Days before the first week then belong to the last week of the
    /// previous year.
    pub week_year: bool,
    /// The first week is the first one that starts in the year (else the first with at least 4 days in the year).
    pub first_weekday: bool,
}

impl WeekMode {
    /// Decodes the mode number, 0 to 7.
    pub fn from_number(mode: u32) -> Self {
        let flags = mode & 7;
        // The third bit is inverted for weeks that start on Monday.
        let first_weekday = (flags & 4 != 0) ^ (flags & 1 == 0);
        WeekMode {
            monday_first: flags & 1 != 0,
            week_year: flags & 2 != 0,
            first_weekday,
        }
    }
}

/// Returns whether February has 29 days.
fn is_leap(year: u16) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || (year.is_multiple_of(400) && year != 0))
}

/// Returns 365 or 366.
pub fn days_in_year(year: u16) -> u32 {
    if is_leap(year) { 366 } else { 365 }
}

/// Returns the number of days of a month from 1 to 12; 31 for any other, because MariaDB counts so for month 0.
pub fn days_in_month(year: u16, month: u8) -> u8 {
    match month {
        2 => 28 + u8::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns the number of days since year 0, like TO_DAYS; 0 if year and month are 0. Parts that are zero or too large
/// are counted as in MariaDB.
pub fn day_number(date: Date) -> u32 {
    let (year, month, day) = (i64::from(date.year), i64::from(date.month), i64::from(date.day));
    if year == 0 && month == 0 {
        return 0;
    }
    let mut days = 365 * year + 31 * (month - 1) + day;
    let mut y = year;
    if month <= 2 {
        y -= 1;
    } else {
        days -= (month * 4 + 23) / 10;
    }
    let centuries = ((y / 100 + 1) * 3) / 4;
    u32::try_from(days + y / 4 - centuries).unwrap_or(0)
}

/// Returns the date with this day number; `0000-00-00` below 366 and above [`DAY_NUMBER_MAX`].
pub fn date_from_day_number(number: u32) -> Date {
    if number <= 365 || number > DAY_NUMBER_MAX {
        return Date::ZERO;
    }
    let mut year = (u64::from(number) * 100 / 36525) as u16;
    let before = ((u32::from(year) - 1) / 100 + 1) * 3 / 4;
    let mut day_of_year = number - u32::from(year) * 365 - (u32::from(year) - 1) / 4 + before;
    while day_of_year > days_in_year(year) {
        day_of_year -= days_in_year(year);
        year += 1;
    }
    let mut month = 1;
    while day_of_year > u32::from(days_in_month(year, month)) {
        day_of_year -= u32::from(days_in_month(year, month));
        month += 1;
    }
    Date::new(year, month, day_of_year as u8)
}

/// Returns the weekday, 0 for Monday to 6 for Sunday, like WEEKDAY.
pub fn weekday(date: Date) -> u32 {
    (day_number(date) + 5) % 7
}

/// Returns the day of the year, 1 to 366, like DAYOFYEAR.
pub fn day_of_year(date: Date) -> u32 {
    (day_number(date) + 1).saturating_sub(day_number(Date::new(date.year, 1, 1)))
}

/// Returns the last day of the month, like LAST_DAY, or `None` for month 0.
pub fn last_day(date: Date) -> Option<Date> {
    (date.month != 0).then(|| Date {
        day: days_in_month(date.year, date.month),
        ..date
    })
}

/// Returns the week and its year, like WEEK and YEARWEEK. Month 0 and the year before 0 wrap around as in MariaDB:
/// 613566752.
pub fn week_and_year(date: Date, mode: WeekMode) -> (u32, u32) {
    let days = day_number(date);
    let mut year = u32::from(date.year);
    let mut first = day_number(Date::new(date.year, 1, 1));
    let mut week_year = mode.week_year;
    // Weekday of January 1st, counted from Monday or from Sunday.
    let start = |first: u32| {
        if mode.monday_first {
            (first + 5) % 7
        } else {
            (first + 6) % 7
        }
    };
    let mut weekday = start(first);
    if date.month == 1
        && u32::from(date.day) <= 7 - weekday
        && ((!mode.first_weekday && weekday >= 4) || (mode.first_weekday && weekday != 0))
    {
        if !week_year {
            return (0, year);
        }
        week_year = true;
        year = year.wrapping_sub(1);
        let previous = days_in_year(year as u16);
        first = first.wrapping_sub(previous);
        weekday = (weekday + 53 * 7 - previous) % 7;
    }
    let whole = if (mode.first_weekday && weekday != 0) || (!mode.first_weekday && weekday >= 4) {
        days.wrapping_sub(first.wrapping_add(7 - weekday))
    } else {
        days.wrapping_sub(first.wrapping_sub(weekday))
    };
    if week_year && whole >= 52 * 7 {
        weekday = (weekday + days_in_year(year as u16)) % 7;
        if (!mode.first_weekday && weekday < 4) || (mode.first_weekday && weekday == 0) {
            return (1, year.wrapping_add(1));
        }
    }
    (whole / 7 + 1, year)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn day_numbers_as_to_days() {
        for (date, number) in [
            (Date::new(1, 1, 1), 366),
            (Date::new(1970, 1, 1), 719_528),
            (Date::new(2000, 2, 29), 730_544),
            (Date::new(2024, 12, 31), 739_616),
            (Date::new(9999, 12, 31), DAY_NUMBER_MAX),
        ] {
            assert_eq!(day_number(date), number, "{date}");
            assert_eq!(date_from_day_number(number), date);
        }
    }

    #[test]
    fn every_day_number_round_trips() {
        for number in 366..=DAY_NUMBER_MAX {
            assert_eq!(day_number(date_from_day_number(number)), number);
        }
    }

    #[test]
    fn weekday_day_of_year_and_last_day_follow_the_calendar() {
        assert_eq!(weekday(Date::new(2024, 1, 1)), 0);
        assert_eq!(weekday(Date::new(2024, 1, 7)), 6);
        assert_eq!(day_of_year(Date::new(2024, 12, 31)), 366);
        assert_eq!(last_day(Date::new(2023, 2, 1)), Some(Date::new(2023, 2, 28)));
    }

    /// Results of `DATE_FORMAT('2024-00-00', '%U')` and `YEARWEEK('0000-01-01', 1)` in MariaDB 10.11.
    #[test]
    fn weeks_before_the_calendar_wrap() {
        let week = |date, mode| week_and_year(date, WeekMode::from_number(mode));
        assert_eq!(week(Date::new(2024, 0, 0), 0).0, 613_566_752);
        assert_eq!(week(Date::new(0, 1, 1), 3), (52, u32::MAX));
    }

    /// Results of `WEEK(d, 0)` to `WEEK(d, 7)` and `YEARWEEK(d, 0)`, `(d, 1)`, `(d, 3)`, `(d, 7)` in MariaDB 10.11.
    #[test]
    fn weeks_as_mariadb() {
        for ((year, month, day), weeks, year_weeks) in [
            (
                (2024, 1, 1),
                [0, 1, 53, 1, 1, 1, 1, 1],
                [202353, 202401, 202401, 202401],
            ),
            (
                (2023, 1, 1),
                [1, 0, 1, 52, 1, 0, 1, 52],
                [202301, 202252, 202252, 202252],
            ),
            (
                (2022, 1, 1),
                [0, 0, 52, 52, 0, 0, 52, 52],
                [202152, 202152, 202152, 202152],
            ),
            (
                (2021, 1, 3),
                [1, 0, 1, 53, 1, 0, 1, 52],
                [202101, 202053, 202053, 202052],
            ),
            (
                (2020, 12, 31),
                [52, 53, 52, 53, 53, 52, 53, 52],
                [202052, 202053, 202053, 202052],
            ),
            (
                (2024, 12, 31),
                [52, 53, 52, 1, 53, 53, 1, 53],
                [202452, 202501, 202501, 202453],
            ),
            (
                (2018, 12, 31),
                [52, 53, 52, 1, 53, 53, 1, 53],
                [201852, 201901, 201901, 201853],
            ),
            (
                (2016, 1, 3),
                [1, 0, 1, 53, 1, 0, 1, 52],
                [201601, 201553, 201553, 201552],
            ),
            (
                (2026, 1, 4),
                [1, 1, 1, 1, 1, 0, 1, 52],
                [202601, 202601, 202601, 202552],
            ),
            (
                (2028, 12, 31),
                [53, 52, 53, 52, 53, 52, 1, 52],
                [202853, 202852, 202852, 202852],
            ),
            ((2000, 2, 29), [9; 8], [200009; 4]),
        ] {
            let date = Date::new(year, month, day);
            for (mode, week) in weeks.into_iter().enumerate() {
                assert_eq!(
                    week_and_year(date, WeekMode::from_number(mode as u32)).0,
                    week,
                    "{date} mode {mode}"
                );
            }
            for (mode, expected) in [0, 1, 3, 7].into_iter().zip(year_weeks) {
                // YEARWEEK always counts weeks from 1.
                let (week, year) = week_and_year(date, WeekMode::from_number(mode | 2));
                assert_eq!(year * 100 + week, expected, "{date} mode {mode}");
            }
        }
    }
}
