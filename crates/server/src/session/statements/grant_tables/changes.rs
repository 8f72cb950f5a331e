//! Turns changes of rows of a grant table into statements about accounts.
//!
//! A row is the same row before and after if its account and its object are the same; only rows of accounts can be
//! renamed.

use super::row::GrantRow;
use super::table::GrantTable;
use crate::accounts::difference::{
    alter_statements, column_statements, create_statements, drop_statement, grant_statements,
};
use crate::accounts::show::account_name;
use crate::accounts::{Account, Accounts, PrivilegeSet};
use crate::sql_text::identifier;
use paceline_syntax::{Error, Result};
use paceline_types::error_code::*;

/// Returns the statements that change the accounts from one set of rows of this table to another.
///
/// # Errors
/// 1525 if a row of `mysql.global_priv` describes no account.
pub(super) fn statements(
    table: GrantTable,
    accounts: &Accounts,
    before: &[GrantRow],
    after: &[GrantRow],
) -> Result<Vec<String>> {
    let change = Change {
        accounts,
        before,
        after,
    };
    Ok(match table {
        GrantTable::GlobalPriv | GrantTable::User => return account_changes(accounts, before, after),
        GrantTable::Db => change.of_databases(),
        GrantTable::TablesPriv => change.of_tables(),
        GrantTable::ColumnsPriv => change.of_columns(),
        GrantTable::ProcsPriv => change.of_routines(),
        GrantTable::RolesMapping => change.of_roles(),
        GrantTable::ProxiesPriv => change.of_proxies(),
    })
}

/// Rows of a grant table before and after a statement.
struct Change<'a> {
    accounts: &'a Accounts,
    before: &'a [GrantRow],
    after: &'a [GrantRow],
}

