//! Limits on what one account does in an hour: `WITH MAX_QUERIES_PER_HOUR …`.
//!
//! The sessions of an account share its counters. They begin again an hour after the first use, and with
//! `FLUSH USER_RESOURCES`. As in MariaDB, a session has the limits as of its login.

use paceline_syntax::{Error, Result};
use paceline_types::error_code::ER_USER_LIMIT_REACHED;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

const HOUR: Duration = Duration::from_secs(3600);

/// Limits of an account, with the names of MariaDB's `mysql.global_priv`; 0 means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceLimits {
    /// `MAX_QUERIES_PER_HOUR`.
    #[serde(default, rename = "max_questions", skip_serializing_if = "is_zero")]
    pub queries: u64,
    /// `MAX_UPDATES_PER_HOUR`: statements that change something.
    #[serde(default, rename = "max_updates", skip_serializing_if = "is_zero")]
    pub updates: u64,
    /// `MAX_CONNECTIONS_PER_HOUR`.
    #[serde(default, rename = "max_connections", skip_serializing_if = "is_zero")]
    pub connections: u64,
}

fn is_zero(value: &u64) -> bool {
    *value == 0
}

impl ResourceLimits {
    /// Returns the limits in the order and with the words of GRANT.
    pub fn named(self) -> [(&'static str, u64); 3] {
        [
            ("MAX_QUERIES_PER_HOUR", self.queries),
            ("MAX_UPDATES_PER_HOUR", self.updates),
            ("MAX_CONNECTIONS_PER_HOUR", self.connections),
        ]
    }

    fn is_unlimited(self) -> bool {
        self == ResourceLimits::default()
    }
}

/// Limit on the time of a statement, in microseconds; 0 means no limit. Its record has seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "f64", into = "f64")]
pub struct StatementTime {
    /// Microseconds.
    pub micros: u64,
}

impl StatementTime {
    /// Returns the limit in seconds.
    pub fn seconds(self) -> f64 {
        self.micros as f64 / 1e6
    }

    /// Returns whether there is no limit.
    pub fn is_unlimited(&self) -> bool {
        self.micros == 0
    }
}

impl From<f64> for StatementTime {
    fn from(seconds: f64) -> Self {
        StatementTime {
            micros: (seconds * 1e6).round() as u64,
        }
    }
}

impl From<StatementTime> for f64 {
    fn from(time: StatementTime) -> f64 {
        time.seconds()
    }
}

#[derive(Debug)]
struct Used {
    since: Instant,
    queries: u64,
    updates: u64,
    connections: u64,
}

impl Used {
    fn new() -> Self {
        Used {
            since: Instant::now(),
            queries: 0,
            updates: 0,
            connections: 0,
        }
    }
}

/// Counters of an account, shared by its sessions.
#[derive(Debug)]
pub struct HourlyUse(Mutex<Used>);

/// Counters of all accounts with limits. There are at most as many as accounts that ever had limits.
#[derive(Debug, Default)]
pub struct HourlyUses(Mutex<HashMap<(String, String), Arc<HourlyUse>>>);

impl HourlyUses {
    /// Counts a connection of an account. Returns its counters; `None` for an account without limits.
    ///
    /// # Errors
    /// 1226 for too many connections.
    pub fn connect(&self, user: &str, host: &str, limits: ResourceLimits) -> Result<Option<SessionUse>> {
        if limits.is_unlimited() {
            return Ok(None);
        }
        let of_account = {
            let mut all = self.0.lock();
            let new = || Arc::new(HourlyUse(Mutex::new(Used::new())));
            let key = (user.to_owned(), host.to_owned());
            all.entry(key).or_insert_with(new).clone()
        };
        let session = SessionUse {
            user: user.to_owned(),
            limits,
            of_account,
        };
        session.count(limits.connections, "max_connections_per_hour", |used| {
            &mut used.connections
        })?;
        Ok(Some(session))
    }

    /// Begins to count again, for FLUSH USER_RESOURCES.
    pub fn reset(&self) {
        for of_account in self.0.lock().values() {
            *of_account.0.lock() = Used::new();
        }
    }
}

/// Whether a statement changes something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It reads.
    Reads,
    /// It changes data or definitions.
    Changes,
}

/// Use of an account's limits, as a session counts it.
#[derive(Debug, Clone)]
pub struct SessionUse {
    user: String,
    limits: ResourceLimits,
    of_account: Arc<HourlyUse>,
}

impl SessionUse {
    /// Counts a statement.
    ///
    /// # Errors
    /// 1226 for too many statements in the hour.
    pub fn count_statement(&self, effect: Effect) -> Result<()> {
        self.count(self.limits.queries, "max_queries_per_hour", |used| {
            &mut used.queries
        })?;
        match effect {
            Effect::Reads => Ok(()),
            Effect::Changes => self.count(self.limits.updates, "max_updates_per_hour", |used| {
                &mut used.updates
            }),
        }
    }

    fn count(&self, limit: u64, resource: &str, counter: fn(&mut Used) -> &mut u64) -> Result<()> {
        if limit == 0 {
            return Ok(());
        }
        let mut used = self.of_account.0.lock();
        if used.since.elapsed() >= HOUR {
            *used = Used::new();
        }
        let counted = counter(&mut used);
        *counted += 1;
        match *counted > limit {
            true => Err(Error::new(
                ER_USER_LIMIT_REACHED,
                &[&self.user, &resource, &limit],
            )),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_of_an_account_share_its_counters() {
        let uses = HourlyUses::default();
        let limits = ResourceLimits {
            queries: 3,
            updates: 1,
            connections: 2,
        };
        let connect = || uses.connect("u", "%", limits);
        let first = connect().unwrap().unwrap();
        let second = connect().unwrap().unwrap();
        assert!(connect().is_err());
        assert!(first.count_statement(Effect::Changes).is_ok());
        assert!(second.count_statement(Effect::Changes).is_err());
        assert!(second.count_statement(Effect::Reads).is_ok());
        let error = first.count_statement(Effect::Reads).unwrap_err();
        assert_eq!(
            error.message(),
            "User 'u' has exceeded the 'max_queries_per_hour' resource (current value: 3)"
        );
        uses.reset();
        assert!(first.count_statement(Effect::Reads).is_ok() && connect().is_ok());
        assert!(
            uses.connect("v", "%", ResourceLimits::default())
                .unwrap()
                .is_none()
        );
    }
}
