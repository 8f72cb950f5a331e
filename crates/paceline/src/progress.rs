//! How far it is, on standard error: a bar that is written over on a terminal, a line now and then elsewhere.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

const ON_TERMINAL: Duration = Duration::from_millis(250);
const ELSEWHERE: Duration = Duration::from_secs(10);
const BAR: u64 = 24;

/// Bytes that are done, of how many.
pub struct Progress {
    what: &'static str,
    total: u64,
    done: u64,
    started: Instant,
    told: Option<Instant>,
    is_terminal: bool,
}

impl Progress {
    /// Nothing is done yet. `what` is a verb: "copied".
    pub fn new(what: &'static str, total: u64) -> Self {
        Progress {
            what,
            total,
            done: 0,
            started: Instant::now(),
            told: None,
            is_terminal: std::io::stderr().is_terminal(),
        }
    }

    /// Some more is done.
    pub fn add(&mut self, bytes: u64) {
        self.set(self.done + bytes);
    }

    /// So much is done now.
    pub fn set(&mut self, bytes: u64) {
        self.done = bytes;
        let pause = match self.is_terminal {
            true => ON_TERMINAL,
            false => ELSEWHERE,
        };
        let last = self.told.unwrap_or(self.started);
        if last.elapsed() >= pause {
            self.told = Some(Instant::now());
            let line = self.line(self.started.elapsed());
            let mut out = std::io::stderr().lock();
            // Who cannot be told misses nothing else.
            let _ = match self.is_terminal {
                true => write!(out, "\r{line}\x1b[K").and_then(|()| out.flush()),
                false => writeln!(out, "{line}"),
            };
        }
    }

    /// Takes the bar away, and says how much it was in what time.
    pub fn finish(self) -> String {
        if self.is_terminal && self.told.is_some() {
            eprint!("\r\x1b[K");
        }
        let seconds = self.started.elapsed().as_secs_f64().max(0.001);
        format!(
            "{} in {seconds:.1} s, {}/s",
            bytes_text(self.done),
            bytes_text((self.done as f64 / seconds) as u64)
        )
    }

    fn line(&self, elapsed: Duration) -> String {
        let total = self.total.max(self.done);
        let part = match total {
            0 => 1.0,
            total => self.done as f64 / total as f64,
        };
        let seconds = elapsed.as_secs_f64().max(0.001);
        let rate = self.done as f64 / seconds;
        let left = match rate > 0.0 && self.done < total {
            true => format!(", about {} left", clock((total - self.done) as f64 / rate)),
            false => String::new(),
        };
        let filled = (part * BAR as f64) as usize;
        format!(
            "[{}{}] {:3.0} %  {} of {} {}, {}/s, {}{left}",
            "#".repeat(filled),
            "-".repeat(BAR as usize - filled),
            (part * 100.0).floor(),
            bytes_text(self.done),
            bytes_text(total),
            self.what,
            bytes_text(rate as u64),
            clock(seconds)
        )
    }
}

/// A number of bytes for people.
pub fn bytes_text(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1000.0;
    let mut unit = 0;
    while value >= 999.95 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
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
    fn bytes_are_told_for_people() {
        let texts = [
            (0, "0 B"),
            (999, "999 B"),
            (1500, "1.5 KB"),
            (999_990, "1.0 MB"),
            (12_345_678, "12.3 MB"),
            (9_900_000_000_000_000, "9900.0 TB"),
        ];
        for (bytes, text) in texts {
            assert_eq!(bytes_text(bytes), text);
        }
    }

    #[test]
    fn rate_and_time_left() {
        let mut progress = Progress::new("copied", 4_000_000_000);
        assert_eq!(
            progress.line(Duration::from_secs(1)),
            "[------------------------]   0 %  0 B of 4.0 GB copied, 0 B/s, 0:01"
        );
        progress.done = 1_000_000_000;
        assert_eq!(
            progress.line(Duration::from_secs(100)),
            "[######------------------]  25 %  1.0 GB of 4.0 GB copied, 10.0 MB/s, 1:40, about 5:00 left"
        );
        // There may be more of it than was expected.
        progress.done = 5_000_000_000;
        assert_eq!(
            progress.line(Duration::from_secs(3700)),
            "[########################] 100 %  5.0 GB of 5.0 GB copied, 1.4 MB/s, 1:01:40"
        );
    }
}
