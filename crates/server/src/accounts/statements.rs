//! CREATE USER, GRANT and related statements: computes the next list of accounts from a parsed statement.
//!
//! CREATE, ALTER, DROP and RENAME USER, and REVOKE ALL on several accounts, change as many accounts as possible and
//! fail for the rest. [`AccountChange::failure`] is logged with the changes, which makes replicas do the same. GRANT
//! and REVOKE change everything or nothing. MariaDB executes them in part but does not log this, so its replicas miss
//! the changes.
//!
//! All functions are pure. The caller checks the privileges and commits the result. The same code runs when a statement
//! is replayed from the log, so nothing may depend on anything but its arguments.

use super::authentication::{Authentication, Method, UNIX_SOCKET};
use super::{Account, Accounts, PrivilegeSet, Require, quoted};
use paceline_expression::session::{Privilege, SqlMode};
use paceline_syntax::{
    self, AccountName, AccountOptions, AccountSpec, AccountStatement, AuthenticationPlugin, PasswordSpec,
    PrivilegeLevel, PrivilegeSpec, UserName,
};
use paceline_syntax::{Error, Result};
use paceline_types::error_code::*;
use paceline_wire::authentication::{NATIVE_PASSWORD, NativePassword};

/// Context of a statement about accounts.
#[derive(Debug, Clone, Copy)]
pub struct AccountContext<'a> {
    /// Accounts before the statement.
    pub accounts: &'a Accounts,
    /// `CURRENT_USER()` of the session: user and host.
    pub current: (&'a str, &'a str),
    /// The current database.
    pub database: Option<&'a str>,
    /// Whether GRANT creates missing accounts.
    pub missing_accounts: MissingAccounts,
}

/// Effect of GRANT on a missing account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingAccounts {
    /// `NO_AUTO_CREATE_USER`: 1133, unless the statement sets a password.
    Refused,
    /// GRANT creates the account.
    Made,
}

impl MissingAccounts {
    /// Returns the behaviour for an `sql_mode`.
    pub fn of_sql_mode(mode: SqlMode) -> Self {
        match mode.contains(SqlMode::NO_AUTO_CREATE_USER) {
            true => MissingAccounts::Refused,
            false => MissingAccounts::Made,
        }
    }
}

/// Result of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountChange {
    /// Accounts after the statement.
    pub accounts: Accounts,
    /// Notes for accounts that `IF EXISTS` or `IF NOT EXISTS` skipped.
    pub notes: Vec<(ErrorCode, String)>,
    /// Error of the statement, if some accounts were changed and others could not be.
    pub failure: Option<Error>,
}

/// Maximum length of a user name, in characters.
const USER_LENGTH_MAX: usize = 80;
/// Maximum length of a host name, in characters.
const HOST_LENGTH_MAX: usize = 60;

