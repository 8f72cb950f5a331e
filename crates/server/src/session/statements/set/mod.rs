//! SET, and SET STATEMENT … FOR.
//!
//! [`assignment`](crate::session::assignment) checks and executes the assignment of a system variable.

use super::account::change_accounts;
use super::dispatcher::Dispatcher;
use super::expression;
use crate::accounts::checks::check_member;
use crate::session::assigned_variables::{heed_variables, track};
use crate::session::assignment::{self, Assignment, assign_client, client_charset, collation_of};
use crate::session::execution::Execution;
use crate::session::protocol::{Connection, Reply};
use crate::session::services::TransactionCharacteristics;
use crate::session::state::SessionState;
use crate::variables::Variable;
use paceline_expression::session::{BinlogFormat, Privilege, UserVariable};
use paceline_query::program::setting_value;
use paceline_syntax::{
    AccountStatement, Error, Result, RoleName, SetItem, SetValue, Statement, TransactionScope,
};
use paceline_types::error_code::*;
use paceline_types::{AccessMode, Charset, Collation, IsolationLevel, Value};

/// A checked item of a SET.
enum CheckedItem {
    Variable(Assignment),
    UserVariable(String, UserVariable),
    /// SET NAMES and SET CHARACTER SET: character set of client and results, and collation of the connection.
    Client {
        charset: Charset,
        connection: Collation,
    },
    Transaction(TransactionScope, Option<IsolationLevel>, Option<AccessMode>),
    Account(AccountStatement),
    Role(Option<String>),
}

/// Variables that SET STATEMENT cannot set. As in MariaDB, their effect on the transaction or the connection would last
/// longer than the statement.
const NOT_FOR_STATEMENT: [Variable; 12] = [
    Variable::Autocommit,
    Variable::CharacterSetClient,
    Variable::CharacterSetConnection,
    Variable::CharacterSetFilesystem,
    Variable::CollationConnection,
    Variable::InteractiveTimeout,
    Variable::Profiling,
    Variable::QueryCacheType,
    Variable::SkipReplication,
    Variable::SqlLogOff,
    Variable::TxIsolation,
    Variable::WaitTimeout,
];

/// Executes SET.
///
/// # Errors
/// The errors of the first item that cannot be assigned.
pub async fn execute(
    items: &[SetItem],
    parameters: &[Value],
    state: &mut SessionState,
    connection: &mut Connection,
) -> Result<Reply> {
    set(items, parameters, state, connection).await?;
    Ok(Reply::ok())
}

/// Executes SET STATEMENT … FOR: a statement with other values of variables. Its reply is written before the values are
/// restored.
///
/// # Errors
/// 1971 for a variable that cannot be set in this way; the errors of the assignments and of the statement.
pub async fn execute_for_statement(
    items: &[SetItem],
    statement: &Statement,
    state: &mut SessionState,
    connection: &mut Connection,
    execution: Execution<'_>,
    dispatcher: impl Dispatcher,
) -> Result<()> {
    check_set_statement(items)?;
    let connection_id = state.context.connection_id;
    let (settings, values) = (
        state.context.settings.clone(),
        state.services.values.lock().clone(),
    );
    set(items, execution.parameters, state, connection).await?;
    state
        .services
        .set_deadline(state.context.settings.max_statement_time);
    let done = Box::pin(dispatcher.execute(statement, state, connection, execution)).await;
    state.context.settings = settings;
    let owner = state.temporary_owner();
    state.context.connection_id = connection_id;
    *state.services.values.lock() = values;
    state.choose_temporary_tables(owner);
    heed_variables(state, connection);
    done
}

/// Returns 1971 for variables that SET STATEMENT cannot set.
fn check_set_statement(items: &[SetItem]) -> Result<()> {
    for item in items {
        if let SetItem::Variable { name, base: None, .. } = item
            && Variable::by_name(&name.to_lowercase())
                .is_some_and(|variable| NOT_FOR_STATEMENT.contains(&variable))
        {
            return Err(Error::new(ER_SET_STATEMENT_NOT_SUPPORTED, &[name]));
        }
    }
    Ok(())
}

/// Checks all assignments, whose values are evaluated before any of them takes effect, and then executes them in order.
/// If one check fails, nothing is changed.
async fn set(
    items: &[SetItem],
    parameters: &[Value],
    state: &mut SessionState,
    connection: &mut Connection,
) -> Result<()> {
    let before = state.temporary_owner();
    let done = set_each(items, parameters, state).await;
    state.choose_temporary_tables(before);
    heed_variables(state, connection);
    done
}

async fn set_each(items: &[SetItem], parameters: &[Value], state: &mut SessionState) -> Result<()> {
    let mut checked = Vec::with_capacity(items.len());
    for item in items {
        checked.push(check_item(item, parameters, state).await?);
    }
    for item in checked {
        apply_item(item, state).await?;
    }
    Ok(())
}

