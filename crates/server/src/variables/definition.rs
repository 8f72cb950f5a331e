//! Definition of a system variable: scope, access, and valid values.

use super::table::Variable;
use super::value::VariableValue;

/// Scope of a variable's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// One value for the whole server.
    Global,
    /// One value per session, and a global one for new sessions.
    Both,
    /// One value per session, no global one.
    SessionOnly,
}

/// Whether a variable can be set while the server is running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It can be set by `SET`.
    Dynamic,
    /// It can only be set at startup, or not at all.
    Fixed,
}

/// Kind of a variable's values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// ON or OFF.
    Boolean,
    /// Signed integer.
    Integer {
        /// Minimum value.
        min: i64,
        /// Maximum value.
        max: i64,
    },
    /// Unsigned integer.
    Unsigned {
        /// Minimum value.
        min: u64,
        /// Maximum value.
        max: u64,
        /// Values are rounded down to multiples of this.
        block: u64,
    },
    /// Number with a fraction, shown with six decimals.
    Double {
        /// Minimum value.
        min: f64,
        /// Maximum value.
        max: f64,
    },
    /// One of these words, or its index.
    Enum(&'static [&'static str]),
    /// Some of these words separated by commas, or a bit mask.
    Set(&'static [&'static str]),
    /// Each of these with `=on` or `=off`.
    Flags(&'static [&'static str]),
    /// String, or NULL if the default is NULL.
    Text,
    /// Character set's name, or a collation's id.
    Charset,
    /// Collation's name or id.
    Collation,
    /// Locale of messages; only `en_US` is supported.
    Locale,
    /// Locale's name or number.
    TimeLocale,
    /// Value of `sql_mode`.
    SqlMode,
    /// Value of `time_zone`.
    TimeZone,
}

/// Whether a variable affects the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// As in MariaDB, or as described in docs/variables.md.
    Full,
    /// None: it tunes something that works without it. Assigning it causes a note.
    Tuning,
    /// None: its feature does not exist here. Assigning it causes a warning.
    Absent,
}

/// Exception that an entry of the table notes at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// [`Effect::Tuning`].
    Tuning,
    /// [`Effect::Absent`].
    Absent,
    /// [`Startup::NotAnOption`].
    NoOption,
}

/// Whether a variable can be chosen at startup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Startup {
    /// By the option of its name.
    Option,
    /// Not at all: it informs about the server or its state.
    NotAnOption,
}

/// Entry in the table of variables.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Definition {
    /// The variable.
    pub variable: Variable,
    /// Name in lower case.
    pub name: &'static str,
    /// Scope of its values.
    pub scope: Scope,
    /// Whether it can be set while the server is running.
    pub access: Access,
    /// Valid values.
    pub kind: Kind,
    /// Default as text; `None` is NULL.
    pub default: Option<&'static str>,
    /// Whether it affects the server.
    pub effect: Effect,
    /// Whether it can be chosen at startup.
    pub startup: Startup,
}

/// Creates an entry with full effect.
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
        startup: match scope {
            Scope::SessionOnly => Startup::NotAnOption,
            Scope::Global | Scope::Both => Startup::Option,
        },
    }
}

impl Definition {
    /// Returns the entry with an exception.
    pub const fn with(self, mark: Mark) -> Definition {
        match mark {
            Mark::Tuning => Definition {
                effect: Effect::Tuning,
                ..self
            },
            Mark::Absent => Definition {
                effect: Effect::Absent,
                ..self
            },
            Mark::NoOption => Definition {
                startup: Startup::NotAnOption,
                ..self
            },
        }
    }

    /// Returns the valid values in words.
    pub fn valid_values(&self) -> String {
        match self.kind {
            Kind::Boolean => "ON or OFF".to_owned(),
            Kind::Integer { min, max } => format!("{min} to {max}"),
            Kind::Unsigned { min, max, block: 1 } => format!("{min} to {max}"),
            Kind::Unsigned { min, max, block } => format!("{min} to {max} in steps of {block}"),
            Kind::Double { min, max } => format!("{min} to {max}"),
            Kind::Enum(words) => words.join(", "),
            Kind::Set(words) => format!("some of {}", words.join(",")),
            Kind::Flags(words) => format!("each with =on or =off: {}", words.join(",")),
            Kind::Text => "a text".to_owned(),
            Kind::Charset => "a character set".to_owned(),
            Kind::Collation => "a collation".to_owned(),
            Kind::Locale | Kind::TimeLocale => "a locale".to_owned(),
            Kind::SqlMode => "SQL modes separated by commas".to_owned(),
            Kind::TimeZone => "a time zone".to_owned(),
        }
    }

    /// Returns whether a variable without effect has another value than its default.
    pub fn is_without_effect(&self, setting: &VariableValue) -> bool {
        self.effect != Effect::Full && *setting != self.default_setting()
    }

    /// Returns the type's name in information_schema.SYSTEM_VARIABLES.
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
