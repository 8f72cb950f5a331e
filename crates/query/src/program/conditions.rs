//! Conditions of a program: what its statements raise, in the form in which handlers are found, and what its handlers
//! see.

use paceline_expression::session::{DiagnosticsMark, Level, SessionContext};
use paceline_program::{RaisedCondition, RaisedLevel, Run};
use paceline_syntax::Error;
use paceline_types::error_code::*;
use paceline_types::{ErrorCode, SignalledCondition};
use std::sync::Arc;

/// Converts an error to the form that programs use.
pub fn raised_of(error: &Error) -> RaisedCondition {
    const FATAL: [ErrorCode; 5] = [
        ER_QUERY_INTERRUPTED,
        ER_CONNECTION_KILLED,
        ER_SERVER_SHUTDOWN,
        ER_STATEMENT_TIMEOUT,
        ER_OUT_OF_RESOURCES,
    ];
    RaisedCondition {
        level: match FATAL.contains(&error.code()) {
            true => RaisedLevel::Fatal,
            false => RaisedLevel::Error,
        },
        code: error.code().number(),
        sqlstate: error.sqlstate().to_owned(),
        message: error.message().to_owned(),
    }
}

/// Converts an error of a program itself, for which there was no handler.
pub fn error_of(raised: RaisedCondition) -> Error {
    let code = ErrorCode::from_number(raised.code);
    let error = Error::with_message(code, raised.message);
    match raised.sqlstate == code.sqlstate() {
        true => error,
        false => error.signalled(Arc::new(SignalledCondition {
            sqlstate: raised.sqlstate,
            items: Vec::new(),
        })),
    }
}

/// Returns the warnings of the last statement.
pub fn warnings(session: &SessionContext) -> Vec<RaisedCondition> {
    let raised = session.diagnostics.raised().iter();
    raised
        .filter(|condition| condition.level != Level::Error)
        .map(|condition| RaisedCondition {
            level: RaisedLevel::Warning,
            code: condition.code.number(),
            sqlstate: condition.sqlstate().to_owned(),
            message: condition.message.clone(),
        })
        .collect()
}

/// State of the condition handling of a running program.
#[derive(Default)]
pub struct Handling {
    /// The last error for which a handler was found.
    caught: Option<Error>,
    was_handling: bool,
    /// The conditions that the running handler has found.
    found: Option<DiagnosticsMark>,
}

impl Handling {
    /// Records an error for which a handler was found: the handler finds it among the conditions.
    pub fn catch(&mut self, error: Error, session: &mut SessionContext) {
        session.diagnostics.push_error(&error);
        session.row_count = -1;
        self.caught = Some(error);
        self.was_handling = true;
        // Another handler begins, perhaps before the last one's end was seen.
        self.found = None;
    }

    /// To be called at the end: a handler that has run last has dealt with its condition.
    pub fn end(&mut self, session: &mut SessionContext) {
        if self.was_handling {
            self.leave_handler(session);
        }
    }

    /// Removes the conditions that a handler has found. Those that it has raised itself stay.
    fn leave_handler(&mut self, session: &mut SessionContext) {
        match self.found.take() {
            Some(found) => session.diagnostics.remove_present(found),
            None => session.diagnostics.clear(session.settings.max_error_count),
        }
    }

    /// To be called before each step: stores the condition that is being handled, for RESIGNAL, and removes the
    /// conditions that a handler which has ended had found. A handler finds an error of the program itself alone.
    pub fn before_step(&mut self, run: &mut Run<'_>, session: &mut SessionContext) {
        if let Some(raised) = run.take_raised() {
            session.diagnostics.begin(session.settings.max_error_count);
            self.catch(error_of(raised), session);
        }
        let handled = run.handled();
        match handled.is_some() {
            true if self.found.is_none() => self.found = Some(session.diagnostics.mark_present()),
            false if self.was_handling => self.leave_handler(session),
            _ => {}
        }
        self.was_handling = handled.is_some();
        session.handled_condition = handled.map(|raised| {
            let is_meant =
                |error: &Error| error.code().number() == raised.code && error.message() == raised.message;
            // The error of a statement also has the items of its SIGNAL.
            Box::new(match &self.caught {
                Some(error) if is_meant(error) => error.clone(),
                _ => error_of(raised.clone()),
            })
        });
    }
}
