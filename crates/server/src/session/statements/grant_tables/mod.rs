//! INSERT, REPLACE, UPDATE and DELETE of the grant tables of `mysql`, as statements about accounts.
//!
//! ```text
//!   rows of the accounts ─▶ a temporary table of the same name, which hides them ─▶ the statement changes it
//!      ─▶ rows before and after ─▶ DROP USER, RENAME USER, ALTER USER, GRANT, REVOKE: each committed and logged as such
//! ```
//! Accounts are no rows here. Programs written for MariaDB nevertheless change them as rows:
//! `mariadb-secure-installation` is one. The temporary table makes every clause of these statements work, and nothing
//! of it is logged. What is logged are statements that MariaDB's replicas execute, too.
//!
//! | | MariaDB | here |
//! |---|---|---|
//! | takes effect | with FLUSH PRIVILEGES | at once; a changed password with FLUSH PRIVILEGES, the next statement about accounts, or a restart |
//! | a transaction | is not ended, and does not undo the change | is committed first |
//! | privileges | those on the table | also those of the statements that it becomes, and CREATE TEMPORARY TABLES |
//! | a deleted account | leaves its rows in the other tables | has no privileges any more |
//! | a row without its account, or its table or routine | is possible | 1133, 1141, 1146, 1305 |
//! | a row of `columns_priv` | counts as long as `tables_priv` has its table | ends with it |
//! | an error in the middle | leaves the rows before it changed | leaves the accounts before it changed |
//!
//! Rejected: rows as a second form of the accounts, which would have to agree with their records; a statement of our
//! own in the log, which no other server would understand.

mod changes;
mod row;
mod table;

pub use table::GrantTable;

use super::account::change_accounts;
use super::ddl;
use super::query;
use crate::mysql_columns::DATABASE;
use crate::running_plan::PlanToRun;
use crate::session::execution::Execution;
use crate::session::protocol::{Connection, Reply, RowCollector};
use crate::session::state::SessionState;
use paceline_expression::session::Privilege;
use paceline_syntax::ast::TableFactor;
use paceline_syntax::{Error, ParseOptions, Result, Statement, parse_first};
use paceline_types::error_code::*;
use paceline_types::{SqlMode, Value};
use row::GrantRow;

/// Column of the temporary table that tells which row a changed row was.
const ROW_NUMBER: &str = "paceline_row";

/// Returns the grant table that a client's statement changes.
pub fn changed_table(statement: &Statement, state: &SessionState) -> Option<GrantTable> {
    let name = match statement {
        Statement::Insert(insert) => &insert.table,
        Statement::Update(update) => match &update.tables[..] {
            [only] if only.joins.is_empty() => named(&only.first)?,
            _ => return None,
        },
        Statement::Delete(delete) if delete.targets.is_empty() => named(&delete.from.first()?.first)?,
        _ => return None,
    };
    let table = GrantTable::of_name(&name.name)?;
    let database = name.database.as_deref().or(state.context.database.as_deref());
    // Rows of a primary's statement are changed under its GTID, which only one group can have.
    let is_own = || {
        state.context.calls.is_empty()
            && state.temporary.catalog().table(DATABASE, &name.name).is_none()
            && state.services.transaction.lock().replicated.is_none()
    };
    (database == Some(DATABASE) && is_own()).then_some(table)
}

fn named(table: &TableFactor) -> Option<&paceline_syntax::TableName> {
    match table {
        TableFactor::Table { name, .. } => Some(name),
        _ => None,
    }
}

/// Executes the statement.
///
/// # Errors
/// 1142 without the privilege on the table; 1356 for changes of `mysql.user`, as in MariaDB; 1525 for a description of
/// no account; those of the statement, and of the statements about accounts.
pub async fn execute(
    table: GrantTable,
    statement: &Statement,
    state: &mut SessionState,
    connection: &mut Connection,
    execution: Execution<'_>,
) -> Result<Reply> {
    state.server.accounts.must_count()?;
    check_statement(table, statement, state)?;
    state.check_writable()?;
    state.commit().await?;
    let name = table.name();
    let create = format!(
        "CREATE TEMPORARY TABLE {DATABASE}.{name} ({}, {ROW_NUMBER} BIGINT INVISIBLE) \
         SELECT *, ROW_NUMBER() OVER () AS {ROW_NUMBER} FROM {DATABASE}.{name}",
        table.columns()
    );
    define(&create, state).await?;
    let done = change_rows(table, statement, state, connection, execution).await;
    let dropped = define(&format!("DROP TEMPORARY TABLE {DATABASE}.{name}"), state).await;
    let (reply, before, after) = done?;
    dropped?;
    let accounts = state.server.accounts.load();
    let changes = changes::statements(table, &accounts, &before, &after)?;
    let counting = state.server.accounts.with_counting_passwords();
    let changed = change_all(&changes, state).await;
    // A program that changes its own password connects again with the old one, to execute FLUSH PRIVILEGES.
    state.server.accounts.keep_passwords(counting);
    changed?;
    Ok(reply)
}

