//! Output of `SHOW GRANTS` and `SHOW CREATE USER`.

use super::{Account, PrivilegeSet};
use paceline_expression::session::Privilege;

/// Returns the lines of `SHOW GRANTS`.
pub fn grants(account: &Account) -> Vec<String> {
    let to = name(account);
    let mut line = format!(
        "GRANT {} ON *.* TO {to}",
        account.global.listed(PrivilegeSet::all_global())
    );
    line.push_str(&account.authentication.show());
    line.push_str(&account.require.show());
    if account.user_connections_max > 0 || account.global.has(Privilege::GrantOption) {
        line.push_str(" WITH");
        if account.global.has(Privilege::GrantOption) {
            line.push_str(" GRANT OPTION");
        }
        if account.user_connections_max > 0 {
            line.push_str(&format!(" MAX_USER_CONNECTIONS {}", account.user_connections_max));
        }
    }
    let mut lines = vec![line];
    for (database, set) in &account.databases {
        let listed = set.listed(PrivilegeSet::all_of_database());
        let option = if set.has(Privilege::GrantOption) {
            " WITH GRANT OPTION"
        } else {
            ""
        };
        lines.push(format!(
            "GRANT {listed} ON {}.* TO {to}{option}",
            identifier(database)
        ));
    }
    lines
}

/// Returns the line of `SHOW CREATE USER`.
pub fn create_user(account: &Account) -> String {
    let mut line = format!(
        "CREATE USER {}{}{}",
        name(account),
        account.authentication.show(),
        account.require.show()
    );
    if account.user_connections_max > 0 {
        line.push_str(&format!(
            " WITH MAX_USER_CONNECTIONS {}",
            account.user_connections_max
        ));
    }
    if account.locked {
        line.push_str(" ACCOUNT LOCK");
    }
    line
}

fn name(account: &Account) -> String {
    format!("{}@{}", identifier(&account.user), identifier(&account.host))
}

/// Quotes a text as a string literal.
pub fn text_literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

/// Quotes an identifier with backticks.
pub fn identifier(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// Returns a query for all rows of a table or view.
pub fn select_all(database: &str, table: &str) -> String {
    format!("SELECT * FROM {}.{}", identifier(database), identifier(table))
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_wire::authentication::NativePassword;

    /// Output of MariaDB 10.11 for the same account.
    #[test]
    fn shown_as_in_mariadb() {
        let mut account = Account::new("u1", "%");
        account.authentication = NativePassword::of("x").into();
        account.global = PrivilegeSet::NONE
            .with(Privilege::Super)
            .with(Privilege::GrantOption);
        account.databases.push((
            "d1".into(),
            PrivilegeSet::NONE.with(Privilege::Insert).with(Privilege::Select),
        ));
        account
            .databases
            .push(("d2".into(), PrivilegeSet::all_of_database()));
        assert_eq!(
            grants(&account),
            [
                "GRANT SUPER ON *.* TO `u1`@`%` IDENTIFIED BY PASSWORD '*B69027D44F6E5EDC07F1AEAD1477967B16F28227' WITH GRANT OPTION",
                "GRANT SELECT, INSERT ON `d1`.* TO `u1`@`%`",
                "GRANT ALL PRIVILEGES ON `d2`.* TO `u1`@`%`",
            ]
        );
        assert_eq!(
            create_user(&account),
            "CREATE USER `u1`@`%` IDENTIFIED BY PASSWORD '*B69027D44F6E5EDC07F1AEAD1477967B16F28227'"
        );
        assert_eq!(
            grants(&Account::new("u2", "%")),
            ["GRANT USAGE ON *.* TO `u2`@`%`"]
        );
    }
}
