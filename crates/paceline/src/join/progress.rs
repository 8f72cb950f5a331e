//! Progress of copying rows.

use super::schema::Table;
use crate::progress::{Screen, bar, clock, time_left};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

/// Counters shared by the copying sessions.
pub struct Progress {
    tables: u64,
    tables_done: AtomicU64,
    /// Estimate of the primary.
    rows_expected: AtomicU64,
    rows: AtomicU64,
    bytes: AtomicU64,
    started: Instant,
}

impl Progress {
    /// Creates the counters for these tables.
    pub fn new(tables: &[Table]) -> Progress {
        Progress {
            tables: tables.len() as u64,
            tables_done: AtomicU64::new(0),
            rows_expected: AtomicU64::new(tables.iter().fold(0, |sum, table| sum.saturating_add(table.rows))),
            rows: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            started: Instant::now(),
        }
    }

    /// Adds rows and bytes that are now in the tables.
    pub fn add(&self, rows: u64, bytes: u64) {
        self.rows.fetch_add(rows, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts a complete table.
    pub fn table_done(&self) {
        self.tables_done.fetch_add(1, Ordering::Relaxed);
    }

    fn line(&self, elapsed: Duration) -> String {
        let rows = self.rows.load(Ordering::Relaxed);
        let done = self.tables_done.load(Ordering::Relaxed);
        let expected = match done == self.tables {
            true => rows,
            false => self.rows_expected.load(Ordering::Relaxed).max(rows),
        };
        let seconds = elapsed.as_secs_f64().max(0.001);
        let rate = rows as f64 / seconds;
        let megabytes = self.bytes.load(Ordering::Relaxed) as f64 / 1e6 / seconds;
        let left = match done < self.tables {
            true => time_left(rows, expected, rate),
            false => String::new(),
        };
        format!(
            "{}  {done} of {} tables, {rows} rows, {rate:.0} rows/s, {megabytes:.1} MB/s, {}{left}",
            bar(rows, expected),
            self.tables,
            clock(seconds)
        )
    }
}

/// Prints the progress until it is dropped, and then a final line, even if copying has failed.
pub struct Reporting {
    progress: Arc<Progress>,
    task: JoinHandle<()>,
}

impl Reporting {
    pub fn start(progress: Arc<Progress>) -> Self {
        let screen = Screen::standard_error();
        let told = progress.clone();
        let task = tokio::spawn(async move {
            loop {
                tokio::time::sleep(screen.pause()).await;
                screen.tell(&told.line(told.started.elapsed()));
            }
        });
        Reporting { progress, task }
    }
}

impl Drop for Reporting {
    fn drop(&mut self) {
        self.task.abort();
        Screen::standard_error().tell_last(&self.progress.line(self.progress.started.elapsed()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_shows_rate_and_time_left() {
        let progress = Progress {
            tables: 3,
            tables_done: AtomicU64::new(1),
            rows_expected: AtomicU64::new(4_000_000),
            rows: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            started: Instant::now(),
        };
        progress.add(1_000_000, 200_000_000);
        assert_eq!(
            progress.line(Duration::from_secs(100)),
            "[######------------------]  25 %  1 of 3 tables, 1000000 rows, 10000 rows/s, 2.0 MB/s, 1:40, about 5:00 left"
        );
        progress.tables_done.store(3, Ordering::Relaxed);
        assert_eq!(
            progress.line(Duration::from_secs(3700)),
            "[########################] 100 %  3 of 3 tables, 1000000 rows, 270 rows/s, 0.1 MB/s, 1:01:40"
        );
        assert!(Progress::new(&[]).line(Duration::ZERO).contains("100 %"));
    }
}