/// Executes and logs statements under the sql_mode that they are written in.
async fn change_all(statements: &[String], state: &mut SessionState) -> Result<()> {
    let options = ParseOptions::default();
    let own = std::mem::replace(&mut state.context.settings.sql_mode, options.sql_mode);
    let done = change_in_turn(statements, &options, state).await;
    state.context.settings.sql_mode = own;
    done
}

async fn change_in_turn(
    statements: &[String],
    options: &ParseOptions,
    state: &mut SessionState,
) -> Result<()> {
    for text in statements {
        let parsed = parse_first(text.as_bytes(), options)?;
        let Statement::Account(change) = &parsed.statement else {
            unreachable!("{text} is about accounts");
        };
        change_accounts(change, Some(text.as_bytes()), state).await?;
    }
    Ok(())
}

fn check_statement(table: GrantTable, statement: &Statement, state: &SessionState) -> Result<()> {
    let needed = match statement {
        Statement::Insert(_) => Privilege::Insert,
        Statement::Update(_) => Privilege::Update,
        _ => Privilege::Delete,
    };
    let authority = state.services.authority(&state.context);
    authority.check_table(&[needed], DATABASE, table.name())?;
    match (table, needed) {
        (GrantTable::User, Privilege::Insert | Privilege::Update) => {
            Err(Error::new(ER_VIEW_INVALID, &[&DATABASE, &table.name()]))
        }
        _ => Ok(()),
    }
}

/// Creates or drops the temporary table. Its rows have times of 0, which a strict mode refuses.
async fn define(text: &str, state: &mut SessionState) -> Result<()> {
    let parsed = parse_first(text.as_bytes(), &ParseOptions::default())?;
    let Statement::Ddl(ddl) = &parsed.statement else {
        unreachable!("{text} is a definition");
    };
    let own = std::mem::replace(&mut state.context.settings.sql_mode, SqlMode::EMPTY);
    let done = ddl::execute(ddl, state, Execution::of_text(text.as_bytes())).await;
    state.context.settings.sql_mode = own;
    done.map(drop)
}

/// Executes the statement on the temporary table. Returns its reply, and the rows before and after it.
async fn change_rows(
    table: GrantTable,
    statement: &Statement,
    state: &mut SessionState,
    connection: &mut Connection,
    execution: Execution<'_>,
) -> Result<(Reply, Vec<GrantRow>, Vec<GrantRow>)> {
    let before = rows(table, state).await?;
    let reply = query::execute(statement, state, connection, execution).await?;
    let after = rows(table, state).await?;
    Ok((reply, before, after))
}

async fn rows(table: GrantTable, state: &mut SessionState) -> Result<Vec<GrantRow>> {
    let text = format!("SELECT *, {ROW_NUMBER} FROM {DATABASE}.{}", table.name());
    let query = parse_first(text.as_bytes(), &ParseOptions::default())?.statement;
    let plan = state.plan(&query)?;
    let collected = query::collect(
        PlanToRun::Private(&plan),
        state,
        Execution::of_server(&[]),
        RowCollector::default(),
    );
    let Some((found, _)) = collected.await? else {
        return Err(Error::new(ER_TABLE_DEF_CHANGED, &[]));
    };
    let of_values = |mut values: Vec<Value>| {
        let number = match values.pop() {
            Some(Value::Int(number)) => Some(number),
            _ => None,
        };
        let text = |value: Value| match value {
            Value::Text(text) => text,
            Value::Bytes(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Value::Enum(value) => value.label().to_owned(),
            Value::Set(value) => value.text(),
            Value::Int(number) => number.to_string(),
            _ => String::new(),
        };
        let names = found.columns.iter().map(|column| column.name.to_string());
        GrantRow {
            cells: names.zip(values.into_iter().map(text)).collect(),
            number,
        }
    };
    Ok(found.rows.into_iter().map(of_values).collect())
}
