//! Privileges for a planned statement: on each table that it uses, also through views.

use super::definition::check_routine;
use crate::accounts::{Account, Authority, PrivilegeSet};
use crate::information_schema::{DATABASE, is_for_everybody, needs_process};
use paceline_expression::session::{Privilege, PrivilegeTarget};
use paceline_query::plan::{ColumnUsage, Plan, TableUsage, TableUse};
use paceline_syntax::{Error, Result};
use paceline_types::error_code::*;
use paceline_wire::authentication::NativePassword;

/// Checks whether the account may execute a plan.
///
/// 1142 for a table that the account may not use in this way, 1143 for a column, or 1356 if a view uses it; 1227 for a
/// table that needs PROCESS; 1345 for EXPLAIN of a view; 1449 and 1356 for a view whose definer lacks a privilege.
pub fn check_plan(authority: Authority<'_>, plan: &Plan) -> Result<()> {
    check_usage(authority, plan)?;
    plan.tables()
        .iter()
        .try_for_each(|table| check_process(authority, table))
}

/// Checks a plan as [`check_plan`] does, except for PROCESS, which is needed only to read.
pub fn check_usage(authority: Authority<'_>, plan: &Plan) -> Result<()> {
    let account = authority.account();
    let may_do_all = account.global.includes(PrivilegeSet::rows());
    let mut by_columns = vec![];
    // A session may do anything with its temporary tables.
    for table in plan.tables().iter().filter(|table| !table.is_temporary()) {
        if let Some(definer) = &table.access.definer {
            check_definer(authority, definer, table)?;
            continue;
        }
        if may_do_all {
            continue;
        }
        let as_view_error = |error| match plan.is_explained() && table.access.through.is_some() {
            true => Error::new(ER_VIEW_NO_EXPLAIN, &[]),
            false => view_error(error, table),
        };
        let in_database = authority.privileges_in(&table.database);
        match missing(&account, in_database, table) {
            Missing::Nothing => {}
            Missing::OnTable(missing) => {
                return Err(as_view_error(authority.denied(
                    missing,
                    &table.database,
                    &table.name,
                )));
            }
            Missing::OnColumns(missing) => by_columns.push((table, missing)),
        }
    }
    // As in MariaDB, the tables of a statement are checked before its columns.
    for (table, missing) in by_columns {
        if let Some(denied) = denied_column(authority, &account, missing, table) {
            return Err(view_error(column_error(authority, &denied, table), table));
        }
    }
    for function in plan.functions() {
        check_routine(authority, Privilege::Execute, function)?;
    }
    match plan.is_explained() {
        true => check_explain(authority, plan),
        false => Ok(()),
    }
}

/// Returns 1345 for EXPLAIN of a view if the account may not see its text or read its tables: the plan reveals both.
///
/// # Errors
/// 1345.
pub fn check_explain(authority: Authority<'_>, plan: &Plan) -> Result<()> {
    for table in plan.tables().iter().filter(|table| !table.is_temporary()) {
        let needed: &[Privilege] = match (&table.view, &table.access.through) {
            (Some(_), _) => &[Privilege::Select, Privilege::ShowView],
            (None, Some(_)) => &[Privilege::Select],
            (None, None) => continue,
        };
        let target = PrivilegeTarget::Table {
            database: &table.database,
            table: &table.name,
        };
        for privilege in needed {
            authority
                .check(*privilege, target)
                .map_err(|_| Error::new(ER_VIEW_NO_EXPLAIN, &[]))?;
        }
    }
    Ok(())
}

/// Returns 1227 for a table that needs PROCESS, if the account lacks it. In a view with SQL SECURITY DEFINER the
/// definer needs it.
fn check_process(authority: Authority<'_>, table: &TableUse) -> Result<()> {
    if !table.database.eq_ignore_ascii_case(DATABASE) || !needs_process(&table.name) {
        return Ok(());
    }
    let Some(definer) = &table.access.definer else {
        return authority.require_any(&[Privilege::Process]);
    };
    let accounts = authority.accounts().load();
    let definer = accounts.definer(&definer.0, &definer.1);
    match definer.is_none_or(|account| account.global.has(Privilege::Process)) {
        true => Ok(()),
        false => Err(Error::new(ER_SPECIFIC_ACCESS_DENIED_ERROR, &[&"PROCESS"])),
    }
}

