//! Reads and writes of single rows by key.
//!
//! Invariant: a value is a function of its key and its version. Each read checks it. Low keys are used most: the
//! probability of key `n` is proportional to `1 / n`, as in Zipf's law.

use super::error::Result;
use super::finding::Finding;
use super::session::{Session, SessionResult};
use rand::Rng;
use rand::rngs::SmallRng;

/// Percentage of transactions that write.
const WRITES_PERCENT: u32 = 20;
/// Length of the part of a value that is the same in all.
const PADDING: usize = 100;

pub const TABLES: &[&str] = &["item"];

/// The load on keys 1 to `keys`.
#[derive(Debug)]
pub struct KeyValue {
    keys: u64,
}

fn value(id: u64, version: u64) -> String {
    format!("{id}:{version}:{}", "x".repeat(PADDING))
}

/// Returns the key for a number that is at least 0 and less than 1.
fn skewed_key(keys: u64, number: f64) -> u64 {
    // The inverse of the cumulative distribution ln(key) / ln(keys + 1).
    let key = ((keys + 1) as f64).powf(number) as u64;
    key.clamp(1, keys)
}

impl KeyValue {
    pub fn new(keys: u64) -> Self {
        KeyValue { keys }
    }

    pub async fn fill(&self, session: &mut Session) -> Result<()> {
        let table = "CREATE TABLE item (id INT PRIMARY KEY, version BIGINT NOT NULL, value VARCHAR(200) NOT NULL) \
                     ENGINE=InnoDB";
        session.execute(table).await?;
        let item = |id| format!("({id},0,'{}')", value(id, 0));
        session
            .insert_many("INSERT INTO item (id, version, value)", self.keys, item)
            .await?;
        Ok(())
    }

    pub async fn transaction(&self, session: &mut Session, random: &mut SmallRng) -> SessionResult<()> {
        let id = skewed_key(self.keys, random.random());
        if random.random_ratio(WRITES_PERCENT, 100) {
            // `version` still has its old value when `value` is computed, in every sql_mode.
            let update = format!(
                "UPDATE item SET value = CONCAT(id, ':', version + 1, ':', REPEAT('x', {PADDING})), \
                 version = version + 1 WHERE id = {id}"
            );
            return session.execute(&update).await.map(drop);
        }
        let query = format!("SELECT version, value FROM item WHERE id = {id}");
        let rows = session.rows(&query).await?;
        let is_right = match rows.as_slice() {
            [row] => row[0].parse().is_ok_and(|version| row[1] == value(id, version)),
            _ => false,
        };
        match is_right {
            true => Ok(()),
            false => Err(session.wrong_answer(&query)),
        }
    }

    pub async fn check(&self, session: &mut Session) -> Result<Vec<Finding>> {
        let count = session.value("SELECT COUNT(*) FROM item").await?;
        let wrong = format!(
            "SELECT COUNT(*) FROM item WHERE value <> CONCAT(id, ':', version, ':', REPEAT('x', {PADDING}))"
        );
        let rule = "each value belongs to its key and version";
        let values = Finding::violations(session, rule, &wrong).await?;
        Ok(vec![
            Finding::new(format!("there are {} keys", self.keys), self.keys, count),
            values,
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_keys_are_used_most_and_all_can_be() {
        assert_eq!(skewed_key(1000, 0.0), 1);
        assert_eq!(skewed_key(1000, 0.999_999), 1000);
        assert_eq!(skewed_key(2, 0.99), 2);
        let below_ten = (0..1000)
            .filter(|n| skewed_key(1000, f64::from(*n) / 1000.0) < 10)
            .count();
        assert!((300..370).contains(&below_ten), "{below_ten}");
    }
}
