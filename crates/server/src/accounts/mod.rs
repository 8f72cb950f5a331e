//! Accounts: users and hosts that may connect, and their privileges.
//!
//! ```text
//!   'user'@'host pattern' ─▶ Account { authentication, global privileges, privileges on databases, tables, routines, roles }
//!   role                  ─▶ Account { the same without authentication }
//! ```
//!
//! [`Accounts`] is an immutable list behind one atomic pointer; a statement about accounts creates a new list. Each
//! account is a catalog record (JSON in the form of MariaDB's `mysql.global_priv`), committed and logged like a table's
//! definition. [`session_privileges`] describes when a session notices a change, and [`checks`] has the
//! rules: which privileges a statement needs.

pub mod account;
pub mod authentication;
pub mod authority;
pub mod checks;
pub mod difference;
pub mod host;
pub mod initial;
pub mod list;
pub mod object_grant;
pub mod password_age;
pub mod password_check;
pub mod password_errors;
pub mod password_hasher;
pub mod privilege;
pub mod records;
pub mod require;
pub mod resource_limits;
pub mod session_privileges;
pub mod shared;
pub mod show;
pub mod statements;

pub use account::{Account, ProxyGrant, RoleGrant, escaped, quoted};
pub use authentication::Authentication;
pub use authority::Authority;
pub use host::{ClientHost, NameResolution};
pub use initial::{InitialAccounts, own_user};
pub use list::Accounts;
pub use object_grant::{RoutineGrant, TableGrant};
pub use password_age::PasswordAge;
pub use privilege::PrivilegeSet;
pub use require::Require;
pub use resource_limits::ResourceLimits;
pub use session_privileges::SessionPrivileges;
pub use shared::SharedAccounts;

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_expression::session::Privilege;
    use paceline_wire::authentication::NativePassword;

    #[test]
    fn records_round_trip() {
        let mut account = Account::new("sb", "%");
        account.authentication = NativePassword::of("sb").into();
        account.global = PrivilegeSet::NONE.with(Privilege::Process);
        account
            .databases
            .push(("sb%".into(), PrivilegeSet::all_of_database()));
        account.locked = true;
        account.require = Require::Certificate {
            issuer: "/CN=ca".into(),
            subject: "/CN=sb".into(),
            cipher: String::new(),
        };
        assert_eq!(Account::from_record(&account.to_record()), Some(account));
        assert_eq!(Account::from_record(b"{}"), None);
    }

    #[test]
    fn logins_find_the_most_specific_account() {
        let accounts = Accounts::new(vec![
            Account::new("", "localhost"),
            Account::new("sb", "%"),
            Account::new("sb", "192.168.%"),
            Account::new("root", "localhost"),
        ]);
        let at = |user: &str, address: &str| {
            let account = accounts.matching(
                user,
                &ClientHost::of(address.parse().unwrap(), NameResolution::Loopback),
            )?;
            Some(account.quoted())
        };
        assert_eq!(at("sb", "192.168.0.1").unwrap(), "'sb'@'192.168.%'");
        assert_eq!(at("sb", "10.0.0.1").unwrap(), "'sb'@'%'");
        // A well-known trap of MariaDB: the anonymous account of a more specific host has precedence.
        assert_eq!(at("sb", "127.0.0.1").unwrap(), "''@'localhost'");
        assert_eq!(at("root", "10.0.0.1"), None);
    }

    #[test]
    fn privileges_for_databases() {
        let mut account = Account::new("u", "%");
        account
            .databases
            .push(("shop%".into(), PrivilegeSet::NONE.with(Privilege::Select)));
        account
            .databases
            .push((r"shop\_1".into(), PrivilegeSet::NONE.with(Privilege::Insert)));
        assert!(account.privileges_in("shop_2").has(Privilege::Select));
        assert!(
            !account.privileges_in("shop_1").has(Privilege::Select)
                && account.privileges_in("shop_1").has(Privilege::Insert)
        );
        assert!(account.can_see("shop_1") && !account.can_see("mysql"));
        // Database names are case-sensitive.
        assert!(!account.can_see("Shop_1") && account.privileges_in_all(r"Shop\_1").is_empty());
        // As a pattern `shop_1` matches more than the database with this name.
        assert!(account.privileges_in_all("shop_1").has(Privilege::Select));
        assert!(account.privileges_in_all(r"shop\_1").has(Privilege::Insert));
        assert!(account.privileges_in_all("sho%").is_empty());
    }
}
