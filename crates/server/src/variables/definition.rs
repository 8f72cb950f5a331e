//! What a system variable is: where it lives, whether it can be set, and which values it takes.

use super::table::Variable;

/// Where a variable has values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// One value for the server.
    Global,
    /// One for each session, and a global one that new sessions start with.
    Both,
    /// One for each session only.
    SessionOnly,
}

/// Whether a variable can be set while the server runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// By `SET`.
    Dynamic,
    /// Only at start-up, or not at all.
    Fixed,
}

/// The values that a variable takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// ON and OFF.
    Boolean,
    /// Signed integers.
    Integer {
        /// The least.
        min: i64,
        /// The greatest.
        max: i64,
    },
    /// Unsigned integers.
    Unsigned {
        /// The least.
        min: u64,
        /// The greatest.
        max: u64,
        /// Values are cut to multiples of this.
        block: u64,
    },
    /// Numbers with a fraction, shown with six digits of it.
    Double {
        /// The least.
        min: f64,
        /// The greatest.
        max: f64,
    },
    /// One of these words, or its index.
    Enum(&'static [&'static str]),
    /// Some of these words with commas between, or a bit mask.
    Set(&'static [&'static str]),
    /// Each of these with `=on` or `=off`.
    Flags(&'static [&'static str]),
    /// A string; NULL where the default is NULL.
    Text,
    /// A character set's name, or a collation's number.
    Charset,
    /// A collation's name or number.
    Collation,
    /// A locale's name; only `en_US` is there.
    Locale,
    /// `sql_mode`.
    SqlMode,
    /// `time_zone`.
    TimeZone,
}

/// A row of the table of variables.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Definition {
    /// Which.
    pub variable: Variable,
    /// Its name.
    pub name: &'static str,
    /// Where it has values.
    pub scope: Scope,
    /// Whether it can be set.
    pub access: Access,
    /// Which values it takes.
    pub kind: Kind,
    /// Its default as text; `None` is NULL.
    pub default: Option<&'static str>,
}

/// Makes a row.
pub const fn variable(
    variable: Variable,
    name: &'static str,
    scope: Scope,
    access: Access,
    kind: Kind,
    default: Option<&'static str>,
) -> Definition {
    Definition {
        variable,
        name,
        scope,
        access,
        kind,
        default,
    }
}

impl Definition {
    /// What information_schema.SYSTEM_VARIABLES calls its type.
    pub fn type_name(&self) -> &'static str {
        match self.kind {
            Kind::Boolean => "BOOLEAN",
            Kind::Integer { .. } => "BIGINT",
            Kind::Unsigned { .. } => "BIGINT UNSIGNED",
            Kind::Double { .. } => "DOUBLE",
            Kind::Enum(_) | Kind::Charset | Kind::Collation | Kind::Locale => "ENUM",
            Kind::Set(_) | Kind::SqlMode => "SET",
            Kind::Flags(_) => "FLAGSET",
            Kind::Text | Kind::TimeZone => "VARCHAR",
        }
    }
}
