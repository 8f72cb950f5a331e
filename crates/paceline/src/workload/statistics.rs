//! Counts and latencies of a load.

use super::session::{ErrorCounts, error_number};
use crate::connection::ServerError;
use hdrhistogram::Histogram;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::time::Duration;

/// Largest latency that is recorded exactly, in microseconds: an hour.
const LATENCY_US_MAX: u64 = 3_600_000_000;
/// Decimal digits of a latency that are exact.
const DIGITS: u8 = 2;

/// Statistics of a part of a load.
#[derive(Clone, Debug)]
pub struct Seconds {
    /// Number of committed transactions.
    pub transactions: u64,
    latencies_us: Histogram<u64>,
    /// Transactions that were executed again, by the number of the error.
    retries: ErrorCounts,
    /// Failures of the connection, by the number of the error.
    lost: ErrorCounts,
    /// Other errors, by number.
    errors: ErrorCounts,
    /// Text of the first of these errors.
    pub first_error: Option<String>,
}

impl Default for Seconds {
    fn default() -> Self {
        let latencies_us = Histogram::new_with_bounds(1, LATENCY_US_MAX, DIGITS);
        Seconds {
            transactions: 0,
            latencies_us: latencies_us.expect("the bounds are valid"),
            retries: ErrorCounts::new(),
            lost: ErrorCounts::new(),
            errors: ErrorCounts::new(),
            first_error: None,
        }
    }
}

/// Returns counts as `NUMBER:COUNT`, separated by blanks.
fn counts_text(counts: &ErrorCounts) -> String {
    let parts: Vec<String> = counts
        .iter()
        .map(|(number, count)| format!("{number}:{count}"))
        .collect();
    match parts.is_empty() {
        true => "-".to_owned(),
        false => parts.join(" "),
    }
}

/// Rounds a number to tenths.
pub fn to_tenths(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

fn merge(into: &mut ErrorCounts, from: &ErrorCounts) {
    for (number, count) in from {
        *into.entry(*number).or_default() += count;
    }
}

impl Seconds {
    /// Adds later seconds.
    pub fn add(&mut self, other: &Seconds) {
        self.transactions += other.transactions;
        // Both have the same bounds.
        let added = self.latencies_us.add(&other.latencies_us);
        debug_assert!(added.is_ok());
        merge(&mut self.retries, &other.retries);
        merge(&mut self.lost, &other.lost);
        merge(&mut self.errors, &other.errors);
        if self.first_error.is_none() {
            self.first_error.clone_from(&other.first_error);
        }
    }

    /// Returns the number of errors that are neither retries nor failures of the connection.
    pub fn unexpected(&self) -> u64 {
        self.errors.values().sum()
    }

    fn percentiles(&self) -> [u64; 3] {
        [0.5, 0.95, 0.99].map(|quantile| self.latencies_us.value_at_quantile(quantile))
    }

    fn per_second(&self, length: Duration) -> f64 {
        self.transactions as f64 / length.as_secs_f64().max(0.001)
    }

    /// Returns a line for people.
    pub fn text(&self, length: Duration) -> String {
        let [p50, p95, p99] = self.percentiles();
        let per_second = self.per_second(length);
        let mut line = format!("{per_second:8.0} transactions/s   p50 {p50:6} p95 {p95:6} p99 {p99:6} µs");
        for (what, counts) in [
            ("retries", &self.retries),
            ("lost", &self.lost),
            ("errors", &self.errors),
        ] {
            if what == "retries" || !counts.is_empty() {
                line.push_str(&format!("   {what} {}", counts_text(counts)));
            }
        }
        line
    }

    /// Returns a JSON object.
    pub fn json(&self, length: Duration) -> Value {
        let [p50, p95, p99] = self.percentiles();
        json!({
            "transactions_per_second": to_tenths(self.per_second(length)),
            "p50_us": p50,
            "p95_us": p95,
            "p99_us": p99,
            "retries": self.retries,
            "lost_connections": self.lost,
            "errors": self.errors,
        })
    }
}

/// Collects what the workers report.
#[derive(Debug, Default)]
pub struct Statistics {
    current: Mutex<Seconds>,
}

impl Statistics {
    /// Counts a committed transaction.
    pub fn committed(&self, latency: Duration) {
        let latency_us = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX);
        let mut current = self.current.lock();
        current.transactions += 1;
        current.latencies_us.saturating_record(latency_us.max(1));
    }

    pub fn retried(&self, error: &ServerError) {
        *self
            .current
            .lock()
            .retries
            .entry(error_number(error))
            .or_default() += 1;
    }

    pub fn lost(&self, error: &ServerError) {
        *self.current.lock().lost.entry(error_number(error)).or_default() += 1;
    }

    /// Counts an error that an application cannot handle.
    pub fn failed(&self, error: &ServerError) {
        let mut current = self.current.lock();
        *current.errors.entry(error_number(error)).or_default() += 1;
        current.first_error.get_or_insert_with(|| error.to_string());
    }

    /// Returns what has happened since the last call.
    pub fn take(&self) -> Seconds {
        std::mem::take(&mut self.current.lock())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::Cause;

    #[test]
    fn seconds_add_up_and_are_shown_with_their_errors() {
        let statistics = Statistics::default();
        for latency_ms in 1..=100 {
            statistics.committed(Duration::from_millis(latency_ms));
        }
        let error = |cause| ServerError {
            cause,
            ..ServerError::new("server", "message")
        };
        statistics.retried(&error(Cause::Server(1213)));
        let mut total = statistics.take();
        assert_eq!(statistics.take().transactions, 0);
        statistics.retried(&error(Cause::Server(1213)));
        statistics.retried(&error(Cause::Server(1020)));
        statistics.lost(&error(Cause::ConnectionLost));
        statistics.failed(&error(Cause::Server(1146)));
        statistics.committed(Duration::ZERO);
        total.add(&statistics.take());
        assert_eq!((total.transactions, total.unexpected()), (101, 1));
        let json = total.json(Duration::from_secs(2));
        assert_eq!(json["transactions_per_second"], 50.5);
        assert_eq!(json["retries"], json!({"1020": 1, "1213": 2}));
        assert_eq!(json["lost_connections"], json!({"2013": 1}));
        let p95 = json["p95_us"].as_u64().unwrap();
        assert!((94_000..=97_000).contains(&p95), "{p95}");
        let text = total.text(Duration::from_secs(2));
        assert!(
            text.ends_with("retries 1020:1 1213:2   lost 2013:1   errors 1146:1"),
            "{text}"
        );
        assert!(Seconds::default().text(Duration::ZERO).ends_with("retries -"));
    }
}