/// Applies a statement.
///
/// # Errors
/// If nothing was changed: 1396 for existing or missing accounts, 1133, 1141, 1235 for roles and for privileges below
/// databases, 1524, 1372.
pub fn apply(statement: &AccountStatement, context: AccountContext<'_>) -> Result<AccountChange> {
    let mut next = context.accounts.clone();
    let mut notes = vec![];
    let mut failure = None;
    match statement {
        AccountStatement::Create {
            or_replace,
            if_not_exists,
            accounts,
            options,
        } => {
            let mut failed = vec![];
            for spec in accounts {
                let (user, host) = resolve(&spec.account, context)?;
                if next.get(&user, &host).is_some() && !or_replace {
                    match if_not_exists {
                        true => notes.push((
                            ER_USER_CREATE_EXISTS,
                            ER_USER_CREATE_EXISTS.message(&[&user, &host]),
                        )),
                        false => failed.push(quoted(&user, &host)),
                    }
                    continue;
                }
                let mut account = Account::new(user, host);
                if let Err(error) = authenticate(&mut account, spec) {
                    failure = Some(error);
                    break;
                }
                set_options(&mut account, options)?;
                next = next.with(account);
            }
            failure = failure.or(refused("CREATE USER", &failed));
        }
        AccountStatement::Alter {
            if_exists,
            accounts,
            options,
        } => {
            let mut failed = vec![];
            for spec in accounts {
                let (user, host) = resolve(&spec.account, context)?;
                let Some(account) = next.get(&user, &host) else {
                    match if_exists {
                        true => notes.push((
                            ER_CANNOT_USER,
                            ER_CANNOT_USER.message(&[&"ALTER USER", &quoted(&user, &host)]),
                        )),
                        false => failed.push(quoted(&user, &host)),
                    }
                    continue;
                };
                let mut account = account.clone();
                if let Err(error) = authenticate(&mut account, spec) {
                    match accounts.len() {
                        1 => return Err(error),
                        _ => failed.push(quoted(&user, &host)),
                    }
                    continue;
                }
                set_options(&mut account, options)?;
                next = next.with(account);
            }
            failure = failure.or(refused("ALTER USER", &failed));
        }
        AccountStatement::Drop { if_exists, accounts } => {
            let mut failed = vec![];
            for name in accounts {
                let (user, host) = resolve(name, context)?;
                if next.get(&user, &host).is_none() {
                    match if_exists {
                        true => {
                            notes.push((ER_USER_DROP_EXISTS, ER_USER_DROP_EXISTS.message(&[&user, &host])))
                        }
                        false => failed.push(quoted(&user, &host)),
                    }
                    continue;
                }
                next = next.without(&user, &host);
            }
            // Keep the last accounts: without any, nobody could log in, and a catalog without accounts means the
            // initial ones.
            if next.iter().next().is_none() {
                next = context.accounts.clone();
                failed = accounts
                    .iter()
                    .map(|name| resolve(name, context).map(|(user, host)| quoted(&user, &host)))
                    .collect::<Result<_>>()?;
            }
            failure = failure.or(refused("DROP USER", &failed));
        }
        AccountStatement::Rename(pairs) => {
            let mut failed = vec![];
            for (from, to) in pairs {
                let (user, host) = resolve(from, context)?;
                let (new_user, new_host) = resolve(to, context)?;
                match next.get(&user, &host) {
                    Some(account) if next.get(&new_user, &new_host).is_none() => {
                        let account = Account {
                            user: new_user,
                            host: new_host,
                            ..account.clone()
                        };
                        next = next.without(&user, &host).with(account);
                    }
                    _ => failed.push(quoted(&user, &host)),
                }
            }
            failure = failure.or(refused("RENAME USER", &failed));
        }
        AccountStatement::Grant {
            privileges,
            level,
            accounts,
            options,
            grant_option,
        } => {
            let (mut set, database) = privileges_at(privileges, level, context)?;
            if *grant_option {
                set = set.with(Privilege::GrantOption);
            }
            for spec in accounts {
                let (user, host) = resolve(&spec.account, context)?;
                let mut account = match next.get(&user, &host) {
                    Some(account) => account.clone(),
                    None if spec.authentication.is_some()
                        || context.missing_accounts == MissingAccounts::Made =>
                    {
                        Account::new(user, host)
                    }
                    None => return Err(Error::new(ER_PASSWORD_NO_MATCH, &[])),
                };
                authenticate(&mut account, spec)?;
                set_options(&mut account, options)?;
                match &database {
                    None => account.global = account.global.union(set),
                    Some(database) => match account
                        .databases
                        .iter_mut()
                        .find(|(pattern, _)| pattern == database)
                    {
                        Some((_, had)) => *had = had.union(set),
                        None if set.is_empty() => {}
                        None => account.databases.push((database.clone(), set)),
                    },
                }
                next = next.with(account);
            }
        }
        AccountStatement::Revoke {
            privileges,
            level,
            accounts,
        } => {
            let (set, database) = privileges_at(privileges, level, context)?;
            for name in accounts {
                let (user, host) = resolve(name, context)?;
                let none = || Error::new(ER_NONEXISTING_GRANT, &[&user, &host]);
                let mut account = next.get(&user, &host).ok_or_else(none)?.clone();
                match &database {
                    None => account.global = account.global.minus(set),
                    Some(database) => {
                        let is_its = |(pattern, _): &(String, _)| pattern == database;
                        let place = account.databases.iter().position(is_its).ok_or_else(none)?;
                        account.databases[place].1 = account.databases[place].1.minus(set);
                        if account.databases[place].1.is_empty() {
                            account.databases.remove(place);
                        }
                    }
                }
                next = next.with(account);
            }
        }
        AccountStatement::RevokeAll(accounts) => {
            for name in accounts {
                let (user, host) = resolve(name, context)?;
                let Some(account) = next.get(&user, &host) else {
                    failure = Some(Error::new(ER_REVOKE_GRANTS, &[]));
                    continue;
                };
                let account = Account {
                    global: PrivilegeSet::NONE,
                    databases: vec![],
                    ..account.clone()
                };
                next = next.with(account);
            }
        }
        AccountStatement::SetPassword { account, password } => {
            let (user, host) = match account {
                Some(name) => resolve(name, context)?,
                None => (context.current.0.to_owned(), context.current.1.to_owned()),
            };
            let account = next
                .get(&user, &host)
                .ok_or_else(|| Error::new(ER_PASSWORD_NO_MATCH, &[]))?;
            let password = password_method(password)?;
            let authentication = account.authentication.with_password(password).ok_or_else(|| {
                let plugin = account.authentication.primary().plugin();
                Error::new(ER_SET_PASSWORD_AUTH_PLUGIN, &[&plugin])
            })?;
            let account = Account {
                authentication,
                ..account.clone()
            };
            next = next.with(account);
        }
    }
    match failure {
        // If nothing changed, nothing is logged. MariaDB nevertheless logs REVOKE ALL.
        Some(error) if next == *context.accounts && !matches!(statement, AccountStatement::RevokeAll(_)) => {
            Err(error)
        }
        failure => Ok(AccountChange {
            accounts: next,
            notes,
            failure,
        }),
    }
}

