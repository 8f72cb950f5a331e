//! GRANT and REVOKE of privileges, on all levels.

use super::account_name::resolve;
use super::account_options::{authenticate, set_options};
use super::change::AccountChange;
use super::context::AccountContext;
use super::grantee::grantee;
use crate::accounts::{Account, PrivilegeSet, RoutineGrant, TableGrant};
use paceline_expression::session::Privilege;
use paceline_syntax::{
    AccountName, AccountOptions, AccountSpec, PrivilegeLevel, PrivilegeSpec, RoutineType, TableName,
};
use paceline_syntax::{Error, Result};
use paceline_types::error_code::*;

/// Object of a GRANT or REVOKE, with its database filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::accounts) enum Object {
    Global,
    /// A pattern.
    Database(String),
    Table {
        database: String,
        table: String,
    },
    Routine {
        database: String,
        kind: RoutineType,
        name: String,
    },
}

impl Object {
    /// Returns the object of a statement.
    ///
    /// # Errors
    /// 1046 without a database.
    pub(in crate::accounts) fn of(level: &PrivilegeLevel, database: Option<&str>) -> Result<Object> {
        let or_current = |named: Option<&String>| match (named, database) {
            (Some(named), _) => Ok(named.clone()),
            (None, Some(current)) => Ok(current.to_owned()),
            (None, None) => Err(Error::new(ER_NO_DB_ERROR, &[])),
        };
        Ok(match level {
            PrivilegeLevel::Global => Object::Global,
            PrivilegeLevel::Database(name) => Object::Database(or_current(name.as_ref())?),
            PrivilegeLevel::Table(TableName { database, name }) => Object::Table {
                database: or_current(database.as_ref())?,
                table: name.clone(),
            },
            PrivilegeLevel::Routine(kind, TableName { database, name }) => Object::Routine {
                database: or_current(database.as_ref())?,
                kind: *kind,
                name: name.clone(),
            },
        })
    }

    /// Returns the meaning of ALL PRIVILEGES.
    pub(in crate::accounts) fn all(&self) -> PrivilegeSet {
        self.grantable().without(Privilege::GrantOption)
    }

    fn grantable(&self) -> PrivilegeSet {
        match self {
            Object::Global => PrivilegeSet::everything(),
            Object::Database(_) => PrivilegeSet::grantable_on_database(),
            Object::Table { .. } => PrivilegeSet::grantable_on_table(),
            Object::Routine { .. } => PrivilegeSet::grantable_on_routine(),
        }
    }
}

/// Object that a GRANT or REVOKE names.
pub(super) struct Granted {
    object: Object,
    privileges: PrivilegeSet,
    columns: Vec<(String, PrivilegeSet)>,
}

impl Granted {
    pub(super) fn of(
        specs: &[PrivilegeSpec],
        level: &PrivilegeLevel,
        grant_option: bool,
        context: AccountContext<'_>,
    ) -> Result<Granted> {
        let object = Object::of(level, context.database)?;
        let mut privileges = PrivilegeSet::NONE;
        let mut columns: Vec<(String, PrivilegeSet)> = vec![];
        for spec in specs {
            let set = match spec.privilege.as_str() {
                "ALL" | "ALL PRIVILEGES" => object.all(),
                "USAGE" => PrivilegeSet::NONE,
                name => match PrivilegeSet::named(name) {
                    Some(privilege) => PrivilegeSet::of(&[privilege]),
                    None => return Err(Error::unsupported(name)),
                },
            };
            if !object.grantable().includes(set) {
                return Err(match object {
                    Object::Database(_) => Error::new(ER_WRONG_USAGE, &[&"DB GRANT", &"GLOBAL PRIVILEGES"]),
                    _ => Error::new(ER_ILLEGAL_GRANT_FOR_TABLE, &[]),
                });
            }
            if spec.columns.is_empty() {
                privileges = privileges.union(set);
                continue;
            }
            if !matches!(object, Object::Table { .. }) {
                return Err(Error::new(ER_ILLEGAL_GRANT_FOR_TABLE, &[]));
            }
            for name in &spec.columns {
                match columns
                    .iter_mut()
                    .find(|(known, _)| known.eq_ignore_ascii_case(name))
                {
                    Some((_, had)) => *had = had.union(set),
                    None => columns.push((name.clone(), set)),
                }
            }
        }
        if grant_option {
            privileges = privileges.with(Privilege::GrantOption);
        }
        Ok(Granted {
            object,
            privileges,
            columns,
        })
    }

