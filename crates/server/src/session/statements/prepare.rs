//! PREPARE, EXECUTE, EXECUTE IMMEDIATE and DEALLOCATE PREPARE.

use super::dispatcher::Dispatcher;
use crate::session::execution::Execution;
use crate::session::named_statements::NamedStatement;
use crate::session::preparation::{Preparation, parse_to_prepare, plan_to_prepare};
use crate::session::protocol::{Connection, Reply};
use crate::session::services::on_text;
use crate::session::state::SessionState;
use paceline_expression::session::{SessionContext, Settings};
use paceline_query::program::{evaluate_typed, needs_plan};
use paceline_syntax::ast::Expr;
use paceline_syntax::{Error, OmittedValue, Result, Statement, text_of_client, with_omitted_values};
use paceline_types::error_code::*;
use paceline_types::{Charset, Value, text};
use std::borrow::Cow;
use std::sync::Arc;

/// USING of EXECUTE.
#[derive(Clone, Copy)]
pub struct Using<'u> {
    /// The values.
    pub values: &'u [Expr],
    /// Parameters without a value.
    pub omitted: &'u [(usize, OmittedValue)],
}

impl Using<'_> {
    /// Returns the statement without the parameters that have no value.
    ///
    /// # Errors
    /// 4032.
    fn applied_to(self, statement: Arc<Statement>) -> Result<Arc<Statement>> {
        match self.omitted {
            [] => Ok(statement),
            omitted => with_omitted_values(&statement, omitted).map(Arc::new),
        }
    }
}

/// Executes PREPARE name FROM text.
///
/// # Errors
/// The errors of parsing and planning the text.
pub fn prepare(name: &str, source: &Expr, parameters: &[Value], state: &mut SessionState) -> Result<Reply> {
    let key = name.to_lowercase();
    // Even a failed PREPARE drops the statement with this name.
    if state.prepared.statements.remove(&key).is_some() {
        state.shared.counters.com_stmt_close.add(1);
    }
    refuse_subqueries("PREPARE..FROM", source)?;
    let text = statement_text(source, parameters, &mut state.context)?;
    state.shared.counters.com_stmt_prepare.add(1);
    let Preparation {
        statement,
        text,
        parameters,
        memory,
    } = parse_to_prepare(text, state)?;
    on_text(text.len(), || plan_to_prepare(&statement, state))?;
    let prepared = NamedStatement {
        text,
        statement,
        parameters,
        database: state.context.database.clone(),
        _memory: memory,
    };
    state.prepared.statements.insert(key, prepared);
    state.tracking.note_state_change();
    Ok(Reply::with_info(0, "Statement prepared"))
}

/// Executes EXECUTE name USING …, and writes the reply of the prepared statement.
///
/// # Errors
/// 1243 for an unknown name; 1210 for another number of values; the errors of the statement.
pub async fn execute_named(
    name: &str,
    using: Using<'_>,
    state: &mut SessionState,
    connection: &mut Connection,
    execution: Execution<'_>,
    dispatcher: impl Dispatcher,
) -> Result<()> {
    let unknown = || Error::new(ER_UNKNOWN_STMT_HANDLER, &[&name, &"EXECUTE"]);
    let prepared = state.prepared.statements.get(&name.to_lowercase());
    let prepared = prepared.ok_or_else(unknown)?;
    state.shared.counters.com_stmt_execute.add(1);
    let (statement, text, count, database) = (
        prepared.statement.clone(),
        prepared.text.clone(),
        prepared.parameters,
        prepared.database.clone(),
    );
    let parameters = values_of(using.values, count, execution.parameters, &mut state.context)?;
    let statement = using.applied_to(statement)?;
    let left = state.enter_database(database.as_deref());
    let execution = Execution {
        text: &text,
        parameters: &parameters,
        using: using.values,
        ..execution
    };
    state.shared.commands_within.count(&statement);
    let outer = std::mem::take(&mut state.context.program_variables);
    let done = Box::pin(dispatcher.execute(&statement, state, connection, execution)).await;
    state.context.program_variables = outer;
    state.return_to_database(left);
    done
}

