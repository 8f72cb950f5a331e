//! Age of an account's password: `PASSWORD EXPIRE`.
//!
//! As in MariaDB, a password expires when it is older than its lifetime, or at once with `PASSWORD EXPIRE`, which sets
//! the time of its last change to 0. A session with an expired password may only set a new one.

use paceline_syntax::PasswordExpire;
use serde::{Deserialize, Serialize};

/// Age and lifetime of a password, with the names of MariaDB's `mysql.global_priv`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PasswordAge {
    /// Last change in seconds since 1970; 0 means that it has expired. `None` for accounts of earlier versions.
    #[serde(
        default,
        rename = "password_last_changed",
        skip_serializing_if = "Option::is_none"
    )]
    changed_seconds: Option<i64>,
    /// Lifetime in days; 0 for NEVER. `None` or -1 is `default_password_lifetime`.
    #[serde(
        default,
        rename = "password_lifetime",
        skip_serializing_if = "Option::is_none"
    )]
    lifetime_days: Option<i64>,
}

impl PasswordAge {
    /// Notes a new password.
    pub fn renew(&mut self, now_seconds: i64) {
        self.changed_seconds = Some(now_seconds);
    }

    /// Applies `PASSWORD EXPIRE …`.
    pub fn expire(&mut self, expire: PasswordExpire) {
        match expire {
            PasswordExpire::Now => {
                self.changed_seconds = Some(0);
                self.lifetime_days = self.lifetime_days.or(Some(-1));
            }
            PasswordExpire::Never => self.lifetime_days = Some(0),
            PasswordExpire::Default => self.lifetime_days = Some(-1),
            PasswordExpire::Days(days) => self.lifetime_days = Some(i64::from(days)),
        }
    }

    /// Returns whether `PASSWORD EXPIRE` was executed after the last change.
    pub fn is_marked(self) -> bool {
        self.changed_seconds == Some(0)
    }

    /// Returns whether the password has expired. `default_days` is `default_password_lifetime`; 0 means never.
    pub fn has_expired(self, default_days: u64, now_seconds: i64) -> bool {
        let days = match self.lifetime_days {
            None | Some(-1) => i64::try_from(default_days).unwrap_or(i64::MAX),
            Some(days) => days,
        };
        match self.changed_seconds {
            Some(0) => true,
            Some(changed) => days > 0 && changed.saturating_add(days.saturating_mul(86_400)) <= now_seconds,
            None => false,
        }
    }

    /// Returns the lifetime as SHOW CREATE USER shows it; `None` for the default.
    pub fn shown_lifetime(self) -> Option<String> {
        match self.lifetime_days? {
            ..0 => None,
            0 => Some(" PASSWORD EXPIRE NEVER".to_owned()),
            days => Some(format!(" PASSWORD EXPIRE INTERVAL {days} DAY")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_expires_after_its_lifetime_or_at_once() {
        const DAY: i64 = 86_400;
        let mut age = PasswordAge::default();
        age.renew(100);
        assert!(!age.has_expired(0, 1_000 * DAY) && age.has_expired(2, 100 + 2 * DAY));
        age.expire(PasswordExpire::Days(3));
        assert!(!age.has_expired(2, 100 + 2 * DAY) && age.has_expired(2, 100 + 3 * DAY));
        age.expire(PasswordExpire::Never);
        assert!(!age.has_expired(1, 1_000 * DAY));
        age.expire(PasswordExpire::Now);
        assert!(age.has_expired(0, 0) && age.is_marked());
        assert_eq!(age.shown_lifetime().unwrap(), " PASSWORD EXPIRE NEVER");
        age.renew(200);
        assert!(!age.has_expired(0, 200));
    }
}