impl Change<'_> {
    /// Returns each row that was or is there, with its values before and after. Rows are the same if their accounts and
    /// these columns are.
    fn pairs<T>(&self, columns: &[&str], value: impl Fn(Option<&GrantRow>) -> T) -> Vec<(&GrantRow, T, T)> {
        let other =
            |row: &GrantRow, rows: &'_ [GrantRow]| rows.iter().position(|other| other.is_same(row, columns));
        let changed = self.before.iter().map(|old| {
            let new = other(old, self.after).map(|at| &self.after[at]);
            (old, value(Some(old)), value(new))
        });
        let added = self.after.iter().filter(|new| other(new, self.before).is_none());
        let added = added.map(|new| (new, value(None), value(Some(new))));
        changed.chain(added).collect()
    }

    /// Returns the name of a row's account or role.
    fn grantee(&self, row: &GrantRow) -> String {
        match self.accounts.get(row.user(), row.host()) {
            Some(account) => account_name(account),
            None => account_name(&Account::new(row.user(), row.host())),
        }
    }

    fn of_databases(&self) -> Vec<String> {
        let privileges = |row: Option<&GrantRow>| row.map_or(PrivilegeSet::NONE, GrantRow::privileges);
        let pairs = self.pairs(&["Db"], privileges).into_iter();
        let statements = pairs.flat_map(|(row, before, after)| {
            let object = format!("{}.*", identifier(row.cell("Db")));
            grant_statements(before, after, &object, &self.grantee(row))
        });
        statements.collect()
    }

    /// Without its row here a table's rows of `mysql.columns_priv` have no effect in MariaDB. Here they end with it.
    fn of_tables(&self) -> Vec<String> {
        let mut statements = Vec::new();
        let listed = |row: Option<&GrantRow>| row.map(|row| row.listed("Table_priv"));
        for (row, before, after) in self.pairs(&["Db", "Table_name"], listed) {
            let (object, grantee, none) = (table_name(row), self.grantee(row), PrivilegeSet::NONE);
            let account = self.accounts.get(row.user(), row.host());
            let grants = account.into_iter().flat_map(|account| &account.tables);
            let of_table = grants
                .filter(|grant| grant.database == row.cell("Db") && grant.table == row.cell("Table_name"));
            let columns: Vec<_> = of_table.flat_map(|grant| &grant.columns).collect();
            let Some(after) = after else {
                for (column, privileges) in columns {
                    statements.extend(column_statements(*privileges, none, column, &object, &grantee));
                }
                statements.extend(grant_statements(before.unwrap_or(none), none, &object, &grantee));
                continue;
            };
            let before = before.unwrap_or(none);
            statements.extend(grant_statements(before, after, &object, &grantee));
            // A REVOKE for a table takes the privilege from its columns, too.
            let revoked = before.minus(after);
            for (column, privileges) in columns {
                let lost = privileges.minus(privileges.minus(revoked));
                statements.extend(column_statements(none, lost, column, &object, &grantee));
            }
        }
        statements
    }

    fn of_columns(&self) -> Vec<String> {
        let listed = |row: Option<&GrantRow>| row.map_or(PrivilegeSet::NONE, |row| row.listed("Column_priv"));
        let pairs = self
            .pairs(&["Db", "Table_name", "Column_name"], listed)
            .into_iter();
        let statements = pairs.flat_map(|(row, before, after)| {
            let column = row.cell("Column_name");
            column_statements(before, after, column, &table_name(row), &self.grantee(row))
        });
        statements.collect()
    }

    fn of_routines(&self) -> Vec<String> {
        let listed = |row: Option<&GrantRow>| row.map_or(PrivilegeSet::NONE, |row| row.listed("Proc_priv"));
        let pairs = self
            .pairs(&["Db", "Routine_name", "Routine_type"], listed)
            .into_iter();
        let statements = pairs.flat_map(|(row, before, after)| {
            let (kind, database, name) = (
                row.cell("Routine_type"),
                identifier(row.cell("Db")),
                identifier(row.cell("Routine_name")),
            );
            let object = format!("{kind} {database}.{name}");
            grant_statements(before, after, &object, &self.grantee(row))
        });
        statements.collect()
    }

    fn of_roles(&self) -> Vec<String> {
        let mut statements = Vec::new();
        let admin = |row: Option<&GrantRow>| row.map(|row| row.cell("Admin_option") == "Y");
        for (row, before, after) in self.pairs(&["Role"], admin) {
            let (role, grantee) = (identifier(row.cell("Role")), self.grantee(row));
            statements.extend(match (before, after) {
                (None | Some(false), Some(true)) => {
                    Some(format!("GRANT {role} TO {grantee} WITH ADMIN OPTION"))
                }
                (None, Some(false)) => Some(format!("GRANT {role} TO {grantee}")),
                (Some(true), Some(false)) => Some(format!("REVOKE ADMIN OPTION FOR {role} FROM {grantee}")),
                (Some(_), None) => Some(format!("REVOKE {role} FROM {grantee}")),
                _ => None,
            });
        }
        statements
    }

    fn of_proxies(&self) -> Vec<String> {
        let mut statements = Vec::new();
        let option = |row: Option<&GrantRow>| row.map(|row| row.cell("With_grant") != "0");
        for (row, before, after) in self.pairs(&["Proxied_host", "Proxied_user"], option) {
            let proxied = account_name(&Account::new(row.cell("Proxied_user"), row.cell("Proxied_host")));
            let grantee = self.grantee(row);
            if before.is_some() && before != after {
                statements.push(format!("REVOKE PROXY ON {proxied} FROM {grantee}"));
            }
            if let Some(option) = after.filter(|_| before != after) {
                let option = if option { " WITH GRANT OPTION" } else { "" };
                statements.push(format!("GRANT PROXY ON {proxied} TO {grantee}{option}"));
            }
        }
        statements
    }
}

/// Returns the table of a row of `mysql.tables_priv` or `mysql.columns_priv`.
fn table_name(row: &GrantRow) -> String {
    format!(
        "{}.{}",
        identifier(row.cell("Db")),
        identifier(row.cell("Table_name"))
    )
}

