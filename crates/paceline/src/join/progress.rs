//! Progress of copying rows.

use super::schema::Table;
use crate::progress::{Screen, clock, time_left};
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

    fn show(&self, screen: &Screen) {
        let rows = self.rows.load(Ordering::Relaxed);
        screen.show(rows, self.expected(rows), self.text(rows, self.started.elapsed()));
    }

    /// Returns how many rows there will be. Without tables to copy, and at the end, it is the number of copied ones.
    fn expected(&self, rows: u64) -> u64 {
        match self.tables_done.load(Ordering::Relaxed) == self.tables {
            true => rows,
            false => self.rows_expected.load(Ordering::Relaxed).max(rows),
        }
    }

    fn text(&self, rows: u64, elapsed: Duration) -> String {
        let done = self.tables_done.load(Ordering::Relaxed);
        let seconds = elapsed.as_secs_f64().max(0.001);
        let rate = rows as f64 / seconds;
        let megabytes = self.bytes.load(Ordering::Relaxed) as f64 / 1e6 / seconds;
        let left = match done < self.tables {
            true => time_left(rows, self.expected(rows), rate),
            false => String::new(),
        };
        format!(
            "{done} of {} tables, {rows} rows, {rate:.0} rows/s, {megabytes:.1} MB/s, {}{left}",
            self.tables,
            clock(seconds)
        )
    }
}

/// Shows the progress until it is dropped, and then for the last time, even if copying has failed.
pub struct ProgressReporter {
    progress: Arc<Progress>,
    screen: Screen,
    task: JoinHandle<()>,
}

impl ProgressReporter {
    pub fn start(progress: Arc<Progress>) -> Self {
        let screen = Screen::standard_error();
        let (shown, on) = (progress.clone(), screen.clone());
        let task = tokio::spawn(async move {
            loop {
                tokio::time::sleep(on.pause()).await;
                shown.show(&on);
            }
        });
        ProgressReporter {
            progress,
            screen,
            task,
        }
    }
}

impl Drop for ProgressReporter {
    fn drop(&mut self) {
        self.task.abort();
        self.progress.show(&self.screen);
        self.screen.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_shows_rate_and_time_left() {
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
            progress.text(1_000_000, Duration::from_secs(100)),
            "1 of 3 tables, 1000000 rows, 10000 rows/s, 2.0 MB/s, 1:40, about 5:00 left"
        );
        progress.tables_done.store(3, Ordering::Relaxed);
        assert_eq!(
            progress.text(1_000_000, Duration::from_secs(3700)),
            "3 of 3 tables, 1000000 rows, 270 rows/s, 0.1 MB/s, 1:01:40"
        );
        assert_eq!(progress.expected(1_000_000), 1_000_000);
        assert_eq!(Progress::new(&[]).expected(0), 0);
    }
}
