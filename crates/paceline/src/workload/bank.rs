//! Transfers between accounts.
//!
//! Invariants: the sum of all balances is what the accounts were opened with, and each balance is explained by the
//! account's transfers. Transactions lock their two accounts in random order, so some become deadlocks.

use super::error::Result;
use super::finding::Finding;
use super::session::{Session, SessionResult};
use rand::Rng;
use rand::rngs::SmallRng;

/// Balance with which an account is opened.
const OPENING: u64 = 1000;
/// Maximum of a transfer.
const AMOUNT_MAX: u64 = 100;

pub const TABLES: &[&str] = &["transfer", "account"];

/// The load on a bank with accounts 1 to `accounts`.
#[derive(Debug)]
pub struct Bank {
    accounts: u64,
}

impl Bank {
    pub fn new(accounts: u64) -> Self {
        Bank { accounts }
    }

    pub async fn fill(&self, session: &mut Session) -> Result<()> {
        for statement in [
            "CREATE TABLE account (id INT PRIMARY KEY, balance BIGINT NOT NULL) ENGINE=InnoDB",
            "CREATE TABLE transfer (id BIGINT AUTO_INCREMENT PRIMARY KEY, giver INT NOT NULL, taker INT NOT NULL, \
             amount BIGINT NOT NULL, made_at TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6), \
             KEY (giver), KEY (taker)) ENGINE=InnoDB",
        ] {
            session.execute(statement).await?;
        }
        let account = |id| format!("({id},{OPENING})");
        session
            .insert_many("INSERT INTO account (id, balance)", self.accounts, account)
            .await?;
        Ok(())
    }

    pub async fn transaction(&self, session: &mut Session, random: &mut SmallRng) -> SessionResult<()> {
        let giver = random.random_range(1..=self.accounts);
        // Another account than the giver's.
        let taker = (giver + random.random_range(1..self.accounts) - 1) % self.accounts + 1;
        let amount = random.random_range(1..=AMOUNT_MAX);
        session.execute("START TRANSACTION").await?;
        for statement in [
            format!("UPDATE account SET balance = balance - {amount} WHERE id = {giver}"),
            format!("UPDATE account SET balance = balance + {amount} WHERE id = {taker}"),
            format!("INSERT INTO transfer (giver, taker, amount) VALUES ({giver}, {taker}, {amount})"),
        ] {
            session.execute(&statement).await?;
        }
        session.execute("COMMIT").await.map(drop)
    }

    pub async fn count_transfers(&self, session: &mut Session) -> Result<u64> {
        let statement = "SELECT COUNT(*) FROM transfer";
        let count = session.value(statement).await?.parse();
        Ok(count.map_err(|_| session.wrong_answer(statement))?)
    }

    pub async fn check(&self, session: &mut Session) -> Result<Vec<Finding>> {
        let accounts = self.accounts;
        let sum = session.value("SELECT SUM(balance) FROM account").await?;
        let count = session.value("SELECT COUNT(*) FROM account").await?;
        let unexplained = format!(
            "SELECT COUNT(*) FROM account \
             LEFT JOIN (SELECT taker, SUM(amount) AS amount FROM transfer GROUP BY taker) AS received \
             ON received.taker = account.id \
             LEFT JOIN (SELECT giver, SUM(amount) AS amount FROM transfer GROUP BY giver) AS given \
             ON given.giver = account.id \
             WHERE balance <> {OPENING} + COALESCE(received.amount, 0) - COALESCE(given.amount, 0)"
        );
        let rule = "each balance is explained by the account's transfers";
        let explained = Finding::violations(session, rule, &unexplained).await?;
        Ok(vec![
            Finding::new(format!("there are {accounts} accounts"), accounts, count),
            Finding::new(
                format!("the sum of all balances is {}", accounts * OPENING),
                accounts * OPENING,
                sum,
            ),
            explained,
        ])
    }
}
