//! Paceline as another version, for tests of upgrades: the same program except for what it says and checks of its
//! version.
//!
//! `PACELINE_OTHER_VERSION="NUMBER MESSAGE_FORMAT LOG_FORMAT"` in the environment is that version.
#![forbid(unsafe_code)]

use paceline_program_version::{ProgramVersion, set};
use std::process::ExitCode;

/// Name of the variable.
const VARIABLE: &str = "PACELINE_OTHER_VERSION";

fn main() -> ExitCode {
    let text = std::env::var(VARIABLE).unwrap_or_default();
    let Some(version) = parse(text.leak()) else {
        eprintln!("{VARIABLE} must be NUMBER MESSAGE_FORMAT LOG_FORMAT");
        return ExitCode::from(2);
    };
    set(version);
    paceline_program::run()
}

fn parse(text: &'static str) -> Option<ProgramVersion> {
    let mut words = text.split_whitespace();
    let version = ProgramVersion {
        number: words.next()?,
        message_format: words.next()?.parse().ok()?,
        log_format: words.next()?.parse().ok()?,
    };
    words.next().is_none().then_some(version)
}
