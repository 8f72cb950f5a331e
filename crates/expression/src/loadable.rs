//! Calls of loadable functions: of libraries, created by `CREATE FUNCTION … SONAME`.
//!
//! The type of such a call is known only after the library's init function has seen the arguments, so it runs while the
//! call is bound. The call that it has begun is the one of the first execution:
//!
//! ```text
//!   bind      LoadableCall { function, names of the arguments, begun ─┐ }
//!   execute   EvalState.loadable[id]  ◀── begun, or begun again ◀─────┘     f, f, f … for the rows
//!             end of the execution: dropped                                 f_deinit
//! ```
//! A call begins again at the next execution of a prepared statement, and at its first one if an argument's value was
//! not known when it was bound (a parameter, a user variable, a subquery): the init function must see constants. Then
//! the init function's refusal counts only at the execution.
//!
//! MariaDB calls an aggregate's functions for one group after the other, because it sorts. Here groups can be open at
//! the same time. The first one gets the call; the rows of the others are collected, and given to the function when
//! their group is complete ([`GroupCall`]).

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use paceline_native_functions::{
    Argument, ArgumentDescription, ArgumentType, NativeCall, NativeFunction, NativeValue, ResultDescription,
    ResultType,
};
use paceline_types::decimal::Rounding;
use paceline_types::error_code::{
    ER_CANT_FIND_UDF, ER_CANT_INITIALIZE_UDF, ER_WARN_ALLOWED_PACKET_OVERFLOWED,
};
use paceline_types::{DataType, Decimal, FixedPoint, FloatType, Value};

use crate::context::{EvalContext, EvalState};
use crate::error::Result;
use crate::errors;
use crate::eval::convert;
use crate::expr_type::{Class, Coercibility, ExprType, NOT_FIXED_DECIMALS};
use crate::session::{Services, SessionContext};
use crate::tree::{
    Aggregate, Args, Call, Expr, ExprKind, Function, LoadableCall, MANY, Stability, steady, volatile,
};

static CONSTANT: Function = steady("loadable function", (0, MANY), cannot_bind, evaluate)
    .without_own_text()
    .depending_on_server();
static CHANGING: Function = volatile("loadable function", (0, MANY), cannot_bind, evaluate)
    .without_own_text()
    .depending_on_server();

fn cannot_bind(_: &mut crate::tree::BindCall<'_>) -> Result<ExprType> {
    Err(errors::not_supported("loadable functions here"))
}

impl LoadableCall {
    /// Returns the call for an execution: the one that has begun, or another one.
    fn begin(&self, args: &[Expr], row: &[Value], context: &mut EvalContext<'_>) -> Result<NativeCall> {
        let functions = context.session.services.functions.clone();
        let function = functions.loadable_function(self.name())?;
        let replaced = |function: &Arc<NativeFunction>| {
            function.returns() != self.function.returns() || function.kind() != self.function.kind()
        };
        // Dropped, or replaced by a function whose values have another type, since the call was bound.
        let Some(function) = function.filter(|function| !replaced(function)) else {
            return Err(errors::error(ER_CANT_FIND_UDF, &[&self.name()]));
        };
        if Arc::ptr_eq(&function, &self.function)
            && let Some(begun) = self.begun.lock().take()
        {
            return Ok(begun);
        }
        let mut constants = Vec::with_capacity(args.len());
        for arg in args {
            constants.push(match arg.is_constant_during_execution() {
                true => Some(arg.eval(row, context)?),
                false => None,
            });
        }
        let mut begun = Err(String::new());
        let descriptions = descriptions(args, &self.argument_names, &constants, context)?;
        let result = default_result(function.returns(), args);
        functions.run_native(&mut || begun = NativeCall::begin(&function, &descriptions, result));
        begun.map_err(|message| errors::error(ER_CANT_INITIALIZE_UDF, &[&self.name(), &message]))
    }

    /// Takes the call out of the state of the execution. `None` while another group has it.
    fn take(
        &self,
        args: &[Expr],
        row: &[Value],
        context: &mut EvalContext<'_>,
    ) -> Result<Option<NativeCall>> {
        if let Entry::Occupied(mut known) = context.state.loadable.entry(self.id) {
            return Ok(known.get_mut().take());
        }
        let call = self.begin(args, row, context)?;
        context.state.loadable.insert(self.id, None);
        Ok(Some(call))
    }

    fn give_back(&self, call: NativeCall, state: &mut EvalState) {
        state.loadable.insert(self.id, Some(call));
    }
}

/// A bound call, with the type of its value.
pub(crate) struct BoundCall {
    pub call: Arc<LoadableCall>,
    pub ty: ExprType,
    stability: Stability,
}

