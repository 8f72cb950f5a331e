//! Catalog records of accounts: the list that is read from them, and the ones that a statement writes.

use super::{Account, Accounts, InitialAccounts, RoutineGrant};
use paceline_catalog::{Catalog, CatalogChange};

/// Reads the accounts of a catalog. If it has none, returns the initial ones, which the first statement about accounts
/// writes to the catalog.
pub fn recorded_accounts(catalog: &Catalog, initial: &InitialAccounts) -> Accounts {
    let mut list = vec![];
    for (user, host, record) in catalog.accounts() {
        match Account::from_record(record) {
            Some(account) => list.push(account),
            None => {
                tracing::error!("the record of account '{user}'@'{host}' cannot be read; it cannot log in")
            }
        }
    }
    match catalog.accounts().next() {
        None => initial.accounts(),
        Some(_) => Accounts::new(list),
    }
}

/// Records to write for a new list of accounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrittenRecords {
    /// Those that differ.
    Changed,
    /// All, because none has been written yet.
    All,
}

impl WrittenRecords {
    /// Returns the records to write: the first statement about accounts writes one for every account.
    pub fn of_catalog(catalog: &Catalog) -> Self {
        match catalog.accounts().next() {
            None => WrittenRecords::All,
            Some(_) => WrittenRecords::Changed,
        }
    }
}

/// Returns the changes of records from one list of accounts to the next.
pub fn changed_records(before: &Accounts, after: &Accounts, written: WrittenRecords) -> Vec<CatalogChange> {
    let all = written == WrittenRecords::All;
    let mut changes = vec![];
    for account in before.iter() {
        if after.get(&account.user, &account.host).is_none() && !all {
            changes.push(CatalogChange::DropAccount {
                user: account.user.clone(),
                host: account.host.clone(),
            });
        }
    }
    for account in after.iter() {
        if all || before.get(&account.user, &account.host) != Some(account) {
            changes.push(CatalogChange::PutAccount {
                user: account.user.clone(),
                host: account.host.clone(),
                record: account.to_record(),
            });
        }
    }
    changes
}

/// Returns the changes of records after which no account has privileges on routines that are dropped.
pub fn records_without_routines(
    dropped: &[CatalogChange],
    accounts: &Accounts,
    written: WrittenRecords,
) -> Vec<CatalogChange> {
    let is_dropped = |grant: &RoutineGrant| {
        dropped.iter().any(|change| match change {
            CatalogChange::DropRoutine { kind, database, name } => grant.is_for(database, *kind, name),
            _ => false,
        })
    };
    let mut after = accounts.clone();
    for account in accounts.iter() {
        if account.routines.iter().any(is_dropped) {
            let mut account = account.clone();
            account.routines.retain(|grant| !is_dropped(grant));
            after = after.with(account);
        }
    }
    match after == *accounts {
        true => Vec::new(),
        false => changed_records(accounts, &after, written),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_statement_writes_every_account() {
        let before = Accounts::new(vec![Account::new("a", "%"), Account::new("b", "%")]);
        let mut changed = Account::new("b", "%");
        changed.locked = true;
        let after = before.without("a", "%").with(changed);
        let kinds = |written| -> Vec<String> {
            changed_records(&before, &after, written)
                .iter()
                .map(|change| match change {
                    CatalogChange::DropAccount { user, .. } => format!("drop {user}"),
                    CatalogChange::PutAccount { user, .. } => format!("put {user}"),
                    _ => "other".to_owned(),
                })
                .collect()
        };
        assert_eq!(kinds(WrittenRecords::Changed), ["drop a", "put b"]);
        assert_eq!(kinds(WrittenRecords::All), ["put b"]);
        assert!(changed_records(&before, &before, WrittenRecords::Changed).is_empty());
        assert_eq!(changed_records(&before, &before, WrittenRecords::All).len(), 2);
    }
}
