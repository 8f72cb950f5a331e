//! Options of an account in CREATE USER, ALTER USER and GRANT: `IDENTIFIED …`, `REQUIRE …`, `WITH …`,
//! `PASSWORD EXPIRE …`, `ACCOUNT LOCK`.

use super::context::AccountContext;
use crate::accounts::authentication::{Authentication, Method};
use crate::accounts::{Account, Require};
use paceline_syntax::{AccountOptions, AccountSpec, AuthenticationPlugin};
use paceline_syntax::{Error, Result};
use paceline_wire::authentication::{NATIVE_PASSWORD, NativePassword};

/// Sets an account's authentication, and the time of its new password.
pub(super) fn authenticate(
    account: &mut Account,
    spec: &AccountSpec,
    context: AccountContext<'_>,
) -> Result<()> {
    if spec.authentication.is_some() {
        account.password_age.renew(context.now_seconds);
    }
    match &spec.authentication {
        None => {}
        Some(paceline_syntax::Authentication::Password(password)) => {
            account.authentication = Method::with(NATIVE_PASSWORD, password)?.into();
        }
        Some(paceline_syntax::Authentication::Plugins(plugins)) => {
            let methods = plugins.iter().map(method).collect::<Result<Vec<_>>>()?;
            account.authentication = Authentication::any_of(methods).unwrap_or(NativePassword::Empty.into());
        }
    }
    Ok(())
}

fn method(plugin: &AuthenticationPlugin) -> Result<Method> {
    match &plugin.credential {
        Some(password) => Method::with(&plugin.plugin, password),
        None => Method::parse(&plugin.plugin, ""),
    }
}

/// Sets what REQUIRE, WITH, PASSWORD EXPIRE and ACCOUNT LOCK say.
pub(super) fn set_options(account: &mut Account, options: &AccountOptions) -> Result<()> {
    if let Some(require) = &options.require {
        account.require = Require::of(require);
    }
    for (name, value) in &options.limits {
        match name.as_str() {
            "MAX_QUERIES_PER_HOUR" => account.limits.queries = *value,
            "MAX_UPDATES_PER_HOUR" => account.limits.updates = *value,
            "MAX_CONNECTIONS_PER_HOUR" => account.limits.connections = *value,
            "MAX_STATEMENT_TIME" => account.statement_time.micros = *value,
            other => return Err(Error::unsupported(other)),
        }
    }
    if let Some(most) = options.user_connections {
        account.user_connections_max = most;
    }
    if let Some(expire) = options.password_expire {
        account.password_age.expire(expire);
    }
    if let Some(locked) = options.locked {
        account.locked = locked;
    }
    Ok(())
}
