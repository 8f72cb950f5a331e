//! Shows the progress of a copy on standard error: a bar that is redrawn on a terminal, otherwise a line from time to
//! time.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

const ON_TERMINAL: Duration = Duration::from_millis(250);
const ELSEWHERE: Duration = Duration::from_secs(10);
const BAR: u64 = 24;

/// Output of progress lines.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    is_terminal: bool,
}

impl Screen {
    /// Uses standard error.
    pub fn standard_error() -> Self {
        Screen {
            is_terminal: std::io::stderr().is_terminal(),
        }
    }

    /// Returns the interval between two lines.
    pub fn pause(self) -> Duration {
        match self.is_terminal {
            true => ON_TERMINAL,
            false => ELSEWHERE,
        }
    }

    /// Prints a line. On a terminal the next line overwrites it.
    pub fn tell(self, line: &str) {
        let mut out = std::io::stderr().lock();
        // A failure to print progress is ignored.
        let _ = match self.is_terminal {
            true => write!(out, "\r{line}\x1b[K").and_then(|()| out.flush()),
            false => writeln!(out, "{line}"),
        };
    }

    /// Prints a line that remains.
    pub fn tell_last(self, line: &str) {
        match self.is_terminal {
            true => eprintln!("\r{line}\x1b[K"),
            false => eprintln!("{line}"),
        }
    }

    /// Keeps the last line: further output starts below it.
    pub fn leave(self) {
        if self.is_terminal {
            eprintln!();
        }
    }

    /// Removes the last line.
    pub fn clear(self) {
        if self.is_terminal {
            eprint!("\r\x1b[K");
        }
    }
}

/// Returns a bar with a percentage.
pub fn bar(done: u64, total: u64) -> String {
    let part = match total {
        0 => 1.0,
        total => done as f64 / total as f64,
    };
    let filled = (part * BAR as f64) as usize;
    format!(
        "[{}{}] {:3.0} %",
        "#".repeat(filled),
        "-".repeat(BAR as usize - filled),
        (part * 100.0).floor()
    )
}

/// Returns ", about … left", or an empty string if nothing is left.
pub fn time_left(done: u64, total: u64, rate: f64) -> String {
    match rate > 0.0 && done < total {
        true => format!(", about {} left", clock((total - done) as f64 / rate)),
        false => String::new(),
    }
}

/// Progress in bytes of an expected total.
pub struct Progress {
    what: &'static str,
    total: u64,
    done: u64,
    started: Instant,
    told: Option<Instant>,
    /// True if no more lines are printed.
    is_over: bool,
    screen: Screen,
}

impl Progress {
    /// Starts with 0 bytes. `what` is a participle: "copied".
    pub fn new(what: &'static str, total: u64) -> Self {
        Progress {
            what,
            total,
            done: 0,
            started: Instant::now(),
            told: None,
            is_over: false,
            screen: Screen::standard_error(),
        }
    }

    pub fn add(&mut self, bytes: u64) {
        self.set(self.done + bytes);
    }

    /// Sets the number of bytes.
    pub fn set(&mut self, bytes: u64) {
        self.done = bytes;
        if self.is_over {
            return;
        }
        let last = self.told.unwrap_or(self.started);
        if last.elapsed() >= self.screen.pause() {
            self.told = Some(Instant::now());
            self.screen.tell(&self.line(self.started.elapsed()));
        }
    }

    /// Removes the bar, and returns the amount, the duration and the rate as a text.
    pub fn finish(&mut self) -> String {
        if self.told.take().is_some() {
            self.screen.clear();
        }
        let seconds = self.started.elapsed().as_secs_f64().max(0.001);
        format!(
            "{} in {seconds:.1} s, {}/s",
            bytes_text(self.done),
            bytes_text((self.done as f64 / seconds) as u64)
        )
    }

    /// Ends the progress without removing the last line, which shows how far it was.
    pub fn leave(&mut self) {
        self.is_over = true;
        if self.told.take().is_some() {
            self.screen.leave();
        }
    }

    fn line(&self, elapsed: Duration) -> String {
        let total = self.total.max(self.done);
        let seconds = elapsed.as_secs_f64().max(0.001);
        let rate = self.done as f64 / seconds;
        format!(
            "{}  {} of {} {}, {}/s, {}{}",
            bar(self.done, total),
            bytes_text(self.done),
            bytes_text(total),
            self.what,
            bytes_text(rate as u64),
            clock(seconds),
            time_left(self.done, total, rate)
        )
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Returns a number of bytes as a text for users.
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

/// Returns a time as minutes and seconds, with hours if there are any.
pub fn clock(seconds: f64) -> String {
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
    fn bytes_are_shown_with_decimal_units() {
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
    fn the_line_shows_rate_and_time_left() {
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
        // The total may be larger than expected.
        progress.done = 5_000_000_000;
        assert_eq!(
            progress.line(Duration::from_secs(3700)),
            "[########################] 100 %  5.0 GB of 5.0 GB copied, 1.4 MB/s, 1:01:40"
        );
    }
}
