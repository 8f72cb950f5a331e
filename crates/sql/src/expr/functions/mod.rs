//! Functions: one table entry each (name, how many arguments, how its type follows from theirs, how it is evaluated), grouped by
//! subject in the files of this folder.
//!
//! A function that MariaDB's grammar writes in a way of its own (`CAST`, `EXTRACT`, `TRIM(LEADING …)`) is brought to a call by the
//! binder. Units, regular expressions' flags and the like are constants among the arguments.

mod arguments;
mod compared;
mod control;
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
pub(crate) use json::{append_json_value, json_quote};
pub(crate) use number_arguments::{reads_number, reads_temporal, wants_whole_date};

use super::context::EvalContext;
use super::eval::Reading;
use super::expr_type::ExprType;
use super::tree::Expr;
use crate::error::Result;
use paceline_types::Value;

/// Whether a function gives the same result when it is called again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stability {
    /// The same arguments give the same result: folded at bind.
    Pure,
    /// The same throughout an execution: `NOW()`, `DATABASE()`.
    Execution,
    /// Another result, or an effect, at each call: `RAND()`, `SLEEP()`.
    Volatile,
}

impl Stability {
    /// Whether one evaluation serves a whole execution.
    pub const fn is_constant_during_execution(self) -> bool {
        matches!(self, Stability::Pure | Stability::Execution)
    }
}

/// How a call's type follows from its arguments; may convert them.
pub(crate) type BindFn = fn(&mut BindCall<'_>) -> Result<ExprType>;
/// How a call is evaluated.
pub(crate) type EvalFn = for<'a> fn(&Args<'a>, &mut EvalContext<'_>) -> Result<Value>;

/// A function of the table.
pub struct Function {
    /// Its name in lower case.
    pub name: &'static str,
    /// The fewest and the most arguments.
    pub(crate) arguments: (usize, usize),
    /// Whether it gives the same result when it is called again.
    pub stability: Stability,
    pub(crate) bind: BindFn,
    pub(crate) eval: EvalFn,
    /// What is called in its place where a number or a truth value is wanted.
    pub(crate) as_number: Option<&'static Function>,
    /// What is called in its place where a number or a date is wanted, of a function whose text is a date.
    pub(crate) as_temporal: Option<&'static Function>,
    /// What is called in its place where the result is compared with text.
    pub(crate) as_compared: Option<&'static Function>,
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// As many arguments as one likes.
const MANY: usize = usize::MAX;

/// A table entry of a pure function.
const fn pure(name: &'static str, arguments: (usize, usize), bind: BindFn, eval: EvalFn) -> Function {
    Function {
        name,
        arguments,
        stability: Stability::Pure,
        bind,
        eval,
        as_number: None,
        as_temporal: None,
        as_compared: None,
    }
}

/// A table entry of a function that is constant during an execution.
const fn steady(name: &'static str, arguments: (usize, usize), bind: BindFn, eval: EvalFn) -> Function {
    Function {
        name,
        arguments,
        stability: Stability::Execution,
        bind,
        eval,
        as_number: None,
        as_temporal: None,
        as_compared: None,
    }
}

/// A table entry of a function that is called each time.
const fn volatile(name: &'static str, arguments: (usize, usize), bind: BindFn, eval: EvalFn) -> Function {
    Function {
        name,
        arguments,
        stability: Stability::Volatile,
        bind,
        eval,
        as_number: None,
        as_temporal: None,
        as_compared: None,
    }
}

/// A call.
#[derive(Clone)]
pub struct Call {
    /// Which function.
    pub function: &'static Function,
    /// Its arguments.
    pub args: Vec<Expr>,
    /// Keys the state that the call keeps during an execution.
    pub id: u64,
    /// How NULLIF compares its first argument, where that is not as it returns it. It follows from the arguments.
    pub(crate) compared: Option<Box<Reading>>,
}

impl std::fmt::Debug for Call {
    /// Calls that give the same look the same, so that GROUP BY finds its keys; each call of RAND() is its own.
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
    /// What is called for a date or a time.
    pub(crate) fn temporal_function(&self) -> &'static Function {
        self.function.as_temporal.unwrap_or(self.function)
    }

    /// Whether a number or a truth value is asked of another function.
    pub(crate) fn has_number_function(&self) -> bool {
        !std::ptr::eq(self.function, self.number_function())
    }

    /// What is called for a number or a truth value.
    pub(crate) fn number_function(&self) -> &'static Function {
        self.function
            .as_number
            .or(self.function.as_temporal)
            .unwrap_or(self.function)
    }
}

/// The function of that name (lower case).
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
