//! INSERT, REPLACE, UPDATE and DELETE of `mysql.global_priv`, `mysql.db` and `mysql.user`, as statements about
//! accounts.
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
//! | a row of `db` without an account | is possible | 1133, 1141 |
//! | an error in the middle | leaves the rows before it changed | leaves the accounts before it changed |
//!
//! Rejected: rows as a second form of the accounts, which would have to agree with their records; a statement of our
//! own in the log, which no other server would understand.

use super::account::change_accounts;
use super::ddl;
use super::query;
use crate::accounts::difference::{alter_statements, create_statements, drop_statement, grant_statements};
use crate::accounts::show::account_name;
use crate::accounts::{Account, Accounts, PrivilegeSet};
use crate::mysql_columns::DATABASE;
use crate::mysql_tables::privilege;
use crate::running_plan::PlanToRun;
use crate::session::execution::Execution;
use crate::session::protocol::{Connection, Reply, RowCollector};
use crate::session::state::SessionState;
use crate::sql_text::identifier;
use paceline_expression::session::Privilege;
use paceline_syntax::ast::TableFactor;
use paceline_syntax::{Error, ParseOptions, Result, Statement, parse_first};
use paceline_types::Value;
use paceline_types::error_code::*;

/// Column of the temporary table that tells which row a changed row was.
const ROW_NUMBER: &str = "paceline_row";

/// Grant table that statements may change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GrantTable {
    /// `mysql.global_priv`: an account, described as JSON.
    GlobalPriv,
    /// `mysql.db`: an account's privileges on a database.
    Db,
    /// `mysql.user`: a view in MariaDB, whose definer may only delete.
    User,
}

impl GrantTable {
    fn of_name(name: &str) -> Option<GrantTable> {
        match name {
            "global_priv" => Some(GrantTable::GlobalPriv),
            "db" => Some(GrantTable::Db),
            "user" => Some(GrantTable::User),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            GrantTable::GlobalPriv => "global_priv",
            GrantTable::Db => "db",
            GrantTable::User => "user",
        }
    }

    /// Returns the columns of the temporary table's definition.
    fn key_columns(self) -> &'static str {
        match self {
            GrantTable::GlobalPriv | GrantTable::User => {
                "Host CHAR(255) COLLATE utf8mb3_bin NOT NULL DEFAULT '', User CHAR(128) COLLATE utf8mb3_bin NOT NULL DEFAULT '', \
                 PRIMARY KEY (Host, User)"
            }
            GrantTable::Db => {
                "Host CHAR(255) COLLATE utf8mb3_bin NOT NULL DEFAULT '', Db CHAR(64) COLLATE utf8mb3_bin NOT NULL DEFAULT '', \
                 User CHAR(128) COLLATE utf8mb3_bin NOT NULL DEFAULT '', PRIMARY KEY (Host, Db, User)"
            }
        }
    }
}

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
        table.key_columns()
    );
    define(&create, state).await?;
    let done = change_rows(table, statement, state, connection, execution).await;
    let dropped = define(&format!("DROP TEMPORARY TABLE {DATABASE}.{name}"), state).await;
    let (reply, before, after) = done?;
    dropped?;
    let accounts = state.server.accounts.load();
    let changes = match table {
        GrantTable::Db => database_changes(&before, &after),
        GrantTable::GlobalPriv | GrantTable::User => account_changes(&accounts, &before, &after)?,
    };
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

/// Creates or drops the temporary table.
async fn define(text: &str, state: &mut SessionState) -> Result<()> {
    let parsed = parse_first(text.as_bytes(), &ParseOptions::default())?;
    let Statement::Ddl(ddl) = &parsed.statement else {
        unreachable!("{text} is a definition");
    };
    ddl::execute(ddl, state, Execution::of_text(text.as_bytes())).await?;
    Ok(())
}

/// A row of a grant table: its columns' names and values, and the number that it had before the statement.
#[derive(Clone, PartialEq, Eq, Debug)]
struct GrantRow {
    cells: Vec<(String, String)>,
    number: Option<i64>,
}

impl GrantRow {
    fn cell(&self, column: &str) -> &str {
        let found = self
            .cells
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(column));
        found.map_or("", |(_, value)| value)
    }

    fn user(&self) -> &str {
        self.cell("User")
    }

    fn host(&self) -> &str {
        self.cell("Host")
    }

    fn is_of(&self, other: &GrantRow) -> bool {
        (self.user(), self.host()) == (other.user(), other.host())
    }

    /// Returns the privileges of a row of `mysql.db`.
    fn privileges(&self) -> PrivilegeSet {
        let granted = self.cells.iter().filter_map(|(column, value)| {
            let privilege = privilege(column.strip_suffix("_priv")?)?;
            value.eq_ignore_ascii_case("Y").then_some(privilege)
        });
        PrivilegeSet::of(&granted.collect::<Vec<_>>())
    }
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

