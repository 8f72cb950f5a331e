//! Functions: a table with one entry each (name, number of arguments, type of the result, evaluation), grouped by
//! subject in the files of this folder.
//!
//! The binder converts functions with their own grammar (`CAST`, `EXTRACT`, `TRIM(LEADING …)`) to calls. Units, flags
//! of regular expressions and the like are constants among the arguments.

mod arguments;
mod compared;
mod control;
mod converted;
mod digest;
mod info;
mod json;
mod network;
mod number_arguments;
mod numeric;
mod regexp;
mod string;
mod string_format;
mod temporal;
mod temporal_format;
mod temporal_number;
mod temporal_parts;
mod weight_string;

use std::collections::HashMap;
use std::sync::OnceLock;

pub(crate) use arguments::{Args, BindCall};
pub(crate) use compared::{
    COMPARED_DATETIME, COMPARED_DECIMAL, COMPARED_DOUBLE, COMPARED_TIME, LENIENT_DATETIME, LENIENT_TIME,
    listed,
};
pub(crate) use converted::CONVERTED_NUMBER;
pub(crate) use json::{append_json_value, json_quote};
pub(crate) use number_arguments::{reads_number, reads_temporal, wants_whole_date};

use super::context::EvalContext;
use super::eval::Reading;
use super::expr_type::ExprType;
use super::tree::Expr;
use crate::error::Result;
use paceline_types::Value;

/// Whether repeated calls have the same result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stability {
    /// The same arguments have the same result: folded when the call is bound.
    Pure,
    /// The same result during one execution: `NOW()`, `DATABASE()`.
    Execution,
    /// A new result, or an effect, at each call: `RAND()`, `SLEEP()`.
    Volatile,
}

impl Stability {
    /// Returns whether one evaluation is sufficient for a whole execution.
    pub const fn is_constant_during_execution(self) -> bool {
        matches!(self, Stability::Pure | Stability::Execution)
    }
}

/// Determines the type of a call from its arguments. May convert them.
pub(crate) type BindFn = fn(&mut BindCall<'_>) -> Result<ExprType>;
/// Evaluates a call.
pub(crate) type EvalFn = for<'a> fn(&Args<'a>, &mut EvalContext<'_>) -> Result<Value>;

/// Entry of the function table.
pub struct Function {
    /// Name in lower case.
    pub name: &'static str,
    /// Minimum and maximum number of arguments.
    pub(crate) arguments: (usize, usize),
    /// Whether repeated calls have the same result.
    pub stability: Stability,
    pub(crate) bind: BindFn,
    pub(crate) eval: EvalFn,
    /// Function called instead where a number or truth value is expected.
    pub(crate) as_number: Option<&'static Function>,
    /// Whether a decimal is read from the text, where other numbers come from `as_number`.
    pub(crate) decimal_of_text: bool,
    /// Function called instead where a number or date is expected, if the result is a date as text.
    pub(crate) as_temporal: Option<&'static Function>,
    /// Function called instead where the result is compared with text.
    pub(crate) as_compared: Option<&'static Function>,
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// No maximum number of arguments.
const MANY: usize = usize::MAX;

/// Creates the entry of a pure function.
const fn pure(name: &'static str, arguments: (usize, usize), bind: BindFn, eval: EvalFn) -> Function {
    Function {
        name,
        arguments,
        stability: Stability::Pure,
        bind,
        eval,
        as_number: None,
        decimal_of_text: false,
        as_temporal: None,
        as_compared: None,
    }
}

/// Creates the entry of a function that is constant during an execution.
const fn steady(name: &'static str, arguments: (usize, usize), bind: BindFn, eval: EvalFn) -> Function {
    Function {
        name,
        arguments,
        stability: Stability::Execution,
        bind,
        eval,
        as_number: None,
        decimal_of_text: false,
        as_temporal: None,
        as_compared: None,
    }
}

/// Creates the entry of a function that is evaluated at each call.
const fn volatile(name: &'static str, arguments: (usize, usize), bind: BindFn, eval: EvalFn) -> Function {
    Function {
        name,
        arguments,
        stability: Stability::Volatile,
        bind,
        eval,
        as_number: None,
        decimal_of_text: false,
        as_temporal: None,
        as_compared: None,
    }
}

/// A function call.
#[derive(Clone)]
pub struct Call {
    /// Function to call.
    pub function: &'static Function,
    /// Arguments of the call.
    pub args: Vec<Expr>,
    /// Key of the state that the call keeps during an execution.
    pub id: u64,
    /// Form in which NULLIF compares its first argument, if it differs from the returned form. It follows from the
    /// arguments.
    pub(crate) compared: Option<Box<Reading>>,
}

impl std::fmt::Debug for Call {
    /// Equal calls have equal output, so that GROUP BY finds its keys. Each call of RAND() is different.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut call = f.debug_struct("Call");
        call.field("name", &self.function)
            .field("function", &std::ptr::from_ref(self.function))
            .field("args", &self.args);
        if self.function.stability == Stability::Volatile {
            call.field("id", &self.id);
        }
        call.finish()
    }
}

impl Call {
    /// Returns the function to call where a date or time is expected.
    pub(crate) fn temporal_function(&self) -> &'static Function {
        self.function.as_temporal.unwrap_or(self.function)
    }

    /// Returns whether another function is called where a number or truth value is expected.
    pub(crate) fn has_number_function(&self) -> bool {
        !std::ptr::eq(self.function, self.number_function())
    }

    /// Returns the function to call where a decimal is expected.
    pub(crate) fn decimal_function(&self) -> &'static Function {
        match self.function.decimal_of_text {
            true => self.function,
            false => self.number_function(),
        }
    }

    /// Returns the function to call where a number or truth value is expected.
    pub(crate) fn number_function(&self) -> &'static Function {
        self.function
            .as_number
            .or(self.function.as_temporal)
            .unwrap_or(self.function)
    }
}

/// Looks up a function by its name in lower case.
pub(crate) fn find(name: &str) -> Option<&'static Function> {
    static BY_NAME: OnceLock<HashMap<&'static str, &'static Function>> = OnceLock::new();
    let by_name = BY_NAME.get_or_init(|| {
        let tables = [
            control::FUNCTIONS,
            digest::FUNCTIONS,
            info::FUNCTIONS,
            json::FUNCTIONS,
            network::FUNCTIONS,
            numeric::FUNCTIONS,
            regexp::FUNCTIONS,
            string::FUNCTIONS,
            string_format::FUNCTIONS,
            temporal::FUNCTIONS,
            temporal_format::FUNCTIONS,
            temporal_number::FUNCTIONS,
            temporal_parts::FUNCTIONS,
            weight_string::FUNCTIONS,
        ];
        tables
            .into_iter()
            .flatten()
            .map(|function| (function.name, function))
            .collect()
    });
    by_name.get(name).copied()
}