/// Returns 1449 for a missing definer, and 1356 for one that may not use the table in this way.
fn check_definer(authority: Authority<'_>, definer: &(String, String), table: &TableUse) -> Result<()> {
    let accounts = authority.accounts().load();
    let Some(account) = accounts.definer(&definer.0, &definer.1) else {
        let own = authority.account();
        // Only some accounts may see the name of a missing definer.
        return Err(match own.global.has(Privilege::Super) {
            true => Error::new(ER_NO_SUCH_USER, &[&definer.0, &definer.1]),
            false => {
                let with_password = match own.authentication.password() {
                    Some(NativePassword::Empty) => "NO",
                    _ => "YES",
                };
                Error::new(ER_ACCESS_DENIED_ERROR, &[&own.user, &own.host, &with_password])
            }
        });
    };
    let is_denied = match missing(&account, account.privileges_in(&table.database), table) {
        Missing::Nothing => false,
        Missing::OnTable(_) => true,
        Missing::OnColumns(missing) => denied_column(authority, &account, missing, table).is_some(),
    };
    match is_denied {
        false => Ok(()),
        true => Err(view_error(
            Error::new(ER_VIEW_INVALID, &[&table.database, &table.name]),
            table,
        )),
    }
}

/// Privileges that the usage of a table needs and its database does not give.
enum Missing {
    Nothing,
    /// The account has these neither on the table nor on any of its columns.
    OnTable(PrivilegeSet),
    /// The account has these on some columns, or they are only needed for the named columns.
    OnColumns(PrivilegeSet),
}

fn missing(account: &Account, in_database: PrivilegeSet, table: &TableUse) -> Missing {
    let on_table = needed(table.usage);
    let for_columns = match table.usage.select {
        true => PrivilegeSet::of(&[Privilege::Select]),
        false => PrivilegeSet::NONE,
    };
    let missing = on_table.union(for_columns).minus(in_database);
    if missing.is_empty() || missing == for_columns && is_for_everybody(Privilege::Select, &table.database) {
        return Missing::Nothing;
    }
    let granted = account.on_table(&table.database, &table.name);
    let missing = missing.minus(granted.whole);
    let denied = missing.intersection(on_table).minus(granted.any_column);
    match (denied.is_empty(), missing.is_empty()) {
        (false, _) => Missing::OnTable(denied),
        (true, true) => Missing::Nothing,
        (true, false) => Missing::OnColumns(missing),
    }
}

/// A column that may not be used in this way.
struct DeniedColumn {
    privilege: Privilege,
    /// The column; `None` if the statement names all.
    name: Option<String>,
}

/// Returns the first named column for which the account has none of these privileges.
fn denied_column(
    authority: Authority<'_>,
    account: &Account,
    missing: PrivilegeSet,
    table: &TableUse,
) -> Option<DeniedColumn> {
    table.columns.iter().find_map(|used| {
        let (privilege, is_all) = match used.usage {
            ColumnUsage::Read => (Privilege::Select, false),
            ColumnUsage::ReadAll => (Privilege::Select, true),
            ColumnUsage::Insert => (Privilege::Insert, false),
            ColumnUsage::InsertAll => (Privilege::Insert, true),
            ColumnUsage::Update => (Privilege::Update, false),
        };
        if !missing.has(privilege) {
            return None;
        }
        let name = column_name(authority, table, used.column)?;
        let held = account.on_column(&table.database, &table.name, &name);
        (!held.has(privilege)).then(|| DeniedColumn {
            privilege,
            name: (!is_all).then_some(name),
        })
    })
}

fn column_error(authority: Authority<'_>, denied: &DeniedColumn, table: &TableUse) -> Error {
    let privilege = PrivilegeSet::of(&[denied.privilege]);
    match &denied.name {
        Some(column) => authority.column_denied(privilege, column, &table.name),
        None => authority.denied(privilege, &table.database, &table.name),
    }
}

