//! Locales of `lc_time_names` and FORMAT: names of months and days, and grouping of digits.
//!
//! The table contains MariaDB 10.11's data of each locale: number, name, separators, and the names of months and days
//! with their short forms; `=` refers to the names of another locale. The first separator is between groups of digits
//! (`-` means none, `0` means the byte 0, which MariaDB has for Bulgarian), the second is the decimal point. A `2`
//! after them means that only the last group has three digits, and the others have two.

use std::sync::OnceLock;

/// Conventions of a language and country.
#[derive(Debug)]
pub struct Locale {
    /// MariaDB's number, which the binary log contains.
    pub number: u16,
    /// Name such as `de_DE`.
    pub name: &'static str,
    /// Names from January on.
    pub months: [&'static str; 12],
    /// Short names such as `Jan`.
    pub short_months: [&'static str; 12],
    /// Names from Monday on.
    pub days: [&'static str; 7],
    /// Short names such as `Mon`.
    pub short_days: [&'static str; 7],
    /// Text between groups of digits.
    pub thousands_separator: &'static str,
    /// Text before the fraction.
    pub decimal_point: &'static str,
    /// Number of digits of each group but the last, which has three.
    pub group_digits: usize,
}

const TABLE: &str = include_str!("locales.tsv");

/// Returns all locales, in the order of their numbers.
fn all() -> &'static [Locale] {
    static ALL: OnceLock<Vec<Locale>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut locales: Vec<Locale> = Vec::with_capacity(128);
        for line in TABLE.lines() {
            let locale = read(line, &locales);
            locales.push(locale);
        }
        locales
    })
}

/// Parses a line of the table. `known` are the locales of the previous lines.
fn read(line: &'static str, known: &[Locale]) -> Locale {
    let fields: Vec<&'static str> = line.split('\t').collect();
    let [number, name, separators, names @ ..] = &fields[..] else {
        unreachable!("the table has all fields");
    };
    let thousands_separator = match &separators[..1] {
        "-" => "",
        "0" => "\0",
        separator => separator,
    };
    let group_digits = if separators.ends_with('2') { 2 } else { 3 };
    let number = number.parse().expect("the table has numbers");
    let other = names[0].strip_prefix('=');
    let (months, short_months, days, short_days) = match other {
        Some(other) => {
            let other = known.iter().find(|locale| locale.name == other);
            let other = other.expect("the locale that it refers to precedes it");
            (other.months, other.short_months, other.days, other.short_days)
        }
        None => (list(names[0]), list(names[1]), list(names[2]), list(names[3])),
    };
    Locale {
        number,
        name,
        months,
        short_months,
        days,
        short_days,
        thousands_separator,
        decimal_point: &separators[1..2],
        group_digits,
    }
}

fn list<const N: usize>(names: &'static str) -> [&'static str; N] {
    let names: Vec<&'static str> = names.split('|').collect();
    names.try_into().expect("the table has all names")
}

impl Locale {
    /// Returns `en_US`, the default.
    pub fn english() -> &'static Locale {
        &all()[0]
    }

    /// Looks up a locale by its name in any case.
    pub fn from_name(name: &str) -> Option<&'static Locale> {
        all().iter().find(|locale| locale.name.eq_ignore_ascii_case(name))
    }

    /// Looks up a locale by its number.
    pub fn from_number(number: u16) -> Option<&'static Locale> {
        all().get(usize::from(number))
    }

    /// Returns the length of the longest month name in characters.
    pub fn month_characters_max(&self) -> u64 {
        longest(&self.months)
    }

    /// Returns the length of the longest day name in characters.
    pub fn day_characters_max(&self) -> u64 {
        longest(&self.days)
    }
}

fn longest(names: &[&str]) -> u64 {
    let lengths = names.iter().map(|name| name.chars().count() as u64);
    lengths.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_locale_is_at_the_index_of_its_number() {
        assert_eq!(all().len(), 112);
        for (place, locale) in all().iter().enumerate() {
            assert_eq!(usize::from(locale.number), place, "{}", locale.name);
        }
        assert_eq!(Locale::english().name, "en_US");
    }

    #[test]
    fn names_are_found_in_any_case() {
        let german = Locale::from_name("DE_de").expect("known");
        assert_eq!(
            (german.number, german.months[2], german.short_days[0]),
            (4, "März", "Mo")
        );
        assert!(Locale::from_name("xx_XX").is_none());
        assert!(Locale::from_number(112).is_none());
    }
}