/// Executes EXECUTE IMMEDIATE text USING …, and writes the reply of the statement.
///
/// # Errors
/// The errors of parsing the text; 1210 for another number of values; the errors of the statement.
pub async fn execute_immediate(
    source: &Expr,
    using: Using<'_>,
    state: &mut SessionState,
    connection: &mut Connection,
    execution: Execution<'_>,
    dispatcher: impl Dispatcher,
) -> Result<()> {
    refuse_subqueries("EXECUTE IMMEDIATE", source)?;
    let text = statement_text(source, execution.parameters, &mut state.context)?;
    // As in MariaDB, it counts as all that happens within.
    let counters = &state.shared.counters;
    counters.com_stmt_prepare.add(1);
    counters.com_stmt_execute.add(1);
    counters.com_stmt_close.add(1);
    let prepared = parse_to_prepare(text, state)?;
    let parameters = values_of(
        using.values,
        prepared.parameters,
        execution.parameters,
        &mut state.context,
    )?;
    let statement = using.applied_to(prepared.statement)?;
    let execution = Execution {
        text: &prepared.text,
        parameters: &parameters,
        using: using.values,
        ..execution
    };
    state.shared.commands_within.count(&statement);
    let outer = std::mem::take(&mut state.context.program_variables);
    let done = Box::pin(dispatcher.execute(&statement, state, connection, execution)).await;
    state.context.program_variables = outer;
    done
}

/// Executes DEALLOCATE PREPARE.
///
/// # Errors
/// 1243 for an unknown name.
pub fn deallocate(name: &str, state: &mut SessionState) -> Result<Reply> {
    match state.prepared.statements.remove(&name.to_lowercase()) {
        Some(_) => {
            state.shared.counters.com_stmt_close.add(1);
            Ok(Reply::ok())
        }
        None => Err(Error::new(
            ER_UNKNOWN_STMT_HANDLER,
            &[&name, &"DEALLOCATE PREPARE"],
        )),
    }
}

/// Refuses an expression that must be executed as a query.
///
/// # Errors
/// 1970.
fn refuse_subqueries(clause: &str, expr: &Expr) -> Result<()> {
    match needs_plan(expr) {
        true => Err(Error::new(ER_SUBQUERIES_NOT_SUPPORTED, &[&clause])),
        false => Ok(()),
    }
}

/// Returns the statement text of PREPARE and EXECUTE IMMEDIATE.
fn statement_text(source: &Expr, parameters: &[Value], context: &mut SessionContext) -> Result<Vec<u8>> {
    match evaluate_typed(source, parameters, context)?.0 {
        Value::Null => Ok(b"NULL".to_vec()),
        value => {
            let mut text = vec![];
            text::append_value(&value.as_ref(), &context.settings.time_zone, &mut text);
            // As in a client's query, the terminator is not a part of the statement.
            let end = text
                .iter()
                .rposition(|byte| !byte.is_ascii_whitespace() && *byte != b';');
            text.truncate(end.map_or(0, |end| end + 1));
            Ok(as_from_client(text, &context.settings))
        }
    }
}

/// Returns a text as if the client had sent it, in its character set.
fn as_from_client(text: Vec<u8>, settings: &Settings) -> Vec<u8> {
    let client = settings.character_set_client;
    let mut sent = Vec::new();
    match std::str::from_utf8(&text) {
        Ok(text) if client == Charset::Latin1 => client.encode(text, &mut sent),
        _ => sent = text,
    }
    match text_of_client(&sent, client, settings.sql_mode) {
        Cow::Owned(text) => text,
        Cow::Borrowed(_) => sent,
    }
}

/// Returns the parameters of USING. Their number must be `count`.
fn values_of(
    using: &[Expr],
    count: usize,
    parameters: &[Value],
    context: &mut SessionContext,
) -> Result<Vec<Value>> {
    for value in using {
        refuse_subqueries("EXECUTE..USING", value)?;
    }
    if using.len() != count {
        return Err(Error::new(ER_WRONG_ARGUMENTS, &[&"EXECUTE"]));
    }
    let value_of = |expr| evaluate_typed(expr, parameters, context).map(|(value, _)| value);
    using.iter().map(value_of).collect()
}
