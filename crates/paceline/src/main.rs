//! The command-line program.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    paceline_program::run()
}
