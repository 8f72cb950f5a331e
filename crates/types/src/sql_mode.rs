//! The session's SQL mode: a set of flags with MariaDB's bit values, which Query events contain too.

use std::fmt;

/// A set of SQL mode flags. The bits are MariaDB's (`sql/sql_class.h`, `MODE_*`).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SqlMode(u64);

macro_rules! modes {
    ($($name:ident = $bit:expr, $doc:literal;)*) => {
        impl SqlMode {
            $(#[doc = $doc] pub const $name: SqlMode = SqlMode(1 << $bit);)*

            /// Every single flag, in the order in which MariaDB prints them.
            const NAMES: &'static [(&'static str, SqlMode)] = &[$((stringify!($name), SqlMode::$name)),*];
        }
    };
}

modes! {
    REAL_AS_FLOAT = 0, "`REAL` means `FLOAT`.";
    PIPES_AS_CONCAT = 1, "`||` concatenates instead of being OR.";
    ANSI_QUOTES = 2, "`\"` quotes identifiers instead of strings.";
    IGNORE_SPACE = 3, "Blanks may stand between a function's name and its parenthesis.";
    IGNORE_BAD_TABLE_OPTIONS = 4, "Unknown table options give a warning only.";
    ONLY_FULL_GROUP_BY = 5, "Non-aggregated columns must be in GROUP BY.";
    NO_UNSIGNED_SUBTRACTION = 6, "Subtraction gives a signed result.";
    NO_DIR_IN_CREATE = 7, "DATA DIRECTORY and INDEX DIRECTORY are ignored.";
    POSTGRESQL = 8, "Stands for a set of other flags.";
    ORACLE = 9, "Oracle's dialect; accepted, not implemented.";
    MSSQL = 10, "Stands for a set of other flags.";
    DB2 = 11, "Stands for a set of other flags.";
    MAXDB = 12, "Stands for a set of other flags.";
    NO_KEY_OPTIONS = 13, "SHOW CREATE TABLE leaves out index options.";
    NO_TABLE_OPTIONS = 14, "SHOW CREATE TABLE leaves out table options.";
    NO_FIELD_OPTIONS = 15, "SHOW CREATE TABLE leaves out column options.";
    MYSQL323 = 16, "Old compatibility flag.";
    MYSQL40 = 17, "Old compatibility flag.";
    ANSI = 18, "Stands for a set of other flags.";
    NO_AUTO_VALUE_ON_ZERO = 19, "Only NULL, not 0, makes an AUTO_INCREMENT value.";
    NO_BACKSLASH_ESCAPES = 20, "The backslash is a character like any other.";
    STRICT_TRANS_TABLES = 21, "Values that do not fit are errors in transactional tables.";
    STRICT_ALL_TABLES = 22, "Values that do not fit are errors.";
    NO_ZERO_IN_DATE = 23, "Dates with a zero month or day are refused.";
    NO_ZERO_DATE = 24, "`0000-00-00` is refused.";
    ALLOW_INVALID_DATES = 25, "Only the ranges of month and day are checked.";
    ERROR_FOR_DIVISION_BY_ZERO = 26, "Division by zero warns, or fails in strict DML.";
    TRADITIONAL = 27, "Stands for a set of other flags.";
    NO_AUTO_CREATE_USER = 28, "GRANT creates no account without a password.";
    HIGH_NOT_PRECEDENCE = 29, "NOT binds as tightly as `!`.";
    NO_ENGINE_SUBSTITUTION = 30, "An unknown engine is an error.";
    PAD_CHAR_TO_FULL_LENGTH = 31, "CHAR values are read with their trailing blanks.";
    EMPTY_STRING_IS_NULL = 32, "An empty string literal is NULL.";
    SIMULTANEOUS_ASSIGNMENT = 33, "UPDATE's assignments all see the old row.";
    TIME_ROUND_FRACTIONAL = 34, "Fractional seconds are rounded instead of cut.";
}

impl SqlMode {
    /// The empty set.
    pub const EMPTY: SqlMode = SqlMode(0);