    /// Checks that the routine, or the table and its columns exist. Whoever may create the table may have privileges on
    /// it before.
    fn check_exists(&self, context: AccountContext<'_>) -> Result<()> {
        let (database, table) = match &self.object {
            Object::Table { database, table } => (database, table),
            Object::Routine { database, kind, name } => {
                let found = context.catalog.routine(*kind, database, name);
                let error = || Error::new(ER_SP_DOES_NOT_EXIST, &[&"FUNCTION or PROCEDURE", name]);
                return found.map(|_| ()).ok_or_else(error);
            }
            Object::Global | Object::Database(_) => return Ok(()),
        };
        let unknown = |name: &str| Error::new(ER_BAD_FIELD_ERROR, &[&name, table]);
        let of_virtual = context.virtual_tables.columns(database, table);
        if let Some(definition) = context.catalog.table(database, table) {
            let missing = self
                .columns
                .iter()
                .find(|(name, _)| definition.column(name).is_none());
            return missing.map_or(Ok(()), |(name, _)| Err(unknown(name)));
        }
        if let Some(view) = context.catalog.view(database, table) {
            let is_missing = |name: &str| {
                !view
                    .columns
                    .iter()
                    .any(|known| paceline_catalog::same_name(known, name))
            };
            let missing = self.columns.iter().find(|(name, _)| is_missing(name));
            return missing.map_or(Ok(()), |(name, _)| Err(unknown(name)));
        }
        if let Some(columns) = of_virtual {
            let is_missing = |name: &str| !columns.iter().any(|known| known.name.eq_ignore_ascii_case(name));
            let missing = self.columns.iter().find(|(name, _)| is_missing(name));
            return missing.map_or(Ok(()), |(name, _)| Err(unknown(name)));
        }
        match self.columns.is_empty() && self.privileges.has(Privilege::Create) {
            true => Ok(()),
            false => Err(Error::new(ER_NO_SUCH_TABLE, &[database, table])),
        }
    }

    fn add_to(&self, account: &mut Account, context: AccountContext<'_>) {
        let grantor = || match context.current.1.is_empty() {
            true => context.current.0.to_owned(),
            false => format!("{}@{}", context.current.0, context.current.1),
        };
        match &self.object {
            Object::Global => account.global = account.global.union(self.privileges),
            Object::Database(database) => {
                let mut all = account.databases.iter_mut();
                match all.find(|(pattern, _)| pattern == database) {
                    Some((_, had)) => *had = had.union(self.privileges),
                    None if self.privileges.is_empty() => {}
                    None => account.databases.push((database.clone(), self.privileges)),
                }
            }
            Object::Table { .. } | Object::Routine { .. }
                if self.privileges.is_empty() && self.columns.is_empty() => {}
            Object::Table { database, table } => {
                let grant = match account
                    .tables
                    .iter()
                    .position(|grant| is_for(grant, database, table))
                {
                    Some(place) => &mut account.tables[place],
                    None => {
                        account.tables.push(TableGrant {
                            database: database.clone(),
                            table: table.clone(),
                            grantor: String::new(),
                            privileges: PrivilegeSet::NONE,
                            columns: vec![],
                        });
                        account.tables.last_mut().expect("it was just added")
                    }
                };
                grant.grantor = grantor();
                grant.privileges = grant.privileges.union(self.privileges);
                for (name, set) in &self.columns {
                    grant.grant_on_column(&self.spelled(name, context), *set);
                }
            }
            Object::Routine { database, kind, name } => {
                let mut all = account.routines.iter_mut();
                match all.find(|grant| grant.is_for(database, *kind, name)) {
                    Some(grant) => {
                        grant.grantor = grantor();
                        grant.privileges = grant.privileges.union(self.privileges);
                    }
                    None => account.routines.push(RoutineGrant {
                        database: database.clone(),
                        kind: *kind,
                        name: name.clone(),
                        grantor: grantor(),
                        privileges: self.privileges,
                    }),
                }
            }
        }
    }

    /// Returns a column's name as its table spells it.
    fn spelled(&self, column: &str, context: AccountContext<'_>) -> String {
        let Object::Table { database, table } = &self.object else {
            return column.to_owned();
        };
        let definition = context.catalog.table(database, table);
        let known = definition.and_then(|table| Some(table.columns()[table.column(column)?].name.clone()));
        known.unwrap_or_else(|| column.to_owned())
    }

