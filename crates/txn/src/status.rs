//! Counters: MariaDB's `binlog_*` status variables, lock waits, and histograms of commit times.
//!
//! All counters are relaxed atomics; a histogram has one bucket for each power of two.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Number of buckets of a histogram: bucket `n` holds values from 2^(n-1) to 2^n - 1, bucket 0 the value 0, the
/// last one everything above.
pub const HISTOGRAM_BUCKETS: usize = 40;

/// Histogram that is being filled.
#[derive(Debug)]
pub(crate) struct Histogram {
    buckets: [AtomicU64; HISTOGRAM_BUCKETS],
    sum: AtomicU64,
    max: AtomicU64,
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram {
            buckets: std::array::from_fn(|_| AtomicU64::new(0)),
            sum: AtomicU64::new(0),
            max: AtomicU64::new(0),
        }
    }
}

impl Histogram {
    pub(crate) fn add(&self, value: u64) {
        let bucket = (u64::BITS - value.leading_zeros()) as usize;
        self.buckets[bucket.min(HISTOGRAM_BUCKETS - 1)].fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(value, Ordering::Relaxed);
        self.max.fetch_max(value, Ordering::Relaxed);
    }

    /// Adds a duration in microseconds.
    pub(crate) fn record(&self, time: Duration) {
        self.add(u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
    }

    pub(crate) fn read(&self) -> HistogramSnapshot {
        let buckets: [u64; HISTOGRAM_BUCKETS] =
            std::array::from_fn(|n| self.buckets[n].load(Ordering::Relaxed));
        HistogramSnapshot {
            buckets,
            sum: self.sum.load(Ordering::Relaxed),
            max: self.max.load(Ordering::Relaxed),
        }
    }
}

/// Contents of a histogram at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistogramSnapshot {
    /// Number of values in each bucket: bucket 0 the value 0, bucket `n` those from 2^(n-1) to 2^n - 1.
    pub buckets: [u64; HISTOGRAM_BUCKETS],
    /// The sum of all values.
    pub sum: u64,
    /// The largest value.
    pub max: u64,
}

impl Default for HistogramSnapshot {
    fn default() -> Self {
        HistogramSnapshot {
            buckets: [0; HISTOGRAM_BUCKETS],
            sum: 0,
            max: 0,
        }
    }
}

impl HistogramSnapshot {
    /// Adds the values of another histogram.
    pub fn add(&mut self, other: &HistogramSnapshot) {
        for (sum, count) in self.buckets.iter_mut().zip(&other.buckets) {
            *sum += count;
        }
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// Returns the average, rounded down; 0 without values.
    pub fn mean(&self) -> u64 {
        self.sum.checked_div(self.count()).unwrap_or(0)
    }

    /// Returns a bound that `percent` of the values do not exceed: the upper end of their bucket. Returns 0
    /// without values.
    pub fn percentile(&self, percent: u64) -> u64 {
        let wanted = (self.count() * percent).div_ceil(100);
        let mut seen = 0;
        for (bucket, count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= wanted && seen > 0 {
                return ((1u64 << bucket) - 1).min(self.max);
            }
        }
        0
    }
}

/// Counters of the lock manager.
#[derive(Default, Debug)]
pub(crate) struct LockCounters {
    pub(crate) row_lock_waits: AtomicU64,
    pub(crate) metadata_lock_waits: AtomicU64,
    pub(crate) current_waits: AtomicU64,
    pub(crate) timeouts: AtomicU64,
    pub(crate) deadlocks: AtomicU64,
    pub(crate) wait_time: Histogram,
    pub(crate) current_row_waits: AtomicU64,
    pub(crate) row_wait_time: Histogram,
}

/// Counters of the commit pipeline. The `trigger_*` ones count why a waiting group was written
/// (`binlog_commit_wait_count` above 0).
#[derive(Default, Debug)]
pub(crate) struct CommitCounters {
    pub(crate) commits: AtomicU64,
    pub(crate) group_commits: AtomicU64,
    pub(crate) trigger_count: AtomicU64,
    pub(crate) trigger_lock_wait: AtomicU64,
    pub(crate) trigger_timeout: AtomicU64,
    pub(crate) rollbacks: AtomicU64,
    pub(crate) cache_disk_use: AtomicU64,
    pub(crate) checkpoints: AtomicU64,
    pub(crate) group_size: Histogram,
    pub(crate) sync_time: Histogram,
    pub(crate) publish_time: Histogram,
    pub(crate) commit_time: Histogram,
    pub(crate) log_bytes: AtomicU64,
}

/// Values of all counters at one moment.
#[derive(Clone, Debug)]
pub struct Status {
    /// `binlog_commits`: transactions written to the log.
    pub binlog_commits: u64,
    /// `binlog_group_commits`: groups written to the log.
    pub binlog_group_commits: u64,
    /// `binlog_group_commit_trigger_count`: groups written because `binlog_commit_wait_count` was reached.
    pub binlog_group_commit_trigger_count: u64,
    /// `binlog_group_commit_trigger_lock_wait`: … because another transaction waited for a lock of one in the
    /// queue.
    pub binlog_group_commit_trigger_lock_wait: u64,
    /// `binlog_group_commit_trigger_timeout`: … because `binlog_commit_wait_usec` had passed.
    pub binlog_group_commit_trigger_timeout: u64,
    /// `binlog_cache_disk_use`: transactions whose events spilled to a file.
    pub binlog_cache_disk_use: u64,
    /// `binlog_bytes_written`.
    pub binlog_bytes_written: u64,
    /// Transactions rolled back.
    pub rollbacks: u64,
    /// Checkpoints since the start.
    pub checkpoints: u64,
    /// Transactions per group.
    pub group_size: HistogramSnapshot,
    /// Duration of an fdatasync of the log, µs.
    pub sync_usec: HistogramSnapshot,
    /// Time from durable to published, per group, µs.
    pub publish_usec: HistogramSnapshot,
    /// Time from queued to published, per transaction, µs.
    pub commit_usec: HistogramSnapshot,
    /// `innodb_row_lock_waits`.
    pub row_lock_waits: u64,
    /// Waits for metadata locks.
    pub metadata_lock_waits: u64,
    /// `innodb_row_lock_current_waits`.
    pub current_row_lock_waits: u64,
    /// Number of transactions that wait now, for a row or for metadata.
    pub current_lock_waits: u64,
    /// Lock waits that ended with 1205.
    pub lock_wait_timeouts: u64,
    /// `innodb_deadlocks`.
    pub deadlocks: u64,
    /// Duration of lock waits, µs.
    pub lock_wait_usec: HistogramSnapshot,
    /// Duration of waits for row locks, µs.
    pub row_lock_wait_usec: HistogramSnapshot,
    /// Number of keys locked now.
    pub locked_keys: u64,
    /// Number of rows in the pending overlay now.
    pub pending_rows: u64,
    /// Number of transactions open now.
    pub open_transactions: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_counts_values_and_bounds_percentiles() {
        let histogram = Histogram::default();
        for value in [0, 1, 2, 3, 100, 1000, u64::MAX >> 30] {
            histogram.add(value);
        }
        let read = histogram.read();
        assert_eq!(read.count(), 7);
        assert_eq!((read.buckets[0], read.buckets[1], read.buckets[2]), (1, 1, 2));
        assert_eq!(read.percentile(50), 3);
        assert_eq!(read.percentile(100), u64::MAX >> 30);
    }
}