/// Returns the statements that change accounts from one set of rows to another.
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
    use crate::accounts::TableGrant;
    use paceline_expression::session::Privilege;

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
        let accounts = Accounts::new(vec![]);
        assert_eq!(
            statements(GrantTable::Db, &accounts, &before, &after).unwrap(),
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

    #[test]
    fn rows_of_objects_become_grants() {
        let mut account = Account::new("u", "%");
        account.tables.push(TableGrant {
            database: "d".into(),
            table: "t".into(),
            grantor: String::new(),
            privileges: PrivilegeSet::of(&[Privilege::Select]),
            columns: vec![("a".into(), PrivilegeSet::of(&[Privilege::Update]))],
        });
        let accounts = Accounts::new(vec![account, Account::role("r")]);
        let of = |account: (&str, &str), cells: &[(&str, &str)]| {
            let cells = [&[("User", account.0), ("Host", account.1)], cells].concat();
            row(&cells, None)
        };
        let made = |table, before: &[GrantRow], after: &[GrantRow]| {
            statements(table, &accounts, before, after).unwrap()
        };
        let table = |words| {
            of(
                ("u", "%"),
                &[("Db", "d"), ("Table_name", "t"), ("Table_priv", words)],
            )
        };
        assert_eq!(
            made(
                GrantTable::TablesPriv,
                &[table("Select")],
                &[table("Create View,Grant")]
            ),
            [
                "REVOKE SELECT ON `d`.`t` FROM `u`@`%`",
                "GRANT CREATE VIEW ON `d`.`t` TO `u`@`%` WITH GRANT OPTION"
            ]
        );
        assert_eq!(
            made(GrantTable::TablesPriv, &[table("Select")], &[]),
            [
                "REVOKE UPDATE (`a`) ON `d`.`t` FROM `u`@`%`",
                "REVOKE SELECT ON `d`.`t` FROM `u`@`%`"
            ]
        );
        let column = |words| {
            let cells = [
                ("Db", "d"),
                ("Table_name", "t"),
                ("Column_name", "a"),
                ("Column_priv", words),
            ];
            of(("u", "%"), &cells)
        };
        assert_eq!(
            made(
                GrantTable::ColumnsPriv,
                &[column("Update")],
                &[column("Select,References")]
            ),
            [
                "REVOKE UPDATE (`a`) ON `d`.`t` FROM `u`@`%`",
                "GRANT SELECT (`a`), REFERENCES (`a`) ON `d`.`t` TO `u`@`%`"
            ]
        );
        let cells = [
            ("Db", "d"),
            ("Routine_name", "f"),
            ("Routine_type", "FUNCTION"),
            ("Proc_priv", "Execute,Alter Routine"),
        ];
        assert_eq!(
            made(GrantTable::ProcsPriv, &[of(("r", ""), &cells)], &[]),
            ["REVOKE EXECUTE, ALTER ROUTINE ON FUNCTION `d`.`f` FROM `r`"]
        );
        let role = |option| of(("u", "%"), &[("Role", "r"), ("Admin_option", option)]);
        assert_eq!(
            made(GrantTable::RolesMapping, &[], &[role("N")]),
            ["GRANT `r` TO `u`@`%`"]
        );
        assert_eq!(
            made(GrantTable::RolesMapping, &[role("Y")], &[role("N")]),
            ["REVOKE ADMIN OPTION FOR `r` FROM `u`@`%`"]
        );
        assert_eq!(
            made(GrantTable::RolesMapping, &[role("Y")], &[]),
            ["REVOKE `r` FROM `u`@`%`"]
        );
        let proxy = |option| {
            let cells = [
                ("Proxied_host", "h"),
                ("Proxied_user", "p"),
                ("With_grant", option),
            ];
            of(("u", "%"), &cells)
        };
        assert_eq!(
            made(GrantTable::ProxiesPriv, &[proxy("0")], &[proxy("1")]),
            [
                "REVOKE PROXY ON `p`@`h` FROM `u`@`%`",
                "GRANT PROXY ON `p`@`h` TO `u`@`%` WITH GRANT OPTION"
            ]
        );
    }
}