/// Returns user and host of an account in a statement.
pub fn resolve(name: &AccountName, context: AccountContext<'_>) -> Result<(String, String)> {
    match &name.user {
        UserName::Name(user) => {
            for (text, what, longest) in [
                (user, "user name", USER_LENGTH_MAX),
                (&name.host, "host name", HOST_LENGTH_MAX),
            ] {
                if text.chars().count() > longest {
                    return Err(Error::new(ER_WRONG_STRING_LENGTH, &[text, &what, &longest]));
                }
            }
            Ok((user.clone(), name.host.to_ascii_lowercase()))
        }
        UserName::Current => Ok((context.current.0.to_owned(), context.current.1.to_owned())),
        UserName::Role(_) => Err(Error::unsupported("roles")),
    }
}

fn refused(operation: &str, failed: &[String]) -> Option<Error> {
    (!failed.is_empty()).then(|| Error::new(ER_CANNOT_USER, &[&operation, &failed.join(",")]))
}

fn authenticate(account: &mut Account, spec: &AccountSpec) -> Result<()> {
    match &spec.authentication {
        None => {}
        Some(paceline_syntax::Authentication::Password(password)) => {
            account.authentication = password_method(password)?.into();
        }
        Some(paceline_syntax::Authentication::Plugins(plugins)) => {
            let methods = plugins.iter().map(method).collect::<Result<Vec<_>>>()?;
            account.authentication = Authentication::any_of(methods).unwrap_or(NativePassword::Empty.into());
        }
    }
    Ok(())
}

fn method(plugin: &AuthenticationPlugin) -> Result<Method> {
    let name = &plugin.plugin;
    let is_native = name.is_empty() || name.eq_ignore_ascii_case(NATIVE_PASSWORD);
    match &plugin.credential {
        Some(password) if is_native => password_method(password),
        Some(PasswordSpec::Plain(_)) if name.eq_ignore_ascii_case(UNIX_SOCKET) => {
            Err(Error::new(ER_SET_PASSWORD_AUTH_PLUGIN, &[&UNIX_SOCKET]))
        }
        credential => {
            let text = match credential {
                Some(PasswordSpec::Hash(text)) => text,
                _ => "",
            };
            Method::parse(name, text).ok_or_else(|| Error::new(ER_PLUGIN_IS_NOT_LOADED, &[name]))
        }
    }
}

fn password_method(password: &PasswordSpec) -> Result<Method> {
    match password {
        PasswordSpec::Plain(text) => Ok(Method::Native(NativePassword::of(text))),
        PasswordSpec::Hash(text) => {
            Method::parse(NATIVE_PASSWORD, text).ok_or_else(|| Error::new(ER_PASSWD_LENGTH, &[&41]))
        }
    }
}

