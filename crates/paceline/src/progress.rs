//! Shows the progress of a copy on standard error: a bar that is redrawn on a terminal, otherwise a line from time to
//! time. Crate `indicatif` draws the bar.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

const ON_TERMINAL: Duration = Duration::from_millis(250);
const ELSEWHERE: Duration = Duration::from_secs(10);
const BAR: u64 = 24;

/// Standard error, with a bar if it is a terminal.
#[derive(Clone, Debug)]
pub struct Screen {
    /// Hidden if standard error is not a terminal.
    bar: ProgressBar,
}

impl Screen {
    /// Uses standard error. Nothing is drawn yet.
    pub fn standard_error() -> Self {
        Screen::new(ProgressDrawTarget::stderr())
    }

    fn new(target: ProgressDrawTarget) -> Self {
        let style = ProgressStyle::with_template(&format!("[{{bar:{BAR}}}] {{percent:>3}} %  {{msg}}"));
        let style = style.expect("the template is valid").progress_chars("#-");
        Screen {
            bar: ProgressBar::with_draw_target(None, target).with_style(style),
        }
    }

    fn is_terminal(&self) -> bool {
        !self.bar.is_hidden()
    }

    /// Returns the interval between two lines.
    pub fn pause(&self) -> Duration {
        match self.is_terminal() {
            true => ON_TERMINAL,
            false => ELSEWHERE,
        }
    }

    /// Shows a bar and a text. On a terminal they replace the last ones.
    pub fn show(&self, done: u64, total: u64, text: String) {
        match self.is_terminal() {
            true => {
                self.bar.set_length(total);
                self.bar.set_position(done);
                self.bar.set_message(text);
            }
            false => eprintln!("{}  {text}", bar(done, total)),
        }
    }

    /// Keeps the bar: further output starts below it.
    pub fn leave(&self) {
        self.bar.abandon();
    }

    /// Removes the bar.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// Returns a bar with a percentage, for output that is not a terminal.
fn bar(done: u64, total: u64) -> String {
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
    last_shown: Option<Instant>,
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
            last_shown: None,
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
        let last = self.last_shown.unwrap_or(self.started);
        if last.elapsed() >= self.screen.pause() {
            self.last_shown = Some(Instant::now());
            let total = self.total.max(self.done);
            self.screen
                .show(self.done, total, self.text(self.started.elapsed()));
        }
    }

    /// Removes the bar, and returns the amount, the duration and the rate as a text.
    pub fn finish(&mut self) -> String {
        if self.last_shown.take().is_some() {
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
        if self.last_shown.take().is_some() {
            self.screen.leave();
        }
    }

    fn text(&self, elapsed: Duration) -> String {
        let total = self.total.max(self.done);
        let seconds = elapsed.as_secs_f64().max(0.001);
        let rate = self.done as f64 / seconds;
        format!(
            "{} of {} {}, {}/s, {}{}",
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
    use indicatif::InMemoryTerm;

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
    fn the_text_shows_rate_and_time_left() {
        let mut progress = Progress::new("copied", 4_000_000_000);
        assert_eq!(
            progress.text(Duration::from_secs(1)),
            "0 B of 4.0 GB copied, 0 B/s, 0:01"
        );
        progress.done = 1_000_000_000;
        assert_eq!(
            progress.text(Duration::from_secs(100)),
            "1.0 GB of 4.0 GB copied, 10.0 MB/s, 1:40, about 5:00 left"
        );
        // The total may be larger than expected.
        progress.done = 5_000_000_000;
        assert_eq!(
            progress.text(Duration::from_secs(3700)),
            "5.0 GB of 5.0 GB copied, 1.4 MB/s, 1:01:40"
        );
    }

    #[test]
    fn a_bar_beside_a_percentage() {
        assert_eq!(bar(0, 4), "[------------------------]   0 %");
        assert_eq!(bar(1, 4), "[######------------------]  25 %");
        assert_eq!(bar(5, 5), "[########################] 100 %");
        assert_eq!(bar(0, 0), "[########################] 100 %");
    }

    /// The bar that crate `indicatif` draws on a terminal looks like the lines elsewhere.
    #[test]
    fn a_terminal_shows_the_same_bar() {
        let terminal = InMemoryTerm::new(5, 120);
        let screen = Screen::new(ProgressDrawTarget::term_like(Box::new(terminal.clone())));
        assert_eq!(screen.pause(), ON_TERMINAL);
        for (done, total) in [(0, 4), (1, 4), (5, 5)] {
            screen.show(done, total, "of it".into());
            screen.bar.tick();
            assert_eq!(terminal.contents(), format!("{}  of it", bar(done, total)));
        }
        screen.clear();
        assert_eq!(terminal.contents(), "");
        let hidden = Screen::new(ProgressDrawTarget::hidden());
        assert_eq!(hidden.pause(), ELSEWHERE);
    }
}
