//! How far the copy is, on standard error: one line that is written over on a terminal, a line now and then elsewhere.

use super::schema::Table;
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const ON_TERMINAL: Duration = Duration::from_millis(250);
const ELSEWHERE: Duration = Duration::from_secs(10);
const BAR: u64 = 24;

/// Counters that the copying sessions share.
pub struct Progress {
    tables: u64,
    tables_done: AtomicU64,
    /// About: as the primary estimates, and exactly for tables that are done.
    rows_expected: AtomicU64,
    rows: AtomicU64,
    bytes: AtomicU64,
    started: Instant,
}

impl Progress {
    /// Nothing is copied yet.
    pub fn new(tables: &[Table]) -> Progress {
        Progress {
            tables: tables.len() as u64,
            tables_done: AtomicU64::new(0),
            rows_expected: AtomicU64::new(tables.iter().map(|table| table.rows).sum()),
            rows: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            started: Instant::now(),
        }
    }

    /// Rows are in the tables.
    pub fn add(&self, rows: u64, bytes: u64) {
        self.rows.fetch_add(rows, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// A table is complete.
    pub fn table_done(&self, _: &Table) {
        self.tables_done.fetch_add(1, Ordering::Relaxed);
    }

    /// Tells about it until it is dropped.
    pub async fn report(self: Arc<Self>) {
        let is_terminal = std::io::stderr().is_terminal();
        let pause = match is_terminal {
            true => ON_TERMINAL,
            false => ELSEWHERE,
        };
        loop {
            tokio::time::sleep(pause).await;
            let line = self.line(self.started.elapsed());
            let mut out = std::io::stderr().lock();
            // Who cannot be told misses nothing else.
            let _ = match is_terminal {
                true => write!(out, "\r{line}\x1b[K"),
                false => writeln!(out, "{line}"),
            };
        }
    }

    /// The last line.
    pub fn finish(&self, took: Duration) {
        let start = match std::io::stderr().is_terminal() {
            true => "\r",
            false => "",
        };
        let end = match std::io::stderr().is_terminal() {
            true => "\x1b[K",
            false => "",
        };
        eprintln!("{start}{}{end}", self.line(took));
    }

    fn line(&self, elapsed: Duration) -> String {
        let rows = self.rows.load(Ordering::Relaxed);
        let done = self.tables_done.load(Ordering::Relaxed);
        let expected = match done == self.tables {
            true => rows,
            false => self.rows_expected.load(Ordering::Relaxed).max(rows),
        };
        let part = match expected {
            0 => 1.0,
            expected => rows as f64 / expected as f64,
        };
        let seconds = elapsed.as_secs_f64().max(0.001);
        let rate = rows as f64 / seconds;
        let megabytes = self.bytes.load(Ordering::Relaxed) as f64 / 1e6 / seconds;
        let left = match rate > 0.0 && done < self.tables {
            true => format!(", about {} left", clock((expected - rows) as f64 / rate)),
            false => String::new(),
        };
        let filled = (part * BAR as f64) as usize;
        format!(
            "[{}{}] {:3.0} %  {done} of {} tables, {rows} rows, {rate:.0} rows/s, {megabytes:.1} MB/s, {}{left}",
            "#".repeat(filled),
            "-".repeat(BAR as usize - filled),
            part * 100.0,
            self.tables,
            clock(seconds)
        )
    }
}

fn clock(seconds: f64) -> String {
    let seconds = seconds as u64;
    match seconds / 3600 {
        0 => format!("{}:{:02}", seconds / 60, seconds % 60),
        hours => format!("{hours}:{:02}:{:02}", seconds / 60 % 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_and_time_left() {
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
