//! Bulk execution: one statement for several sets of parameters.
//!
//! INSERT and REPLACE take the sets one after the other and are one statement: they fail as a whole, and count the rows
//! of all sets. A parameter may have no value but an [`Indicator`]: the column's default. That is possible only where
//! `DEFAULT` could stand instead of the `?`.

use paceline_expression::session::Diagnostics;
use paceline_types::Value;

use crate::error::Result;

/// Presence of a parameter's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Indicator {
    /// It has a value, perhaps NULL.
    Value,
    /// The default of the column that it is assigned to.
    Default,
    /// An UPDATE leaves the column as it is; an INSERT takes its default.
    Ignore,
}

/// Values of one set of parameters.
#[derive(Debug, Clone, Copy)]
pub struct ParameterSet<'s> {
    /// A value for each parameter; NULL if there is none.
    pub values: &'s [Value],
    /// An indicator for each parameter.
    pub indicators: &'s [Indicator],
}

/// Sets of parameters, of which one is the current one. At first it is the first one.
pub trait ParameterSets: Send {
    /// Returns the current set.
    fn current(&self) -> ParameterSet<'_>;

    /// Makes the next set the current one. Returns false if there is none.
    ///
    /// # Errors
    /// If the client's data is malformed, an indicator is where no default is possible, or a date is refused.
    fn advance(&mut self, impossible: ImpossibleDates<'_>) -> Result<bool>;
}

/// Treatment of impossible dates and times among the values of a set.
#[derive(Debug)]
pub enum ImpossibleDates<'d> {
    /// They are zero, with a warning.
    Warned(&'d mut Diagnostics),
    /// They are errors: 1292.
    Refused,
}
