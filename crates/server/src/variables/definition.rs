//! What a system variable is: where it lives, whether it can be set, and which values it takes.

use super::table::Variable;
use super::value::Setting;

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
    /// The locale of messages; only `en_US` is there.
    Locale,
    /// A locale's name or number.
    TimeLocale,
    /// `sql_mode`.
    SqlMode,
    /// `time_zone`.
    TimeZone,
}

/// Whether assigning a variable changes what the server does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// As in MariaDB, or as docs/variables.md says.
    Full,
    /// None: it sizes or steers something that works without it. Assigning it raises a note.
    Tuning,
    /// None: it belongs to something that is not here. Assigning it raises a warning.
    Absent,
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
    /// Whether assigning it changes anything.
    pub effect: Effect,
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
        effect: Effect::Full,
    }
}

impl Definition {
    /// The same row with another effect.
    pub const fn with(self, effect: Effect) -> Definition {
        Definition { effect, ..self }
    }

    /// Whether a value other than the default has been chosen for a variable that has no effect.
    pub fn is_without_effect(&self, setting: &Setting) -> bool {
        self.effect != Effect::Full && *setting != self.default_setting()
    }

    /// What information_schema.SYSTEM_VARIABLES calls its type.
    pub fn type_name(&self) -> &'static str {
        match self.kind {
            Kind::Boolean => "BOOLEAN",
            Kind::Integer { .. } => "BIGINT",
            Kind::Unsigned { .. } => "BIGINT UNSIGNED",
            Kind::Double { .. } => "DOUBLE",
            Kind::Enum(_) | Kind::Charset | Kind::Collation | Kind::Locale | Kind::TimeLocale => "ENUM",
            Kind::Set(_) | Kind::SqlMode => "SET",
            Kind::Flags(_) => "FLAGSET",
            Kind::Text | Kind::TimeZone => "VARCHAR",
        }
    }
}