/// Binds a call: begins it, to find out its type.
///
/// # Errors
/// 1123 if the init function refuses the arguments.
pub(crate) fn bind(
    function: &Arc<NativeFunction>,
    argument_names: Vec<String>,
    args: &[Expr],
    session: &SessionContext,
) -> Result<BoundCall> {
    let mut scratch =
        SessionContext::charged_to(session.memory.clone(), session.connection_id, Services::default());
    scratch.settings = session.settings.clone();
    scratch.statement = session.statement.clone();
    let mut state = EvalState::new();
    let mut context = EvalContext::new(&mut scratch, &mut state);
    let mut is_complete = true;
    let mut constants = Vec::with_capacity(args.len());
    for arg in args {
        constants.push(match &arg.kind {
            _ if !arg.is_constant_during_execution() => None,
            _ if is_known(arg) => Some(arg.eval(&[], &mut context)?),
            _ => {
                is_complete = false;
                None
            }
        });
    }
    let result = default_result(function.returns(), args);
    let descriptions = descriptions(args, &argument_names, &constants, &mut context)?;
    let mut begun = Err(String::new());
    let functions = &session.services.functions;
    functions.run_native(&mut || begun = NativeCall::begin(function, &descriptions, result));
    let (begun, described) = match begun {
        Ok(call) => {
            let described = call.result();
            (is_complete.then_some(call), described)
        }
        // It may accept the arguments when it sees all constants.
        Err(_) if !is_complete => (
            None,
            ResultDescription {
                maybe_null: true,
                ..result
            },
        ),
        Err(message) => {
            return Err(errors::error(
                ER_CANT_INITIALIZE_UDF,
                &[&function.name(), &message],
            ));
        }
    };
    Ok(BoundCall {
        call: Arc::new(LoadableCall::new(function, argument_names, begun)),
        ty: value_type(function.returns(), described),
        stability: match result.is_constant && !described.is_constant {
            true => Stability::Volatile,
            false => Stability::Execution,
        },
    })
}

impl BoundCall {
    /// Returns the call as an expression.
    pub fn into_expr(self, args: Vec<Expr>) -> Expr {
        let call = Call {
            function: match self.stability {
                Stability::Volatile => &CHANGING,
                _ => &CONSTANT,
            },
            args,
            id: self.call.id,
            compared: None,
            stored: None,
            loadable: Some(self.call),
        };
        Expr {
            kind: ExprKind::Call(Box::new(call)),
            ty: self.ty,
        }
    }
}

/// Returns whether the value of a constant is known while it is bound.
fn is_known(arg: &Expr) -> bool {
    !arg.any(&mut |node| match &node.kind {
        ExprKind::Parameter(_) | ExprKind::UserVariable(_) | ExprKind::SystemVariable { .. } => true,
        ExprKind::Call(call) => call.function.stability != Stability::Pure,
        _ => node.subquery().is_some(),
    })
}

/// Returns what MariaDB's server proposes to the init function.
fn default_result(returns: ResultType, args: &[Expr]) -> ResultDescription {
    let decimals = args
        .iter()
        .map(|arg| arg.ty.decimals().min(NOT_FIXED_DECIMALS))
        .max()
        .unwrap_or(0);
    let number_length = match decimals {
        NOT_FIXED_DECIMALS => 23,
        decimals => 17 + u64::from(decimals),
    };
    ResultDescription {
        maybe_null: args.iter().any(|arg| arg.ty.nullable),
        decimals: match returns {
            ResultType::Real | ResultType::Decimal => u32::from(decimals),
            ResultType::Text | ResultType::Integer => 0,
        },
        length_max: match returns {
            ResultType::Text => args.iter().map(length_max).max().unwrap_or(0),
            ResultType::Integer => 21,
            ResultType::Real | ResultType::Decimal => number_length,
        },
        is_constant: args.iter().all(Expr::is_constant_during_execution),
    }
}

/// Returns the maximum length of an argument as text, in bytes.
fn length_max(arg: &Expr) -> u64 {
    match arg.ty.is_null() {
        true => 0,
        false => arg.ty.max_bytes(),
    }
}

fn value_type(returns: ResultType, described: ResultDescription) -> ExprType {
    let decimals = described.decimals.min(u32::from(NOT_FIXED_DECIMALS)) as u8;
    let ty = match returns {
        ResultType::Text => ExprType::bytes(described.length_max.min(16_777_215)),
        ResultType::Integer => ExprType::bigint(20),
        ResultType::Real => ExprType::new(DataType::Double(FloatType {
            fixed: (decimals < NOT_FIXED_DECIMALS).then_some(FixedPoint {
                precision: 53,
                scale: decimals,
            }),
            ..FloatType::default()
        })),
        ResultType::Decimal => {
            // The length has room for a sign and a point.
            let scale = u32::from(decimals.min(38));
            let digits = described.length_max.saturating_sub(1 + u64::from(scale > 0));
            ExprType::decimal(digits.clamp(u64::from(scale).max(1), 65) as u32, scale)
        }
    };
    ty.with_nullable(described.maybe_null)
        .with_coercibility(Coercibility::Coercible)
}