/// Returns the statements that change privileges on databases from one set of rows to another.
fn database_changes(before: &[GrantRow], after: &[GrantRow]) -> Vec<String> {
    let is_same = |one: &GrantRow, other: &GrantRow| one.is_of(other) && one.cell("Db") == other.cell("Db");
    let none = PrivilegeSet::NONE;
    let changed = before.iter().map(|old| {
        let new = after.iter().find(|new| is_same(old, new));
        (old, old.privileges(), new.map_or(none, GrantRow::privileges))
    });
    let added = after
        .iter()
        .filter(|new| !before.iter().any(|old| is_same(old, new)));
    let added = added.map(|new| (new, none, new.privileges()));
    let statements = changed.chain(added).flat_map(|(row, before, after)| {
        let account = account_name(&Account::new(row.user(), row.host()));
        let object = format!("{}.*", identifier(row.cell("Db")));
        grant_statements(before, after, &object, &account)
    });
    statements.collect()
}

/// Returns the statements that change accounts from one set of rows to another.
///
/// # Errors
/// 1525 if a row describes no account.
fn account_changes(accounts: &Accounts, before: &[GrantRow], after: &[GrantRow]) -> Result<Vec<String>> {
    let mut statements = Vec::new();
    // A row that REPLACE has put in the place of another has no number.
    let old_of = |new: &GrantRow| {
        let by_number = before
            .iter()
            .find(|old| new.number.is_some() && old.number == new.number);
        by_number.or_else(|| before.iter().find(|old| old.is_of(new)))
    };
    let is_kept = |old: &GrantRow| {
        let of_old = |new: &&GrantRow| old_of(new).is_some_and(|found| found.is_of(old));
        after.iter().any(|new| of_old(&new))
    };
    for old in before.iter().filter(|old| !is_kept(old)) {
        if let Some(account) = accounts.get(old.user(), old.host()) {
            statements.push(drop_statement(account));
        }
    }
    for new in after {
        let old = old_of(new);
        let known = old.and_then(|old| accounts.get(old.user(), old.host()));
        if let Some(known) = known
            && (known.user.as_str(), known.host.as_str()) != (new.user(), new.host())
        {
            let renamed = Account {
                user: new.user().to_owned(),
                host: new.host().to_owned(),
                ..known.clone()
            };
            let (from, to) = (account_name(known), account_name(&renamed));
            statements.push(format!("RENAME USER {from} TO {to}"));
        }
        let description = new.cell("Priv");
        if description.is_empty() && old.is_some() || old.is_some_and(|old| old.cell("Priv") == description) {
            continue;
        }
        let named = Account {
            user: new.user().to_owned(),
            host: new.host().to_owned(),
            ..known.cloned().unwrap_or_else(|| Account::new("", ""))
        };
        let described = match description {
            "" => Some(named.clone()),
            description => Account::described(&named, description),
        };
        let described = described.ok_or_else(|| Error::new(ER_WRONG_VALUE, &[&"priv", &description]))?;
        statements.extend(match known {
            Some(_) => alter_statements(&named, &described),
            None => create_statements(&described),
        });
    }
    Ok(statements)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[(&str, &str)], number: Option<i64>) -> GrantRow {
        let cells = cells
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        GrantRow {
            cells: cells.collect(),
            number,
        }
    }

    #[test]
    fn rows_of_databases_become_grants() {
        let of = |database: &str, select: &str, grant: &str| {
            row(
                &[
                    ("Host", "%"),
                    ("Db", database),
                    ("User", "u"),
                    ("Select_priv", select),
                    ("Grant_priv", grant),
                ],
                None,
            )
        };
        let (before, after) = (
            [of("a", "Y", "N"), of("b", "Y", "Y")],
            [of("b", "N", "Y"), of("c", "Y", "Y")],
        );
        assert_eq!(
            database_changes(&before, &after),
            [
                "REVOKE SELECT ON `a`.* FROM `u`@`%`",
                "REVOKE SELECT ON `b`.* FROM `u`@`%`",
                "GRANT SELECT ON `c`.* TO `u`@`%` WITH GRANT OPTION",
            ]
        );
    }

    #[test]
    fn rows_of_accounts_become_statements() {
        let accounts = Accounts::new(vec![
            Account::new("a", "%"),
            Account::new("b", "%"),
            Account::new("c", "%"),
        ]);
        let of = |host: &str, user: &str, description: &str, number: Option<i64>| {
            row(&[("Host", host), ("User", user), ("Priv", description)], number)
        };
        let before = [
            of("%", "a", "{}", Some(1)),
            of("%", "b", "{}", Some(2)),
            of("%", "c", "{}", Some(3)),
        ];
        let after = [
            of("h", "b", "{}", Some(2)),
            of("%", "c", r#"{"account_locked": true}"#, None),
            of("%", "d", r#"{"access": 1, "plugin": "unix_socket"}"#, None),
        ];
        assert_eq!(
            account_changes(&accounts, &before, &after).unwrap(),
            [
                "DROP USER `a`@`%`",
                "RENAME USER `b`@`%` TO `b`@`h`",
                "ALTER USER `c`@`%` ACCOUNT LOCK",
                "CREATE USER `d`@`%`",
                "ALTER USER `d`@`%` IDENTIFIED VIA unix_socket",
                "GRANT SELECT ON *.* TO `d`@`%`",
            ]
        );
        let wrong = [of("%", "a", "nonsense", Some(1))];
        assert_eq!(
            account_changes(&accounts, &before, &wrong).unwrap_err().code(),
            ER_WRONG_VALUE
        );
    }
}
