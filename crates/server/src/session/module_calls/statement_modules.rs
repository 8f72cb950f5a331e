//! Instances of a statement, and calls.

use super::CallContext;
use super::call_tables::CallTables;
use crate::session::services::{SessionServices, apart};
use paceline_catalog::{RoutineDefinition, RoutineModule};
use paceline_expression::session::{MemoryCharge, SessionContext};
use paceline_syntax::{Error, Result};
use paceline_types::error_code::{ER_SIGNAL_EXCEPTION, ER_STATEMENT_TIMEOUT, ER_UNKNOWN_ERROR};
use paceline_types::{Value, text};
use paceline_wasm_functions::{Argument, CallError, CallHost, HostError, Instance, Output, ValueKind};
use parking_lot::Mutex;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// Instances of the modules that a statement calls, by database and name of their function.
#[derive(Default)]
pub struct StatementModules(Mutex<HashMap<String, Instance>>);

/// Ends a call when the session is killed or its statement's time is over. The memory is the session's.
struct StatementHost {
    services: Arc<SessionServices>,
    memory: MemoryCharge,
}

impl CallHost for StatementHost {
    fn interruption(&self) -> Option<HostError> {
        self.services.check_running().err().map(HostError::from)
    }

    fn charge(&mut self, bytes: usize) -> Result<(), HostError> {
        self.memory.set(bytes).map_err(HostError::from)
    }
}

impl StatementModules {
    /// Calls a function, whose arguments have the types of its parameters. Runs apart from the worker.
    ///
    /// # Errors
    /// 1123 if the module cannot be used; 1644 with the function's own message; 1105 for a trap or a wrong use of the
    /// interface; 1969 if the call takes too long; errors of the tables that it reads.
    pub fn call(
        &self,
        routine: &RoutineDefinition,
        module: &RoutineModule,
        arguments: &[Value],
        context: CallContext<'_>,
    ) -> Result<Value> {
        let (services, session) = (context.services, context.session);
        apart(|| {
            // Not in the map while it runs: a failed instance is used no more.
            let known = self.0.lock().remove(routine.full_name());
            let mut instance = match known {
                Some(instance) => instance,
                None => {
                    let server = &services.server;
                    let module = server.modules.get(routine, module, &server.globals)?;
                    let host = StatementHost {
                        services: services.clone(),
                        memory: MemoryCharge::new(&session.memory),
                    };
                    Instance::new(&module, Box::new(host)).map_err(|error| failure(routine, error))?
                }
            };
            let kinds = instance.signature().parameters.clone();
            let texts: Vec<_> = arguments
                .iter()
                .zip(&kinds)
                .map(|(value, kind)| match kind {
                    ValueKind::Text => text_of(value, session),
                    ValueKind::Integer | ValueKind::Real => Cow::Borrowed(&[][..]),
                })
                .collect();
            let arguments: Vec<_> = arguments
                .iter()
                .zip(&texts)
                .map(|(value, text)| argument(value, text))
                .collect();
            let mut tables = CallTables::new(context, &routine.database);
            let value = instance
                .call(&arguments, Some(&mut tables))
                .map_err(|error| failure(routine, error))?;
            self.0.lock().insert(routine.full_name().to_owned(), instance);
            Ok(match value {
                Output::Null => Value::Null,
                Output::Integer(number) => match routine.returns.ends_with("unsigned") {
                    true => Value::UInt(number as u64),
                    false => Value::Int(number),
                },
                Output::Real(number) if number.is_finite() => Value::Double(number),
                Output::Real(_) => Value::Null,
                Output::Text(bytes) => match String::from_utf8(bytes) {
                    Ok(text) => Value::Text(text),
                    Err(error) => Value::Bytes(error.into_bytes()),
                },
            })
        })
    }
}

fn text_of<'v>(value: &'v Value, session: &SessionContext) -> Cow<'v, [u8]> {
    match value {
        Value::Null => Cow::Borrowed(&[]),
        Value::Text(text) => Cow::Borrowed(text.as_bytes()),
        Value::Bytes(bytes) => Cow::Borrowed(bytes),
        other => {
            let mut bytes = Vec::new();
            text::append_value(&other.as_ref(), &session.settings.time_zone, &mut bytes);
            Cow::Owned(bytes)
        }
    }
}

fn argument<'v>(value: &Value, text: &'v [u8]) -> Argument<'v> {
    match value {
        Value::Null => Argument::Null,
        Value::Int(number) => Argument::Integer(*number),
        Value::UInt(number) => Argument::Integer(*number as i64),
        Value::Year(year) => Argument::Integer(i64::from(*year)),
        Value::Float(number) => Argument::Real(f64::from(*number)),
        Value::Double(number) => Argument::Real(*number),
        _ => Argument::Text(text),
    }
}

fn failure(routine: &RoutineDefinition, error: CallError) -> Error {
    match error {
        CallError::Host(error) => match error.downcast::<Error>() {
            Ok(error) => *error,
            Err(error) => Error::with_message(ER_UNKNOWN_ERROR, error.to_string()),
        },
        CallError::Failed(message) => Error::with_message(ER_SIGNAL_EXCEPTION, message),
        CallError::TimeLimit(_) => Error::with_message(
            ER_STATEMENT_TIMEOUT,
            format!("Function {}: {error}", routine.full_name()),
        ),
        CallError::Trap(_) | CallError::Misuse(_) => Error::with_message(
            ER_UNKNOWN_ERROR,
            format!("Function {}: {error}", routine.full_name()),
        ),
    }
}