fn argument_type(ty: &ExprType) -> ArgumentType {
    match ty.class() {
        Class::Int => ArgumentType::Integer,
        Class::Double => ArgumentType::Real,
        Class::Decimal => ArgumentType::Decimal,
        _ => match ty.data_type {
            DataType::Bit { .. } => ArgumentType::Integer,
            _ => ArgumentType::Text,
        },
    }
}

fn descriptions<'v>(
    args: &[Expr],
    names: &[String],
    constants: &'v [Option<Value>],
    context: &mut EvalContext<'_>,
) -> Result<Vec<ArgumentDescription<'v>>> {
    let mut descriptions = Vec::with_capacity(args.len());
    for ((arg, name), constant) in args.iter().zip(names).zip(constants) {
        let argument_type = argument_type(&arg.ty);
        descriptions.push(ArgumentDescription {
            name: name.clone(),
            argument_type,
            length_max: length_max(arg),
            maybe_null: arg.ty.nullable,
            constant: match constant {
                Some(value) => Some(argument(value, &arg.ty, Some(argument_type), context)?),
                None => None,
            },
        });
    }
    Ok(descriptions)
}

/// Converts a value to the type in which the function wants it.
fn argument<'v>(
    value: &'v Value,
    ty: &ExprType,
    wanted: Option<ArgumentType>,
    context: &mut EvalContext<'_>,
) -> Result<Argument<'v>> {
    Ok(match (wanted, value) {
        (None, _) | (_, Value::Null) => Argument::Null,
        (Some(ArgumentType::Integer), Value::Int(number)) => Argument::Integer(*number),
        (Some(ArgumentType::Integer), value) => Argument::Integer(convert::to_i64(value, context)?),
        (Some(ArgumentType::Real), value) => Argument::Real(convert::to_double(value, context)?),
        (Some(ArgumentType::Text | ArgumentType::Decimal), Value::Bytes(bytes)) => {
            Argument::Bytes(Cow::Borrowed(bytes))
        }
        (Some(ArgumentType::Text | ArgumentType::Decimal), value) => {
            Argument::Bytes(Cow::Owned(convert::bytes_of_type(value, ty, context)))
        }
    })
}

fn arguments<'v>(
    call: &NativeCall,
    args: &[Expr],
    values: &'v [Value],
    context: &mut EvalContext<'_>,
) -> Result<Vec<Argument<'v>>> {
    let mut arguments = Vec::with_capacity(args.len());
    for (index, (arg, value)) in args.iter().zip(values).enumerate() {
        arguments.push(argument(value, &arg.ty, call.argument_type(index), context)?);
    }
    Ok(arguments)
}

/// Returns the value of a function as one of its type.
fn value_of(
    name: &str,
    value: NativeValue<'_>,
    ty: &ExprType,
    context: &mut EvalContext<'_>,
) -> Result<Value> {
    Ok(match value {
        NativeValue::Null => Value::Null,
        NativeValue::Integer(number) => Value::Int(number),
        NativeValue::Real(number) if !number.is_finite() => Value::Null,
        NativeValue::Real(number) => Value::Double(number),
        NativeValue::Bytes(bytes) if ty.class() == Class::Decimal => {
            let text = Value::Text(String::from_utf8_lossy(bytes).into_owned());
            let number: Decimal = convert::to_decimal(&text, context)?;
            Value::Decimal(number.round(i32::from(ty.decimals()), Rounding::HalfUp))
        }
        NativeValue::Bytes(bytes) => {
            let most = context.session.settings.max_allowed_packet;
            if bytes.len() > most {
                let message = ER_WARN_ALLOWED_PACKET_OVERFLOWED.message(&[&name, &most]);
                context.warn(ER_WARN_ALLOWED_PACKET_OVERFLOWED, message)?;
                return Ok(Value::Null);
            }
            Value::Bytes(bytes.to_vec())
        }
    })
}

/// Evaluates a call for a row.
fn evaluate(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let Some(loadable) = &args.call.loadable else {
        return Err(errors::not_supported("loadable functions here"));
    };
    let exprs = &args.call.args;
    let mut values = Vec::with_capacity(exprs.len());
    for index in 0..exprs.len() {
        values.push(args.value(index, context)?.into_owned());
    }
    let call = loadable.take(exprs, args.frame.row, context)?;
    // Only an aggregate's call can be with another group.
    let Some(mut call) = call else {
        return Err(errors::not_supported("loadable functions here"));
    };
    let arguments = arguments(&call, exprs, &values, context)?;
    let functions = context.session.services.functions.clone();
    functions.run_native(&mut || call.call(&arguments));
    let value = value_of(loadable.name(), call.value(), args.ty, context)?;
    loadable.give_back(call, context.state);
    functions.check_interrupt(context.session)?;
    Ok(value)
}