    /// Removes the privileges. Returns whether the account had a grant on the object.
    fn remove_from(&self, account: &mut Account) -> bool {
        match &self.object {
            Object::Global => {
                account.global = account.global.minus(self.privileges);
                true
            }
            Object::Database(database) => {
                let found = account
                    .databases
                    .iter()
                    .position(|(pattern, _)| pattern == database);
                let Some(place) = found else { return false };
                account.databases[place].1 = account.databases[place].1.minus(self.privileges);
                if account.databases[place].1.is_empty() {
                    account.databases.remove(place);
                }
                true
            }
            Object::Table { database, table } => {
                let found = account
                    .tables
                    .iter()
                    .position(|grant| is_for(grant, database, table));
                let Some(place) = found else { return false };
                let grant = &mut account.tables[place];
                grant.privileges = grant.privileges.minus(self.privileges);
                let mut had_all = true;
                for (name, set) in &self.columns {
                    had_all &= grant.revoke_on_column(name, *set);
                }
                // A privilege that is revoked on the table is revoked on its columns too.
                for (_, set) in &mut grant.columns {
                    *set = set.minus(self.privileges);
                }
                grant.columns.retain(|(_, set)| !set.is_empty());
                if grant.is_empty() {
                    account.tables.remove(place);
                }
                had_all
            }
            Object::Routine { database, kind, name } => {
                let mut all = account.routines.iter();
                let found = all.position(|grant| grant.is_for(database, *kind, name));
                let Some(place) = found else { return false };
                let grant = &mut account.routines[place];
                grant.privileges = grant.privileges.minus(self.privileges);
                if grant.privileges.is_empty() {
                    account.routines.remove(place);
                }
                true
            }
        }
    }

    /// Returns the error for an account that has no grant on the object.
    fn nothing_granted(&self, user: &str, host: &str) -> Error {
        match &self.object {
            Object::Global | Object::Database(_) => Error::new(ER_NONEXISTING_GRANT, &[&user, &host]),
            Object::Table { table, .. } => Error::new(ER_NONEXISTING_TABLE_GRANT, &[&user, &host, table]),
            Object::Routine { name, .. } => Error::new(ER_NONEXISTING_PROC_GRANT, &[&user, &host, name]),
        }
    }
}

fn is_for(grant: &TableGrant, database: &str, table: &str) -> bool {
    grant.database == database && grant.table == table
}

/// Executes GRANT.
pub(super) fn grant(
    granted: &Granted,
    accounts: &[AccountSpec],
    options: &AccountOptions,
    context: AccountContext<'_>,
) -> Result<AccountChange> {
    granted.check_exists(context)?;
    let mut next = context.accounts.clone();
    for spec in accounts {
        let (user, host) = resolve(&spec.account, context)?;
        let mut account = grantee(&next, spec, (&user, &host), context)?;
        if !account.is_role {
            authenticate(&mut account, spec, context)?;
            set_options(&mut account, options)?;
        }
        granted.add_to(&mut account, context);
        next = next.with(account);
    }
    Ok(AccountChange::to(next))
}

/// Executes REVOKE.
pub(super) fn revoke(
    revoked: &Granted,
    accounts: &[AccountName],
    context: AccountContext<'_>,
) -> Result<AccountChange> {
    let mut next = context.accounts.clone();
    for name in accounts {
        let (user, host) = resolve(name, context)?;
        let none = || Error::new(ER_NONEXISTING_GRANT, &[&user, &host]);
        let mut account = next.get(&user, &host).ok_or_else(none)?.clone();
        if !revoked.remove_from(&mut account) {
            return Err(revoked.nothing_granted(&user, &host));
        }
        next = next.with(account);
    }
    Ok(AccountChange::to(next))
}

/// Executes REVOKE ALL PRIVILEGES, GRANT OPTION, which also takes all roles away.
pub(super) fn revoke_all(accounts: &[AccountName], context: AccountContext<'_>) -> Result<AccountChange> {
    let mut change = AccountChange::none(context);
    for name in accounts {
        let (user, host) = resolve(name, context)?;
        let Some(account) = change.accounts.get(&user, &host) else {
            change.failure = Some(Error::new(ER_REVOKE_GRANTS, &[]));
            continue;
        };
        let account = Account {
            global: PrivilegeSet::NONE,
            databases: vec![],
            tables: vec![],
            routines: vec![],
            roles: vec![],
            ..account.clone()
        };
        change.accounts = change.accounts.with(account);
    }
    Ok(change)
}
