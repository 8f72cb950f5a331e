//! Declaration of a statistic: name, kind, unit and help. [`crate::metrics`] has all of them and their values.

/// Kind of a statistic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It only increases, until the server ends or FLUSH STATUS.
    Counter,
    /// It goes up and down.
    Gauge,
    /// Distribution of values since the start of the server.
    Histogram,
    /// A text, which is no number.
    Text,
}

impl Kind {
    /// Returns the name for users.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
            Kind::Text => "text",
        }
    }
}

/// Unit of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A number of things.
    Count,
    /// Bytes.
    Bytes,
    /// Seconds.
    Seconds,
    /// Seconds with six decimals; the number is in microseconds.
    FractionalSeconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// ON or OFF; 1 or 0 where only numbers are possible.
    Switch,
    /// No unit: a text.
    None,
}

impl Unit {
    /// Returns the name for users.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Count => "count",
            Unit::Bytes => "bytes",
            Unit::Seconds | Unit::FractionalSeconds => "seconds",
            Unit::Milliseconds => "milliseconds",
            Unit::Microseconds => "microseconds",
            Unit::Switch => "switch",
            Unit::None => "",
        }
    }
}

/// Declaration of a statistic.
#[derive(Debug, Clone, Copy)]
pub struct Statistic {
    /// Name in SHOW STATUS; for a histogram the beginning of several names there.
    pub name: &'static str,
    /// Its kind.
    pub kind: Kind,
    /// Its unit.
    pub unit: Unit,
    /// Description in one sentence.
    pub help: &'static str,
}

/// A value as SHOW STATUS shows it.
pub struct ShownStatistic {
    /// Name of the value: that of the statistic, with an ending for a part of a histogram.
    pub name: String,
    /// Text of the value.
    pub value: String,
    /// The declaration.
    pub statistic: Statistic,
}