/// A call of an aggregate for one group, or for the frames of a window.
#[derive(Debug, Default)]
pub struct GroupCall {
    /// The call, if this group has it.
    call: Option<NativeCall>,
    /// Rows of a group that waits for the call.
    rows: Vec<Vec<Value>>,
    has_begun: bool,
}

/// Whether a row enters or leaves a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Add,
    Remove,
}

impl GroupCall {
    /// Creates the call of a group without rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns whether rows can be removed from a group.
    pub fn can_remove(aggregate: &Aggregate) -> bool {
        aggregate
            .loadable
            .as_ref()
            .is_some_and(|loadable| loadable.function.can_remove())
    }

    /// Adds a row with these values of the arguments. Returns the memory that it takes, in bytes.
    ///
    /// # Errors
    /// 1122, 1123; errors of conversions; 1317.
    pub fn add(
        &mut self,
        aggregate: &Aggregate,
        values: Vec<Value>,
        context: &mut EvalContext<'_>,
    ) -> Result<usize> {
        self.begin(aggregate, context)?;
        if self.call.is_some() {
            self.change(aggregate, &values, Change::Add, context)?;
            return Ok(0);
        }
        let bytes = values.iter().map(Value::memory_bytes).sum::<usize>();
        self.rows.push(values);
        Ok(size_of::<Vec<Value>>() + bytes)
    }

    /// Removes a row with these values of the arguments.
    ///
    /// # Errors
    /// As [`GroupCall::add`].
    pub fn remove(
        &mut self,
        aggregate: &Aggregate,
        values: &[Value],
        context: &mut EvalContext<'_>,
    ) -> Result<()> {
        self.begin(aggregate, context)?;
        self.change(aggregate, values, Change::Remove, context)
    }

    /// Begins the group again, without rows.
    pub fn clear(&mut self) {
        self.rows.clear();
        if let Some(call) = &mut self.call {
            call.clear();
        }
    }

    fn begin(&mut self, aggregate: &Aggregate, context: &mut EvalContext<'_>) -> Result<()> {
        if !std::mem::replace(&mut self.has_begun, true)
            && let Some(loadable) = &aggregate.loadable
        {
            self.call = loadable.take(&aggregate.args, &[], context)?;
            if let Some(call) = &mut self.call {
                call.clear();
            }
        }
        Ok(())
    }

    fn change(
        &mut self,
        aggregate: &Aggregate,
        values: &[Value],
        change: Change,
        context: &mut EvalContext<'_>,
    ) -> Result<()> {
        let Some(call) = &mut self.call else {
            return Ok(());
        };
        let arguments = arguments(call, &aggregate.args, values, context)?;
        let functions = context.session.services.functions.clone();
        functions.run_native(&mut || match change {
            Change::Add => call.add(&arguments),
            Change::Remove => call.remove(&arguments),
        });
        functions.check_interrupt(context.session)
    }

    /// Returns the value of the group. Further rows may follow.
    ///
    /// # Errors
    /// As [`GroupCall::add`].
    pub fn value(&mut self, aggregate: &Aggregate, context: &mut EvalContext<'_>) -> Result<Value> {
        let Some(loadable) = &aggregate.loadable else {
            return Err(errors::not_supported("loadable functions here"));
        };
        self.begin(aggregate, context)?;
        if self.call.is_none() {
            // Another group has the call, or had it when this one began.
            let mut call = match loadable.take(&aggregate.args, &[], context)? {
                Some(call) => call,
                None => loadable.begin(&aggregate.args, &[], context)?,
            };
            call.clear();
            self.call = Some(call);
            for values in std::mem::take(&mut self.rows) {
                self.change(aggregate, &values, Change::Add, context)?;
            }
        }
        let Some(call) = &mut self.call else {
            return Ok(Value::Null);
        };
        let functions = context.session.services.functions.clone();
        functions.run_native(&mut || call.compute());
        value_of(loadable.name(), call.value(), &aggregate.ty, context)
    }

    /// Returns the value of the group and ends it: another group can have the call.
    ///
    /// # Errors
    /// As [`GroupCall::add`].
    pub(crate) fn finish(&mut self, aggregate: &Aggregate, context: &mut EvalContext<'_>) -> Result<Value> {
        let value = self.value(aggregate, context)?;
        self.end(aggregate, context);
        Ok(value)
    }

    /// Ends the group: another one can have the call.
    pub fn end(&mut self, aggregate: &Aggregate, context: &mut EvalContext<'_>) {
        if let (Some(call), Some(loadable)) = (self.call.take(), &aggregate.loadable) {
            loadable.give_back(call, context.state);
        }
        self.has_begun = false;
    }
}
