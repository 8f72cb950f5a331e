//! Messages on standard error, as MariaDB's embedded server wrote them there.

use paceline_server::log_lines::LogLines;
use std::io::Write;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Writes the error of a call.
pub fn print(error: &str) {
    // Without a standard error there is nobody to tell.
    let _ = LogLines.write_all(format!("libpaceline: {error}\n").as_bytes());
}

/// Writes the server's messages to standard error from now on: warnings and errors, or those of `PACELINE_LOG`. A
/// second call does nothing.
pub fn begin() {
    let level = std::env::var("PACELINE_LOG")
        .ok()
        .and_then(|level| level.parse().ok())
        .unwrap_or(tracing::Level::WARN);
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(LogLines::default)
        .with_target(false)
        .with_ansi(false);
    let subscriber = tracing_subscriber::registry()
        .with(LevelFilter::from_level(level))
        .with(lines);
    // An error means that they are written already.
    let _ = subscriber.try_init();
}
