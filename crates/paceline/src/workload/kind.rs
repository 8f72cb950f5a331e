//! Kinds of loads.

use super::bank::Bank;
use super::error::Result;
use super::finding::Finding;
use super::key_value::KeyValue;
use super::session::{Session, SessionResult};
use super::shop::Shop;
use clap::ValueEnum;
use rand::rngs::SmallRng;

/// Kind of a load.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Kind {
    /// Transfers between accounts. The sum of all balances never changes.
    Bank,
    /// Reads and writes of single rows by key, some keys much more often than others.
    KeyValue,
    /// Orders of a shop: inserts into several tables, secondary indexes, joins.
    Shop,
}

impl Kind {
    /// Returns the name as in the marker table.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Bank => "bank",
            Kind::KeyValue => "key-value",
            Kind::Shop => "shop",
        }
    }

    pub fn default_database(self) -> &'static str {
        match self {
            Kind::Bank => "workload_bank",
            Kind::KeyValue => "workload_key_value",
            Kind::Shop => "workload_shop",
        }
    }

    /// Returns the names of the tables, in an order in which they can be dropped.
    pub fn tables(self) -> &'static [&'static str] {
        match self {
            Kind::Bank => super::bank::TABLES,
            Kind::KeyValue => super::key_value::TABLES,
            Kind::Shop => super::shop::TABLES,
        }
    }

    /// Returns the load on a database that was filled with this many rows.
    pub fn load(self, rows: u64) -> Load {
        match self {
            Kind::Bank => Load::Bank(Bank::new(rows)),
            Kind::KeyValue => Load::KeyValue(KeyValue::new(rows)),
            Kind::Shop => Load::Shop(Shop::new(rows)),
        }
    }
}

/// A load on a database with a known number of rows.
#[derive(Debug)]
pub enum Load {
    Bank(Bank),
    KeyValue(KeyValue),
    Shop(Shop),
}

impl Load {
    /// Creates the tables and fills them.
    pub async fn fill(&self, session: &mut Session) -> Result<()> {
        match self {
            Load::Bank(bank) => bank.fill(session).await,
            Load::KeyValue(key_value) => key_value.fill(session).await,
            Load::Shop(shop) => shop.fill(session).await,
        }
    }

    /// Executes one random transaction and commits it.
    pub async fn transaction(&self, session: &mut Session, random: &mut SmallRng) -> SessionResult<()> {
        match self {
            Load::Bank(bank) => bank.transaction(session, random).await,
            Load::KeyValue(key_value) => key_value.transaction(session, random).await,
            Load::Shop(shop) => shop.transaction(session, random).await,
        }
    }

    /// Counts the rows of which each transaction adds one. `None`: there are none in this load.
    pub async fn count_added(&self, session: &mut Session) -> Result<Option<u64>> {
        match self {
            Load::Bank(bank) => bank.count_transfers(session).await.map(Some),
            Load::KeyValue(_) | Load::Shop(_) => Ok(None),
        }
    }

    /// Checks all rows, in the session's snapshot.
    pub async fn check(&self, session: &mut Session) -> Result<Vec<Finding>> {
        match self {
            Load::Bank(bank) => bank.check(session).await,
            Load::KeyValue(key_value) => key_value.check(session).await,
            Load::Shop(shop) => shop.check(session).await,
        }
    }
}