/// Returns the name of a column of a table or view.
fn column_name(authority: Authority<'_>, table: &TableUse, column: usize) -> Option<String> {
    if let Some(definition) = &table.definition {
        return Some(definition.columns().get(column)?.name.clone());
    }
    if let Some(view) = &table.view {
        return view.columns.get(column).cloned();
    }
    authority.virtual_column(&table.database, &table.name, column)
}

/// Converts an error within a view to one about the view that the statement names.
fn view_error(error: Error, table: &TableUse) -> Error {
    match &table.access.through {
        Some(view) => Error::new(ER_VIEW_INVALID, &[&view.database, &view.name]),
        None => error,
    }
}

/// Returns the privileges that this usage of a table needs on the table or some of its columns.
fn needed(usage: TableUsage) -> PrivilegeSet {
    [
        (usage.insert || usage.sequence, Privilege::Insert),
        (usage.update, Privilege::Update),
        (usage.delete, Privilege::Delete),
        (usage.queried || usage.lock || usage.sequence, Privilege::Select),
    ]
    .into_iter()
    .filter(|(used, _)| *used)
    .fold(PrivilegeSet::NONE, |set, (_, privilege)| set.with(privilege))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::authority::tests::{Holder, outcome_of};
    use crate::session::testing::TestServer;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_plan_needs_privileges_on_its_tables() {
        let test = TestServer::new();
        let mut session = test.internal();
        session
            .execute_all(&[
                "CREATE DATABASE d",
                "USE d",
                "CREATE TABLE t (a int PRIMARY KEY)",
                "CREATE TEMPORARY TABLE own (a int)",
                "CREATE SQL SECURITY INVOKER VIEW v AS SELECT a FROM t",
                "CREATE DEFINER=root@localhost VIEW w AS SELECT a FROM t",
                "CREATE DEFINER=nobody@localhost VIEW x AS SELECT a FROM t",
            ])
            .await;
        let check = |holder: &Holder, text: &str| {
            let plan = session.plan(text);
            let (number, message) = outcome_of(check_plan(holder.authority(), &plan));
            (
                number,
                message.split(" command").next().unwrap_or_default().to_owned(),
            )
        };
        let nobody = Holder::new(&[], &[]);
        for (text, privilege) in [
            ("SELECT * FROM t", "SELECT"),
            ("INSERT INTO t VALUES (1)", "INSERT"),
            ("UPDATE t SET a = 1", "UPDATE"),
            ("DELETE FROM t", "DELETE"),
            ("INSERT INTO own SELECT a FROM t", "SELECT"),
            ("SELECT 1 FROM own WHERE EXISTS (SELECT 1 FROM t)", "SELECT"),
        ] {
            assert_eq!(check(&nobody, text), (1142, privilege.to_owned()), "{text}");
        }
        for text in [
            "SELECT 1",
            "SELECT * FROM own",
            "DELETE FROM own",
            "SELECT * FROM information_schema.tables",
        ] {
            assert_eq!(check(&nobody, text).0, 0, "{text}");
        }
        let reader = Holder::new(&[], &[("d", &[Privilege::Select])]);
        for text in ["SELECT * FROM t", "SELECT * FROM v"] {
            assert_eq!(check(&reader, text).0, 0, "{text}");
        }
        assert_eq!(check(&reader, "INSERT INTO t SELECT a FROM t").0, 1142);
        // The plan of a view reveals its text.
        assert_eq!(check(&reader, "EXPLAIN SELECT * FROM v").0, 1345);
        assert_eq!(
            check(&reader, "SELECT * FROM information_schema.innodb_trx").0,
            1227
        );
        // The definer `root` of these accounts has no privilege. `nobody` is missing, which 1045 hides.
        assert_eq!(check(&reader, "SELECT * FROM w").0, 1356);
        assert_eq!(check(&reader, "SELECT * FROM x").0, 1045);
        let admin = Holder::new(&[Privilege::Super, Privilege::Select], &[]);
        assert_eq!(check(&admin, "SELECT * FROM x").0, 1449);
    }
}
