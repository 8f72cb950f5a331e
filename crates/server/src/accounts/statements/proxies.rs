//! GRANT PROXY and REVOKE PROXY.

use super::account_name::resolve;
use super::account_options::authenticate;
use super::change::AccountChange;
use super::context::AccountContext;
use super::grantee::grantee;
use crate::accounts::ProxyGrant;
use paceline_syntax::{AccountName, AccountSpec};
use paceline_syntax::{Error, Result};
use paceline_types::error_code::*;

/// Executes GRANT PROXY. The proxied account need not exist. WITH GRANT OPTION is for this grant only: in MariaDB it is
/// also the global GRANT OPTION, which any account can thus give to itself.
pub(super) fn grant(
    proxied: &AccountName,
    accounts: &[AccountSpec],
    grant_option: bool,
    context: AccountContext<'_>,
) -> Result<AccountChange> {
    let mut next = context.accounts.clone();
    let (proxied_user, proxied_host) = resolve(proxied, context)?;
    for spec in accounts {
        let (user, host) = resolve(&spec.account, context)?;
        let mut account = grantee(&next, spec, (&user, &host), context)?;
        authenticate(&mut account, spec, context)?;
        let grant = ProxyGrant {
            user: proxied_user.clone(),
            host: proxied_host.clone(),
            grant_option,
            grantor: format!("{}@{}", context.current.0, context.current.1),
        };
        let known = account.proxies.iter_mut();
        match known
            .into_iter()
            .find(|known| known.user == grant.user && known.host == grant.host)
        {
            Some(known) => *known = grant,
            None => account.proxies.push(grant),
        }
        next = next.with(account);
    }
    Ok(AccountChange::to(next))
}

/// Executes REVOKE PROXY.
pub(super) fn revoke(
    proxied: &AccountName,
    accounts: &[AccountName],
    context: AccountContext<'_>,
) -> Result<AccountChange> {
    let mut next = context.accounts.clone();
    let (proxied_user, proxied_host) = resolve(proxied, context)?;
    for name in accounts {
        let (user, host) = resolve(name, context)?;
        let none = || Error::new(ER_NONEXISTING_GRANT, &[&user, &host]);
        let mut account = next.get(&user, &host).ok_or_else(none)?.clone();
        let before = account.proxies.len();
        account
            .proxies
            .retain(|grant| grant.user != proxied_user || grant.host != proxied_host);
        if account.proxies.len() == before {
            return Err(none());
        }
        next = next.with(account);
    }
    Ok(AccountChange::to(next))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::authority::tests::Holder;
    use crate::accounts::statements::MissingAccounts;
    use paceline_catalog::Catalog;
    use paceline_expression::session::Privilege;
    use paceline_syntax::UserName;

    #[test]
    fn the_option_of_a_proxy_is_not_the_global_one() {
        let holder = Holder::new(&[], &[]);
        let accounts = holder.accounts.load();
        let context = AccountContext {
            accounts: &accounts,
            current: ("u", "%"),
            current_role: None,
            catalog: &Catalog::default(),
            virtual_tables: &*holder.session.services.virtual_tables,
            database: None,
            missing_accounts: MissingAccounts::Refused,
            sql_mode: Default::default(),
            now_seconds: 1_000,
        };
        let own = AccountName {
            user: UserName::Name("u".to_owned()),
            host: "%".to_owned(),
        };
        let spec = AccountSpec {
            account: own.clone(),
            authentication: None,
        };
        let change = grant(&own, &[spec], true, context).unwrap();
        let changed = change.accounts.get("u", "%").unwrap();
        assert!(changed.proxies[0].grant_option && !changed.global.has(Privilege::GrantOption));
    }
}