async fn check_item(item: &SetItem, parameters: &[Value], state: &mut SessionState) -> Result<CheckedItem> {
    Ok(match item {
        SetItem::Variable {
            scope,
            base,
            name,
            value,
        } => {
            // `connection.variable` is one name.
            let whole = match base {
                Some(connection) => format!("{connection}.{name}"),
                None => name.clone(),
            };
            let said = state.context.diagnostics.clone();
            let value = match value {
                SetValue::Default => None,
                SetValue::Word(word) => Some(Value::Text(word.clone())),
                SetValue::Expr(expr) => {
                    let (value, ty) = expression::evaluate(expr, parameters, state).await?;
                    Some(setting_value(value, &ty))
                }
            };
            let name = whole.to_lowercase();
            let checked = assignment::check(&name, *scope, value, &state.services, &mut state.context);
            // MariaDB checks the type before it evaluates the expression.
            if let Err(error) = &checked
                && error.code() == ER_WRONG_TYPE_FOR_VAR
            {
                state.context.diagnostics = said;
            }
            let checked = checked?;
            if checked.global && checked.variable == Variable::ReadOnly {
                // Its own global read lock does not hinder it: tools for failover take that first.
                state.refuse_table_locks_and_transaction()?;
            }
            // Temporary tables are in no log.
            let leaves_rows = state.context.settings.binlog_format != BinlogFormat::Statement
                && checked.sets_session_format(BinlogFormat::Statement);
            if leaves_rows && !state.temporary.catalog().is_empty() {
                return Err(Error::new(ER_TEMP_TABLE_PREVENTS_SWITCH_OUT_OF_RBR, &[]));
            }
            CheckedItem::Variable(checked)
        }
        SetItem::UserVariable { name, value } => {
            let (value, ty) = expression::evaluate(value, parameters, state).await?;
            let variable = UserVariable::new(&value, ty, &state.context.settings.time_zone);
            CheckedItem::UserVariable(name.to_lowercase(), variable)
        }
        SetItem::Names { charset, collation } => {
            let charset = client_charset(charset.as_deref(), &state.context)?;
            let connection = match collation {
                None => charset.default_collation(),
                Some(name) => collation_of(charset, name)?,
            };
            CheckedItem::Client { charset, connection }
        }
        SetItem::CharacterSet(charset) => CheckedItem::Client {
            charset: client_charset(charset.as_deref(), &state.context)?,
            // Like SET NAMES, but the connection gets the collation of the database.
            connection: state.context.settings.collation_database,
        },
        SetItem::Transaction {
            scope,
            isolation,
            access,
        } => {
            match scope {
                TransactionScope::Next if state.transaction.is_open() => {
                    return Err(Error::new(ER_CANT_CHANGE_TX_CHARACTERISTICS, &[]));
                }
                TransactionScope::Global => state.services.require_any(&[Privilege::Super])?,
                TransactionScope::Next | TransactionScope::Session => {}
            }
            CheckedItem::Transaction(*scope, *isolation, *access)
        }
        SetItem::Password { account, password } => CheckedItem::Account(AccountStatement::SetPassword {
            account: account.clone(),
            password: password.clone(),
        }),
        // The program executes its own assignments.
        SetItem::ProgramVariable { .. } => return Err(Error::unsupported("SET of a variable here")),
        SetItem::DefaultRole { role, account } => CheckedItem::Account(AccountStatement::SetDefaultRole {
            role: role.clone(),
            account: account.clone(),
        }),
        SetItem::Role(None) => CheckedItem::Role(None),
        SetItem::Role(Some(RoleName::Current)) => CheckedItem::Role(state.context.current_role.clone()),
        SetItem::Role(Some(RoleName::Name(name))) => {
            let authority = state.services.authority(&state.context);
            check_member(authority, name, authority.current_user())?;
            CheckedItem::Role(Some(name.trim_end_matches(' ').to_owned()))
        }
    })
}

async fn apply_item(item: CheckedItem, state: &mut SessionState) -> Result<()> {
    match item {
        CheckedItem::Variable(assignment) => set_variable(assignment, state).await?,
        CheckedItem::UserVariable(name, variable) => {
            state.context.user_variables.set(&name, variable)?;
            state.tracking.note_state_change();
        }
        CheckedItem::Client { charset, connection } => {
            let changed = assign_client(charset, connection, &state.services, &mut state.context);
            changed.into_iter().for_each(|variable| track(variable, state));
        }
        CheckedItem::Transaction(scope, isolation, access) => {
            set_transaction(scope, isolation, access, state)
        }
        CheckedItem::Role(role) => state.set_role(role),
        CheckedItem::Account(statement) => change_accounts(&statement, None, state).await?,
    }
    Ok(())
}

async fn set_variable(assignment: Assignment, state: &mut SessionState) -> Result<()> {
    let Assignment { variable, global, .. } = assignment;
    let was_autocommit = state.context.settings.autocommit;
    assignment::execute(assignment, &state.services, &mut state.context)?;
    if state.context.settings.autocommit && !was_autocommit {
        // autocommit=1 commits the open transaction.
        state.commit().await?;
    }
    if !global {
        track(variable, state);
    }
    Ok(())
}

fn set_transaction(
    scope: TransactionScope,
    isolation: Option<IsolationLevel>,
    access: Option<AccessMode>,
    state: &mut SessionState,
) {
    let characteristics = TransactionCharacteristics { isolation, access };
    match scope {
        TransactionScope::Next => state.transaction.set_next(isolation, access),
        TransactionScope::Session => {
            characteristics.assign_session(&state.services, &mut state.context);
        }
        TransactionScope::Global => characteristics.assign_global(&state.services),
    }
}
