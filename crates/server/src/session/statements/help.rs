//! HELP.

use crate::session::protocol::{Output, Reply};

/// Executes HELP: there are no help tables.
pub fn execute() -> Reply {
    let mut output = Output::new();
    output
        .text("name", 64)
        .text("description", 65_535)
        .text("example", 65_535);
    Reply::Rows(output)
}
