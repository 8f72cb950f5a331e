//! Functions as calls name them: an entry of the function table, a call, and the forms in which binding and evaluation
//! see one.

use paceline_types::Value;

use super::{CastTarget, Expr};
use crate::context::EvalContext;
use crate::error::Result;
use crate::expr_type::ExprType;
use crate::function_id::StoredCall;
use crate::session::SessionContext;

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
    /// Whether a text that it returns is its own, rather than an argument, a date or a constant of the session.
    pub(crate) makes_text: bool,
    /// Whether the same call may have another result, or another effect, on another server.
    pub depends_on_server: bool,
}

impl Function {
    /// Marks a function that makes no text.
    pub(crate) const fn without_own_text(mut self) -> Self {
        self.makes_text = false;
        self
    }

    /// Marks a function whose result or effect depends on the server.
    pub(crate) const fn depending_on_server(mut self) -> Self {
        self.depends_on_server = true;
        self
    }
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// No maximum number of arguments.
pub(crate) const MANY: usize = usize::MAX;

const fn entry(
    name: &'static str,
    arguments: (usize, usize),
    stability: Stability,
    bind: BindFn,
    eval: EvalFn,
) -> Function {
    Function {
        name,
        arguments,
        stability,
        bind,
        eval,
        as_number: None,
        decimal_of_text: false,
        as_temporal: None,
        as_compared: None,
        makes_text: true,
        depends_on_server: false,
    }
}

/// Creates the entry of a pure function.
pub(crate) const fn pure(
    name: &'static str,
    arguments: (usize, usize),
    bind: BindFn,
    eval: EvalFn,
) -> Function {
    entry(name, arguments, Stability::Pure, bind, eval)
}

/// Creates the entry of a function that is constant during an execution.
pub(crate) const fn steady(
    name: &'static str,
    arguments: (usize, usize),
    bind: BindFn,
    eval: EvalFn,
) -> Function {
    entry(name, arguments, Stability::Execution, bind, eval)
}

/// Creates the entry of a function that is evaluated at each call.
pub(crate) const fn volatile(
    name: &'static str,
    arguments: (usize, usize),
    bind: BindFn,
    eval: EvalFn,
) -> Function {
    entry(name, arguments, Stability::Volatile, bind, eval)
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
    /// The stored function, if it is one.
    pub(crate) stored: Option<Box<StoredCall>>,
    /// The loadable function, if it is one.
    pub(crate) loadable: Option<std::sync::Arc<super::LoadableCall>>,
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

/// A call that is being bound.
pub(crate) struct BindCall<'b> {
    /// Name in lower case, for messages.
    pub name: &'b str,
    /// Name in its original spelling.
    pub written: &'b str,
    /// Arguments. A function may convert them.
    pub args: Vec<Expr>,
    /// Context of the session.
    pub session: &'b SessionContext,
    /// Function to call. A function may replace it by another one, depending on the argument types.
    pub function: &'static Function,
    /// Form in which the first argument is compared, if it differs from the returned form.
    pub compared: Option<Box<Reading>>,
}

/// A call that is being evaluated.
pub(crate) struct Args<'a> {
    pub call: &'a Call,
    /// Type of the result.
    pub ty: &'a ExprType,
    pub frame: Frame<'a>,
}

/// Source of the values that an evaluation borrows.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'a> {
    pub row: &'a [Value],
    pub parameters: &'a [Value],
}

/// Form in which an operand is compared, if it differs from the returned form.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    /// Function called instead of the operand's function.
    pub function: Option<&'static Function>,
    /// Target type of the conversion of the value.
    pub target: Option<CastTarget>,
    /// Whether a quotient is reduced to the digits that it shows.
    pub is_rounded: bool,
    /// The integer that a constant operand is compared as.
    pub constant: Option<Value>,
}