    /// Returns the names of all flags, in the order of their bits.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::NAMES.iter().map(|(name, _)| *name)
    }

    /// MariaDB 10.11's default.
    pub const DEFAULT: SqlMode = SqlMode(
        Self::STRICT_TRANS_TABLES.0
            | Self::ERROR_FOR_DIVISION_BY_ZERO.0
            | Self::NO_AUTO_CREATE_USER.0
            | Self::NO_ENGINE_SUBSTITUTION.0,
    );

    /// Returns the flags as MariaDB's number, as in a Query event.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Returns the set with MariaDB's number. Unknown bits are dropped.
    pub const fn from_bits(bits: u64) -> SqlMode {
        SqlMode(bits & ((1 << 35) - 1))
    }

    /// Returns whether every flag of `flags` is set.
    pub const fn contains(self, flags: SqlMode) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// Returns the union of both sets.
    pub const fn with(self, flags: SqlMode) -> SqlMode {
        SqlMode(self.0 | flags.0)
    }

    /// Returns this set without `flags`.
    pub const fn without(self, flags: SqlMode) -> SqlMode {
        SqlMode(self.0 & !flags.0)
    }

    /// Returns whether a value that does not fit is an error. Each of the two strict flags suffices, because all tables
    /// here are transactional: MariaDB is lenient under STRICT_TRANS_TABLES only where it could not undo rows that the
    /// statement has inserted already. A rule by the declared engine was rejected: ENGINE=MyISAM makes an InnoDB table
    /// (warning 1266), and two tables with the same SHOW CREATE TABLE must not differ.
    pub const fn is_strict(self) -> bool {
        self.0 & (Self::STRICT_TRANS_TABLES.0 | Self::STRICT_ALL_TABLES.0) != 0
    }

    /// Parses `SET sql_mode = 'A,B'`: names in any case. Compound names are expanded as in MariaDB.
    ///
    /// # Errors
    /// The first name that is not a mode.
    pub fn parse(text: &str) -> Result<SqlMode, String> {
        let mut mode = SqlMode::EMPTY;
        for name in text.trim_end().split(',').filter(|name| !name.is_empty()) {
            let upper = name.to_ascii_uppercase();
            let Some((_, flag)) = Self::NAMES.iter().find(|(known, _)| *known == upper) else {
                return Err(name.to_owned());
            };
            mode = mode.with(*flag);
        }
        Ok(mode.expanded())
    }

    /// Adds the flags that compound flags stand for (`expand_sql_mode` in MariaDB).
    pub fn expanded(self) -> SqlMode {
        let mut mode = self;
        let ansi_like = Self::PIPES_AS_CONCAT
            .with(Self::ANSI_QUOTES)
            .with(Self::IGNORE_SPACE);
        let no_options = Self::NO_KEY_OPTIONS
            .with(Self::NO_TABLE_OPTIONS)
            .with(Self::NO_FIELD_OPTIONS);
        if mode.contains(Self::ANSI) {
            mode = mode.with(Self::REAL_AS_FLOAT).with(ansi_like);
        }
        for compound in [
            Self::ORACLE,
            Self::MSSQL,
            Self::POSTGRESQL,
            Self::DB2,
            Self::MAXDB,
        ] {
            if mode.contains(compound) {
                mode = mode.with(ansi_like).with(no_options);
            }
        }
        if mode.contains(Self::MAXDB) || mode.contains(Self::ORACLE) {
            mode = mode.with(Self::NO_AUTO_CREATE_USER);
        }
        if mode.contains(Self::ORACLE) {
            mode = mode.with(Self::SIMULTANEOUS_ASSIGNMENT);
        }
        if mode.contains(Self::MYSQL40) || mode.contains(Self::MYSQL323) {
            mode = mode.with(Self::HIGH_NOT_PRECEDENCE);
        }
        if mode.contains(Self::TRADITIONAL) {
            mode = mode
                .with(Self::STRICT_TRANS_TABLES)
                .with(Self::STRICT_ALL_TABLES)
                .with(Self::NO_ZERO_IN_DATE)
                .with(Self::NO_ZERO_DATE)
                .with(Self::ERROR_FOR_DIVISION_BY_ZERO)
                .with(Self::NO_AUTO_CREATE_USER)
                .with(Self::NO_ENGINE_SUBSTITUTION);
        }
        mode
    }
}

impl Default for SqlMode {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl fmt::Display for SqlMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (name, flag) in Self::NAMES {
            if self.contains(*flag) {
                write!(f, "{separator}{name}")?;
                separator = ",";
            }
        }
        Ok(())
    }
}

impl fmt::Debug for SqlMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SqlMode({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_prints_as_mariadb_prints_it() {
        assert_eq!(
            SqlMode::default().to_string(),
            "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION"
        );
        assert_eq!(SqlMode::default().bits(), 1_411_383_296);
    }

    #[test]
    fn compound_modes_expand() {
        let mode = SqlMode::parse("ansi").unwrap();
        assert_eq!(
            mode.to_string(),
            "REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ANSI"
        );
        assert!(SqlMode::parse("traditional").unwrap().is_strict());
        assert_eq!(SqlMode::parse("nothing,ansi"), Err("nothing".to_owned()));
    }
}