fn set_options(account: &mut Account, options: &AccountOptions) -> Result<()> {
    use paceline_syntax::PasswordExpire;
    if let Some(require) = &options.require {
        account.require = Require::of(require);
    }
    for (name, value) in &options.limits {
        match name.as_str() {
            "MAX_USER_CONNECTIONS" => account.user_connections_max = *value,
            _ if *value == 0 => {}
            other => return Err(Error::unsupported(other)),
        }
    }
    match options.password_expire {
        None | Some(PasswordExpire::Never | PasswordExpire::Default) => {}
        Some(_) => return Err(Error::unsupported("PASSWORD EXPIRE")),
    }
    if let Some(locked) = options.locked {
        account.locked = locked;
    }
    Ok(())
}

/// Returns the privileges in a GRANT or REVOKE, and its database; `None` for the global level.
fn privileges_at(
    specs: &[PrivilegeSpec],
    level: &PrivilegeLevel,
    context: AccountContext<'_>,
) -> Result<(PrivilegeSet, Option<String>)> {
    let database = match level {
        PrivilegeLevel::Global => None,
        PrivilegeLevel::Database(Some(name)) => Some(name.clone()),
        PrivilegeLevel::Database(None) => Some(
            context
                .database
                .ok_or_else(|| Error::new(ER_NO_DB_ERROR, &[]))?
                .to_owned(),
        ),
        PrivilegeLevel::Table(_) => return Err(Error::unsupported("privileges on tables")),
        PrivilegeLevel::Routine(_) => return Err(Error::unsupported("privileges on routines")),
    };
    let (all, possible) = match database {
        None => (PrivilegeSet::all_global(), PrivilegeSet::everything()),
        Some(_) => (
            PrivilegeSet::all_of_database(),
            PrivilegeSet::grantable_on_database(),
        ),
    };
    let mut set = PrivilegeSet::NONE;
    for spec in specs {
        if !spec.columns.is_empty() {
            return Err(Error::unsupported("privileges on columns"));
        }
        match spec.privilege.as_str() {
            "ALL" | "ALL PRIVILEGES" => set = set.union(all),
            "USAGE" => {}
            "PROXY" => return Err(Error::unsupported("proxy users")),
            name => match PrivilegeSet::named(name) {
                Some(privilege) if possible.has(privilege) => set = set.with(privilege),
                Some(_) => return Err(Error::new(ER_WRONG_USAGE, &[&"DB GRANT", &"GLOBAL PRIVILEGES"])),
                None => return Err(Error::unsupported(name)),
            },
        }
    }
    Ok((set, database))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::InitialAccounts;

    fn initial() -> Accounts {
        InitialAccounts::WithoutPassword.accounts()
    }

    fn name(user: &str) -> AccountName {
        AccountName {
            user: UserName::Name(user.into()),
            host: "%".into(),
        }
    }

    fn spec(user: &str, password: Option<&str>) -> AccountSpec {
        let authentication =
            password.map(|text| paceline_syntax::Authentication::Password(PasswordSpec::Plain(text.into())));
        AccountSpec {
            account: name(user),
            authentication,
        }
    }

    fn run(accounts: &Accounts, statement: AccountStatement) -> Result<AccountChange> {
        apply(
            &statement,
            AccountContext {
                accounts,
                current: ("root", "localhost"),
                database: Some("shop"),
                missing_accounts: MissingAccounts::Refused,
            },
        )
    }

    fn grant(user: &str, privilege: &str, level: PrivilegeLevel) -> AccountStatement {
        AccountStatement::Grant {
            privileges: vec![PrivilegeSpec {
                privilege: privilege.into(),
                columns: vec![],
            }],
            level,
            accounts: vec![spec(user, None)],
            options: AccountOptions::default(),
            grant_option: false,
        }
    }

    fn create(user: &str, if_not_exists: bool) -> AccountStatement {
        AccountStatement::Create {
            or_replace: false,
            if_not_exists,
            accounts: vec![spec(user, Some("pw"))],
            options: AccountOptions::default(),
        }
    }

    #[test]
    fn accounts_are_created_renamed_and_dropped() {
        let accounts = run(&initial(), create("sb", false)).unwrap().accounts;
        assert_eq!(
            accounts.get("sb", "%").unwrap().authentication,
            NativePassword::of("pw").into()
        );
        let error = run(&accounts, create("sb", false)).unwrap_err();
        assert_eq!(
            (error.code().number(), error.message()),
            (1396, "Operation CREATE USER failed for 'sb'@'%'")
        );
        assert_eq!(
            run(&accounts, create("sb", true)).unwrap().notes[0].1,
            "Can't create user 'sb'@'%'; it already exists"
        );
        let accounts = run(
            &accounts,
            AccountStatement::Rename(vec![(name("sb"), name("other"))]),
        )
        .unwrap()
        .accounts;
        assert!(accounts.get("sb", "%").is_none());
        let drop = AccountStatement::Drop {
            if_exists: false,
            accounts: vec![name("other")],
        };
        let accounts = run(&accounts, drop.clone()).unwrap().accounts;
        assert_eq!(accounts, initial());
        assert_eq!(run(&accounts, drop).unwrap_err().code().number(), 1396);
    }

    #[test]
    fn grants_accumulate_and_are_revoked() {
        let accounts = run(&initial(), create("sb", false)).unwrap().accounts;
        let accounts = run(&accounts, grant("sb", "SELECT", PrivilegeLevel::Database(None)))
            .unwrap()
            .accounts;
        let accounts = run(
            &accounts,
            grant("sb", "INSERT", PrivilegeLevel::Database(Some("shop".into()))),
        )
        .unwrap()
        .accounts;
        let accounts = run(&accounts, grant("sb", "PROCESS", PrivilegeLevel::Global))
            .unwrap()
            .accounts;
        let account = accounts.get("sb", "%").unwrap();
        assert!(
            account.privileges_in("shop").has(Privilege::Insert) && account.global.has(Privilege::Process)
        );
        let revoke = AccountStatement::Revoke {
            privileges: vec![PrivilegeSpec {
                privilege: "ALL PRIVILEGES".into(),
                columns: vec![],
            }],
            level: PrivilegeLevel::Database(Some("shop".into())),
            accounts: vec![name("sb")],
        };
        let accounts = run(&accounts, revoke.clone()).unwrap().accounts;
        assert!(accounts.get("sb", "%").unwrap().databases.is_empty());
        assert_eq!(run(&accounts, revoke).unwrap_err().code().number(), 1141);
    }

    #[test]
    fn statements_do_as_much_as_possible() {
        let before = run(&InitialAccounts::WithoutPassword.accounts(), create("sb", false))
            .unwrap()
            .accounts;
        let done = |statement| {
            let applied = run(&before, statement).unwrap();
            let failure = applied.failure.unwrap();
            let users: Vec<String> = applied
                .accounts
                .iter()
                .map(|account| account.user.clone())
                .collect();
            (
                failure.code().number(),
                failure.message().to_owned(),
                users.join(" "),
            )
        };
        let drop = AccountStatement::Drop {
            if_exists: false,
            accounts: vec![name("no"), name("sb"), name("none")],
        };
        let (code, message, users) = done(drop);
        assert_eq!(
            (code, message.as_str(), users.contains("sb")),
            (1396, "Operation DROP USER failed for 'no'@'%','none'@'%'", false)
        );
        let create = AccountStatement::Create {
            or_replace: false,
            if_not_exists: false,
            accounts: vec![spec("new", None), spec("sb", None)],
            options: AccountOptions::default(),
        };
        let (code, _, users) = done(create);
        assert!(code == 1396 && users.contains("new"), "{users}");
        let AccountStatement::Grant {
            privileges,
            level,
            options,
            ..
        } = grant("sb", "SELECT", PrivilegeLevel::Global)
        else {
            unreachable!("that is what it makes")
        };
        let several = AccountStatement::Grant {
            privileges,
            level,
            accounts: vec![spec("sb", None), spec("no", None)],
            options,
            grant_option: false,
        };
        assert_eq!(run(&before, several).unwrap_err().code().number(), 1133);
    }

    #[test]
    fn privileges_that_cannot_be_granted() {
        let accounts = initial();
        let refused = |statement| run(&accounts, statement).unwrap_err().code().number();
        assert_eq!(refused(grant("nobody", "SELECT", PrivilegeLevel::Global)), 1133);
        assert_eq!(
            refused(grant("root", "SUPER", PrivilegeLevel::Database(None))),
            1221
        );
        let table = PrivilegeLevel::Table(paceline_syntax::TableName::new("t"));
        assert_eq!(refused(grant("root", "SELECT", table)), 1235);
    }
}
