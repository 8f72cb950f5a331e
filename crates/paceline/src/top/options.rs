//! The command line of `paceline top`.

use super::view::{Idle, View};
use crate::server_options::ServerOptions;
use std::time::Duration;

/// Options of `paceline top`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// View to begin with; with --once and --batch the only one, instead of all.
    #[arg(long, value_enum)]
    view: Option<View>,
    /// Seconds between two readings.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=60))]
    interval: u64,
    /// Print one screen as plain text after one interval, and end.
    #[arg(long, conflicts_with = "batch")]
    once: bool,
    /// Print a screen as plain text each interval.
    #[arg(long)]
    batch: bool,
    /// Show only rows that contain this text, in upper or lower case.
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub filter: String,
    /// Show idle sessions, too.
    #[arg(long)]
    idle: bool,
    /// The server and the account. PROCESS shows what others do, SLAVE MONITOR replication, CONNECTION ADMIN kills.
    // The last field: the heading of its TLS options would also apply to options after them.
    #[command(flatten)]
    pub server: ServerOptions,
}

/// Form of the output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Output {
    Screen,
    /// Plain text, one time.
    Once,
    /// Plain text, again and again.
    Batch,
}

impl Options {
    pub fn output(&self) -> Output {
        match (self.once, self.batch) {
            (true, _) => Output::Once,
            (_, true) => Output::Batch,
            _ => Output::Screen,
        }
    }

    pub fn interval(&self) -> Duration {
        Duration::from_secs(self.interval)
    }

    pub fn first_view(&self) -> View {
        self.view.unwrap_or(View::Sessions)
    }

    /// Returns the views of a text.
    pub fn views(&self) -> Vec<View> {
        self.view.map_or(View::ALL.to_vec(), |view| vec![view])
    }

    pub fn idle(&self) -> Idle {
        match self.idle {
            true => Idle::Shown,
            false => Idle::Hidden,
        }
    }
}
